#include "trace/probe.h"

#include <check.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/enc.h"
#include "trace/input.h"

Suite *suite_probe(void);

static const struct {
	const char *text, *name;
	enum probe_kind kind;
} texts[] = {
	{ "", "x.json", PROBE_EMPTY },
	{ "{\"schemaVersion\":1,\"deviceProperties\":[],\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\"}]}", "", PROBE_TRACE },
	{ "{\"traceEvents\":[", "", PROBE_TRACE },
	{ "{\"trace\\u0045vents\":[{\"ph\":\"X\",\"args\":{\"hlo\\u005fop\":\"dot\"}}]}", "", PROBE_XLA_TRACE },
	{ "[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1}", "", PROBE_TRACE },
	{ "\xef\xbb\xbf \n{\"traceEvents\":[]}", "", PROBE_TRACE },
	{ "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[]}", "", PROBE_XLA_TRACE },
	{ "{\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\"}]}", "", PROBE_TRACE },
	{ "{\"traceEvents\":[{\"ph\":\"X\",\"args\":{\"hlo_op\":\"dot\"}}]}", "", PROBE_XLA_TRACE },
	{ "{\"summary_groups\":[{\"total_time\":\"x\"}],\"layer_summary\":[]}", "", PROBE_NEURON_DEVICE },
	{ "{\"instruction\":[{\"label\":\"Vector\",\"opcode\":\"ADD\"", "", PROBE_NEURON_DEVICE },
	{ "{\"dma\":[{\"dma_queue\":\"1\"", "", PROBE_NEURON_DEVICE },
	{ "{\"terminology\":[{\"total_time\":\"Total.\"", "", PROBE_NEURON_DEVICE },
	{ "{\"dma_throughput\":[{", "", PROBE_NEURON_DEVICE },
	{ "{\"ham\":[{\"type\":99", "", PROBE_NEURON_DEVICE },
	{ "{\"model_info\":[{\"sg_name\":\"sg00\"", "", PROBE_NEURON_DEVICE },
	{ "{\"profile_info\":[{\"profile_name\":\"x\"", "", PROBE_NEURON_DEVICE },
	{ "{\"warnings\":[],\"trace_events\":[{", "", PROBE_NEURON_SYSTEM },
	{ "{\"n_7792fe1daf87c456c04c96497296393233c1c7b1\":{\"total_time\":1}}", "", PROBE_NEURON_SUMMARY },
	{ "{\"s_2b34ee2866d9218f6a487d2535f8008b7e887e99\":{}}", "", PROBE_NEURON_SUMMARY },
	{ "{\"hbm_read_bytes\":1,\"total_time\":2}", "", PROBE_NEURON_SUMMARY },
	{ "{\"trace_event\":[{\"name\":\"nc_exec_running\"}]}", "", PROBE_NEURON_SYSTEM },
	{ "{\"mem_usage\":[],\"trace_events\":{}}", "", PROBE_NEURON_SYSTEM },
	{ "{\"Neuron_Runtime_API_Event\":{\"duration\":27,\"name\":\"nrt_tensor_write\"}", "", PROBE_NEURON_SYSTEM },
	{ "{\"Framework_Event\":{\"duration\":27,\"name\":\"f\"}}", "", PROBE_NEURON_SYSTEM },
	{ "{\"i-0b1ea78ca2865fd32/PID:17/neuron_rt/NC:0\":[{\"name\":\"nrt_execute\"", "", PROBE_NEURON_SYSTEM },
	{ "{\"neuron_runtime_data\":[],\"system_data\":{}}\n{}", "", PROBE_NEURON_MONITOR },
	{ "[{\"neuron_device\":0,\"nc_count\":4}]", "", PROBE_NEURON_LS },
	{ "{\"steps\":3,\"ops\":[[\"aten::mul\",1,2]]}", "", PROBE_OP_TABLE },
	{ "{\"hello\":1}", "", PROBE_JSON },
	{ "{\"n_hello\":{\"total\":1}}", "", PROBE_JSON },
	{ "{\"n_77\":{\"mfu_estimated_percent\":0.5}}", "", PROBE_NEURON_SUMMARY },
	{ "{\"model_1\":{\"total_time\":1,\"hbm_read_bytes\":1}}", "", PROBE_NEURON_SUMMARY },
	{ "[{\"total_time\":1,\"hbm_read_bytes\":1}]", "", PROBE_NEURON_SUMMARY },
	{ "{\"summary\":[{\"total_time\":1,\"hbm_read_bytes\":1}]}", "", PROBE_NEURON_DEVICE },
	{ "[\n {\"neuron_runtime_data\":[]}]", "", PROBE_NEURON_MONITOR },
	{ "hello, world\n", "", PROBE_UNKNOWN },
	{ "hello, world\n", "dir/a.neff", PROBE_NEFF },
	{ "", "dir/cpu_util.pb", PROBE_NEURON_PB },
	{ "\x82\x01\x04\x08\x01\x10\x02\x82\x01\x04\x08\x01\x10\x02", "out/ntrace.pb", PROBE_NEURON_PB },
	{ "\x82\x01\x04\x08\x01\x10\x02\x82\x01\x04\x08\x01\x10\x02", "out/other.pb", PROBE_PROTOBUF },
	{ "\x82\x01\x04\x08\x01\x10\x02\x82\x01\x04\x08\x01\x10\x02", "-", PROBE_PROTOBUF },
	{ "\x0a\x0d\x08\x01\x12\x09/host:CPU\x0a\x01", "x", PROBE_XPLANE },
};

