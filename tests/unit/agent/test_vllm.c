#include "agent/vllm.h"

#include <check.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/vllm_journal.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "tests/support/tls_front.h"
#include "tests/unit/agent/fake_plan.h"
#include "tests/unit/agent/fake_vllm.h"
#include "tests/unit/agent/folder.h"
#include "tests/unit/agent/session.h"

Suite *suite_vllm(void);

enum { TAKEN_MAX = 32 };

static struct source src;
static struct vllm_conf conf;
static struct decode_conf decode;
static bool decodes;
static struct vllm_server_conf server;
static const char *url;

/* What the reader of traces got. */
static struct {
	char name[TAKEN_MAX][PATH_MAX], worker[TAKEN_MAX][64], service[TAKEN_MAX][64];
	size_t n;
	enum source_end answer; /* what it says to them */
} got;

/* As the configuration has it, which owns its texts. */
static char *text(const char *s)
{
	return (char *)(uintptr_t)s;
}

static void make_folders(void)
{
	folder_make();
	ck_assert_int_eq(file_make_dirs(folder_path("traces"), 0755, NULL), OK);
}

static void make_server(void)
{
	url = fake_vllm_open(folder_path("traces"));
	fake_plan = (struct fake_plan){ .duration_ns = 50 * NS_PER_MS };
	got.n = 0;
	got.answer = SOURCE_KEPT;
	src = (struct source){ 0 };
	server = (struct vllm_server_conf){ .url = text(url), .token_file = text(""), .ca_file = text(""),
		.dir = text(folder_path("traces")), .service = text("llm"), .deploy = text("v1"), .worker = text("") };
	decodes = false;
	decode = (struct decode_conf){ .program = text(""), .want_system = true, .want_summary = true, .max_input = 1 << 20,
		.max_output = 20 << 20, .limit_ns = 20 * NS_PER_S };
	conf = (struct vllm_conf){ .servers = { &server, 1 }, .timeout_ns = 2 * NS_PER_S, .stable_ns = 100 * NS_PER_MS,
		.metrics_ns = NS_PER_HOUR };
}

static void setup(void)
{
	make_folders();
	make_server();
}

static void close_it(void)
{
	if (src.type != NULL)
		src.type->close(src.self);
	src = (struct source){ 0 };
}

static void teardown(void)
{
	close_it();
	fake_vllm_close();
	folder_remove();
}

static void open_it(void)
{
	const struct vllm_settings s = { .conf = &conf, .state_dir = folder_path("state"), .keep_files = 10,
		.stop_first_ns = 5 * NS_PER_MS, .decode = decodes ? &decode : NULL };
	struct err e = { 0 };

	close_it();
	ck_assert_msg(vllm_open(&src, &s, &e) == OK, "%s", e.text);
}

static void read_trace(int64_t now_ns)
{
	struct source_trace t;

	if (!src.type->next(src.self, now_ns, &t))
		return;
	ck_assert_uint_lt(got.n, TAKEN_MAX);
	ck_assert(file_exists(t.file.path));
	snprintf(got.name[got.n], sizeof(got.name[0]), "%s", t.file.path);
	snprintf(got.worker[got.n], sizeof(got.worker[0]), "%.*s", STR_ARG(t.worker));
	snprintf(got.service[got.n], sizeof(got.service[0]), "%.*s %.*s", STR_ARG(t.service), STR_ARG(t.deploy));
	got.n++;
	src.type->back(src.self, t.key, &(struct source_result){ .end = got.answer, .why = "no trace", .delay_ns = 1 },
		now_ns);
	if (got.answer == SOURCE_AGAIN)
		got.answer = SOURCE_KEPT;
}

static void step(void)
{
	int64_t now = clock_mono_ns();

	src.type->look(src.self, now, clock_wall_ns());
	read_trace(now);
	clock_sleep_ns(2 * NS_PER_MS);
}

/* Until so many orders have ended, ten seconds at most. */
static void run_until_ends(size_t n)
{
	int64_t until = clock_mono_ns() + 10 * NS_PER_S;

	while (fake_plan.n_ends < n && clock_mono_ns() < until)
		step();
	ck_assert_uint_eq(fake_plan.n_ends, n);
}

static void run_for_ms(int ms)
{
	int64_t until = clock_mono_ns() + ms * NS_PER_MS;

	while (clock_mono_ns() < until)
		step();
}

static void assert_end(size_t i, const char *word)
{
	ck_assert_str_eq(fake_plan.ends[i].word, word);
	ck_assert(fake_plan.ends[i].taken == (str_eq(str_of(word), STR("taken"))));
}

