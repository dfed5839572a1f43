#include "trace/normalise.h"

#include <check.h>

#include "profile/window.h"

Suite *suite_normalise(void);

static const struct {
	const char *name, *series;
} names[] = {
	{ "aten::mul", "aten::mul" },
	{ "", "" },
	{ "ProfilerStep#12", "ProfilerStep*" },
	{ "Torch-Compiled Region", "Torch-Compiled Region" },
	{ "Torch-Compiled Region: 0/0", "Torch-Compiled Region: *" },
	{ "Torch-Compiled Region: 12/3", "Torch-Compiled Region: *" },
	{ "## Call CompiledFxGraph fal5xpiah2v7blbfmwwonu3dvevbsmlh3q2tkclrt4gcqpzea ##", "## Call CompiledFxGraph * ##" },
	{ "## Call CompiledFxGraph fsnllqymec4mpluvg6k3rpdtiair5yt2n7hkqacwmkdwoegqir ##", "## Call CompiledFxGraph * ##" },
	{ "triton_poi_fused_add_mul_12", "triton_poi_fused_add_mul_*" },
	{ "triton_poi_fused_add_mul_3", "triton_poi_fused_add_mul_*" },
	{ "triton_red_fused__to_copy_sum_4_0d1d2de3de", "triton_red_fused__to_copy_sum_*" },
	{ "triton_poi_fused_max_pool2d_with_indices_relu_7", "triton_poi_fused_max_pool2d_with_indices_relu_*" },
	{ "triton__0d1d2de", "triton__*" },
	{ "cpp_fused_add_rsqrt_0", "cpp_fused_add_rsqrt_*" },
	{ "graph_0_cpp_fused_add_3", "graph_*_cpp_fused_add_*" },
	{ "graph_17_triton_poi_fused_add_3", "graph_*_triton_poi_fused_add_*" },
	{ "MODULE_11037462517093210521+d41d8cd9", "MODULE_*" },
	{ "/cache/MODULE_11037462517093210521+d41d8cd9/model.neff", "/cache/MODULE_*/model.neff" },
	{ "neff_9f8a61c2b7_vnc_0.neff", "neff_*_vnc_0.neff" },
	{ "neff_linear", "neff_linear" },
	{ "neff_attention", "neff_attention" },
	{ "neuron_graph_42", "neuron_graph_*" },
	{ "neuron_graph", "neuron_graph" },
	{ "SyncTensorsGraph.127", "SyncTensorsGraph.*" },
	{ "<Function at 0x7f31a0b2c9d0>", "<Function at 0x*>" },
	{ "f(0x12)", "f(0x12)" },
	{ "model-9f86d081884c7d659a2feaa0c55ad015.so", "model-*.so" },
	{ "execute_context_4(17_4)_generation_1(1)", "execute_context_*_generation_*" },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)",
		"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)" },
	{ "ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn" },
	{ "Cijk_Ailk_Bjlk_SB_MT64x64x16_MI16x16x4x1_SN", "Cijk_Ailk_Bjlk_SB_MT64x64x16_MI16x16x4x1_SN" },
	{ "cudaLaunchKernel", "cudaLaunchKernel" },
	{ "Optimizer.step#SGD.step", "Optimizer.step#SGD.step" },
	{ "nrta_execute_schedule", "nrta_execute_schedule" },
};

START_TEST(a_nul_becomes_a_space)
{
	struct buf scratch;

	buf_init(&scratch, 1 << 20);
	ck_assert(str_eq(normalise_name(STR("a\0b"), WINDOW_NAME_MAX, &scratch), STR("a b")));
	buf_fini(&scratch);
}
END_TEST

START_TEST(what_changes_with_every_recompile_is_a_star)
{
	struct buf scratch;
	struct str series;

	buf_init(&scratch, 1 << 20);
	series = normalise_name(str_of(names[_i].name), WINDOW_NAME_MAX, &scratch);
	ck_assert_msg(str_eq(series, str_of(names[_i].series)), "%s: %.*s", names[_i].name, STR_ARG(series));
	buf_reset(&scratch);
	series = normalise_name(str_of(names[_i].series), WINDOW_NAME_MAX, &scratch);
	ck_assert_msg(str_eq(series, str_of(names[_i].series)), "twice: %s: %.*s", names[_i].series, STR_ARG(series));
	buf_fini(&scratch);
}
END_TEST

START_TEST(long_names_are_cut_and_stay_different)
{
	struct buf scratch, name;
	char first[128];
	struct str series;

	buf_init(&scratch, 1 << 20);
	buf_init(&name, 1 << 20);
	for (int i = 0; i < 100; i++)
		buf_text(&name, "\303\274");
	series = normalise_name(buf_view(&name), 64, &scratch);
	ck_assert_uint_le(series.n, 64);
	ck_assert_uint_eq((unsigned char)series.p[46], '~'); /* 23 whole characters, then the hash */
	ck_assert(str_copy_to(series, first, sizeof(first)));
	buf_text(&name, "x");
	series = normalise_name(buf_view(&name), 64, &scratch);
	ck_assert(!str_eq(series, str_of(first)));
	buf_fini(&scratch);
	buf_fini(&name);
}
END_TEST

START_TEST(regions_and_collectives_are_told_by_name)
{
	ck_assert(name_is_region(STR("Torch-Compiled Region: 0/1")));
	ck_assert(name_is_region(STR("CompiledFunctionBackward")));
	ck_assert(name_is_region(STR("## Call CompiledFxGraph fabc ##")));
	ck_assert(name_is_region(STR("/cache/a.neff")));
	ck_assert(!name_is_region(STR("autograd::engine::evaluate_function: CompiledFunctionBackward")));
	ck_assert(!name_is_region(STR("aten::mul")));
	ck_assert(name_is_collective(STR("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)")));
	ck_assert(name_is_collective(STR("all-reduce.12")));
	ck_assert(!name_is_collective(STR("aten::all")));
}
END_TEST

START_TEST(a_region_has_a_frame_and_a_compile_id)
{
	struct str frame, compile;

	ck_assert(name_region_ids(STR("Torch-Compiled Region: 3/12"), &frame, &compile));
	ck_assert(str_eq(frame, STR("3")) && str_eq(compile, STR("3/12")));
	ck_assert(!name_region_ids(STR("Torch-Compiled Region: 3"), &frame, &compile));
	ck_assert(!name_region_ids(STR("Torch-Compiled Region: x/1"), &frame, &compile));
	ck_assert(!name_region_ids(STR("aten::mul"), &frame, &compile));
}
END_TEST

Suite *suite_normalise(void)
{
	Suite *s = suite_create("trace/normalise");
	TCase *tc = tcase_create("normalise");

	tcase_add_test(tc, a_nul_becomes_a_space);
	tcase_add_loop_test(tc, what_changes_with_every_recompile_is_a_star, 0, (int)COUNT(names));
	tcase_add_test(tc, long_names_are_cut_and_stay_different);
	tcase_add_test(tc, regions_and_collectives_are_told_by_name);
	tcase_add_test(tc, a_region_has_a_frame_and_a_compile_id);
	suite_add_tcase(s, tc);
	return s;
}
