#include "api/row.h"

#include <check.h>

Suite *suite_row(void);

/* What an op launched is its own time already; a device row has besides it what nobody launched. */
static const struct {
	struct op_summary op;
	int64_t device_ns, cpu_ns; /* own time where there are device events, and where not */
} rows[] = {
	{ { .kind = OP_CPU_OP, .cpu_self_ns = 7, .device_self_ns = 90 }, 90, 7 },
	{ { .kind = OP_KERNEL, .device_self_ns = 90, .orphan_ns = 20 }, 20, 0 },
	{ { .kind = OP_COLLECTIVE, .device_self_ns = 90, .device_total_ns = 90, .orphan_ns = 20 }, 20, 0 }, /* ncclDevKernel_… */
	{ { .kind = OP_COLLECTIVE, .cpu_self_ns = 7, .cpu_total_ns = 8, .device_self_ns = 90 }, 90, 7 },    /* nccl:all_reduce */
	{ { .kind = OP_STEP, .cpu_self_ns = 7, .cpu_total_ns = 8 }, 0, 0 },
	{ { .kind = OP_ENGINE, .device_self_ns = 90 }, 0, 0 },
	{ { .kind = OP_GAP, .device_total_ns = 90 }, 0, 0 },
};

START_TEST(each_time_is_the_own_one_of_one_row)
{
	ck_assert_int_eq(row_own_time_ns(&rows[_i].op, true), rows[_i].device_ns);
	ck_assert_int_eq(row_own_time_ns(&rows[_i].op, false), rows[_i].cpu_ns);
}
END_TEST

Suite *suite_row(void)
{
	Suite *s = suite_create("api/row");
	TCase *tc = tcase_create("row");

	tcase_add_loop_test(tc, each_time_is_the_own_one_of_one_row, 0, COUNT(rows));
	suite_add_tcase(s, tc);
	return s;
}
