/* Pairs of op tables modelled on reports of what happened to people: fusion lost and won back, recompiles, graph breaks, ops on
 * the host, gaps, slower kernels; and changes that are none of it. The numbers are made up, in proportion to what was
 * reported. */
#include <check.h>

#include "tests/unit/detect/sides.h"

Suite *suite_pairs(void);

static struct sides s;

static void start(void)
{
	sides_init(&s);
}

static void stop(void)
{
	sides_fini(&s);
}

static const struct {
	const char *what;
	enum verdict_kind want;
	const char *before, *after; /* of one step */
} pairs[] = {
	{ "concatenations no longer fused", VERDICT_FUSION_LOST,
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; "
	  "triton_poi_fused_cat_relu_12 58 2900; "
	  "triton_poi_fused__native_batch_norm_legit_no_training_relu_3 60 1500; step 1 18000",
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; "
	  "triton_poi_fused_cat_12 58 2900; triton_poi_fused_relu_13 58 1450; "
	  "triton_poi_fused__native_batch_norm_legit_no_training_relu_3 60 1500; step 1 20970" },
	{ "a softmax kernel split in two", VERDICT_FUSION_LOST,
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; "
	  "triton_per_fused__softmax_add_5 24 1100; step 1 77000",
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; "
	  "triton_red_fused__softmax_add_5 24 900; triton_poi_fused__softmax_add_6 24 700; step 1 84000" },
	{ "and fused again", VERDICT_NONE,
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; "
	  "triton_red_fused__softmax_add_5 24 900; triton_poi_fused__softmax_add_6 24 700; step 1 84000",
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; "
	  "triton_per_fused__softmax_add_5 24 1100; step 1 77000" },
	{ "a kernel split in two at no cost", VERDICT_FUSION_CHANGED,
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; "
	  "triton_poi_fused_add_mul_0 10 50; step 1 14000",
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; "
	  "triton_poi_fused_add_0 10 28; triton_poi_fused_mul_1 10 26; step 1 14005" },
	{ "softmax in five kernels", VERDICT_FUSION_LOST,
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; aten::_softmax 36 1500; "
	  "step 1 15000",
	  "aten::mm 120 12000; aten::bmm 12 900; triton_poi_fused_view_7 3 12; aten::amax 36 500; "
	  "aten::sub 36 550; aten::exp 36 520; aten::sum 36 480; aten::div 36 560; step 1 16900" },
	{ "convolutions six times as slow", VERDICT_OP_SLOWER,
	  "aten::cudnn_convolution 96 12000; aten::add 40 800; aten::silu 60 900; "
	  "aten::native_group_norm 61 2000; aten::mm 60 3000; step 1 20400",
	  "aten::cudnn_convolution 96 110000; aten::add 40 800; aten::silu 60 900; "
	  "aten::native_group_norm 61 2000; aten::mm 60 3000; step 1 122900" },
	{ "the recompile limit: a frame runs eager", VERDICT_FUSION_LOST,
	  "Torch-Compiled Region: 0/7 1 9000; aten::embedding 1 20; step 1 9500",
	  "aten::mm 96 7000; aten::mul 160 1600; aten::add 97 1000; aten::mean 33 400; aten::rsqrt 33 300; "
	  "aten::silu 32 400; aten::_softmax 32 600; aten::bmm 64 900; aten::cat 64 300; aten::neg 64 200; "
	  "aten::embedding 1 20; step 1 16000" },
	{ "compiled at last", VERDICT_NONE,
	  "aten::mm 96 7000; aten::mul 160 1600; aten::add 97 1000; aten::mean 33 400; aten::rsqrt 33 300; "
	  "aten::silu 32 400; aten::_softmax 32 600; aten::bmm 64 900; aten::cat 64 300; aten::neg 64 200; "
	  "aten::embedding 1 20; step 1 16000",
	  "Torch-Compiled Region: 0/7 1 9000; aten::embedding 1 20; step 1 9500" },
	{ "attention that materialises its scores", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; flex_attention 32 3000; step 1 13500",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::bmm 64 6000; aten::mul 32 900; "
	  "aten::_softmax 32 1200; aten::add 32 700; step 1 19500" },
	{ "one of four regions runs eager", VERDICT_FUSION_LOST,
	  "Torch-Compiled Region: 0/0 1 3000; Torch-Compiled Region: 1/0 1 3000; "
	  "Torch-Compiled Region: 2/0 1 3000; Torch-Compiled Region: 3/0 1 3000; step 1 12500",
	  "Torch-Compiled Region: 0/0 1 3000; Torch-Compiled Region: 1/0 1 3000; "
	  "Torch-Compiled Region: 2/0 1 3000; aten::mul 30 900; aten::add 20 600; aten::mm 8 2200; "
	  "aten::silu 4 300; step 1 14000" },
	{ "one graph in six pieces", VERDICT_GRAPH_BREAKS,
	  "Torch-Compiled Region: 0/0 1 9000; step 1 9500",
	  "Torch-Compiled Region: 0/0 1 1500; Torch-Compiled Region: 1/0 1 1500; "
	  "Torch-Compiled Region: 2/0 1 1500; Torch-Compiled Region: 3/0 1 1500; "
	  "Torch-Compiled Region: 4/0 1 1500; Torch-Compiled Region: 5/0 1 1500; aten::item 5 5; "
	  "aten::_local_scalar_dense 5 10; aten::copy_ 1 10; step 1 12000" },
	{ "in six pieces, no slower", VERDICT_GRAPH_BREAKS,
	  "Torch-Compiled Region: 0/0 1 9000; step 1 9500",
	  "Torch-Compiled Region: 0/0 1 1500; Torch-Compiled Region: 1/0 1 1500; "
	  "Torch-Compiled Region: 2/0 1 1500; Torch-Compiled Region: 3/0 1 1500; "
	  "Torch-Compiled Region: 4/0 1 1500; Torch-Compiled Region: 5/0 1 1500; aten::item 5 5; "
	  "aten::_local_scalar_dense 5 10; aten::copy_ 1 10; step 1 9500" },
	{ "compiling all the time", VERDICT_HOST_GAP,
	  "Torch-Compiled Region: 0/0 1 9000; aten::embedding 1 20; gap 1 19000; step 1 28500",
	  "Torch-Compiled Region: 0/5 1 9050; aten::embedding 1 20; gap 1 340000; step 1 356000" },
	{ "norm and quantisation apart, 3 % of a step", VERDICT_FUSION_LOST,
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; "
	  "rms_norm_dynamic_per_token_quant 64 640; step 1 20010",
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; rms_norm 64 500; "
	  "dynamic_per_token_quant 64 820; step 1 20690" },
	{ "addition and norm apart", VERDICT_FUSION_LOST,
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; "
	  "fused_add_rms_norm 47 470; step 1 20000",
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; aten::add 47 380; "
	  "rms_norm 47 430; step 1 20400" },
	{ "and together", VERDICT_NONE,
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; aten::add 47 380; "
	  "rms_norm 47 430; step 1 20400",
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; "
	  "fused_add_rms_norm 47 470; step 1 20000" },
	{ "the same of another runtime", VERDICT_FUSION_LOST,
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; FusedAddRMSNorm 64 640; "
	  "step 1 20000",
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; RMSNorm 64 500; "
	  "aten::add 64 650; step 1 20520" },
	{ "and together", VERDICT_NONE,
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; RMSNorm 64 500; "
	  "aten::add 64 650; step 1 20520",
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; FusedAddRMSNorm 64 640; "
	  "step 1 20000" },
	{ "two kinds of kernels lose a member each", VERDICT_FUSION_LOST,
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; "
	  "triton_red_fused_add_mul_rms_norm_3 14 140; triton_red_fused_add_quant_4 39 390; "
	  "triton_poi_fused_silu_mul_5 14 100; step 1 20000",
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; "
	  "triton_red_fused_add_3 14 140; triton_red_fused_mul_rms_norm_4 14 180; "
	  "triton_red_fused_add_quant_4 39 390; triton_poi_fused_silu_6 14 90; "
	  "triton_poi_fused_mul_7 14 95; step 1 20980" },
	{ "and gain it", VERDICT_NONE,
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; "
	  "triton_red_fused_add_3 14 140; triton_red_fused_mul_rms_norm_4 14 180; "
	  "triton_red_fused_add_quant_4 39 390; triton_poi_fused_silu_6 14 90; "
	  "triton_poi_fused_mul_7 14 95; step 1 20980",
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; "
	  "triton_red_fused_add_mul_rms_norm_3 14 140; triton_red_fused_add_quant_4 39 390; "
	  "triton_poi_fused_silu_mul_5 14 100; step 1 20000" },
	{ "three dispatches become one", VERDICT_NONE,
	  "MatMul 60 1600; Add 24 380; RmsNorm 24 350; Mul 24 390; step 1 3080",
	  "MatMul 60 1600; RmsNorm 24 300; step 1 2210" },
	{ "65 norms eager", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::_fused_rms_norm 65 650; step 1 14000",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::mul 195 1900; aten::add 65 640; aten::rsqrt 65 600; aten::mean 65 700; "
	  "step 1 17200" },
	{ "65 norms eager, in a wider type", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::_fused_rms_norm 65 650; step 1 14000",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::pow 65 600; aten::mul 130 1300; aten::add 65 640; aten::rsqrt 65 600; "
	  "aten::mean 65 700; aten::_to_copy 130 900; step 1 18000" },
	{ "half of the norms eager", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::_fused_rms_norm 65 650; step 1 14000",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::_fused_rms_norm 33 330; aten::mul 96 950; aten::add 32 320; "
	  "aten::rsqrt 32 300; aten::mean 32 350; step 1 15600" },
	{ "an op in the middle on the host", VERDICT_CPU_FALLBACK,
	  "neff_graph_0 1 5000; aten::copy_ 2 20; aten::_to_cpu 1 10; gap 1 50; step 1 5100",
	  "neff_graph_0_a 1 2400; neff_graph_0_b 1 2500; aten::sort@cpu 1 900; aten::copy_ 4 220; "
	  "aten::_to_cpu 3 210; gap 1 1300; step 1 6800" },
	{ "most ops on the host", VERDICT_CPU_FALLBACK,
	  "neff_graph_0 1 5000; aten::copy_ 2 20; aten::_to_cpu 1 10; step 1 5100",
	  "aten::mm@cpu 40 3200; aten::add@cpu 50 4000; aten::mul@cpu 60 4800; aten::softmax@cpu 12 960; "
	  "aten::layer_norm@cpu 25 2000; aten::copy_ 130 900; aten::_to_cpu 130 900; step 1 19000" },
	{ "the runtime takes longer between executions", VERDICT_HOST_GAP,
	  "neff_decode 60 9000; aten::argmax 1 30; gap 1 732; step 1 10169",
	  "neff_decode 60 9000; aten::argmax 1 30; gap 1 10980; step 1 20500" },
	{ "a little longer", VERDICT_NONE,
	  "neff_decode 60 9000; aten::argmax 1 30; gap 1 732; step 1 10169",
	  "neff_decode 60 9000; aten::argmax 1 30; gap 1 793; step 1 10200" },
	{ "one module three times as slow", VERDICT_OP_SLOWER,
	  "neff_model 1 85600; aten::embedding 1 20; step 1 86000",
	  "neff_model 1 272380; aten::embedding 1 20; step 1 272800" },
	{ "seven times, no step time known", VERDICT_OP_SLOWER,
	  "neff_model 1 85600; aten::embedding 1 20",
	  "neff_model 1 599000; aten::embedding 1 20" },
	{ "an op that the device lacks", VERDICT_CPU_FALLBACK,
	  "SyncTensorsGraph.12 1 7000; step 1 7390",
	  "SyncTensorsGraph.12 1 7000; aten::nonzero@cpu 3 1500; aten::_local_scalar_dense@cpu 3 30; "
	  "aten::_to_cpu 6 600; aten::copy_ 6 600; step 1 11270" },
	{ "attention itself slower", VERDICT_OP_SLOWER,
	  "flash_fwd_kernel 32 4640; aten::mm 96 9000; aten::mul 64 600; aten::add 64 600; step 1 15500",
	  "flash_fwd_kernel 32 21344; aten::mm 96 9000; aten::mul 64 600; aten::add 64 600; step 1 32200" },
	{ "a kernel replaced by one as good", VERDICT_NONE,
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; "
	  "rotary_embedding_kernel_custom 32 320; step 1 20000",
	  "aten::mm 128 15000; aten::_scaled_dot_product_flash_attention 32 4000; "
	  "triton_poi_fused_cat_mul_neg_9 32 322; step 1 20010" },
	{ "one check breaks the graph", VERDICT_GRAPH_BREAKS,
	  "Torch-Compiled Region: 0/0 1 9000; aten::embedding 1 10; step 1 9500",
	  "Torch-Compiled Region: 0/0 1 4000; Torch-Compiled Region: 1/0 1 5100; "
	  "aten::_local_scalar_dense 1 2; aten::embedding 1 10; step 1 12500" },
	{ "everything 12 % slower", VERDICT_NONE,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; step 1 13000",
	  "aten::mm 96 10752; aten::embedding 1 22.4; aten::_scaled_dot_product_flash_attention 32 3584; "
	  "aten::copy_ 4 44.8; step 1 14500" },
	{ "twice the layers", VERDICT_NONE,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::_fused_rms_norm 65 650; step 1 14000",
	  "aten::mm 192 19200; aten::embedding 2 40; aten::_scaled_dot_product_flash_attention 64 6400; "
	  "aten::copy_ 8 80; aten::_fused_rms_norm 129 1290; step 1 28000" },
	{ "another activation", VERDICT_NONE,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::gelu 32 320; step 1 14000",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::silu 32 330; step 1 14010" },
	{ "bias additions apart", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::addmm 64 5000; step 1 18000",
	  "aten::mm 160 14300; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::add 64 900; step 1 19500" },
	{ "an optimizer by lists of tensors", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::_fused_adamw_ 2 800; step 1 14000",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::_foreach_lerp_ 2 300; aten::_foreach_mul_ 4 600; "
	  "aten::_foreach_addcmul_ 2 300; aten::_foreach_sqrt 2 250; aten::_foreach_div_ 2 250; "
	  "aten::_foreach_add_ 2 200; aten::_foreach_addcdiv_ 2 300; step 1 15500" },
	{ "layer norms in nine kernels", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::native_layer_norm 65 700; step 1 14000",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::var_mean 65 700; aten::sub 65 400; aten::add 130 800; "
	  "aten::rsqrt 65 300; aten::mul 130 800; step 1 16500" },
	{ "attention by its definition", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; step 1 13000",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::copy_ 4 40; "
	  "aten::_scaled_dot_product_attention_math 32 0; aten::bmm 64 4000; aten::mul 64 500; "
	  "aten::_softmax 32 900; step 1 15500" },
	{ "a gate apart from its activation", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; silu_and_mul 32 400; step 1 14000",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::silu 32 350; aten::mul 32 360; step 1 14400" },
	{ "a recurrent layer step by step", VERDICT_FUSION_LOST,
	  "aten::mkldnn_rnn_layer 20 4000; aten::mm 4 100; step 1 4200",
	  "aten::addmm 40 3500; aten::sigmoid 40 500; aten::tanh 20 300; aten::mul 20 200; "
	  "aten::add 20 200; aten::mm 4 100; step 1 5000" },
	{ "a hand-written kernel gone", VERDICT_FUSION_LOST,
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; nki_rmsnorm_kernel 65 650; step 1 14000",
	  "aten::mm 96 9600; aten::embedding 1 20; aten::_scaled_dot_product_flash_attention 32 3200; "
	  "aten::copy_ 4 40; aten::mul 195 1900; aten::add 65 640; aten::rsqrt 65 600; aten::mean 65 700; "
	  "step 1 17200" },
};

START_TEST(a_pair_of_tables_gets_the_verdict_that_people_gave_it)
{
	enum verdict_kind got = sides_of(&s, pairs[_i].before, pairs[_i].after);

	ck_assert_msg(got == pairs[_i].want, "%s: %s, not %s", pairs[_i].what, verdict_name(got), verdict_name(pairs[_i].want));
}
END_TEST

Suite *suite_pairs(void)
{
	Suite *suite = suite_create("detect/pairs");
	TCase *tc = tcase_create("pairs");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_loop_test(tc, a_pair_of_tables_gets_the_verdict_that_people_gave_it, 0, COUNT(pairs));
	suite_add_tcase(suite, tc);
	return suite;
}
