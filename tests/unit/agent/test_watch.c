#include "agent/watch.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crash.h"
#include "tests/unit/agent/folder.h"

Suite *suite_watch(void);

static struct watch *w;
static struct watch_folder conf;
static struct watch_file file;
static struct err e;
static int64_t now;
static const int64_t stable = 5 * NS_PER_S, rescan = 30 * NS_PER_S;

static void setup(void)
{
	folder_make();
	ck_assert_int_eq(mkdir(folder_path("in"), 0700), 0);
	conf = (struct watch_folder){ .dir = folder_path("in"), .bad_dir = folder_path("in/bad"), .keep_files = 3,
		.stable_ns = stable };
	err_clear(&e);
	now = 1000 * NS_PER_S;
}

static void teardown(void)
{
	watch_close(w);
	w = NULL;
	folder_remove();
}

static void start(void)
{
	ck_assert_int_eq(watch_open(&w, &conf, 1, rescan, &e), OK);
	watch_look(w, now);
}

/* Lets time go by and looks. */
static void later(int64_t ns)
{
	now += ns;
	watch_look(w, now);
}

static void move_in(const char *name, const char *text)
{
	folder_write("outside", str_of(text));
	ck_assert_int_eq(rename(folder_path("outside"), folder_path(name)), 0);
}

START_TEST(a_file_that_is_moved_in_is_finished_at_once)
{
	start();
	ck_assert(!watch_next(w, now, &file));
	move_in("in/a.json", "x");
	later(1);
	ck_assert(watch_next(w, now, &file));
	ck_assert_str_eq(file.path, folder_path("in/a.json"));
	ck_assert(!watch_next(w, now, &file));
}
END_TEST

START_TEST(a_file_that_is_written_is_finished_when_it_stays_the_same)
{
	start();
	folder_write("in/a.json", STR("x"));
	later(1);
	ck_assert(!watch_next(w, now, &file));
	later(stable - 1);
	ck_assert(!watch_next(w, now, &file));
	later(1);
	ck_assert(watch_next(w, now, &file));
}
END_TEST

START_TEST(a_file_that_grows_is_not_finished)
{
	start();
	folder_write("in/a.json", STR("x"));
	for (int i = 0; i < 5; i++) {
		later(stable);
		ck_assert(!watch_next(w, now, &file));
		folder_write("in/a.json", str_make("xxxxxxxxxx", (size_t)i + 2));
	}
	later(stable);
	later(stable);
	ck_assert(watch_next(w, now, &file));
	ck_assert_int_eq(file.size, 6);
}
END_TEST

START_TEST(files_of_before_the_start_are_found_and_waited_for)
{
	folder_write("in/a.json", STR("x"));
	folder_write("in/b.json.gz", STR("y"));
	start();
	ck_assert(!watch_next(w, now, &file));
	later(stable);
	ck_assert(watch_next(w, now, &file));
	ck_assert(watch_next(w, now, &file));
	ck_assert(!watch_next(w, now, &file));
}
END_TEST

START_TEST(what_is_no_trace_is_passed_over)
{
	static const char *const names[] = { "in/a.json.meta.json", "in/a.tmp", "in/.hidden", "in/.a.json", "in/4711.steps" };

	for (size_t i = 0; i < COUNT(names); i++)
		folder_write(names[i], STR("x"));
	ck_assert_int_eq(mkdir(folder_path("in/folder"), 0700), 0);
	ck_assert_int_eq(symlink("/etc/passwd", folder_path("in/link.json")), 0);
	ck_assert_int_eq(mkfifo(folder_path("in/fifo.json"), 0600), 0);
	start();
	for (size_t i = 0; i < COUNT(names); i++)
		move_in(names[i], "x");
	later(stable);
	later(stable);
	ck_assert(!watch_next(w, now, &file));
	ck_assert(watch_idle(w));
}
END_TEST

START_TEST(a_fifo_in_the_place_of_the_sign_holds_nobody_up)
{
	start();
	ck_assert_int_eq(mkfifo(folder_path("in/" WATCH_PAUSED), 0600), 0);
	watch_pause(w, true); /* whoever opens one to write waits for a reader */
	later(rescan);
	watch_pause(w, false);
	ck_assert(!folder_has("in/" WATCH_PAUSED));
}
END_TEST

