#include "trace/neuron_monitor.h"

#include <check.h>

#include "tests/unit/trace/help_neuron.h"

Suite *suite_neuron_monitor(void);

#define CORES(percent)                                                                                              \
	"\"neuroncore_counters\":{\"period\":1.5,\"neuroncores_in_use\":{\"0\":{\"neuroncore_utilization\":" percent "}},\"error\":\"\"}"
#define RUNTIME(tag, percent)                                                                                       \
	"{\"pid\":17,\"neuron_runtime_tag\":\"" tag "\",\"report\":{" CORES(percent) "}}"

static const char two[] =
	"{\"neuron_runtime_data\":[" RUNTIME("llm", "10") "],\"system_data\":{\"neuron_hw_counters\":{\"neuron_devices\":[{"
	"\"mem_ecc_corrected\":3,\"neuron_device_index\":2}]},\"vcpu_usage\":{\"average_usage\":{\"user\":50}}},"
	"\"instance_info\":{\"instance_type\":\"trn1.2xlarge\",\"instance_id\":\"i-1\"},\"neuron_hardware_info\":{\"neuron_device_count\":1}}\n"
	"{\"neuron_runtime_data\":[{\"report\":{\"execution_stats\":{\"period\":2,\"execution_summary\":{\"completed\":5},"
	"\"latency_stats\":{\"total_latency\":null,\"device_latency\":{\"p50\":0.001}}},\"memory_used\":{\"neuron_runtime_used_bytes\":"
	"{\"host\":7,\"usage_breakdown\":{\"neuroncore_memory_usage\":{\"1\":{\"tensors\":99}}}},\"loaded_models\":[{\"uuid\":\"a\"},"
	"{\"uuid\":\"b\"}]}," CORES("30") "},\"neuron_runtime_tag\":\"llm\"}],\"system_data\":{\"neuron_hw_counters\":{\"neuron_devices\":null,"
	"\"error\":\"no driver\"}}}\n";

START_TEST(utilisation_is_the_mean_of_the_reports_as_a_ratio)
{
	help_neuron_has(neuron_monitor_read, two, "gauge neuroncore_utilization_ratio 0.2 ratio tag=llm nc=0");
	help_neuron_has(neuron_monitor_read, two, "gauge host_cpu_ratio 0.5 ratio mode=user");
	help_neuron_has(neuron_monitor_read, two, "window dur_ns=3500000000 steps=0 none launches=0 events=2");
}
END_TEST

START_TEST(executions_latency_and_memory_carry_their_runtime)
{
	help_neuron_has(neuron_monitor_read, two, "gauge executions 5 1 tag=llm status=completed");
	help_neuron_has(neuron_monitor_read, two, "gauge execution_latency 0.001 s tag=llm percentile=p50 latency=device");
	help_neuron_has(neuron_monitor_read, two, "gauge runtime_memory 7 bytes tag=llm location=host");
	help_neuron_has(neuron_monitor_read, two, "gauge device_memory 99 bytes tag=llm nc=1 usage_type=tensors");
	help_neuron_has(neuron_monitor_read, two, "gauge loaded_models 2 1");
	help_neuron_has_not(neuron_monitor_read, two, "latency=total");
}
END_TEST

START_TEST(devices_hosts_and_errors_are_told)
{
	help_neuron_has(neuron_monitor_read, two, "gauge ecc_events 3 1 device=2 type=mem_corrected");
	help_neuron_has(neuron_monitor_read, two, "gauge neuron_devices 1 1");
	help_neuron_has(neuron_monitor_read, two, "label instance_type=trn1.2xlarge");
	help_neuron_has(neuron_monitor_read, two, "gauge monitor_errors 1 1 message=no driver");
}
END_TEST

START_TEST(a_runtime_without_a_tag_is_named_by_its_pid)
{
	help_neuron_has(neuron_monitor_read, "{\"neuron_runtime_data\":[" RUNTIME("", "10") "]}",
		"gauge neuroncore_utilization_ratio 0.1 ratio tag=17 nc=0");
}
END_TEST

