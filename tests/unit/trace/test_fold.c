#include "trace/fold.h"

#include <inttypes.h>

#include "base/mem.h"
#include "tests/unit/trace/help.h"

Suite *suite_fold(void);

static struct buf b, said;
static struct arena arena;
static struct window w;

static void begin(void)
{
	buf_init(&b, 1 << 20);
	buf_init(&said, 1 << 20);
	arena_init(&arena, 16 << 20);
	w = (struct window){ 0 };
	help_begin(&b);
}

static void over(void)
{
	window_fini(&w);
	buf_fini(&b);
	buf_fini(&said);
	arena_fini(&arena);
}

static void fold(void)
{
	struct err e = { 0 };
	struct trace *t;
	int64_t first_ns;

	help_end(&b);
	t = help_read(buf_view(&b), 0, NULL);
	ck_assert_int_eq(fold_trace(t, &arena, &w, &first_ns, &e), OK);
	trace_free(t);
	w.service = w.host = STR("x");
	ck_assert_msg(window_check(&w, &e) == OK, "%s", e.text);
}

/* "kind name calls device_total/device_self cpu_total/cpu_self orphans basis min-max\n" */
static void expect(const char *want)
{
	static const char *const basis[OP_BASES] = { "none", "device", "cpu" };

	fold();
	for (size_t i = 0; i < w.n_ops; i++) {
		const struct op_summary *op = &w.ops[i];

		buf_fmt(&said, "%s %.*s %" PRIu64 " %" PRId64 "/%" PRId64 " %" PRId64 "/%" PRId64 " %" PRIu64 " %s %" PRId64
			       "-%" PRId64 "\n",
			op_kind_name(op->kind), STR_ARG(op->name), op->calls, op->device_total_ns, op->device_self_ns,
			op->cpu_total_ns, op->cpu_self_ns, op->orphan_calls, basis[op->basis], op->min_ns, op->max_ns);
	}
	ck_assert_str_eq(buf_view(&said).p, want);
}

START_TEST(without_a_device_single_times_are_self_cpu_time)
{
	help_event(&b, "cpu_op", "aten::addmm", 1, 0, 10, NULL);
	help_event(&b, "cpu_op", "aten::mm", 1, 2, 6, NULL);
	help_event(&b, "cpu_op", "aten::mm", 1, 20, 3, NULL);
	expect("cpu_op aten::addmm 1 0/0 10000/4000 0 cpu 4000-4000\n"
	       "cpu_op aten::mm 2 0/0 9000/9000 0 cpu 3000-6000\n");
	ck_assert(!w.has_device);
	ck_assert_int_eq(w.steps_from, STEPS_NONE);
	ck_assert_uint_eq(w.events, 3);
	ck_assert_int_eq(w.dur_ns, 23000);
}
END_TEST

START_TEST(with_a_device_single_times_are_self_device_time)
{
	help_event(&b, "cpu_op", "aten::mm", 1, 0, 10, "\"External id\":1");
	help_event(&b, "cpu_op", "aten::mm", 1, 20, 10, "\"External id\":2");
	help_event(&b, "cuda_runtime", "launch", 1, 2, 3, "\"External id\":1");
	help_event(&b, "kernel", "gemm", 7, 30, 5, "\"External id\":1");
	help_event(&b, "kernel", "gemm", 7, 40, 8, "\"External id\":2");
	help_event(&b, "kernel", "replayed", 7, 50, 4, NULL);
	help_event(&b, "gpu_memcpy", "Memcpy HtoD", 7, 60, 2, "\"External id\":1");
	help_event(&b, "gpu_user_annotation", "range", 7, 30, 40, NULL);
	help_event(&b, "cuda_sync", "Stream Sync", 7, 30, 40, NULL);
	expect("cpu_op aten::mm 2 15000/15000 20000/17000 0 device 7000-8000\n"
	       "runtime launch 1 0/0 3000/3000 0 device 0-0\n"
	       "kernel gemm 2 13000/13000 0/0 0 device 5000-8000\n"
	       "kernel replayed 1 4000/4000 0/0 1 device 4000-4000\n"
	       "memcpy Memcpy HtoD 1 2000/2000 0/0 0 device 2000-2000\n"
	       "gap device 3 13000/0 0/0 0 device 2000-6000\n");
	ck_assert(w.has_device);
	ck_assert_uint_eq(w.launches, 3);
	ck_assert_double_eq(window_gauge(&w, STR("device_busy"))->value, 19000);
	ck_assert(str_eq(window_gauge(&w, STR("device_busy"))->labels[0].value, STR("1")));
}
END_TEST

