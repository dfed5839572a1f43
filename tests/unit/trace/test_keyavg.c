#include "trace/keyavg.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "tests/unit/trace/help.h"

Suite *suite_keyavg(void);

static struct buf b;

static void begin(void)
{
	buf_init(&b, 64 << 20);
	help_begin(&b);
}

static void over(void)
{
	buf_fini(&b);
}

static void expect(const char *table)
{
	help_end(&b);
	help_expect(buf_view(&b).p, table);
}

START_TEST(time_of_children_is_no_self_time)
{
	help_event(&b, "cpu_op", "outer", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "inner", 1, 10, 20, NULL);
	help_event(&b, "cpu_op", "inner", 1, 40, 30, NULL);
	help_event(&b, "cpu_op", "deep", 1, 45, 5, NULL);
	expect("deep 0 0 1 5000 5000 0 0\n"
	       "inner 0 0 2 45000 50000 0 0\n"
	       "outer 0 0 1 50000 100000 0 0\n");
}
END_TEST

/* 0.1 + 0.2 and the like: times of files that some tool took through a double. */
START_TEST(times_are_taken_to_the_nearest_nanosecond)
{
	help_expect("{\"traceEvents\":["
		    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
		    "\"ts\":0.30000000000000004,\"dur\":5.4059999999999997},"
		    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":1,"
		    "\"ts\":0.3,\"dur\":\"5.4056\",\"args\":{\"External id\":1}}]}",
		"a 0 0 1 0 5406 0 0\n"
		"b 0 0 1 5406 5406 0 0\n");
}
END_TEST

START_TEST(of_a_key_written_twice_the_last_stands)
{
	help_expect("{\"traceEvents\":["
		    "{\"ph\":\"M\",\"name\":\"not this\",\"name\":\"a\",\"ts\":{},\"pid\":1,\"tid\":1,\"cat\":\"cpu_op\",\"ts\":1,"
		    "\"dur\":99,\"dur\":5,\"ph\":\"X\"},"
		    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":1,\"ph\":\"i\"}]}",
		"a 0 0 1 5000 5000 0 0\n");
}
END_TEST

START_TEST(of_args_written_twice_the_last_stand)
{
	static const char *const none[] = { "{}", "null", "5", "[1]", "{\"External id\":null}", "{\"stream\":7}" };
	static const char *const args[] = { "{\"External id\":5}", "{\"correlation\":4}" };
	struct buf text;

	buf_init(&text, 1 << 16);
	for (size_t i = 0; i < COUNT(none); i++) {
		buf_reset(&text);
		help_begin(&text);
		help_event(&text, "cpu_op", "a", 1, 0, 9, "\"External id\":4");
		for (size_t twice = 0; twice < 3; twice++) /* the writer's way is known by then */
			buf_fmt(&text, ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,"
				       "\"args\":{\"External id\":4},\"args\":%s}", none[i]);
		buf_fmt(&text, ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"l\",\"ts\":1,\"dur\":2,"
			       "\"args\":%s,\"args\":{\"external id\":4}}", args[i % 2]);
		help_end(&text);
		help_expect(buf_view(&text).p, "a 0 0 1 9000 9000 2000 2000\n"
					       "k 1 0 3 0 0 6000 6000\n"
					       "l 1 0 1 0 0 2000 2000\n");
	}
	buf_fini(&text);
}
END_TEST

START_TEST(keys_and_values_mean_what_their_escapes_say)
{
	help_expect("{\"trace\\u0045vents\":["
		    "{\"\\u0070h\":\"\\u0058\",\"c\\u0061t\":\"cpu\\u005fop\",\"na\\u006de\":\"a\",\"pid\":\"\\u0031\",\"tid\":1,"
		    "\"ts\":\"\\u0031\",\"dur\":5,\"args\":{\"External\\u0020id\":4}},"
		    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":\"1\",\"tid\":1,\"ts\":2,\"dur\":1},"
		    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":9,\"dur\":2,\"args\":{\"External id\":4}}]}",
		"a 0 0 1 4000 5000 2000 2000\n"
		"b 0 0 1 1000 1000 0 0\n"
		"k 1 0 1 0 0 2000 2000\n");
}
END_TEST

