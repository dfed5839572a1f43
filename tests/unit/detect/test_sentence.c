#include "detect/sentence.h"

#include <check.h>

#include "tests/unit/detect/sides.h"

Suite *suite_sentence(void);

static struct sides s;

static void up(void)
{
	sides_init(&s);
}

static void down(void)
{
	sides_fini(&s);
}

static void expect(const char *before, const char *after, const char *sentence)
{
	struct str got;

	sides_of(&s, before, after);
	ck_assert_uint_ge(s.verdict.n_findings, 1);
	got = s.verdict.findings[0].sentence;
	ck_assert_msg(str_eq(got, str_of(sentence)), "%.*s", STR_ARG(got));
}

START_TEST(lost_fusion_says_what_was_and_what_is)
{
	expect("aten::_fused_rms_norm 1 403.3",
		"aten::mul 3 1164.5; aten::add 1 434.6; aten::rsqrt 1 415.0; aten::mean 1 340.8",
		"aten::_fused_rms_norm, 1 call of 403 µs a step, became 6 calls of 2355 µs: aten::mul ×3, aten::add, "
		"aten::rsqrt, aten::mean");
}
END_TEST

START_TEST(part_of_a_loss_says_what_is_left)
{
	expect("aten::gelu 4 640; step 1 20000",
		"aten::gelu 1 160; aten::mul 6 600; aten::erf 3 400; aten::add 3 300; step 1 21000",
		"aten::gelu, 4 calls of 640 µs a step, is down to 1; in its place came 12 calls of 1300 µs: aten::mul ×6, "
		"aten::erf ×3, aten::add ×3; a step takes 20.0 ms → 21.0 ms (+5 %)");
}
END_TEST

START_TEST(long_kernel_names_are_cut_in_the_middle)
{
	expect("triton_per_fused__softmax_add_arange_embedding_exp_le_mul_native_dropout_prepare_softmax_online_16 2 96",
		"triton_poi_fused__softmax_add_exp_mul_1 2 80; "
		"triton_red_fused_arange_embedding_le_native_dropout_prepare_softmax_online_2 2 70",
		"triton_per_fused__softmax_add_arange_emb…oftmax_online_16, 2 calls of 96.0 µs a step, became 4 calls of "
		"150 µs: triton_poi_fused__softmax_add_exp_mul_1 ×2, triton_red_fused_arange_embedding_le_nat…softmax_online_2 ×2");
}
END_TEST

START_TEST(graph_breaks_say_how_often)
{
	expect("Torch-Compiled Region: 0/0 1 9000; step 1 9100",
		"Torch-Compiled Region: 0/0 1 3000; Torch-Compiled Region: 1/0 1 3000; step 1 9900",
		"Torch-Compiled Region: 0/0 runs 2 times a step, was 1: the graph breaks into more pieces; a step takes "
		"9100 µs → 9900 µs (+9 %)");
}
END_TEST

START_TEST(gaps_say_how_long)
{
	expect("MODULE_layer.neff 32 32000; gap 1 416", "MODULE_layer.neff 32 32000; gap 1 5760",
		"the device waits between launches: gaps of 416 µs → 5760 µs a step, while the work itself takes as long as "
		"before");
}
END_TEST

START_TEST(a_fallback_says_which_op)
{
	expect("MODULE_main.neff 1 900; aten::copy_ 2 30",
		"MODULE_main.neff 1 905; aten::_convolution@cpu 1 4200; aten::copy_ 4 160",
		"aten::_convolution@cpu runs on the CPU now, 1 call of 4200 µs a step");
}
END_TEST

START_TEST(a_slower_op_says_how_much)
{
	expect("flash_attn 2 290", "flash_attn 2 1334",
		"flash_attn takes 4.60 times as long: 145 µs → 667 µs a call, 2 calls a step");
}
END_TEST

Suite *suite_sentence(void)
{
	Suite *suite = suite_create("sentence");
	TCase *t = tcase_create("sentence");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, lost_fusion_says_what_was_and_what_is);
	tcase_add_test(t, part_of_a_loss_says_what_is_left);
	tcase_add_test(t, long_kernel_names_are_cut_in_the_middle);
	tcase_add_test(t, graph_breaks_say_how_often);
	tcase_add_test(t, gaps_say_how_long);
	tcase_add_test(t, a_fallback_says_which_op);
	tcase_add_test(t, a_slower_op_says_how_much);
	suite_add_tcase(suite, t);
	return suite;
}
