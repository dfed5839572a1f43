#include "trace/rhythm.h"

#include <inttypes.h>

#include "base/mem.h"
#include "tests/unit/trace/help.h"

Suite *suite_rhythm(void);

enum { CALLS_MAX = 64 };

/* Rounds of calls with these gaps between them, ended by 0; the trace is so much longer. */
static uint64_t rounds(const int64_t *gaps, int64_t more_ns)
{
	int64_t start_ns[CALLS_MAX] = { 1000 }, scratch[CALLS_MAX], part_ns;
	size_t n = 1;

	for (; gaps[n - 1] != 0; n++)
		start_ns[n] = start_ns[n - 1] + gaps[n - 1];
	return rhythm_rounds(start_ns, n, start_ns[n - 1] - start_ns[0] + more_ns, scratch, &part_ns);
}

#define GAPS(...) (const int64_t[]){ __VA_ARGS__, 0 }

START_TEST(a_call_is_a_round_where_calls_are_even)
{
	ck_assert_uint_eq(rounds(GAPS(100), 100), 2);
	ck_assert_uint_eq(rounds(GAPS(100, 105, 98, 102), 100), 5);
	ck_assert_uint_eq(rounds(GAPS(128, 177, 169, 142, 280, 507, 138, 159, 775, 465), 200), 11);
}
END_TEST

START_TEST(a_slow_round_now_and_then_changes_nothing)
{
	ck_assert_uint_eq(rounds(GAPS(100, 100, 100, 100, 600, 100, 100, 100, 100, 100), 100), 11);
	ck_assert_uint_eq(rounds(GAPS(100, 100, 100, 100, 410, 100, 100, 100, 100, 410, 100, 100, 100, 100, 410, 100, 100,
				     100, 100, 410, 100), 100), 22);
}
END_TEST

START_TEST(calls_that_come_together_are_one_round)
{
	ck_assert_uint_eq(rounds(GAPS(5, 1000, 6, 1010, 5, 990, 5, 1000, 4), 500), 5);
	ck_assert_uint_eq(rounds(GAPS(283, 1, 2096, 257, 1, 2112, 255, 1, 2168, 258, 1, 2191, 254, 1), 500), 5);
	ck_assert_uint_eq(rounds(GAPS(1000, 6, 1010, 5, 990, 5, 1000), 500), 5); /* cut at both ends */
}
END_TEST

START_TEST(no_clear_rhythm_is_no_count)
{
	ck_assert_uint_eq(rounds((const int64_t[]){ 0 }, 100), 0);
	ck_assert_uint_eq(rounds(GAPS(5, 1000, 6, 7, 1010, 5, 990, 5, 8, 9, 1000, 4), 500), 0);
	ck_assert_uint_eq(rounds(GAPS(1, 1, 1, 1, 900, 1, 1, 1, 1), 100), 0);
	ck_assert_uint_eq(rounds(GAPS(1, 30, 900, 27000, 810000), 100), 0);
	ck_assert_uint_eq(rounds(GAPS(INT64_MAX / 4, 1, 1, INT64_MAX / 4), 100), 0);
}
END_TEST

START_TEST(rounds_that_do_not_fill_the_trace_are_no_steps)
{
	ck_assert_uint_eq(rounds(GAPS(100, 100, 100, 100), 700), 5);
	ck_assert_uint_eq(rounds(GAPS(100, 100, 100, 100), 1000), 0);
}
END_TEST

/* ---- in traces */

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

/* edges: in microseconds, "0 100 200 "; NULL: any. */
static void expect_edges(uint64_t n, enum steps_from from, int64_t dur_us, const char *edges)
{
	struct buf text;
	struct rhythm found;
	struct err e = { 0 };
	struct trace *t;

	help_end(&b);
	t = help_read(buf_view(&b), 0, NULL);
	ck_assert_int_eq(rhythm_find(t, dur_us * 1000, &found, &e), OK);
	ck_assert_uint_eq(found.n, n);
	ck_assert_int_eq(found.from, from);
	buf_init(&text, 1 << 20);
	for (uint64_t i = 0; i < found.n; i++)
		buf_fmt(&text, "%" PRId64 " ", found.edge_ns[i] / 1000);
	if (edges != NULL)
		ck_assert_str_eq(text.p, edges);
	buf_fini(&text);
	rhythm_fini(&found);
	trace_free(t);
}

static void expect(uint64_t n, enum steps_from from, int64_t dur_us)
{
	expect_edges(n, from, dur_us, NULL);
}

static void calls(const char *cat, const char *name, int tid, int n, double first, double every)
{
	for (int i = 0; i < n; i++)
		help_event(&b, cat, name, tid, first + every * i, 4, NULL);
}

START_TEST(the_lookup_of_tokens_begins_a_step)
{
	calls("cpu_op", "aten::embedding", 1, 6, 0, 100);
	calls("cpu_op", "aten::mm", 1, 60, 5, 10);
	expect_edges(6, STEPS_ANCHOR, 600, "0 100 200 300 400 500 ");
}
END_TEST

