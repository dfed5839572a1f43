/* cmd_capture.c — asks for windows now and waits for them; pauses and resumes capture; tells how it stands. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/table.h"
#include "json/write.h"
#include "profile/capture.h"

enum { BODY_BYTES = 1 << 20, CAPTURES_SHOWN = 10 };

/* The common options stand first, so that their rows fit; what is not in struct ask is not sent as a parameter. */
struct words {
	struct ask ask;
	const char *service, *source, *reason;
	struct opt_texts hosts, workers;
	int64_t duration_ns, iterations, timeout_ns;
	bool wait, no_wait, pause, resume, status;
};

static const char policy_path[] = "/api/v1/capture/policy";
static const char captures_path[] = "/api/v1/captures";
static const int64_t follow_ns = NS_PER_S;

/* ---- what is sent */

static void put_texts(struct json_writer *w, const char *key, const struct opt_texts *t)
{
	if (t->n == 0)
		return;
	jw_key_array(w, key);
	for (size_t i = 0; i < t->n; i++)
		jw_text(w, t->v[i]);
	jw_end(w);
}

static void put_text(struct json_writer *w, const char *key, const char *text)
{
	if (text != NULL)
		jw_key_text(w, key, text);
}

static int write_capture(const struct words *o, struct buf *out, struct err *e)
{
	struct json_writer w;

	jw_init(&w, out);
	jw_object(&w);
	put_text(&w, "service", o->service);
	put_texts(&w, "hosts", &o->hosts);
	put_texts(&w, "workers", &o->workers);
	put_text(&w, "source", o->source);
	if (o->duration_ns > 0)
		jw_key_i64(&w, "duration_ns", o->duration_ns);
	if (o->iterations > 0)
		jw_key_i64(&w, "iterations", o->iterations);
	put_text(&w, "reason", o->reason);
	jw_end(&w);
	return jw_finish(&w, e);
}

static int write_policy(const struct words *o, struct buf *out, struct err *e)
{
	struct json_writer w;

	jw_init(&w, out);
	jw_object(&w);
	jw_key_bool(&w, "paused", o->pause);
	put_text(&w, "reason", o->reason);
	jw_end(&w);
	return jw_finish(&w, e);
}

static int post(const struct words *o, const char *path,
	int (*write)(const struct words *, struct buf *, struct err *), struct reply *r, struct err *e)
{
	struct buf body;
	int rc;

	buf_init(&body, BODY_BYTES);
	rc = write(o, &body, e);
	if (rc == OK)
		rc = remote_post(&o->ask, path, buf_view(&body), "application/json", NULL, r, e);
	buf_fini(&body);
	return rc;
}

/* ---- one capture */

static void print_json(const struct reply *r)
{
	printf("%.*s\n", STR_ARG(str_trim(r->body)));
}

static int print_capture(const struct words *o, const struct reply *r)
{
	struct capture_state_count c = capture_count(r->root);

	if (o->ask.format == ASK_JSON)
		print_json(r);
	else
		capture_show(r->root);
	return !c.over || (c.targets > 0 && c.taken == c.targets) ? EXIT_GOOD : EXIT_FOUND;
}

/* Whoever waits would else wait in the dark. */
static void say_paused(const struct words *o)
{
	struct reply r = { 0 };

	if (remote_get(&o->ask, policy_path, &r, NULL) == OK && json_get_bool(r.root, "paused", false)) {
		fputs("trainspotter capture: capture is paused", stderr);
		if (!str_empty(json_get_str(r.root, "reason"))) {
			fputs(" (", stderr);
			cli_put(stderr, json_get_str(r.root, "reason"));
			putc(')', stderr);
		}
		fputs("; no window begins before \"trainspotter capture --resume\"\n", stderr);
	}
	reply_close(&r);
}

static int follow(const struct words *o, struct str id, struct reply *r, struct err *e)
{
	char *kept = mem_get(id.n + 1); /* the answer it stands in is closed */
	int rc;

	if (id.n > 0)
		memcpy(kept, id.p, id.n);
	say_paused(o);
	rc = capture_follow(&o->ask, str_make(kept, id.n), follow_ns, o->timeout_ns, r, e);
	mem_free(kept);
	return rc;
}

