#include "agent/pace.h"

#include <check.h>
#include <stdio.h>

#include "base/clock.h"

Suite *suite_pace(void);

static struct pace *p;
static int64_t now, median;

static void setup(void)
{
	p = pace_new();
	now = 1;
}

static void teardown(void)
{
	pace_free(p);
}

static bool add_of(const char *deploy, const char *worker, int64_t step_ms)
{
	const struct pace_key k = { STR("kineto"), STR("llm"), str_of(deploy), str_of(worker) };

	return pace_add(p, &k, step_ms * NS_PER_MS, 2000, now++, &median);
}

static bool add(int64_t step_ms)
{
	return add_of("v1", "0", step_ms);
}

START_TEST(a_window_is_slow_by_what_its_own_worker_did_before)
{
	ck_assert(!add(100));
	ck_assert(!add(900)); /* too few to tell */
	ck_assert(!add(110));
	ck_assert(!add(90));
	ck_assert_int_eq(median, 0);
	ck_assert(!add(205));
	ck_assert_int_eq(median, 105 * NS_PER_MS);
	ck_assert(add(300)); /* the median is 110 by now */
	ck_assert_int_eq(median, 110 * NS_PER_MS);
	ck_assert(!add_of("v1", "1", 900));
	ck_assert(!add_of("v2", "0", 900)); /* another deploy has a pace of its own */
}
END_TEST

START_TEST(what_stays_slow_is_the_new_pace)
{
	unsigned slow = 0;

	for (int i = 0; i < 20; i++)
		ck_assert(!add(100));
	for (int i = 0; i < 20; i++)
		slow += add(300);
	ck_assert_uint_eq(slow, (PACE_WINDOWS + 1) / 2);
	ck_assert(!add(100));
}
END_TEST

START_TEST(a_ratio_of_zero_switches_it_off_and_no_step_is_no_window)
{
	const struct pace_key k = { STR("kineto"), STR("llm"), STR("v1"), STR("0") };

	for (int i = 0; i < 10; i++)
		add(100);
	ck_assert(!pace_add(p, &k, NS_PER_HOUR, 0, now, &median));
	ck_assert(!pace_add(p, &k, 0, 2000, now, &median));
	ck_assert(!pace_add(p, &k, -5, 2000, now, &median));
	ck_assert_int_eq(median, 0);
}
END_TEST

START_TEST(there_is_a_ceiling_to_workers_and_the_idlest_goes)
{
	char name[16];

	for (int i = 0; i < PACE_WINDOWS_MIN; i++)
		add(100);
	for (int n = 1; n < PACE_WORKERS_MAX; n++) {
		snprintf(name, sizeof(name), "%d", n);
		add_of("v1", name, 100);
	}
	add(100);
	ck_assert_int_eq(median, 100 * NS_PER_MS);
	add_of("v1", "one more", 100); /* "1" goes */
	ck_assert(add(300));
}
END_TEST

START_TEST(the_step_of_a_window_is_the_median_of_its_steps_or_its_length_by_their_number)
{
	struct op_summary ops[2] = { { .kind = OP_CPU_OP, .calls = 1 }, { .kind = OP_STEP, .calls = 3 } };
	struct window w = { .ops = ops, .n_ops = 2, .steps = 3, .dur_ns = 90 };

	ck_assert_int_eq(pace_step_ns(&w), 30);
	for (int i = 0; i < 3; i++)
		hist_add(&ops[1].hist, i == 2 ? 1000000 : 1000);
	ck_assert_int_gt(pace_step_ns(&w), 980);
	ck_assert_int_lt(pace_step_ns(&w), 1020);
	hist_fini(&ops[1].hist);
	w.n_ops = 1;
	w.steps = 0;
	ck_assert_int_eq(pace_step_ns(&w), 0);
}
END_TEST

Suite *suite_pace(void)
{
	Suite *s = suite_create("agent/pace");
	TCase *tc = tcase_create("pace");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_window_is_slow_by_what_its_own_worker_did_before);
	tcase_add_test(tc, what_stays_slow_is_the_new_pace);
	tcase_add_test(tc, a_ratio_of_zero_switches_it_off_and_no_step_is_no_window);
	tcase_add_test(tc, there_is_a_ceiling_to_workers_and_the_idlest_goes);
	tcase_add_test(tc, the_step_of_a_window_is_the_median_of_its_steps_or_its_length_by_their_number);
	suite_add_tcase(s, tc);
	return s;
}
