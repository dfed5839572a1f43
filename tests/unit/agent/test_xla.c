#include "agent/xla.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/job.h"
#include "agent/xla_folder.h"
#include "agent/xla_wire.h"
#include "base/clock.h"
#include "base/log.h"
#include "tests/support/grpc_server.h"
#include "tests/unit/agent/folder.h"
#include "tests/unit/trace/help_xla.h"
#include "trace/pb.h"

Suite *suite_xla(void);

enum what { WRITES, WRITES_NOTHING, WRITES_ELSEWHERE, WRITES_GARBAGE, WRITES_LARGE, WRITES_LINK };

/* What the profiler server does, as one that was asked in the same way did. */
static struct {
	enum what what;
	struct grpc_reply reply;
	struct str message; /* with has_message */
	bool has_message, dies;
	char root[PATH_MAX], session[64], host[64]; /* as they were asked for */
} script;

static struct grpc_server *srv;
static struct plan *plan;
static struct xla *x;
static struct xla_conf conf;
static struct xla_job_conf section;
static char address[64], dir[PATH_MAX], bad_dir[PATH_MAX];
static struct err e;
static int64_t wall;

/* ---- the job's side */

static void take_text(struct pb_field *f)
{
	if (f->number == 5)
		ck_assert(str_copy_to(f->text, script.root, sizeof(script.root)));
	if (f->number == 6)
		ck_assert(str_copy_to(f->text, script.session, sizeof(script.session)));
	if (f->number == 7)
		ck_assert(str_copy_to(f->text, script.host, sizeof(script.host)));
}

static void read_request(struct str message)
{
	struct pb *p = pb_new();
	struct pb_field f;
	enum pb_token token;

	pb_feed(p, message);
	while ((token = pb_next(p, &f)) != PB_MORE) {
		ck_assert_int_ne(token, PB_ERROR);
		if (token == PB_BYTES && f.number != 4)
			pb_text(p);
		if (token == PB_TEXT)
			take_text(&f);
	}
	pb_free(p);
}

static void write_trace(const char *path)
{
	struct buf b;
	FILE *f = fopen(path, "w");

	buf_init(&b, 1 << 20);
	if (script.what == WRITES_GARBAGE)
		buf_text(&b, "no trace at all, but some bytes");
	else if (script.what == WRITES_LARGE)
		buf_fill(&b, 0, 3000);
	else
		help_xspace(&b, false);
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(b.p, 1, b.n, f), b.n);
	ck_assert_int_eq(fclose(f), 0);
	buf_fini(&b);
}

static void profile(void *env, struct str message, struct grpc_reply *r)
{
	char path[2 * PATH_MAX];
	struct buf body = r->body;

	(void)env;
	read_request(message);
	snprintf(path, sizeof(path), "%s/%s/%s" XLA_FILE, script.root, script.session,
		script.what == WRITES_ELSEWHERE ? "else" : script.host);
	if (script.what == WRITES_LINK)
		ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	else if (script.what != WRITES_NOTHING)
		write_trace(path);
	if (script.dies)
		_exit(0);
	*r = script.reply;
	r->body = body;
	grpc_reply_message(r, script.has_message ? script.message : STR(""));
}

/* ---- ours */

static void start(void)
{
	static char service[] = "llm", deploy[] = "v1", worker[] = "3", none[] = "";

	log_set_level(LOG_ERROR);
	err_clear(&e);
	folder_make();
	snprintf(dir, sizeof(dir), "%s", folder_path("jobs"));
	snprintf(bad_dir, sizeof(bad_dir), "%s", folder_path("bad"));
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	memset(&script, 0, sizeof(script));
	script.reply = (struct grpc_reply){ .http_status = "200", .content_type = "application/grpc", .status = "0" };
	srv = grpc_server_start(profile, NULL);
	snprintf(address, sizeof(address), "127.0.0.1:%d", grpc_server_port(srv));
	section = (struct xla_job_conf){ address, service, deploy, worker };
	conf = (struct xla_conf){ .enabled = true, .jobs = { &section, 1 }, .dir = dir, .service = none, .deploy = none,
		.timeout_ns = 2 * NS_PER_S, .max_file = 2000, .host_level = 2,
		.scan_ns = 200 * NS_PER_MS };
}

