#include "profile/window.h"

#include <check.h>
#include <stdio.h>

#include "tests/support/prop.h"

Suite *suite_merge(void);

START_TEST(windows_become_one_ordered_set_of_sums)
{
	struct op_summary one[2] = { { .kind = OP_CPU_OP, .name = STR("b"), .calls = 1, .cpu_self_ns = 5 },
		{ .kind = OP_KERNEL, .name = STR("a"), .calls = 2, .device_self_ns = 7 } };
	struct op_summary two[2] = { { .kind = OP_CPU_OP, .name = STR("a"), .calls = 4 },
		{ .kind = OP_CPU_OP, .name = STR("b"), .calls = 10, .cpu_self_ns = 50 } };
	struct window w1 = { .ops = one, .n_ops = 2, .steps = 3, .start_ns = 200, .has_device = true };
	struct window w2 = { .ops = two, .n_ops = 2, .steps = 4, .start_ns = 100 };
	struct profile_merge *m = profile_merge_new(10);
	const struct merged *all;

	ck_assert_int_eq(profile_merge_add(m, &w1), OK);
	ck_assert_uint_eq(profile_merge_get(m)->n_ops, 2);
	ck_assert_int_eq(profile_merge_add(m, &w2), OK);
	all = profile_merge_get(m);
	ck_assert_uint_eq(all->windows, 2);
	ck_assert_uint_eq(all->steps, 7);
	ck_assert_int_eq(all->first_ns, 100);
	ck_assert_int_eq(all->last_ns, 200);
	ck_assert(all->has_device);
	ck_assert_uint_eq(all->n_ops, 3);
	ck_assert(str_eq(all->ops[0].name, STR("a")) && all->ops[0].kind == OP_CPU_OP &&
		all->ops[0].calls == 4);
	ck_assert(str_eq(all->ops[1].name, STR("b")) && all->ops[1].calls == 11 &&
		all->ops[1].cpu_self_ns == 55);
	ck_assert(str_eq(all->ops[2].name, STR("a")) && all->ops[2].kind == OP_KERNEL);
	profile_merge_free(m);
}
END_TEST

START_TEST(steps_stay_at_their_most_rather_than_wrap)
{
	struct window w = { .steps = UINT64_MAX - 1 };
	struct profile_merge *m = profile_merge_new(10);

	ck_assert_int_eq(profile_merge_add(m, &w), OK);
	ck_assert_int_eq(profile_merge_add(m, &w), OK);
	ck_assert(profile_merge_get(m)->steps == UINT64_MAX);
	profile_merge_free(m);
}
END_TEST

START_TEST(more_ops_than_the_ceiling_are_refused)
{
	struct profile_merge *m = profile_merge_new(2);
	struct op_summary op = { .calls = 1 };

	op.name = STR("a");
	ck_assert_int_eq(profile_merge_add_op(m, &op), OK);
	op.name = STR("b");
	ck_assert_int_eq(profile_merge_add_op(m, &op), OK);
	op.name = STR("c");
	ck_assert_int_eq(profile_merge_add_op(m, &op), E_LIMIT);
	op.name = STR("a");
	ck_assert_int_eq(profile_merge_add_op(m, &op), OK);
	ck_assert_uint_eq(profile_merge_get(m)->n_ops, 2);
	profile_merge_free(m);
}
END_TEST

START_TEST(nothing_merged_is_an_empty_answer)
{
	struct profile_merge *m = profile_merge_new(2);

	ck_assert_uint_eq(profile_merge_get(m)->n_ops, 0);
	profile_merge_add_steps(m, 0, 5, true, 1, 1);
	ck_assert_uint_eq(profile_merge_get(m)->steps, 0);
	profile_merge_free(m);
	profile_merge_free(NULL);
}
END_TEST

/* The same ops in whatever order and partition give the same sums. */
static bool order_does_not_matter(struct rand_gen *g, size_t size, void *arg)
{
	struct profile_merge *m = profile_merge_new(1000);
	uint64_t calls[20] = { 0 };
	int64_t self[20] = { 0 };
	const struct merged *all;
	bool good = true;

	(void)arg;
	for (size_t i = 0; i < size; i++) {
		char name[8];
		uint64_t k = rand_below(g, 20), n = 1 + rand_below(g, 5);
		int64_t ns = (int64_t)rand_below(g, 1000000);
		struct op_summary op = {
			.kind = OP_CPU_OP, .calls = n, .cpu_self_ns = ns, .basis = OP_BASIS_CPU
		};

		snprintf(name, sizeof(name), "op%02u", (unsigned)k);
		op.name = str_of(name);
		hist_add_n(&op.hist, ns, n);
		good = good && profile_merge_add_op(m, &op) == OK;
		op_summary_fini(&op);
		calls[k] += n;
		self[k] += ns;
	}
	all = profile_merge_get(m);
	for (size_t i = 0; i < all->n_ops; i++) {
		int k = (all->ops[i].name.p[2] - '0') * 10 + all->ops[i].name.p[3] - '0';

		good = good && all->ops[i].calls == calls[k] && all->ops[i].cpu_self_ns == self[k] &&
			hist_count(&all->ops[i].hist) == calls[k] &&
			(i == 0 || op_summary_cmp(&all->ops[i - 1], &all->ops[i]) < 0);
	}
	profile_merge_free(m);
	return good;
}

START_TEST(merged_sums_are_the_sums_of_all_ops)
{
	prop_check("merge ops", 100, 500, order_does_not_matter, NULL);
}
END_TEST

Suite *suite_merge(void)
{
	Suite *s = suite_create("profile/merge");
	TCase *tc = tcase_create("merge");

	tcase_add_test(tc, windows_become_one_ordered_set_of_sums);
	tcase_add_test(tc, steps_stay_at_their_most_rather_than_wrap);
	tcase_add_test(tc, more_ops_than_the_ceiling_are_refused);
	tcase_add_test(tc, nothing_merged_is_an_empty_answer);
	tcase_add_test(tc, merged_sums_are_the_sums_of_all_ops);
	suite_add_tcase(s, tc);
	return s;
}