START_TEST(both_names_of_flops_and_physical_cores_are_read)
{
	static const char text[] = "{\"neuron_runtime_data\":[{\"pid\":1,\"report\":{\"neuroncore_counters\":{\"neuroncores_in_use\":{\"0\":{"
				   "\"flops\":100,\"v3d\":{\"nc_v3.1\":{\"neuroncore_utilization\":50}}},\"1\":{\"effective_flops\":200}}}}}]}";

	help_neuron_has(neuron_monitor_read, text, "gauge flops 100 flops/s tag=1 nc=0");
	help_neuron_has(neuron_monitor_read, text, "gauge flops 200 flops/s tag=1 nc=1");
	help_neuron_has(neuron_monitor_read, text,
		"gauge neuroncore_physical_utilization_ratio 0.5 ratio tag=1 nc=0 core=nc_v3.1");
}
END_TEST

START_TEST(impossible_values_are_left_out)
{
	static const char text[] = "{\"neuron_runtime_data\":[" RUNTIME("a", "1000") "," RUNTIME("b", "-1") "," RUNTIME("c",
		"\"x\"") "," RUNTIME("d", "7") "]}";

	help_neuron_has(neuron_monitor_read, text, "gauge neuroncore_utilization_ratio 0.07 ratio tag=d nc=0");
	help_neuron_has(neuron_monitor_read, text, "skip bad_value 2 @157");
	help_neuron_has(neuron_monitor_read, text, "skip bad_number 1 @463");
	help_neuron_has_not(neuron_monitor_read, text, "tag=a");
}
END_TEST

START_TEST(a_damaged_line_costs_that_line)
{
	static const char text[] = "{\"neuron_runtime_data\":[" RUNTIME("a", "10") "]}\n\n{\"neuron_runtime_data\":[ {\"pid\" 5\n7\n{\"neuron_runtime_data\":["
		RUNTIME("a", "30") "]}\n";

	help_neuron_has(neuron_monitor_read, text, "gauge neuroncore_utilization_ratio 0.2 ratio tag=a nc=0");
	help_neuron_has(neuron_monitor_read, text, "skip bad_json 1 @179");
	help_neuron_has(neuron_monitor_read, text, "skip bad_event 1 @213");
}
END_TEST

/* As "jq ." and the documents print them. */
static void spread_out(struct str text, struct buf *out)
{
	bool quoted = false;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		quoted ^= c == '"';
		buf_byte(out, c);
		if (!quoted && (c == '{' || c == '[' || c == ','))
			buf_text(out, "\n  ");
	}
}

static void expect_as_two(struct str text)
{
	struct buf want, got;

	buf_init(&want, 1 << 20);
	buf_init(&got, 1 << 20);
	help_neuron_read(neuron_monitor_read, str_of(two), 0, &want);
	help_neuron_read(neuron_monitor_read, text, 0, &got);
	ck_assert_str_eq(got.p, want.p);
	buf_fini(&want);
	buf_fini(&got);
}

START_TEST(a_report_may_take_many_lines)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	spread_out(str_of(two), &text);
	expect_as_two(buf_view(&text));
	help_neuron_seams(neuron_monitor_read, buf_view(&text));
	help_neuron_cuts(neuron_monitor_read, buf_view(&text));
	buf_fini(&text);
}
END_TEST

START_TEST(reports_may_be_a_list)
{
	struct str first = str_upto(str_of(two), str_find_byte(str_of(two), '\n'));
	struct buf list, text;

	buf_init(&list, 1 << 20);
	buf_init(&text, 1 << 20);
	buf_fmt(&list, "[%.*s,%s]", STR_ARG(first), two + first.n + 1);
	expect_as_two(buf_view(&list));
	spread_out(buf_view(&list), &text);
	expect_as_two(buf_view(&text));
	buf_fini(&list);
	buf_fini(&text);
}
END_TEST

START_TEST(damage_in_a_report_of_many_lines_costs_that_report)
{
	static const char text[] = "{\n \"neuron_runtime_data\":[\n  {\"pid\" 5}]\n}\n{\n \"neuron_runtime_data\":[\n " RUNTIME("a", "30") "\n]}\n";

	help_neuron_has(neuron_monitor_read, text, "gauge neuroncore_utilization_ratio 0.3 ratio tag=a nc=0");
	help_neuron_has(neuron_monitor_read, text, "skip bad_json 1 @0");
}
END_TEST

