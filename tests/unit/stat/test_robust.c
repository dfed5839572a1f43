#include "stat/robust.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/support/prop.h"

Suite *suite_robust(void);

START_TEST(a_median_is_the_middle_or_the_mean_of_two)
{
	double odd[] = { 9, 1, 5 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };

	ck_assert_double_eq(robust_median(odd, 3), 5);
	ck_assert_double_eq(robust_median(even, 4), 2.5);
	ck_assert_double_eq(robust_median(one, 1), 7);
	ck_assert_double_eq(robust_median(NULL, 0), 0);
}
END_TEST

START_TEST(quantiles_are_linear_between_ranks)
{
	double v[] = { 40, 10, 20, 30 };

	ck_assert_double_eq(robust_quantile(v, 4, 0), 10);
	ck_assert_double_eq(robust_quantile(v, 4, 1), 40);
	ck_assert_double_eq_tol(robust_quantile(v, 4, 0.25), 17.5, 1e-12);
	ck_assert_double_eq_tol(robust_quantile(v, 4, 0.9), 37, 1e-12);
	ck_assert_double_eq(robust_quantile(v, 4, -1), 10);
	ck_assert_double_eq(robust_quantile(v, 4, 2), 40);
}
END_TEST

START_TEST(the_median_absolute_deviation_is_not_scaled)
{
	double v[] = { 1, 1, 2, 2, 4, 6, 9 }, median = 0;

	ck_assert_double_eq(robust_mad(v, 7, &median), 1);
	ck_assert_double_eq(median, 2);
	ck_assert_double_eq(robust_mad((double[]){ 3, 3, 3 }, 3, NULL), 0);
}
END_TEST

START_TEST(a_weighted_median_has_half_of_the_weight_below)
{
	double v[] = { 3, 1, 2 }, w[] = { 1, 1, 5 };
	double even[] = { 2, 1 }, alike[] = { 1, 1 };
	double heavy[] = { 5, 1, 1, 1 }, heavy_w[] = { 10, 1, 1, 1 };

	ck_assert_double_eq(robust_weighted_median(v, w, 3), 2);
	ck_assert_double_eq(robust_weighted_median(even, alike, 2), 1.5);
	ck_assert_double_eq(robust_weighted_median(heavy, heavy_w, 4), 5);
	ck_assert_double_eq(robust_weighted_median(NULL, NULL, 0), 0);
}
END_TEST

static bool equal_weights_give_the_median(struct rand_gen *g, size_t size, void *arg)
{
	double *v = mem_get_array(size, sizeof(*v)), *w = mem_get_array(size, sizeof(*w));
	double weighted, plain;

	(void)arg;
	for (size_t i = 0; i < size; i++) {
		v[i] = floor(rand_unit(g) * 50);
		w[i] = 2;
	}
	weighted = robust_weighted_median(v, w, size);
	plain = robust_median(v, size);
	mem_free(v);
	mem_free(w);
	return fabs(weighted - plain) < 1e-12;
}

START_TEST(with_equal_weights_it_is_the_median)
{
	prop_check("weighted median", 300, 200, equal_weights_give_the_median, NULL);
}
END_TEST

Suite *suite_robust(void)
{
	Suite *s = suite_create("stat/robust");
	TCase *tc = tcase_create("robust");

	tcase_add_test(tc, a_median_is_the_middle_or_the_mean_of_two);
	tcase_add_test(tc, quantiles_are_linear_between_ranks);
	tcase_add_test(tc, the_median_absolute_deviation_is_not_scaled);
	tcase_add_test(tc, a_weighted_median_has_half_of_the_weight_below);
	tcase_add_test(tc, with_equal_weights_it_is_the_median);
	suite_add_tcase(s, tc);
	return s;
}
