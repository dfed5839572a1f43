#include "trace/xla.h"

#include <check.h>
#include <inttypes.h>

#include "tests/unit/trace/help.h"
#include "tests/unit/trace/help_xla.h"
#include "trace/fold.h"

Suite *suite_xla(void);

static struct trace trace;
static struct trace_report report;
static struct buf said;

static void begin(void)
{
	trace_init(&trace, 1000);
	xla_begin(&trace);
	buf_init(&said, 1 << 20);
	report = (struct trace_report){ 0 };
}

static void over(void)
{
	trace_fini(&trace);
	buf_fini(&said);
}

/* Times in nanoseconds. */
static struct xla_event event(const char *name, int64_t start, int64_t dur)
{
	return (struct xla_event){ .start_ps = start * 1000,
		.dur_ps = dur * 1000,
		.name = str_of(name),
		.process = STR("/host:CPU"),
		.thread = STR("1"),
		.hlo_module = STR("") };
}

static struct xla_event hlo(const char *module, uint64_t program, const char *op, int64_t start, int64_t dur)
{
	struct xla_event ev = event(op, start, dur);

	ev.hlo_op = str_of(op);
	ev.hlo_module = str_of(module);
	ev.has_program = program > 0;
	ev.program = program;
	ev.thread = STR("2");
	return ev;
}

static void add(struct xla_event ev)
{
	xla_add(&trace, &ev, &report);
}

static void add_run(struct xla_event ev, uint64_t run)
{
	ev.has_run = true;
	ev.run = run;
	add(ev);
}

static void expect(const char *want)
{
	struct err e = { 0 };

	ck_assert_int_eq(xla_settle(&trace, &e), OK);
	help_xla_say(&trace, &said);
	ck_assert_str_eq(buf_view(&said).p, want);
}

START_TEST(a_base_name_has_no_numbers_of_copies)
{
	static const char *const names[][2] = {
		{ "fusion", "fusion" },
		{ "fusion.12", "fusion" },
		{ "dot.4.clone", "dot" },
		{ "copy.clone.12.clone", "copy" },
		{ ".12", ".12" },
		{ "a.b", "a.b" },
		{ "a.12b", "a.12b" },
		{ "reduce-window.", "reduce-window." },
		{ "", "" },
		{ "x.clone2", "x.clone2" },
		{ "all-reduce-start.1", "all-reduce-start" },
		{ "fusion.12.remat", "fusion" },
		{ "loop_fusion.3.remat2.clone", "loop_fusion" },
		{ "copy.7.remat_uncompressed.1", "copy" },
		{ "remat.3", "remat" },
		{ "/sg00/_dot.3.clone", "/sg00/_dot" },
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		struct str base = hlo_base_name(str_of(names[i][0]));

		ck_assert_msg(str_eq(base, str_of(names[i][1])), "%s: %.*s", names[i][0], STR_ARG(base));
	}
}
END_TEST

START_TEST(executions_are_distinct_runs_or_the_largest_count_of_an_op)
{
	/* two threads, one run after the other and mixed */
	for (uint64_t i = 0; i < 3; i++) {
		add_run(hlo("jit_a", 1, "x", (int64_t)i * 100, 5), 7 + i);
		add_run(hlo("jit_a", 1, "y", (int64_t)i * 100 + 10, 5), 7 + (i + 1) % 3);
	}
	for (int64_t i = 0; i < 4; i++)
		add(hlo("Graph.1", 2, "x", i * 100 + 20, 5));
	add(hlo("Graph.1", 2, "y", 40, 5));
	expect("x 1 0 7 0 0 35 35\ny 1 0 4 0 0 20 20\n"
	       "module jit_a 3 30\nmodule Graph.1 4 25\n"
	       "hlo Graph.1 x 4 20\nhlo Graph.1 y 1 5\nhlo jit_a x 3 15\nhlo jit_a y 3 15\n");
}
END_TEST

