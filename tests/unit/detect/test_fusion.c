#include "detect/fusion.h"

#include <check.h>

#include "tests/unit/detect/sides.h"

Suite *suite_fusion(void);

static struct sides s;

static void up(void)
{
	sides_init(&s);
}

static void down(void)
{
	sides_fini(&s);
}

static const struct finding *first(void)
{
	ck_assert_uint_ge(s.verdict.n_findings, 1);
	return &s.verdict.findings[0];
}

static void expect_why(const char *why)
{
	ck_assert_msg(str_eq(first()->why, str_of(why)), "%.*s", STR_ARG(first()->why));
}

/* The published numbers: torch.rms_norm, and the same op by op. */
static const char fused_rms[] = "aten::_fused_rms_norm 1 403.3";
static const char eager_rms[] = "aten::mul 3 1164.5; aten::add 1 434.6; aten::rsqrt 1 415.0; aten::mean 1 340.8";

START_TEST(rms_norm_op_by_op_is_lost_fusion)
{
	const struct finding *f;

	ck_assert_int_eq(sides_of(&s, fused_rms, eager_rms), VERDICT_FUSION_LOST);
	f = first();
	ck_assert_uint_eq(s.verdict.n_findings, 1);
	ck_assert(str_eq(f->op.op, STR("aten::_fused_rms_norm")));
	ck_assert_double_eq(f->op.calls_per_step.before, 1);
	ck_assert_double_eq(f->op.calls_per_step.after, 0);
	ck_assert_double_eq_tol(f->net_ns_per_step, 1951600, 1);
	ck_assert_double_eq_tol(f->kappa, 1, 1e-9);
	ck_assert_double_eq_tol(f->pieces, 6, 1e-9);
	expect_why("table:rms_norm");
	ck_assert_uint_eq(f->n_replaced_by, 4);
	ck_assert(str_eq(f->replaced_by[0].op, STR("aten::mul")));
	ck_assert(str_eq(f->replaced_by[3].op, STR("aten::mean")));
	ck_assert_double_eq(f->replaced_by[0].calls_per_step.after, 3);
}
END_TEST

START_TEST(gaining_fusion_is_none)
{
	ck_assert_int_eq(sides_of(&s, eager_rms, fused_rms), VERDICT_NONE);
}
END_TEST

START_TEST(a_compiled_region_op_by_op_is_lost_fusion)
{
	ck_assert_int_eq(sides_of(&s, "Torch-Compiled Region: 0/0 1 375.5", eager_rms), VERDICT_FUSION_LOST);
	expect_why("region");
	ck_assert(str_eq(first()->op.op, STR("Torch-Compiled Region: 0/0")));
	ck_assert_double_eq_tol(first()->net_ns_per_step, 2354900 - 375500, 1);
}
END_TEST

START_TEST(a_region_that_takes_its_matrix_products_along_counts_them)
{
	ck_assert_int_eq(sides_of(&s, "Torch-Compiled Region: 0/0 1 1000",
				 "aten::mm 4 1500; aten::add 2 100; aten::mul 2 100"),
		VERDICT_FUSION_LOST);
	ck_assert_uint_eq(first()->n_replaced_by, 3);
	ck_assert_double_eq_tol(first()->net_ns_per_step, 700000, 1);
}
END_TEST

START_TEST(fewer_than_two_fusible_launches_for_a_region_are_no_loss)
{
	ck_assert_int_eq(sides_of(&s, "Torch-Compiled Region: 0/0 2 1000; aten::bmm 1 10",
				 "Torch-Compiled Region: 0/0 1 500; aten::bmm 9 900; aten::mul 1 100"),
		VERDICT_NONE);
}
END_TEST

/* Levels nest: one region, one graph in it. */
START_TEST(region_levels_are_one_thing)
{
	ck_assert_int_eq(sides_of(&s,
				 "Torch-Compiled Region: 0/0 1 10; CompiledFunction 1 5; ## Call CompiledFxGraph fa ## 1 400",
				 "Torch-Compiled Region: 0/0 1 10; ## Call CompiledFxGraph fb ## 1 400"),
		VERDICT_NONE);
	ck_assert_double_eq(s.verdict.launches_per_step.before, 1);
}
END_TEST

START_TEST(a_recompiled_graph_is_the_same_region)
{
	ck_assert_int_eq(sides_of(&s, "## Call CompiledFxGraph faaaaaaaaaaaaaaa ## 1 400; aten::mm 4 100",
				 "## Call CompiledFxGraph fbbbbbbbbbbbbbbb ## 1 400; aten::mm 5 125; aten::add 3 10"),
		VERDICT_NONE);
}
END_TEST