static void open_source(void)
{
	struct plan_settings ps = { .max_at_once = 4, .duration_ns = 20 * NS_PER_MS };
	struct xla_settings s = { .conf = &conf, .host = STR("trn 1"), .proc = "/proc", .bad_dir = bad_dir, .keep_files = 3 };

	schedule_init(&ps.schedule, NS_PER_DAY, STR("h"));
	wall = clock_wall_ns();
	plan = plan_new(&ps);
	s.plan = plan;
	ck_assert_msg(xla_open(&x, &s, &e) == OK, "%s", e.text);
}

static void close_source(void)
{
	if (x != NULL)
		xla_source.close(x);
	plan_free(plan);
	x = NULL;
	plan = NULL;
}

static void stop(void)
{
	close_source();
	grpc_server_stop(srv);
	srv = NULL;
	folder_remove();
}

static void look(void)
{
	xla_source.look(x, clock_mono_ns(), wall);
}

static bool seen(void)
{
	return plan_count(plan) > 0;
}

static uint64_t ended(void)
{
	uint64_t n = 0;

	for (int i = 0; i < XLA_ENDS; i++)
		n += i == XLA_NO_DEVICE ? 0 : xla_count(x, (enum xla_end)i);
	return n;
}

static bool wait_for(bool (*what)(void))
{
	for (int64_t until = clock_mono_ns() + 20 * NS_PER_S; clock_mono_ns() < until;) {
		look();
		if (what())
			return true;
		clock_sleep_ns(2 * NS_PER_MS);
	}
	return false;
}

static struct source_trace trace;

static bool has_trace(void)
{
	return xla_source.next(x, clock_mono_ns(), &trace);
}

static uint64_t ended_before;

static bool has_ended(void)
{
	return ended() > ended_before || has_trace();
}

/* One window on demand; it has ended, or its trace is out. */
static void window(void)
{
	if (x == NULL)
		open_source();
	ck_assert(wait_for(seen));
	ended_before = ended();
	trace.key = 0;
	ck_assert(plan_ask(plan, plan_at(plan, 0).id, PLAN_ASKED, 0, clock_mono_ns()));
	ck_assert(wait_for(has_ended));
}

static void give_back(enum source_end how, bool has_device)
{
	const struct source_result r = { .end = how, .has_device = has_device, .why = "because" };

	ck_assert_uint_ne(trace.key, 0);
	xla_source.back(x, trace.key, &r, clock_mono_ns());
}

static void expect(enum xla_end how)
{
	ck_assert_msg(xla_count(x, how) == 1 && ended() == ended_before + 1, "want %s", xla_end_word(how));
	ck_assert_uint_eq(plan_out(plan), 0);
}

/* After an end of any kind the next window is as good as ever. */
static void expect_good_window(void)
{
	uint64_t taken = xla_count(x, XLA_TAKEN);

	memset(&script, 0, sizeof(script));
	script.reply = (struct grpc_reply){ .http_status = "200", .content_type = "application/grpc", .status = "0" };
	window();
	give_back(SOURCE_KEPT, true);
	ck_assert_uint_eq(xla_count(x, XLA_TAKEN), taken + 1);
	ck_assert_uint_eq(folder_count("jobs", ""), 0);
}

/* ---- */

START_TEST(a_window_is_asked_for_taken_read_and_its_folder_removed)
{
	struct job *j = job_new();

	window();
	ck_assert_str_eq(script.host, "trn_1");
	ck_assert(str_has_prefix(str_of(script.root), str_of(dir)));
	ck_assert(str_eq(trace.service, STR("llm")));
	ck_assert(str_eq(trace.deploy, STR("v1")));
	ck_assert(str_eq(trace.worker, STR("3")));
	ck_assert_uint_ne(trace.order, 0);
	ck_assert_uint_eq(plan_out(plan), 0); /* the job is through: another may be profiled while this one is read */
	j->file = trace.file;
	j->origin = (struct window_origin){ .agent_id = STR("00000000000000000000000000000001"), .source = STR("xla"),
		.service = trace.service };
	j->limits = (struct trace_limits){ 1 << 20, 100, 10000, 0 };
	job_do(j);
	ck_assert_msg(j->rc == OK, "%s", j->err.text);
	ck_assert(j->has_ops && j->has_device);
	job_free(j);
	ck_assert_uint_eq(folder_count("jobs", ""), 1);
	give_back(SOURCE_KEPT, true);
	expect(XLA_TAKEN);
	ck_assert_uint_eq(xla_count(x, XLA_NO_DEVICE), 0);
	ck_assert_uint_eq(folder_count("jobs", ""), 0);
	expect_good_window();
}
END_TEST