/* A loop is an event around those of its body. */
START_TEST(what_is_inside_an_hlo_event_counts_once)
{
	for (int64_t i = 0; i < 2; i++) {
		add(hlo("Graph.1", 2, "while.1", i * 100, 50));
		add(hlo("Graph.1", 2, "call.1", i * 100 + 1, 39)); /* the end of the loop is before or behind that of its body, by rounding */
		for (int64_t k = 0; k < 3; k++)
			add(hlo("Graph.1", 2, "dot.7", i * 100 + 1 + k * 13, 13));
		add(hlo("Graph.1", 2, "copy.2", i * 100 + 40, 11));
		add(hlo("Graph.1", 2, "add", i * 100 + 50, 9)); /* begins inside and ends outside */
	}
	add(hlo("Other.1", 3, "add", 150, 0));
	expect("add 1 0 3 0 0 18 18\ncall.1 1 0 2 0 0 0 78\ncopy.2 1 0 2 0 0 22 22\ndot.7 1 0 6 0 0 78 78\nwhile.1 1 0 2 0 0 0 100\n"
	       "module Graph.1 2 118\nmodule Other.1 1 0\n"
	       "hlo Graph.1 add 2 18\nhlo Graph.1 call.1 2 78\nhlo Graph.1 copy.2 2 22\nhlo Graph.1 dot.7 6 78\nhlo Graph.1 while.1 2 100\n"
	       "hlo Other.1 add 1 0\n");
}
END_TEST

/* In older versions the event of a loop ends when its body is on its way. */
START_TEST(a_loop_runs_once_an_execution_however_long_its_event)
{
	for (int64_t i = 0; i < 2; i++) {
		add(hlo("Graph.1", 2, "while.1", i * 100, 5));
		for (int64_t k = 0; k < 6; k++)
			add(hlo("Graph.1", 2, "dot.7", i * 100 + 10 + k * 10, 8));
	}
	expect("dot.7 1 0 12 0 0 96 96\nwhile.1 1 0 2 0 0 10 10\nmodule Graph.1 2 106\n"
	       "hlo Graph.1 dot.7 12 96\nhlo Graph.1 while.1 2 10\n");
}
END_TEST

START_TEST(other_threads_and_other_modules_are_inside_nothing)
{
	struct xla_event ev = hlo("Graph.1", 2, "dot.7", 10, 5);

	add(hlo("Graph.1", 2, "fusion.1", 0, 50));
	ev.thread = STR("3"); /* it runs beside the fusion */
	add(ev);
	ev = hlo("Other.1", 3, "while.1", 0, 50);
	ev.thread = STR("4");
	add(ev);
	expect("dot.7 1 0 1 0 0 5 5\nfusion.1 1 0 1 0 0 50 50\nwhile.1 1 0 1 0 0 50 50\nmodule Graph.1 1 55\nmodule Other.1 1 50\n"
	       "hlo Graph.1 dot.7 1 5\nhlo Graph.1 fusion.1 1 50\nhlo Other.1 while.1 1 50\n");
}
END_TEST

/* XLA's CPU client runs the body of a loop on many threads while that of the loop waits. */
START_TEST(the_body_of_a_loop_may_run_on_other_threads)
{
	static const char *const threads[] = { "2", "3", "4" };

	for (int64_t i = 0; i < 2; i++) {
		add(hlo("Graph.1", 2, "while.1", i * 100, 90));
		for (int64_t k = 0; k < 6; k++) {
			struct xla_event ev = hlo("Graph.1", 2, "dot.7", i * 100 + k * 10, 15); /* they overlap */

			ev.thread = str_of(threads[k % 3]);
			add(ev);
		}
		add(hlo("Graph.1", 2, "copy.2", i * 100 + 91, 5));
	}
	expect("copy.2 1 0 2 0 0 10 10\ndot.7 1 0 12 0 0 180 180\nwhile.1 1 0 2 0 0 50 180\nmodule Graph.1 2 240\n"
	       "hlo Graph.1 copy.2 2 10\nhlo Graph.1 dot.7 12 180\nhlo Graph.1 while.1 2 180\n");
}
END_TEST

START_TEST(programs_of_one_name_are_modules_of_their_own_and_rows_together)
{
	add(hlo("jit_mul", 1, "x", 0, 5));
	add(hlo("jit_mul", 2, "x", 10, 6));
	add(hlo("jit_mul", 0, "x", 20, 7));
	expect("x 1 0 3 0 0 18 18\nmodule jit_mul 1 5\nmodule jit_mul 1 6\nmodule jit_mul 1 7\nhlo jit_mul x "
	       "3 18\n");
}
END_TEST

START_TEST(frames_and_twins_are_no_rows)
{
	struct xla_event step = event("train", 0, 100);

	step.has_step = true;
	step.step = -1;
	add(step);
	add(event("$train.py:1 step", 1, 90));
	add(event("end: dot.1", 2, 0));
	add(event("end: dot.1", 3, 1));
	add(hlo("m", 1, "end: dot.1", 4, 5)); /* an op may be called so */
	add(event("Execute", 10, 20));
	expect("Execute 0 0 1 20 20 0 0\nend: dot.1 1 0 1 0 0 5 5\ntrain 0 1 1 80 100 0 0\nmodule m 1 5\nhlo "
	       "m end: dot.1 1 5\nstep -1\n");
}
END_TEST