/* One window, which ends so; and the next one is good. */
static void assert_ends_and_goes_on(const char *word)
{
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, word);
	fake_vllm.start_status = fake_vllm.stop_status = fake_vllm.bad_stops = 0;
	fake_vllm.start_delay_ns = fake_vllm.stop_delay_ns = 0;
	fake_vllm.held = false;
	fake_vllm.writes = FAKE_WRITES_TRACE;
	fake_vllm.token = NULL;
	fake_plan.wanted = 1;
	run_until_ends(2);
	assert_end(1, "taken");
	ck_assert(!fake_vllm.profiling);
	ck_assert(!fake_vllm.was_double);
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 0);
}

START_TEST(a_window_is_started_stopped_and_taken)
{
	int64_t began = clock_mono_ns();

	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	ck_assert_int_ge(clock_mono_ns() - began, fake_plan.duration_ns);
	ck_assert_int_eq(fake_vllm.starts, 1);
	ck_assert_int_eq(fake_vllm.stops, 1);
	ck_assert_uint_eq(got.n, 1);
	ck_assert_str_eq(got.service[0], "llm v1");
	ck_assert(!file_exists(got.name[0])); /* it is safe elsewhere */
	ck_assert_uint_eq(vllm_count(&src, VLLM_TAKEN), 1);
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 0);
	ck_assert_str_eq(fake_plan.workers[0].key, url);
	ck_assert_str_eq(fake_plan.workers[0].service, "llm");
}
END_TEST

START_TEST(windows_of_a_server_follow_each_other_and_never_overlap)
{
	fake_plan.wanted = 5;
	open_it();
	run_until_ends(5);
	ck_assert_uint_eq(vllm_count(&src, VLLM_TAKEN), 5);
	ck_assert(!fake_vllm.was_double);
	ck_assert_uint_eq(got.n, 5);
}
END_TEST

START_TEST(every_rank_is_a_worker_and_so_is_the_frontend)
{
	fake_vllm.writes = FAKE_WRITES_RANKS;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	ck_assert_uint_eq(got.n, 3);
	ck_assert_str_eq(got.worker[0], "frontend");
	ck_assert_str_eq(got.worker[1], "0");
	ck_assert_str_eq(got.worker[2], "1");
	ck_assert(folder_has("traces/profiler_out_0.txt")); /* not ours */
}
END_TEST

START_TEST(ranks_stay_apart_under_the_worker_of_the_configuration)
{
	server.worker = text("a");
	fake_vllm.writes = FAKE_WRITES_RANKS;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	ck_assert_str_eq(got.worker[1], "a.0");
	fake_vllm.writes = FAKE_WRITES_TRACE;
	fake_plan.wanted = 1;
	run_until_ends(2);
	ck_assert_str_eq(got.worker[3], "a");
}
END_TEST

START_TEST(a_session_folder_gives_its_trace_and_is_counted)
{
	fake_vllm.writes = FAKE_WRITES_SESSION;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	ck_assert_uint_eq(got.n, 1);
	ck_assert(str_has_suffix(str_of(got.name[0]), STR("/trace.json")));
	ck_assert_uint_eq(vllm_raw(&src), 1);
}
END_TEST

START_TEST(what_only_neuron_explorer_decodes_is_said_to_be_so)
{
	fake_vllm.writes = FAKE_WRITES_RAW;
	assert_ends_and_goes_on("undecoded");
	ck_assert_uint_eq(vllm_raw(&src), 1);
}
END_TEST

static void wait_until_gone(const char *name)
{
	for (int i = 0; i < 3000 && folder_has(name); i++)
		step();
	ck_assert(!folder_has(name));
}

static void decode_sessions(void)
{
	decodes = true;
	decoder_make();
}

START_TEST(a_session_is_decoded_and_gives_its_windows_and_goes)
{
	decode_sessions();
	fake_vllm.writes = FAKE_WRITES_SESSION;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	ck_assert_uint_eq(got.n, 2); /* not trace.json: the system profile has the same ops */
	ck_assert(str_has_suffix(str_of(got.name[0]), STR("/decoded-0/summary-1.json")));
	ck_assert_str_eq(got.service[0], "llm/device v1");
	ck_assert(str_has_suffix(str_of(got.name[1]), STR("/decoded-0/system-0.json")));
	ck_assert_str_eq(got.service[1], "llm v1");
	wait_until_gone("traces/i-0_pid_7/1");
	ck_assert(folder_has("traces"));
	run_for_ms(50);
	ck_assert_uint_eq(folder_count("state/vllm-decoded", ""), 0);
	fake_plan.wanted = 1;
	run_until_ends(2);
	assert_end(1, "taken");
	ck_assert_uint_eq(got.n, 4);
}
END_TEST