/* Device time of host rows plus what no op launched is all device time, each event once. */
START_TEST(device_time_is_counted_once)
{
	int64_t sum = 0;

	help_event(&b, "cpu_op", "c10d::allreduce_", 1, 0, 10, "\"External id\":1");
	help_event(&b, "user_annotation", "nccl:all_reduce", 1, 1, 5, "\"External id\":2");
	help_event(&b, "kernel", "ncclDevKernel_AllReduce", 7, 0, 100, "\"External id\":1");
	help_event(&b, "kernel", "ncclDevKernel_AllReduce", 7, 200, 50, NULL);
	help_event(&b, "kernel", "k", 7, 300, 7, "\"External id\":2");
	fold();
	for (size_t i = 0; i < w.n_ops; i++) {
		const struct op_summary *op = &w.ops[i];

		sum += op_is_device(op) ? op->orphan_ns : op->device_self_ns;
	}
	ck_assert_int_eq(sum, 157000);
}
END_TEST

START_TEST(steps_are_counted_and_timed)
{
	help_event(&b, "user_annotation", "ProfilerStep#3", 1, 0, 100, NULL);
	help_event(&b, "user_annotation", "ProfilerStep#4", 1, 100, 120, NULL);
	help_event(&b, "cpu_op", "aten::add", 1, 10, 5, NULL);
	help_event(&b, "cpu_op", "aten::view", 1, 20, 5, NULL);
	help_event(&b, "cpu_op", "aten::add", 1, 230, 5, NULL); /* behind the last step */
	expect("step ProfilerStep* 2 0/0 220000/210000 0 cpu 100000-120000\n"
	       "cpu_op aten::add 2 0/0 10000/10000 0 cpu 5000-5000\n"
	       "cpu_op aten::view 1 0/0 5000/5000 0 cpu 5000-5000\n");
	ck_assert_uint_eq(w.steps, 2);
	ck_assert_int_eq(w.steps_from, STEPS_MARKER);
	ck_assert_uint_eq(w.launches, 1);
}
END_TEST

START_TEST(an_optimizer_step_is_a_step_where_no_other_is)
{
	help_event(&b, "user_annotation", "Optimizer.step#Adam.step", 1, 0, 5, NULL);
	help_event(&b, "user_annotation", "Optimizer.step#Adam.step", 1, 10, 5, NULL);
	help_event(&b, "user_annotation", "Optimizer.step#SGD.step", 1, 20, 5, NULL);
	fold();
	ck_assert_uint_eq(w.steps, 2);
	ck_assert_int_eq(w.steps_from, STEPS_OPTIMIZER);
}
END_TEST

START_TEST(regions_are_one_series_and_their_frames_are_counted)
{
	help_event(&b, "cpu_op", "Torch-Compiled Region: 0/0", 1, 0, 10, NULL);
	help_event(&b, "cpu_op", "Torch-Compiled Region: 0/1", 1, 20, 10, NULL);
	help_event(&b, "cpu_op", "Torch-Compiled Region: 1/0", 1, 40, 10, NULL);
	help_event(&b, "user_annotation", "## Call CompiledFxGraph fabcdefgh2 ##", 1, 42, 6, NULL);
	expect("region ## Call CompiledFxGraph * ## 1 0/0 6000/6000 0 cpu 6000-6000\n"
	       "region Torch-Compiled Region: * 3 0/0 30000/24000 0 cpu 4000-10000\n");
	ck_assert_double_eq(window_gauge(&w, STR("region_frames"))->value, 2);
	ck_assert_double_eq(window_gauge(&w, STR("region_compile_ids"))->value, 3);
}
END_TEST