START_TEST(a_module_that_gives_way_to_many_is_lost_fusion)
{
	ck_assert_int_eq(sides_of(&s, "MODULE_step.neff 1 1000",
				 "MODULE_a.neff 1 500; MODULE_b.neff 1 500; MODULE_c.neff 2 900"),
		VERDICT_FUSION_LOST);
	expect_why("module");
	ck_assert(str_eq(first()->op.op, STR("MODULE_step.neff")));
	ck_assert_uint_eq(first()->n_replaced_by, 3);
	ck_assert_double_eq_tol(first()->net_ns_per_step, 900000, 1);
}
END_TEST

START_TEST(a_module_that_becomes_another_is_a_new_name)
{
	ck_assert_int_eq(sides_of(&s, "MODULE_a.neff 1 1000", "MODULE_b.neff 1 1000"), VERDICT_NONE);
	sides_again(&s);
	ck_assert_int_eq(sides_of(&s, "MODULE_a.neff 1 1000", "MODULE_b.neff 1 500; MODULE_c.neff 1 450"), VERDICT_NONE);
}
END_TEST

static const char jitted[] = "hlo_module jit_step {aa} 1 1000; dot 2 700; add_fusion 3 300; step 1 1100";
static const char op_by_op[] = "hlo_module jit_multiply {b1} 3 400; hlo_module jit_add {b2} 2 300; hlo_module jit_dot {b3} 2 "
			       "900; dot 2 900; multiply 3 400; add 4 300; step 1 2000";

START_TEST(a_module_of_xla_that_gives_way_to_many_is_lost_fusion)
{
	ck_assert_int_eq(sides_of(&s, jitted, op_by_op), VERDICT_FUSION_LOST);
	expect_why("module");
	ck_assert(str_eq(first()->op.op, STR("hlo_module jit_step {aa}")));
	ck_assert_uint_eq(first()->n_replaced_by, 3); /* modules, and not their ops as well */
	ck_assert_double_eq_tol(first()->net_ns_per_step, 600000, 1);
	ck_assert_double_eq(s.verdict.launches_per_step.before, 5); /* ops launch, modules do not */
	ck_assert_double_eq(s.verdict.launches_per_step.after, 9);
}
END_TEST

START_TEST(modules_of_xla_that_become_one_are_none)
{
	ck_assert_int_eq(sides_of(&s, op_by_op, jitted), VERDICT_NONE);
	sides_again(&s);
	/* even where that one launches more */
	ck_assert_int_eq(sides_of(&s, "hlo_module jit_a {a1} 4 400; hlo_module jit_b {a2} 4 400; a_fusion 4 400; b_fusion 4 400",
				 "hlo_module jit_c {a3} 1 800; add 16 700; c_fusion 1 100"),
		VERDICT_NONE);
}
END_TEST

START_TEST(a_module_of_xla_is_known_by_its_ops_and_not_by_its_name)
{
	sides_add(&s, s.before, 1, "hlo_module SyncTensorsGraph.* {aa} 1 1000; dot 3 1000; step 1 1100");
	sides_add(&s, s.after, 1, "hlo_module other {aa} 1 1000; dot 3 1000; hlo_module n {b} 3 100; add 3 100; step 1 1200");
	ck_assert_int_eq(sides_judge(&s, JUDGE_DIFF), VERDICT_NONE);
}
END_TEST

START_TEST(few_new_modules_of_xla_are_no_lost_fusion)
{
	ck_assert_int_eq(sides_of(&s, jitted, "hlo_module jit_step {ab} 1 1100; hlo_module jit_b {ac} 1 100; dot 2 700; add 4 500"),
		VERDICT_NONE);
}
END_TEST

START_TEST(a_kernel_split_in_two_is_lost_fusion)
{
	ck_assert_int_eq(sides_of(&s, "triton_per_fused__softmax_add_mul_1 24 960; aten::mm 9 100",
				 "triton_red_fused__softmax_add_2 24 700; triton_poi_fused__softmax_mul_add_3 24 600; "
				 "aten::mm 9 100"),
		VERDICT_FUSION_LOST);
	expect_why("kernel split");
	ck_assert_double_eq_tol(first()->pieces, 2, 1e-9);
}
END_TEST

