#include "detect/slower.h"

#include <check.h>

#include "tests/unit/detect/sides.h"

Suite *suite_slower(void);

static struct sides s;

static void up(void)
{
	sides_init(&s);
}

static void down(void)
{
	sides_fini(&s);
}

static void again(void)
{
	sides_again(&s);
}

/* A small model: factor for all, and one more for the matrix product. */
static void add_model(struct side *side, uint64_t steps, double all, double mm, uint64_t mm_calls)
{
	const struct timed_op ops[] = {
		{ "step", steps, (int64_t)(2e6 * all), OP_STEP },
		{ "aten::mm", mm_calls, (int64_t)(100000 * all * mm), OP_CPU_OP },
		{ "aten::add", 40, (int64_t)(10000 * all), OP_CPU_OP },
		{ "aten::mul", 40, (int64_t)(12000 * all), OP_CPU_OP },
		{ "aten::relu", 40, (int64_t)(8000 * all), OP_CPU_OP },
		{ "aten::exp", 40, (int64_t)(9000 * all), OP_CPU_OP },
	};

	sides_add_timed(&s, side, steps, ops, COUNT(ops));
}

static enum verdict_kind judge_models(double all, double mm)
{
	add_model(s.before, 20, 1, 1, 40);
	add_model(s.after, 20, all, mm, 40);
	return sides_judge(&s, JUDGE_DIFF);
}

START_TEST(one_op_that_takes_half_as_long_again_is_found)
{
	ck_assert_int_eq(judge_models(1, 1.5), VERDICT_OP_SLOWER);
	ck_assert_uint_eq(s.verdict.n_findings, 1);
	ck_assert(str_eq(s.verdict.findings[0].op.op, STR("aten::mm")));
	ck_assert_double_eq_tol(s.verdict.findings[0].ratio, 1.5, 0.04);
	ck_assert_double_gt(s.verdict.findings[0].z, 3.3);
	ck_assert(verdict_is_regression(&s.verdict));
}
END_TEST

START_TEST(a_fifth_longer_is_not_enough)
{
	ck_assert_int_eq(judge_models(1, 1.2), VERDICT_NONE);
}
END_TEST

START_TEST(everything_by_the_same_factor_is_the_step)
{
	ck_assert_int_eq(judge_models(1.5, 1), VERDICT_STEP_SLOWER);
	ck_assert_uint_eq(s.verdict.n_findings, 1);
	ck_assert(!verdict_is_regression(&s.verdict));
	ck_assert_double_eq_tol(s.verdict.findings[0].ratio, 1.5, 0.04);
}
END_TEST

/* Attention grows with the square of the length, the rest does not. */
START_TEST(where_all_slowed_an_op_has_to_be_twice_as_slow_again)
{
	ck_assert_int_eq(judge_models(1.5, 1.7), VERDICT_STEP_SLOWER);
	again();
	ck_assert_int_eq(judge_models(1.5, 2.2), VERDICT_OP_SLOWER);
	ck_assert_uint_eq(s.verdict.n_findings, 2);
	ck_assert_int_eq(s.verdict.findings[1].kind, VERDICT_STEP_SLOWER);
}
END_TEST

START_TEST(too_few_steps_for_a_verdict_do_not_put_it_on_an_op)
{
	add_model(s.before, 6, 1, 1, 40);
	add_model(s.after, 6, 1.5, 1.7, 40);
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_NONE);
	again();
	add_model(s.before, 6, 1, 1, 36);
	add_model(s.after, 6, 1.5, 2.2, 36);
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_OP_SLOWER);
	again(); /* the others hardly slowed: it is the op that slowed the step */
	add_model(s.before, 6, 1, 1, 40);
	add_model(s.after, 6, 1.15, 1.5, 40);
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_OP_SLOWER);
}
END_TEST

START_TEST(a_step_that_fell_says_all_is_well)
{
	ck_assert_int_eq(judge_models(0.9, 1.6), VERDICT_NONE);
}
END_TEST

