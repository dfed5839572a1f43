#include "stat/rank.h"

#include <check.h>
#include <math.h>

#include "base/mem.h"
#include "tests/support/prop.h"

Suite *suite_rank(void);

START_TEST(ranks_are_those_worked_out_by_hand)
{
	double a[] = { 8, 7, 6, 5, 4, 3, 2, 1 }, b[] = { 5, 6, 7, 8, 9, 10, 11, 12 };
	double c[] = { 19, 22, 16, 29, 24 }, d[] = { 20, 11, 17, 12 };
	double p[] = { 1, 1, 2, 2, 3 }, q[] = { 2, 3, 3, 4 };
	struct rank_test r;

	r = rank_values(a, 8, b, 8); /* U = 56, four ties of two */
	ck_assert_double_eq_tol(r.z, 2.527950265408459, 1e-12);
	ck_assert_double_eq_tol(r.cliff_delta, 0.75, 1e-12);
	r = rank_values(c, 5, d, 4); /* U = 3, no ties */
	ck_assert_double_eq_tol(r.z, -1.7146428199482247, 1e-12);
	ck_assert_double_eq_tol(r.cliff_delta, -0.7, 1e-12);
	r = rank_values(p, 5, q, 4); /* U = 17, ties of two and three, three */
	ck_assert_double_eq_tol(r.z, 1.7828007119076372, 1e-12);
	ck_assert_double_eq_tol(r.cliff_delta, 0.7, 1e-12);
}
END_TEST

START_TEST(samples_that_tell_nothing_give_zero)
{
	double same[] = { 3, 3, 3 }, more[] = { 3, 3 };
	struct rank_test r = rank_values(same, 3, more, 2);

	ck_assert_double_eq(r.z, 0);
	ck_assert_double_eq(r.cliff_delta, 0);
	r = rank_values(same, 3, more, 0);
	ck_assert_double_eq(r.z, 0);
	r = rank_values(NULL, 0, NULL, 0);
	ck_assert_double_eq(r.cliff_delta, 0);
}
END_TEST

static bool near(struct rank_test a, struct rank_test b)
{
	return fabs(a.z - b.z) < 1e-9 && fabs(a.cliff_delta - b.cliff_delta) < 1e-9;
}

/* Values that are buckets' middles already, so that nothing is lost in the histogram. */
static size_t draw(struct rand_gen *g, size_t size, struct hist *h, double *v)
{
	size_t n = 2 + rand_below(g, size);

	for (size_t i = 0; i < n; i++) {
		int32_t index = 600 + (int32_t)rand_below(g, 40);

		v[i] = rand_below(g, 10) == 0 ? 0 : hist_middle(index);
		if (v[i] > 0)
			hist_add_bucket(h, index, 1);
		else
			hist_add(h, 0);
	}
	return n;
}

static bool histograms_rank_as_their_values(struct rand_gen *g, size_t size, void *arg)
{
	static const double divisors[] = { 1, 2, 1.5 };
	double *a = mem_get_array(size + 2, sizeof(*a)), *b = mem_get_array(size + 2, sizeof(*b));
	double divisor = divisors[rand_below(g, 3)];
	struct hist h = { 0 }, k = { 0 };
	size_t n_a = draw(g, size, &h, a), n_b = draw(g, size, &k, b);
	bool good;

	(void)arg;
	for (size_t i = 0; i < n_b; i++)
		b[i] /= divisor;
	/* a divisor of 2 is 32 buckets: middles meet again, but for rounding */
	for (size_t i = 0; i < n_a; i++)
		a[i] = (double)(float)a[i];
	for (size_t i = 0; i < n_b; i++)
		b[i] = (double)(float)b[i];
	good = near(rank_hists(&h, &k, divisor), rank_values(a, n_a, b, n_b));
	mem_free(a);
	mem_free(b);
	hist_fini(&h);
	hist_fini(&k);
	return good;
}

START_TEST(histograms_rank_as_the_values_in_their_buckets)
{
	prop_check("rank of histograms", 300, 300, histograms_rank_as_their_values, NULL);
}
END_TEST

START_TEST(a_slower_sample_has_a_positive_z_and_dividing_takes_it_away)
{
	struct hist a = { 0 }, b = { 0 };

	for (int i = 0; i < 50; i++) {
		hist_add(&a, 100000 + 100 * i);
		hist_add(&b, 2 * (100000 + 100 * i));
	}
	ck_assert_double_gt(rank_hists(&a, &b, 1).z, 8);
	ck_assert_double_eq_tol(rank_hists(&a, &b, 1).cliff_delta, 1, 1e-12);
	ck_assert_double_lt(fabs(rank_hists(&a, &b, 2).z), 1e-9);
	hist_fini(&a);
	hist_fini(&b);
}
END_TEST

Suite *suite_rank(void)
{
	Suite *s = suite_create("stat/rank");
	TCase *tc = tcase_create("rank");

	tcase_add_test(tc, ranks_are_those_worked_out_by_hand);
	tcase_add_test(tc, samples_that_tell_nothing_give_zero);
	tcase_add_test(tc, histograms_rank_as_the_values_in_their_buckets);
	tcase_add_test(tc, a_slower_sample_has_a_positive_z_and_dividing_takes_it_away);
	suite_add_tcase(s, tc);
	return s;
}
