#include "cli/table.h"

#include <check.h>
#include <stdlib.h>

Suite *suite_table(void);

static const struct table_column columns[] = {
	{ "op", TABLE_LEFT, 10 },
	{ "time", TABLE_RIGHT, 0 },
	{ "note", TABLE_LEFT, 0 },
};

static char *text;

static const char *printed(const struct table *t, bool colour)
{
	size_t n;
	FILE *out;

	free(text);
	out = open_memstream(&text, &n);
	table_print(t, out, colour);
	fclose(out);
	return text;
}

static void up(void)
{
	setenv("LC_ALL", "C.UTF-8", 1);
}

static void down(void)
{
	free(text);
	text = NULL;
}

START_TEST(cells_line_up_by_characters_and_lines_end_without_blanks)
{
	struct table *t = table_new(columns, COUNT(columns));

	table_cell(t, STR("aten::mul"), PAINT_NONE);
	table_cell(t, STR("403 µs"), PAINT_NONE);
	table_cell(t, STR("x"), PAINT_NONE);
	table_cell(t, STR("µ"), PAINT_NONE);
	table_cell_fmt(t, PAINT_NONE, "%d ns", 7);
	table_cell(t, STR(""), PAINT_NONE);
	ck_assert_str_eq(printed(t, false), "op           time  note\n"
					    "aten::mul  403 µs  x\n"
					    "µ            7 ns\n");
	table_free(t);
}
END_TEST

START_TEST(a_cell_that_is_too_wide_is_cut_with_a_sign)
{
	struct table *t = table_new(columns, COUNT(columns));

	table_cell(t, STR("0123456789"), PAINT_NONE);
	table_cell(t, STR("1"), PAINT_NONE);
	table_cell(t, STR(""), PAINT_NONE);
	table_cell(t, STR("µ123456789x"), PAINT_NONE);
	ck_assert_str_eq(printed(t, false), "op          time  note\n"
					    "0123456789     1\n"
					    "µ12345678…\n");
	table_free(t);
}
END_TEST

START_TEST(cells_line_up_by_columns_of_a_terminal)
{
	struct table *t = table_new(columns, COUNT(columns));

	table_cell(t, STR("漢字"), PAINT_NONE);
	table_cell(t, STR("1"), PAINT_NONE);
	table_cell(t, STR("x"), PAINT_NONE);
	table_cell(t, STR("漢字カーネル"), PAINT_NONE); /* is cut between two characters */
	table_cell(t, STR("22"), PAINT_NONE);
	table_cell(t, STR("e\xcc\x81"), PAINT_NONE);
	ck_assert_str_eq(printed(t, false), "op          time  note\n"
					    "漢字           1  x\n"
					    "漢字カー…     22  e\xcc\x81\n");
	table_free(t);
}
END_TEST

START_TEST(a_screen_that_is_too_narrow_cuts_what_may_be_cut)
{
	static const struct table_column two[] = { { "name", TABLE_LEFT, 40 }, { "time", TABLE_RIGHT, 0 } };
	struct table *t = table_new(two, COUNT(two));
	struct buf b;

	buf_init(&b, 4096);
	table_cell(t, STR("aten::_scaled_dot_product_attention"), PAINT_NONE);
	table_cell(t, STR("1.50 ms"), PAINT_NONE);
	ck_assert(table_fits(t, 0) && table_fits(t, 44) && table_fits(t, 25) && !table_fits(t, 24));
	table_print_to(t, &b, false, 30);
	ck_assert_str_eq(buf_view(&b).p, "name                      time\n"
					 "aten::_scaled_dot_pr…  1.50 ms\n");
	buf_reset(&b);
	table_print_to(t, &b, false, 10); /* not below what is still of use */
	ck_assert_str_eq(buf_view(&b).p, "name                 time\n"
					 "aten::_scaled_d…  1.50 ms\n");
	buf_reset(&b);
	table_print_to(t, &b, false, 0);
	ck_assert(str_contains(buf_view(&b), STR("attention  1.50 ms")));
	buf_fini(&b);
	table_free(t);
}
END_TEST

