#include "cli/chart.h"

#include <check.h>
#include <math.h>

#include "base/rand.h"
#include "cli/width.h"

Suite *suite_chart(void);

enum { HOURS = 504, STEP_AT = 336 };

static const int64_t start = INT64_C(1794146400) * NS_PER_S; /* 2026-11-08T14:00:00Z */
static struct chart_point points[HOURS];
static struct chart_mark marks[2];
static struct buf out;
static struct chart chart;

/* Three weeks by the hour: 403 µs, then 2355 µs from the 15th day on. */
static void up(void)
{
	for (int i = 0; i < HOURS; i++)
		points[i] = (struct chart_point){ start + i * NS_PER_HOUR, i < STEP_AT ? 403300 : 2355000, (double)NAN };
	marks[0] = (struct chart_mark){ start, STR("v41") };
	marks[1] = (struct chart_mark){ start + STEP_AT * NS_PER_HOUR, STR("v42") };
	chart = (struct chart){ .points = points, .n = HOURS, .point_ns = NS_PER_HOUR, .marks = marks, .n_marks = 2,
		.unit = CHART_NS, .width = 60, .height = 6, .utf8 = true };
	buf_init(&out, 1 << 20);
}

static void down(void)
{
	buf_fini(&out);
}

START_TEST(a_step_at_a_deploy_is_seen_at_a_glance)
{
	chart_draw(&chart, &out);
	ck_assert_str_eq(buf_view(&out).p, "           v41                             v42\n"
					   "  3.00 ms ┤                                ┊    2.35 ms\n"
					   "          │                                ┊▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆\n"
					   "  2.00 ms ┤                                ┊████████████████\n"
					   "          │                                ┊████████████████\n"
					   "  1.00 ms ┤             403 µs             ┊████████████████\n"
					   "          │▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆┊████████████████\n"
					   "        0 ┼───────┬───────────────┬────────┴───────┬────────\n"
					   "                  Nov 12          Nov 19           Nov 26\n");
}
END_TEST

START_TEST(without_utf_8_it_is_drawn_in_ascii)
{
	chart.utf8 = false;
	chart_draw(&chart, &out);
	for (size_t i = 0; i < out.n; i++)
		ck_assert(out.p[i] == '\n' || (out.p[i] >= ' ' && out.p[i] < 0x7f));
	ck_assert_ptr_nonnull(strstr(out.p, "403 us"));
	ck_assert_ptr_nonnull(strstr(out.p, "|################\n"));
}
END_TEST

/* One level fills its row, the other six eighths of one: no other part of a row may be seen, wherever the mark falls. */
START_TEST(no_column_mixes_before_and_after_a_deploy)
{
	static const char *const others[] = { "▁", "▂", "▃", "▄", "▅", "▇" };

	for (int at = 1; at < HOURS; at++) {
		for (int i = 0; i < HOURS; i++)
			points[i].value = i < at ? 1250000 / 6 : 1000000;
		marks[1].t_ns = start + at * NS_PER_HOUR;
		buf_reset(&out);
		chart_draw(&chart, &out);
		for (size_t i = 0; i < COUNT(others); i++)
			ck_assert_msg(strstr(out.p, others[i]) == NULL, "at %d:\n%s", at, out.p);
	}
}
END_TEST

START_TEST(hours_without_windows_are_a_gap_and_calls_of_nothing_a_dot)
{
	for (int i = 100; i < 150; i++)
		points[i].value = (double)NAN;
	for (int i = STEP_AT; i < HOURS; i++)
		points[i].value = 0;
	chart_draw(&chart, &out);
	ck_assert_msg(strstr(out.p, "█    █") != NULL, "%s", out.p);
	ck_assert_msg(strstr(out.p, "┊·······0········\n") != NULL, "%s", out.p);
}
END_TEST

START_TEST(a_mark_inside_the_first_point_is_a_name_without_a_line)
{
	struct buf moved;

	chart_draw(&chart, &out);
	marks[0].t_ns += NS_PER_HOUR - 1;
	buf_init(&moved, 1 << 20);
	chart_draw(&chart, &moved);
	ck_assert_str_eq(out.p, moved.p);
	ck_assert(!chart_splits(&chart, 0));
	ck_assert(chart_splits(&chart, 1));
	buf_fini(&moved);
}
END_TEST

START_TEST(a_high_tail_is_a_shade_over_the_bar)
{
	for (int i = 0; i < STEP_AT; i++)
		points[i].high = 1900000;
	chart_draw(&chart, &out);
	ck_assert_ptr_nonnull(strstr(out.p, "│▆▆▆▆"));
	ck_assert_ptr_nonnull(strstr(out.p, "┤░░░░"));
}
END_TEST

