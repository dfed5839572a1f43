/* A week without the daemon: the real agent reads traces, spools windows and finds nobody to ship them to; then the daemon is
 * there again. Nothing may be lost at the default size of the spool, all must arrive once and in order, what is made meanwhile
 * too, and the daemon must not be overrun: one exchange at a time, batches within their limits, no hurry where it says so.
 *
 * A week of a host is 16 workers with a window every five minutes, 32,256 windows, of about 6 kB: nine in ten windows of
 * the traces in the test data are smaller. That takes a minute or two and 200 MB, and is done with TRAINSPOTTER_LONG
 * set; else a part of it with the spool as much smaller. */
#include <check.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rand.h"
#include "net/http_client.h"
#include "tests/support/check_main.h"
#include "tests/unit/agent/folder.h"
#include "trace/window.h"
#include "wire/wire.h"

Suite *suite_week(void);

enum { WEEK = 16 * 12 * 24 * 7, PART = 600, LATE = 40, OPS = 260, WAITING_MAX = 200 };
#define SPOOL_MAX (INT64_C(256) << 20) /* spool.max, unless told otherwise */
#define BATCH_MAX (INT64_C(1) << 20)   /* ship.batch */

static const int64_t epoch_ns = INT64_C(1790000000) * NS_PER_S; /* window N starts so many seconds later */

/* ---- a window, in place of trace/window.c: the file holds its number */

static void fill_op(struct arena *a, struct rand_gen *g, int i, struct op_summary *op)
{
	*op = (struct op_summary){ .kind = OP_CPU_OP, .basis = OP_BASIS_CPU, .name = arena_fmt(a, "aten::operation_%03d", i) };
	op->calls = 3 + rand_below(g, 20);
	op->min_ns = INT64_MAX;
	for (uint64_t c = 0; c < op->calls; c++) {
		int64_t ns = 1000 * (1 + i) + (int64_t)rand_below(g, 2000 * (uint64_t)(1 + i));

		hist_add(&op->hist, ns);
		op->cpu_total_ns += ns;
		op->min_ns = ns < op->min_ns ? ns : op->min_ns;
		op->max_ns = ns > op->max_ns ? ns : op->max_ns;
	}
	op->cpu_self_ns = op->cpu_total_ns;
}

static int read_number(struct arena *a, const char *path, const struct window_origin *origin, struct window *out, struct err *e)
{
	struct rand_gen g;
	struct buf b;
	uint64_t number = 0;
	int rc;

	*out = (struct window){ .service = STR("llm"), .deploy = STR("v1"), .host = origin->host, .worker = STR("0"),
		.source = origin->source, .dur_ns = 500 * NS_PER_MS };
	buf_init(&b, 64);
	rc = file_read_all(path, &b, e);
	if (rc == OK && str_to_u64(buf_view(&b), &number) < 0)
		rc = err_set(e, E_FORMAT, "no number");
	rand_seed(&g, number);
	for (int i = 0; i < WINDOW_ID; i++)
		out->id[i] = (uint8_t)rand_below(&g, 256);
	out->start_ns = epoch_ns + (int64_t)number * NS_PER_S;
	out->ops = arena_get_array(a, OPS, sizeof(*out->ops));
	for (int i = 0; rc == OK && i < OPS; i++)
		fill_op(a, &g, i, &out->ops[out->n_ops++]);
	buf_fini(&b);
	return rc;
}

int windows_from_file(struct arena *a, const char *path, const struct window_origin *origin, const struct trace_limits *limits,
	const struct window_visit *visit, struct err *e)
{
	const struct trace_report report = { .events = 1 };
	struct err why = { 0 };
	struct window w;
	bool good = read_number(a, path, origin, &w, &why) == OK;

	(void)limits;
	return visit->window(visit->arg, path, good ? &w : NULL, &report, &why, e);
}

/* ---- the daemon, in place of net/http_client.c */

struct http_client {
	struct http_answer answer;
};

