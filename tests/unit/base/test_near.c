#include "base/near.h"

#include <check.h>

Suite *suite_near(void);

START_TEST(distance_counts_slips)
{
	static const struct {
		const char *a, *b;
		size_t d;
	} rows[] = { { "", "", 0 }, { "a", "", 1 }, { "port", "port", 0 }, { "prt", "port", 1 }, { "prot", "port", 1 },
		{ "kitten", "sitting", 3 }, { "abcd", "badc", 2 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		ck_assert_uint_eq(near_distance(str_of(rows[i].a), str_of(rows[i].b)), rows[i].d);
		ck_assert_uint_eq(near_distance(str_of(rows[i].b), str_of(rows[i].a)), rows[i].d);
	}
}
END_TEST

static const char *nearest(const char *word)
{
	static const char *const known[] = { "summarize", "diff", "send", "top", "trend" };
	struct near_word n;

	near_init(&n, str_of(word));
	for (size_t i = 0; i < COUNT(known); i++)
		near_try(&n, known[i]);
	return near_best(&n);
}

START_TEST(a_slip_is_understood_and_another_word_is_not)
{
	ck_assert_str_eq(nearest("sumarize"), "summarize");
	ck_assert_str_eq(nearest("tred"), "trend");
	ck_assert_str_eq(nearest("dif"), "diff");
	ck_assert_ptr_null(nearest("configure"));
	ck_assert_ptr_null(nearest("xyz"));
	ck_assert_ptr_null(nearest(""));
}
END_TEST

START_TEST(very_long_words_are_compared_by_their_beginnings)
{
	char a[500], b[500];

	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	ck_assert_uint_eq(near_distance(str_make(a, sizeof(a)), str_make(b, sizeof(b))), 63);
}
END_TEST

Suite *suite_near(void)
{
	Suite *s = suite_create("base/near");
	TCase *tc = tcase_create("near");

	tcase_add_test(tc, distance_counts_slips);
	tcase_add_test(tc, a_slip_is_understood_and_another_word_is_not);
	tcase_add_test(tc, very_long_words_are_compared_by_their_beginnings);
	suite_add_tcase(s, tc);
	return s;
}
