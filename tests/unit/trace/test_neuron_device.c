#include "trace/neuron_device.h"

#include <check.h>

#include "tests/unit/trace/help_neuron.h"

Suite *suite_neuron_device(void);

#define ROW(label, opcode, ts, dur, more)                                                                           \
	"{\"label\":\"" label "\",\"opcode\":\"" opcode "\",\"timestamp\":" #ts ",\"duration\":" #dur more "}"

static const char sample[] =
	"{\"layer_summary\":[{\"name\":\"/sg00/_dot.3\",\"start\":10,\"end\":40,\"duration\":30}],\n"
	"\"instruction\":[" ROW("Tensor", "LDWEIGHTS", 10, 5, ",\"hlo_name\":\"dot.3\",\"layer\":\"/sg00/_dot.3\"") ",\n" ROW(
		"TensorMatrix", "MATMUL", 15, 20, ",\"hlo_name\":\"dot.3\",\"layer\":\"/sg00/_dot.3\"") ",\n" ROW("Tensor", "EVENT_SEMAPHORE", 20,
		900000, "") ",\n" ROW("GpSimd", "DMA \\\"2D\\\"", 3, 4, ",\"evt_wait_time\":3,\"source\":[[\"HBM\"]]") "],\n"
	"\"dma\":[{\"timestamp\":1,\"duration\":8,\"transfer_size\":2048,\"duplicate\":\"no\"},"
	"{\"timestamp\":1,\"duration\":8,\"transfer_size\":2048,\"duplicate\":\"yes\"}],\n"
	"\"ham\":[{\"type\":99,\"duration\":22,\"timestamp\":9},{\"type\":99,\"duration\":2,\"timestamp\":9}],\n"
	"\"nc_mem_usage\":[{\"amount_bytes\":25600,\"nd\":0,\"nc\":1,\"usage_type\":\"Generic\"}],\n"
	"\"metadata\":[{\"pe_clock_freq\":2.8,\"hbm_ddr_bandwidth\":410000000000,\"first_hw_timestamp\":100,"
	"\"last_hw_timestamp\":400,\"is_simulation\":true,\"runtime_version\":\"2.29.40\"}],\n"
	"\"warnings\":[{\"message\":\"Missing.\",\"category\":\"Missing Data\"}],\n"
	"\"neff_header\":[{\"hash\":\"abc\",\"network_name\":\"m.neff\"}],\n"
	"\"profile_info\":[{\"profiler_version\":\"2.27.33\"}],\n"
	"\"summary\":[{\"mfu_estimated_percent\":0.25,\"nc_idx\":1}],\"pending_dma\":[[1,2],{\"a\":{}}]}";

START_TEST(semaphore_waits_are_no_work_and_the_matrix_unit_is_the_tensor_engine)
{
	help_neuron_has(neuron_device_read, sample, "op engine Tensor calls=2 device=25/25 cpu=0/0 orphan=0/0 5..20");
	help_neuron_has(neuron_device_read, sample, "op kernel Tensor LDWEIGHTS calls=1 device=5/5 cpu=0/0 orphan=0/0 5..5");
	help_neuron_has(neuron_device_read, sample, "op kernel Tensor MATMUL calls=1 device=20/20 cpu=0/0 orphan=0/0 20..20");
	help_neuron_has(neuron_device_read, sample, "gauge semaphore_wait 900000 ns engine=Tensor");
	help_neuron_has_not(neuron_device_read, sample, "EVENT_SEMAPHORE");
	help_neuron_has_not(neuron_device_read, sample, "TensorMatrix");
}
END_TEST

START_TEST(each_nanosecond_is_an_orphan_of_one_row)
{
	help_neuron_has(neuron_device_read, sample, "op hlo dot calls=1 device=25/25 cpu=0/0 orphan=1/25 25..25");
	help_neuron_has(neuron_device_read, sample, "op kernel GpSimd DMA \"2D\" calls=1 device=4/4 cpu=0/0 orphan=1/4 4..4");
	help_neuron_has(neuron_device_read, sample, "op annotation /sg00/_dot calls=1 device=30/0 cpu=0/0 orphan=0/0 30..30");
}
END_TEST

START_TEST(transfers_throttling_memory_and_peaks_are_there)
{
	help_neuron_has(neuron_device_read, sample, "op engine DMA calls=1 device=8/8 cpu=0/0 orphan=0/0 8..8");
	help_neuron_has(neuron_device_read, sample, "gauge dma_bytes 2048 bytes");
	help_neuron_has(neuron_device_read, sample, "gauge throttle_events 2 1 type=99");
	help_neuron_has(neuron_device_read, sample, "gauge throttle_time 24 ns type=99");
	help_neuron_has(neuron_device_read, sample, "gauge device_memory 25600 bytes usage_type=Generic nc=1 nd=0");
	help_neuron_has(neuron_device_read, sample, "gauge tensor_engine_clock 2.8 GHz");
	help_neuron_has(neuron_device_read, sample, "gauge peak_hbm_bandwidth 4.1e+11 bytes/s");
	help_neuron_has(neuron_device_read, sample, "gauge mfu_estimated_ratio 0.25 ratio nc=1");
	help_neuron_has(neuron_device_read, sample, "gauge profile_warnings 1 1 category=Missing Data message=Missing.");
}
END_TEST