START_TEST(of_a_device_only_hlo_events_and_copies_are_rows)
{
	static const char *const names[] = { "jit_step(12)", "0", "MemcpyD2H", "Memset" };
	struct xla_event ev;

	for (size_t i = 0; i < COUNT(names); i++) {
		ev = event(names[i], 0, 5);
		ev.process = STR("/device:TPU:0");
		add(ev);
	}
	ev = hlo("m", 1, "dot", 10, 5);
	ev.process = STR("/device:TPU:0");
	add(ev);
	ev.line = XLA_LINE_BESIDE; /* the same once more, outside the line of ops */
	add(ev);
	ev.hlo_op = str_make(NULL, 0); /* on that line events have names, if nothing else */
	ev.line = XLA_LINE_OPS;
	ev.name = STR("copy.3");
	ev.start_ps = 20000;
	add(ev);
	expect("MemcpyD2H 1 0 1 0 0 5 5\nMemset 1 0 1 0 0 5 5\ncopy.3 1 0 1 0 0 5 5\ndot 1 0 1 0 0 5 5\n"
	       "module m 1 10\nhlo m copy.3 1 5\nhlo m dot 1 5\n");
}
END_TEST

static struct xla_event on_device(const char *device, enum xla_line line, const char *name, int64_t start, int64_t dur)
{
	struct xla_event ev = event(name, start, dur);

	ev.process = str_of(device);
	ev.line = line;
	ev.thread = line == XLA_LINE_OPS ? STR("3") : STR("2");
	return ev;
}

/* As TPUs have it: ops say nothing of modules, but another line of the device does. */
START_TEST(an_op_that_names_no_module_is_of_the_one_that_runs_around_it)
{
	static const char one[] = "/device:TPU:0", two[] = "/device:TPU:1";

	add(on_device(one, XLA_LINE_OPS, "dot.1", 10, 5)); /* before its module is known */
	add(on_device(one, XLA_LINE_OPS, "outside", 60, 5));
	for (int64_t i = 0; i < 2; i++) {
		add(on_device(one, XLA_LINE_MODULES, "jit_f(17)", i * 100, 50));
		add(on_device(one, XLA_LINE_MODULES, "jit_g(18)", i * 100 + 70, 20));
		add(on_device(one, XLA_LINE_OPS, "dot.1", i * 100 + 71, 4));
		add(on_device(two, XLA_LINE_OPS, "dot.1", i * 100 + 71, 4)); /* no module ran there */
	}
	add(on_device(one, XLA_LINE_OPS, "dot.1", 110, 40));
	add(on_device(one, XLA_LINE_MODULES, "jit_h", 300, 20)); /* of which no op was seen */
	expect("dot.1 1 0 6 0 0 61 61\noutside 1 0 1 0 0 5 5\n"
	       "module  2 13\nmodule jit_f 2 45\nmodule jit_g 2 8\n"
	       "hlo  dot.1 2 8\nhlo  outside 1 5\nhlo jit_f dot.1 2 45\nhlo jit_g dot.1 2 8\n");
}
END_TEST

START_TEST(steps_of_a_device_count_where_the_host_has_none)
{
	for (int64_t i = 0; i < 4; i++) { /* two devices, two steps each */
		struct xla_event ev = event("step", i / 2 * 100, 90);

		ev.process = i % 2 == 0 ? STR("/device:TPU:0") : STR("/device:TPU:1");
		ev.line = XLA_LINE_BESIDE;
		ev.has_step = true;
		ev.step = 7 + i / 2;
		add(ev);
	}
	if (_i == 0) {
		expect("step 0 1 2 180 180 0 0\nstep 7\nstep 8\n");
	} else {
		struct xla_event ev = event("train", 5, 50);

		ev.has_step = true;
		ev.step = 3;
		add(ev);
		expect("train 0 1 1 50 50 0 0\nstep 3\n");
	}
}
END_TEST

START_TEST(what_was_nested_in_picoseconds_is_nested_in_nanoseconds)
{
	struct xla_event ev = event("outer", 0, 0);

	ev.start_ps = 900;
	ev.dur_ps = 2200;
	add(ev);
	ev = event("inner", 0, 0);
	ev.start_ps = 1950;
	ev.dur_ps = 1150; /* they end together, at 3100 */
	add(ev);
	expect("inner 0 0 1 2 2 0 0\nouter 0 0 1 1 3 0 0\n");
}
END_TEST

