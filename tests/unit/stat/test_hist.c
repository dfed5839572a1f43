#include "stat/hist.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/code.h"
#include "base/mem.h"
#include "tests/support/prop.h"

Suite *suite_hist(void);

START_TEST(a_power_of_two_is_the_upper_end_of_its_bucket)
{
	for (int k = 0; k < 63; k++) {
		int64_t v = INT64_C(1) << k;

		ck_assert_int_eq(hist_index(v), 32 * k - 1);
		if (k > 5)
			ck_assert_int_eq(hist_index(v + 1), 32 * k);
		ck_assert_double_eq(hist_upper(hist_index(v)), (double)v);
	}
	ck_assert_int_eq(hist_index(INT64_MAX), HIST_INDEX_MAX);
}
END_TEST

START_TEST(the_largest_value_of_a_bucket_and_the_next_one_are_told_apart)
{
	/* floor(2^(i/32)), worked out with integers of any size */
	static const struct {
		int32_t i;
		int64_t floor;
	} edges[] = {
		{ 33, 2 },
		{ 51, 3 },
		{ 75, 5 },
		{ 320 + 1, 1046 },
		{ 320 + 31, 2004 },
		{ 640 + 16, 1482910 },
		{ 960 + 7, 1249540052 },
		{ 1280 + 29, INT64_C(2060669106105) },
		{ 1920 + 1, INT64_C(1178167198179750970) },
		{ 1984 + 16, INT64_C(6521908912666391106) },
		{ 1984 + 31, INT64_C(9025734193507008925) },
	};

	for (size_t k = 0; k < COUNT(edges); k++) {
		ck_assert_int_lt(hist_index(edges[k].floor), edges[k].i);
		ck_assert_int_ge(hist_index(edges[k].floor + 1), edges[k].i);
	}
}
END_TEST

static int64_t random_ns(struct rand_gen *g)
{
	return (int64_t)(rand_u64(g) >> (1 + rand_below(g, 62)));
}

static bool index_agrees_with_long_double(struct rand_gen *g, size_t size, void *arg)
{
	(void)arg;
	for (size_t k = 0; k < size; k++) {
		int64_t v = random_ns(g);
		long double l;
		int32_t i;

		if (v < 1)
			continue;
		i = hist_index(v);
		l = log2l((long double)v) * 32;
		/* where the long double cannot tell either side of the edge, the exact tests above do */
		if (fabsl(l - roundl(l)) > 1e-12L && i != (int32_t)ceill(l) - 1)
			return false;
		if (!hist_index_valid(i))
			return false;
	}
	return true;
}

START_TEST(a_values_bucket_is_the_one_that_logarithms_give)
{
	prop_check("bucket by logarithm", 50, 20000, index_agrees_with_long_double, NULL);
}
END_TEST

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t *random_times(struct rand_gen *g, size_t n)
{
	int64_t *v = mem_get_array(n, sizeof(*v));
	int shape = (int)rand_below(g, 3);

	for (size_t i = 0; i < n; i++) {
		if (shape == 0)
			v[i] = random_ns(g);
		else if (shape == 1)
			v[i] = (int64_t)exp(10 + rand_normal(g));
		else
			v[i] = (int64_t)rand_below(g, 50);
	}
	return v;
}

static bool quantiles_are_near(struct rand_gen *g, size_t size, void *arg)
{
	static const double qs[] = { 0, 0.01, 0.25, 0.5, 0.9, 0.99, 1 };
	int64_t *v = random_times(g, size);
	struct hist h = { 0 };
	bool good = true;

	(void)arg;
	for (size_t i = 0; i < size; i++)
		hist_add(&h, v[i]);
	qsort(v, size, sizeof(*v), by_value);
	for (size_t k = 0; k < COUNT(qs); k++) {
		double rank = ceil(qs[k] * (double)size);
		double exact = (double)v[rank < 1 ? 0 : (size_t)rank - 1], got = hist_quantile(&h, qs[k]);

		good = good && fabs(got - exact) <= 0.011 * exact;
	}
	mem_free(v);
	hist_fini(&h);
	return good;
}

START_TEST(a_quantile_is_off_by_at_most_one_point_one_percent)
{
	prop_check("quantiles", 300, 3000, quantiles_are_near, NULL);
}
END_TEST

static bool same(const struct hist *a, const struct hist *b)
{
	size_t i = 0, j = 0;
	int32_t x, y;
	uint64_t n, m;

	if (a->zero != b->zero || hist_count(a) != hist_count(b) || hist_used(a) != hist_used(b))
		return false;
	while ((i = hist_next(a, i, &x, &n)) != 0) {
		j = hist_next(b, j, &y, &m);
		if (j == 0 || x != y || n != m)
			return false;
	}
	return hist_next(b, j, &y, &m) == 0;
}

