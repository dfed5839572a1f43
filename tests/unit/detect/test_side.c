#include <check.h>

#include "detect/optable.h"
#include "tests/unit/detect/sides.h"

Suite *suite_side(void);

static struct sides s;
static struct optable t;

static void up(void)
{
	sides_init(&s);
}

static void down(void)
{
	sides_fini(&s);
}

static void make(void)
{
	struct err e = { 0 };

	ck_assert_msg(optable_make(s.before, s.after, &s.arena, &t, &e) == OK, "%s", e.text);
}

static const struct optable_row *row(const char *key, bool on_cpu)
{
	for (size_t i = 0; i < t.n_rows; i++)
		if (str_eq(t.rows[i].name->key, str_of(key)) && t.rows[i].on_cpu == on_cpu)
			return &t.rows[i];
	return NULL;
}

START_TEST(calls_and_times_are_per_step_and_medians_over_windows)
{
	sides_add(&s, s.before, 2, "aten::mm 4 100; aten::add 8 10");
	sides_add(&s, s.before, 2, "aten::mm 4 300");
	sides_add(&s, s.before, 4, "aten::mm 8 400");
	make();
	ck_assert_double_eq(row("mm", false)->before.calls, 2);
	ck_assert_double_eq(row("mm", false)->before.time_ns, 100000);
	ck_assert_ptr_null(row("add", false)); /* in one window of three: no median */
	ck_assert_double_eq(t.before.launches, 2);
	ck_assert_double_eq(t.before.total_ns, 100000);
}
END_TEST

START_TEST(spellings_of_an_op_are_one_row)
{
	sides_add(&s, s.before, 1, "aten::mul_ 1 10; aten::mul 2 20; Mul 1 5; aten::stack 1 1; Stack 1 1");
	make();
	ck_assert_double_eq(row("mul", false)->before.calls, 4);
	ck_assert(str_eq(row("mul", false)->shown, STR("Mul")));
	ck_assert_double_eq(t.before.launches, 5); /* Stack is work, aten::stack a wrapper */
}
END_TEST

static struct op_summary op(enum op_kind kind, const char *name, uint64_t calls, int64_t device_ns, int64_t cpu_ns)
{
	return (struct op_summary){ .kind = kind, .name = str_of(name), .calls = calls, .device_total_ns = device_ns,
		.device_self_ns = device_ns, .cpu_total_ns = cpu_ns, .cpu_self_ns = cpu_ns };
}

static void add_window(struct side *side, bool has_device, struct op_summary *ops, size_t n)
{
	struct window w = { .steps = 1, .has_device = has_device, .ops = ops, .n_ops = n };

	ck_assert(side_add(side, &w, NULL) == OK);
}

START_TEST(device_time_is_counted_once)
{
	struct op_summary ops[] = {
		op(OP_CPU_OP, "aten::mm", 2, 1000, 50), op(OP_CPU_OP, "aten::linear", 2, 0, 70),
		op(OP_KERNEL, "gemm", 2, 1000, 0), op(OP_KERNEL, "replayed", 3, 900, 0),
		op(OP_MEMCPY, "Memcpy HtoD", 4, 100, 0), op(OP_ANNOTATION, "my range", 1, 2000, 500),
		op(OP_RUNTIME, "launch", 9, 0, 100),
	};

	ops[1].device_total_ns = 1000;
	ops[3].orphan_calls = 2; /* one of them was launched by an op */
	ops[3].orphan_ns = 600;
	add_window(s.before, true, ops, COUNT(ops));
	add_window(s.after, true, ops, COUNT(ops));
	make();
	ck_assert(t.on_device);
	ck_assert_double_eq(t.before.total_ns, 1600);
	ck_assert_double_eq(t.before.launches, 4); /* two products, two orphans */
	ck_assert_double_eq(t.before.copies, 4);
	ck_assert_double_eq(row("mm", false)->before.time_ns, 1000);
	ck_assert_ptr_null(row("gemm", false));
	ck_assert_ptr_null(row("my range", false));
}
END_TEST

START_TEST(host_time_counts_where_a_side_has_no_device_events)
{
	struct op_summary device[] = { op(OP_CPU_OP, "aten::mm", 2, 1000, 50), op(OP_KERNEL, "gemm", 2, 1000, 0) };
	struct op_summary host[] = { op(OP_CPU_OP, "aten::mm", 2, 0, 60) };

	add_window(s.before, true, device, COUNT(device));
	add_window(s.after, false, host, COUNT(host));
	make();
	ck_assert(!t.on_device);
	ck_assert_double_eq(t.before.total_ns, 50);
	ck_assert_double_eq(t.after.total_ns, 60);
}
END_TEST