START_TEST(a_session_that_cannot_be_decoded_goes_and_its_trace_is_taken)
{
	decode_sessions();
	decoder_behaves("fail");
	fake_vllm.writes = FAKE_WRITES_SESSION;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	ck_assert_uint_eq(got.n, 1);
	ck_assert(str_has_suffix(str_of(got.name[0]), STR("/trace.json")));
	ck_assert_uint_eq(vllm_count(&src, VLLM_UNDECODED), 1);
	wait_until_gone("traces/i-0_pid_7/1");
}
END_TEST

START_TEST(a_decoder_that_fails_is_counted_and_the_next_window_works)
{
	decode_sessions();
	decoder_behaves("crash");
	fake_vllm.writes = FAKE_WRITES_RAW;
	assert_ends_and_goes_on("undecoded");
	wait_until_gone("traces/i-0_pid_7/1");
}
END_TEST

START_TEST(sessions_that_could_not_be_decoded_can_be_kept)
{
	decode_sessions();
	decode.keep = 1;
	decoder_behaves("fail");
	fake_vllm.writes = FAKE_WRITES_RAW;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	wait_until_gone("traces/i-0_pid_7/1");
	ck_assert(folder_has("traces/i-0_pid_7/.kept/1/ntrace.pb"));
}
END_TEST

START_TEST(without_a_decoder_a_session_stays)
{
	decode_sessions();
	ck_assert_int_eq(unlink(folder_path("bin/neuron-explorer")), 0);
	fake_vllm.writes = FAKE_WRITES_RAW;
	assert_ends_and_goes_on("undecoded");
	run_for_ms(50);
	ck_assert(folder_has("traces/i-0_pid_7/1/ntrace.pb"));
}
END_TEST

START_TEST(the_servers_own_folder_is_never_removed)
{
	decode_sessions();
	folder_write("traces/ntrace.pb", STR("pb"));
	folder_write("traces/trace_info.pb", STR("info"));
	fake_vllm.writes = FAKE_WRITES_SESSION;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	wait_until_gone("traces/i-0_pid_7/1");
	ck_assert(folder_has("traces/ntrace.pb"));
}
END_TEST

/* Its JSON is there, whole, for whichever agent. */
static bool is_decoded(void)
{
	glob_t found;
	bool yes = glob(folder_path("state/vllm-decoded/*/decoded-[0-9]/.decoded"), 0, NULL, &found) == 0;

	if (yes)
		globfree(&found);
	return yes;
}

START_TEST(a_session_is_found_again_by_the_next_agent_and_decoded_once)
{
	decode_sessions();
	fake_vllm.writes = FAKE_WRITES_SESSION;
	fake_plan.wanted = 1;
	open_it();
	for (int i = 0; i < 5000 && !is_decoded(); i++) { /* nobody reads what came of it */
		src.type->look(src.self, clock_mono_ns(), clock_wall_ns());
		clock_sleep_ns(2 * NS_PER_MS);
	}
	ck_assert(is_decoded());
	fake_plan.out = 0;
	open_it();
	wait_until_gone("traces/i-0_pid_7/1");
	ck_assert_uint_eq(got.n, 2);
	ck_assert_uint_eq(decoder_views(), 2);
}
END_TEST

START_TEST(a_session_without_a_trace_is_found_again_by_the_next_agent_too)
{
	decode_sessions();
	fake_vllm.writes = FAKE_WRITES_RAW;
	fake_plan.wanted = 1;
	open_it();
	for (int i = 0; i < 5000 && vllm_raw(&src) == 0; i++) { /* it is being decoded */
		src.type->look(src.self, clock_mono_ns(), clock_wall_ns());
		clock_sleep_ns(2 * NS_PER_MS);
	}
	ck_assert_uint_eq(vllm_raw(&src), 1);
	fake_plan.out = 0;
	open_it();
	wait_until_gone("traces/i-0_pid_7/1");
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 0);
}
END_TEST

/* Whoever may write there changes the way to a session after it was found. */
START_TEST(what_a_link_leads_to_is_not_removed_for_a_session)
{
	decode_sessions();
	decoder_behaves("fail");
	fake_vllm.writes = FAKE_WRITES_RAW;
	fake_plan.wanted = 1;
	open_it();
	for (int i = 0; i < 5000 && vllm_raw(&src) == 0; i++) {
		src.type->look(src.self, clock_mono_ns(), clock_wall_ns());
		clock_sleep_ns(2 * NS_PER_MS);
	}
	ck_assert_int_eq(file_make_dirs(folder_path("elsewhere/1"), 0700, NULL), OK);
	folder_write("elsewhere/1/precious", STR("not the job's"));
	ck_assert_int_eq(rename(folder_path("traces/i-0_pid_7"), folder_path("traces/moved")), 0);
	ck_assert_int_eq(symlink(folder_path("elsewhere"), folder_path("traces/i-0_pid_7")), 0);
	run_until_ends(1);
	run_for_ms(200);
	ck_assert(folder_has("elsewhere/1/precious"));
}
END_TEST