START_TEST(a_kernel_replaced_by_its_ops_is_lost_fusion)
{
	ck_assert_int_eq(sides_of(&s, "triton_poi_fused_add_mul_relu_1 8 100",
				 "aten::add 8 60; aten::mul 8 60; aten::relu_ 8 60"),
		VERDICT_FUSION_LOST);
	ck_assert_double_eq_tol(first()->kappa, 1, 1e-9);
}
END_TEST

START_TEST(a_kernel_under_a_new_name_is_none)
{
	ck_assert_int_eq(sides_of(&s, "triton_poi_fused_add_mul_silu_12 32 640", "triton_poi_fused_add_mul_silu_14 32 645"),
		VERDICT_NONE);
	sides_again(&s);
	ck_assert_int_eq(sides_of(&s, "triton_poi_fused_add_mul_silu_12 32 640", "triton_poi_fused_add_mul_sub_3 32 900"),
		VERDICT_NONE);
}
END_TEST

START_TEST(a_fused_op_one_for_one_is_none)
{
	ck_assert_int_eq(sides_of(&s, "vllm::rms_norm 65 910", "triton_red_fused_add_mean_mul_pow_rsqrt_0 65 905"),
		VERDICT_NONE);
	sides_again(&s);
	ck_assert_int_eq(sides_of(&s, "aten::gelu 32 640", "aten::relu 32 300"), VERDICT_NONE);
}
END_TEST

START_TEST(an_unknown_kernel_that_came_along_is_a_piece)
{
	ck_assert_int_eq(sides_of(&s, "my_add_rms_norm_fp4 47 423",
				 "triton_red_fused_add_mul_pow_mean_rsqrt_2 47 329; cvt_fp16_to_fp4 47 235"),
		VERDICT_FUSION_LOST);
	ck_assert_uint_eq(first()->n_replaced_by, 2);
	sides_again(&s); /* not as often: by chance */
	ck_assert_int_eq(sides_of(&s, "my_add_rms_norm_fp4 47 423",
				 "triton_red_fused_add_mul_pow_mean_rsqrt_2 47 329; some_kernel 20 235"),
		VERDICT_NONE);
}
END_TEST

START_TEST(an_opaque_kernel_that_became_fusible_ops_is_lost_fusion)
{
	ck_assert_int_eq(sides_of(&s, "my_block 10 500", "aten::mul 20 300; aten::add 10 200; aten::exp 10 200"),
		VERDICT_FUSION_LOST);
	expect_why("opaque kernel");
	sides_again(&s); /* no whole multiples */
	ck_assert_int_eq(sides_of(&s, "my_block 10 500", "aten::mul 14 300; aten::add 13 200; aten::exp 17 200"),
		VERDICT_NONE);
}
END_TEST

START_TEST(wrappers_views_and_bookkeeping_are_no_pieces)
{
	ck_assert_int_eq(sides_of(&s, "aten::mm 10 500; my_block 4 100",
				 "aten::mm 10 500; aten::softmax 8 10; aten::view 40 10; aten::clone 8 10; "
				 "TorchDynamo Cache Lookup 16 100; MulBackward0 16 100"),
		VERDICT_NONE);
}
END_TEST

/* Without a step time, more launches cost 5 µs each, or the gap that was measured. */
START_TEST(fusion_that_changed_at_no_cost_is_said_to_have_changed)
{
	const char before[] = "aten::mm 10 100000; aten::gelu 1 640; step 1 200000";

	ck_assert_int_eq(sides_of(&s, before, "aten::mm 10 100000; aten::mul 2 200; aten::erf 1 200; aten::add 1 240; "
					      "step 1 200000"),
		VERDICT_FUSION_CHANGED);
	sides_again(&s); /* the step tells */
	ck_assert_int_eq(sides_of(&s, before, "aten::mm 10 100000; aten::mul 2 200; aten::erf 1 200; aten::add 1 240; "
					      "step 1 207000"),
		VERDICT_FUSION_LOST);
	sides_again(&s); /* a faster step, and a little more device time */
	ck_assert_int_eq(sides_of(&s, before, "aten::mm 10 100000; aten::mul 2 900; aten::erf 1 900; aten::add 1 900; "
					      "step 1 199000"),
		VERDICT_FUSION_CHANGED);
}
END_TEST

START_TEST(launches_have_a_price_where_no_step_time_is_known)
{
	ck_assert_int_eq(sides_of(&s, "aten::mm 10 1000; aten::gelu 4 640",
				 "aten::mm 10 1000; aten::mul 8 240; aten::erf 4 200; aten::add 4 200"),
		VERDICT_FUSION_LOST);
}
END_TEST