START_TEST(a_wrapper_launches_what_stands_in_it)
{
	help_event(&b, "cpu_op", "aten::to", 1, 0, 30, NULL);
	help_event(&b, "cpu_op", "aten::_to_copy", 1, 1, 28, NULL);
	help_event(&b, "cpu_op", "aten::empty_strided", 1, 2, 3, NULL);
	help_event(&b, "cpu_op", "aten::copy_", 1, 10, 5, NULL);
	help_event(&b, "cpu_op", "aten::mm", 1, 40, 10, NULL);
	help_event(&b, "cpu_op", "aten::resolve_conj", 1, 41, 1, NULL);
	fold();
	ck_assert_uint_eq(w.launches, 2); /* copy_, mm */
}
END_TEST

START_TEST(asynchronous_collectives_are_timed_by_their_duration)
{
	help_event(&b, "user_annotation", "gloo:all_reduce", 1, 0, 30, NULL);
	expect("collective gloo:all_reduce 1 0/0 30000/0 0 cpu 30000-30000\n");
}
END_TEST

/* Wherever memory gives out, the answer is an error and nothing is left behind (which sanitizers see), or all is well:
 * not every allocation is one that cannot be done without. */
START_TEST(memory_that_gives_out_is_an_error)
{
	bool over_at_last = false;

	help_event(&b, "user_annotation", "ProfilerStep#1", 1, 0, 100, "\"External id\":1");
	help_event(&b, "cpu_op", "Torch-Compiled Region: 0/0", 1, 1, 50, "\"External id\":2");
	help_event(&b, "cuda_runtime", "launch", 1, 5, 5, "\"External id\":77,\"correlation\":77");
	help_event(&b, "kernel", "k", 7, 30, 5, "\"External id\":77,\"correlation\":77");
	help_event(&b, "kernel", "k", 7, 40, 5, "\"External id\":2");
	help_end(&b);
	for (unsigned nth = 1; nth < 500 && !over_at_last; nth++) {
		struct err e = { 0 };
		struct trace *t = help_read(buf_view(&b), 0, NULL);
		int64_t first_ns;
		int rc;

		arena_reset(&arena);
		w = (struct window){ 0 };
		mem_fail_at(nth);
		rc = fold_trace(t, &arena, &w, &first_ns, &e);
		over_at_last = help_fails_still();
		mem_fail_at(0);
		ck_assert_msg(rc == OK || rc == E_NOMEM || rc == E_LIMIT, "allocation %u: %s", nth, e.text);
		ck_assert(rc == OK || w.n_ops == 0);
		ck_assert(rc == OK || e.text[0] != '\0');
		trace_free(t);
		window_fini(&w);
	}
	ck_assert(over_at_last);
}
END_TEST

Suite *suite_fold(void)
{
	Suite *s = suite_create("trace/fold");
	TCase *tc = tcase_create("fold");

	tcase_add_checked_fixture(tc, begin, over);
	tcase_add_test(tc, without_a_device_single_times_are_self_cpu_time);
	tcase_add_test(tc, with_a_device_single_times_are_self_device_time);
	tcase_add_test(tc, device_time_is_counted_once);
	tcase_add_test(tc, steps_are_counted_and_timed);
	tcase_add_test(tc, an_optimizer_step_is_a_step_where_no_other_is);
	tcase_add_test(tc, regions_are_one_series_and_their_frames_are_counted);
	tcase_add_test(tc, a_wrapper_launches_what_stands_in_it);
	tcase_add_test(tc, asynchronous_collectives_are_timed_by_their_duration);
	tcase_add_test(tc, memory_that_gives_out_is_an_error);
	suite_add_tcase(s, tc);
	return s;
}