START_TEST(the_last_name_of_a_file_may_hold_what_looks_like_a_key)
{
	help_expect("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":2,\"name\":\"print(\"a\", \"\n  }\n]}",
		"print(\"a\",  0 0 1 2000 2000 0 0\n");
}
END_TEST

/* Two ops of threads whose numbers are so written; are they of one? */
static void check_threads(const char *one, const char *other, bool same)
{
	struct buf text;

	buf_init(&text, 1 << 16);
	buf_fmt(&text, "{\"traceEvents\":["
		       "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",%s\"ts\":1,\"dur\":5},"
		       "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",%s\"ts\":2,\"dur\":3}]}",
		one, other);
	help_expect(buf_view(&text).p,
		same ? "a 0 0 1 2000 5000 0 0\nb 0 0 1 3000 3000 0 0\n" : "a 0 0 1 5000 5000 0 0\nb 0 0 1 3000 3000 0 0\n");
	buf_fini(&text);
}

START_TEST(threads_are_told_apart_by_all_of_their_numbers)
{
#define LONG "a name of a process that is much longer than any that a profiler would write, ends with "
	check_threads("\"pid\":1,\"tid\":-2,", "\"tid\":-2,\"pid\":1,", true);
	check_threads("\"pid\":1,", "\"pid\":\"1\",", false);
	check_threads("\"tid\":1,", "\"tid\":-1,", false);
	check_threads("\"pid\":\"\",", "", false);
	check_threads("\"pid\":null,", "", true);
	check_threads("\"pid\":3,\"pid\":null,", "\"tid\":null,", true);
	check_threads("\"pid\":\"" LONG "1\",", "\"pid\":\"" LONG "1\",", true);
	check_threads("\"pid\":\"" LONG "1\",", "\"pid\":\"" LONG "2\",", false);
	check_threads("\"tid\":10000000000000000000000000000000000000000000000000000000000000000000000000001,",
		"\"tid\":10000000000000000000000000000000000000000000000000000000000000000000000000002,", false);
#undef LONG
}
END_TEST

START_TEST(threads_are_trees_of_their_own)
{
	help_event(&b, "cpu_op", "a", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "b", 2, 10, 20, NULL);
	expect("a 0 0 1 100000 100000 0 0\n"
	       "b 0 0 1 20000 20000 0 0\n");
}
END_TEST

START_TEST(a_child_that_ends_a_nanosecond_late_is_no_child)
{
	help_event(&b, "cpu_op", "parent", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "late", 1, 50, 50.001, NULL);
	help_event(&b, "cpu_op", "grand", 1, 60, 10, NULL);
	expect("grand 0 0 1 10000 10000 0 0\n"
	       "late 0 0 1 40001 50001 0 0\n"
	       "parent 0 0 1 100000 100000 0 0\n");
}
END_TEST

START_TEST(of_equal_intervals_the_one_that_comes_first_is_the_parent)
{
	help_event(&b, "cpu_op", "first", 1, 0, 10, NULL);
	help_event(&b, "cpu_op", "second", 1, 0, 10, NULL);
	expect("first 0 0 1 0 10000 0 0\n"
	       "second 0 0 1 10000 10000 0 0\n");
}
END_TEST

START_TEST(order_in_the_file_does_not_matter_else)
{
	help_event(&b, "cpu_op", "inner", 1, 10, 20, NULL);
	help_event(&b, "cpu_op", "deep", 1, 12, 5, NULL);
	help_event(&b, "cpu_op", "outer", 1, 0, 100, NULL);
	expect("deep 0 0 1 5000 5000 0 0\n"
	       "inner 0 0 1 15000 20000 0 0\n"
	       "outer 0 0 1 80000 100000 0 0\n");
}
END_TEST

START_TEST(events_without_time_count)
{
	help_event(&b, "cpu_op", "outer", 1, 0, 10, NULL);
	help_event(&b, "cpu_op", "at start", 1, 0, 0, NULL);
	help_event(&b, "cpu_op", "at end", 1, 10, 0, NULL);
	expect("at end 0 0 1 0 0 0 0\n"
	       "at start 0 0 1 0 0 0 0\n"
	       "outer 0 0 1 10000 10000 0 0\n");
}
END_TEST

