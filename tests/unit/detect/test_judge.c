#include "detect/judge.h"

#include <check.h>

#include "base/buf.h"
#include "base/clock.h"
#include "json/write.h"
#include "tests/support/prop.h"
#include "tests/unit/detect/sides.h"

Suite *suite_judge(void);

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

START_TEST(the_same_is_none)
{
	ck_assert_int_eq(sides_of(&s, "aten::mm 4 100; aten::add 4 10", "aten::mm 4 100; aten::add 4 10"), VERDICT_NONE);
	ck_assert_uint_eq(s.verdict.n_findings, 0);
	ck_assert(!s.verdict.has_step);
	ck_assert(!verdict_is_regression(&s.verdict));
}
END_TEST

START_TEST(twice_the_steps_is_the_same)
{
	sides_add(&s, s.before, 1, "aten::mm 224 9000; aten::_fused_rms_norm 65 910");
	sides_add(&s, s.after, 2, "aten::mm 448 18000; aten::_fused_rms_norm 130 1820");
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_NONE);
}
END_TEST

START_TEST(variants_of_a_name_show_as_the_plainest_of_both_sides)
{
	const struct finding *f;

	ck_assert_int_eq(sides_of(&s, "aten::_fused_rms_norm 1 403; aten::mul_ 1 61; aten::mm 4 4000",
				 "aten::mul 3 1165; aten::mul_ 1 61; aten::add 1 435; aten::rsqrt 1 415; aten::mean 1 341; "
				 "aten::mm 4 4000"),
		VERDICT_FUSION_LOST);
	f = &s.verdict.findings[0];
	ck_assert_uint_eq(f->n_replaced_by, 4);
	ck_assert(str_eq(f->replaced_by[0].op, STR("aten::mul")));
	ck_assert_double_eq(f->replaced_by[0].calls_per_step.before, 1);
	ck_assert_double_eq(f->replaced_by[0].calls_per_step.after, 4);
}
END_TEST

static const char one_graph[] = "Torch-Compiled Region: 0/0 1 9000; step 1 9100";
static const char three_graphs[] = "Torch-Compiled Region: 0/0 1 2900; Torch-Compiled Region: 1/0 1 3000; "
				   "Torch-Compiled Region: 2/0 1 3000; aten::mul 2 20; aten::_local_scalar_dense 2 40; "
				   "step 1 10400";

START_TEST(one_region_that_became_three_is_graph_breaks)
{
	ck_assert_int_eq(sides_of(&s, one_graph, three_graphs), VERDICT_GRAPH_BREAKS);
	ck_assert(verdict_is_regression(&s.verdict));
	ck_assert_double_eq(s.verdict.findings[0].op.calls_per_step.after, 3);
}
END_TEST

START_TEST(recompiles_of_one_frame_are_no_graph_breaks)
{
	ck_assert_int_eq(sides_of(&s, one_graph,
				 "Torch-Compiled Region: 0/0 1 2900; Torch-Compiled Region: 0/1 1 3000; "
				 "Torch-Compiled Region: 0/2 1 3000; step 1 10400"),
		VERDICT_NONE);
}
END_TEST

START_TEST(graph_breaks_that_slow_nothing_fail_nothing)
{
	static const char as_fast[] = "Torch-Compiled Region: 0/0 1 2900; Torch-Compiled Region: 1/0 1 3000; "
				      "Torch-Compiled Region: 2/0 1 3000; step 1 9200";

	ck_assert_int_eq(sides_of(&s, one_graph, as_fast), VERDICT_GRAPH_BREAKS);
	ck_assert(!verdict_is_regression(&s.verdict));
	ck_assert_int_eq(sides_judge(&s, JUDGE_SERVICE), VERDICT_NONE);
}
END_TEST

START_TEST(regions_with_much_new_work_are_no_graph_breaks)
{
	ck_assert_int_eq(sides_of(&s, one_graph,
				 "Torch-Compiled Region: 0/0 1 2900; Torch-Compiled Region: 1/0 1 3000; aten::mm 8 3000; "
				 "step 1 10400"),
		VERDICT_NONE);
}
END_TEST