START_TEST(versions_and_labels_travel)
{
	help_neuron_has(neuron_device_read, sample, "version runtime=2.29.40");
	help_neuron_has(neuron_device_read, sample, "version profiler=2.27.33");
	help_neuron_has(neuron_device_read, sample, "label neff_hash=abc");
	help_neuron_has(neuron_device_read, sample, "label network=m.neff");
	help_neuron_has(neuron_device_read, sample, "label simulation=true");
	help_neuron_has(neuron_device_read, sample, "window dur_ns=300 steps=1 executions launches=1 events=5 device");
}
END_TEST

START_TEST(todays_field_names_are_read_as_well)
{
	help_neuron_has(neuron_device_read,
		"{\"instruction\":[{\"engine\":\"Vector\",\"opcode\":\"ADD\",\"start_ts\":\"5\",\"duration_ns\":\"7\"}],"
		"\"metadata\":[{\"explorer_version\":\"3.1\",\"tensor_engine_num_rows\":128}]}",
		"op kernel Vector ADD calls=1 device=7/7 cpu=0/0 orphan=1/7 7..7");
}
END_TEST

START_TEST(an_engine_or_an_opcode_may_stand_under_its_second_name)
{
	static const char text[] = "{\"instruction\":[{\"subgroup\":\"Vector\",\"compiler_opcode\":\"ADD\",\"timestamp\":5,\"duration\":7},"
		"{\"label\":\"TensorMatrix\",\"subgroup\":\"Tensor\",\"opcode\":\"MATMUL\",\"compiler_opcode\":\"X\",\"timestamp\":5,\"duration\":7},"
		"{\"opcode\":\"MYSTERY\",\"timestamp\":5,\"duration\":7}]}";

	help_neuron_has(neuron_device_read, text, "op kernel Vector ADD calls=1 device=7/7 cpu=0/0 orphan=1/7 7..7");
	help_neuron_has(neuron_device_read, text, "op kernel Tensor MATMUL calls=1 device=7/7 cpu=0/0 orphan=1/7 7..7");
	help_neuron_has(neuron_device_read, text, "op kernel Unknown MYSTERY calls=1 device=7/7 cpu=0/0 orphan=1/7 7..7");
}
END_TEST

START_TEST(a_list_of_one_may_be_without_its_brackets)
{
	static const char text[] = "{\"summary\":{\"total_time\":0.5,\"nc_idx\":3,\"mfu_estimated_percent\":0.25},\"metadata\":{\"explorer_version\":\"3.1\"},"
		"\"instruction\":{\"label\":\"Vector\",\"opcode\":\"ADD\",\"timestamp\":5,\"duration\":7},\"warnings\":{}}";

	help_neuron_has(neuron_device_read, text, "op kernel Vector ADD calls=1 device=7/7 cpu=0/0 orphan=1/7 7..7");
	help_neuron_has(neuron_device_read, text, "gauge mfu_estimated_ratio 0.25 ratio nc=3");
	help_neuron_has(neuron_device_read, text, "version profiler=3.1");
	help_neuron_has(neuron_device_read, text, "window dur_ns=500000000 steps=1 executions launches=1 events=1 device");
	help_neuron_seams(neuron_device_read, str_of(text));
	help_neuron_cuts(neuron_device_read, str_of(text));
}
END_TEST

START_TEST(an_end_is_as_good_as_a_duration_and_blanks_are_no_digits)
{
	static const char text[] = "{\"instruction\":[{\"engine\":\"Vector\",\"opcode\":\"ADD\",\"start_ts\":5,\"end_ts\":\" 12 \"},"
		"{\"label\":\"Vector\",\"opcode\":\"ADD\",\"timestamp\":\"20 \",\"duration\":\"\\t8\",\"end_ts\":99},"
		"{\"engine\":\"Vector\",\"opcode\":\"ADD\",\"start_ts\":9,\"end_ts\":8}],"
		"\"layer_summary\":[{\"name\":\"/sg00/x\",\"start\":5,\"end\":28}],\"warnings\":[\"w\"]}";

	help_neuron_has(neuron_device_read, text, "op kernel Vector ADD calls=2 device=15/15 cpu=0/0 orphan=2/15 7..8");
	help_neuron_has(neuron_device_read, text, "window dur_ns=28 steps=1 executions launches=1 events=2 device");
	help_neuron_has(neuron_device_read, text, "skip bad_value 1 @161");
	help_neuron_has(neuron_device_read, text, "gauge profile_warnings 1 1 category= message=w");
}
END_TEST

