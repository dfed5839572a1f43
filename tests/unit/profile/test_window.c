#include "profile/window.h"

#include <check.h>
#include <math.h>

Suite *suite_window(void);

static struct op_summary ops[3];
static struct label label = { { "team", 4 }, { "x", 1 } };
static struct gauge gauge;
static struct window good;

static void set_op(struct op_summary *op, enum op_kind kind, const char *name)
{
	*op = (struct op_summary){ .kind = kind,
		.name = str_of(name),
		.calls = 2,
		.device_total_ns = 30,
		.device_self_ns = 20,
		.cpu_total_ns = 10,
		.cpu_self_ns = -1,
		.basis = OP_BASIS_DEVICE,
		.min_ns = 5,
		.max_ns = 15 };
	hist_add(&op->hist, 5);
	hist_add(&op->hist, 15);
}

static void setup(void)
{
	set_op(&ops[0], OP_STEP, "ProfilerStep*");
	set_op(&ops[1], OP_CPU_OP, "aten::add");
	set_op(&ops[2], OP_CPU_OP, "aten::mul");
	gauge = (struct gauge){ STR("frames"), STR("1"), 4, &label, 1 };
	good = (struct window){ .service = STR("llm"),
		.host = STR("h1"),
		.source = STR("watch"),
		.start_ns = INT64_C(1764424800000000000),
		.dur_ns = 1000,
		.steps = 2,
		.steps_from = STEPS_MARKER,
		.has_device = true,
		.labels = &label,
		.n_labels = 1,
		.ops = ops,
		.n_ops = 3,
		.gauges = &gauge,
		.n_gauges = 1 };
}

static void teardown(void)
{
	window_fini(&good);
}

static void refused(int code, const char *sentence)
{
	struct err e = { 0 };
	int rc = window_check(&good, &e);

	ck_assert_str_eq(e.text, sentence);
	ck_assert_int_eq(rc, code);
}

START_TEST(a_sound_window_passes)
{
	struct err e = { 0 };

	ck_assert_msg(window_check(&good, &e) == OK, "%s", e.text);
}
END_TEST

START_TEST(texts_are_named_bounded_and_utf8)
{
	char text[300];

	good.service = STR("");
	refused(E_FORMAT, "service: empty");
	memset(text, 'x', sizeof(text));
	good.service = str_make(text, 257);
	refused(E_LIMIT, "service: 257 bytes, at most 256");
	good.service = STR("a\xff");
	refused(E_FORMAT, "service: not UTF-8");
	good.service = STR("a\0b");
	refused(E_FORMAT, "service: holds a NUL");
	good.service = STR("a");
	good.host = STR("");
	refused(E_FORMAT, "host: empty");
	good.host = STR("h");
	label.key = STR("");
	refused(E_FORMAT, "labels[0]: key: empty");
	label.key = STR("team");
}
END_TEST

START_TEST(impossible_times_are_refused)
{
	good.start_ns = -1;
	refused(E_FORMAT, "start_ns: -1, before 1970");
	good.start_ns = INT64_MAX;
	refused(E_FORMAT, "dur_ns: 1000 from 9223372036854775807 on, ends after the year 2261");
	good.start_ns = WINDOW_END_NS - 1000;
	refused(E_FORMAT, "dur_ns: 1000 from 9214646399999999000 on, ends after the year 2261");
	good.start_ns = 0;
	good.dur_ns = -5;
	refused(E_FORMAT, "dur_ns: -5, negative");
	good.dur_ns = 5;
	ops[1].device_self_ns = -5;
	refused(E_FORMAT, "ops[1]: device_self_ns: -5, negative");
	ops[1].device_self_ns = 5;
	ops[1].min_ns = 16;
	refused(E_FORMAT, "ops[1]: min_ns: 16, more than max_ns (15)");
}
END_TEST

START_TEST(calls_and_histogram_must_agree)
{
	ops[2].calls = 3;
	refused(E_FORMAT, "ops[2]: hist: 2 values for 3 calls");
	ops[2].basis = OP_BASIS_NONE;
	refused(E_FORMAT, "ops[2]: hist: 2 values without a basis");
	ops[2].calls = 0;
	refused(E_FORMAT, "ops[2]: calls: none");
	ops[2].calls = 2;
	ops[2].basis = OP_BASIS_CPU;
	ops[2].orphan_calls = 3;
	refused(E_FORMAT, "ops[2]: orphan_calls: 3, more than calls (2)");
	ops[2].orphan_calls = 1;
	ops[2].orphan_ns = 21;
	refused(E_FORMAT, "ops[2]: orphan_ns: 21, more than device_self_ns (20)");
}
END_TEST