START_TEST(device_time_goes_up_from_the_op_that_launched)
{
	help_event(&b, "cpu_op", "aten::to", 1, 0, 60, "\"External id\":1");
	help_event(&b, "cpu_op", "aten::_to_copy", 1, 5, 50, "\"External id\":2");
	help_event(&b, "cpu_op", "aten::copy_", 1, 10, 30, "\"External id\":3");
	help_event(&b, "cuda_runtime", "cudaLaunchKernel", 1, 15, 10, "\"External id\":3,\"correlation\":50");
	help_event(&b, "kernel", "cast", 7, 100, 8, "\"External id\":3,\"correlation\":50");
	expect("aten::_to_copy 0 0 1 20000 50000 0 8000\n"
	       "aten::copy_ 0 0 1 20000 30000 8000 8000\n"
	       "aten::to 0 0 1 10000 60000 0 8000\n"
	       "cast 1 0 1 0 0 8000 8000\n"
	       "cudaLaunchKernel 0 0 1 10000 10000 0 0\n");
}
END_TEST

START_TEST(a_correlation_is_never_an_external_id)
{
	help_event(&b, "cpu_op", "aten::mul", 1, 0, 20, "\"External id\":5");
	help_event(&b, "cuda_runtime", "launch", 1, 5, 5, "\"External id\":5,\"correlation\":9");
	help_event(&b, "cpu_op", "aten::add", 1, 30, 20, "\"External id\":9");
	help_event(&b, "kernel", "k", 7, 100, 3, "\"External id\":5,\"correlation\":9");
	expect("aten::add 0 0 1 20000 20000 0 0\n"
	       "aten::mul 0 0 1 15000 20000 3000 3000\n"
	       "k 1 0 1 0 0 3000 3000\n"
	       "launch 0 0 1 5000 5000 0 0\n");
}
END_TEST

/* Ids that follow each other are found by their place, any others by a hash. */
START_TEST(ids_link_wherever_they_lie)
{
	static const uint64_t lowest[] = { 0, 1, 1u << 20, UINT64_C(9000000000000000000), UINT64_C(18446744073709551600) };
	static const uint64_t steps[] = { 1, 3, 1000003 };

	for (size_t i = 0; i < COUNT(lowest) * COUNT(steps); i++) {
		uint64_t id = lowest[i / COUNT(steps)], by = steps[i % COUNT(steps)];
		char a[64], z[64], outside[64];

		buf_reset(&b);
		help_begin(&b);
		snprintf(a, sizeof(a), "\"External id\":%" PRIu64, id);
		snprintf(z, sizeof(z), "\"External id\":%" PRIu64, id + 10 * by);
		snprintf(outside, sizeof(outside), "\"External id\":%" PRIu64, id + 11 * by);
		help_event(&b, "kernel", "k", 7, 100, 1, a);
		help_event(&b, "cpu_op", "z", 1, 30, 10, z);
		help_event(&b, "cpu_op", "a", 1, 0, 10, a);
		help_event(&b, "kernel", "k", 7, 100, 2, z);
		help_event(&b, "kernel", "k", 7, 100, 4, outside);
		help_event(&b, "kernel", "k", 7, 100, 8, "\"External id\":18446744073709551614");
		expect("a 0 0 1 10000 10000 1000 1000\n"
		       "k 1 0 4 0 0 15000 15000\n"
		       "z 0 0 1 10000 10000 2000 2000\n");
	}
}
END_TEST

/* Kineto from 2021-11 to 2024-02: External id and correlation of a kernel are the same number, which is no link. */
START_TEST(links_are_repaired_by_the_call_that_stands_in_an_op)
{
	help_event(&b, "cpu_op", "outer", 1, 0, 100, "\"External id\":1");
	help_event(&b, "cpu_op", "inner", 1, 10, 50, "\"External id\":2");
	help_event(&b, "cuda_runtime", "launch", 1, 20, 5, "\"External id\":77,\"correlation\":77");
	help_event(&b, "cpu_op", "other", 1, 200, 10, "\"External id\":77");
	help_event(&b, "kernel", "k", 7, 300, 4, "\"External id\":77,\"correlation\":77");
	help_event(&b, "kernel", "replayed", 7, 310, 4, "\"External id\":78,\"correlation\":78");
	expect("inner 0 0 1 45000 50000 4000 4000\n"
	       "k 1 0 1 0 0 4000 4000\n"
	       "launch 0 0 1 5000 5000 0 0\n"
	       "other 0 0 1 10000 10000 0 0\n"
	       "outer 0 0 1 50000 100000 0 4000\n"
	       "replayed 1 0 1 0 0 4000 4000\n");
}
END_TEST

