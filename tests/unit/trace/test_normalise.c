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
	{ "graph_12_3", "graph_*" },
	{ "graph_7_1", "graph_*" },
	{ "graph_12", "graph_*" },
	{ "graph_break_3", "graph_break_3" },
	{ "graph_12_encoder_3", "graph_*_encoder_3" },
	{ "subgraph_12", "subgraph_12" },
	{ "graph_2120860766.neff", "graph_*.neff" },
	{ "graph_9f8a61c2b7.neff", "graph_*.neff" },
	{ "graph_attention.neff", "graph_attention.neff" },
	{ "graph_decade.neff", "graph_decade.neff" },
	{ "MODULE_SyncTensorsGraph.12_10000000000_ip-10-0-0-1-abc-123", "MODULE_*" },
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
	/* steps by the words of those who mark them */
	{ "train iteration 12", "train iteration *" },
	{ "Step #3", "Step #*" },
	{ "Iteration 7: forward", "Iteration *: forward" },
	{ "epoch=4 iter=19", "epoch=* iter=*" },
	{ "step_2", "step_2" },
	{ "step 2b", "step 2b" },
	{ "stepper 2", "stepper 2" },
	{ "step", "step" },
	{ "layer 12", "layer 12" },
	/* what PyTorch tells apart */
	{ "AddBackward0", "AddBackward0" },
	{ "AddBackward1", "AddBackward1" },
	{ "autograd::engine::evaluate_function: MeanBackward1", "autograd::engine::evaluate_function: MeanBackward1" },
	{ "aten::add.Tensor", "aten::add.Tensor" },
	{ "aten::upsample_nearest2d", "aten::upsample_nearest2d" },
	{ "c10d::allreduce_", "c10d::allreduce_" },
	{ "dhen_layer_0", "dhen_layer_0" },
	{ "FSDP::all_gather (layers.12)", "FSDP::all_gather (layers.12)" },
	{ "nccl:send 0->1", "nccl:send 0->1" },
	{ "volta_sgemm_128x32_nt", "volta_sgemm_128x32_nt" },
	{ "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu" },
	{ "nvjet_tst_192x8_64x8_4x1_v_bz_TNT", "nvjet_tst_192x8_64x8_4x1_v_bz_TNT" },
	{ "_ZN2ck16tensor_operation6device12_GLOBAL__N_149kernel_grouped_conv_fwd",
		"_ZN2ck16tensor_operation6device12_GLOBAL__N_149kernel_grouped_conv_fwd" },
	{ "capture_8192_PIECEWISE", "capture_8192_PIECEWISE" },
	{ "SUBMODULE_12", "SUBMODULE_12" },
	{ "MODULE_norm", "MODULE_norm" },
	{ "neuron_graph_encoder", "neuron_graph_encoder" },
	{ "generation_loop", "generation_loop" },
	{ "PjitFunction(<lambda>)", "PjitFunction(<lambda>)" },
	{ "f(2147483647)", "f(2147483647)" },
	/* compilers */
	{ "Torch-Compiled Region: !0/3/1", "Torch-Compiled Region: *" },
	{ "<eval_with_key>.10(4): forward", "<eval_with_key>.*(4): forward" },
	{ "__torch__.___torch_mangle_12.Net", "__torch__.___torch_mangle_*.Net" },
	{ "/tmp/torchinductor_root/2c/c2c4u5vq2yo2hkp3sm6b2q7hqtrnxknpjlgyf4vqjz2k5sbfhq2d.py(44): call",
		"/tmp/torchinductor_*(44): call" },
	{ "cfal5xpiah2v7blbfmwwonu3dvevbsmlh3q2tkclrt4gcqpzea.so", "*.so" },
	{ "anticonstitutionnellementincomprehensiblenesses", "anticonstitutionnellementincomprehensiblenesses" },
	{ "nvfuser_pointwise_f0_c1_r0_g12", "nvfuser_pointwise_*" },
	{ "nvfuser_12", "nvfuser_*" },
	{ "triton_tem_fused_addmm_7", "triton_tem_fused_addmm_*" },
	{ "jit_train_step(5863523461234097711)", "jit_train_step(*)" },
	{ "jit_train_step.3", "jit_train_step.*" },
	{ "jit__lambda_", "jit__lambda_" },
	{ "IrToHlo.44", "IrToHlo.*" },
	{ "/var/tmp/neuron-compile-cache/neuronxcc-2.21.18209.0+043b1bf7/MODULE_0_SyncTensorsGraph.5+d41d8/model.neff",
		"/var/tmp/neuron-compile-cache/neuronxcc-*/MODULE_*/model.neff" },
	{ "/tmp/tmpx8d2_k1q/graph.neff", "/tmp/tmp*/graph.neff" },
	{ "/tmp/tmp/graph.neff", "/tmp/tmp/graph.neff" },
	{ "ncc/1b4e28ba-2fa1-11d2-883f-0016d3cca427/model", "ncc/*/model" },
	{ "_GLOBAL__N__5f0b4b85_12_Foo_cu_1a2b3c4d::k", "_GLOBAL__N__*_12_Foo_cu_*::k" },
	{ "__nv_static_51__38_x_cpp1_ii_04dd3ad5_1234::k", "__nv_static_51__38_x_cpp1_ii_*_1234::k" },
	{ "<built-in method mul of Tensor object at 0x7CBD84149FE0>", "<built-in method mul of Tensor object at 0x*>" },
	/* steps of inference servers */
	{ "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)",
		"execute_*_context_*_generation_*" },
	{ "step[DECODE bs=32]", "step[DECODE bs=*]" },
	{ "step[OTHER bs=32]", "step[OTHER bs=32]" },
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

