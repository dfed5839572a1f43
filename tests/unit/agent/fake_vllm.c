#include "tests/unit/agent/fake_vllm.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "net/http_server.h"

#define TRACE "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mul\",\"ts\":1,\"dur\":2}]}"

struct fake_vllm fake_vllm;
static struct http_server *server;
static _Atomic int windows;
static pthread_t writers[64]; /* of traces that come late; a pool's thread starts one, fake_vllm_close waits for all */
static atomic_size_t n_writers;

static void write_file(const char *name, const char *text)
{
	char path[600];
	FILE *f;
	int pieces = fake_vllm.slow_pieces;

	snprintf(path, sizeof(path), "%s/%s", fake_vllm.dir, name);
	f = fopen(path, "w");
	if (f == NULL)
		return; /* the folder is gone, as where a disk is */
	for (int i = 0; i < pieces; i++) {
		fputs(" ", f);
		fflush(f);
		clock_sleep_ns(100 * NS_PER_MS);
	}
	fputs(text, f);
	fclose(f);
}

static void write_session(int window, bool with_trace)
{
	char path[600], name[200];

	snprintf(name, sizeof(name), "i-0_pid_7/%d", window);
	snprintf(path, sizeof(path), "%s/%s", fake_vllm.dir, name);
	ck_assert_int_eq(file_make_dirs(path, 0755, NULL), OK);
	snprintf(name, sizeof(name), "i-0_pid_7/%d/ntrace.pb", window);
	write_file(name, "pb");
	snprintf(name, sizeof(name), "i-0_pid_7/%d/profile_nc_0_session_0.ntff", window);
	write_file(name, "ntff");
	snprintf(name, sizeof(name), "i-0_pid_7/%d/neff_42_vnc_0.neff", window);
	write_file(name, "neff");
	snprintf(name, sizeof(name), "i-0_pid_7/%d/trace_info.pb", window);
	write_file(name, "info");
	snprintf(name, sizeof(name), "i-0_pid_7/%d/trace.json", window);
	if (with_trace)
		write_file(name, TRACE);
}

static void *write_traces(void *arg)
{
	char name[64];
	int window;

	(void)arg;
	while (fake_vllm.held)
		clock_sleep_ns(NS_PER_MS);
	window = ++windows;
	switch ((enum fake_vllm_writes)fake_vllm.writes) {
	case FAKE_WRITES_TRACE:
		snprintf(name, sizeof(name), "host_7.%d.pt.trace.json", window);
		write_file(name, TRACE);
		break;
	case FAKE_WRITES_RANKS:
		for (int rank = 0; rank < 2; rank++) {
			snprintf(name, sizeof(name), "rank%d.%d.pt.trace.json", rank, window);
			write_file(name, TRACE);
		}
		snprintf(name, sizeof(name), "host_7.async_llm.%d.pt.trace.json", window);
		write_file(name, TRACE);
		write_file("profiler_out_0.txt", "a table");
		break;
	case FAKE_WRITES_SESSION: write_session(window, true); break;
	case FAKE_WRITES_RAW: write_session(window, false); break;
	case FAKE_WRITES_NOTHING: break;
	}
	fake_vllm.written++;
	return NULL;
}

static void write_later(void)
{
	size_t i;

	if (!fake_vllm.held && fake_vllm.slow_pieces == 0) {
		write_traces(NULL);
		return;
	}
	i = n_writers++;
	ck_assert_uint_lt(i, COUNT(writers));
	ck_assert_int_eq(pthread_create(&writers[i], NULL, write_traces, NULL), 0);
}

static void start(struct http_reply *rp)
{
	fake_vllm.starts++;
	clock_sleep_ns(fake_vllm.start_delay_ns);
	if (fake_vllm.start_status != 0)
		rp->status = fake_vllm.start_status;
	if (rp->status / 100 == 2 || rp->status >= 500) {
		fake_vllm.was_double |= fake_vllm.profiling;
		fake_vllm.profiling = true;
	}
}

static void stop(struct http_reply *rp)
{
	int n = ++fake_vllm.stops;

	clock_sleep_ns(fake_vllm.stop_delay_ns);
	if (fake_vllm.stop_status != 0 && (fake_vllm.bad_stops == 0 || n <= fake_vllm.bad_stops)) {
		rp->status = fake_vllm.stop_status;
		return;
	}
	if (!atomic_exchange(&fake_vllm.profiling, false)) {
		if (fake_vllm.idle_stop_status != 0)
			rp->status = fake_vllm.idle_stop_status;
		return;
	}
	write_later();
}

static void metrics(struct http_reply *rp)
{
	int n = ++fake_vllm.metrics;

	rp->content_type = "text/plain";
	buf_fill(&rp->body, '\n', (size_t)fake_vllm.metrics_bytes);
	buf_fmt(&rp->body, "# TYPE vllm:iteration_tokens_total histogram\nvllm:iteration_tokens_total_count{engine=\"0\"} %d\n"
			   "vllm:generation_tokens_total{engine=\"0\"} %d.0\n", 10 * n, 100 * n);
}

static void handle(void *env, const struct http_request *rq, struct http_reply *rp)
{
	struct str token = http_header_get(rq, "authorization");
	bool post = rq->method == HTTP_POST;

	(void)env;
	str_drop_prefix(&token, STR("Bearer "));
	if (str_eq(rq->path, STR("/metrics"))) { /* as vLLM has it: open to all */
		metrics(rp);
	} else if (fake_vllm.token != NULL && !str_eq(token, str_of(fake_vllm.token))) {
		fake_vllm.denied++;
		rp->status = 401;
	} else if (post && str_eq(rq->path, STR("/start_profile"))) {
		start(rp);
	} else if (post && str_eq(rq->path, STR("/stop_profile"))) {
		stop(rp);
	} else {
		rp->status = 404;
	}
}

const char *fake_vllm_open(const char *dir)
{
	static char url[64];
	const struct http_server_settings set = { .address = "127.0.0.1", .max_header_bytes = 8192, .max_body_bytes = 8192,
		.threads = 4, .queue = 16, .connections = 16, .request_ns = 10 * NS_PER_S };
	struct err e = { 0 };

	signal(SIGPIPE, SIG_IGN);
	fake_vllm = (struct fake_vllm){ .dir = dir };
	ck_assert_msg(http_server_open(&server, &set, handle, NULL, &e) == OK, "%s", e.text);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", http_server_port(server));
	return url;
}

void fake_vllm_close(void)
{
	http_server_close(server);
	server = NULL;
	fake_vllm.held = false;
	while (n_writers > 0)
		pthread_join(writers[--n_writers], NULL);
}
