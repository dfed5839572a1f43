/* Sessions that appear in a watched folder. The clock is the test's. */
#include "agent/session_source.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/agent/folder.h"
#include "tests/unit/agent/session.h"

Suite *suite_session_source(void);

#define SESSION "in/i-01_pid_77/1790"

static char empty[] = "", service[] = "llm", state_dir[PATH_MAX], in_dir[PATH_MAX];
static struct watch_conf watch;
static struct agent_conf conf;
static struct source source;
static struct source_trace trace;
static struct err e;
static int64_t now_ns;

static void open_source(void)
{
	ck_assert_msg(session_source_open(&source, &conf, NULL, folder_path("proc"), &e) == OK, "%s", e.text);
}

static void close_source(void)
{
	if (source.type != NULL)
		source.type->close(source.self);
	source.type = NULL;
}

static void setup(void)
{
	folder_make();
	decoder_make();
	snprintf(state_dir, sizeof(state_dir), "%s/state", folder);
	snprintf(in_dir, sizeof(in_dir), "%s/in", folder);
	ck_assert_int_eq(file_make_dirs(in_dir, 0700, NULL), OK);
	watch = (struct watch_conf){ .dir = in_dir, .service = service, .deploy = empty, .worker = empty, .done_dir = empty,
		.bad_dir = empty, .stable_ns = 5 * NS_PER_S, .decode = true };
	conf = (struct agent_conf){ .state_dir = state_dir, .watch = { &watch, 1 }, .rescan_ns = 30 * NS_PER_S,
		.decode = { .program = empty, .want_system = true, .want_summary = true, .max_input = 1 << 20,
			.max_output = 20 << 20, .limit_ns = 20 * NS_PER_S } };
	now_ns = clock_mono_ns() + NS_PER_DAY; /* never behind the real one */
	source = (struct source){ .type = NULL };
	err_clear(&e);
}

static void teardown(void)
{
	close_source();
	folder_remove();
}

/* Seconds go by; what the thread does is waited for by ticks of the real clock. */
static void pass(int seconds)
{
	for (int i = 0; i < seconds; i++) {
		now_ns += NS_PER_S;
		source.type->look(source.self, now_ns, clock_wall_ns());
		clock_sleep_ns(NS_PER_MS);
	}
}

static bool get_trace(void)
{
	for (int i = 0; i < 3000; i++) {
		source.type->look(source.self, now_ns, clock_wall_ns());
		if (source.type->next(source.self, now_ns, &trace))
			return true;
		clock_sleep_ns(2 * NS_PER_MS);
	}
	return false;
}

static void back(enum source_end end)
{
	source.type->back(source.self, trace.key, &(struct source_result){ .end = end, .why = "no JSON" }, now_ns);
}

static void wait_until_gone(const char *name)
{
	for (int i = 0; i < 3000 && folder_has(name); i++) {
		source.type->look(source.self, now_ns, clock_wall_ns());
		clock_sleep_ns(2 * NS_PER_MS);
	}
	ck_assert(!folder_has(name));
}

static void wait_for(enum decode_end end)
{
	for (int i = 0; i < 3000 && session_source_count(&source, end) == 0; i++) {
		source.type->look(source.self, now_ns, clock_wall_ns());
		clock_sleep_ns(2 * NS_PER_MS);
	}
	ck_assert_uint_eq(session_source_count(&source, end), 1);
}

START_TEST(a_session_is_taken_when_it_does_not_change_any_more_and_removed)
{
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	open_source();
	pass(3);
	folder_write(SESSION "/ntrace.pb", STR("\x82\x01\x02hi, longer"));
	pass(4);
	ck_assert_uint_eq(decoder_views(), 0);
	pass(3);
	ck_assert(get_trace());
	ck_assert_str_eq(source.type->name, "watch");
	ck_assert(str_eq(trace.service, STR("llm")));
	ck_assert(str_has_prefix(str_of(trace.file.path), str_of(folder_path("state/decode/"))));
	ck_assert(!source.type->idle(source.self));
	back(SOURCE_KEPT);
	wait_until_gone(SESSION);
	for (int i = 0; i < 3000 && !source.type->idle(source.self); i++) {
		source.type->look(source.self, now_ns, clock_wall_ns());
		clock_sleep_ns(2 * NS_PER_MS);
	}
	ck_assert(folder_has("in/i-01_pid_77")); /* its process may be about to make another one in it */
	ck_assert_int_eq(utime(folder_path("in/i-01_pid_77"), &(struct utimbuf){ 0, 0 }), 0);
	ck_assert_int_eq(file_make_dirs(folder_path("in/i-01_pid_78/x"), 0700, NULL), OK);
	ck_assert_int_eq(utime(folder_path("in/i-01_pid_78"), &(struct utimbuf){ 0, 0 }), 0);
	pass(31);
	ck_assert(!folder_has("in/i-01_pid_77"));
	ck_assert(folder_has("in/i-01_pid_78"));
	ck_assert_uint_eq(folder_count("state/decode", ""), 0);
	ck_assert_uint_eq(session_source_taken(&source), 1);
	ck_assert(source.type->idle(source.self));
}
END_TEST