START_TEST(a_call_outside_of_all_ops_links_nothing)
{
	help_event(&b, "cpu_op", "before", 1, 0, 10, "\"External id\":1");
	help_event(&b, "cuda_runtime", "launch", 1, 10, 5, "\"External id\":77,\"correlation\":77");
	help_event(&b, "kernel", "k", 7, 300, 4, "\"External id\":77,\"correlation\":77");
	expect("before 0 0 1 10000 10000 0 0\n"
	       "k 1 0 1 0 0 4000 4000\n"
	       "launch 0 0 1 5000 5000 0 0\n");
}
END_TEST

START_TEST(an_op_stands_before_the_call_that_begins_with_it)
{
	help_event(&b, "cuda_runtime", "launch", 1, 10, 5, "\"External id\":77,\"correlation\":77");
	help_event(&b, "cpu_op", "op", 1, 10, 4, "\"External id\":1");
	help_event(&b, "kernel", "k", 7, 300, 4, "\"External id\":77,\"correlation\":77");
	expect("k 1 0 1 0 0 4000 4000\n"
	       "launch 0 0 1 1000 5000 0 4000\n"
	       "op 0 0 1 4000 4000 4000 4000\n");
}
END_TEST

START_TEST(a_call_on_another_thread_stands_with_its_op)
{
	help_event(&b, "cpu_op", "op", 1, 0, 100, "\"External id\":1");
	help_event(&b, "privateuse1_runtime", "nrt_execute", 99, 10, 30, "\"External id\":1,\"correlation\":5");
	expect("nrt_execute 0 0 1 30000 30000 0 0\n"
	       "op 0 0 1 70000 100000 0 0\n");
}
END_TEST

START_TEST(an_only_child_of_the_same_name_becomes_its_parent)
{
	help_event(&b, "cpu_op", "a", 1, 0, 100, "\"External id\":1");
	help_event(&b, "cpu_op", "a", 1, 10, 80, "\"External id\":2");
	help_event(&b, "cpu_op", "a", 1, 20, 60, "\"External id\":3");
	help_event(&b, "cpu_op", "b", 1, 30, 10, NULL);
	help_event(&b, "kernel", "k1", 7, 1, 1, "\"External id\":1");
	help_event(&b, "kernel", "k3", 7, 2, 3, "\"External id\":3");
	expect("a 0 0 1 90000 100000 3000 3000\n"
	       "b 0 0 1 10000 10000 0 0\n"
	       "k1 1 0 1 0 0 1000 1000\n"
	       "k3 1 0 1 0 0 3000 3000\n");
}
END_TEST

START_TEST(of_two_children_of_the_same_name_none_is_taken_in)
{
	help_event(&b, "cpu_op", "a", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "a", 1, 10, 20, NULL);
	help_event(&b, "cpu_op", "a", 1, 40, 20, NULL);
	help_event(&b, "cpu_op", "a", 1, 45, 5, NULL);
	expect("a 0 0 3 100000 140000 0 0\n");
}
END_TEST

START_TEST(asynchronous_collectives_are_beside_the_tree)
{
	help_event(&b, "user_annotation", "range", 1, 0, 100, "\"External id\":1");
	help_event(&b, "user_annotation", "gloo:all_reduce", 1, 10, 50, "\"External id\":2");
	help_event(&b, "cpu_op", "aten::add", 1, 20, 10, "\"External id\":3");
	help_event(&b, "kernel", "k", 7, 20, 10, "\"External id\":2");
	expect("aten::add 0 0 1 10000 10000 0 0\n"
	       "gloo:all_reduce 0 1 1 0 50000 0 0\n"
	       "k 1 0 1 0 0 10000 10000\n"
	       "range 0 1 1 90000 100000 0 0\n");
}
END_TEST

START_TEST(steps_have_one_row_and_annotations_their_own)
{
	help_event(&b, "user_annotation", "ProfilerStep#4", 1, 0, 10, NULL);
	help_event(&b, "user_annotation", "ProfilerStep#5", 1, 10, 10, NULL);
	help_event(&b, "gpu_user_annotation", "ProfilerStep#5", 7, 11, 9, NULL);
	help_event(&b, "cpu_op", "ProfilerStep#5", 2, 11, 9, NULL);
	expect("ProfilerStep* 0 0 1 9000 9000 0 0\n"
	       "ProfilerStep* 0 1 2 20000 20000 0 0\n"
	       "ProfilerStep* 1 1 1 0 0 9000 9000\n");
}
END_TEST