START_TEST(windows_without_device_events_do_not_count_beside_those_with)
{
	struct op_summary device[] = { op(OP_CPU_OP, "aten::mm", 2, 1000, 50) };
	struct op_summary host[] = { op(OP_CPU_OP, "aten::mm", 2, 0, 60) };

	for (int i = 0; i < 3; i++)
		add_window(s.before, false, host, COUNT(host));
	add_window(s.before, true, device, COUNT(device));
	add_window(s.after, true, device, COUNT(device));
	make();
	ck_assert_double_eq(t.before.total_ns, 1000);
}
END_TEST

START_TEST(work_that_launches_nothing_ran_on_the_cpu)
{
	struct op_summary ops[] = {
		op(OP_CPU_OP, "aten::mm", 2, 1000, 50), op(OP_CPU_OP, "aten::sort", 3, 0, 400),
		op(OP_CPU_OP, "aten::view", 9, 0, 40), op(OP_CPU_OP, "my_op", 1, 0, 40),
		op(OP_CPU_OP, "aten::sum", 1, 0, 40),
	};

	ops[4].device_total_ns = 500; /* something below it launched */
	add_window(s.before, true, ops, COUNT(ops));
	add_window(s.after, true, ops, COUNT(ops));
	make();
	ck_assert_ptr_null(row("sort", false));
	ck_assert_double_eq(row("sort", true)->before.calls, 3);
	ck_assert_double_eq(row("sort", true)->before.time_ns, 400);
	ck_assert_ptr_null(row("view", true));
	ck_assert_ptr_null(row("my_op", true));
	ck_assert_ptr_null(row("sum", true));
	ck_assert_double_eq(t.before.launches, 2);
}
END_TEST

START_TEST(a_region_row_counts_even_without_device_time)
{
	struct op_summary ops[] = { op(OP_REGION, "Torch-Compiled Region: *", 2, 0, 50), op(OP_CPU_OP, "aten::mm", 1, 9, 9) };

	add_window(s.before, true, ops, COUNT(ops));
	add_window(s.after, true, ops, COUNT(ops));
	make();
	ck_assert_double_eq(t.before.region_calls, 2);
	ck_assert_double_eq(t.before.launches, 3);
}
END_TEST

START_TEST(an_op_that_runs_once_a_step_stands_for_unknown_steps)
{
	sides_add(&s, s.before, 0, "aten::embedding 10 10; aten::mm 40 100");
	sides_add(&s, s.after, 0, "aten::embedding 20 20; aten::mm 80 200");
	make();
	ck_assert_double_eq(row("mm", false)->before.calls, 4);
	ck_assert_double_eq(row("mm", false)->after.calls, 4);
}
END_TEST

START_TEST(unknown_steps_without_an_anchor_leave_totals)
{
	sides_add(&s, s.before, 0, "aten::mm 40 100");
	sides_add(&s, s.after, 0, "aten::embedding 20 20; aten::mm 80 200");
	make();
	ck_assert_double_eq(row("mm", false)->before.calls, 40);
	ck_assert_double_eq(row("mm", false)->after.calls, 80);
}
END_TEST

START_TEST(a_step_time_that_one_side_knows_is_not_compared)
{
	sides_add(&s, s.before, 1, "aten::mm 4 100; step 1 5000");
	sides_add(&s, s.after, 1, "aten::mm 4 120");
	make();
	ck_assert(!t.has_step);
	ck_assert_double_eq(t.before.step_ns, 100000);
	ck_assert_double_eq(t.after.step_ns, 120000);
	ck_assert_double_eq_tol(optable_step_up(&t), 0.2, 1e-9);
}
END_TEST

START_TEST(windows_without_ops_are_counted_only)
{
	struct window empty = { .steps = 5 };

	ck_assert(side_add(s.before, &empty, NULL) == OK);
	sides_add(&s, s.before, 2, "aten::mm 4 100");
	ck_assert_uint_eq(side_windows(s.before), 2);
	ck_assert_uint_eq(side_steps(s.before), 2);
	make();
	ck_assert_double_eq(row("mm", false)->before.calls, 2);
}
END_TEST

Suite *suite_side(void)
{
	Suite *suite = suite_create("side");
	TCase *c = tcase_create("side");

	tcase_add_checked_fixture(c, up, down);
	tcase_add_test(c, calls_and_times_are_per_step_and_medians_over_windows);
	tcase_add_test(c, spellings_of_an_op_are_one_row);
	tcase_add_test(c, device_time_is_counted_once);
	tcase_add_test(c, host_time_counts_where_a_side_has_no_device_events);
	tcase_add_test(c, windows_without_device_events_do_not_count_beside_those_with);
	tcase_add_test(c, work_that_launches_nothing_ran_on_the_cpu);
	tcase_add_test(c, a_region_row_counts_even_without_device_time);
	tcase_add_test(c, an_op_that_runs_once_a_step_stands_for_unknown_steps);
	tcase_add_test(c, unknown_steps_without_an_anchor_leave_totals);
	tcase_add_test(c, a_step_time_that_one_side_knows_is_not_compared);
	tcase_add_test(c, windows_without_ops_are_counted_only);
	suite_add_tcase(suite, c);
	return suite;
}