START_TEST(impossible_times_are_counted)
{
	struct xla_event ev = event("x", 0, -1);

	add(ev);
	ev.start_ps = INT64_MAX;
	ev.dur_ps = 1;
	add(ev);
	ck_assert_uint_eq(trace_report_find(&report, TRACE_BAD_NUMBER)->count, 2);
	ck_assert_uint_eq(trace.events.n, 0);
}
END_TEST

/* ---- identity */

static void module_names(char out[2][600])
{
	struct err e = { 0 };

	ck_assert_int_eq(xla_settle(&trace, &e), OK);
	ck_assert_uint_eq(xla_modules(&trace), 2);
	for (size_t i = 0; i < 2; i++) {
		struct buf b;

		buf_init(&b, 599);
		xla_module_name(xla_module(&trace, i), &b);
		ck_assert(str_copy_to(buf_view(&b), out[i], 600));
		buf_fini(&b);
	}
}

START_TEST(a_module_is_the_same_by_the_set_of_its_ops)
{
	char names[2][600];

	add(hlo("SyncTensorsGraph.97", 1, "dot.44", 0, 5));
	add(hlo("SyncTensorsGraph.97", 1, "dot.61", 0, 5));
	add(hlo("SyncTensorsGraph.97", 1, "copy.clone", 0, 5));
	add(hlo("SyncTensorsGraph.8", 2, "copy", 0, 9));
	add(hlo("SyncTensorsGraph.8", 2, "dot", 0, 9));
	module_names(names);
	ck_assert_str_eq(names[0], names[1]);
	ck_assert(str_has_prefix(str_of(names[0]), STR("hlo_module SyncTensorsGraph.* {")));
	/* the same in every version on every machine: stores keep it */
	ck_assert_str_eq(names[0], "hlo_module SyncTensorsGraph.* {3938dcf95d60732d}");
}
END_TEST

/* A compiler makes the names of modules different by numbers, whatever they are called. */
START_TEST(numbers_of_modules_are_no_part_of_their_names)
{
	char names[2][600];

	add(hlo("DynamoGraph.12", 1, "dot", 0, 5));
	add(hlo("jit_f.v2", 2, "dot", 0, 5));
	module_names(names);
	ck_assert(str_has_prefix(str_of(names[0]), STR("hlo_module DynamoGraph.* {")));
	ck_assert(str_has_prefix(str_of(names[1]), STR("hlo_module jit_f.v2 {")));
}
END_TEST

START_TEST(another_op_makes_another_module)
{
	char names[2][600];

	add(hlo("jit_f", 1, "dot", 0, 5));
	add(hlo("jit_f", 2, "dot", 0, 5));
	add(hlo("jit_f", 2, "copy", 0, 5));
	module_names(names);
	ck_assert_str_ne(names[0], names[1]);
}
END_TEST

/* ---- windows */

START_TEST(a_window_has_hlo_ops_modules_steps_and_gaps)
{
	static const char *const basis[OP_BASES] = { "none", "device", "cpu" };
	struct xla_event step;
	struct window w = { .service = STR("s"), .host = STR("h") };
	struct err e = { 0 };
	struct arena a;
	int64_t first_ns;

	for (int64_t i = 0; i < 2; i++) {
		step = event("train", i * 100, 90);
		step.has_step = true;
		add(step);
		add(event("Execute", i * 100 + 5, 40));
		add_run(hlo("jit_f", 1, "dot.1", i * 100 + 10, 20), (uint64_t)i);
		add_run(hlo("jit_f", 1, "dot.2", i * 100 + 40, 30), (uint64_t)i);
	}
	add_run(hlo("jit_f", 1, "dot.1", 300, 20),
		3); /* behind the last step: counted, but launches nothing */
	ck_assert_int_eq(xla_settle(&trace, &e), OK);
	arena_init(&a, 1 << 20);
	ck_assert_int_eq(fold_trace(&trace, &a, &w, &first_ns, &e), OK);
	ck_assert_msg(window_check(&w, &e) == OK, "%s", e.text);
	for (size_t i = 0; i < w.n_ops; i++) {
		const struct op_summary *op = &w.ops[i];

		buf_fmt(&said, "%s %.*s %" PRIu64 " %" PRId64 "/%" PRId64 " %" PRIu64 " %s\n",
			op_kind_name(op->kind), STR_ARG(op->name), op->calls, op->device_total_ns,
			op->device_self_ns, op->orphan_calls, basis[op->basis]);
	}
	ck_assert_str_eq(buf_view(&said).p,
		"step train 2 0/0 0 cpu\n"
		"region hlo_module jit_f {d1d066da287e7cd8} 3 120/0 0 none\n"
		"runtime Execute 2 0/0 0 device\n"
		"hlo dot 5 120/120 5 device\n"
		"gap device 3 60/0 0 device\n");
	ck_assert_uint_eq(w.steps, 2);
	ck_assert_int_eq(w.steps_from, STEPS_MARKER);
	ck_assert(w.has_device);
	ck_assert_uint_eq(w.launches, 4);
	ck_assert_uint_eq(w.events, 9);
	ck_assert_int_eq(w.dur_ns, 320);
	ck_assert(str_eq(w.gauges[0].name, STR("device_busy")) && w.gauges[0].value == 120);
	ck_assert(str_eq(w.gauges[0].labels[0].value, STR("/host:CPU")));
	window_fini(&w);
	arena_fini(&a);
}
END_TEST