START_TEST(frames_come_from_the_gauge_where_names_are_normalised)
{
	struct gauge frames = { .name = STR("region_frames"), .value = 1 };
	struct op_summary op = { .kind = OP_REGION, .name = STR("Torch-Compiled Region: *"), .calls = 1 };
	struct window w = { .steps = 1, .ops = &op, .n_ops = 1, .gauges = &frames, .n_gauges = 1 };

	op.cpu_total_ns = op.cpu_self_ns = 1000000;
	ck_assert_int_eq(side_add(s.before, &w, NULL), OK);
	frames.value = 3;
	op.calls = 3;
	op.cpu_total_ns = op.cpu_self_ns = 1200000;
	ck_assert_int_eq(side_add(s.after, &w, NULL), OK);
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_GRAPH_BREAKS);
}
END_TEST

START_TEST(a_longer_gap_is_host_gap)
{
	static const char before[] = "MODULE_layer.neff 32 32000; gap 1 416; step 1 32416";

	ck_assert_int_eq(sides_of(&s, before, "MODULE_layer.neff 32 32000; gap 1 5760; step 1 37760"), VERDICT_HOST_GAP);
	ck_assert(verdict_is_regression(&s.verdict));
	ck_assert_double_eq_tol(s.verdict.findings[0].net_ns_per_step, 5344000, 1);
	again(); /* without a step time the sum stands in */
	ck_assert_int_eq(sides_of(&s, "MODULE_layer.neff 32 32000; gap 1 416", "MODULE_layer.neff 32 32000; gap 1 5760"),
		VERDICT_HOST_GAP);
	again(); /* not long enough */
	ck_assert_int_eq(sides_of(&s, before, "MODULE_layer.neff 32 32000; gap 1 600; step 1 34000"), VERDICT_NONE);
	again(); /* the step did not slow */
	ck_assert_int_eq(sides_of(&s, before, "MODULE_layer.neff 32 32000; gap 1 5760; step 1 32500"), VERDICT_NONE);
}
END_TEST

START_TEST(a_longer_gap_beside_longer_work_is_no_host_gap)
{
	ck_assert_int_ne(sides_of(&s, "MODULE_layer.neff 32 32000; gap 1 416; step 1 32416",
				 "MODULE_layer.neff 32 34000; gap 1 5760; step 1 39760"),
		VERDICT_HOST_GAP);
}
END_TEST

START_TEST(ops_that_moved_to_the_host_are_cpu_fallback)
{
	static const char before[] = "MODULE_main.neff 1 900; aten::copy_ 2 30";

	ck_assert_int_eq(sides_of(&s, before, "MODULE_main.neff 1 905; aten::_convolution@cpu 1 4200; aten::copy_ 4 160"),
		VERDICT_CPU_FALLBACK);
	ck_assert(str_eq(s.verdict.findings[0].op.op, STR("aten::_convolution@cpu")));
	again(); /* copies under another name */
	ck_assert_int_eq(sides_of(&s, "MODULE_main.neff 1 900", "MODULE_main.neff 1 905; aten::sort@cpu 1 4200; "
								"aten::_copy_from 2 160"),
		VERDICT_CPU_FALLBACK);
	again(); /* the device waits for it: that is no gap of another cause */
	ck_assert_int_eq(sides_of(&s, "MODULE_main.neff 1 5000; aten::copy_ 2 30; gap 1 50; step 1 5100",
				 "MODULE_main.neff 2 4900; aten::sort@cpu 1 900; aten::copy_ 6 260; gap 1 1300; step 1 6800"),
		VERDICT_CPU_FALLBACK);
	again(); /* without copies it computes something of its own */
	ck_assert_int_eq(sides_of(&s, before, "MODULE_main.neff 1 905; aten::_convolution@cpu 1 4200; aten::copy_ 2 30"),
		VERDICT_NONE);
	again(); /* it was there before */
	ck_assert_int_eq(sides_of(&s, "MODULE_main.neff 1 900; aten::_convolution@cpu 1 4200; aten::copy_ 2 30",
				 "MODULE_main.neff 1 905; aten::_convolution@cpu 1 4900; aten::copy_ 4 160"),
		VERDICT_NONE);
}
END_TEST

