#include "trace/busy.h"

#include <inttypes.h>

#include "tests/unit/trace/help.h"

Suite *suite_busy(void);

static struct buf said;

static void say_gap(void *arg, int64_t ns)
{
	(void)arg;
	buf_fmt(&said, "gap %" PRId64 "\n", ns);
}

static void say_device(void *arg, struct str pid, int64_t busy_ns)
{
	(void)arg;
	buf_fmt(&said, "%.*s busy %" PRId64 "\n", STR_ARG(pid), busy_ns);
}

static void say_busy(void *arg, struct str pid, int64_t from_ns, int64_t to_ns)
{
	(void)arg;
	buf_fmt(&said, "%.*s from %" PRId64 " to %" PRId64 "\n", STR_ARG(pid), from_ns, to_ns);
}

static void no_gap(void *arg, int64_t ns)
{
	(void)arg;
	(void)ns;
}

static void expect(const char *events, struct busy_span span, const char *want)
{
	const struct busy_visitor v = { .gap = say_gap, .device = say_device };
	struct trace *t = help_read(str_of(events), 0, NULL);
	struct err e = { 0 };

	buf_init(&said, 4096);
	ck_assert_int_eq(busy_each(t, span, &v, &e), OK);
	ck_assert_str_eq(buf_view(&said).p, want);
	buf_fini(&said);
	trace_free(t);
}

#define RUNS(pid, tid, ts, dur)                                                                                     \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur "}"
static const struct busy_span always = { INT64_MIN, INT64_MAX };

START_TEST(overlapping_executions_are_busy_once)
{
	expect("{\"traceEvents\":[" RUNS(0, 7, 10, 5) "," RUNS(0, 8, 11, 1.5) "," RUNS(0, 7, 14, 4) "]}", always,
		"0 busy 8000\n");
}
END_TEST

START_TEST(gaps_are_between_executions_of_one_device)
{
	expect("{\"traceEvents\":[" RUNS(0, 7, 10, 5) "," RUNS(1, 7, 0, 50) "," RUNS(0, 7, 18, 2) "," RUNS(0, 7, 20, 1)
	       "," RUNS(0, 7, 30, 0) "," RUNS(0, 7, 31, 1) "]}",
		always, "gap 3000\ngap 9000\ngap 10000\n0 busy 9000\n1 busy 50000\n");
}
END_TEST

START_TEST(a_time_without_a_pause_is_one)
{
	const struct busy_visitor v = { .gap = no_gap, .device = say_device, .busy = say_busy };
	struct trace *t = help_read(STR("{\"traceEvents\":[" RUNS(0, 7, 0, 0) "," RUNS(0, 7, 10, 5) "," RUNS(0, 8, 11, 6) ","
		RUNS(1, 7, 12, 1) "," RUNS(0, 7, 17, 2) "," RUNS(0, 7, 20, 0) "," RUNS(0, 7, 30, 1) "]}"), 0, NULL);
	struct err e = { 0 };

	buf_init(&said, 4096);
	ck_assert_int_eq(busy_each(t, always, &v, &e), OK);
	ck_assert_str_eq(buf_view(&said).p, "0 from 10000 to 19000\n0 from 30000 to 31000\n0 busy 10000\n"
					    "1 from 12000 to 13000\n1 busy 1000\n");
	buf_fini(&said);
	trace_free(t);
}
END_TEST

START_TEST(gaps_outside_of_the_span_are_left_out)
{
	expect("{\"traceEvents\":[" RUNS(0, 7, 0, 1) "," RUNS(0, 7, 10, 1) "," RUNS(0, 7, 20, 1) "," RUNS(0, 7, 30, 1) "]}",
		(struct busy_span){ 5000, 25000 }, "gap 9000\n0 busy 4000\n");
}
END_TEST

Suite *suite_busy(void)
{
	Suite *s = suite_create("trace/busy");
	TCase *tc = tcase_create("busy");

	tcase_add_test(tc, overlapping_executions_are_busy_once);
	tcase_add_test(tc, gaps_are_between_executions_of_one_device);
	tcase_add_test(tc, a_time_without_a_pause_is_one);
	tcase_add_test(tc, gaps_outside_of_the_span_are_left_out);
	suite_add_tcase(s, tc);
	return s;
}
