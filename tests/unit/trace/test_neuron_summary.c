#include "trace/neuron_summary.h"

#include <check.h>

#include "tests/unit/trace/help_neuron.h"

Suite *suite_neuron_summary(void);

static const char one[] =
	"{\"n_7792fe1daf87c456\":{\"total_time\":0.25,\"mfu_estimated_percent\":0.4,\"nc_idx\":3,\"nd_idx\":1,\n"
	"\"hbm_read_bytes\":6582249472,\"vector_engine_instruction_time\":0.224051265651,\n"
	"\"vector_engine_instruction_count\":403039,\"dma_transfer_time\":1e-3,\"dma_transfer_count\":\"10\",\n"
	"\"throttle_active_nc5_time_ns\":22297550,\"throttle_activity_0_avg_util_limit_nc4_percent\":1,\n"
	"\"neuroncore_cycle_count\":299331264,\"compiler_version\":\"2.24\",\"profiler_version\":\"2.29\",\n"
	"\"instance_type\":\"trn1.2xlarge\",\"nothing\":null,\"odd\":[1,2]}}";

START_TEST(the_ending_of_a_name_tells_its_unit)
{
	help_neuron_has(neuron_summary_read, one, "gauge mfu_estimated_ratio 0.4 ratio nc=3 nd=1");
	help_neuron_has(neuron_summary_read, one, "gauge total_time 0.25 s nc=3 nd=1");
	help_neuron_has(neuron_summary_read, one, "gauge hbm_read_bytes 6.58224947e+09 bytes nc=3 nd=1");
	help_neuron_has(neuron_summary_read, one, "gauge neuroncore_cycle_count 299331264 cycles nc=3 nd=1");
}
END_TEST

START_TEST(a_core_in_a_name_becomes_a_label)
{
	help_neuron_has(neuron_summary_read, one, "gauge throttle_active_time_ns 22297550 ns nc=5 nd=1");
	help_neuron_has(neuron_summary_read, one, "gauge throttle_activity_0_avg_util_limit_ratio 1 ratio nc=4 nd=1");
	help_neuron_has(neuron_summary_read, "{\"total_time\":1,\"throttle_active_nc12_time_ns\":5}",
		"gauge throttle_active_time_ns 5 ns nc=12");
	help_neuron_has(neuron_summary_read, "{\"total_time\":1,\"ncx_nc_time_ns\":5}", "gauge ncx_nc_time_ns 5 ns");
}
END_TEST

START_TEST(engines_are_ops_with_sums)
{
	help_neuron_has(neuron_summary_read, one,
		"op engine Vector calls=403039 device=224051265/224051265 cpu=0/0 orphan=0/0");
	help_neuron_has(neuron_summary_read, one, "op engine DMA calls=10 device=1000000/1000000 cpu=0/0 orphan=0/0");
	help_neuron_has(neuron_summary_read, one, "window dur_ns=250000000 steps=0 none launches=0 events=10 device");
}
END_TEST

START_TEST(versions_and_instance_are_the_windows)
{
	help_neuron_has(neuron_summary_read, one, "version compiler=2.24");
	help_neuron_has(neuron_summary_read, one, "version profiler=2.29");
	help_neuron_has(neuron_summary_read, one, "label instance_type=trn1.2xlarge");
}
END_TEST

static const struct {
	const char *field;
	bool possible;
} values[] = {
	{ "\"x_percent\":0", true },
	{ "\"x_percent\":1.0000001", true },
	{ "\"x_percent\":47.9", false },
	{ "\"x_percent\":-0.1", false },
	{ "\"total_duration_ns\":1786270865722793417", false },
	{ "\"total_duration_ns\":178627086572279", true },
	{ "\"total_time\":1786270865", false },
	{ "\"total_time\":-1", false },
	{ "\"x_bytes\":1e30", false },
	{ "\"x_count\":-5", false },
	{ "\"x_count\":5", true },
	{ "\"x\":NaN", false },
};

START_TEST(impossible_values_are_left_out_and_counted)
{
	struct buf text, out;

	buf_init(&text, 4096);
	buf_init(&out, 1 << 20);
	buf_fmt(&text, "{\"n_0123456789\":{\"good_count\":1,%s}}", values[_i].field);
	help_neuron_read(neuron_summary_read, buf_view(&text), 0, &out);
	ck_assert_ptr_nonnull(strstr(out.p, "gauge good_count 1 1\n"));
	ck_assert_msg((strstr(out.p, "skip bad_value 1 @") == NULL) == values[_i].possible ||
			      strstr(values[_i].field, "NaN") != NULL,
		"%s:\n%s", values[_i].field, out.p);
	ck_assert_msg((strstr(out.p, "events=2") != NULL) == values[_i].possible, "%s:\n%s", values[_i].field, out.p);
	buf_fini(&text);
	buf_fini(&out);
}
END_TEST

