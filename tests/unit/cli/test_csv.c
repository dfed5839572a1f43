#include "cli/csv.h"

#include <check.h>

Suite *suite_csv(void);

static struct buf out;

static void up(void)
{
	buf_init(&out, 1 << 20);
}

static void down(void)
{
	buf_fini(&out);
}

START_TEST(lines_end_with_cr_lf_and_fields_have_commas_between_them)
{
	csv_from_tsv(STR("name\tcount\na\t1\n\t2\n"), NULL, true, &out);
	ck_assert_str_eq(buf_view(&out).p, "name,count\r\na,1\r\n,2\r\n");
}
END_TEST

START_TEST(what_would_be_read_wrongly_is_quoted)
{
	csv_from_tsv(STR("a,b\tsay \"hi\"\tplain\n"), NULL, true, &out);
	ck_assert_str_eq(buf_view(&out).p, "\"a,b\",\"say \"\"hi\"\"\",plain\r\n");
}
END_TEST

START_TEST(names_are_as_they_were_and_not_escaped)
{
	csv_from_tsv(STR("C:\\\\tmp\\\\new\ta\\tb\ta\\nb\\r\tbell\\u0007\tend\\\n"), NULL, true, &out);
	ck_assert_str_eq(buf_view(&out).p,
		"C:\\tmp\\new,\"a\tb\",\"a\nb\r\",bell\\u0007,end\\\r\n");
}
END_TEST

START_TEST(files_below_each_other_have_one_head_and_a_column_each)
{
	csv_from_tsv(STR("name\nx\n"), "a,1.json", true, &out);
	csv_from_tsv(STR("name\ny\n"), "b.json", false, &out);
	ck_assert_str_eq(buf_view(&out).p, "file,name\r\n\"a,1.json\",x\r\nb.json,y\r\n");
}
END_TEST

START_TEST(nothing_is_nothing)
{
	csv_from_tsv(STR(""), "a", true, &out);
	ck_assert_uint_eq(out.n, 0);
}
END_TEST

Suite *suite_csv(void)
{
	Suite *s = suite_create("cli/csv");
	TCase *tc = tcase_create("csv");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, lines_end_with_cr_lf_and_fields_have_commas_between_them);
	tcase_add_test(tc, what_would_be_read_wrongly_is_quoted);
	tcase_add_test(tc, names_are_as_they_were_and_not_escaped);
	tcase_add_test(tc, files_below_each_other_have_one_head_and_a_column_each);
	tcase_add_test(tc, nothing_is_nothing);
	suite_add_tcase(s, tc);
	return s;
}