START_TEST(one_point_and_no_point_are_fine)
{
	chart.n = 1;
	chart.n_marks = 0;
	chart_draw(&chart, &out);
	ck_assert_ptr_nonnull(strstr(out.p, "403 µs"));
	ck_assert_ptr_nonnull(strstr(out.p, "14:00"));
	buf_reset(&out);
	points[0].value = (double)NAN;
	chart_draw(&chart, &out);
	ck_assert_uint_eq(out.n, 0);
	points[0].value = 0;
	chart_draw(&chart, &out);
	ck_assert_uint_gt(out.n, 0);
	buf_reset(&out);
	chart.n = 0;
	chart_draw(&chart, &out);
	ck_assert_uint_eq(out.n, 0);
}
END_TEST

START_TEST(long_labels_are_cut_and_harmless)
{
	marks[1].label = STR("registry/image:2026-11-22-\033[2Jlong");
	chart.width = 80;
	chart_draw(&chart, &out);
	ck_assert_ptr_nonnull(strstr(out.p, "registry/image:2026…"));
	marks[1].label = STR("a\033[2Jb");
	buf_reset(&out);
	chart_draw(&chart, &out);
	ck_assert_ptr_null(strchr(out.p, '\033'));
}
END_TEST

START_TEST(a_label_of_wide_characters_takes_two_columns_each)
{
	marks[0].label = STR("漢字");
	marks[1].label = STR("版e\xcc\x81-42");
	chart_draw(&chart, &out);
	ck_assert_msg(str_has_prefix(buf_view(&out), STR("           漢字                            版e-42\n")), "%s", out.p);
	marks[1].label = STR("漢漢漢漢漢漢漢漢漢漢漢");
	buf_reset(&out);
	chart_draw(&chart, &out);
	ck_assert_ptr_nonnull(strstr(out.p, "漢漢漢漢漢漢漢漢漢…\n"));
	chart.utf8 = false;
	buf_reset(&out);
	chart_draw(&chart, &out);
	ck_assert_ptr_nonnull(strstr(out.p, "??????????????????~\n"));
}
END_TEST

static size_t widest_line(const struct buf *b)
{
	struct str rest = buf_view(b);
	size_t most = 0;

	while (rest.p != NULL) {
		size_t n = width_of(str_split(&rest, '\n'));

		most = n > most ? n : most;
	}
	return most;
}

START_TEST(it_never_gets_wider_than_it_was_told)
{
	struct chart_mark many[30];
	struct rand_gen g;

	rand_seed(&g, 8);
	for (int round = 0; round < 300; round++) {
		size_t n = 1 + rand_below(&g, 30);

		for (size_t i = 0; i < n; i++)
			many[i] = (struct chart_mark){ start + (int64_t)(i * HOURS / n) * NS_PER_HOUR,
				i % 3 == 0 ? STR("版-7漢字") : STR("deploy-7") };
		for (int i = 0; i < HOURS; i++)
			points[i].value = rand_below(&g, 8) == 0 ? (double)NAN : rand_unit(&g) * pow(10, round % 12);
		chart.marks = many;
		chart.n_marks = n;
		chart.n = 1 + rand_below(&g, HOURS);
		chart.width = 40 + (unsigned)rand_below(&g, 100);
		chart.height = 4 + (unsigned)rand_below(&g, 20);
		chart.unit = round % 2 ? CHART_COUNT : CHART_NS;
		buf_reset(&out);
		chart_draw(&chart, &out);
		ck_assert_int_eq(out.rc, OK);
		ck_assert_uint_le(widest_line(&out), chart.width);
	}
}
END_TEST

START_TEST(medians_are_of_the_time_asked_for)
{
	ck_assert(chart_median(&chart, start, marks[1].t_ns) == 403300);
	ck_assert(chart_median(&chart, marks[1].t_ns, INT64_MAX) == 2355000);
	ck_assert(isnan(chart_median(&chart, 0, start)));
}
END_TEST

Suite *suite_chart(void)
{
	Suite *s = suite_create("cli/chart");
	TCase *tc = tcase_create("chart");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, a_step_at_a_deploy_is_seen_at_a_glance);
	tcase_add_test(tc, without_utf_8_it_is_drawn_in_ascii);
	tcase_add_test(tc, no_column_mixes_before_and_after_a_deploy);
	tcase_add_test(tc, hours_without_windows_are_a_gap_and_calls_of_nothing_a_dot);
	tcase_add_test(tc, a_mark_inside_the_first_point_is_a_name_without_a_line);
	tcase_add_test(tc, a_high_tail_is_a_shade_over_the_bar);
	tcase_add_test(tc, one_point_and_no_point_are_fine);
	tcase_add_test(tc, long_labels_are_cut_and_harmless);
	tcase_add_test(tc, a_label_of_wide_characters_takes_two_columns_each);
	tcase_add_test(tc, it_never_gets_wider_than_it_was_told);
	tcase_add_test(tc, medians_are_of_the_time_asked_for);
	suite_add_tcase(s, tc);
	return s;
}