static double gauge_of(const struct window *w, const char *name, const char *label)
{
	for (size_t i = 0; i < w->n_gauges; i++)
		if (str_eq(w->gauges[i].name, str_of(name)) && w->gauges[i].n_labels > 0 &&
			str_eq(w->gauges[i].labels[0].value, str_of(label)))
			return w->gauges[i].value;
	return -1;
}

START_TEST(a_loop_around_a_collective_is_no_compute_beside_it)
{
	struct window w = { .service = STR("s"), .host = STR("h") };
	struct err e = { 0 };
	struct arena a;
	int64_t first_ns;

	add(hlo("jit_f", 1, "while.3", 0, 100));
	add(hlo("jit_f", 1, "all-reduce.1", 10, 50));
	add(hlo("jit_f", 1, "fusion.1", 60, 30));
	ck_assert_int_eq(xla_settle(&trace, &e), OK);
	arena_init(&a, 1 << 20);
	ck_assert_int_eq(fold_trace(&trace, &a, &w, &first_ns, &e), OK);
	ck_assert_double_eq(gauge_of(&w, "device_time", "hlo"), 50);
	ck_assert_double_eq(gauge_of(&w, "device_time", "collective"), 50);
	ck_assert_double_eq(gauge_of(&w, "collective_busy", "/host:CPU"), 50);
	ck_assert_double_eq(gauge_of(&w, "collective_overlap", "/host:CPU"), -1); /* none is said */
	ck_assert_double_eq(gauge_of(&w, "device_busy", "/host:CPU"), 100);
	window_fini(&w);
	arena_fini(&a);
}
END_TEST

START_TEST(devices_on_threads_of_the_host_are_told_apart)
{
	struct xla_event ev = hlo("m", 1, "x", 0, 5);

	ev.has_ordinal = true;
	add(ev);
	ev.ordinal = 1;
	add(ev);
	ck_assert_uint_eq(intern_count(&trace.pids), 2);
	ck_assert(str_eq(intern_name(&trace.pids, 1), STR("/host:CPU:1")));
}
END_TEST

Suite *suite_xla(void)
{
	Suite *s = suite_create("xla");
	TCase *t = tcase_create("xla");

	tcase_add_checked_fixture(t, begin, over);
	tcase_add_test(t, a_base_name_has_no_numbers_of_copies);
	tcase_add_test(t, executions_are_distinct_runs_or_the_largest_count_of_an_op);
	tcase_add_test(t, what_is_inside_an_hlo_event_counts_once);
	tcase_add_test(t, the_body_of_a_loop_may_run_on_other_threads);
	tcase_add_test(t, a_loop_runs_once_an_execution_however_long_its_event);
	tcase_add_test(t, other_threads_and_other_modules_are_inside_nothing);
	tcase_add_test(t, programs_of_one_name_are_modules_of_their_own_and_rows_together);
	tcase_add_test(t, frames_and_twins_are_no_rows);
	tcase_add_test(t, of_a_device_only_hlo_events_and_copies_are_rows);
	tcase_add_test(t, an_op_that_names_no_module_is_of_the_one_that_runs_around_it);
	tcase_add_loop_test(t, steps_of_a_device_count_where_the_host_has_none, 0, 2);
	tcase_add_test(t, what_was_nested_in_picoseconds_is_nested_in_nanoseconds);
	tcase_add_test(t, impossible_times_are_counted);
	tcase_add_test(t, a_module_is_the_same_by_the_set_of_its_ops);
	tcase_add_test(t, numbers_of_modules_are_no_part_of_their_names);
	tcase_add_test(t, another_op_makes_another_module);
	tcase_add_test(t, a_window_has_hlo_ops_modules_steps_and_gaps);
	tcase_add_test(t, a_loop_around_a_collective_is_no_compute_beside_it);
	tcase_add_test(t, devices_on_threads_of_the_host_are_told_apart);
	suite_add_tcase(s, t);
	return s;
}