START_TEST(the_token_of_its_file_is_sent_and_no_other)
{
	folder_write("token", STR("s3cret\n"));
	setenv("TRAINSPOTTER_TOKEN", "the-daemons", 1);
	fake_vllm.token = "s3cret";
	server.token_file = text(folder_path("token"));
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	ck_assert_int_eq(fake_vllm.denied, 0);
	unsetenv("TRAINSPOTTER_TOKEN");
}
END_TEST

static struct tls_front *tls;

/* The server, behind TLS; its certificate is in the file ca. */
static void put_behind_tls(void)
{
	static char tls_url[64];
	uint64_t port;

	ck_assert_int_eq(str_to_u64(str_from(str_of(url), str_of("http://127.0.0.1:").n), &port), OK);
	tls = tls_front_open((int)port, folder_path("ca"));
	snprintf(tls_url, sizeof(tls_url), "https://127.0.0.1:%d", tls_front_port(tls));
	server.url = tls_url;
}

START_TEST(a_server_behind_tls_is_profiled_when_its_certificate_is_trusted)
{
	put_behind_tls();
	folder_write("token", STR("s3cret"));
	fake_vllm.token = "s3cret";
	server.token_file = text(folder_path("token"));
	server.ca_file = text(folder_path("ca"));
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	close_it();
	tls_front_close(tls);
}
END_TEST

START_TEST(a_server_whose_certificate_is_not_trusted_gets_neither_a_start_nor_the_token)
{
	put_behind_tls();
	folder_write("token", STR("s3cret"));
	server.token_file = text(folder_path("token"));
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "unreachable");
	ck_assert_int_eq(fake_vllm.starts + fake_vllm.metrics + fake_vllm.stops, 0);
	close_it();
	tls_front_close(tls);
}
END_TEST

START_TEST(a_server_whose_metrics_cannot_be_read_is_profiled_all_the_same)
{
	fake_vllm.metrics_bytes = 5 << 20;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	ck_assert_uint_eq(fake_plan.n_counts, 0);
}
END_TEST

START_TEST(a_wrong_token_is_denied)
{
	fake_vllm.token = "another";
	assert_ends_and_goes_on("denied");
	ck_assert_int_eq(fake_vllm.starts, 1); /* only the good one */
}
END_TEST

START_TEST(a_token_file_that_is_missing_is_denied)
{
	server.token_file = text(folder_path("nowhere"));
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "denied");
	ck_assert_int_eq(fake_vllm.starts, 0);
}
END_TEST

START_TEST(a_server_without_its_profiler_is_told)
{
	fake_vllm.start_status = 404;
	assert_ends_and_goes_on("no_profiler");
	ck_assert_int_eq(fake_vllm.stops, 1); /* nothing had begun: no stop for the first */
}
END_TEST

START_TEST(a_server_that_somebody_else_profiles_is_left_alone)
{
	fake_vllm.start_status = 409;
	assert_ends_and_goes_on("busy");
	ck_assert_int_eq(fake_vllm.stops, 1);
}
END_TEST

START_TEST(a_start_that_failed_half_way_is_stopped)
{
	fake_vllm.start_status = 500;
	assert_ends_and_goes_on("refused");
	ck_assert_int_eq(fake_vllm.stops, 2);
}
END_TEST

START_TEST(a_start_that_is_not_answered_is_stopped)
{
	conf.timeout_ns = 300 * NS_PER_MS;
	fake_vllm.start_delay_ns = 600 * NS_PER_MS;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "timeout");
	ck_assert_int_ge(fake_vllm.stops, 1);
}
END_TEST

START_TEST(a_server_that_is_away_is_unreachable)
{
	fake_vllm_close();
	fake_plan.wanted = 2;
	open_it();
	run_until_ends(2);
	assert_end(0, "unreachable");
	assert_end(1, "unreachable");
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 0);
}
END_TEST

START_TEST(a_stop_that_fails_is_sent_until_it_is_taken)
{
	fake_vllm.stop_status = 500;
	fake_vllm.bad_stops = 3;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "stop_failed");
	ck_assert(fake_vllm.profiling);
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 1);
	for (int i = 0; i < 1000 && vllm_count(&src, VLLM_TAKEN) == 0; i++) {
		ck_assert(!fake_plan.workers[0].idle || got.n > 0); /* no other window meanwhile */
		run_for_ms(20);
	}
	ck_assert_uint_eq(vllm_count(&src, VLLM_STOP_FAILED), 1);
	ck_assert_int_eq(fake_vllm.stops, 4);
	ck_assert(!fake_vllm.profiling);
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 0);
	fake_plan.wanted = 1;
	run_until_ends(2);
	assert_end(1, "taken");
}
END_TEST