static struct {
	_Atomic bool up;
	_Atomic size_t under_way, at_once, asks, refused, got, again, disorder, too_early;
	_Atomic int64_t not_before_ns; /* as it said in Retry-After */
	size_t next; /* number that comes next */
	size_t bytes_max, windows_max;
	uint8_t seen[WEEK + LATE];
} server;

int http_client_open(struct http_client **out, const struct http_client_settings *s, struct err *e)
{
	(void)s;
	(void)e;
	*out = mem_get(sizeof(**out));
	buf_init(&(*out)->answer.body, 1 << 16);
	return OK;
}

void http_client_close(struct http_client *c)
{
	if (c == NULL)
		return;
	buf_fini(&c->answer.body);
	mem_free(c);
}

static void take_window(const struct window *w)
{
	size_t number = (size_t)((w->start_ns - epoch_ns) / NS_PER_S);

	if (number >= sizeof(server.seen))
		return;
	if (server.seen[number]++ > 0)
		server.again++;
	else
		server.got++;
	server.disorder += number != server.next;
	server.next = number + 1;
}

static size_t take_batch(struct str body)
{
	struct wire_batch b;
	struct arena a;
	size_t n = 0;

	arena_init(&a, 256u << 20);
	if (wire_decode(&a, body, WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL) == OK)
		for (n = 0; n < b.n_windows; n++)
			take_window(&b.windows[n]);
	wire_batch_fini(&b);
	arena_fini(&a);
	if (n > server.windows_max)
		server.windows_max = n;
	if (body.n > server.bytes_max)
		server.bytes_max = body.n;
	return n;
}

/* Every third time it is busy, and says when to come again. */
static int answer(struct http_client *c, struct str body)
{
	buf_reset(&c->answer.body);
	c->answer.retry_after_ns = 0;
	server.too_early += clock_mono_ns() < server.not_before_ns;
	if (server.asks++ % 3 == 2) {
		server.refused++;
		c->answer.retry_after_ns = 20 * NS_PER_MS;
		server.not_before_ns = clock_mono_ns() + 20 * NS_PER_MS;
		return 503;
	}
	buf_fmt(&c->answer.body, "{\"accepted\":%zu,\"duplicates\":0}", take_batch(body));
	return 200;
}

int http_exchange(struct http_client *c, const struct http_ask *ask, const struct http_answer **out, struct err *e)
{
	size_t under_way = ++server.under_way;

	if (under_way > server.at_once)
		server.at_once = under_way;
	*out = &c->answer;
	if (server.up)
		c->answer.status = answer(c, ask->body);
	server.under_way--;
	return server.up ? OK : err_set(e, E_NET, "connection refused");
}

enum http_failure http_failure(const struct http_client *c)
{
	(void)c;
	return server.up ? HTTP_ANSWERED : HTTP_UNREACHABLE;
}

int64_t http_backoff_ns(unsigned attempt, int64_t first_ns, int64_t cap_ns, double unit_random)
{
	(void)attempt;
	(void)first_ns;
	(void)cap_ns;
	return (int64_t)(unit_random * 50e6);
}

/* ---- the agent */

static size_t windows; /* of the week */
static pthread_t thread;
static struct agent *agent;

static void *run_agent(void *arg)
{
	static int status;

	status = agent_run(arg);
	return &status;
}

static void start_agent(int64_t spool_max)
{
	struct agent_options o = { .config = folder_path("agent.yaml") };
	struct agent_conf cf;
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, 8192);
	buf_fmt(&b, "state_dir: %s/state\nhost: h1\nwatch:\n  - dir: %s/in\npoll:\n  enabled: no\n"
		"job:\n  cpu_percent: 100\nrescan: 1d\n", folder, folder); /* a rescan takes files as the folder lists them */
	if (spool_max != SPOOL_MAX)
		buf_fmt(&b, "spool:\n  max: %" PRId64 "\n", spool_max);
	folder_write("agent.yaml", buf_view(&b));
	buf_fini(&b);
	ck_assert_msg(agent_conf_load(&cf, &o, &e) == OK, "%s", e.text);
	ck_assert_int_eq(cf.spool_bytes, spool_max);
	ck_assert_int_eq(cf.batch_bytes, BATCH_MAX);
	ck_assert_msg(agent_open(&agent, &cf, &o, &e) == OK, "%s", e.text);
	ck_assert_int_eq(pthread_create(&thread, NULL, run_agent, agent), 0);
}