START_TEST(rows_are_by_shapes_where_they_are_asked_for)
{
	help_event(&b, "cpu_op", "mm", 1, 0, 10, "\"Input Dims\":[[2,3],[3, 4]],\"External id\":1");
	help_event(&b, "cpu_op", "mm", 1, 10, 20, "\"Input Dims\": [[2, 3], [3, 4]]");
	help_event(&b, "cpu_op", "mm", 1, 30, 5, "\"Input Dims\": [[8, 3], [3, 4]]");
	help_event(&b, "cpu_op", "mm", 1, 35, 1, "\"Input Dims\": \"[[8, 3]]\"");
	help_event(&b, "cpu_op", "mm", 1, 36, 1, NULL);
	help_event(&b, "kernel", "mm", 7, 5, 9, "\"External id\":1");
	help_end(&b);
	help_expect_more(buf_view(&b).p, TRACE_SHAPES,
		"mm 0 0 2 30000 30000 9000 9000 [[2, 3], [3, 4]]\n"
		"mm 0 0 1 5000 5000 0 0 [[8, 3], [3, 4]]\n"
		"mm 0 0 2 2000 2000 0 0 []\n"
		"mm 1 0 1 0 0 9000 9000 []\n");
}
END_TEST

START_TEST(shapes_stay_with_their_event_where_python_calls_go)
{
	help_event(&b, "python_function", "f(x)", 1, 0, 100, "\"Input Dims\":[[9]]");
	help_event(&b, "cpu_op", "op", 1, 10, 20, "\"Input Dims\":[[7]]");
	help_end(&b);
	help_expect_more(buf_view(&b).p, TRACE_SHAPES, "op 0 0 1 20000 20000 0 0 [[7]]\n");
}
END_TEST

START_TEST(memory_is_what_was_taken_from_start_to_end)
{
	help_event(&b, "cpu_op", "outer", 1, 0, 100, "\"External id\":1");
	help_event(&b, "cpu_op", "inner", 1, 10, 20, NULL);
	help_event(&b, "kernel", "k", 7, 10, 20, "\"External id\":1");
	help_alloc(&b, 30.001, 1, 7);
	help_alloc(&b, 30, 0, 512);
	help_alloc(&b, 10, 5, 64);
	help_alloc(&b, 9.999, 0, 100);
	help_alloc(&b, 50, 20, -4);
	help_alloc(&b, 100.001, 0, 1000000);
	help_end(&b);
	help_expect_more(buf_view(&b).p, TRACE_MEMORY,
		"inner 0 0 1 20000 20000 0 0 576,576 0,0\n"
		"k 1 0 1 0 0 20000 20000 0,0 0,0\n"
		"outer 0 0 1 80000 100000 20000 20000 676,100 3,3\n");
}
END_TEST

/* The parent's self memory is without that of its child's children, the child's row is no more. */
START_TEST(memory_of_an_only_child_of_the_same_name_is_its_parents)
{
	help_event(&b, "cpu_op", "a", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "a", 1, 10, 50, NULL);
	help_event(&b, "cpu_op", "b", 1, 20, 10, NULL);
	help_event(&b, "user_annotation", "gloo:sum", 1, 0, 100, NULL);
	help_alloc(&b, 5, 0, 1);
	help_alloc(&b, 15, 0, 10);
	help_alloc(&b, 25, 0, 100);
	help_end(&b);
	help_expect_more(buf_view(&b).p, TRACE_MEMORY,
		"a 0 0 1 90000 100000 0 0 111,11 0,0\n"
		"b 0 0 1 10000 10000 0 0 100,100 0,0\n"
		"gloo:sum 0 1 1 0 100000 0 0 111,0 0,0\n");
}
END_TEST