START_TEST(slower_ops_wait_in_a_service_until_the_deploy_has_settled)
{
	ck_assert_int_eq(sides_of(&s, "flash_attn 1 145", "flash_attn 1 667"), VERDICT_OP_SLOWER);
	ck_assert_int_eq(sides_judge(&s, JUDGE_SERVICE), VERDICT_NONE);
	ck_assert_int_eq(sides_judge(&s, JUDGE_SETTLED), VERDICT_OP_SLOWER);
}
END_TEST

START_TEST(kinds_fail_a_pipeline_or_not)
{
	static const bool fails[VERDICTS] = {
		[VERDICT_FUSION_LOST] = true, [VERDICT_GRAPH_BREAKS] = true, [VERDICT_HOST_GAP] = true,
		[VERDICT_CPU_FALLBACK] = true, [VERDICT_OP_SLOWER] = true,
	};

	for (size_t k = 0; k < VERDICTS; k++) {
		struct verdict v = { .kind = (enum verdict_kind)k, .step_ns = { 100, 110 } };

		ck_assert_msg(verdict_is_regression(&v) == fails[k], "%s", verdict_name(v.kind));
	}
}
END_TEST

static struct str to_json(const struct verdict *v)
{
	struct json_writer w;
	struct buf b;
	struct str text;

	buf_init(&b, 1 << 20);
	jw_init(&w, &b);
	jw_object(&w);
	verdict_write_members(&w, v);
	jw_end(&w);
	ck_assert(jw_finish(&w, NULL) == OK);
	text = arena_str(&s.arena, buf_view(&b));
	buf_fini(&b);
	return text;
}

/* The order of windows and of ops in them decides nothing. */
START_TEST(the_same_numbers_give_the_same_verdict)
{
	struct str first, second;

	sides_add(&s, s.before, 2, "aten::gelu 8 80; aten::native_layer_norm 16 160; aten::mm 8 100");
	sides_add(&s, s.before, 2, "aten::gelu 8 90; aten::native_layer_norm 16 170; aten::mm 8 110");
	sides_add(&s, s.after, 1, "aten::erf 4 50; aten::mul 24 300; aten::add 20 300; aten::mean 16 300; aten::sub 8 90; "
				  "aten::pow 8 90; aten::rsqrt 8 90; aten::mm 4 50");
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_FUSION_LOST);
	first = arena_str(&s.arena, to_json(&s.verdict));
	side_free(s.before);
	side_free(s.after);
	s.before = side_new(s.fusion);
	s.after = side_new(s.fusion); /* not again: the text lives in the arena */
	sides_add(&s, s.before, 2, "aten::mm 8 110; aten::native_layer_norm 16 170; aten::gelu 8 90");
	sides_add(&s, s.before, 2, "aten::native_layer_norm 16 160; aten::mm 8 100; aten::gelu 8 80");
	sides_add(&s, s.after, 1, "aten::mm 4 50; aten::rsqrt 8 90; aten::pow 8 90; aten::sub 8 90; aten::mean 16 300; "
				  "aten::add 20 300; aten::mul 24 300; aten::erf 4 50");
	sides_judge(&s, JUDGE_DIFF);
	second = to_json(&s.verdict);
	ck_assert_msg(str_eq(first, second), "%.*s\n%.*s", STR_ARG(first), STR_ARG(second));
}
END_TEST

START_TEST(nothing_on_a_side_is_none)
{
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_NONE);
	sides_add(&s, s.after, 1, "aten::mm 4 100");
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_NONE);
	again();
	sides_add(&s, s.before, 1, "aten::gelu 4 100");
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_NONE);
}
END_TEST

START_TEST(a_full_arena_is_an_error)
{
	struct verdict v;
	struct arena small;
	unsigned refused = 0;

	sides_add(&s, s.before, 1, "aten::_fused_rms_norm 1 403.3");
	sides_add(&s, s.after, 1, "aten::mul 3 1164.5; aten::add 1 434.6; aten::rsqrt 1 415.0; aten::mean 1 340.8");
	for (size_t bytes = 0; bytes < 16384; bytes += 64) {
		int rc;

		arena_init(&small, bytes);
		rc = judge(s.before, s.after, JUDGE_DIFF, &small, &v, NULL);
		ck_assert(rc == E_LIMIT || (rc == OK && v.kind == VERDICT_FUSION_LOST));
		refused += rc == E_LIMIT;
		arena_fini(&small);
	}
	ck_assert_uint_gt(refused, 20);
}
END_TEST