static int ask_for(const struct words *o, struct reply *r, int *status, struct err *e)
{
	int rc = post(o, captures_path, write_capture, r, e);

	if (rc == OK && !o->no_wait)
		rc = follow(o, json_get_str(r->root, "id"), r, e);
	if (rc == OK)
		*status = print_capture(o, r);
	return rc;
}

/* ---- the kill switch, and how it stands */

static void show_policy(const struct json_node *policy)
{
	char when[CLOCK_TEXT];
	int64_t since_ns = json_get_i64(policy, "changed_ns", -1);

	if (!json_get_bool(policy, "paused", false))
		fputs("capture is on", stdout);
	else
		fputs("capture is PAUSED: no agent begins a window", stdout);
	if (since_ns >= 0)
		printf(", since %.*s UTC", STR_ARG(remote_when(since_ns, when)));
	if (!str_empty(json_get_str(policy, "reason"))) {
		fputs(": ", stdout);
		cli_put(stdout, json_get_str(policy, "reason"));
	}
	putchar('\n');
}

static int set_policy(const struct words *o, struct reply *r, struct err *e)
{
	int rc = post(o, policy_path, write_policy, r, e);

	if (rc == OK && o->ask.format == ASK_JSON)
		print_json(r);
	else if (rc == OK)
		show_policy(r->root);
	return rc;
}

static const struct table_column columns[] = {
	{ "asked (UTC)", TABLE_LEFT, 0 }, { "state", TABLE_LEFT, 0 },	{ "service", TABLE_LEFT, 40 },
	{ "taken", TABLE_RIGHT, 0 },	  { "of", TABLE_RIGHT, 0 },	{ "reason", TABLE_LEFT, 50 },
	{ "id", TABLE_LEFT, 0 },
};

static void show_captures(const struct json_node *root)
{
	struct json_items items = remote_items(root, "items");
	struct table *t = table_new(columns, COUNT(columns));
	char when[CLOCK_TEXT];

	for (const struct json_node *i = items.v; i < items.v + items.n; i++) {
		struct capture_state_count c = capture_count(i);
		struct str service = json_get_str(i, "service");

		table_cell(t, remote_when(json_get_i64(i, "created_ns", -1), when), PAINT_NONE);
		table_cell(t, json_get_str(i, "state"), PAINT_BOLD);
		table_cell(t, str_empty(service) ? STR("-") : service, PAINT_NONE);
		table_cell_fmt(t, PAINT_NONE, "%zu", c.taken);
		table_cell_fmt(t, PAINT_NONE, "%zu", c.targets);
		table_cell(t, json_get_str(i, "reason"), PAINT_NONE);
		table_cell(t, json_get_str(i, "id"), PAINT_DIM);
	}
	if (items.n > 0) {
		putchar('\n');
		table_print(t, stdout, cli_colour(stdout));
	}
	table_free(t);
}

static int tell_status(const struct words *o, struct reply *r, struct err *e)
{
	struct ask newest = o->ask;
	int rc = remote_get(&o->ask, policy_path, r, e);

	if (rc != OK)
		return rc;
	if (o->ask.format == ASK_JSON) {
		print_json(r);
		return OK;
	}
	show_policy(r->root);
	reply_close(r);
	newest.limit = CAPTURES_SHOWN;
	rc = remote_get(&newest, captures_path, r, e);
	if (rc == OK)
		show_captures(r->root);
	return rc;
}

/* ---- the command */

static int check_words(const struct words *o, int n_operands, char **argv, struct err *e)
{
	int verbs = o->pause + o->resume + o->status + (n_operands > 0) + (o->service != NULL || o->hosts.n > 0);

	if (n_operands > 1)
		return err_set(e, E_USAGE, "\"%s\" is too much; one capture's ID goes here", argv[1]);
	if (o->wait && o->no_wait)
		return err_set(e, E_USAGE, "--wait or --no-wait, not both");
	if (verbs == 0)
		return err_set(e, E_USAGE,
			"capture what? name --service or --host; or --status, --pause, --resume, or a capture's ID");
	if (verbs > 1)
		return err_set(e, E_USAGE, "one thing at a time: --service and --host, --status, --pause, --resume, or an ID");
	return OK;
}

static int obey(const struct words *o, int n_operands, char **argv, struct reply *r, int *status, struct err *e)
{
	int rc;

	if (o->pause || o->resume)
		return set_policy(o, r, e);
	if (o->status)
		return tell_status(o, r, e);
	if (n_operands == 0)
		return ask_for(o, r, status, e);
	rc = follow(o, str_of(argv[0]), r, e);
	if (rc == OK)
		*status = print_capture(o, r);
	return rc;
}