START_TEST(a_file_is_told_by_its_content)
{
	struct str text = str_of(texts[_i].text);
	enum probe_kind kind = probe_kind(text, str_of(texts[_i].name));

	ck_assert_msg(kind == texts[_i].kind, "\"%s\": %s instead of %s", texts[_i].text, probe_word(kind),
		probe_word(texts[_i].kind));
}
END_TEST

START_TEST(an_ntff_is_told_by_its_lengths)
{
	uint8_t head[256] = { 5 };

	enc_put64(head + 1, 23804);
	enc_put64(head + 9, 25959);
	head[128] = 0x0a;
	ck_assert_int_eq(probe_kind(str_make(head, sizeof(head)), STR("x")), PROBE_NTFF);
	head[0] = 9;
	ck_assert_int_ne(probe_kind(str_make(head, sizeof(head)), STR("x")), PROBE_NTFF);
	head[0] = 5;
	enc_put64(head + 1, UINT64_C(1) << 50);
	ck_assert_int_ne(probe_kind(str_make(head, sizeof(head)), STR("x")), PROBE_NTFF);
}
END_TEST

/* Bytes tell better than names. */
START_TEST(a_wrong_ending_deceives_nobody)
{
	uint8_t neff[1100] = { 0 }, ntff[256] = { 5 };

	enc_put64(neff, 2);
	enc_put64(neff + 8, 1024);
	enc_put64(neff + 16, 1709);
	enc_put64(neff + 24, 2);
	enc_put64(ntff + 1, 23804);
	enc_put64(ntff + 9, 25959);
	ntff[128] = 0x0a;
	ck_assert_int_eq(probe_kind(str_make(neff, sizeof(neff)), STR("a.ntff")), PROBE_NEFF);
	ck_assert_int_eq(probe_kind(str_make(neff, sizeof(neff)), STR("ntrace.pb")), PROBE_NEFF);
	ck_assert_int_eq(probe_kind(str_make(ntff, sizeof(ntff)), STR("a.neff")), PROBE_NTFF);
	ck_assert_int_eq(probe_kind(str_make(ntff, sizeof(ntff)), STR("a.json")), PROBE_NTFF);
	ck_assert_int_eq(probe_kind(STR("\x82\x01\x04\x08\x01\x10\x02"), STR("x/ntrace.pb.gz")), PROBE_NEURON_PB);
	ck_assert_int_eq(probe_kind(STR("x"), STR("a.ntff.zst")), PROBE_NTFF);
}
END_TEST