START_TEST(few_calls_prove_nothing)
{
	add_model(s.before, 7, 1, 1, 7);
	add_model(s.after, 7, 1, 3, 7);
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_NONE);
	again();
	add_model(s.before, 8, 1, 1, 8);
	add_model(s.after, 8, 1, 3, 8);
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_OP_SLOWER);
}
END_TEST

START_TEST(other_calls_per_step_are_other_work)
{
	add_model(s.before, 20, 1, 1, 40);
	add_model(s.after, 20, 1, 3, 60);
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_NONE);
}
END_TEST

START_TEST(small_ops_do_not_matter)
{
	ck_assert_int_eq(sides_of(&s, "aten::mm 4 10000; aten::add 4 50; aten::mul 4 50; aten::relu 4 50",
				 "aten::mm 4 10000; aten::add 4 190; aten::mul 4 50; aten::relu 4 50"),
		VERDICT_NONE);
}
END_TEST

START_TEST(op_tables_compare_means)
{
	ck_assert_int_eq(sides_of(&s, "aten::mm 4 1000; aten::add 4 500; aten::mul 4 500; aten::relu 4 500",
				 "aten::mm 4 1300; aten::add 4 500; aten::mul 4 500; aten::relu 4 500"),
		VERDICT_OP_SLOWER);
	again(); /* fewer than three others: half as long again is wanted */
	ck_assert_int_eq(sides_of(&s, "aten::mm 4 1000; aten::add 4 500", "aten::mm 4 1400; aten::add 4 500"), VERDICT_NONE);
	again();
	ck_assert_int_eq(sides_of(&s, "aten::mm 4 1000; aten::add 4 500", "aten::mm 4 1500; aten::add 4 500"),
		VERDICT_OP_SLOWER);
	again(); /* all of them: what slowed everything is divided out */
	ck_assert_int_eq(sides_of(&s, "aten::mm 4 1000; aten::add 4 500; aten::mul 4 500; aten::relu 4 500",
				 "aten::mm 4 1500; aten::add 4 750; aten::mul 4 750; aten::relu 4 750"),
		VERDICT_NONE);
}
END_TEST

START_TEST(a_wrapper_with_device_time_is_compared)
{
	ck_assert_int_eq(sides_of(&s, "aten::convolution 12 20000", "aten::convolution 12 122450"), VERDICT_OP_SLOWER);
}
END_TEST

START_TEST(a_compiled_region_is_compared_where_launches_are_the_same)
{
	ck_assert_int_eq(sides_of(&s, "Torch-Compiled Region: 0/0 1 1000; aten::mm 4 100",
				 "Torch-Compiled Region: 0/0 1 2000; aten::mm 4 100"),
		VERDICT_OP_SLOWER);
	again();
	ck_assert_int_eq(sides_of(&s, "Torch-Compiled Region: 0/0 1 1000; aten::mm 4 100",
				 "Torch-Compiled Region: 0/0 1 2000; aten::mm 5 125"),
		VERDICT_NONE);
}
END_TEST

Suite *suite_slower(void)
{
	Suite *suite = suite_create("slower");
	TCase *t = tcase_create("slower");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, one_op_that_takes_half_as_long_again_is_found);
	tcase_add_test(t, a_fifth_longer_is_not_enough);
	tcase_add_test(t, everything_by_the_same_factor_is_the_step);
	tcase_add_test(t, where_all_slowed_an_op_has_to_be_twice_as_slow_again);
	tcase_add_test(t, too_few_steps_for_a_verdict_do_not_put_it_on_an_op);
	tcase_add_test(t, a_step_that_fell_says_all_is_well);
	tcase_add_test(t, few_calls_prove_nothing);
	tcase_add_test(t, other_calls_per_step_are_other_work);
	tcase_add_test(t, small_ops_do_not_matter);
	tcase_add_test(t, op_tables_compare_means);
	tcase_add_test(t, a_wrapper_with_device_time_is_compared);
	tcase_add_test(t, a_compiled_region_is_compared_where_launches_are_the_same);
	suite_add_tcase(suite, t);
	return suite;
}