START_TEST(without_utf8_units_and_signs_are_ascii)
{
	struct table *t;

	setenv("LC_ALL", "C", 1);
	t = table_new(columns, COUNT(columns));
	table_cell(t, STR("0123456789x"), PAINT_NONE);
	table_cell(t, STR("403 µs"), PAINT_NONE);
	table_cell(t, STR("→"), PAINT_NONE);
	ck_assert_str_eq(printed(t, false), "op            time  note\n"
					    "012345678~  403 us  ->\n");
	table_free(t);
}
END_TEST

START_TEST(a_name_cannot_move_the_cursor)
{
	struct table *t = table_new(columns, COUNT(columns));

	table_cell(t, STR("a\033[2Jb\n\xc2\x9b" "c\x7f"), PAINT_NONE);
	ck_assert_str_eq(printed(t, false), "op          time  note\na?[2Jb??c?\n");
	table_free(t);
}
END_TEST

START_TEST(colour_is_there_only_when_wanted_and_takes_no_width)
{
	struct table *t = table_new(columns, COUNT(columns));

	table_cell(t, STR("a"), PAINT_BAD);
	table_cell(t, STR("1"), PAINT_NONE);
	table_cell(t, STR("n"), PAINT_GOOD);
	ck_assert_str_eq(printed(t, true), "\033[1mop\033[0m  \033[1mtime\033[0m  \033[1mnote\033[0m\n"
					   "\033[31ma\033[0m      1  \033[32mn\033[0m\n");
	ck_assert_ptr_null(strchr(printed(t, false), '\033'));
	table_free(t);
}
END_TEST

START_TEST(a_table_without_rows_is_its_head)
{
	struct table *t = table_new(columns, COUNT(columns));

	ck_assert_str_eq(printed(t, false), "op  time  note\n");
	table_free(t);
	table_free(NULL);
}
END_TEST

START_TEST(text_beside_tables_cannot_move_the_cursor_either)
{
	char long_text[600];
	FILE *out;
	size_t n;

	for (size_t at = 250; at < 262; at++) { /* wherever the sequence falls */
		memset(long_text, 'x', sizeof(long_text));
		memcpy(long_text + at, "\xc2\x9b\033", 3);
		free(text);
		out = open_memstream(&text, &n);
		cli_put(out, str_make(long_text, sizeof(long_text)));
		fclose(out);
		ck_assert_uint_eq(n, sizeof(long_text) - 1);
		ck_assert_ptr_null(strpbrk(text, "\x9b\033"));
	}
}
END_TEST

START_TEST(a_long_sentence_is_filled_into_lines)
{
	FILE *out;
	size_t n;

	free(text);
	out = open_memstream(&text, &n);
	fputs("  kind: ", out);
	cli_put_filled(out, STR("a sentence of words that goes on for long enough to need a second line at a hundred "
				"characters, or so µ"), 4, 8);
	fclose(out);
	ck_assert_str_eq(text, "  kind: a sentence of words that goes on for long enough to need a second line at a hundred\n"
			       "    characters, or so µ\n");
}
END_TEST

Suite *suite_table(void)
{
	Suite *s = suite_create("cli/table");
	TCase *tc = tcase_create("table");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, cells_line_up_by_characters_and_lines_end_without_blanks);
	tcase_add_test(tc, a_cell_that_is_too_wide_is_cut_with_a_sign);
	tcase_add_test(tc, cells_line_up_by_columns_of_a_terminal);
	tcase_add_test(tc, a_screen_that_is_too_narrow_cuts_what_may_be_cut);
	tcase_add_test(tc, without_utf8_units_and_signs_are_ascii);
	tcase_add_test(tc, a_name_cannot_move_the_cursor);
	tcase_add_test(tc, text_beside_tables_cannot_move_the_cursor_either);
	tcase_add_test(tc, a_long_sentence_is_filled_into_lines);
	tcase_add_test(tc, colour_is_there_only_when_wanted_and_takes_no_width);
	tcase_add_test(tc, a_table_without_rows_is_its_head);
	suite_add_tcase(s, tc);
	return s;
}