START_TEST(one_that_appears_later_is_found_by_a_rescan)
{
	open_source();
	pass(2);
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	pass(40);
	ck_assert(get_trace());
	back(SOURCE_KEPT);
	wait_until_gone(SESSION);
}
END_TEST

START_TEST(one_without_trace_info_is_waited_for_longer_and_put_aside)
{
	session_make(SESSION, HOLDS_SYSTEM);
	open_source();
	pass(50);
	ck_assert_uint_eq(session_source_count(&source, DECODE_INCOMPLETE), 0);
	pass(15);
	wait_for(DECODE_INCOMPLETE);
	wait_until_gone(SESSION);
	ck_assert(folder_has("in/bad/1790/ntrace.pb"));
	session_make("in/i-01_pid_78/1791", HOLDS_INFO | HOLDS_SYSTEM); /* the next one works */
	pass(40);
	ck_assert(get_trace());
	ck_assert(folder_has("in/bad/1790"));
}
END_TEST

START_TEST(done_sessions_can_be_kept_the_last_ones_only)
{
	watch.done = DONE_MOVE;
	conf.decode.keep = 2;
	open_source();
	for (int i = 0; i < 3; i++) {
		char name[64];

		snprintf(name, sizeof(name), "in/i-01_pid_77/%d", i);
		session_make(name, HOLDS_INFO | HOLDS_SYSTEM);
		pass(40);
		ck_assert(get_trace());
		back(SOURCE_KEPT);
		wait_until_gone(name);
		clock_sleep_ns(20 * NS_PER_MS);
	}
	ck_assert_uint_eq(folder_count("in/done", ""), 2);
	ck_assert(!folder_has("in/done/0"));
	pass(70);
	ck_assert_uint_eq(decoder_views(), 3); /* what was put aside is not found again */
}
END_TEST

static bool is_stuck(void)
{
	for (int i = 0; i < 3000 && source.type->stuck(source.self) == 0; i++) {
		source.type->look(source.self, now_ns, clock_wall_ns());
		clock_sleep_ns(2 * NS_PER_MS);
	}
	return source.type->stuck(source.self) > 0;
}

/* Whoever may write there changes the way to a session after it was found; 0: done ones are removed, 1: moved. */
START_TEST(what_a_link_leads_to_is_neither_removed_nor_moved)
{
	const char *last = strrchr(SESSION, '/') + 1;
	char other[64];

	watch.done = _i == 0 ? DONE_REMOVE : DONE_MOVE;
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	open_source();
	pass(10);
	ck_assert(get_trace());
	snprintf(other, sizeof(other), "elsewhere/%s", last);
	session_make(other, HOLDS_INFO);
	ck_assert_int_eq(rename(folder_path("in/i-01_pid_77"), folder_path("in/moved")), 0);
	ck_assert_int_eq(symlink(folder_path("elsewhere"), folder_path("in/i-01_pid_77")), 0);
	back(SOURCE_KEPT);
	ck_assert(is_stuck());
	ck_assert(folder_has(other));
	ck_assert(!folder_has("in/done"));
}
END_TEST

START_TEST(what_else_is_in_the_folder_for_done_ones_stays)
{
	watch.done = DONE_MOVE;
	ck_assert_int_eq(file_make_dirs(folder_path("in/done/archive"), 0700, NULL), OK);
	folder_write("in/done/archive/notes.txt", STR("mine"));
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	open_source();
	pass(8);
	ck_assert(get_trace());
	back(SOURCE_KEPT);
	wait_until_gone(SESSION);
	pass(1);
	ck_assert(folder_has("in/done/1790/ntrace.pb"));
	ck_assert(folder_has("in/done/archive/notes.txt"));
}
END_TEST

START_TEST(a_session_that_is_moved_keeps_the_trace_that_was_taken_of_it)
{
	watch.done = DONE_MOVE;
	decoder_behaves("fail");
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM | HOLDS_TRACE);
	open_source();
	pass(8);
	ck_assert(get_trace());
	ck_assert_ptr_nonnull(strstr(trace.file.path, "/trace.json"));
	back(SOURCE_KEPT);
	wait_until_gone(SESSION);
	ck_assert(folder_has("in/done/1790/trace.json"));
}
END_TEST