START_TEST(jobs_that_profile_themselves_are_told_that_capture_is_paused)
{
	start();
	watch_pause(w, true);
	ck_assert(folder_has("in/" WATCH_PAUSED));
	later(rescan);
	ck_assert(!watch_next(w, now, &file));
	watch_close(w);
	start(); /* the pause ended while nobody was there to say so */
	ck_assert(!folder_has("in/" WATCH_PAUSED));
	watch_pause(w, true);
	watch_pause(w, false);
	ck_assert(!folder_has("in/" WATCH_PAUSED));
}
END_TEST

START_TEST(a_folder_that_comes_during_a_pause_is_told_too)
{
	ck_assert_int_eq(rmdir(folder_path("in")), 0);
	start();
	watch_pause(w, true);
	ck_assert_int_eq(mkdir(folder_path("in"), 0700), 0);
	later(rescan);
	ck_assert(folder_has("in/" WATCH_PAUSED));
}
END_TEST

START_TEST(a_done_file_goes_with_its_sidecar)
{
	start();
	folder_write("in/a.json.meta.json", STR("{}"));
	move_in("in/a.json", "x");
	later(1);
	ck_assert(watch_next(w, now, &file));
	ck_assert(!watch_idle(w));
	ck_assert_int_eq(watch_done(w, &file, now, &e), OK);
	ck_assert(!folder_has("in/a.json"));
	ck_assert(!folder_has("in/a.json.meta.json"));
	ck_assert(watch_idle(w));
}
END_TEST

START_TEST(done_files_are_moved_where_that_is_wanted_and_never_over_others)
{
	conf.done_dir = folder_path("done");
	conf.keep_files = 6;
	start();
	for (int i = 0; i < 3; i++) {
		folder_write("in/a.json.meta.json", STR("{}"));
		move_in("in/a.json", "x");
		later(1);
		ck_assert(watch_next(w, now, &file));
		ck_assert_msg(watch_done(w, &file, now, &e) == OK, "%s", e.text);
	}
	ck_assert_uint_eq(folder_count("in", ".json"), 0);
	ck_assert(folder_has("done/a.json") && folder_has("done/a.json.meta.json"));
	ck_assert_uint_eq(folder_count("done", ""), 6);
}
END_TEST

START_TEST(bad_files_are_moved_and_the_oldest_of_them_go)
{
	start();
	for (int i = 0; i < 10; i++) {
		char name[32];

		snprintf(name, sizeof(name), "in/%d.json", i);
		move_in(name, "x");
		later(1);
		ck_assert(watch_next(w, now, &file));
		ck_assert_int_eq(watch_bad(w, &file, now, &e), OK);
	}
	ck_assert_uint_eq(folder_count("in/bad", ""), 3);
	ck_assert(folder_has("in/bad/9.json"));
	ck_assert(watch_idle(w));
}
END_TEST

START_TEST(a_link_where_the_folder_for_bad_files_belongs_is_not_followed)
{
	ck_assert_int_eq(mkdir(folder_path("elsewhere"), 0700), 0);
	for (int i = 0; i < 10; i++) {
		char name[32];

		snprintf(name, sizeof(name), "elsewhere/%d", i);
		folder_write(name, STR("precious"));
	}
	ck_assert_int_eq(symlink(folder_path("elsewhere"), folder_path("in/bad")), 0);
	start();
	move_in("in/a.json", "x");
	later(1);
	ck_assert(watch_next(w, now, &file));
	ck_assert_int_lt(watch_bad(w, &file, now, &e), 0);
	ck_assert_uint_eq(folder_count("elsewhere", ""), 10);
	ck_assert(folder_has("in/a.json"));
}
END_TEST

START_TEST(a_file_that_was_replaced_while_it_was_out_comes_again)
{
	start();
	move_in("in/a.json", "x");
	later(1);
	ck_assert(watch_next(w, now, &file));
	move_in("in/a.json", "another");
	later(1);
	ck_assert(!watch_next(w, now, &file));
	ck_assert(!watch_same(&file));
	ck_assert_int_eq(watch_done(w, &file, now, &e), OK);
	ck_assert(folder_has("in/a.json"));
	later(stable);
	ck_assert(watch_next(w, now, &file));
	ck_assert_int_eq(file.size, 7);
}
END_TEST

