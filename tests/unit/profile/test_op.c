#include "profile/op.h"

#include <check.h>

#include "profile/sum.h"

Suite *suite_op(void);

START_TEST(every_kind_is_found_by_its_name)
{
	for (int k = 0; k < OP_KINDS; k++) {
		enum op_kind back = OP_KINDS;

		ck_assert_int_eq(op_kind_parse(str_of(op_kind_name((enum op_kind)k)), &back), OK);
		ck_assert_int_eq((int)back, k);
	}
	ck_assert_str_eq(op_kind_name(OP_CPU_OP), "cpu_op");
	ck_assert_int_eq(op_kind_parse(STR("cpu"), &(enum op_kind){ 0 }), E_FORMAT);
	ck_assert_int_eq(op_kind_parse(STR(""), &(enum op_kind){ 0 }), E_FORMAT);
}
END_TEST

START_TEST(device_kinds_are_the_work_of_a_device)
{
	ck_assert(op_kind_on_device(OP_KERNEL));
	ck_assert(op_kind_on_device(OP_HLO));
	ck_assert(!op_kind_on_device(OP_CPU_OP));
	ck_assert(!op_kind_on_device(OP_GAP));
}
END_TEST

START_TEST(a_collective_is_of_the_side_that_has_its_time)
{
	ck_assert(op_is_device(&(struct op_summary){ .kind = OP_COLLECTIVE, .device_self_ns = 5, .device_total_ns = 5 }));
	ck_assert(!op_is_device(&(struct op_summary){ .kind = OP_COLLECTIVE, .cpu_total_ns = 1, .device_total_ns = 5 }));
	ck_assert(op_is_device(&(struct op_summary){ .kind = OP_MEMCPY, .cpu_total_ns = 1 }));
	ck_assert(!op_is_device(&(struct op_summary){ .kind = OP_ANNOTATION, .device_total_ns = 5 }));
}
END_TEST

START_TEST(merging_adds_sums_and_widens_extremes)
{
	struct op_summary a = { .calls = 2,
		.device_total_ns = 10,
		.device_self_ns = 9,
		.cpu_total_ns = 8,
		.cpu_self_ns = 7,
		.orphan_calls = 1,
		.orphan_ns = 3,
		.basis = OP_BASIS_CPU,
		.min_ns = 3,
		.max_ns = 4 };
	struct op_summary b = { .calls = 1,
		.device_total_ns = 1,
		.device_self_ns = 1,
		.cpu_total_ns = 1,
		.cpu_self_ns = 1,
		.basis = OP_BASIS_CPU,
		.min_ns = 1,
		.max_ns = 1 };

	hist_add(&a.hist, 3);
	hist_add(&a.hist, 4);
	hist_add(&b.hist, 1);
	op_summary_merge(&a, &b);
	ck_assert_uint_eq(a.calls, 3);
	ck_assert_int_eq(a.device_total_ns, 11);
	ck_assert_int_eq(a.device_self_ns, 10);
	ck_assert_int_eq(a.cpu_total_ns, 9);
	ck_assert_int_eq(a.cpu_self_ns, 8);
	ck_assert_uint_eq(a.orphan_calls, 1);
	ck_assert_int_eq(a.orphan_ns, 3);
	ck_assert_int_eq(a.min_ns, 1);
	ck_assert_int_eq(a.max_ns, 4);
	ck_assert_uint_eq(hist_count(&a.hist), 3);
	op_summary_fini(&a);
	op_summary_fini(&b);
}
END_TEST

START_TEST(times_of_another_basis_do_not_mix_in)
{
	struct op_summary a = { .calls = 1, .basis = OP_BASIS_DEVICE, .min_ns = 50, .max_ns = 50 };
	struct op_summary b = {
		.calls = 1, .cpu_self_ns = 7, .basis = OP_BASIS_CPU, .min_ns = 7, .max_ns = 7
	};

	hist_add(&a.hist, 50);
	hist_add(&b.hist, 7);
	op_summary_merge(&a, &b);
	ck_assert_int_eq(a.basis, OP_BASIS_DEVICE);
	ck_assert_int_eq(a.min_ns, 50);
	ck_assert_uint_eq(hist_count(&a.hist), 1);
	ck_assert_uint_eq(a.calls, 2);
	ck_assert_int_eq(a.cpu_self_ns, 7);
	op_summary_fini(&a);
	op_summary_fini(&b);
}
END_TEST

START_TEST(an_empty_summary_takes_over_the_basis)
{
	struct op_summary a = { 0 };
	struct op_summary b = {
		.calls = 1, .cpu_self_ns = 7, .basis = OP_BASIS_CPU, .min_ns = 7, .max_ns = 9
	};

	hist_add(&b.hist, 7);
	op_summary_merge(&a, &b);
	ck_assert_int_eq(a.basis, OP_BASIS_CPU);
	ck_assert_int_eq(a.min_ns, 7);
	ck_assert_int_eq(a.max_ns, 9);
	ck_assert_uint_eq(hist_count(&a.hist), 1);
	op_summary_fini(&a);
	op_summary_fini(&b);
}
END_TEST

START_TEST(sums_stay_at_their_largest_rather_than_wrap)
{
	struct op_summary a = { .calls = UINT64_MAX, .cpu_total_ns = INT64_MAX - 1 };
	struct op_summary b = { .calls = 5, .cpu_total_ns = 5 };

	op_summary_merge(&a, &b);
	ck_assert(a.calls == UINT64_MAX);
	ck_assert(a.cpu_total_ns == INT64_MAX);
}
END_TEST

START_TEST(what_is_summed_or_rounded_stays_within_64_bits)
{
	ck_assert(sum_ns(INT64_MAX, 1) == INT64_MAX && sum_ns(INT64_MIN, -1) == INT64_MIN && sum_ns(-3, 5) == 2);
	ck_assert(sum_counts(UINT64_MAX, 1) == UINT64_MAX && sum_counts(1, 2) == 3);
	ck_assert(sum_round_ns((double)INT64_MAX) == INT64_MAX); /* a double has no such number: it is 2^63 */
	ck_assert(sum_round_ns(-1e300) == INT64_MIN && sum_round_ns(HUGE_VAL) == INT64_MAX);
	ck_assert(sum_round_ns((double)NAN) == 0 && sum_round_ns(2.5) == 3 && sum_round_ns(-2.5) == -3);
}
END_TEST

Suite *suite_op(void)
{
	Suite *s = suite_create("profile/op");
	TCase *tc = tcase_create("op");

	tcase_add_test(tc, every_kind_is_found_by_its_name);
	tcase_add_test(tc, device_kinds_are_the_work_of_a_device);
	tcase_add_test(tc, a_collective_is_of_the_side_that_has_its_time);
	tcase_add_test(tc, merging_adds_sums_and_widens_extremes);
	tcase_add_test(tc, times_of_another_basis_do_not_mix_in);
	tcase_add_test(tc, an_empty_summary_takes_over_the_basis);
	tcase_add_test(tc, sums_stay_at_their_largest_rather_than_wrap);
	tcase_add_test(tc, what_is_summed_or_rounded_stays_within_64_bits);
	suite_add_tcase(s, tc);
	return s;
}