START_TEST(a_table_without_memory_is_an_error)
{
	bool over_at_last = false;

	help_event(&b, "cpu_op", "a", 1, 0, 100, "\"Input Dims\":[[1]]");
	help_event(&b, "cpu_op", "b", 1, 10, 50, "\"Input Dims\":[[2]]");
	help_alloc(&b, 15, 0, 10);
	help_end(&b);
	for (unsigned nth = 1; nth < 500 && !over_at_last; nth++) {
		struct trace *t = help_read_more(buf_view(&b), TRACE_SHAPES | TRACE_MEMORY | TRACE_PYTHON);
		struct keyavg_table kt;
		struct err e = { 0 };
		int rc;

		mem_fail_at(nth);
		rc = keyavg_table_make(&kt, t, &e);
		over_at_last = help_fails_still();
		mem_fail_at(0);
		ck_assert_msg(rc == OK || rc == E_NOMEM, "allocation %u: %s", nth, e.text);
		ck_assert(rc == OK ? kt.n == 2 && kt.v[0].bytes[MEMORY_CPU] == 10 : e.text[0] != '\0');
		keyavg_table_fini(&kt);
		trace_free(t);
	}
	ck_assert(over_at_last);
}
END_TEST

START_TEST(python_calls_are_rows_and_nodes_where_they_are_asked_for)
{
	help_event(&b, "python_function", "f(x)", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "op", 1, 10, 20, NULL);
	help_event(&b, "python_function", "g(x)", 1, 15, 5, NULL);
	help_end(&b);
	help_expect_more(buf_view(&b).p, TRACE_PYTHON,
		"f(x) 0 0 1 80000 100000 0 0\n"
		"g(x) 0 0 1 5000 5000 0 0\n"
		"op 0 0 1 15000 20000 0 0\n");
}
END_TEST

START_TEST(python_calls_are_nodes_only_where_the_host_is_named)
{
	help_event(&b, "python_function", "f(x)", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "op", 1, 10, 20, NULL);
	help_event(&b, "python_function", "g(x)", 1, 15, 5, NULL);
	expect("op 0 0 1 20000 20000 0 0\n");
	buf_trim(&b, b.n - 3);
	buf_text(&b, "],\"host_name\":\"h\"}");
	help_expect(buf_view(&b).p, "op 0 0 1 15000 20000 0 0\n");
}
END_TEST

START_TEST(categories_of_2021_are_read)
{
	help_event(&b, "Operator", "aten::add", 1, 0, 20, "\"External id\":1");
	help_event(&b, "Runtime", "cudaLaunchKernel", 1, 5, 5, "\"correlation\":3,\"external id\":1");
	help_event(&b, "Kernel", "k", 7, 50, 6, "\"correlation\":3,\"external id\":1");
	help_event(&b, "Memcpy", "Memcpy HtoD", 7, 60, 2, "\"correlation\":4,\"external id\":1");
	expect("Memcpy HtoD 1 0 1 0 0 2000 2000\n"
	       "aten::add 0 0 1 15000 20000 8000 8000\n"
	       "cudaLaunchKernel 0 0 1 5000 5000 0 0\n"
	       "k 1 0 1 0 0 6000 6000\n");
}
END_TEST

START_TEST(the_footer_adds_up_and_tells_what_no_op_launched)
{
	struct keyavg_table kt;
	struct err e = { 0 };
	struct trace *t;

	help_event(&b, "cpu_op", "op", 1, 0, 100, "\"External id\":1");
	help_event(&b, "cpu_op", "late", 1, 50, 100, NULL);
	help_event(&b, "kernel", "k", 7, 0, 10, "\"External id\":1");
	help_event(&b, "kernel", "replayed", 7, 20, 30, NULL);
	help_event(&b, "gpu_user_annotation", "range", 7, 0, 50, NULL);
	help_end(&b);
	t = help_read(buf_view(&b), 0, NULL);
	ck_assert_int_eq(keyavg_table_make(&kt, t, &e), OK);
	ck_assert_int_eq(kt.self_cpu_ns, 200000);
	ck_assert_int_eq(kt.self_device_ns, 40000);
	ck_assert_int_eq(kt.orphan_ns, 30000);
	ck_assert_uint_eq(kt.crossings, 1);
	keyavg_table_fini(&kt);
	trace_free(t);
}
END_TEST