START_TEST(a_name_that_only_begins_like_the_folder_for_done_ones_is_watched)
{
	session_make("in/done-01_pid_7/1790", HOLDS_INFO | HOLDS_SYSTEM);
	open_source();
	pass(8);
	ck_assert(get_trace());
	back(SOURCE_KEPT);
	wait_until_gone("in/done-01_pid_7/1790");
}
END_TEST

START_TEST(without_a_decoder_it_stays_and_is_tried_again)
{
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	ck_assert_int_eq(rename(folder_path("bin/neuron-explorer"), folder_path("bin/x")), 0);
	open_source();
	pass(8);
	wait_for(DECODE_NO_PROGRAM);
	ck_assert(folder_has(SESSION));
	ck_assert(source.type->idle(source.self)); /* with --once it is not waited for */
	ck_assert_int_eq(rename(folder_path("bin/x"), folder_path("bin/neuron-explorer")), 0);
	pass(300);
	ck_assert_uint_eq(decoder_views(), 0);
	pass(400);
	ck_assert(get_trace());
	back(SOURCE_KEPT);
	wait_until_gone(SESSION);
}
END_TEST

static void wait_until_later(uint64_t times)
{
	for (int i = 0; i < 3000 && session_source_later(&source) < times; i++) {
		source.type->look(source.self, now_ns, clock_wall_ns());
		clock_sleep_ns(2 * NS_PER_MS);
	}
	ck_assert_uint_eq(session_source_later(&source), times);
}

START_TEST(where_decoding_cannot_begin_it_is_tried_again_ever_later)
{
	static const int wait_s[] = { 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 2560, 2560 };

	ck_assert_int_eq(file_make_dirs(state_dir, 0700, NULL), OK);
	folder_write("state/decode", STR("a file where its folder belongs"));
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	open_source();
	for (int i = 0; i < 3000 && session_source_later(&source) == 0; i++)
		pass(1);
	ck_assert(source.type->idle(source.self)); /* with --once it is not waited for */
	ck_assert_uint_eq(source.type->stuck(source.self), 1); /* but told */
	for (size_t i = 0; i < COUNT(wait_s); i++) {
		now_ns += (wait_s[i] - 1) * NS_PER_S;
		for (int ticks = 0; ticks < 10; ticks++) {
			source.type->look(source.self, now_ns, clock_wall_ns());
			clock_sleep_ns(2 * NS_PER_MS);
		}
		wait_until_later(i + 1);
		now_ns += NS_PER_S;
		wait_until_later(i + 2);
	}
	ck_assert_int_eq(unlink(folder_path("state/decode")), 0);
	now_ns += 2560 * NS_PER_S;
	ck_assert(get_trace());
	ck_assert_uint_eq(source.type->stuck(source.self), 0);
	back(SOURCE_KEPT);
	wait_until_gone(SESSION);
}
END_TEST

START_TEST(a_decoder_that_fails_puts_it_aside_and_the_next_one_works)
{
	decoder_behaves("fail");
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	open_source();
	pass(8);
	wait_for(DECODE_FAILED);
	wait_until_gone(SESSION);
	ck_assert(folder_has("in/bad/1790/ntrace.pb"));
	decoder_behaves("");
	session_make("in/i-01_pid_78/1791", HOLDS_INFO | HOLDS_SYSTEM);
	pass(40);
	ck_assert(get_trace());
	back(SOURCE_KEPT);
	ck_assert_uint_eq(session_source_taken(&source), 1);
}
END_TEST

START_TEST(a_trace_that_cannot_be_read_puts_its_session_aside)
{
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	open_source();
	pass(8);
	ck_assert(get_trace());
	back(SOURCE_BAD);
	wait_until_gone(SESSION);
	ck_assert(folder_has("in/bad/1790"));
	ck_assert_uint_eq(session_source_taken(&source), 0);
}
END_TEST

START_TEST(after_a_kill_nothing_is_decoded_twice_and_leftovers_go)
{
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	ck_assert_int_eq(file_make_dirs(folder_path("state/decode/0123456789abcdef/decoded-0"), 0700, NULL), OK);
	open_source();
	pass(1);
	ck_assert(!folder_has("state/decode/0123456789abcdef"));
	pass(8);
	ck_assert(get_trace());
	close_source(); /* before it was durable */
	open_source();
	pass(8);
	ck_assert(get_trace());
	ck_assert_uint_eq(decoder_views(), 1);
	back(SOURCE_KEPT);
	wait_until_gone(SESSION);
}
END_TEST

