#include "trace/launch_delay.h"

#include <check.h>

#include "base/mem.h"
#include "tests/unit/trace/help.h"

Suite *suite_launch_delay(void);

static struct launch_delays *d;

static void begin(void)
{
	d = launch_delays_new();
}

static void over(void)
{
	launch_delays_free(d);
}

static void expect(uint64_t count, double median)
{
	const struct hist *h = launch_delays_finish(d);

	ck_assert(hist_count(h) == count);
	ck_assert_double_eq_tol(hist_quantile(h, 0.5), median, median * 0.011 + 0.1);
}

START_TEST(a_delay_is_from_the_call_to_the_first_device_event)
{
	launch_delays_call(d, 7, 1000);
	launch_delays_device(d, 7, 9000);
	launch_delays_device(d, 7, 6000); /* a graph launches many, and the file has them in any order */
	launch_delays_device(d, 7, 7000);
	expect(1, 5000);
}
END_TEST

START_TEST(of_a_call_inside_another_the_outer_one_counts)
{
	launch_delays_call(d, 7, 1100);
	launch_delays_call(d, 7, 1000);
	launch_delays_device(d, 7, 3000);
	launch_delays_call(d, 7, 1200);
	expect(1, 2000);
}
END_TEST

START_TEST(the_device_event_may_come_first_in_the_file)
{
	launch_delays_device(d, 1, 500);
	launch_delays_call(d, 1, 400);
	expect(1, 100);
}
END_TEST

START_TEST(one_side_alone_is_no_delay)
{
	launch_delays_call(d, 1, 10);
	launch_delays_device(d, 2, 20);
	expect(0, 0);
}
END_TEST

START_TEST(a_device_event_before_its_call_is_no_delay)
{
	launch_delays_call(d, 1, 100);
	launch_delays_device(d, 1, 90);
	expect(0, 0);
}
END_TEST

START_TEST(what_makes_room_counts_if_both_sides_are_known)
{
	launch_delays_call(d, 5, 0);
	launch_delays_device(d, 5, 1000);
	launch_delays_call(d, 6, 0);
	launch_delays_call(d, 5 + LAUNCH_DELAYS_KEPT, 0);
	launch_delays_call(d, 6 + LAUNCH_DELAYS_KEPT, 0);
	launch_delays_device(d, 6, 1000); /* its call is forgotten */
	expect(1, 1000);
}
END_TEST

START_TEST(without_memory_nothing_is_measured)
{
	mem_fail_at(1);
	ck_assert(launch_delays_new() == NULL);
	mem_fail_at(0);
	launch_delays_call(NULL, 1, 1);
	launch_delays_device(NULL, 1, 2);
}
END_TEST

START_TEST(a_trace_has_them_by_correlation_where_they_are_wanted)
{
	struct trace *t;
	struct buf b;

	buf_init(&b, 1 << 20);
	help_begin(&b);
	help_event(&b, "privateuse1_runtime", "nrt_execute", 1, 10, 5, "\"correlation\":3,\"External id\":1");
	help_event(&b, "privateuse1_driver", "ioctl_submit", 1, 11, 3, "\"correlation\":3,\"External id\":1");
	help_event(&b, "kernel", "k", 7, 30, 5, "\"correlation\":3,\"External id\":1");
	help_event(&b, "gpu_user_annotation", "step", 7, 12, 50, "\"correlation\":3");
	help_event(&b, "kernel", "no call", 7, 40, 5, "\"correlation\":4");
	help_event(&b, "kernel", "zero", 7, 50, 5, "\"correlation\":0");
	help_event(&b, "cuda_runtime", "zero", 7, 45, 5, "\"correlation\":0");
	help_end(&b);
	t = help_read_more(buf_view(&b), 0);
	ck_assert(t->delays == NULL);
	trace_free(t);
	t = help_read_more(buf_view(&b), TRACE_DELAYS);
	ck_assert(hist_count(launch_delays_finish(t->delays)) == 1);
	ck_assert_double_eq_tol(hist_quantile(launch_delays_finish(t->delays), 0.99), 20000, 220);
	trace_free(t);
	buf_fini(&b);
}
END_TEST

Suite *suite_launch_delay(void)
{
	Suite *s = suite_create("trace/launch_delay");
	TCase *tc = tcase_create("launch_delay");

	tcase_add_checked_fixture(tc, begin, over);
	tcase_add_test(tc, a_delay_is_from_the_call_to_the_first_device_event);
	tcase_add_test(tc, of_a_call_inside_another_the_outer_one_counts);
	tcase_add_test(tc, the_device_event_may_come_first_in_the_file);
	tcase_add_test(tc, one_side_alone_is_no_delay);
	tcase_add_test(tc, a_device_event_before_its_call_is_no_delay);
	tcase_add_test(tc, what_makes_room_counts_if_both_sides_are_known);
	tcase_add_test(tc, without_memory_nothing_is_measured);
	tcase_add_test(tc, a_trace_has_them_by_correlation_where_they_are_wanted);
	suite_add_tcase(s, tc);
	return s;
}