START_TEST(a_window_without_device_events_is_taken_and_counted)
{
	window();
	give_back(SOURCE_KEPT, false);
	expect(XLA_TAKEN);
	ck_assert_uint_eq(xla_count(x, XLA_NO_DEVICE), 1);
}
END_TEST

START_TEST(a_window_without_ops_is_empty)
{
	window();
	give_back(SOURCE_EMPTY, false);
	expect(XLA_EMPTY);
	expect_good_window();
}
END_TEST

START_TEST(a_trace_comes_again_when_it_cannot_be_kept_now)
{
	window();
	give_back(SOURCE_AGAIN, false);
	ck_assert(wait_for(has_trace));
	ck_assert_uint_eq(trace.file.tries, 1);
	give_back(SOURCE_KEPT, true);
	expect(XLA_TAKEN);
}
END_TEST

START_TEST(a_trace_that_cannot_be_read_is_put_aside)
{
	script.what = WRITES_GARBAGE;
	window();
	give_back(SOURCE_BAD, false);
	expect(XLA_BAD);
	ck_assert_uint_eq(folder_count("bad", "trn_1" XLA_FILE), 1);
	ck_assert_uint_eq(folder_count("jobs", ""), 0);
	expect_good_window();
}
END_TEST

static const struct {
	enum what what;
	const char *status, *text;
	struct str message;
	enum xla_end end;
} answers[] = {
	{ WRITES_NOTHING, "0", NULL, { "\x38\x01", 2 }, XLA_EMPTY },
	{ WRITES_NOTHING, "13", "Another profiling session active.", { "", 0 }, XLA_BUSY },
	{ WRITES_NOTHING, "13", "/x/y; No such file or directory", { "", 0 }, XLA_NO_FOLDER },
	{ WRITES_NOTHING, "13", "/x/y; Permission%20denied", { "", 0 }, XLA_NO_FOLDER },
	{ WRITES_NOTHING, "12", NULL, { "", 0 }, XLA_WRONG },
	{ WRITES_NOTHING, "16", "token please", { "", 0 }, XLA_FAILED },
	{ WRITES_NOTHING, "0", NULL, { "", 0 }, XLA_UNWRITTEN },
	{ WRITES_ELSEWHERE, "0", NULL, { "", 0 }, XLA_UNWRITTEN },
	{ WRITES_LINK, "0", NULL, { "", 0 }, XLA_FOREIGN },
	{ WRITES_LARGE, "0", NULL, { "", 0 }, XLA_TOO_LARGE },
	{ WRITES, "0", NULL, { "\xff", 1 }, XLA_WRONG },
};

START_TEST(each_answer_has_its_end_and_the_next_window_works)
{
	script.what = answers[_i].what;
	script.reply.status = answers[_i].status;
	script.reply.text = answers[_i].text;
	script.message = answers[_i].message;
	script.has_message = true;
	window();
	expect(answers[_i].end);
	ck_assert_uint_eq(folder_count("jobs", ""), 0);
	expect_good_window();
}
END_TEST

START_TEST(what_is_no_profiler_server_is_told)
{
	switch (_i) {
	case 0: script.reply.raw = "220 mail.example.net\r\n"; break;
	case 1: script.reply.http_status = "404"; break;
	case 2: script.reply.reset = true; break;
	default: script.reply.status = NULL; break;
	}
	script.what = WRITES_NOTHING;
	window();
	ck_assert_uint_eq(xla_count(x, XLA_WRONG) + xla_count(x, XLA_BROKEN), 1);
	ck_assert(_i == 0 || xla_count(x, _i == 3 ? XLA_BROKEN : XLA_WRONG) == 1);
}
END_TEST

