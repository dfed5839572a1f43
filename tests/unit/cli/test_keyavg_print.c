#include "cli/keyavg_print.h"

#include <check.h>
#include <stdio.h>

#include "cli/width.h"

Suite *suite_keyavg_print(void);

static struct keyavg_row rows[4];
static struct keyavg_table table;
static struct buf out;

static void row(const char *name, int64_t cpu_ns, int64_t device_ns)
{
	rows[table.n++] = (struct keyavg_row){ .name = str_of(name), .count = 2, .self_cpu_ns = cpu_ns, .cpu_total_ns = cpu_ns,
		.self_device_ns = device_ns, .device_total_ns = device_ns };
	table.self_cpu_ns += cpu_ns;
	table.self_device_ns += device_ns;
}

static void up(void)
{
	table = (struct keyavg_table){ .v = rows };
	buf_init(&out, 1 << 20);
}

static void down(void)
{
	buf_fini(&out);
}

static const char *printed(size_t screen)
{
	buf_reset(&out);
	keyavg_print_table(&table, SIZE_MAX, "NEURON", screen, &out);
	return buf_view(&out).p;
}

/* The widest line of the table itself, the lines below it left out. */
static size_t widest(size_t *rules)
{
	struct str rest = buf_view(&out);
	size_t most = 0;

	for (*rules = 0; rest.p != NULL && *rules < 3;) {
		struct str line = str_split(&rest, '\n');

		*rules += str_has_prefix(line, STR("---"));
		most = width_of(line) > most ? width_of(line) : most;
	}
	return most;
}

START_TEST(wide_characters_line_up)
{
	row("漢字カーネル", 1000, 0);
	row("mul", 3000, 0);
	ck_assert_str_eq(printed(60), "----------------  ------------  ------------  ------------  \n"
				      "            Name      Self CPU     CPU total    # of Calls  \n"
				      "----------------  ------------  ------------  ------------  \n"
				      "    漢字カーネル       1.000us       1.000us             2  \n"
				      "             mul       3.000us       3.000us             2  \n"
				      "----------------  ------------  ------------  ------------  \n"
				      "Self CPU time total: 4.000us\n"
				      "(no room for 3 more columns; to see all: trainspotter summarize ... | less -S)\n");
}
END_TEST

START_TEST(a_screen_gets_the_columns_that_it_has_room_for)
{
	size_t rules, before = SIZE_MAX, left_out = 0;

	row("aten::a_name_that_is_longer_than_the_column_of_names_can_be", 1000, 5000);
	row("漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢", 3000, 0);
	for (size_t screen = 240; screen >= 60; screen--) {
		const char *text = printed(screen);
		size_t now = widest(&rules);

		ck_assert_uint_eq(rules, 3);
		ck_assert_uint_le(now, screen);
		ck_assert_uint_le(now, before);
		before = now;
		if (strstr(text, "(no room") != NULL)
			left_out++;
		else
			ck_assert_uint_eq(left_out, 0);
		for (const char **must = (const char *[]){ "Name ", "Self CPU ", "Self NEURON ", "# of Calls ", NULL }; *must; must++)
			ck_assert_msg(strstr(text, *must) != NULL, "no %s in\n%s", *must, text);
	}
	ck_assert_uint_gt(left_out, 100);
}
END_TEST

START_TEST(no_screen_and_a_wide_one_have_the_whole_table)
{
	row("aten::mul", 1000, 5000);
	ck_assert_ptr_null(strstr(printed(0), "(no room"));
	ck_assert_ptr_nonnull(strstr(printed(0), "CPU time avg"));
	ck_assert_ptr_nonnull(strstr(printed(400), "CPU time avg"));
}
END_TEST

START_TEST(on_a_screen_rows_that_are_left_out_are_told)
{
	row("a", 1000, 0);
	row("b", 1000, 0);
	keyavg_print_table(&table, 1, "NEURON", 200, &out);
	ck_assert_ptr_nonnull(strstr(buf_view(&out).p, "\n(1 more row: --limit)\n"));
	buf_reset(&out);
	keyavg_print_table(&table, 1, "NEURON", 0, &out); /* in a pipe it is PyTorch's table, and nothing else */
	ck_assert_ptr_null(strstr(buf_view(&out).p, "more row"));
}
END_TEST

START_TEST(shapes_get_narrow_before_names_get_short)
{
	row("aten::convolution_backward", 1000, 0);
	rows[0].dims = STR("[[128, 512, 64, 64], [256, 512, 3, 3], [128, 256, 64, 64]]");
	table.want = TRACE_SHAPES;
	ck_assert_ptr_nonnull(strstr(printed(110), "    aten::convolution_backward"));
	ck_assert_ptr_nonnull(strstr(printed(110), "[[128, 512, 64"));
}
END_TEST

Suite *suite_keyavg_print(void)
{
	Suite *s = suite_create("cli/keyavg_print");
	TCase *tc = tcase_create("keyavg_print");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, wide_characters_line_up);
	tcase_add_test(tc, a_screen_gets_the_columns_that_it_has_room_for);
	tcase_add_test(tc, no_screen_and_a_wide_one_have_the_whole_table);
	tcase_add_test(tc, on_a_screen_rows_that_are_left_out_are_told);
	tcase_add_test(tc, shapes_get_narrow_before_names_get_short);
	suite_add_tcase(s, tc);
	return s;
}