START_TEST(twenty_thousand_levels_are_no_matter)
{
	enum { DEEP = 20000 };
	struct keyavg_table kt;
	struct err e = { 0 };
	struct trace *t;

	for (int i = 0; i < DEEP; i++)
		help_event(&b, "cpu_op", i % 2 == 0 ? "a" : "b", 1, i, 2 * DEEP - 2 * i, NULL);
	help_end(&b);
	t = help_read(buf_view(&b), 0, NULL);
	ck_assert_int_eq(keyavg_table_make(&kt, t, &e), OK);
	ck_assert_uint_eq(kt.n, 2);
	ck_assert_uint_eq(kt.v[0].count + kt.v[1].count, DEEP);
	ck_assert_int_eq(kt.self_cpu_ns, INT64_C(2000) * DEEP);
	keyavg_table_fini(&kt);
	trace_free(t);
}
END_TEST

START_TEST(sums_of_absurd_times_stay_in_range)
{
	struct keyavg_table kt;
	struct err e = { 0 };
	struct trace *t;

	for (int i = 0; i < 5; i++)
		help_event(&b, "kernel", "k", 7, 0, 9e15, NULL);
	help_end(&b);
	t = help_read(buf_view(&b), 0, NULL);
	ck_assert_int_eq(keyavg_table_make(&kt, t, &e), OK);
	ck_assert_int_eq(kt.self_device_ns, INT64_MAX);
	keyavg_table_fini(&kt);
	trace_free(t);
}
END_TEST

Suite *suite_keyavg(void)
{
	Suite *s = suite_create("trace/keyavg");
	TCase *tc = tcase_create("keyavg");

	tcase_add_checked_fixture(tc, begin, over);
	tcase_add_test(tc, time_of_children_is_no_self_time);
	tcase_add_test(tc, times_are_taken_to_the_nearest_nanosecond);
	tcase_add_test(tc, of_a_key_written_twice_the_last_stands);
	tcase_add_test(tc, keys_and_values_mean_what_their_escapes_say);
	tcase_add_test(tc, the_last_name_of_a_file_may_hold_what_looks_like_a_key);
	tcase_add_test(tc, of_args_written_twice_the_last_stand);
	tcase_add_test(tc, threads_are_told_apart_by_all_of_their_numbers);
	tcase_add_test(tc, threads_are_trees_of_their_own);
	tcase_add_test(tc, a_child_that_ends_a_nanosecond_late_is_no_child);
	tcase_add_test(tc, of_equal_intervals_the_one_that_comes_first_is_the_parent);
	tcase_add_test(tc, order_in_the_file_does_not_matter_else);
	tcase_add_test(tc, events_without_time_count);
	tcase_add_test(tc, device_time_goes_up_from_the_op_that_launched);
	tcase_add_test(tc, a_correlation_is_never_an_external_id);
	tcase_add_test(tc, ids_link_wherever_they_lie);
	tcase_add_test(tc, links_are_repaired_by_the_call_that_stands_in_an_op);
	tcase_add_test(tc, a_call_outside_of_all_ops_links_nothing);
	tcase_add_test(tc, an_op_stands_before_the_call_that_begins_with_it);
	tcase_add_test(tc, a_call_on_another_thread_stands_with_its_op);
	tcase_add_test(tc, an_only_child_of_the_same_name_becomes_its_parent);
	tcase_add_test(tc, of_two_children_of_the_same_name_none_is_taken_in);
	tcase_add_test(tc, asynchronous_collectives_are_beside_the_tree);
	tcase_add_test(tc, steps_have_one_row_and_annotations_their_own);
	tcase_add_test(tc, python_calls_are_nodes_only_where_the_host_is_named);
	tcase_add_test(tc, rows_are_by_shapes_where_they_are_asked_for);
	tcase_add_test(tc, shapes_stay_with_their_event_where_python_calls_go);
	tcase_add_test(tc, memory_is_what_was_taken_from_start_to_end);
	tcase_add_test(tc, memory_of_an_only_child_of_the_same_name_is_its_parents);
	tcase_add_test(tc, python_calls_are_rows_and_nodes_where_they_are_asked_for);
	tcase_add_test(tc, a_table_without_memory_is_an_error);
	tcase_add_test(tc, categories_of_2021_are_read);
	tcase_add_test(tc, the_footer_adds_up_and_tells_what_no_op_launched);
	tcase_add_test(tc, twenty_thousand_levels_are_no_matter);
	tcase_add_test(tc, sums_of_absurd_times_stay_in_range);
	suite_add_tcase(s, tc);
	return s;
}
