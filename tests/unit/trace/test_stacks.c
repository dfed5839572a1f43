#include "trace/stacks.h"

#include "base/mem.h"
#include "tests/unit/trace/help.h"

Suite *suite_stacks(void);

static struct buf b;

static void begin(void)
{
	buf_init(&b, 1 << 20);
	help_begin(&b);
}

static void over(void)
{
	buf_fini(&b);
}

static struct trace *settled(unsigned want)
{
	struct trace *t;
	struct buf table;

	help_end(&b);
	t = help_read_more(buf_view(&b), want);
	buf_init(&table, 1 << 20);
	help_table(t, &table);
	buf_fini(&table);
	return t;
}

static void expect_more(enum stacks_of of, unsigned want, const char *lines)
{
	struct trace *t = settled(want);
	struct err e = { 0 };
	struct buf out;

	buf_init(&out, 1 << 20);
	ck_assert_int_eq(stacks_print(t, of, &out, &e), OK);
	ck_assert_str_eq(buf_view(&out).p, lines);
	buf_fini(&out);
	trace_free(t);
}

static void expect(enum stacks_of of, const char *lines)
{
	expect_more(of, 0, lines);
}

START_TEST(a_chain_has_its_calls_from_the_root_and_its_own_time)
{
	help_event(&b, "user_annotation", "ProfilerStep#1", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "linear", 1, 10, 50, NULL);
	help_event(&b, "cpu_op", "mm", 1, 20, 30, NULL);
	help_event(&b, "user_annotation", "ProfilerStep#2", 1, 100, 100, NULL);
	help_event(&b, "cpu_op", "linear", 1, 110, 50, NULL);
	help_event(&b, "cpu_op", "mm", 1, 120, 20.5, NULL);
	help_event(&b, "cpu_op", "mm", 2, 0, 7, NULL);
	expect(STACKS_CPU, "ProfilerStep* 100\n"
			   "ProfilerStep*;linear 49\n"
			   "ProfilerStep*;linear;mm 50\n"
			   "mm 7\n");
}
END_TEST

START_TEST(chains_of_no_whole_microsecond_are_left_out)
{
	help_event(&b, "cpu_op", "outer", 1, 0, 10, NULL);
	help_event(&b, "cpu_op", "inner", 1, 0, 9.5, NULL);
	help_event(&b, "cpu_op", "late", 1, 20, 5, NULL);
	help_event(&b, "cpu_op", "later", 1, 20, 5, NULL);
	expect(STACKS_CPU, "late;later 5\n"
			   "outer;inner 9\n");
}
END_TEST

START_TEST(names_hold_nothing_that_parts_a_line)
{
	help_event(&b, "cpu_op", "a b;c\\td\\ne\\u0001", 1, 0, 3, NULL);
	expect(STACKS_CPU, "a_b_c_d_e_ 3\n");
}
END_TEST

START_TEST(nor_what_tools_take_for_a_blank_or_a_line_end_beyond_ascii)
{
	help_event(&b, "cpu_op", "\\u2028a\\u0085b\\u00a0c\\u3000", 1, 0, 3, NULL);
	help_event(&b, "cpu_op", "µ漢\\u200bé", 1, 10, 4, NULL);
	expect(STACKS_CPU, "_a_b_c_ 3\n"
			   "µ漢\xe2\x80\x8bé 4\n");
}
END_TEST

START_TEST(a_name_that_is_empty_has_its_frame)
{
	help_event(&b, "cpu_op", "", 1, 0, 10, NULL);
	help_event(&b, "cpu_op", "inner", 1, 2, 3, NULL);
	expect(STACKS_CPU, "\"\" 7\n"
			   "\"\";inner 3\n");
}
END_TEST

START_TEST(device_time_stands_at_the_op_that_launched)
{
	help_event(&b, "cpu_op", "linear", 1, 0, 50, "\"External id\":1");
	help_event(&b, "cpu_op", "mm", 1, 10, 30, "\"External id\":2");
	help_event(&b, "cuda_runtime", "launch", 1, 12, 3, "\"External id\":2");
	help_event(&b, "kernel", "k", 7, 100, 20, "\"External id\":2");
	help_event(&b, "kernel", "k", 7, 120, 10, "\"External id\":1");
	help_event(&b, "kernel", "replayed", 7, 140, 10, NULL);
	expect(STACKS_DEVICE, "linear 10\n"
			      "linear;mm 20\n");
}
END_TEST

START_TEST(an_only_child_of_the_same_name_is_no_link_of_the_chain)
{
	help_event(&b, "cpu_op", "a", 1, 0, 100, "\"External id\":1");
	help_event(&b, "cpu_op", "a", 1, 10, 80, "\"External id\":2");
	help_event(&b, "cpu_op", "b", 1, 30, 10, NULL);
	help_event(&b, "kernel", "k", 7, 1, 5, "\"External id\":2");
	expect(STACKS_CPU, "a 90\n"
			   "a;b 10\n");
}
END_TEST

START_TEST(python_calls_are_links_where_the_trace_keeps_them)
{
	help_event(&b, "python_function", "train.py(7): step", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "mm", 1, 30, 10, NULL);
	help_event(&b, "user_annotation", "gloo:sum", 1, 0, 100, NULL);
	expect_more(STACKS_CPU, TRACE_PYTHON, "train.py(7):_step 90\n"
					      "train.py(7):_step;mm 10\n");
}
END_TEST

START_TEST(stacks_without_memory_are_an_error)
{
	bool over_at_last = false;
	struct trace *t;

	help_event(&b, "cpu_op", "a", 1, 0, 100, NULL);
	help_event(&b, "cpu_op", "b", 1, 30, 10, NULL);
	t = settled(0);
	for (unsigned nth = 1; nth < 200 && !over_at_last; nth++) {
		struct err e = { 0 };
		struct buf out;
		int rc;

		buf_init(&out, 1 << 20);
		mem_fail_at(nth);
		rc = stacks_print(t, STACKS_CPU, &out, &e);
		over_at_last = help_fails_still();
		mem_fail_at(0);
		if (rc == OK && out.rc == OK)
			ck_assert_str_eq(buf_view(&out).p, "a 90\na;b 10\n");
		ck_assert(rc == OK || ((rc == E_NOMEM || rc == E_LIMIT) && e.text[0] != '\0' && out.n == 0));
		buf_fini(&out);
	}
	ck_assert(over_at_last);
	trace_free(t);
}
END_TEST

Suite *suite_stacks(void)
{
	Suite *s = suite_create("trace/stacks");
	TCase *tc = tcase_create("stacks");

	tcase_add_checked_fixture(tc, begin, over);
	tcase_add_test(tc, a_chain_has_its_calls_from_the_root_and_its_own_time);
	tcase_add_test(tc, chains_of_no_whole_microsecond_are_left_out);
	tcase_add_test(tc, names_hold_nothing_that_parts_a_line);
	tcase_add_test(tc, nor_what_tools_take_for_a_blank_or_a_line_end_beyond_ascii);
	tcase_add_test(tc, a_name_that_is_empty_has_its_frame);
	tcase_add_test(tc, device_time_stands_at_the_op_that_launched);
	tcase_add_test(tc, an_only_child_of_the_same_name_is_no_link_of_the_chain);
	tcase_add_test(tc, python_calls_are_links_where_the_trace_keeps_them);
	tcase_add_test(tc, stacks_without_memory_are_an_error);
	suite_add_tcase(s, tc);
	return s;
}