/* One that did not profile at all may say so with an error: it must not be asked for ever, nor be given up for good. */
START_TEST(a_stop_that_always_fails_is_given_up_in_the_end)
{
	fake_vllm.stop_status = 500;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "stop_failed");
	for (int i = 0; i < 1000 && folder_count("state/vllm", ".json") > 0; i++)
		run_for_ms(10);
	ck_assert_int_eq(fake_vllm.stops, 20);
	fake_vllm.stop_status = 0;
	fake_plan.wanted = 1;
	run_until_ends(2);
	assert_end(1, "taken");
}
END_TEST

START_TEST(a_stop_that_nobody_answers_is_never_given_up)
{
	fake_vllm.stop_status = 401;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	for (int i = 0; i < 1000 && fake_vllm.stops < 25; i++)
		run_for_ms(10);
	ck_assert_int_ge(fake_vllm.stops, 25);
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 1);
}
END_TEST

START_TEST(nothing_that_appears_is_told_and_what_comes_late_is_taken)
{
	conf.timeout_ns = NS_PER_S; /* of each call, too */
	fake_vllm.held = true;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "nothing_came");
	fake_vllm.held = false;
	while (fake_vllm.written == 0)
		step();
	run_for_ms(2 * VLLM_TICK_NS / NS_PER_MS); /* what is older than the next window is late */
	fake_plan.wanted = 1;
	run_until_ends(2);
	assert_end(1, "taken");
	ck_assert_uint_eq(got.n, 2);
	ck_assert_uint_eq(vllm_count(&src, VLLM_LATE), 1);
	ck_assert_uint_eq(vllm_count(&src, VLLM_TAKEN), 1);
}
END_TEST

START_TEST(a_trace_is_taken_when_it_is_whole)
{
	fake_vllm.slow_pieces = 6;
	conf.stable_ns = 250 * NS_PER_MS;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	ck_assert_uint_eq(got.n, 1);
}
END_TEST

START_TEST(a_trace_that_never_ends_is_unfinished)
{
	fake_vllm.slow_pieces = 20;
	conf.stable_ns = 250 * NS_PER_MS;
	conf.timeout_ns = 600 * NS_PER_MS;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "unfinished");
}
END_TEST

START_TEST(a_bad_trace_is_put_aside_and_an_empty_one_removed)
{
	got.answer = SOURCE_BAD;
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "bad");
	ck_assert_uint_eq(folder_count("state/bad", ".json"), 1);
	got.answer = SOURCE_EMPTY;
	fake_plan.wanted = 1;
	run_until_ends(2);
	assert_end(1, "empty");
	got.answer = SOURCE_AGAIN;
	fake_plan.wanted = 1;
	run_until_ends(3);
	assert_end(2, "taken");
	ck_assert_uint_eq(folder_count("traces", ".json"), 0);
}
END_TEST

START_TEST(without_a_note_nothing_is_started)
{
	folder_write("state", STR("a file where the folder should be"));
	fake_plan.wanted = 1;
	/* as when the disk fills up while the agent runs */
	unlink(folder_path("state"));
	open_it();
	folder_write("state", STR("full"));
	run_until_ends(1);
	assert_end(0, "no_note");
	ck_assert_int_eq(fake_vllm.starts, 0);
	unlink(folder_path("state"));
	fake_plan.wanted = 1;
	run_until_ends(2);
	assert_end(1, "taken");
}
END_TEST

START_TEST(an_agent_that_ends_during_a_window_says_stop_and_the_next_one_takes_the_trace)
{
	int64_t began;

	fake_plan.duration_ns = NS_PER_MIN;
	fake_plan.wanted = 1;
	open_it();
	for (int i = 0; i < 1000 && fake_vllm.starts == 0; i++)
		step();
	began = clock_mono_ns();
	close_it();
	ck_assert_int_lt(clock_mono_ns() - began, 3 * NS_PER_S);
	ck_assert_int_eq(fake_vllm.stops, 1);
	ck_assert(!fake_vllm.profiling);
	fake_plan.out = 0;
	open_it();
	for (int i = 0; i < 1000 && got.n == 0; i++)
		step();
	ck_assert_uint_eq(got.n, 1);
	ck_assert_int_eq(fake_vllm.stops, 1); /* that it was stopped had been noted */
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 0);
}
END_TEST