START_TEST(a_file_that_is_given_back_comes_again_after_its_delay)
{
	start();
	move_in("in/a.json", "x");
	later(1);
	ck_assert(watch_next(w, now, &file));
	watch_again(w, &file, now, 60 * NS_PER_S);
	later(stable);
	ck_assert(!watch_next(w, now, &file));
	later(60 * NS_PER_S);
	ck_assert(watch_next(w, now, &file));
	ck_assert_uint_eq(file.tries, 1);
}
END_TEST

START_TEST(a_file_that_vanishes_is_forgotten)
{
	start();
	folder_write("in/a.json", STR("x"));
	later(1);
	ck_assert_int_eq(unlink(folder_path("in/a.json")), 0);
	later(stable);
	ck_assert(!watch_next(w, now, &file));
	ck_assert(watch_idle(w));
	move_in("in/b.json", "x");
	later(1);
	ck_assert(watch_next(w, now, &file));
	ck_assert_int_eq(unlink(folder_path("in/b.json")), 0);
	watch_again(w, &file, now, 0);
	ck_assert(watch_idle(w));
}
END_TEST

START_TEST(a_folder_that_comes_later_is_found_by_the_rescan)
{
	ck_assert_int_eq(rmdir(folder_path("in")), 0);
	start();
	ck_assert_int_eq(mkdir(folder_path("in"), 0700), 0);
	folder_write("in/a.json", STR("x"));
	later(rescan);
	later(stable);
	ck_assert(watch_next(w, now, &file));
	move_in("in/b.json", "x");
	later(1);
	ck_assert(watch_next(w, now, &file)); /* inotify has it now */
}
END_TEST

START_TEST(a_sidecar_goes_when_its_trace_has_been_gone_for_a_day)
{
	struct timespec old[2] = { { .tv_sec = time(NULL) - 90000 }, { .tv_sec = time(NULL) - 90000 } };

	folder_write("in/gone.json.meta.json", STR("{}"));
	folder_write("in/soon.json.meta.json", STR("{}"));
	folder_write("in/here.json.meta.json", STR("{}"));
	folder_write("in/here.json", STR("x"));
	ck_assert_int_eq(utimensat(AT_FDCWD, folder_path("in/gone.json.meta.json"), old, 0), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, folder_path("in/here.json.meta.json"), old, 0), 0);
	start();
	ck_assert(!folder_has("in/gone.json.meta.json"));
	ck_assert(folder_has("in/soon.json.meta.json"));
	ck_assert(folder_has("in/here.json.meta.json"));
}
END_TEST

START_TEST(a_folder_that_was_renamed_and_made_anew_is_watched_again)
{
	start();
	ck_assert_int_eq(rename(folder_path("in"), folder_path("old")), 0);
	ck_assert_int_eq(mkdir(folder_path("in"), 0700), 0);
	later(rescan);
	move_in("old/a.json", "x");
	move_in("in/b.json", "x");
	later(1);
	ck_assert(watch_next(w, now, &file)); /* inotify has it, of the new folder */
	ck_assert_str_eq(file.path, folder_path("in/b.json"));
	ck_assert(!watch_next(w, now, &file));
}
END_TEST

