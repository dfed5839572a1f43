/* trainspotter send — traces to a server without an agent: each becomes a window, many windows a batch. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/proc.h"
#include "base/vec.h"
#include "cli/cmd.h"
#include "cli/remote.h"
#include "json/write.h"
#include "trace/window.h"
#include "wire/wire.h"

/* The sender's id is part of each window's id: with the same one everywhere, the same trace of the same host is the
 * same window, whoever sends it. */
#define SENDER "trainspotter-send"

enum { BATCH_WINDOWS = 50, BATCH_BYTES = 4 << 20, ARENA_BYTES = 1 << 30, HOST_TEXT = 256,
	FAILURES_MAX = 1 << 20, NAMES_BYTES = 64 << 20 };

struct failure {
	struct str file;
	struct err why;
};
VEC(failures, struct failure);

struct sending {
	const struct ask *ask;
	struct window_origin origin;
	struct window windows[BATCH_WINDOWS];
	size_t n;
	bool sent;	    /* the last batch, if there was one */
	struct arena arena; /* of the windows at hand */
	uint64_t accepted, duplicates;
	size_t damaged, read;
	struct failures failures;
	struct arena names; /* of the files that failed */
};

static const struct opt opts[] = {
	ASK_TEXT("service", service, "NAME", "Service of traces whose sidecar names none."),
	ASK_TEXT("deploy", deploy, "NAME",
		"Deploy of traces whose sidecar names none; without, a fingerprint of the versions found."),
	ASK_TEXT("host", host, "NAME", "Host of traces whose sidecar names none; without, this one's name."),
	ASK_TEXT("worker", worker, "NAME", "Worker of traces whose sidecar names none; without, the trace's rank."),
	ASK_TEXT("name-rules", name_rules, "FILE", "Rules of your own for the names of ops (name-rules.yaml shows how)."),
	{ "format", 0, OPT_CHOICE, offsetof(struct ask, format), 0, 0, "FORMAT", "table for people, or json.",
		ask_format_names },
	ASK_TEXT("server", server, "URL", "The server; without, $TRAINSPOTTER_SERVER or http://127.0.0.1:8940."),
	ASK_TEXT("token-file", token_file, "FILE", "File with the bearer token; without, $TRAINSPOTTER_TOKEN."),
};

static const struct opt_exit exits[] = {
	{ EXIT_GOOD, "every file's window is stored" },
	{ EXIT_FOUND, "some files could not be read; the windows of the others are stored" },
	{ EXIT_TROUBLE, "nothing could be read, the server did not take the windows, or the command line is wrong" },
};

static void drop_windows(struct sending *s)
{
	for (size_t i = 0; i < s->n; i++)
		window_fini(&s->windows[i]);
	s->n = 0;
	arena_reset(&s->arena);
}

static int post(struct sending *s, struct str body, struct err *e)
{
	const struct ask ask = { .server = s->ask->server, .token_file = s->ask->token_file };
	struct reply r;
	int rc = remote_post(&ask, "/api/v1/windows", body, "application/x-protobuf", "zstd", &r, e);

	if (rc == OK) {
		s->accepted += (uint64_t)json_get_i64(r.root, "accepted", 0);
		s->duplicates += (uint64_t)json_get_i64(r.root, "duplicates", 0);
	}
	reply_close(&r);
	return rc;
}

static int send_windows(struct sending *s, struct err *e)
{
	const struct wire_batch b = { .agent_id = STR(SENDER), .agent_version = STR(PACKAGE_VERSION),
		.windows = s->windows, .n_windows = s->n };
	struct buf body;
	int rc;

	if (s->n == 0)
		return OK;
	buf_init(&body, BATCH_BYTES);
	rc = wire_encode(&b, &body, e);
	if (rc == OK)
		rc = post(s, buf_view(&body), e);
	s->sent = rc == OK;
	buf_fini(&body);
	drop_windows(s);
	return rc;
}

static void fail(struct sending *s, const char *file, const struct err *why)
{
	struct failure *f = vec_push(&s->failures);

	if (f != NULL)
		*f = (struct failure){ arena_text(&s->names, file), *why };
}

static int take_window(void *arg, const char *name, struct window *w, const struct trace_report *report, struct err *why,
	struct err *e)
{
	struct sending *s = arg;

	(void)report;
	if (w == NULL) {
		fail(s, name, why);
		return OK;
	}
	s->read++;
	s->damaged += w->flags != 0;
	s->windows[s->n++] = *w;
	return s->n == BATCH_WINDOWS ? send_windows(s, e) : OK;
}