START_TEST(a_neff_is_told_by_its_header)
{
	uint8_t head[1100] = { 0 };

	enc_put64(head, 2);
	enc_put64(head + 8, 1024);
	enc_put64(head + 16, 1709);
	enc_put64(head + 24, 2);
	ck_assert_int_eq(probe_kind(str_make(head, sizeof(head)), STR("x")), PROBE_NEFF);
	enc_put64(head + 8, 1023);
	ck_assert_int_ne(probe_kind(str_make(head, sizeof(head)), STR("x")), PROBE_NEFF);
}
END_TEST

START_TEST(every_kind_has_a_word_and_a_sentence)
{
	for (int k = 0; k < PROBE_KINDS; k++) {
		ck_assert_ptr_nonnull(probe_word((enum probe_kind)k));
		ck_assert_uint_gt(strlen(probe_sentence((enum probe_kind)k)), 8);
	}
	ck_assert_ptr_nonnull(strstr(probe_sentence(PROBE_NTFF), "neuron-explorer view -n FILE.neff -s FILE.ntff"));
	ck_assert_ptr_nonnull(strstr(probe_sentence(PROBE_NEURON_PB), "neuron-explorer view -d FOLDER"));
	ck_assert(probe_is_neuron(PROBE_NEURON_LS));
	ck_assert(!probe_is_neuron(PROBE_NTFF));
}
END_TEST

START_TEST(any_start_of_a_file_can_be_asked_about)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		for (size_t n = 0; n < strlen(texts[i].text); n++)
			ck_assert_int_lt(probe_kind(str_make(texts[i].text, n), STR("")), PROBE_KINDS);
}
END_TEST

START_TEST(what_others_decode_is_refused_with_the_command)
{
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	enum probe_kind kind;
	struct input *in = NULL;
	struct str block;
	struct err e = { 0 };

	ck_assert_int_eq(input_open_memory(&in, STR("no matter"), "a/b.ntff", &limits, &e), OK);
	ck_assert_int_eq(probe_input(in, "a/b.ntff", &kind, &e), E_FORMAT);
	ck_assert_ptr_nonnull(strstr(e.text, "a/b.ntff: this is no trace but a Neuron device profile as it was captured"));
	ck_assert_ptr_nonnull(strstr(e.text, "neuron-explorer view"));
	ck_assert_int_eq(input_next(in, &block, &e), OK);
	ck_assert_msg(str_eq(block, STR("no matter")), "the probe takes nothing");
	input_close(in);
}
END_TEST

/* Cores that ran nothing leave an empty one; so does a capture that failed. */
START_TEST(an_empty_file_is_told_for_what_it_should_be)
{
	static const char *const names[][2] = {
		{ "a/b.ntff", "an empty Neuron device profile (.ntff)" },
		{ "a/b.neff", "an empty Neuron model (.neff)" },
		{ "a/cpu_util.pb", "a part of a Neuron system profile" },
	};
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;

	for (size_t i = 0; i < COUNT(names); i++) {
		enum probe_kind kind;
		struct input *in = NULL;
		struct err e = { 0 };

		ck_assert_int_eq(input_open_memory(&in, STR(""), names[i][0], &limits, &e), OK);
		ck_assert_int_eq(probe_input(in, names[i][0], &kind, &e), E_FORMAT);
		ck_assert_msg(strstr(e.text, names[i][1]) != NULL, "%s", e.text);
		input_close(in);
	}
}
END_TEST

Suite *suite_probe(void)
{
	Suite *s = suite_create("trace/probe");
	TCase *t = tcase_create("all");

	tcase_add_loop_test(t, a_file_is_told_by_its_content, 0, COUNT(texts));
	tcase_add_test(t, an_ntff_is_told_by_its_lengths);
	tcase_add_test(t, a_wrong_ending_deceives_nobody);
	tcase_add_test(t, a_neff_is_told_by_its_header);
	tcase_add_test(t, every_kind_has_a_word_and_a_sentence);
	tcase_add_test(t, any_start_of_a_file_can_be_asked_about);
	tcase_add_test(t, an_empty_file_is_told_for_what_it_should_be);
	tcase_add_test(t, what_others_decode_is_refused_with_the_command);
	suite_add_tcase(s, t);
	return s;
}