/* Dies at the point while it puts away the one trace in the folder, which has a sidecar; says what is left. */
static void die_at(const char *point)
{
	pid_t pid;
	int status;

	folder_write("in/a.json.meta.json", STR("{\"service\":\"old\"}"));
	move_in("in/a.json", "x");
	pid = fork();
	if (pid == 0) {
		crash_arm(point);
		start();
		later(1);
		later(stable);
		if (watch_next(w, now, &file))
			_exit(watch_done(w, &file, now, NULL) == OK);
		_exit(9);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert(folder_has("in/a.json.meta.json"));
	ck_assert(folder_has("in/.a.json.trainspotter"));
	clock_sleep_ns(20 * NS_PER_MS); /* file systems tell times of change in ticks of some milliseconds */
}

START_TEST(a_sidecar_that_a_kill_left_behind_is_gone_before_another_trace_could_take_it)
{
	die_at("watch.removed");
	ck_assert(!folder_has("in/a.json"));
	move_in("in/a.json", "another one, without a sidecar");
	start();
	ck_assert(!folder_has("in/a.json.meta.json"));
	ck_assert(folder_has("in/a.json"));
	ck_assert(!folder_has("in/.a.json.trainspotter"));
}
END_TEST

START_TEST(a_sidecar_that_was_written_after_the_kill_stays)
{
	die_at("watch.removed");
	folder_write("in/a.json.meta.json", STR("{\"service\":\"new\"}"));
	start();
	ck_assert(folder_has("in/a.json.meta.json"));
	ck_assert(!folder_has("in/.a.json.trainspotter"));
}
END_TEST

START_TEST(a_trace_that_a_kill_left_keeps_its_sidecar)
{
	die_at("watch.marked");
	ck_assert(folder_has("in/a.json"));
	start();
	ck_assert(folder_has("in/a.json"));
	ck_assert(folder_has("in/a.json.meta.json"));
	ck_assert(!folder_has("in/.a.json.trainspotter"));
}
END_TEST

START_TEST(nothing_wakes_the_agent_before_there_is_something_to_do)
{
	start();
	ck_assert_int_eq(watch_wake_ns(w, false), now + rescan);
	folder_write("in/a.json", STR("x"));
	later(1);
	ck_assert_int_eq(watch_wake_ns(w, false), now + stable);
	later(stable);
	ck_assert_int_le(watch_wake_ns(w, false), now);
	ck_assert_int_gt(watch_wake_ns(w, true), now);
	ck_assert(watch_next(w, now, &file));
	ck_assert_int_gt(watch_wake_ns(w, false), now);
}
END_TEST

Suite *suite_watch(void)
{
	Suite *s = suite_create("agent/watch");
	TCase *tc = tcase_create("watch");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_file_that_is_moved_in_is_finished_at_once);
	tcase_add_test(tc, a_file_that_is_written_is_finished_when_it_stays_the_same);
	tcase_add_test(tc, a_file_that_grows_is_not_finished);
	tcase_add_test(tc, files_of_before_the_start_are_found_and_waited_for);
	tcase_add_test(tc, what_is_no_trace_is_passed_over);
	tcase_add_test(tc, a_fifo_in_the_place_of_the_sign_holds_nobody_up);
	tcase_add_test(tc, jobs_that_profile_themselves_are_told_that_capture_is_paused);
	tcase_add_test(tc, a_folder_that_comes_during_a_pause_is_told_too);
	tcase_add_test(tc, a_done_file_goes_with_its_sidecar);
	tcase_add_test(tc, done_files_are_moved_where_that_is_wanted_and_never_over_others);
	tcase_add_test(tc, bad_files_are_moved_and_the_oldest_of_them_go);
	tcase_add_test(tc, a_link_where_the_folder_for_bad_files_belongs_is_not_followed);
	tcase_add_test(tc, a_file_that_was_replaced_while_it_was_out_comes_again);
	tcase_add_test(tc, a_file_that_is_given_back_comes_again_after_its_delay);
	tcase_add_test(tc, a_file_that_vanishes_is_forgotten);
	tcase_add_test(tc, a_folder_that_comes_later_is_found_by_the_rescan);
	tcase_add_test(tc, a_folder_that_was_renamed_and_made_anew_is_watched_again);
	tcase_add_test(tc, a_sidecar_goes_when_its_trace_has_been_gone_for_a_day);
	tcase_add_test(tc, a_sidecar_that_a_kill_left_behind_is_gone_before_another_trace_could_take_it);
	tcase_add_test(tc, a_sidecar_that_was_written_after_the_kill_stays);
	tcase_add_test(tc, a_trace_that_a_kill_left_keeps_its_sidecar);
	tcase_add_test(tc, nothing_wakes_the_agent_before_there_is_something_to_do);
	suite_add_tcase(s, tc);
	return s;
}