START_TEST(changes_are_listed_largest_first)
{
	struct op_change *c;
	size_t n;

	sides_add(&s, s.before, 1, "aten::mm 4 100; aten::add 4 10; aten::view 9 1; aten::relu 1 5");
	sides_add(&s, s.after, 1, "aten::mm 4 130; aten::add 5 90; aten::view 9 1; aten::gelu 1 4; TorchDynamo x 1 999");
	ck_assert_int_eq(judge_changes(s.before, s.after, 3, &s.arena, &c, &n, NULL), OK);
	ck_assert_uint_eq(n, 3);
	ck_assert(str_eq(c[0].op, STR("aten::add")));
	ck_assert(str_eq(c[1].op, STR("aten::mm")));
	ck_assert(str_eq(c[2].op, STR("aten::relu")));
	ck_assert_double_eq_tol(c[0].time_per_step_ns.after, 90000, 1e-6);
}
END_TEST

/* ---- promises about any tables */

static const char *const names[] = {
	"aten::mm", "aten::addmm", "aten::add", "aten::mul", "aten::mean", "aten::rsqrt", "aten::pow", "aten::gelu", "aten::erf",
	"aten::native_layer_norm", "aten::_softmax", "aten::view", "aten::linear", "aten::copy_", "my_kernel", "flash_fwd",
	"triton_poi_fused_add_mul_1", "triton_red_fused_mean_pow_rsqrt_2", "Torch-Compiled Region: 0/0",
	"Torch-Compiled Region: 1/0", "MODULE_a.neff", "MODULE_b.neff", "aten::sort@cpu", "ProfilerStep*",
};

static void add_random(struct side *side, uint64_t seed, size_t size, uint64_t steps)
{
	struct op_summary ops[COUNT(names) + 1] = { 0 };
	struct window w = { .steps = steps, .has_device = true, .ops = ops };
	struct rand_gen g;

	rand_seed(&g, seed);
	for (size_t i = 0; i < size && i < COUNT(names); i++) {
		struct op_summary *op = &ops[w.n_ops++];
		int64_t ns = (int64_t)(rand_below(&g, 1000000) * steps);

		*op = (struct op_summary){ .kind = OP_CPU_OP, .name = str_of(names[rand_below(&g, COUNT(names))]) };
		op->calls = rand_below(&g, 40) * steps;
		op->cpu_self_ns = op->cpu_total_ns = ns;
		if (!str_has_suffix(op->name, STR("@cpu")))
			op->device_self_ns = op->device_total_ns = ns;
	}
	ck_assert(side_add(side, &w, NULL) == OK);
}

static bool same_verdict_whatever_the_steps(struct rand_gen *g, size_t size, void *arg)
{
	uint64_t before = rand_u64(g), after = rand_u64(g);
	enum verdict_kind once, twice;

	(void)arg;
	again();
	add_random(s.before, before, size, 1);
	add_random(s.after, after, size, 1);
	once = sides_judge(&s, JUDGE_DIFF);
	again();
	add_random(s.before, before, size, 3);
	add_random(s.after, after, size, 7);
	twice = sides_judge(&s, JUDGE_DIFF);
	return once == twice;
}

static bool none_beside_itself(struct rand_gen *g, size_t size, void *arg)
{
	uint64_t seed = rand_u64(g);

	(void)arg;
	again();
	add_random(s.before, seed, size, 2);
	add_random(s.after, seed, size, 2);
	add_random(s.after, seed, size, 4);
	return sides_judge(&s, JUDGE_DIFF) == VERDICT_NONE;
}

static bool is_structural(enum verdict_kind k)
{
	return k == VERDICT_FUSION_LOST || k == VERDICT_FUSION_CHANGED || k == VERDICT_GRAPH_BREAKS;
}