/* The name of a kernel of PyTorch, of which many only differ in their types. */
#define KERNEL(type) \
	"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<" type \
	", " type ", " type ", at::native::binary_internal::MulFunctor<" type "> > >(at::TensorIteratorBase&, " \
	"at::native::BinaryFunctor<" type ", " type ", " type ", at::native::binary_internal::MulFunctor<" type \
	"> > const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<" type "> >)"

START_TEST(templates_too_long_to_read_lose_their_inside_and_stay_different)
{
	struct str head = STR("void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"), floats, halves;
	struct buf one, two;

	buf_init(&one, 1 << 20);
	buf_init(&two, 1 << 20);
	floats = normalise_name(STR(KERNEL("float")), WINDOW_NAME_MAX, &one);
	ck_assert_uint_le(floats.n, 256);
	ck_assert_msg(str_has_prefix(floats, head), "%.*s", STR_ARG(floats));
	ck_assert(str_contains(floats, STR("\xe2\x80\xa6>")));
	ck_assert(str_contains(floats, STR("(\xe2\x80\xa6)")));
	halves = normalise_name(STR(KERNEL("c10::Half")), WINDOW_NAME_MAX, &two);
	ck_assert(!str_eq(floats, halves));
	ck_assert(str_eq(normalise_name(STR(KERNEL("float")), WINDOW_NAME_MAX, &two), floats));
	ck_assert(str_eq(normalise_name(floats, WINDOW_NAME_MAX, &two), floats));
	buf_fini(&one);
	buf_fini(&two);
}
END_TEST

START_TEST(brackets_that_do_not_close_one_another_are_left_alone)
{
	static const char *const tails[] = { "bool operator<(", "f>", "f<(>)", "" };
	struct buf scratch, name;

	buf_init(&scratch, 1 << 20);
	buf_init(&name, 1 << 20);
	buf_text(&name, "a<b>");
	buf_fill(&name, 'x', 300);
	buf_text(&name, tails[_i]);
	ck_assert(str_eq(normalise_name(buf_view(&name), WINDOW_NAME_MAX, &scratch), buf_view(&name)));
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
	ck_assert(name_is_collective(STR("psum.7")));
	ck_assert(name_is_collective(STR("all_gather")));
	ck_assert(!name_is_collective(STR("psum_invariant_add_fusion")));
	ck_assert(!name_is_collective(STR("all_gather_matmul_kernel")));
	ck_assert(!name_is_collective(STR("aten::all")));
}
END_TEST

START_TEST(a_region_has_a_frame_and_a_compile_id)
{
	struct str frame, compile;

	ck_assert(name_region_ids(STR("Torch-Compiled Region: 3/12"), &frame, &compile));
	ck_assert(str_eq(frame, STR("3")) && str_eq(compile, STR("3/12")));
	ck_assert(name_region_ids(STR("Torch-Compiled Region: !0/3/12"), &frame, &compile));
	ck_assert(str_eq(frame, STR("!0/3")) && str_eq(compile, STR("!0/3/12")));
	ck_assert(!name_region_ids(STR("Torch-Compiled Region: !0/12"), &frame, &compile));
	ck_assert(!name_region_ids(STR("Torch-Compiled Region: 3"), &frame, &compile));
	ck_assert(!name_region_ids(STR("Torch-Compiled Region: 3/"), &frame, &compile));
	ck_assert(!name_region_ids(STR("Torch-Compiled Region: "), &frame, &compile));
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
	tcase_add_test(tc, templates_too_long_to_read_lose_their_inside_and_stay_different);
	tcase_add_loop_test(tc, brackets_that_do_not_close_one_another_are_left_alone, 0, 4);
	tcase_add_test(tc, regions_and_collectives_are_told_by_name);
	tcase_add_test(tc, a_region_has_a_frame_and_a_compile_id);
	suite_add_tcase(s, tc);
	return s;
}
