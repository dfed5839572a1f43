#include "agent/monitor.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/agent/folder.h"
#include "wire/wire.h"

Suite *suite_monitor(void);

enum { WINDOWS_MAX = 64 };

static struct source src;
static struct neuron_monitor_conf conf;
static struct sequence *seq;
static struct plan *plan;
static struct meter *meter;
static struct arena arena;

/* What came out. */
static struct window got[WINDOWS_MAX];
static size_t n_got;

static char *text(const char *s)
{
	return (char *)(uintptr_t)s;
}

/* A report as the documents have it: two runtimes of a model, one without a tag, a host. */
#define CORES(n, percent) "\"neuroncore_counters\":{\"period\":1.0,\"neuroncores_in_use\":{\"" n "\":{\"neuroncore_utilization\":" percent "}}}"
#define RUNTIME(pid, tag, core, percent)                                                                            \
	"{\"pid\":" pid ",\"neuron_runtime_tag\":\"" tag "\",\"error\":\"\",\"report\":{\"execution_stats\":{\"period\":1.0,\"error_summary\":{\"generic\":0},"  \
	"\"execution_summary\":{\"completed\":40,\"timed_out\":0}}," CORES(core, percent) "}}"
#define SYSTEM                                                                                                      \
	"\"system_data\":{\"memory_info\":{\"period\":1.0,\"memory_total_bytes\":1000,\"memory_used_bytes\":400}},\"instance_info\":"  \
	"{\"instance_type\":\"trn1.2xlarge\"}}"
#define REPORT                                                                                                      \
	"{\"neuron_runtime_data\":[" RUNTIME("7", "llm", "0", "20") "," RUNTIME("8", "llm", "1", "40") "],"          \
	SYSTEM "\n"

static void write_program(const char *script)
{
	char all[4096];

	snprintf(all, sizeof(all), "#!/bin/sh\nd=$(dirname \"$0\")\necho start >> $d/starts\n%s", script);
	folder_write("neuron-monitor", str_of(all));
	ck_assert_int_eq(chmod(folder_path("neuron-monitor"), 0755), 0);
}

static void write_process(const char *pid, struct str environment)
{
	char name[64];

	snprintf(name, sizeof(name), "proc/%s", pid);
	ck_assert_int_eq(mkdir(folder_path(name), 0755), 0);
	snprintf(name, sizeof(name), "proc/%s/stat", pid);
	folder_write(name, STR("7 (python) S 1 7 7 0 -1 4194304 1 0 0 0 5 1 0 0 20 0 9 0 42 1 2 3\n"));
	snprintf(name, sizeof(name), "proc/%s/environ", pid);
	folder_write(name, environment);
}

#define STEADY "while :; do cat $d/report; sleep 0.02; done\n"

static void setup(void)
{
	folder_make();
	ck_assert_int_eq(mkdir(folder_path("proc"), 0755), 0);
	folder_write("report", STR(REPORT));
	write_program(STEADY);
	conf = (struct neuron_monitor_conf){ .command = text(folder_path("neuron-monitor")), .config = text(""), .service = text(""),
		.deploy = text(""), .interval_ns = 300 * NS_PER_MS, .timeout_ns = 2 * NS_PER_S };
	seq = sequence_new(folder, STR("an-agent"), 5);
	arena_init(&arena, 64 << 20);
	n_got = 0;
	plan = NULL;
	meter = NULL;
}

static void close_it(void)
{
	if (src.type != NULL)
		src.type->close(src.self);
	src = (struct source){ 0 };
}

static void teardown(void)
{
	close_it();
	sequence_free(seq);
	arena_fini(&arena);
	meter_free(meter);
	plan_free(plan);
	folder_remove();
}

static void open_it(void)
{
	const struct monitor_settings s = { .conf = &conf, .origin = { STR("an-agent"), STR("1"), STR("trn-1"), seq },
		.meter = meter, .proc = folder_path("proc"), .again_first_ns = 20 * NS_PER_MS };
	struct err e = { 0 };

	ck_assert_msg(monitor_open(&src, &s, &e) == OK, "%s", e.text);
}

static void take_batches(int64_t now_ns)
{
	struct wire_batch b;
	struct buf bytes;

	buf_init(&bytes, 1 << 20);
	while (src.type->batch(src.self, now_ns, &bytes)) {
		ck_assert_int_eq(wire_decode(&arena, buf_view(&bytes), WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL), OK);
		ck_assert_uint_lt(n_got, WINDOWS_MAX);
		got[n_got++] = b.windows[0];
		buf_reset(&bytes);
	}
	buf_fini(&bytes);
}