START_TEST(a_report_of_nothing_but_errors_tells_them)
{
	help_neuron_has(neuron_monitor_read, "{\"neuron_runtime_data\":[],\"neuron_hardware_info\":{\"error\":\"no devices\"}}",
		"gauge monitor_errors 1 1 message=no devices");
}
END_TEST

START_TEST(what_is_no_report_is_an_error)
{
	help_neuron_has(neuron_monitor_read, "{\"a\":1}\n", "error no report of neuron-monitor in it");
	help_neuron_has(neuron_monitor_read, "", "error no report of neuron-monitor in it");
}
END_TEST

START_TEST(a_report_split_at_any_byte_is_the_same_report)
{
	help_neuron_seams(neuron_monitor_read, str_of(two));
}
END_TEST

START_TEST(reports_cut_anywhere_give_what_was_readable)
{
	help_neuron_cuts(neuron_monitor_read, str_of(two));
}
END_TEST

START_TEST(without_memory_it_fails_cleanly)
{
	help_neuron_memory(neuron_monitor_read, str_of(two));
}
END_TEST

/* ---- one at a time */

static struct arena arena;
static struct neuron_monitor *fold;

static void start(void)
{
	arena_init(&arena, 16 << 20);
	fold = neuron_monitor_new(&arena);
}

static void stop(void)
{
	neuron_monitor_free(fold);
	arena_fini(&arena);
}

static const struct gauge *gauge_of(const struct window *w, const char *name, const char *key, const char *value)
{
	for (size_t i = 0; i < w->n_gauges; i++)
		for (size_t k = 0; k < w->gauges[i].n_labels; k++)
			if (str_eq(w->gauges[i].name, str_of(name)) && str_eq(w->gauges[i].labels[k].key, str_of(key)) &&
				str_eq(w->gauges[i].labels[k].value, str_of(value)))
				return &w->gauges[i];
	ck_abort_msg("no %s with %s=%s", name, key, value);
	return NULL;
}

static int add(const char *line)
{
	return neuron_monitor_add(fold, str_of(line), NULL);
}

#define EXECUTED(pid, tag, n)                                                                                       \
	"{\"pid\":" pid ",\"neuron_runtime_tag\":\"" tag "\",\"report\":{\"execution_stats\":{\"period\":2,\"execution_summary\":"  \
	"{\"completed\":" n "}},\"memory_used\":{\"period\":9,\"neuron_runtime_used_bytes\":{\"host\":" n "}}}}"
#define REPORT(runtimes) "{\"neuron_runtime_data\":[" runtimes "],\"instance_info\":{\"instance_id\":\"i-1\"}}"

START_TEST(reports_that_come_one_by_one_are_folded_into_one_window)
{
	struct window w;
	struct err e = { 0 };

	ck_assert_int_eq(add("{\"neuron_runtime_data\":[" RUNTIME("llm", "10") "]}"), OK);
	ck_assert_int_eq(add("{\"neuron_runtime_data\":[" RUNTIME("llm", "30") "]}\n"), OK);
	ck_assert_int_eq(neuron_monitor_finish(fold, &w, &e), OK);
	ck_assert_int_eq(window_check(&(struct window){ .service = STR("s"), .host = STR("h"), .gauges = w.gauges,
		.n_gauges = w.n_gauges }, &e), OK);
	ck_assert_double_eq_tol(gauge_of(&w, "neuroncore_utilization_ratio", "pid", "17")->value, 0.2, 1e-9);
	ck_assert_int_eq(w.dur_ns, 3 * 1000000000LL);
	ck_assert_uint_eq(w.events, 2);
}
END_TEST