START_TEST(fewer_launches_are_never_a_loss)
{
	ck_assert_int_eq(sides_of(&s, "aten::gelu 4 640; aten::mm 100 1000",
				 "aten::mul 8 640; aten::erf 4 400; aten::add 4 400; aten::mm 80 800"),
		VERDICT_NONE);
}
END_TEST

START_TEST(a_fall_of_less_than_a_fifth_is_none)
{
	ck_assert_int_eq(sides_of(&s, "aten::gelu 100 640", "aten::gelu 81 500; aten::mul 38 400; aten::erf 19 400; "
							    "aten::add 19 400"),
		VERDICT_NONE);
	sides_again(&s);
	ck_assert_int_eq(sides_of(&s, "aten::gelu 100 640", "aten::gelu 80 500; aten::mul 40 400; aten::erf 20 400; "
							    "aten::add 20 400"),
		VERDICT_FUSION_LOST);
}
END_TEST

START_TEST(several_losses_are_several_findings_largest_first)
{
	ck_assert_int_eq(sides_of(&s, "aten::gelu 4 40; aten::native_layer_norm 8 80",
				 "aten::erf 4 50; aten::mul 24 300; aten::add 20 300; aten::mean 16 300; aten::sub 8 90; "
				 "aten::pow 8 90; aten::rsqrt 8 90"),
		VERDICT_FUSION_LOST);
	ck_assert_uint_eq(s.verdict.n_findings, 2);
	ck_assert(str_eq(first()->op.op, STR("aten::native_layer_norm")));
	ck_assert_double_ge(first()->net_ns_per_step, s.verdict.findings[1].net_ns_per_step);
}
END_TEST