START_TEST(the_process_says_whose_it_is_where_it_can_be_trusted)
{
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	ck_assert_int_eq(file_make_dirs(folder_path("proc/77/fd"), 0700, NULL), OK);
	folder_write("proc/77/stat", STR("77 (python) S 1 7 7 0 -1 4194304 1 0 0 0 5 1 0 0 20 0 9 0 1 1 2 3\n"));
	folder_write("proc/77/environ", STR("TRAINSPOTTER_SERVICE=its-own"));
	open_source();
	pass(8);
	ck_assert(get_trace());
	ck_assert(str_eq(trace.service, STR("llm"))); /* it holds no device: some other process of that number */
	back(SOURCE_KEPT);
	wait_until_gone(SESSION);
	ck_assert_int_eq(symlink("/dev/neuron0", folder_path("proc/77/fd/5")), 0);
	session_make("in/i-01_pid_77/1791", HOLDS_INFO | HOLDS_SYSTEM);
	pass(40);
	ck_assert(get_trace());
	ck_assert(str_eq(trace.service, STR("its-own")));
	back(SOURCE_KEPT);
	wait_until_gone("in/i-01_pid_77/1791");
	folder_write("proc/77/status", STR("Name:\tpython\nNSpid:\t77\t5\n"));
	session_make("in/i-01_pid_77/1792", HOLDS_INFO | HOLDS_SYSTEM);
	pass(40);
	ck_assert(get_trace());
	ck_assert(str_eq(trace.service, STR("llm"))); /* it calls itself 5 */
}
END_TEST

static off_t size_of(const char *name)
{
	struct stat st;

	return stat(folder_path(name), &st) < 0 ? -1 : st.st_size;
}

START_TEST(one_that_changes_while_it_is_decoded_is_decoded_again)
{
	decoder_behaves("grows");
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	open_source();
	pass(8);
	for (int i = 0; i < 10000 && size_of(SESSION "/ntrace.pb") < 6; i++)
		clock_sleep_ns(2 * NS_PER_MS);
	ck_assert_int_ge(size_of(SESSION "/ntrace.pb"), 6);
	decoder_behaves("");
	for (int i = 0; i < 100; i++) {
		source.type->look(source.self, now_ns, clock_wall_ns());
		clock_sleep_ns(2 * NS_PER_MS);
	}
	ck_assert(!source.type->next(source.self, now_ns, &trace));
	/* it lies still from the end of the first decoding on, whenever that is */
	for (int i = 0; i < 10000 && decoder_views() < 2; i++)
		pass(1);
	ck_assert(get_trace());
	ck_assert_uint_eq(decoder_views(), 2);
	back(SOURCE_KEPT);
	wait_until_gone(SESSION);
}
END_TEST

START_TEST(folders_that_do_not_want_it_have_no_such_source)
{
	watch.decode = false;
	open_source();
	ck_assert_ptr_null(source.type);
}
END_TEST

Suite *suite_session_source(void)
{
	Suite *s = suite_create("agent/session_source");
	TCase *tc = tcase_create("session_source");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_session_is_taken_when_it_does_not_change_any_more_and_removed);
	tcase_add_test(tc, one_that_appears_later_is_found_by_a_rescan);
	tcase_add_test(tc, one_without_trace_info_is_waited_for_longer_and_put_aside);
	tcase_add_test(tc, done_sessions_can_be_kept_the_last_ones_only);
	tcase_add_loop_test(tc, what_a_link_leads_to_is_neither_removed_nor_moved, 0, 2);
	tcase_add_test(tc, what_else_is_in_the_folder_for_done_ones_stays);
	tcase_add_test(tc, a_session_that_is_moved_keeps_the_trace_that_was_taken_of_it);
	tcase_add_test(tc, a_name_that_only_begins_like_the_folder_for_done_ones_is_watched);
	tcase_add_test(tc, without_a_decoder_it_stays_and_is_tried_again);
	tcase_add_test(tc, where_decoding_cannot_begin_it_is_tried_again_ever_later);
	tcase_add_test(tc, a_decoder_that_fails_puts_it_aside_and_the_next_one_works);
	tcase_add_test(tc, a_trace_that_cannot_be_read_puts_its_session_aside);
	tcase_add_test(tc, after_a_kill_nothing_is_decoded_twice_and_leftovers_go);
	tcase_add_test(tc, the_process_says_whose_it_is_where_it_can_be_trusted);
	tcase_add_test(tc, one_that_changes_while_it_is_decoded_is_decoded_again);
	tcase_add_test(tc, folders_that_do_not_want_it_have_no_such_source);
	suite_add_tcase(s, tc);
	return s;
}