START_TEST(ops_are_in_order_and_no_two_alike)
{
	ops[2].name = STR("aten::add");
	refused(E_FORMAT, "ops[2]: out of order, or twice: cpu_op aten::add");
	ops[2].name = STR("aten::abs");
	refused(E_FORMAT, "ops[2]: out of order, or twice: cpu_op aten::abs");
}
END_TEST

START_TEST(sums_over_all_ops_must_fit)
{
	ops[0].cpu_total_ns = ops[1].cpu_total_ns = INT64_MAX / 2 + 1;
	refused(E_LIMIT, "ops[1]: the sum over all ops does not fit 64 bits");
}
END_TEST

START_TEST(enums_flags_and_gauges_are_checked)
{
	gauge.value = NAN;
	refused(E_FORMAT, "gauges[0]: value: not a finite number");
	gauge.value = 1;
	good.flags = 8;
	refused(E_FORMAT, "flags: 0x8, unknown bits");
	good.flags = WINDOW_TRUNCATED;
	good.steps_from = (enum steps_from)9;
	refused(E_FORMAT, "steps_from: 9, not a source of steps");
	good.steps_from = STEPS_NONE;
	good.n_labels = 65;
	refused(E_LIMIT, "labels: 65 of them, at most 64");
	good.n_labels = 1;
	ops[0].kind = (enum op_kind)99;
	refused(E_FORMAT, "ops[0]: kind: 99, not a kind");
}
END_TEST

START_TEST(ops_and_gauges_are_found_by_name)
{
	ck_assert_ptr_eq(window_op(&good, OP_CPU_OP, STR("aten::mul")), &ops[2]);
	ck_assert_ptr_eq(window_op(&good, OP_STEP, STR("ProfilerStep*")), &ops[0]);
	ck_assert_ptr_null(window_op(&good, OP_KERNEL, STR("aten::mul")));
	ck_assert_ptr_eq(window_gauge(&good, STR("frames")), &gauge);
	ck_assert_ptr_null(window_gauge(&good, STR("frame")));
}
END_TEST

START_TEST(an_id_comes_back_from_its_text)
{
	uint8_t id[WINDOW_ID] = { 0x00, 0xff, 0x12 }, back[WINDOW_ID];
	char text[WINDOW_ID_TEXT];

	window_id_text(id, text);
	ck_assert_str_eq(text, "00ff1200000000000000000000000000");
	ck_assert_int_eq(window_id_parse(str_of(text), back), OK);
	ck_assert_mem_eq(id, back, WINDOW_ID);
	ck_assert_int_eq(window_id_parse(STR("00ff"), back), E_FORMAT);
}
END_TEST

START_TEST(every_source_of_steps_is_found_by_its_name)
{
	for (int f = 0; f < STEPS_FROMS; f++) {
		enum steps_from back = STEPS_FROMS;

		ck_assert_int_eq(steps_from_parse(str_of(steps_from_name((enum steps_from)f)), &back), OK);
		ck_assert_int_eq((int)back, f);
	}
	ck_assert_int_eq(steps_from_parse(STR("x"), &(enum steps_from){ 0 }), E_FORMAT);
}
END_TEST

Suite *suite_window(void)
{
	Suite *s = suite_create("profile/window");
	TCase *tc = tcase_create("window");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_sound_window_passes);
	tcase_add_test(tc, texts_are_named_bounded_and_utf8);
	tcase_add_test(tc, impossible_times_are_refused);
	tcase_add_test(tc, calls_and_histogram_must_agree);
	tcase_add_test(tc, ops_are_in_order_and_no_two_alike);
	tcase_add_test(tc, sums_over_all_ops_must_fit);
	tcase_add_test(tc, enums_flags_and_gauges_are_checked);
	tcase_add_test(tc, ops_and_gauges_are_found_by_name);
	tcase_add_test(tc, an_id_comes_back_from_its_text);
	tcase_add_test(tc, every_source_of_steps_is_found_by_its_name);
	suite_add_tcase(s, tc);
	return s;
}
