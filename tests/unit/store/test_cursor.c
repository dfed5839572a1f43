#include "world.h"

#include "store/cursor.h"

Suite *suite_cursor(void);

START_TEST(a_cursor_comes_back_as_it_was)
{
	struct cursor c = { .t_ns = -7, .a = STR("service"), .b = STR("") }, got = { 0 };
	struct arena a;
	struct str text;

	arena_init(&a, 1 << 16);
	text = cursor_write(CURSOR_DEPLOYS, &c, &a);
	ck_assert_int_eq(cursor_read(CURSOR_DEPLOYS, text, &got, &a, NULL), OK);
	ck_assert_int_eq(got.t_ns, -7);
	ck_assert(str_eq(got.a, c.a) && str_empty(got.b));
	ck_assert_int_eq(cursor_read(CURSOR_HOSTS, text, &got, &a, NULL), E_USAGE);
	arena_fini(&a);
}
END_TEST

START_TEST(a_cursor_that_was_changed_is_refused)
{
	static const char *const bad[] = { "0", "00", "zz00000000000000000000", "0300000000000000000000",
		"050000000000000000ffff", "05000000000000000001000", "0500000000000000000100" };
	struct cursor got = { 0 };
	struct arena a;
	struct err e = { 0 };

	arena_init(&a, 1 << 16);
	ck_assert_int_eq(cursor_read(CURSOR_DEPLOYS, str_of(bad[_i]), &got, &a, &e), E_USAGE);
	ck_assert_str_eq(
		e.text, "cursor: not one that this list gave out: send back an answer's next, unchanged");
	arena_fini(&a);
}
END_TEST

Suite *suite_cursor(void)
{
	Suite *s = suite_create("store/cursor");
	TCase *tc = tcase_create("cursor");

	tcase_add_test(tc, a_cursor_comes_back_as_it_was);
	tcase_add_loop_test(tc, a_cursor_that_was_changed_is_refused, 0, 7);
	suite_add_tcase(s, tc);
	return s;
}
