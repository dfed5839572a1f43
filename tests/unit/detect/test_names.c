#include "detect/names.h"

#include <check.h>

#include "base/buf.h"

Suite *suite_names(void);

static struct fusion_table *fusion;
static struct arena arena;

static void up(void)
{
	arena_init(&arena, 64 << 20);
	ck_assert(fusion_table_new(&fusion, NULL) == OK);
}

static void down(void)
{
	fusion_table_free(fusion);
	arena_fini(&arena);
}

static struct name named(const char *raw)
{
	struct name n;

	name_read(fusion, str_of(raw), &arena, &n);
	return n;
}

static void expect_key(const char *raw, const char *key)
{
	struct name n = named(raw);

	ck_assert_msg(str_eq(n.key, str_of(key)), "%s is \"%.*s\", not \"%s\"", raw, STR_ARG(n.key), key);
}

START_TEST(overload_in_place_numbers_and_hashes_fall_away)
{
	static const char *const cases[][2] = {
		{ "aten::mul", "mul" },
		{ "aten::mul_.Tensor", "mul" },
		{ "aten::add.Scalar", "add" },
		{ "aten::__and__", "__and__" },
		{ "aten::_softmax", "_softmax" },
		{ "aten::native_layer_norm", "native_layer_norm" },
		{ "RmsNorm", "rms_norm" },
		{ "Mul", "mul" },
		{ "Softmax", "_softmax" },
		{ "multiply", "mul" },
		{ "add.12", "add" },
		{ "fusion.3.clone", "fusion" },
		{ "triton_poi_fused_add_mul_12", "triton_poi_fused_add_mul" },
		{ "triton_poi_fused_add_mul_*", "triton_poi_fused_add_mul" },
		{ "triton_red_fused_sum_4_0d1d2de", "triton_red_fused_sum" },
		{ "my_kernel_0123456789abcdef", "my_kernel" },
		{ "avg_pool_2d", "avg_pool_2d" },
		{ "cvt_fp16_to_fp4", "cvt_fp16_to_fp4" },
		{ "flash_fwd_kernel", "flash_fwd_kernel" },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		expect_key(cases[i][0], cases[i][1]);
}
END_TEST

START_TEST(every_row_has_a_class)
{
	static const struct {
		const char *raw;
		enum name_class class;
	} cases[] = {
		{ "Torch-Compiled Region: 0/0", NAME_REGION_OUTER },
		{ "Torch-Compiled Region: *", NAME_REGION_OUTER },
		{ "CompiledFunction", NAME_REGION_FUNCTION },
		{ "CompiledFunctionBackward", NAME_REGION_FUNCTION },
		{ "## Call CompiledFxGraph fabc ##", NAME_REGION_INNER },
		{ "neuron_graph_7", NAME_MODULE },
		{ "MODULE_layer.neff", NAME_MODULE },
		{ "model.neff", NAME_MODULE },
		{ "hlo_module jit_step {0123456789abcdef}", NAME_MODULE },
		{ "ProfilerStep*", NAME_BOOKKEEPING },
		{ "ProfilerStep#7", NAME_BOOKKEEPING },
		{ "TorchDynamo Cache Lookup", NAME_BOOKKEEPING },
		{ "AOTDispatcher Runtime Wrapper Prologue", NAME_BOOKKEEPING },
		{ "Pregraph bytecode", NAME_BOOKKEEPING },
		{ "Optimizer.step#AdamW.step", NAME_BOOKKEEPING },
		{ "autograd::engine::evaluate_function: MulBackward0", NAME_BOOKKEEPING },
		{ "MulBackward0", NAME_BOOKKEEPING },
		{ "cudaLaunchKernel", NAME_BOOKKEEPING },
		{ "cuLaunchKernel", NAME_BOOKKEEPING },
		{ "nrta_execute_schedule", NAME_BOOKKEEPING },
		{ "nrt_execute", NAME_BOOKKEEPING },
		{ "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", NAME_BOOKKEEPING },
		{ "nccl:all_reduce", NAME_BOOKKEEPING },
		{ "[pad]", NAME_BOOKKEEPING },
		{ "## forward ##", NAME_BOOKKEEPING },
		{ "aten::item", NAME_BOOKKEEPING },
		{ "aten::_local_scalar_dense", NAME_BOOKKEEPING },
		{ "aten::view", NAME_QUIET },
		{ "aten::t", NAME_QUIET },
		{ "aten::empty_strided", NAME_QUIET },
		{ "aten::resize_", NAME_QUIET },
		{ "aten::linear", NAME_QUIET },
		{ "aten::softmax", NAME_QUIET },
		{ "aten::_to_copy", NAME_QUIET },
		{ "aten::_softmax", NAME_WORK },
		{ "aten::copy_", NAME_WORK },
		{ "aten::mm", NAME_WORK },
		{ "linear", NAME_WORK }, /* the lists are of aten:: rows only */
		{ "custom", NAME_WORK }, /* "cu" and a small letter: no runtime call */
		{ "triton_poi_fused_view_0", NAME_WORK },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct name n = named(cases[i].raw);

		ck_assert_msg(n.class == cases[i].class, "%s has class %d, not %d", cases[i].raw, (int)n.class,
			(int)cases[i].class);
	}
}
END_TEST

/* "add mul …", as they are sorted */
static struct str members_of(const char *raw)
{
	struct name n = named(raw);
	struct buf b;
	struct str s;

	buf_init(&b, 100000);
	ck_assert_msg(n.kernel, "%s is no kernel", raw);
	for (size_t i = 0; i < n.n_members; i++)
		buf_fmt(&b, "%s%.*s", i > 0 ? " " : "", STR_ARG(n.members[i]));
	s = arena_str(&arena, buf_view(&b));
	buf_fini(&b);
	return s;
}

START_TEST(a_kernel_name_is_taken_apart_longest_first)
{
	static const char *const cases[][2] = {
		{ "triton_poi_fused_add_mul_12", "add mul" },
		{ "triton_poi_fused_add_mul_*", "add mul" },
		{ "cpp_fused_add_0", "add" },
		{ "cpp_fused__softmax__to_copy_add_3", "_softmax add" },
		{ "triton_per_fused__unsafe_view_add_native_layer_norm_view_0", "add native_layer_norm" },
		{ "triton_poi_fused__native_batch_norm_legit_no_training_cat_convolution_relu_3",
			"cat convolution native_batch_norm relu" },
		{ "triton_tem_fused_flex_attention_0", "flex_attention" },
		{ "triton_per_fused_prepare_softmax_online_2", "prepare_softmax_online" },
		{ "triton_split_scan_fused_cumsum_1", "cumsum" },
		{ "triton_poi_fused_nobody_knows_0", "knows nobody" },
		{ "triton_poi_fused_add_add_mul_0", "add mul" },
		{ "triton_poi_fused_0", "" },
		{ "triton_poi_fused_clone_permute_3", "" },
		{ "graph_0_cpp_fused_add_mul_1", "add mul" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct str got = members_of(cases[i][0]);

		ck_assert_msg(str_eq(got, str_of(cases[i][1])), "%s: \"%.*s\", not \"%s\"", cases[i][0], STR_ARG(got),
			cases[i][1]);
	}
}
END_TEST

START_TEST(kernels_of_others_are_not_taken_apart)
{
	ck_assert(!named("flash_fwd_kernel").kernel);
	ck_assert(!named("my_fused_add").kernel);
	ck_assert(!named("triton_attention_kernel").kernel);
	ck_assert(!named("aten::triton_poi_fused_add").kernel);
}
END_TEST

START_TEST(fusible_fused_and_opaque_are_told_apart)
{
	ck_assert(named("aten::mul").fusible);
	ck_assert(named("Mul").fusible);
	ck_assert(named("triton_poi_fused_x_0").fusible);
	ck_assert(!named("aten::mm").fusible);
	ck_assert(!named("vllm::rms_norm").fusible);

	ck_assert(named("aten::_fused_rms_norm").is_fused);
	ck_assert(named("vllm::rms_norm").is_fused);
	ck_assert(named("aten::addmm").is_fused);
	ck_assert(named("triton_tem_fused_flex_attention_0").is_fused);
	ck_assert(named("aten::_scaled_dot_product_flash_attention_for_cpu").is_fused);
	ck_assert(!named("aten::mul").is_fused);
	ck_assert(!named("aten::_scaled_dot_product_attention_math").is_fused);

	ck_assert(named("cvt_fp16_to_fp4").opaque);
	ck_assert(!named("aten::whatever").opaque);
	ck_assert(!named("Mul").opaque);
	ck_assert(!named("triton_poi_fused_x_0").opaque);
}
END_TEST

START_TEST(a_kernel_of_one_member_stands_for_it)
{
	const struct fused_op *layer_norm = fusion_table_op(fusion, STR("layer_norm"));
	struct name one = named("triton_red_fused_native_layer_norm_0"), two = named("triton_red_fused_add_native_layer_norm_0");

	ck_assert(name_is_fused(&one, layer_norm));
	ck_assert(!name_is_fused(&two, layer_norm));
}
END_TEST

static bool is_part(const char *raw, const char *part)
{
	struct str name = str_of(part);
	struct fused_part p = { &name, 1, 1 };
	struct name n = named(raw);

	return name_is_part(fusion, &n, &p);
}

START_TEST(a_part_is_a_key_a_member_a_pattern_or_an_entry)
{
	ck_assert(is_part("aten::mul_", "mul"));
	ck_assert(!is_part("aten::mul", "add"));
	ck_assert(is_part("triton_poi_fused_add_mul_0", "mul"));
	ck_assert(is_part("cvt_fp16_to_fp4", "*cvt*"));
	ck_assert(is_part("aten::_fused_rms_norm", "rms_norm"));
	ck_assert(is_part("RmsNorm", "rms_norm"));
	ck_assert(is_part("aten::_scaled_dot_product_efficient_attention", "attention"));
	ck_assert(!is_part("aten::mm", "attention"));
}
END_TEST

START_TEST(a_region_row_names_its_frame)
{
	ck_assert(str_eq(name_frame(STR("Torch-Compiled Region: 3/1")), STR("3")));
	ck_assert(str_eq(name_frame(STR("Torch-Compiled Region: 12/0")), STR("12")));
	ck_assert(str_empty(name_frame(STR("Torch-Compiled Region: *"))));
	ck_assert(str_empty(name_frame(STR("Torch-Compiled Region"))));
	ck_assert(str_empty(name_frame(STR("aten::mul"))));
}
END_TEST

START_TEST(odd_names_do_no_harm)
{
	static const char *const odd[] = { "", "aten::", "_", "aten::_", "triton_", "triton_poi_fused_", "triton_fused",
		"__", "_1", "*", "graph_", "graph_1", "a_1_2_3", ".", "aten::.x" };

	for (size_t i = 0; i < COUNT(odd); i++)
		named(odd[i]);
	ck_assert(!arena_full(&arena));
}
END_TEST

Suite *suite_names(void)
{
	Suite *s = suite_create("names");
	TCase *t = tcase_create("names");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, overload_in_place_numbers_and_hashes_fall_away);
	tcase_add_test(t, every_row_has_a_class);
	tcase_add_test(t, a_kernel_name_is_taken_apart_longest_first);
	tcase_add_test(t, kernels_of_others_are_not_taken_apart);
	tcase_add_test(t, fusible_fused_and_opaque_are_told_apart);
	tcase_add_test(t, a_kernel_of_one_member_stands_for_it);
	tcase_add_test(t, a_part_is_a_key_a_member_a_pattern_or_an_entry);
	tcase_add_test(t, a_region_row_names_its_frame);
	tcase_add_test(t, odd_names_do_no_harm);
	suite_add_tcase(s, t);
	return s;
}