/* A file that cannot be read is told and passed over; one that cannot be sent ends it all. */
static int send_file(struct sending *s, const char *path, struct err *e)
{
	const struct window_visit visit = { .window = take_window, .arg = s };
	struct err why = { 0 };
	int rc;

	s->sent = true;
	rc = windows_from_file(&s->arena, path, &s->origin, &TRACE_LIMITS_DEFAULT, &visit, &why);
	if (rc == OK)
		return OK;
	if (!s->sent) {
		*e = why;
		return rc;
	}
	fail(s, path, &why);
	return OK;
}

static int send_files(struct sending *s, char **files, int n, struct err *e)
{
	int rc = OK;

	for (int i = 0; i < n && rc == OK; i++)
		rc = send_file(s, files[i], e);
	return rc < 0 ? rc : send_windows(s, e);
}

static void print_json(const struct sending *s)
{
	struct json_writer w;
	struct buf b;

	buf_init(&b, 64 << 20);
	jw_init(&w, &b);
	jw_object(&w);
	jw_key_u64(&w, "accepted", s->accepted);
	jw_key_u64(&w, "duplicates", s->duplicates);
	jw_key_array(&w, "failed");
	vec_each(f, &s->failures) {
		jw_object(&w);
		jw_key_str(&w, "file", f->file);
		jw_key_text(&w, "reason", f->why.text);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	if (jw_finish(&w, NULL) == OK)
		puts(b.p);
	buf_fini(&b);
}

static void print_result(const struct sending *s)
{
	vec_each(f, &s->failures)
		fprintf(stderr, "trainspotter send: %s\n", f->why.text); /* names the file */
	if (s->damaged > 0)
		fprintf(stderr, "trainspotter send: %zu traces ended early or were damaged; what was readable is sent\n",
			s->damaged);
	if (s->ask->format == ASK_JSON)
		print_json(s);
	else
		printf("accepted %" PRIu64 ", duplicates %" PRIu64 "\n", s->accepted, s->duplicates);
}

static int send_all(const struct ask *a, const char *host, const struct name_rules *rules, char **files, int n)
{
	struct sending *s = mem_get(sizeof(*s));
	struct err e = { 0 };
	int status;

	s->ask = a;
	s->failures.cap = FAILURES_MAX;
	arena_init(&s->names, NAMES_BYTES);
	s->origin = (struct window_origin){ .agent_id = STR(SENDER), .source = STR("send"),
		.service = str_of(a->service), .deploy = str_of(a->deploy), .host = str_of(host),
		.worker = str_of(a->worker), .rules = rules };
	arena_init(&s->arena, ARENA_BYTES);
	if (send_files(s, files, n, &e) < 0)
		status = cmd_trouble(&cmd_send, &e);
	else if (s->failures.n > 0)
		status = s->read == 0 ? EXIT_TROUBLE : EXIT_FOUND;
	else
		status = EXIT_GOOD;
	print_result(s);
	drop_windows(s);
	arena_fini(&s->arena);
	arena_fini(&s->names);
	vec_fini(&s->failures);
	mem_free(s);
	return status;
}

static int run(int argc, char **argv)
{
	struct ask a = { 0 };
	struct err e = { 0 };
	struct name_rules *rules = NULL;
	char host[HOST_TEXT];
	int n = 0, rc = opt_parse(&cmd_send, "trainspotter", argc, argv, &a, &n, &e);

	if (rc == OK && n == 0)
		rc = err_set(&e, E_USAGE, "which traces? name at least one FILE");
	if (rc == OK && a.name_rules != NULL)
		rc = name_rules_load(&rules, a.name_rules, &e);
	if (rc < 0)
		return cmd_trouble(&cmd_send, &e);
	proc_host_name(host, sizeof(host));
	rc = send_all(&a, a.host != NULL ? a.host : host, rules, argv, n);
	name_rules_free(rules);
	return rc;
}

const struct opt_command cmd_send = {
	.name = "send",
	.operands = "FILE...",
	.summary = "summarize traces here and store them on a server, without an agent",
	.detail = "Of an archive of traces (.tar, .tar.gz, .tar.zst) each file is a window; its own sidecar holds for all "
		  "of them, where the one beside a trace in the archive does not say otherwise. A sidecar FILE.meta.json "
		  "is read as the agent reads it: "
		  "{\"service\",\"deploy\",\"host\",\"worker\",\"start_ns\",\"labels\":{...}}, all optional; it goes "
		  "before the options here. The files stay where they are. Sending the same trace again stores nothing new.",
	.examples = "trainspotter send --service llm-decode --deploy v42 trace.json.gz    one trace\n"
		    "trainspotter send --server http://profiler:8940 traces/*.json.gz    many, with sidecars",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