static bool merging_is_adding(struct rand_gen *g, size_t size, void *arg)
{
	struct hist all = { 0 }, part[3] = { { 0 } }, sum = { 0 }, copy = { 0 };
	int64_t *v = random_times(g, size);
	bool good;

	(void)arg;
	for (size_t i = 0; i < size; i++) {
		hist_add(&all, v[i]);
		hist_add(&part[rand_below(g, 3)], v[i]);
	}
	for (int k = 2; k >= 0; k--)
		hist_merge(&sum, &part[k]);
	hist_add(&copy, 77); /* a copy replaces what was there */
	hist_copy(&copy, &sum);
	good = hist_count(&all) == size && same(&all, &sum) && same(&copy, &all);
	for (int k = 0; k < 3; k++)
		hist_fini(&part[k]);
	hist_fini(&all);
	hist_fini(&sum);
	hist_fini(&copy);
	mem_free(v);
	return good;
}

START_TEST(merging_histograms_is_adding_all_their_values)
{
	prop_check("merge", 300, 2000, merging_is_adding, NULL);
}
END_TEST

static bool buckets_rebuild(struct rand_gen *g, size_t size, void *arg)
{
	struct hist a = { 0 }, b = { 0 };
	int64_t *v = random_times(g, size);
	size_t at = 0;
	int32_t index;
	uint64_t count;
	bool good;

	(void)arg;
	for (size_t i = 0; i < size; i++)
		hist_add_n(&a, v[i], 1 + rand_below(g, 3));
	b.zero = a.zero;
	while ((at = hist_next(&a, at, &index, &count)) != 0)
		hist_add_bucket(&b, index, count);
	good = same(&a, &b);
	hist_fini(&a);
	hist_fini(&b);
	mem_free(v);
	return good;
}

START_TEST(a_histogram_is_made_again_from_its_buckets)
{
	prop_check("buckets", 200, 500, buckets_rebuild, NULL);
}
END_TEST

START_TEST(an_empty_histogram_answers_zero)
{
	struct hist h;
	int32_t index;
	uint64_t count;

	hist_init(&h);
	ck_assert(hist_empty(&h));
	ck_assert_double_eq(hist_quantile(&h, 0.5), 0);
	ck_assert_double_eq(hist_rank(&h, 100), 0);
	ck_assert_uint_eq(hist_next(&h, 0, &index, &count), 0);
	hist_add(&h, 5);
	hist_reset(&h);
	ck_assert(hist_empty(&h));
	hist_fini(&h);
}
END_TEST

START_TEST(zero_and_negative_times_are_counted_apart)
{
	struct hist h = { 0 };

	hist_add(&h, 0);
	hist_add(&h, -3);
	hist_add_n(&h, 1000, 2);
	ck_assert_uint_eq(h.zero, 2);
	ck_assert_uint_eq(hist_count(&h), 4);
	ck_assert_double_eq(hist_quantile(&h, 0.5), 0);
	ck_assert_double_eq_tol(hist_quantile(&h, 0.51), 1000, 11);
	ck_assert_double_eq_tol(hist_rank(&h, 0), 0.5, 1e-12);
	ck_assert_double_eq_tol(hist_rank(&h, 1e6), 1, 1e-12);
	hist_fini(&h);
}
END_TEST

START_TEST(the_rank_grows_inside_a_bucket)
{
	struct hist h = { 0 };
	int32_t i = hist_index(1000000);
	double low, mid;

	hist_add_n(&h, 1000000, 10);
	low = hist_rank(&h, hist_lower(i));
	mid = hist_rank(&h, hist_middle(i));
	ck_assert_double_eq(low, 0);
	ck_assert_double_eq_tol(mid, 0.5, 0.01);
	ck_assert_double_eq_tol(hist_rank(&h, hist_upper(i)), 1, 1e-9);
	hist_fini(&h);
}
END_TEST

START_TEST(counts_stay_at_their_largest_rather_than_wrap)
{
	struct hist h = { 0 };

	hist_add_n(&h, 10, UINT64_MAX - 1);
	hist_add_n(&h, 10, 5);
	hist_add_n(&h, 2000, 5);
	ck_assert_uint_eq(hist_count(&h), UINT64_MAX);
	ck_assert_double_eq_tol(hist_quantile(&h, 0.5), 10, 0.11);
	hist_fini(&h);
}
END_TEST

Suite *suite_hist(void)
{
	Suite *s = suite_create("stat/hist");
	TCase *tc = tcase_create("hist");

	tcase_add_test(tc, a_power_of_two_is_the_upper_end_of_its_bucket);
	tcase_add_test(tc, the_largest_value_of_a_bucket_and_the_next_one_are_told_apart);
	tcase_add_test(tc, a_values_bucket_is_the_one_that_logarithms_give);
	tcase_add_test(tc, a_quantile_is_off_by_at_most_one_point_one_percent);
	tcase_add_test(tc, merging_histograms_is_adding_all_their_values);
	tcase_add_test(tc, a_histogram_is_made_again_from_its_buckets);
	tcase_add_test(tc, an_empty_histogram_answers_zero);
	tcase_add_test(tc, zero_and_negative_times_are_counted_apart);
	tcase_add_test(tc, the_rank_grows_inside_a_bucket);
	tcase_add_test(tc, counts_stay_at_their_largest_rather_than_wrap);
	suite_add_tcase(s, tc);
	return s;
}
