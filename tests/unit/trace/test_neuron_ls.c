#include "trace/neuron_ls.h"

#include <check.h>

#include "tests/unit/trace/help_neuron.h"

Suite *suite_neuron_ls(void);

static const char two[] =
	"[{\"instance_type\":\"trn2.48xlarge\",\"instance_id\":\"i-0dcf\",\"neuron_device\":0,\"bdf\":\"0000:e1:00.0\",\n"
	"\"cpu_affinity\":\"48-95\",\"numa_node\":\"1\",\"connected_to\":[12,1],\"nc_count\":4,\"logical_neuroncore_config\":2,\n"
	"\"memory_size\":103079215104,\"neuroncore_ids\":[0,1,2,3],\"neuron_processes\":[{\"pid\":66,\"command\":\"python a.py\",\n"
	"\"neuron_runtime_version\":\"2.34.10\"},{\"pid\":67,\"command\":\"\"}]},\n"
	"{\"neuron_device\":1,\"nc_count\":2,\"neuron_processes\":[]}]";

START_TEST(devices_and_cores_become_gauges)
{
	help_neuron_has(neuron_ls_read, two, "gauge neuron_devices 2 1");
	help_neuron_has(neuron_ls_read, two, "gauge neuroncores 6 1");
	help_neuron_has(neuron_ls_read, two, "gauge device_memory_size 1.03079215e+11 bytes device=0");
	help_neuron_has(neuron_ls_read, two, "gauge device_neuroncores 2 1 device=1");
	help_neuron_has(neuron_ls_read, two, "gauge device_processes 2 1 device=0");
	help_neuron_has(neuron_ls_read, two, "version runtime=2.34.10");
	help_neuron_has(neuron_ls_read, two, "label instance_type=trn2.48xlarge");
}
END_TEST

START_TEST(who_holds_which_cores_can_be_asked)
{
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct trace_report report = { 0 };
	struct input *in = NULL;
	struct neuron_host host;
	struct err e = { 0 };
	struct arena a;
	struct tokens t;

	arena_init(&a, 8 << 20);
	ck_assert_int_eq(input_open_memory(&in, str_of(two), "ls", &limits, &e), OK);
	tokens_init(&t, in, &report, &e);
	ck_assert_msg(neuron_ls_host(&a, &t, &host, &e) == OK, "%s", e.text);
	ck_assert_uint_eq(host.n_chips, 2);
	ck_assert(str_eq(host.instance_id, STR("i-0dcf")));
	ck_assert_uint_eq(host.chips[0]->n_core_ids, 4);
	ck_assert_int_eq(host.chips[0]->core_ids[3], 3);
	ck_assert_uint_eq(host.chips[0]->n_connected, 2);
	ck_assert_uint_eq(host.chips[0]->n_processes, 2);
	ck_assert_int_eq(host.chips[0]->processes[1].pid, 67);
	ck_assert(str_eq(host.chips[0]->processes[0].command, STR("python a.py")));
	ck_assert(str_eq(host.chips[0]->bdf, STR("0000:e1:00.0")));
	ck_assert_int_eq(host.chips[1]->index, 1);
	ck_assert_uint_eq(host.chips[1]->n_processes, 0);
	tokens_fini(&t);
	input_close(in);
	arena_fini(&a);
}
END_TEST

START_TEST(odd_numbers_are_counted)
{
	static const char text[] = "[{\"neuron_device\":0,\"nc_count\":-4,\"memory_size\":\"many\"}]";

	help_neuron_has(neuron_ls_read, text, "gauge device_neuroncores 0 1 device=0");
	help_neuron_has(neuron_ls_read, text, "skip bad_value 1 @31");
	help_neuron_has(neuron_ls_read, text, "skip bad_number 1 @48");
}
END_TEST

START_TEST(what_is_no_list_of_devices_is_an_error)
{
	help_neuron_has(neuron_ls_read, "[]", "error no list of neuron-ls -j: no device in it");
	help_neuron_has(neuron_ls_read, "{\"neuron_device\":0}", "error no list of neuron-ls -j: no device in it");
	help_neuron_has(neuron_ls_read, "[{\"pid\":0}]", "error no list of neuron-ls -j: no device in it");
}
END_TEST

START_TEST(a_list_split_at_any_byte_is_the_same)
{
	help_neuron_seams(neuron_ls_read, str_of(two));
}
END_TEST

START_TEST(a_list_cut_anywhere_gives_what_was_readable)
{
	help_neuron_cuts(neuron_ls_read, str_of(two));
}
END_TEST

START_TEST(without_memory_it_fails_cleanly)
{
	help_neuron_memory(neuron_ls_read, str_of(two));
}
END_TEST

Suite *suite_neuron_ls(void)
{
	Suite *s = suite_create("trace/neuron_ls");
	TCase *t = tcase_create("all");

	tcase_add_test(t, devices_and_cores_become_gauges);
	tcase_add_test(t, who_holds_which_cores_can_be_asked);
	tcase_add_test(t, odd_numbers_are_counted);
	tcase_add_test(t, what_is_no_list_of_devices_is_an_error);
	tcase_add_test(t, a_list_split_at_any_byte_is_the_same);
	tcase_add_test(t, a_list_cut_anywhere_gives_what_was_readable);
	tcase_add_test(t, without_memory_it_fails_cleanly);
	suite_add_tcase(s, t);
	return s;
}