/* Each entry of the table, as its own line of parts says. */
START_TEST(every_entry_of_the_table_is_found_by_its_parts)
{
	static const char *const cases[][3] = {
		{ "rmsnorm 1 13", "table:rms_norm", "multiply 1 27; reduce 1 9; rsqrt 1 6" }, /* a device profile's XLA ops */
		{ "aten::native_layer_norm 4 40", "table:layer_norm",
			"aten::var_mean 4 30; aten::sub 4 20; aten::add 8 20; aten::rsqrt 4 20; aten::mul 8 40" },
		{ "aten::native_group_norm 4 40", "table:group_norm",
			"aten::var_mean 4 30; aten::sub 4 20; aten::add 8 20; aten::rsqrt 4 20; aten::mul 8 40" },
		{ "aten::native_batch_norm 4 40", "table:batch_norm",
			"aten::sub 4 20; aten::add 8 20; aten::rsqrt 4 20; aten::mul 8 40" },
		{ "aten::_scaled_dot_product_flash_attention 4 40", "table:attention",
			"aten::bmm 8 80; aten::mul 8 20; aten::_softmax 4 20" },
		{ "flash_fwd_kernel 4 40", "table:attention", "aten::bmm 8 80; aten::mul 4 20; aten::_softmax 4 20" },
		{ "nki_flash_attention 4 40", "table:attention",
			"aten::bmm 8 80; aten::mul 8 20; aten::add 4 20; aten::_softmax 4 20" },
		{ "aten::gelu 4 40", "table:gelu", "aten::pow 4 9; aten::mul 16 60; aten::add 8 20; aten::tanh 4 20" },
		{ "aten::silu_ 4 40", "table:silu", "aten::sigmoid 4 30; aten::mul 4 30" },
		{ "vllm::silu_and_mul 4 40", "table:silu_and_mul", "aten::silu 4 30; aten::mul 4 30" },
		{ "swiglu_fwd 4 40", "table:silu_and_mul", "aten::sigmoid 4 30; aten::mul 8 30" },
		{ "aten::addmm 4 40", "table:matmul_bias", "aten::mm 4 30; aten::add_ 4 30" },
		{ "aten::baddbmm 4 40", "table:matmul_bias", "aten::bmm 4 30; aten::add 4 30" },
		{ "aten::_addmm_activation 4 40", "table:matmul_bias_activation", "aten::mm 4 30; aten::add 4 30; aten::gelu 4 9" },
		{ "aten::_softmax 4 40", "table:softmax",
			"aten::amax 4 9; aten::sub 4 9; aten::exp 4 9; aten::sum 4 9; aten::div 4 9" },
		{ "aten::_log_softmax 4 40", "table:log_softmax",
			"aten::amax 4 9; aten::sub 8 9; aten::exp 4 9; aten::sum 4 9; aten::log 4 9" },
		{ "aten::_fused_adamw_ 1 40", "table:adam",
			"aten::lerp_ 9 9; aten::mul_ 9 9; aten::addcmul_ 9 9; aten::sqrt 9 9; aten::div_ 9 9; aten::add_ 9 9; "
			"aten::addcdiv_ 9 9" },
		{ "aten::_fused_adam_ 1 40", "table:adam", "aten::_foreach_mul_ 2 30; aten::_foreach_add_ 2 30" },
		{ "rotary_embedding_kernel 4 40", "table:rotary_embedding",
			"aten::mul 16 40; aten::neg 8 20; aten::cat 8 20; aten::add 8 20" },
		{ "aten::mkldnn_rnn_layer 2 40", "table:lstm_gru",
			"aten::addmm 64 90; aten::sigmoid 96 90; aten::tanh 64 90; aten::mul 96 90; aten::add 32 90" },
		{ "aten::_cudnn_rnn 2 40", "table:lstm_gru", "aten::addmm 64 90; aten::_thnn_fused_gru_cell 32 90" },
		{ "aten::_transformer_encoder_layer_fwd 2 40", "table:encoder_layer",
			"aten::addmm 8 90; aten::native_layer_norm 4 9" },
		{ "aten::_native_multi_head_attention 2 40", "table:encoder_layer",
			"aten::addmm 4 90; aten::_scaled_dot_product_flash_attention 2 9" },
		{ "fused_add_rms_norm 4 40", "table:add_rms_norm", "aten::add 4 30; aten::_fused_rms_norm 4 30" },
		{ "rms_norm_dynamic_quant 4 40", "table:rms_norm_quant", "vllm::rms_norm 4 30; quantize_fp8 4 30" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		enum verdict_kind kind = sides_of(&s, cases[i][0], cases[i][2]);

		ck_assert_msg(kind == VERDICT_FUSION_LOST, "%s: %s", cases[i][0], verdict_name(kind));
		expect_why(cases[i][1]);
		sides_again(&s);
		kind = sides_of(&s, cases[i][2], cases[i][0]);
		ck_assert_msg(kind == VERDICT_NONE, "%s backwards: %s", cases[i][0], verdict_name(kind));
		sides_again(&s);
	}
}
END_TEST

Suite *suite_fusion(void)
{
	Suite *suite = suite_create("fusion");
	TCase *t = tcase_create("fusion");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, rms_norm_op_by_op_is_lost_fusion);
	tcase_add_test(t, gaining_fusion_is_none);
	tcase_add_test(t, a_compiled_region_op_by_op_is_lost_fusion);
	tcase_add_test(t, a_region_that_takes_its_matrix_products_along_counts_them);
	tcase_add_test(t, fewer_than_two_fusible_launches_for_a_region_are_no_loss);
	tcase_add_test(t, region_levels_are_one_thing);
	tcase_add_test(t, a_recompiled_graph_is_the_same_region);
	tcase_add_test(t, a_module_that_gives_way_to_many_is_lost_fusion);
	tcase_add_test(t, a_module_that_becomes_another_is_a_new_name);
	tcase_add_test(t, a_module_of_xla_that_gives_way_to_many_is_lost_fusion);
	tcase_add_test(t, modules_of_xla_that_become_one_are_none);
	tcase_add_test(t, a_module_of_xla_is_known_by_its_ops_and_not_by_its_name);
	tcase_add_test(t, few_new_modules_of_xla_are_no_lost_fusion);
	tcase_add_test(t, a_kernel_split_in_two_is_lost_fusion);
	tcase_add_test(t, a_kernel_replaced_by_its_ops_is_lost_fusion);
	tcase_add_test(t, a_kernel_under_a_new_name_is_none);
	tcase_add_test(t, a_fused_op_one_for_one_is_none);
	tcase_add_test(t, an_unknown_kernel_that_came_along_is_a_piece);
	tcase_add_test(t, an_opaque_kernel_that_became_fusible_ops_is_lost_fusion);
	tcase_add_test(t, wrappers_views_and_bookkeeping_are_no_pieces);
	tcase_add_test(t, fusion_that_changed_at_no_cost_is_said_to_have_changed);
	tcase_add_test(t, launches_have_a_price_where_no_step_time_is_known);
	tcase_add_test(t, fewer_launches_are_never_a_loss);
	tcase_add_test(t, a_fall_of_less_than_a_fifth_is_none);
	tcase_add_test(t, several_losses_are_several_findings_largest_first);
	tcase_add_test(t, every_entry_of_the_table_is_found_by_its_parts);
	suite_add_tcase(suite, t);
	return suite;
}
