#include "cli/progress.h"

#include <check.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/width.h"

Suite *suite_progress(void);

static struct buf out;

static void up(void)
{
	setenv("LC_ALL", "C.UTF-8", 1);
	buf_init(&out, 4096);
}

static void down(void)
{
	buf_fini(&out);
}

START_TEST(the_line_has_bar_share_bytes_speed_and_time_left)
{
	progress_line(&out, STR("t.json"), 1200000000, 2900000000, 4 * NS_PER_S, 100);
	ck_assert_str_eq(buf_view(&out).p, "t.json  [========            ]   41 %  1.2 GB of 2.9 GB  300 MB/s  6 s left");
}
END_TEST

START_TEST(of_a_pipe_there_is_no_share)
{
	progress_line(&out, STR("standard input"), 90000000, 0, 3 * NS_PER_S, 80);
	ck_assert_str_eq(buf_view(&out).p, "standard input  90 MB  30 MB/s");
}
END_TEST

START_TEST(a_file_that_grows_meanwhile_is_never_past_its_end)
{
	progress_line(&out, STR("t"), 300000000, 200000000, 2 * NS_PER_S, 80);
	ck_assert_str_eq(buf_view(&out).p, "t  [====================]  100 %  200 MB of 200 MB  100 MB/s");
}
END_TEST

START_TEST(what_there_is_no_room_for_is_left_out_whole)
{
	static const struct {
		size_t room;
		const char *line;
	} cases[] = {
		{ 79, "t.json  [========            ]   41 %  1.2 GB of 2.9 GB  300 MB/s  6 s left" },
		{ 67, "[========            ]   41 %  1.2 GB of 2.9 GB  300 MB/s  6 s left" },
		{ 60, "[========            ]   41 %  1.2 GB of 2.9 GB  300 MB/s" },
		{ 50, "[========            ]   41 %  1.2 GB of 2.9 GB" },
		{ 29, "[========            ]   41 %" },
		{ 28, " 41 %  1.2 GB of 2.9 GB" },
		{ 5, " 41 %" },
		{ 4, "" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		buf_reset(&out);
		progress_line(&out, STR("t.json"), 1200000000, 2900000000, 4 * NS_PER_S, cases[i].room);
		ck_assert_str_eq(buf_view(&out).p, cases[i].line);
	}
}
END_TEST

START_TEST(the_line_never_wraps_and_keeps_the_end_of_the_name)
{
	for (size_t room = 1; room < 120; room++) {
		buf_reset(&out);
		progress_line(&out, STR("/a/folder/that/is/deep/µ漢字/worker0.pt.trace.json"), 1, 2, NS_PER_S, room);
		ck_assert_uint_le(width_of(buf_view(&out)), room);
	}
	buf_reset(&out);
	progress_line(&out, STR("/a/folder/that/is/deep/rank-0.json"), 50000000, 0, NS_PER_S, 30);
	ck_assert_str_eq(buf_view(&out).p, "…p/rank-0.json  50 MB  50 MB/s");
}
END_TEST

Suite *suite_progress(void)
{
	Suite *s = suite_create("cli/progress");
	TCase *tc = tcase_create("progress");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, the_line_has_bar_share_bytes_speed_and_time_left);
	tcase_add_test(tc, of_a_pipe_there_is_no_share);
	tcase_add_test(tc, a_file_that_grows_meanwhile_is_never_past_its_end);
	tcase_add_test(tc, what_there_is_no_room_for_is_left_out_whole);
	tcase_add_test(tc, the_line_never_wraps_and_keeps_the_end_of_the_name);
	suite_add_tcase(s, tc);
	return s;
}