/* As the agent's loop does: woken by the fd or when it is time. */
static void step(void)
{
	int64_t now = clock_mono_ns();

	if (meter != NULL)
		meter_look(meter, now);
	src.type->look(src.self, now, clock_wall_ns());
	take_batches(now);
	clock_sleep_ns(5 * NS_PER_MS);
}

static void run_until(bool (*done)(void))
{
	int64_t until = clock_mono_ns() + 10 * NS_PER_S;

	while (!done() && clock_mono_ns() < until)
		step();
	ck_assert(done());
}

static bool two_windows(void)
{
	return n_got >= 2;
}

static const struct gauge *find(const struct window *w, const char *name, const char *key, const char *value)
{
	for (size_t i = 0; i < w->n_gauges; i++) {
		const struct gauge *g = &w->gauges[i];

		if (!str_eq(g->name, str_of(name)))
			continue;
		if (key == NULL)
			return g;
		for (size_t k = 0; k < g->n_labels; k++)
			if (str_eq(g->labels[k].key, str_of(key)) && str_eq(g->labels[k].value, str_of(value)))
				return g;
	}
	return NULL;
}

static size_t starts(void)
{
	struct buf b;
	size_t n = 0;

	if (!folder_has("starts"))
		return 0;
	buf_init(&b, 1 << 16);
	folder_read("starts", &b);
	for (size_t i = 0; i < b.n; i++)
		n += b.p[i] == '\n';
	buf_fini(&b);
	return n;
}

START_TEST(reports_of_a_while_become_one_window_of_gauges)
{
	const struct window *w = &got[1];

	open_it();
	run_until(two_windows);
	ck_assert(str_eq(w->service, STR("llm")) && str_eq(w->host, STR("trn-1")));
	ck_assert(str_eq(w->source, STR("neuron-monitor")));
	ck_assert_uint_eq(w->n_ops, 0);
	ck_assert_int_ge(w->dur_ns, conf.interval_ns);
	ck_assert_int_ge(w->start_ns, got[0].start_ns + got[0].dur_ns - NS_PER_MS);
	ck_assert_uint_ge(w->events, 3); /* reports */
	ck_assert_double_eq_tol(find(w, "neuroncore_utilization_ratio", "nc", "0")->value, 0.2, 1e-9);
	ck_assert_double_eq_tol(find(w, "neuroncore_utilization_ratio", "pid", "8")->value, 0.4, 1e-9);
	ck_assert_double_eq(find(w, "executions", "pid", "7")->value, 40 * (double)w->events);
	ck_assert_double_eq(find(w, "host_memory_used", NULL, NULL)->value, 400); /* the host's goes with the only service */
	ck_assert(str_eq(w->labels[0].value, STR("trn1.2xlarge")));
	ck_assert(memcmp(got[0].id, got[1].id, WINDOW_ID) != 0);
	ck_assert_uint_eq(starts(), 1);
}
END_TEST

START_TEST(a_process_says_whose_it_is_and_which_worker)
{
	const struct window *w;

	write_process("7", STR("TRAINSPOTTER_SERVICE=chat\0TRAINSPOTTER_DEPLOY=v2\0RANK=3\0"));
	open_it();
	run_until(two_windows); /* two services: three windows at a time */
	w = str_eq(got[0].service, STR("chat")) ? &got[0] : &got[1];
	ck_assert(str_eq(w->service, STR("chat")) && str_eq(w->deploy, STR("v2")));
	ck_assert_ptr_nonnull(find(w, "executions", "worker", "3"));
	ck_assert_ptr_null(find(w, "executions", "pid", "7"));
	ck_assert_ptr_null(find(w, "executions", "pid", "8")); /* it has its tag: llm */
	run_until(two_windows);
	ck_assert_ptr_null(find(w, "host_memory_used", NULL, NULL));
}
END_TEST

/* 4294967303 is 7 in 32 bits. */
START_TEST(a_number_that_is_no_pid_names_no_other_process)
{
	folder_write("report", STR("{\"neuron_runtime_data\":[" RUNTIME("4294967303", "llm", "0", "20") "]," SYSTEM "\n"));
	write_process("7", STR("TRAINSPOTTER_SERVICE=secret\0RANK=3\0"));
	open_it();
	run_until(two_windows);
	for (size_t i = 0; i < n_got; i++) {
		ck_assert(!str_eq(got[i].service, STR("secret")));
		ck_assert_ptr_null(find(&got[i], "executions", "worker", "3"));
	}
}
END_TEST

