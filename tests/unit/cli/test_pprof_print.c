#include "cli/pprof_print.h"

#include <check.h>

#include "tests/unit/cli/pprof_read.h"

Suite *suite_pprof_print(void);

static struct buf packed, message, said;

static void up(void)
{
	buf_init(&packed, 1 << 20);
	buf_init(&message, 1 << 20);
	buf_init(&said, 1 << 20);
}

static void down(void)
{
	buf_fini(&packed);
	buf_fini(&message);
	buf_fini(&said);
}

static const char *told(struct op_summary *ops, size_t n)
{
	struct window w = { .ops = ops, .n_ops = n, .dur_ns = 9 };
	struct pprof_print *p = pprof_print_new();
	struct err e = { 0 };

	pprof_print_window(p, &w, STR("p.json"), false);
	ck_assert_msg(pprof_print_finish(p, &packed, &e) == OK, "%s", e.text);
	pprof_print_free(p);
	pprof_unpack(buf_view(&packed), &message);
	pprof_tell(buf_view(&message), &said);
	return buf_view(&said).p;
}

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

START_TEST(each_nanosecond_of_a_device_profile_counts_once)
{
	struct op_summary ops[] = {
		{ .kind = OP_KERNEL, .name = STR("Vector TENSOR_TENSOR"), .calls = 24, .device_self_ns = 270, .device_total_ns = 270 },
		{ .kind = OP_HLO, .name = STR("multiply"), .calls = 1, .device_self_ns = 270, .device_total_ns = 270 },
		{ .kind = OP_ENGINE, .name = STR("Vector"), .calls = 24, .device_self_ns = 270, .device_total_ns = 270 },
		{ .kind = OP_GAP, .name = STR("device"), .calls = 3, .device_self_ns = 50, .device_total_ns = 50 },
	};
	const char *text = told(ops, COUNT(ops));

	ck_assert_msg(has(text, "2{24 0 270 }") && !has(text, "2{1 ") && !has(text, "2{3 "), "%s", text);
	ck_assert_msg(has(text, "6{Vector TENSOR_TENSOR}") && !has(text, "6{multiply}"), "%s", text);
}
END_TEST

START_TEST(hlo_ops_count_where_there_is_nothing_finer)
{
	struct op_summary ops[] = {
		{ .kind = OP_HLO, .name = STR("dot"), .calls = 2, .device_self_ns = 80, .device_total_ns = 80 },
	};

	ck_assert(has(told(ops, COUNT(ops)), "2{2 0 80 }"));
}
END_TEST

START_TEST(collectives_of_the_device_count)
{
	struct op_summary ops[] = {
		{ .kind = OP_COLLECTIVE, .name = STR("cc_op"), .calls = 7, .device_self_ns = 100, .device_total_ns = 100 },
	};

	ck_assert(has(told(ops, COUNT(ops)), "2{7 0 100 }"));
}
END_TEST

START_TEST(time_of_the_host_counts_whatever_the_op_is_for)
{
	struct op_summary ops[] = {
		{ .kind = OP_CPU_OP, .name = STR("aten::mm"), .calls = 1, .cpu_self_ns = 40, .cpu_total_ns = 40, .device_self_ns = 9 },
		{ .kind = OP_MEMCPY, .name = STR("nrt_tensor_write"), .calls = 1, .cpu_self_ns = 27, .cpu_total_ns = 27 },
		{ .kind = OP_KERNEL, .name = STR("model"), .calls = 1, .device_self_ns = 9 }, /* what mm launched */
	};
	const char *text = told(ops, COUNT(ops));

	ck_assert_msg(has(text, "2{1 40 0 }") && has(text, "2{1 27 0 }") && has(text, "2{1 0 9 }"), "%s", text);
}
END_TEST

Suite *suite_pprof_print(void)
{
	Suite *s = suite_create("cli/pprof_print");
	TCase *tc = tcase_create("pprof_print");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, each_nanosecond_of_a_device_profile_counts_once);
	tcase_add_test(tc, hlo_ops_count_where_there_is_nothing_finer);
	tcase_add_test(tc, collectives_of_the_device_count);
	tcase_add_test(tc, time_of_the_host_counts_whatever_the_op_is_for);
	suite_add_tcase(s, tc);
	return s;
}