static void stop_agent(void)
{
	void *status;

	kill(getpid(), SIGTERM);
	pthread_join(thread, &status);
	ck_assert_int_eq(*(int *)status, 0);
	agent_close(agent);
}

static void put_trace(size_t number)
{
	char tmp[PATH_MAX], path[PATH_MAX], text[32];
	FILE *f;

	snprintf(tmp, sizeof(tmp), "%s/in/.%zu", folder, number);
	snprintf(path, sizeof(path), "%s/in/%09zu.json", folder, number);
	snprintf(text, sizeof(text), "%zu", number);
	f = fopen(tmp, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(rename(tmp, path), 0);
}

static void wait_until_read(size_t left)
{
	while (folder_count("in", ".json") > left)
		clock_sleep_ns(2 * NS_PER_MS);
}

static void make_windows(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (i % (WAITING_MAX / 2) == 0)
			wait_until_read(WAITING_MAX / 2);
		put_trace(i);
	}
	wait_until_read(0);
}

static int64_t bytes_in(const char *dir)
{
	char path[PATH_MAX];
	int64_t bytes = 0;
	struct stat st;

	for (unsigned i = 0; i < 100000; i++) {
		snprintf(path, sizeof(path), "%s/%s/%016x.seg", folder, dir, i);
		if (stat(path, &st) == 0)
			bytes += st.st_size;
		else if (bytes > 0)
			break;
	}
	return bytes;
}

static void setup(void)
{
	bool whole = getenv("TRAINSPOTTER_LONG") != NULL && getenv("TRAINSPOTTER_LONG")[0] != '\0';

	folder_make();
	ck_assert_int_eq(mkdir(folder_path("in"), 0700), 0);
	windows = whole ? WEEK : PART;
	start_agent(whole ? SPOOL_MAX : SPOOL_MAX * PART / WEEK);
}

static void teardown(void)
{
	folder_remove();
}

START_TEST(a_week_without_the_daemon_loses_nothing_and_is_caught_up_with_in_order)
{
	int64_t began = clock_mono_ns(), back, bytes;

	make_windows(0, 1); /* the agent has listed the folder by then, and takes the others as they come */
	make_windows(1, windows);
	ck_assert_uint_eq(server.got, 0);
	bytes = bytes_in("state/spool");
	back = clock_mono_ns();
	server.up = true;
	make_windows(windows, windows + LATE);
	for (int i = 0; i < 60000 && server.got < windows + LATE; i++)
		clock_sleep_ns(5 * NS_PER_MS);
	printf("# %zu windows of %" PRId64 " bytes, made in %.1f s, caught up with in %.1f s: %zu exchanges, %zu of them refused for now, "
	       "at most %zu windows and %zu bytes at a time\n", windows + LATE, bytes / (int64_t)windows,
		(double)(back - began) / 1e9, (double)(clock_mono_ns() - back) / 1e9, server.asks, server.refused,
		server.windows_max, server.bytes_max);
	fflush(stdout);
	stop_agent();
	ck_assert_int_gt(bytes / (int64_t)windows, 5000);
	ck_assert_int_lt(bytes, SPOOL_MAX);
	ck_assert_uint_eq(server.got, windows + LATE);
	ck_assert_uint_eq(server.again, 0);
	ck_assert_uint_eq(server.disorder, 0);
	ck_assert_uint_eq(server.at_once, 1);
	ck_assert_uint_eq(server.too_early, 0);
	ck_assert_uint_gt(server.refused, 0);
	ck_assert_uint_le(server.windows_max, 500);
	ck_assert_uint_le(server.bytes_max, BATCH_MAX);
}
END_TEST

Suite *suite_week(void)
{
	Suite *s = suite_create("fleet/week");
	TCase *tc = tcase_create("week");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 1800);
	tcase_add_test(tc, a_week_without_the_daemon_loses_nothing_and_is_caught_up_with_in_order);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(suite_week)
