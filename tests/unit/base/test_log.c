#include "base/log.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/must.h"

Suite *suite_log(void);

static int saved_fd, read_fd;

static void catch_stderr(void)
{
	int pipe_fd[2];

	ck_assert_int_eq(pipe2(pipe_fd, O_NONBLOCK), 0);
	saved_fd = dup(STDERR_FILENO);
	dup2(pipe_fd[1], STDERR_FILENO);
	close(pipe_fd[1]);
	read_fd = pipe_fd[0];
	setenv("JOURNAL_STREAM", "8:1", 1); /* no times in the lines */
}

static void release_stderr(void)
{
	dup2(saved_fd, STDERR_FILENO);
	close(saved_fd);
	close(read_fd);
	log_set_level(LOG_INFO);
}

static const char *caught(void)
{
	static char text[65536];
	ssize_t n = read(read_fd, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	return text;
}

START_TEST(a_line_has_level_event_and_what_happened)
{
	log_warn("ship.retry", "batch=%d err=\"%s\"", 7, "no answer");
	ck_assert_str_eq(caught(), "<4>warn ship.retry batch=7 err=\"no answer\"\n");
	log_info("start", "%s", "");
	ck_assert_str_eq(caught(), "<6>info start\n");
}
END_TEST

START_TEST(outside_the_journal_a_line_starts_with_a_time)
{
	const char *line;

	unsetenv("JOURNAL_STREAM");
	log_error("store.broken", "file=%s", "x");
	line = caught();
	ck_assert_int_eq(line[0], '2');
	ck_assert_int_eq(line[10], 'T');
	ck_assert_ptr_nonnull(strstr(line, "Z error store.broken file=x\n"));
}
END_TEST

START_TEST(a_line_stays_one_line_whatever_is_in_it)
{
	log_warn("x", "err=\"%s\"", "a\nerror y forged=1\r\033[2J");
	ck_assert_str_eq(caught(), "<4>warn x err=\"a?error y forged=1??[2J\"\n");
}
END_TEST

START_TEST(a_very_long_line_is_cut_and_ends)
{
	char text[5000];
	const char *line;

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_warn("x", "%s", text);
	line = caught();
	ck_assert_uint_lt(strlen(line), 2100);
	ck_assert_int_eq(line[strlen(line) - 1], '\n');
}
END_TEST

START_TEST(levels_hold_back_what_was_not_asked_for)
{
	enum log_level level;

	log_debug("x", "n=%d", 1);
	ck_assert_str_eq(caught(), "");
	log_set_level(LOG_DEBUG);
	log_debug("x", "n=%d", 2);
	ck_assert_str_eq(caught(), "<7>debug x n=2\n");
	ck_assert_int_eq(log_level_parse(STR("error"), &level), OK);
	ck_assert_int_eq(level, LOG_ERROR);
	ck_assert_int_eq(log_level_parse(STR("loud"), &level), E_FORMAT);
}
END_TEST

START_TEST(a_call_site_prints_ten_lines_and_then_counts)
{
	struct log_site site = { 0 };
	const char *all;
	int lines = 0;

	for (int i = 0; i < 25; i++)
		log_line(&site, LOG_WARN, "flood", "i=%d", i);
	all = caught();
	for (const char *p = all; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	ck_assert_int_eq(lines, 10);
	site.since_ns -= INT64_C(11000000000); /* ten seconds later */
	log_line(&site, LOG_WARN, "flood", "i=%d", 99);
	ck_assert_str_eq(caught(), "<4>warn flood i=99 held=15\n");
}
END_TEST

START_TEST(a_broken_promise_prints_the_lines_before_it)
{
	struct log_site site[100] = { 0 };
	const char *all;
	pid_t child = fork();
	int status;

	if (child == 0) {
		for (int i = 0; i < 100; i++)
			log_line(&site[i], LOG_INFO, "walk", "i=%d", i);
		must_fail(__FILE__, __LINE__, "kept");
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	all = caught();
	ck_assert_ptr_null(strstr(all, "before: <6>info walk i=35\n"));
	for (int i = 36; i < 100; i++) {
		char line[60];

		snprintf(line, sizeof(line), "  before: <6>info walk i=%d\n", i);
		all = strstr(all, line);
		ck_assert_msg(all != NULL, "%s", line);
	}
}
END_TEST

Suite *suite_log(void)
{
	Suite *s = suite_create("base/log");
	TCase *tc = tcase_create("log");

	tcase_add_checked_fixture(tc, catch_stderr, release_stderr);
	tcase_add_test(tc, a_line_has_level_event_and_what_happened);
	tcase_add_test(tc, outside_the_journal_a_line_starts_with_a_time);
	tcase_add_test(tc, a_line_stays_one_line_whatever_is_in_it);
	tcase_add_test(tc, a_very_long_line_is_cut_and_ends);
	tcase_add_test(tc, levels_hold_back_what_was_not_asked_for);
	tcase_add_test(tc, a_call_site_prints_ten_lines_and_then_counts);
	tcase_add_test(tc, a_broken_promise_prints_the_lines_before_it);
	suite_add_tcase(s, tc);
	return s;
}