/* Launches rise in one direction only. */
static bool structure_is_lost_one_way_only(struct rand_gen *g, size_t size, void *arg)
{
	struct side *swap;
	bool there, back;

	(void)arg;
	again();
	add_random(s.before, rand_u64(g), size, 1);
	add_random(s.after, rand_u64(g), size, 1);
	there = is_structural(sides_judge(&s, JUDGE_DIFF));
	if (s.verdict.launches_per_step.before == s.verdict.launches_per_step.after)
		return true;
	swap = s.before;
	s.before = s.after;
	s.after = swap;
	back = is_structural(sides_judge(&s, JUDGE_DIFF));
	return !(there && back);
}

START_TEST(random_tables_keep_the_promises)
{
	prop_check("the same verdict whatever the steps", 300, 24, same_verdict_whatever_the_steps, NULL);
	prop_check("none beside itself", 300, 24, none_beside_itself, NULL);
	prop_check("structure is lost one way only", 300, 24, structure_is_lost_one_way_only, NULL);
}
END_TEST

static void add_many(struct side *side, unsigned n_ops, int64_t ns, uint64_t calls)
{
	struct op_summary *ops = arena_get_array(&s.arena, n_ops, sizeof(*ops));
	struct window w = { .steps = 10, .ops = ops, .n_ops = n_ops };

	for (unsigned i = 0; i < n_ops; i++) {
		ops[i] = (struct op_summary){ .kind = OP_CPU_OP, .calls = calls, .basis = OP_BASIS_CPU };
		ops[i].name = arena_fmt(&s.arena, i % 3 == 0 ? "triton_poi_fused_add_mul_op%u_x_%u" : "aten::op%u", i, i);
		for (uint64_t k = 0; k < calls; k++)
			hist_add(&ops[i].hist, ns + (int64_t)k);
		ops[i].cpu_total_ns = ops[i].cpu_self_ns = ns * (int64_t)calls;
	}
	ck_assert(side_add(side, &w, NULL) == OK);
	for (unsigned i = 0; i < n_ops; i++)
		op_summary_fini(&ops[i]);
}

/* Ten milliseconds are wanted; the test allows for slow machines and sanitizers. */
START_TEST(a_thousand_ops_are_judged_at_once)
{
	int64_t start, took = INT64_MAX;

	add_many(s.before, 1000, 10000, 20);
	add_many(s.after, 1000, 14000, 20);
	for (int i = 0; i < 5; i++) {
		start = clock_mono_ns();
		sides_judge(&s, JUDGE_DIFF);
		if (clock_mono_ns() - start < took)
			took = clock_mono_ns() - start;
	}
	ck_assert_msg(took < 200 * NS_PER_MS, "%lld ns", (long long)took);
	printf("# judge of 1,000 ops a side: %lld us\n", (long long)(took / NS_PER_US));
}
END_TEST

Suite *suite_judge(void)
{
	Suite *suite = suite_create("judge");
	TCase *t = tcase_create("judge");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, the_same_is_none);
	tcase_add_test(t, variants_of_a_name_show_as_the_plainest_of_both_sides);
	tcase_add_test(t, twice_the_steps_is_the_same);
	tcase_add_test(t, one_region_that_became_three_is_graph_breaks);
	tcase_add_test(t, recompiles_of_one_frame_are_no_graph_breaks);
	tcase_add_test(t, graph_breaks_that_slow_nothing_fail_nothing);
	tcase_add_test(t, regions_with_much_new_work_are_no_graph_breaks);
	tcase_add_test(t, frames_come_from_the_gauge_where_names_are_normalised);
	tcase_add_test(t, a_longer_gap_is_host_gap);
	tcase_add_test(t, a_longer_gap_beside_longer_work_is_no_host_gap);
	tcase_add_test(t, ops_that_moved_to_the_host_are_cpu_fallback);
	tcase_add_test(t, slower_ops_wait_in_a_service_until_the_deploy_has_settled);
	tcase_add_test(t, kinds_fail_a_pipeline_or_not);
	tcase_add_test(t, the_same_numbers_give_the_same_verdict);
	tcase_add_test(t, nothing_on_a_side_is_none);
	tcase_add_test(t, a_full_arena_is_an_error);
	tcase_add_test(t, changes_are_listed_largest_first);
	tcase_add_test(t, random_tables_keep_the_promises);
	tcase_add_test(t, a_thousand_ops_are_judged_at_once);
	suite_add_tcase(suite, t);
	return suite;
}