START_TEST(an_agent_ends_soon_also_where_the_server_hangs)
{
	int64_t began;

	conf.timeout_ns = NS_PER_MIN;
	fake_vllm.start_delay_ns = 3 * NS_PER_S;
	fake_plan.wanted = 1;
	open_it();
	for (int i = 0; i < 1000 && fake_vllm.starts == 0; i++)
		step();
	began = clock_mono_ns();
	close_it();
	ck_assert_int_lt(clock_mono_ns() - began, 3 * NS_PER_S);
	ck_assert_int_eq(fake_vllm.stops, 1); /* said, although nobody knows whether it began */
}
END_TEST

START_TEST(the_sample_behind_a_window_says_that_one_was_under_way)
{
	struct vllm_sample s;

	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	ck_assert(vllm_last_sample(&src, url, &s));
	ck_assert(s.inside);
	ck_assert_int_eq(fake_vllm.metrics, 3); /* at once, before the start, after the stop */
	ck_assert(s.m.value[VLLM_ITERATIONS] == 30);
	ck_assert_uint_eq(fake_plan.iterations, 30);
	ck_assert_uint_eq(fake_plan.n_counts, 3);
}
END_TEST

START_TEST(links_are_not_followed_and_sidecars_are_no_traces)
{
	struct vllm_found f;

	folder_write("secret.json", STR("{}"));
	ck_assert_int_eq(file_make_dirs(folder_path("elsewhere"), 0755, NULL), OK);
	folder_write("elsewhere/a.json", STR("{}"));
	ck_assert_int_eq(symlink(folder_path("secret.json"), folder_path("traces/l.json")), 0);
	ck_assert_int_eq(symlink(folder_path("elsewhere"), folder_path("traces/dir")), 0);
	folder_write("traces/b.json.gz.meta.json", STR("{}"));
	folder_write("traces/b.json.gz", STR("{}"));
	folder_write("traces/.hidden.json", STR("{}"));
	vllm_find(folder_path("traces"), 0, &f);
	ck_assert_uint_eq(f.traces.n, 1);
	ck_assert_str_eq(f.traces.v[0], folder_path("traces/b.json.gz"));
	vllm_found_fini(&f);
	vllm_find(folder_path("traces"), clock_wall_ns() + NS_PER_S, &f);
	ck_assert_uint_eq(f.traces.n + f.signature, 0);
	vllm_found_fini(&f);
	vllm_find(folder_path("nowhere"), 0, &f);
	ck_assert_uint_eq(f.traces.n + f.signature, 0);
	vllm_found_fini(&f);
}
END_TEST

START_TEST(a_folder_of_endless_files_is_left_after_so_many)
{
	struct vllm_found f;
	char name[64];

	for (int i = 0; i < VLLM_FOUND_MAX + 5; i++) {
		snprintf(name, sizeof(name), "traces/%d.json", i);
		folder_write(name, STR("{}"));
	}
	vllm_find(folder_path("traces"), 0, &f);
	ck_assert_uint_eq(f.traces.n, VLLM_FOUND_MAX);
	ck_assert(f.too_many);
	vllm_found_fini(&f);
}
END_TEST

START_TEST(what_it_has_done_is_sampled_between_windows)
{
	struct vllm_sample s = { 0 };

	conf.metrics_ns = 50 * NS_PER_MS;
	open_it();
	for (int i = 0; i < 1000 && (!vllm_last_sample(&src, url, &s) || s.m.value[VLLM_ITERATIONS] < 20); i++)
		run_for_ms(10);
	ck_assert(vllm_last_sample(&src, url, &s));
	ck_assert(s.m.known[VLLM_ITERATIONS] && s.m.value[VLLM_ITERATIONS] >= 20);
	ck_assert(!s.inside);
	ck_assert(!vllm_last_sample(&src, "http://elsewhere", &s));
}
END_TEST

/* ---- kill -9 */

/* A child that runs an agent until it dies at a point. It is forked before the server's threads are there, of which it could
 * inherit a lock that nobody gives back, and hears by a pipe where the server is. */
static pid_t child;
static int tell_child;

static void run_child(int hear, const char *crash_at)
{
	static char child_url[64];

	signal(SIGALRM, SIG_DFL); /* that of the test kills all the test's processes */
	alarm(20);
	ck_assert_int_gt(read(hear, child_url, sizeof(child_url) - 1), 0);
	crash_arm(crash_at);
	fake_plan = (struct fake_plan){ .duration_ns = 50 * NS_PER_MS, .wanted = 1 };
	server = (struct vllm_server_conf){ text(child_url), text(""), text(""), text(folder_path("traces")), text("llm"), text("v1"),
		text("") };
	conf = (struct vllm_conf){ .servers = { &server, 1 }, .timeout_ns = 2 * NS_PER_S, .stable_ns = 100 * NS_PER_MS,
		.metrics_ns = NS_PER_HOUR };
	open_it();
	for (;;)
		step();
}

