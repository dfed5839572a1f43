#include "wire/form.h"

#include <check.h>
#include <string.h>

Suite *suite_form(void);

START_TEST(buckets_that_cannot_be_are_refused)
{
	static const struct {
		uint32_t delta[3];
		uint64_t count[3];
		const char *field;
	} cases[] = {
		{ { 5, 0, 1 }, { 1, 1, 1 }, "hist_delta[1]" },
		{ { 2017, 1, 1 }, { 1, 1, 1 }, "hist_delta[0]" },
		{ { 2015, 1, 1 }, { 1, 1, 1 }, "hist_delta[2]" },
		{ { 0, 1, UINT32_MAX }, { 1, 1, 1 }, "hist_delta[2]" },
		{ { 5, 1, 1 }, { 1, 0, 1 }, "hist_count[1]" },
		{ { 5, 1, 1 }, { UINT64_MAX, 1, 1 }, "hist_count[1]" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t budget = 1u << 20;
		struct hist h = { 0 };
		struct err e = { 0 };

		ck_assert_int_eq(form_hist(&h, cases[i].delta, cases[i].count, 3, &budget, &e), E_FORMAT);
		ck_assert_msg(strncmp(e.text, cases[i].field, strlen(cases[i].field)) == 0, "%s", e.text);
		ck_assert(hist_empty(&h));
		hist_fini(&h);
	}
}
END_TEST

/* Two buckets far apart are two numbers on the wire and sixteen thousand bytes in memory. */
START_TEST(histograms_that_would_take_too_much_memory_are_refused)
{
	static const uint32_t delta[] = { 0, 2016 };
	static const uint64_t count[] = { 1, 1 };
	size_t budget = 3 * 2017 * sizeof(uint64_t);
	struct hist h[4] = { 0 };

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(form_hist(&h[i], delta, count, 2, &budget, NULL), OK);
	ck_assert_int_eq(form_hist(&h[3], delta, count, 2, &budget, NULL), E_LIMIT);
	for (int i = 0; i < 4; i++)
		hist_fini(&h[i]);
}
END_TEST

Suite *suite_form(void)
{
	Suite *s = suite_create("wire/form");
	TCase *tc = tcase_create("form");

	tcase_add_test(tc, buckets_that_cannot_be_are_refused);
	tcase_add_test(tc, histograms_that_would_take_too_much_memory_are_refused);
	suite_add_tcase(s, tc);
	return s;
}