START_TEST(what_is_the_hosts_goes_with_the_service_of_the_configuration)
{
	size_t hosts = 0;

	conf.service = text("fleet");
	open_it();
	run_until(two_windows);
	for (size_t i = 0; i < n_got; i++)
		if (find(&got[i], "host_memory_used", NULL, NULL) != NULL) {
			ck_assert(str_eq(got[i].service, STR("fleet")));
			hosts++;
		}
	ck_assert_uint_ge(hosts, 1);
}
END_TEST

START_TEST(a_report_in_pieces_is_one_report)
{
	write_program("while :; do head -c 300 $d/report; sleep 0.02; tail -c +301 $d/report; done\n");
	open_it();
	run_until(two_windows);
	ck_assert_double_eq_tol(find(&got[1], "neuroncore_utilization_ratio", "pid", "8")->value, 0.4, 1e-9);
	ck_assert_uint_eq(monitor_count(&src, MONITOR_BAD_LINE), 0);
}
END_TEST

START_TEST(garbage_between_reports_costs_itself)
{
	write_program("while :; do echo oops; echo '[1,2]'; echo; cat $d/report; head -c 50 $d/report; echo; sleep 0.02; done\n");
	open_it();
	run_until(two_windows);
	ck_assert_uint_gt(monitor_count(&src, MONITOR_BAD_LINE), 0);
	ck_assert_double_eq_tol(find(&got[1], "neuroncore_utilization_ratio", "pid", "7")->value, 0.2, 1e-9);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_passed_over)
{
	write_program("while :; do head -c 5000000 /dev/zero | tr '\\0' 'x'; echo; cat $d/report; sleep 0.05; done\n");
	open_it();
	run_until(two_windows);
	ck_assert_uint_gt(monitor_count(&src, MONITOR_LONG_LINE), 0);
	ck_assert_ptr_nonnull(find(&got[1], "neuroncore_utilization_ratio", "pid", "7"));
}
END_TEST

static bool started_thrice(void)
{
	return starts() >= 3;
}

START_TEST(one_that_ends_is_started_again_with_longer_and_longer_waits)
{
	int64_t began = clock_mono_ns();

	write_program("echo no driver >&2; exit 1\n");
	open_it();
	run_until(started_thrice);
	ck_assert_int_ge(clock_mono_ns() - began, 20 * NS_PER_MS + 40 * NS_PER_MS);
	ck_assert_uint_ge(monitor_count(&src, MONITOR_ENDED), 2);
	ck_assert_uint_le(starts(), 4);
	write_program(STEADY); /* the driver is there now */
	run_until(two_windows);
}
END_TEST

START_TEST(what_it_said_before_it_ended_counts)
{
	write_program("cat $d/report; exit 0\n");
	open_it();
	run_until(two_windows);
	ck_assert_ptr_nonnull(find(&got[0], "neuroncore_utilization_ratio", "pid", "7"));
}
END_TEST

START_TEST(a_program_that_is_missing_is_waited_for)
{
	ck_assert_int_eq(unlink(folder_path("neuron-monitor")), 0);
	open_it();
	for (int i = 0; i < 30; i++)
		step();
	ck_assert_uint_ge(monitor_count(&src, MONITOR_NO_PROGRAM), 1);
	write_program(STEADY);
	run_until(two_windows);
}
END_TEST

START_TEST(one_that_hangs_is_ended_and_started_again)
{
	conf.timeout_ns = 200 * NS_PER_MS;
	write_program("cat $d/report; [ $(wc -l < $d/starts) -lt 2 ] && { trap '' TERM; sleep 60 & sleep 60; }\n" STEADY);
	open_it();
	run_until(two_windows);
	ck_assert_uint_ge(monitor_count(&src, MONITOR_HUNG), 1);
	ck_assert_uint_eq(monitor_count(&src, MONITOR_ENDED), 0); /* by our will */
	ck_assert_uint_eq(starts(), 2);
}
END_TEST

START_TEST(one_that_closes_its_output_is_ended)
{
	conf.timeout_ns = 200 * NS_PER_MS;
	write_program("[ $(wc -l < $d/starts) -lt 2 ] && { exec >&- 2>&-; sleep 60; }\n" STEADY);
	open_it();
	run_until(two_windows);
	ck_assert_uint_ge(monitor_count(&src, MONITOR_HUNG), 1);
}
END_TEST

static bool flooded(void)
{
	return monitor_count(&src, MONITOR_FLOOD) > 0;
}

