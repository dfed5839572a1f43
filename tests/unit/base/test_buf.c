#include "base/buf.h"

#include <check.h>

Suite *suite_buf(void);

START_TEST(a_buffer_keeps_its_first_error)
{
	struct buf b;
	struct err e = { 0 };

	buf_init(&b, 8);
	buf_text(&b, "1234");
	buf_text(&b, "56789");
	buf_text(&b, "5");
	ck_assert_int_eq(buf_finish(&b, "name", &e), E_LIMIT);
	ck_assert_str_eq(e.text, "name: larger than 8 bytes");
	ck_assert_str_eq(b.p, "1234");
	buf_fini(&b);
}
END_TEST

START_TEST(a_buffer_ends_with_a_nul_that_is_not_counted)
{
	struct buf b;

	buf_init(&b, 100);
	ck_assert_str_eq(buf_view(&b).p, "");
	buf_fmt(&b, "%d-%s", 7, "x");
	buf_cut(&b, 1);
	ck_assert_str_eq(b.p, "-x");
	ck_assert_uint_eq(b.n, 2);
	buf_fini(&b);
}
END_TEST

Suite *suite_buf(void)
{
	Suite *s = suite_create("base/buf");
	TCase *tc = tcase_create("buf");

	tcase_add_test(tc, a_buffer_keeps_its_first_error);
	tcase_add_test(tc, a_buffer_ends_with_a_nul_that_is_not_counted);
	suite_add_tcase(s, tc);
	return s;
}