/* It may still write: the folder waits for the sweep, and a later window has another one. */
START_TEST(a_job_that_does_not_answer_in_time_keeps_its_folder_for_a_while)
{
	int64_t began = clock_mono_ns();

	conf.timeout_ns = NS_PER_S;
	script.reply.delay_ns = 30 * NS_PER_S;
	window();
	expect(XLA_TIMEOUT);
	ck_assert_int_lt(clock_mono_ns() - began, 5 * NS_PER_S);
	ck_assert_uint_eq(folder_count("jobs", XLA_FILE), 0);
	ck_assert_uint_eq(folder_count("jobs", ""), 1);
	ck_assert_uint_eq(xla_folder_sweep("", dir, NS_PER_MIN, clock_wall_ns() + NS_PER_HOUR), 1);
}
END_TEST

START_TEST(a_server_that_hangs_up_is_told)
{
	script.reply.hang_up = true;
	window();
	ck_assert_uint_eq(xla_count(x, XLA_BROKEN) + xla_count(x, XLA_WRONG), 1);
}
END_TEST

START_TEST(where_nobody_listens_the_window_is_refused)
{
	grpc_server_stop(srv);
	srv = NULL;
	window();
	expect(XLA_REFUSED);
	ck_assert_uint_eq(folder_count("jobs", ""), 0);
}
END_TEST

START_TEST(a_folder_that_cannot_be_made_is_told_and_no_call_made)
{
	snprintf(dir, sizeof(dir), "%s/none", folder);
	window();
	expect(XLA_NO_FOLDER);
	ck_assert_uint_eq(grpc_server_calls(srv), 0);
	snprintf(dir, sizeof(dir), "%s/jobs", folder);
}
END_TEST

/* The server in a process of its own. */
static pid_t serve_in_child(void)
{
	int port[2], got = 0;
	pid_t pid;

	grpc_server_stop(srv);
	srv = NULL;
	signal(SIGCHLD, SIG_IGN); /* so that it leaves no entry in /proc */
	ck_assert_int_eq(pipe(port), 0);
	pid = fork();
	if (pid == 0) {
		script.dies = true;
		srv = grpc_server_start(profile, NULL);
		got = grpc_server_port(srv);
		if (write(port[1], &got, sizeof(got)) == sizeof(got))
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(port[0], &got, sizeof(got)), sizeof(got));
	snprintf(address, sizeof(address), "127.0.0.1:%d", got);
	return pid;
}

START_TEST(a_process_that_ends_meanwhile_has_died)
{
	serve_in_child();
	window();
	expect(XLA_DIED);
	ck_assert_uint_eq(folder_count("jobs", ""), 0);
}
END_TEST

START_TEST(a_process_that_has_ended_is_not_asked)
{
	pid_t pid = serve_in_child();

	conf.scan_ns = NS_PER_MIN;
	open_source();
	ck_assert(wait_for(seen));
	ck_assert_int_eq(plan_at(plan, 0).w->pid, pid);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	while (kill(pid, 0) == 0)
		clock_sleep_ns(NS_PER_MS);
	window();
	expect(XLA_DIED);
}
END_TEST

START_TEST(a_stop_ends_a_call_that_is_under_way)
{
	int64_t began;

	script.reply.delay_ns = 60 * NS_PER_S;
	conf.timeout_ns = 60 * NS_PER_S;
	open_source();
	ck_assert(wait_for(seen));
	ck_assert(plan_ask(plan, plan_at(plan, 0).id, PLAN_ASKED, 0, clock_mono_ns()));
	look();
	while (grpc_server_calls(srv) == 0)
		clock_sleep_ns(NS_PER_MS);
	began = clock_mono_ns();
	close_source();
	ck_assert_int_lt(clock_mono_ns() - began, 5 * NS_PER_S);
}
END_TEST

START_TEST(what_is_finished_and_nobody_took_is_removed_at_the_end)
{
	window();
	give_back(SOURCE_AGAIN, false);
	close_source();
	ck_assert_uint_eq(folder_count("jobs", ""), 0);
}
END_TEST

START_TEST(while_a_call_takes_long_the_loop_is_not_woken_for_nothing)
{
	conf.scan_ns = 20 * NS_PER_MS; /* the next one waits behind the call */
	script.reply.delay_ns = 400 * NS_PER_MS;
	open_source();
	ck_assert(wait_for(seen));
	ck_assert(plan_ask(plan, plan_at(plan, 0).id, PLAN_ASKED, 0, clock_mono_ns()));
	look();
	while (grpc_server_calls(srv) == 0)
		clock_sleep_ns(NS_PER_MS);
	for (int i = 0; i < 100; i++) {
		look();
		clock_sleep_ns(NS_PER_MS);
	}
	look();
	ck_assert_int_gt(xla_source.wake_ns(x, false), clock_mono_ns());
	ck_assert(wait_for(has_trace));
	give_back(SOURCE_KEPT, true);
}
END_TEST

