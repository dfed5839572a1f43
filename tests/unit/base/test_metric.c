#include "base/metric.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/thread.h"

Suite *suite_metric(void);

START_TEST(metrics_are_written_as_prometheus_reads_them)
{
	struct metrics *ms = metrics_new();
	struct buf out;

	buf_init(&out, 10000);
	metric_add(metric_counter(ms, "t_dropped_total", "reason=\"limit\"", "Dropped \\ lost,\nby reason."), 3);
	metric_set(metric_gauge(ms, "t_bytes", NULL, "Bytes."), 0.1);
	metric_add(metric_counter(ms, "t_dropped_total", "reason=\"old\"", "Dropped \\ lost,\nby reason."), 1);
	metrics_write(ms, &out);
	ck_assert_str_eq(buf_view(&out).p, "# HELP t_dropped_total Dropped \\\\ lost,\\nby reason.\n"
					   "# TYPE t_dropped_total counter\n"
					   "t_dropped_total{reason=\"limit\"} 3\n"
					   "t_dropped_total{reason=\"old\"} 1\n"
					   "# HELP t_bytes Bytes.\n"
					   "# TYPE t_bytes gauge\n"
					   "t_bytes 0.1\n");
	buf_fini(&out);
	metrics_free(ms);
}
END_TEST

START_TEST(the_same_name_and_labels_are_the_same_metric)
{
	struct metrics *ms = metrics_new();
	struct metric *a = metric_counter(ms, "a_total", NULL, "A.");

	ck_assert_ptr_eq(a, metric_counter(ms, "a_total", "", "A."));
	ck_assert_ptr_ne(a, metric_counter(ms, "a_total", "x=\"1\"", "A."));
	metrics_free(ms);
}
END_TEST

START_TEST(no_metrics_is_fine_everywhere)
{
	struct metric *m = metric_counter(NULL, "a_total", NULL, "A.");
	struct buf out;

	ck_assert_ptr_null(m);
	metric_add(m, 1);
	metric_set(m, 1);
	ck_assert(metric_value(m) == 0);
	buf_init(&out, 100);
	metrics_write(NULL, &out);
	ck_assert_uint_eq(out.n, 0);
	metrics_free(NULL);
}
END_TEST

START_TEST(gauges_hold_numbers_that_are_none)
{
	struct metrics *ms = metrics_new();
	struct buf out;

	buf_init(&out, 1000);
	metric_set(metric_gauge(ms, "a", NULL, "A."), (double)NAN);
	metric_set(metric_gauge(ms, "b", NULL, "B."), (double)INFINITY);
	metric_set(metric_gauge(ms, "c", NULL, "C."), 1.0 / 3);
	metrics_write(ms, &out);
	ck_assert_ptr_nonnull(strstr(out.p, "\na NaN\n"));
	ck_assert_ptr_nonnull(strstr(out.p, "\nb +Inf\n"));
	ck_assert_ptr_nonnull(strstr(out.p, "\nc 0.33333333333333331\n"));
	buf_fini(&out);
	metrics_free(ms);
}
END_TEST

static void count(struct thread *t, void *arg)
{
	(void)t;
	for (int i = 0; i < 50000; i++)
		metric_add(metric_counter(arg, "n_total", NULL, "N."), 1);
}

START_TEST(threads_lose_no_count)
{
	struct metrics *ms = metrics_new();
	struct thread *t[3];

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(thread_start(&t[i], "count", count, ms, NULL), OK);
	for (int i = 0; i < 3; i++)
		thread_join(t[i]);
	ck_assert(metric_value(metric_counter(ms, "n_total", NULL, "N.")) == 150000);
	metrics_free(ms);
}
END_TEST

Suite *suite_metric(void)
{
	Suite *s = suite_create("base/metric");
	TCase *tc = tcase_create("metric");

	tcase_add_test(tc, metrics_are_written_as_prometheus_reads_them);
	tcase_add_test(tc, the_same_name_and_labels_are_the_same_metric);
	tcase_add_test(tc, no_metrics_is_fine_everywhere);
	tcase_add_test(tc, gauges_hold_numbers_that_are_none);
	tcase_add_test(tc, threads_lose_no_count);
	suite_add_tcase(s, tc);
	return s;
}