static void make_child(const char *crash_at)
{
	int fds[2];

	make_folders();
	ck_assert_int_eq(pipe(fds), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		run_child(fds[0], crash_at);
	close(fds[0]);
	tell_child = fds[1];
	make_server();
}

/* It runs, and is dead when this returns. */
static void let_child_die(const char *where)
{
	int status;

	ck_assert_int_gt(write(tell_child, url, strlen(url)), 0);
	close(tell_child);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s was not passed", where);
}

static const struct crash_case {
	const char *point;
	int starts, stops; /* that the server has had when the next agent is done */
	size_t traces;	   /* that were read in all */
} crashes[] = {
	{ "vllm.start-noted", 0, 1, 0 }, /* it was never started: one stop too many */
	{ "vllm.started", 1, 1, 1 },
	{ "vllm.stopped", 1, 2, 1 },
	{ "vllm.stop-noted", 1, 1, 1 },
	{ "vllm.removed", 1, 1, 0 },
	{ "vllm.dropped", 1, 1, 0 },
};

START_TEST(a_kill_at_any_point_leaves_no_server_profiling)
{
	const struct crash_case *c = &crashes[_i];

	make_child(c->point);
	conf.timeout_ns = NS_PER_S;
	let_child_die(c->point);
	open_it();
	for (int i = 0; i < 3000 && (folder_count("state/vllm", ".json") > 0 || fake_vllm.profiling); i++)
		step();
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 0);
	ck_assert(!fake_vllm.profiling);
	ck_assert_int_eq(fake_vllm.starts, c->starts);
	ck_assert_int_eq(fake_vllm.stops, c->stops);
	ck_assert_uint_eq(got.n, c->traces);
	fake_plan.wanted = 1;
	run_until_ends(1);
	assert_end(0, "taken");
}
END_TEST

START_TEST(a_server_that_the_configuration_names_no_longer_is_stopped_all_the_same)
{
	make_child("vllm.started");
	let_child_die("vllm.started");
	ck_assert(fake_vllm.profiling);
	conf.servers.n = 0;
	open_it();
	for (int i = 0; i < 1000 && got.n == 0; i++)
		step();
	ck_assert_uint_eq(got.n, 1);
	ck_assert_str_eq(got.service[0], "llm v1");
	ck_assert(!fake_vllm.profiling);
	ck_assert_uint_eq(fake_plan.n_workers, 0);
	ck_assert_uint_eq(folder_count("state/vllm", ".json"), 0);
}
END_TEST

START_TEST(a_note_that_cannot_be_read_is_put_aside_and_the_others_count)
{
	ck_assert_int_eq(file_make_dirs(folder_path("state/vllm"), 0755, NULL), OK);
	folder_write("state/vllm/0000000000000001.json", STR("{\"url\":"));
	folder_write("state/vllm/0000000000000002.json", STR("{\"url\":\"\",\"started_ns\":1}"));
	fake_plan.wanted = 1;
	open_it();
	run_until_ends(1);
	assert_end(0, "taken");
	ck_assert_uint_eq(folder_count("state/vllm", ".bad"), 2);
}
END_TEST

/* The last free descriptor is the folder's. */
START_TEST(a_note_that_cannot_be_read_now_waits_for_the_next_agent)
{
	struct vllm_entries entries;
	struct rlimit lim;
	rlim_t before;
	struct err e = { 0 };
	int free_fd;

	ck_assert_int_eq(file_make_dirs(folder_path("state/vllm"), 0755, NULL), OK);
	folder_write("state/vllm/0000000000000001.json", STR("{\"url\":\"http://127.0.0.1:1\",\"started_ns\":1}"));
	free_fd = dup(0);
	close(free_fd);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &lim), 0);
	before = lim.rlim_cur;
	lim.rlim_cur = (rlim_t)free_fd + 1;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	ck_assert_int_eq(vllm_journal_read(folder_path("state/vllm"), &entries, &e), OK);
	lim.rlim_cur = before;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	ck_assert_uint_eq(entries.n, 0);
	ck_assert_uint_eq(entries.bad, 1);
	vllm_entries_fini(&entries);
	ck_assert_int_eq(vllm_journal_read(folder_path("state/vllm"), &entries, &e), OK);
	ck_assert_uint_eq(entries.n, 1);
	vllm_entries_fini(&entries);
}
END_TEST