/* As the ranks of one model do. */
START_TEST(processes_that_share_a_tag_stay_apart)
{
	const struct neuron_runtime *r;
	struct window w;
	size_t n;

	ck_assert_int_eq(add(REPORT(EXECUTED("7", "llm", "5") "," EXECUTED("8", "llm", "6"))), OK);
	r = neuron_monitor_runtimes(fold, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(r[0].pid, 7);
	ck_assert(str_eq(r[0].tag, STR("llm")) && str_eq(r[1].tag, STR("llm")));
	ck_assert(r[0].completed == 5 && r[1].completed == 6);
	ck_assert_int_eq(r[0].period_ns, 2 * 1000000000LL);
	ck_assert_int_eq(neuron_monitor_finish(fold, &w, NULL), OK);
	ck_assert(gauge_of(&w, "runtime_memory", "pid", "7")->value == 5);
	ck_assert(gauge_of(&w, "runtime_memory", "pid", "8")->value == 6);
	ck_assert(str_eq(w.host, STR("i-1")));
}
END_TEST

START_TEST(a_runtime_that_ended_is_known_and_not_in_the_last_report)
{
	const struct neuron_runtime *r;
	size_t n;

	ck_assert_int_eq(add(REPORT(EXECUTED("7", "7", "5"))), OK);
	ck_assert_int_eq(add(REPORT(EXECUTED("8", "", "6") ",{\"pid\":9,\"report\":{}}")), OK);
	r = neuron_monitor_runtimes(fold, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert(!r[0].in_last && r[1].in_last && r[2].in_last);
	ck_assert_uint_eq(r[0].tag.n + r[1].tag.n, 0); /* its pid is no tag */
	ck_assert(r[2].completed == -1);
}
END_TEST

START_TEST(a_line_that_is_no_report_leaves_the_others_as_they_are)
{
	struct window w;
	struct err e = { 0 };

	ck_assert_int_eq(neuron_monitor_finish(fold, &w, &e), E_FORMAT);
	ck_assert_int_eq(add(REPORT(EXECUTED("7", "llm", "5"))), OK);
	ck_assert_int_eq(add(""), E_FORMAT);
	ck_assert_int_eq(add("neuron-monitor: no device"), E_FORMAT);
	ck_assert_int_eq(add("[1,2]"), E_FORMAT);
	ck_assert_int_eq(neuron_monitor_add(fold, STR("5"), &e), E_FORMAT);
	ck_assert_str_eq(e.text, "no report of neuron-monitor: \"5\"");
	ck_assert_int_eq(add("{\"neuron_runtime_data\":[{\"pid\":7,\"report\":{\"execution_stats\":{\"execution_summary\":{\"completed\":3}"), OK);
	ck_assert_uint_gt(neuron_monitor_lost(fold), 0);
	ck_assert_int_eq(neuron_monitor_finish(fold, &w, &e), OK);
	ck_assert(gauge_of(&w, "executions", "pid", "7")->value == 8);
}
END_TEST

Suite *suite_neuron_monitor(void)
{
	Suite *s = suite_create("trace/neuron_monitor");
	TCase *t = tcase_create("all");

	tcase_add_test(t, utilisation_is_the_mean_of_the_reports_as_a_ratio);
	tcase_add_test(t, executions_latency_and_memory_carry_their_runtime);
	tcase_add_test(t, devices_hosts_and_errors_are_told);
	tcase_add_test(t, a_runtime_without_a_tag_is_named_by_its_pid);
	tcase_add_test(t, both_names_of_flops_and_physical_cores_are_read);
	tcase_add_test(t, impossible_values_are_left_out);
	tcase_add_test(t, a_damaged_line_costs_that_line);
	tcase_add_test(t, a_report_may_take_many_lines);
	tcase_add_test(t, reports_may_be_a_list);
	tcase_add_test(t, damage_in_a_report_of_many_lines_costs_that_report);
	tcase_add_test(t, a_report_of_nothing_but_errors_tells_them);
	tcase_add_test(t, what_is_no_report_is_an_error);
	tcase_add_test(t, a_report_split_at_any_byte_is_the_same_report);
	tcase_add_test(t, reports_cut_anywhere_give_what_was_readable);
	tcase_add_test(t, without_memory_it_fails_cleanly);
	suite_add_tcase(s, t);
	t = tcase_create("one at a time");
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, reports_that_come_one_by_one_are_folded_into_one_window);
	tcase_add_test(t, processes_that_share_a_tag_stay_apart);
	tcase_add_test(t, a_runtime_that_ended_is_known_and_not_in_the_last_report);
	tcase_add_test(t, a_line_that_is_no_report_leaves_the_others_as_they_are);
	suite_add_tcase(s, t);
	return s;
}