static int run(int argc, char **argv)
{
	struct words o = { .no_wait = false };
	struct reply r = { 0 };
	struct err e = { 0 };
	int n = 0, status = EXIT_GOOD, rc = opt_parse(&cmd_capture, "trainspotter", argc, argv, &o, &n, &e);

	if (rc == OK)
		rc = check_words(&o, n, argv, &e);
	if (rc == OK)
		rc = obey(&o, n, argv, &r, &status, &e);
	if (rc != OK)
		status = cmd_trouble(&cmd_capture, &e);
	reply_close(&r);
	return status;
}

#define WORD(member) offsetof(struct words, member)

static const struct opt opts[] = {
	{ "service", 0, OPT_TEXT, WORD(service), 0, 0, "NAME", "Windows of this service's workers.", NULL },
	{ "host", 0, OPT_TEXTS, WORD(hosts), 0, 0, "HOST", "Only on this host; may be repeated.", NULL },
	{ "worker", 0, OPT_TEXTS, WORD(workers), 0, 0, "NAME", "Only this worker (rank); may be repeated.", NULL },
	{ "source", 0, OPT_TEXT, WORD(source), 0, 0, "NAME", "Only by this source: kineto, xla, vllm or exec.", NULL },
	{ "duration", 0, OPT_DURATION, WORD(duration_ns), NS_PER_MS, CAPTURE_DURATION_MAX_NS, "TIME",
	  "Length of each window; without, as the agents are set.", NULL },
	{ "iterations", 0, OPT_INT, WORD(iterations), 1, CAPTURE_ITERATIONS_MAX, "N",
	  "Steps in each window, where the source can count them.", NULL },
	{ "reason", 0, OPT_TEXT, WORD(reason), 0, 0, "TEXT", "Why; kept with the capture, or with the pause.", NULL },
	{ "wait", 0, OPT_FLAG, WORD(wait), 0, 0, NULL, "Wait for the windows; so it does without.", NULL },
	{ "no-wait", 0, OPT_FLAG, WORD(no_wait), 0, 0, NULL, "Ask only, and do not wait for the windows.", NULL },
	{ "timeout", 0, OPT_DURATION, WORD(timeout_ns), NS_PER_S, NS_PER_DAY, "TIME",
	  "Stop waiting after that; the capture goes on. Without, wait until it has ended or expired.", NULL },
	{ "pause", 0, OPT_FLAG, WORD(pause), 0, 0, NULL, "Stop capture on the whole fleet, until --resume.", NULL },
	{ "resume", 0, OPT_FLAG, WORD(resume), 0, 0, NULL, "Let the fleet capture again.", NULL },
	{ "status", 0, OPT_FLAG, WORD(status), 0, 0, NULL,
	  "Tell whether capture is paused, and what was asked for lately.", NULL },
	ASK_COMMON,
};
_Static_assert(offsetof(struct words, ask) == 0, "the rows of ASK_COMMON count from struct ask");

static const struct opt_exit exits[] = {
	{ EXIT_GOOD, "every window that was asked for was taken; with --no-wait: it was asked for" },
	{ EXIT_FOUND, "it ended, and some windows were not taken" },
	{ EXIT_TROUBLE, "wrong usage, no answer, a refusal, or --timeout was over first" },
};

const struct opt_command cmd_capture = {
	.name = "capture",
	.operands = "[ID]",
	.summary = "take windows of running workers now, or stop all capture",
	.detail = "Asks the server for one window of each worker that matches, waits for them and shows what became of each. The "
		  "server's limits on how many workers are profiled at once hold, and so do the rules of each agent, so it may take a while. "
		  "With an ID, waits for a capture that was asked for before.\n\n"
		  "--pause is the kill switch: agents begin no windows from their next poll on, usually ten seconds, over restarts of the "
		  "server and of theirs, until --resume.",
	.examples = "trainspotter capture --service llm-decode --host trn-1    now, and wait\n"
		    "trainspotter capture --service llm-decode --worker 0 --duration 500ms --no-wait    ask only\n"
		    "trainspotter capture --pause --reason \"incident 12\"    stop it everywhere\n"
		    "trainspotter capture --status    is it paused? what was asked for lately?",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