static const struct {
	const char *row, *line;
} odd_rows[] = {
	{ ROW("Vector", "ADD", 5, -7, ""), "skip bad_value 1 @17" },
	{ ROW("Vector", "ADD", 5, 1786270865722793417, ""), "skip bad_value 1 @17" },
	{ ROW("Vector", "ADD", 1786270865722793417, 7, ""), "skip bad_value 1 @17" },
	{ ROW("Vector", "ADD", 5, 99999999999999999999999, ""), "skip bad_value 1 @17" },
	{ ROW("Vector", "ADD", 5, "many", ""), "skip bad_number 1 @17" },
	{ ROW("Vector", "ADD", 5, null, ""), "skip no_time 1 @17" },
	{ ROW("Vector", "", 5, 7, ""), "skip no_name 1 @17" },
	{ "5", "skip bad_event 1 @17" },
	{ "[1,{\"opcode\":\"ADD\"}]", "skip bad_event 1 @17" },
	{ "{\"label\":\"Vector\",\"opcode\":}", "skip bad_json 1 @44" },
};

START_TEST(an_odd_row_is_counted_and_the_next_one_read)
{
	struct buf text;

	buf_init(&text, 4096);
	buf_fmt(&text, "{\"instruction\": [%s,%s]}", odd_rows[_i].row, ROW("Scalar", "ACTIVATE", 5, 9, ""));
	help_neuron_has(neuron_device_read, text.p, "op kernel Scalar ACTIVATE calls=1 device=9/9 cpu=0/0 orphan=1/9 9..9");
	help_neuron_has_not(neuron_device_read, text.p, "op kernel Vector");
	help_neuron_has(neuron_device_read, text.p, odd_rows[_i].line);
	buf_fini(&text);
}
END_TEST

START_TEST(a_window_of_odd_texts_can_be_sent)
{
	help_neuron_has(neuron_device_read,
		"{\"instruction\":[" ROW("Vec\\u0000tor", "A\\u0000\\ud800", 5, 7, ",\"hlo_name\":\"h\\u0000\"") "],"
		"\"neff_header\":[{\"hash\":\"\\u0000x\"}]}",
		"op engine Vec tor calls=1 device=7/7 cpu=0/0 orphan=0/0 7..7");
}
END_TEST

START_TEST(what_is_no_device_profile_is_an_error)
{
	help_neuron_has(neuron_device_read, "[]",
		"error no device profile: it must be a JSON object with a list \"instruction\"");
	help_neuron_has(neuron_device_read, "{\"instruction\":[]}", "error no device profile: no instructions in it");
	help_neuron_has(neuron_device_read, "",
		"error no device profile: it must be a JSON object with a list \"instruction\"");
}
END_TEST

START_TEST(a_row_split_at_any_byte_is_the_same_row)
{
	help_neuron_seams(neuron_device_read, str_of(sample));
}
END_TEST

START_TEST(a_profile_cut_anywhere_gives_what_was_readable)
{
	help_neuron_cuts(neuron_device_read, str_of(sample));
}
END_TEST

START_TEST(only_kernel_rows_have_engine_and_opcode)
{
	struct op_summary op = { .kind = OP_KERNEL, .name = STR("Tensor MATMUL X") };
	struct str engine, opcode;

	ck_assert(neuron_device_split(&op, &engine, &opcode));
	ck_assert(str_eq(engine, STR("Tensor")));
	ck_assert(str_eq(opcode, STR("MATMUL X")));
	op.name = STR("model");
	ck_assert(!neuron_device_split(&op, &engine, &opcode));
	op = (struct op_summary){ .kind = OP_ENGINE, .name = STR("a b") };
	ck_assert(!neuron_device_split(&op, &engine, &opcode));
}
END_TEST

START_TEST(without_memory_it_fails_cleanly)
{
	help_neuron_memory(neuron_device_read, str_of(sample));
}
END_TEST

Suite *suite_neuron_device(void)
{
	Suite *s = suite_create("trace/neuron_device");
	TCase *t = tcase_create("all");

	tcase_add_test(t, semaphore_waits_are_no_work_and_the_matrix_unit_is_the_tensor_engine);
	tcase_add_test(t, each_nanosecond_is_an_orphan_of_one_row);
	tcase_add_test(t, transfers_throttling_memory_and_peaks_are_there);
	tcase_add_test(t, versions_and_labels_travel);
	tcase_add_test(t, todays_field_names_are_read_as_well);
	tcase_add_test(t, an_engine_or_an_opcode_may_stand_under_its_second_name);
	tcase_add_test(t, a_list_of_one_may_be_without_its_brackets);
	tcase_add_test(t, an_end_is_as_good_as_a_duration_and_blanks_are_no_digits);
	tcase_add_loop_test(t, an_odd_row_is_counted_and_the_next_one_read, 0, COUNT(odd_rows));
	tcase_add_test(t, a_window_of_odd_texts_can_be_sent);
	tcase_add_test(t, what_is_no_device_profile_is_an_error);
	tcase_add_test(t, a_row_split_at_any_byte_is_the_same_row);
	tcase_add_test(t, a_profile_cut_anywhere_gives_what_was_readable);
	tcase_add_test(t, only_kernel_rows_have_engine_and_opcode);
	tcase_add_test(t, without_memory_it_fails_cleanly);
	suite_add_tcase(s, t);
	return s;
}