START_TEST(without_servers_and_notes_there_is_no_source)
{
	conf.servers.n = 0;
	open_it();
	ck_assert_ptr_null(src.type);
}
END_TEST

Suite *suite_vllm(void)
{
	Suite *s = suite_create("agent/vllm");
	TCase *t = tcase_create("windows");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, a_window_is_started_stopped_and_taken);
	tcase_add_test(t, windows_of_a_server_follow_each_other_and_never_overlap);
	tcase_add_test(t, every_rank_is_a_worker_and_so_is_the_frontend);
	tcase_add_test(t, ranks_stay_apart_under_the_worker_of_the_configuration);
	tcase_add_test(t, a_session_folder_gives_its_trace_and_is_counted);
	tcase_add_test(t, what_only_neuron_explorer_decodes_is_said_to_be_so);
	tcase_add_test(t, a_session_is_decoded_and_gives_its_windows_and_goes);
	tcase_add_test(t, a_session_that_cannot_be_decoded_goes_and_its_trace_is_taken);
	tcase_add_test(t, a_decoder_that_fails_is_counted_and_the_next_window_works);
	tcase_add_test(t, sessions_that_could_not_be_decoded_can_be_kept);
	tcase_add_test(t, without_a_decoder_a_session_stays);
	tcase_add_test(t, the_servers_own_folder_is_never_removed);
	tcase_add_test(t, a_session_is_found_again_by_the_next_agent_and_decoded_once);
	tcase_add_test(t, a_session_without_a_trace_is_found_again_by_the_next_agent_too);
	tcase_add_test(t, what_a_link_leads_to_is_not_removed_for_a_session);
	tcase_add_test(t, the_token_of_its_file_is_sent_and_no_other);
	tcase_add_test(t, a_server_behind_tls_is_profiled_when_its_certificate_is_trusted);
	tcase_add_test(t, a_server_whose_certificate_is_not_trusted_gets_neither_a_start_nor_the_token);
	tcase_add_test(t, a_trace_is_taken_when_it_is_whole);
	tcase_add_test(t, the_sample_behind_a_window_says_that_one_was_under_way);
	tcase_add_test(t, what_it_has_done_is_sampled_between_windows);
	tcase_add_test(t, links_are_not_followed_and_sidecars_are_no_traces);
	tcase_add_test(t, a_folder_of_endless_files_is_left_after_so_many);
	tcase_add_test(t, without_servers_and_notes_there_is_no_source);
	suite_add_tcase(s, t);
	t = tcase_create("failures");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, a_server_whose_metrics_cannot_be_read_is_profiled_all_the_same);
	tcase_add_test(t, a_wrong_token_is_denied);
	tcase_add_test(t, a_token_file_that_is_missing_is_denied);
	tcase_add_test(t, a_server_without_its_profiler_is_told);
	tcase_add_test(t, a_server_that_somebody_else_profiles_is_left_alone);
	tcase_add_test(t, a_start_that_failed_half_way_is_stopped);
	tcase_add_test(t, a_start_that_is_not_answered_is_stopped);
	tcase_add_test(t, a_server_that_is_away_is_unreachable);
	tcase_add_test(t, a_stop_that_fails_is_sent_until_it_is_taken);
	tcase_add_test(t, a_stop_that_always_fails_is_given_up_in_the_end);
	tcase_add_test(t, a_stop_that_nobody_answers_is_never_given_up);
	tcase_add_test(t, nothing_that_appears_is_told_and_what_comes_late_is_taken);
	tcase_add_test(t, a_trace_that_never_ends_is_unfinished);
	tcase_add_test(t, a_bad_trace_is_put_aside_and_an_empty_one_removed);
	tcase_add_test(t, without_a_note_nothing_is_started);
	suite_add_tcase(s, t);
	t = tcase_create("ends");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 40);
	tcase_add_test(t, an_agent_that_ends_during_a_window_says_stop_and_the_next_one_takes_the_trace);
	tcase_add_test(t, an_agent_ends_soon_also_where_the_server_hangs);
	tcase_add_test(t, a_note_that_cannot_be_read_is_put_aside_and_the_others_count);
	tcase_add_test(t, a_note_that_cannot_be_read_now_waits_for_the_next_agent);
	suite_add_tcase(s, t);
	t = tcase_create("kills");
	tcase_add_checked_fixture(t, NULL, teardown); /* a child is made before the server is */
	tcase_set_timeout(t, 40);
	tcase_add_loop_test(t, a_kill_at_any_point_leaves_no_server_profiling, 0, COUNT(crashes));
	tcase_add_test(t, a_server_that_the_configuration_names_no_longer_is_stopped_all_the_same);
	suite_add_tcase(s, t);
	return s;
}