START_TEST(several_profiles_give_their_mean_where_cores_are_not_named)
{
	static const char two[] = "{\"n_00000000aa\":{\"total_time\":1,\"a_count\":4},\"n_00000000bb\":{\"total_time\":3,\"a_count\":2}}";

	help_neuron_has(neuron_summary_read, two, "gauge total_time 2 s");
	help_neuron_has(neuron_summary_read, two, "gauge a_count 3 1");
	help_neuron_has(neuron_summary_read, two, "window dur_ns=3000000000 steps=0 none launches=0 events=4");
}
END_TEST

START_TEST(blocks_may_have_any_key)
{
	static const char text[] = "{\"prefill\":{\"total_time\":0.5,\"nc_idx\":1,\"message_count\":{\"a\":3}},\"decode\":{\"total_time\":0.25,\"nc_idx\":2}}";

	help_neuron_has(neuron_summary_read, text, "gauge total_time 0.5 s nc=1");
	help_neuron_has(neuron_summary_read, text, "gauge total_time 0.25 s nc=2");
	help_neuron_has(neuron_summary_read, text, "gauge message_count 3 1 nc=1 type=a");
	help_neuron_has(neuron_summary_read, "{\"total_time\":0.5,\"warnings\":[{\"n\":1}],\"message_count\":{\"a\":3},\"nc_idx\":1}",
		"gauge message_count 3 1 nc=1 type=a");
	help_neuron_has(neuron_summary_read, "{\"total_time\":0.5,\"warnings\":[{\"n\":1}],\"message_count\":{\"a\":3},\"nc_idx\":1}",
		"gauge total_time 0.5 s nc=1");
}
END_TEST

START_TEST(the_system_block_counts_events_by_type)
{
	static const char block[] = "{\"s_2b34ee2866d9218f\":{\"total_duration_ns\":1786270865722793417,"
				    "\"event_type_count\":{\"nc_exec_running\":40,\"cc_running\":720}}}";

	help_neuron_has(neuron_summary_read, block, "gauge event_type_count 40 1 type=nc_exec_running");
	help_neuron_has(neuron_summary_read, block, "gauge event_type_count 720 1 type=cc_running");
	help_neuron_has(neuron_summary_read, block, "skip bad_value 1 @43");
}
END_TEST

START_TEST(what_is_no_summary_is_an_error)
{
	help_neuron_has(neuron_summary_read, "{}", "error no summary: no numbers in it");
	help_neuron_has(neuron_summary_read, "7", "error no summary: it must be a JSON object with one member a profile");
}
END_TEST

START_TEST(a_summary_split_at_any_byte_is_the_same)
{
	help_neuron_seams(neuron_summary_read, str_of(one));
}
END_TEST

START_TEST(a_summary_cut_anywhere_gives_what_was_readable)
{
	help_neuron_cuts(neuron_summary_read, str_of(one));
}
END_TEST

START_TEST(without_memory_it_fails_cleanly)
{
	help_neuron_memory(neuron_summary_read, str_of(one));
}
END_TEST

Suite *suite_neuron_summary(void)
{
	Suite *s = suite_create("trace/neuron_summary");
	TCase *t = tcase_create("all");

	tcase_add_test(t, the_ending_of_a_name_tells_its_unit);
	tcase_add_test(t, a_core_in_a_name_becomes_a_label);
	tcase_add_test(t, engines_are_ops_with_sums);
	tcase_add_test(t, versions_and_instance_are_the_windows);
	tcase_add_loop_test(t, impossible_values_are_left_out_and_counted, 0, COUNT(values));
	tcase_add_test(t, several_profiles_give_their_mean_where_cores_are_not_named);
	tcase_add_test(t, blocks_may_have_any_key);
	tcase_add_test(t, the_system_block_counts_events_by_type);
	tcase_add_test(t, what_is_no_summary_is_an_error);
	tcase_add_test(t, a_summary_split_at_any_byte_is_the_same);
	tcase_add_test(t, a_summary_cut_anywhere_gives_what_was_readable);
	tcase_add_test(t, without_memory_it_fails_cleanly);
	suite_add_tcase(s, t);
	return s;
}
