#include "cli/optable_file.h"

#include <check.h>
#include <unistd.h>

#include "base/file.h"

Suite *suite_optable_file(void);

static const char path[] = "optable-test.json";
static struct arena arena;
static struct window w;
static struct err e;

static void up(void)
{
	arena_init(&arena, 64 << 20);
	err_clear(&e);
}

static void down(void)
{
	unlink(path);
	arena_fini(&arena);
}

static void write_file(const char *text)
{
	ck_assert(file_replace(path, str_of(text), 0600, NULL) == OK);
}

static int read_text(const char *text)
{
	write_file(text);
	return optable_file_read(&arena, path, &w, &e);
}

static bool is_table(const char *text)
{
	bool yes;

	write_file(text);
	ck_assert(optable_file_is(path, &yes, NULL) == OK);
	return yes;
}

START_TEST(an_op_table_is_a_window)
{
	const struct op_summary *op;

	ck_assert_msg(read_text("{\"steps\": 2, \"step_us\": 77.5, \"gap_us\": 4, \"ops\": [[\"aten::mul\", 3, 1164.5], "
				"[\"aten::add\", 1, 434.6], [\"aten::sort@cpu\", 5, 10]]}") == OK, "%s", e.text);
	ck_assert_uint_eq(w.steps, 2);
	ck_assert(w.has_device);
	ck_assert_uint_eq(w.n_ops, 5);
	ck_assert(window_check(&w, NULL) == OK);
	op = window_op(&w, OP_CPU_OP, STR("aten::mul"));
	ck_assert_uint_eq(op->calls, 3);
	ck_assert_int_eq(op->device_self_ns, 1164500);
	op = window_op(&w, OP_CPU_OP, STR("aten::sort@cpu"));
	ck_assert_int_eq(op->device_self_ns, 0);
	ck_assert_int_eq(op->cpu_self_ns, 10000);
	op = window_op(&w, OP_STEP, STR("step"));
	ck_assert_uint_eq(op->calls, 2);
	ck_assert_int_eq(op->cpu_total_ns, 155000);
	ck_assert_int_eq(window_op(&w, OP_GAP, STR("device"))->device_total_ns, 8000);
}
END_TEST

START_TEST(an_op_in_two_rows_is_their_sum)
{
	ck_assert_int_eq(read_text("{\"ops\": [[\"b\", 1, 2], [\"a\", 3, 4], [\"b\", 5, 6]]}"), OK);
	ck_assert_uint_eq(w.steps, 1);
	ck_assert_uint_eq(w.n_ops, 2);
	ck_assert_uint_eq(w.ops[1].calls, 6);
	ck_assert_int_eq(w.ops[1].device_self_ns, 8000);
}
END_TEST

START_TEST(copies_of_a_device_profiler_are_told_by_their_names)
{
	ck_assert_int_eq(read_text("{\"ops\": [[\"Memcpy HtoD (Pinned -> Device)\", 2, 20], [\"Memset (Device)\", 1, 3], "
				   "[\"aten::copy_\", 1, 4]]}"), OK);
	ck_assert_ptr_nonnull(window_op(&w, OP_MEMCPY, STR("Memcpy HtoD (Pinned -> Device)")));
	ck_assert_ptr_nonnull(window_op(&w, OP_MEMSET, STR("Memset (Device)")));
	ck_assert_ptr_nonnull(window_op(&w, OP_CPU_OP, STR("aten::copy_")));
	ck_assert(window_check(&w, NULL) == OK);
}
END_TEST

START_TEST(mistakes_are_told)
{
	static const char *const cases[][2] = {
		{ "{\"steps\": 1}", "an op table has \"ops\"" },
		{ "{\"ops\": {}}", "an op table has \"ops\"" },
		{ "{\"steps\": 0, \"ops\": []}", "steps is a whole number from 1" },
		{ "{\"steps\": 1.5, \"ops\": []}", "steps is a whole number from 1" },
		{ "{\"steps\": \"1\", \"ops\": []}", "steps is a whole number from 1" },
		{ "{\"ops\": [\"a\"]}", "byte 9: an op is [\"name\", calls, microseconds]" },
		{ "{\"ops\": [[\"a\", 1]]}", "an op is [" },
		{ "{\"ops\": [[1, 1, 1]]}", "an op is [" },
		{ "{\"ops\": [[\"\", 1, 1]]}", "name has 1 to" },
		{ "{\"ops\": [[\"a\", -1, 1]]}", "calls of a is a whole number not below 0" },
		{ "{\"ops\": [[\"a\", 1.5, 1]]}", "calls of a is" },
		{ "{\"ops\": [[\"a\", 1, -2]]}", "a number not below 0" },
		{ "{\"ops\": [[\"a\", 1, null]]}", "a number not below 0" },
		{ "{\"ops\": [[\"a\", 1, 1e300]]}", "more than a hundred days" },
		{ "{\"ops\": [], \"step_us\": -1}", "step_us is microseconds" },
		{ "{\"ops\": [], \"gap_us\": []}", "gap_us is microseconds" },
		{ "{\"ops\": [[\"a\", 1, 1]", "line 1" },
		{ "", "optable-test.json" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		err_clear(&e);
		ck_assert_msg(read_text(cases[i][0]) == E_FORMAT, "%s", cases[i][0]);
		ck_assert_msg(str_contains(str_of(e.text), str_of(cases[i][1])), "%s: %s", cases[i][0], e.text);
		ck_assert_msg(str_has_prefix(str_of(e.text), str_of(path)), "%s", e.text);
	}
}
END_TEST

START_TEST(op_tables_and_traces_are_told_apart)
{
	ck_assert(is_table("{\"steps\": 1, \"ops\": []}"));
	ck_assert(is_table("{\"note\": {\"deep\": [1, {\"traceEvents\": 2}]}, \"ops\": []}"));
	ck_assert(is_table("{\"ops\": [[\"torn"));
	ck_assert(!is_table("{\"schemaVersion\": 1, \"traceEvents\": []}"));
	ck_assert(!is_table("{\"meta\": {\"ops\": []}, \"traceEvents\": []}"));
	ck_assert(!is_table("[{\"ops\": 1}]"));
	ck_assert(!is_table("{}"));
	ck_assert(!is_table(""));
	ck_assert(!is_table("\x1f\x8b\x08"));
	ck_assert(!is_table("no JSON"));
}
END_TEST

START_TEST(a_missing_file_is_said_to_be_missing)
{
	bool yes;

	ck_assert_int_eq(optable_file_is("no-such-file.json", &yes, &e), E_NOT_FOUND);
	ck_assert(str_contains(str_of(e.text), STR("no-such-file.json")));
}
END_TEST

Suite *suite_optable_file(void)
{
	Suite *s = suite_create("optable_file");
	TCase *t = tcase_create("optable_file");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, an_op_table_is_a_window);
	tcase_add_test(t, an_op_in_two_rows_is_their_sum);
	tcase_add_test(t, copies_of_a_device_profiler_are_told_by_their_names);
	tcase_add_test(t, mistakes_are_told);
	tcase_add_test(t, op_tables_and_traces_are_told_apart);
	tcase_add_test(t, a_missing_file_is_said_to_be_missing);
	suite_add_tcase(s, t);
	return s;
}