START_TEST(never_two_windows_of_a_job_at_once)
{
	script.reply.delay_ns = 300 * NS_PER_MS;
	open_source();
	ck_assert(wait_for(seen));
	ck_assert(plan_ask(plan, plan_at(plan, 0).id, PLAN_ASKED, 0, clock_mono_ns()));
	look();
	ck_assert_uint_eq(plan_out(plan), 1);
	plan_ask(plan, plan_at(plan, 0).id, PLAN_SLOW_STEP, 0, clock_mono_ns());
	look();
	ck_assert_uint_eq(plan_out(plan), 1);
	ck_assert(!plan_at(plan, 0).w->idle);
	ck_assert(wait_for(has_trace));
	give_back(SOURCE_KEPT, true);
}
END_TEST

START_TEST(a_removed_trace_is_told)
{
	window();
	give_back(SOURCE_AGAIN, false);
	ck_assert_int_eq(unlink(trace.file.path), 0);
	ended_before = 0;
	ck_assert(wait_for(has_ended));
	expect(XLA_UNWRITTEN);
}
END_TEST

START_TEST(the_configuration_names_what_is_wrong)
{
	struct xla_job_conf two[2] = { section, section };
	struct xla_conf wrong = conf;

	ck_assert_int_eq(xla_conf_check(&conf, &e), OK);
	wrong.jobs = (struct conf_sections){ two, 2 };
	ck_assert_int_eq(xla_conf_check(&wrong, &e), E_USAGE);
	ck_assert(str_contains(str_of(e.text), STR("stands there twice")));
	two[1].address = (char[]){ "10.0.0.1:9012" };
	ck_assert_int_eq(xla_conf_check(&wrong, &e), E_USAGE);
	ck_assert(str_has_prefix(str_of(e.text), STR("xla.jobs[1].address: \"10.0.0.1:9012\": want an address of this machine")));
	wrong.jobs.n = 0;
	ck_assert_int_eq(xla_conf_check(&wrong, &e), E_USAGE);
	wrong.environment = true;
	ck_assert_int_eq(xla_conf_check(&wrong, &e), OK);
}
END_TEST

Suite *suite_xla(void)
{
	Suite *s = suite_create("agent/xla");
	TCase *tc = tcase_create("xla");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, a_window_is_asked_for_taken_read_and_its_folder_removed);
	tcase_add_test(tc, a_window_without_device_events_is_taken_and_counted);
	tcase_add_test(tc, a_window_without_ops_is_empty);
	tcase_add_test(tc, a_trace_comes_again_when_it_cannot_be_kept_now);
	tcase_add_test(tc, a_trace_that_cannot_be_read_is_put_aside);
	tcase_add_loop_test(tc, each_answer_has_its_end_and_the_next_window_works, 0, COUNT(answers));
	tcase_add_loop_test(tc, what_is_no_profiler_server_is_told, 0, 4);
	tcase_add_test(tc, a_job_that_does_not_answer_in_time_keeps_its_folder_for_a_while);
	tcase_add_test(tc, a_server_that_hangs_up_is_told);
	tcase_add_test(tc, where_nobody_listens_the_window_is_refused);
	tcase_add_test(tc, a_folder_that_cannot_be_made_is_told_and_no_call_made);
	tcase_add_test(tc, a_process_that_ends_meanwhile_has_died);
	tcase_add_test(tc, a_process_that_has_ended_is_not_asked);
	tcase_add_test(tc, a_stop_ends_a_call_that_is_under_way);
	tcase_add_test(tc, what_is_finished_and_nobody_took_is_removed_at_the_end);
	tcase_add_test(tc, while_a_call_takes_long_the_loop_is_not_woken_for_nothing);
	tcase_add_test(tc, never_two_windows_of_a_job_at_once);
	tcase_add_test(tc, a_removed_trace_is_told);
	tcase_add_test(tc, the_configuration_names_what_is_wrong);
	suite_add_tcase(s, tc);
	return s;
}