START_TEST(two_lookups_of_one_pass_are_one_step)
{
	calls("cpu_op", "aten::embedding", 1, 6, 0, 100);
	calls("cpu_op", "aten::embedding", 1, 6, 8, 100);
	expect_edges(6, STEPS_ANCHOR, 600, "0 100 200 300 400 500 ");
}
END_TEST

START_TEST(four_lookups_are_too_few)
{
	calls("cpu_op", "aten::embedding", 1, 4, 0, 100);
	expect(0, STEPS_NONE, 400);
}
END_TEST

START_TEST(an_optimizer_tells_more_than_an_op)
{
	calls("cpu_op", "aten::embedding", 1, 12, 0, 50);
	calls("user_annotation", "Optimizer.step#AdamW.step", 1, 6, 90, 100);
	calls("user_annotation", "Optimizer.step#SGD.step", 1, 3, 80, 200);
	expect_edges(6, STEPS_OPTIMIZER, 600, "94 194 294 394 494 594 ");
}
END_TEST

START_TEST(two_optimizers_of_a_name_end_a_step_together)
{
	calls("user_annotation", "Optimizer.step#Adam.step", 1, 5, 90, 100);
	calls("user_annotation", "Optimizer.step#Adam.step", 1, 5, 96, 100);
	expect_edges(5, STEPS_OPTIMIZER, 500, "100 200 300 400 500 ");
}
END_TEST

START_TEST(an_optimizer_inside_itself_is_one)
{
	calls("user_annotation", "Optimizer.step#Combined.step", 1, 3, 0, 100);
	calls("user_annotation", "Optimizer.step#Combined.step", 1, 3, 1, 100);
	calls("user_annotation", "Optimizer.step#Combined.step", 1, 2, 2, 100);
	expect_edges(3, STEPS_OPTIMIZER, 300, "4 104 204 ");
}
END_TEST

START_TEST(one_step_of_an_optimizer_says_nothing)
{
	calls("user_annotation", "Optimizer.step#Adam.step", 1, 1, 50, 100);
	expect(0, STEPS_NONE, 100);
}
END_TEST

START_TEST(replicas_on_threads_are_counted_once)
{
	calls("cpu_op", "aten::embedding", 1, 6, 0, 100);
	calls("cpu_op", "aten::embedding", 2, 5, 3, 100);
	expect(6, STEPS_ANCHOR, 600);
}
END_TEST

START_TEST(annotations_of_the_device_are_no_calls)
{
	calls("gpu_user_annotation", "Optimizer.step#Adam.step", 7, 6, 0, 100);
	expect(0, STEPS_NONE, 600);
}
END_TEST

START_TEST(steps_without_memory_are_an_error)
{
	bool over_at_last = false;
	struct trace *t;

	calls("cpu_op", "aten::embedding", 1, 6, 0, 100);
	help_end(&b);
	t = help_read(buf_view(&b), 0, NULL);
	for (unsigned nth = 1; nth < 100 && !over_at_last; nth++) {
		struct rhythm found;
		struct err e = { 0 };
		int rc;

		mem_fail_at(nth);
		rc = rhythm_find(t, 600000, &found, &e);
		over_at_last = help_fails_still();
		mem_fail_at(0);
		ck_assert(rc == OK ? found.n == 6 : rc == E_NOMEM && found.n == 0 && e.text[0] != '\0');
		rhythm_fini(&found);
	}
	ck_assert(over_at_last);
	trace_free(t);
}
END_TEST

Suite *suite_rhythm(void)
{
	Suite *s = suite_create("trace/rhythm");
	TCase *tc = tcase_create("rounds");

	tcase_add_test(tc, a_call_is_a_round_where_calls_are_even);
	tcase_add_test(tc, a_slow_round_now_and_then_changes_nothing);
	tcase_add_test(tc, calls_that_come_together_are_one_round);
	tcase_add_test(tc, no_clear_rhythm_is_no_count);
	tcase_add_test(tc, rounds_that_do_not_fill_the_trace_are_no_steps);
	suite_add_tcase(s, tc);
	tc = tcase_create("traces");
	tcase_add_checked_fixture(tc, begin, over);
	tcase_add_test(tc, the_lookup_of_tokens_begins_a_step);
	tcase_add_test(tc, two_lookups_of_one_pass_are_one_step);
	tcase_add_test(tc, four_lookups_are_too_few);
	tcase_add_test(tc, an_optimizer_tells_more_than_an_op);
	tcase_add_test(tc, two_optimizers_of_a_name_end_a_step_together);
	tcase_add_test(tc, an_optimizer_inside_itself_is_one);
	tcase_add_test(tc, one_step_of_an_optimizer_says_nothing);
	tcase_add_test(tc, replicas_on_threads_are_counted_once);
	tcase_add_test(tc, annotations_of_the_device_are_no_calls);
	tcase_add_test(tc, steps_without_memory_are_an_error);
	suite_add_tcase(s, tc);
	return s;
}