START_TEST(a_flood_is_stopped)
{
	conf.interval_ns = NS_PER_MIN;
	write_program("[ $(wc -l < $d/starts) -lt 2 ] && yes \"$(cat $d/report)\"\n" STEADY);
	open_it();
	run_until(flooded);
	conf.interval_ns = 300 * NS_PER_MS;
	n_got = 0;
	run_until(two_windows);
}
END_TEST

START_TEST(a_while_without_reports_makes_no_window)
{
	write_program("sleep 60\n");
	conf.timeout_ns = NS_PER_MIN;
	open_it();
	for (int i = 0; i < 200; i++)
		step();
	ck_assert_uint_eq(n_got, 0);
	ck_assert_uint_ge(monitor_count(&src, MONITOR_SILENT), 2);
}
END_TEST

START_TEST(it_ends_with_the_source_and_leaves_nobody_behind)
{
	struct buf b;
	int64_t pid;

	write_program("echo $$ > $d/pid\n" STEADY);
	open_it();
	run_until(two_windows);
	buf_init(&b, 64);
	folder_read("pid", &b);
	ck_assert_int_eq(str_to_i64(str_trim(buf_view(&b)), &pid), OK);
	buf_fini(&b);
	close_it();
	ck_assert(kill((pid_t)pid, 0) < 0 && errno == ESRCH);
}
END_TEST

START_TEST(the_agents_token_is_not_in_its_environment)
{
	struct buf b;

	setenv("TRAINSPOTTER_TOKEN", "s3cret", 1);
	setenv("NEURON_X", "y", 1);
	conf.config = text("/etc/monitor.conf");
	write_program("echo \"$*\" > $d/args; env > $d/env\n" STEADY);
	open_it();
	run_until(two_windows);
	buf_init(&b, 1 << 16);
	folder_read("env", &b);
	ck_assert(str_contains(buf_view(&b), STR("NEURON_X=y")));
	ck_assert(!str_contains(buf_view(&b), STR("s3cret")));
	folder_read("args", &b);
	ck_assert_str_eq(b.p, "-c /etc/monitor.conf\n");
	buf_fini(&b);
	unsetenv("TRAINSPOTTER_TOKEN");
}
END_TEST

START_TEST(executions_of_a_process_that_is_profiled_tell_what_it_costs)
{
	struct plan_settings ps = { .max_at_once = 1 };
	const struct plan_worker w = { .source = "kineto", .key = "pid 7", .pid = 7, .service = "llm", .idle = true };
	const struct cost_settings cs = { .budget_ppm = 10000, .restore_ns = NS_PER_HOUR };
	uint64_t id;

	schedule_init(&ps.schedule, NS_PER_MIN, STR("trn-1"));
	plan = plan_new(&ps);
	meter = meter_new(&cs, plan, folder_path("proc"));
	id = plan_seen(plan, &w, clock_mono_ns(), clock_wall_ns());
	ck_assert_uint_ne(id, 0);
	open_it();
	run_until(two_windows);
	ck_assert_int_eq(meter_of_worker(meter, id).counter, COST_EXECUTIONS);
}
END_TEST

Suite *suite_monitor(void)
{
	Suite *s = suite_create("agent/monitor");
	TCase *t = tcase_create("reports");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, reports_of_a_while_become_one_window_of_gauges);
	tcase_add_test(t, a_process_says_whose_it_is_and_which_worker);
	tcase_add_test(t, a_number_that_is_no_pid_names_no_other_process);
	tcase_add_test(t, what_is_the_hosts_goes_with_the_service_of_the_configuration);
	tcase_add_test(t, a_report_in_pieces_is_one_report);
	tcase_add_test(t, executions_of_a_process_that_is_profiled_tell_what_it_costs);
	tcase_add_test(t, the_agents_token_is_not_in_its_environment);
	tcase_add_test(t, it_ends_with_the_source_and_leaves_nobody_behind);
	suite_add_tcase(s, t);
	t = tcase_create("troubles");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, garbage_between_reports_costs_itself);
	tcase_add_test(t, a_line_that_is_too_long_is_passed_over);
	tcase_add_test(t, one_that_ends_is_started_again_with_longer_and_longer_waits);
	tcase_add_test(t, what_it_said_before_it_ended_counts);
	tcase_add_test(t, a_program_that_is_missing_is_waited_for);
	tcase_add_test(t, one_that_hangs_is_ended_and_started_again);
	tcase_add_test(t, one_that_closes_its_output_is_ended);
	tcase_add_test(t, a_flood_is_stopped);
	tcase_add_test(t, a_while_without_reports_makes_no_window);
	suite_add_tcase(s, t);
	return s;
}
