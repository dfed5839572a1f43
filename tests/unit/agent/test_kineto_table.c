#include "agent/kineto_table.h"

#include <check.h>

#include "base/clock.h"

Suite *suite_kineto_table(void);

/* Time goes by as one number: mono nanoseconds, and wall nanoseconds that much behind a start of a slot. */
static int64_t now, wall0;
static struct kineto_rules rules;
static struct kineto_table *t;

static void setup(void)
{
	rules = (struct kineto_rules){ .max_at_once = 2, .min_age_ns = 60 * NS_PER_S };
	schedule_init(&rules.schedule, 5 * NS_PER_MIN, STR("h"));
	wall0 = rules.schedule.offset_ns + 1000 * rules.schedule.interval_ns;
	now = 0;
	t = kineto_table_new(&rules);
}

static void teardown(void)
{
	kineto_table_free(t);
}

static enum kineto_why poll_as(pid_t pid, uint32_t can, uint64_t address)
{
	struct kineto_message m = { .kind = KINETO_POLL, .can = can, .job = 4242, .pids = { pid, 1 }, .n_pids = 2 };
	bool is_new = false;
	struct kineto_proc *p = kineto_table_poll(t, pid, 1000, address, &m, now, wall0 + now, &is_new);
	enum kineto_why why;

	ck_assert_ptr_nonnull(p);
	why = kineto_table_ask(t, p, now, wall0 + now);
	if (why == KINETO_DUE)
		kineto_table_gave(t, p, now);
	if (is_new)
		kineto_table_know(t, pid, address, now - NS_PER_HOUR, STR("/tmp"));
	return why;
}

static enum kineto_why poll_idle(pid_t pid)
{
	return poll_as(pid, KINETO_CAN_TRACE, (uint64_t)pid);
}

/* From now on poll every 5 s until so long after the start; how many windows that gave. */
static unsigned poll_until(pid_t pid, int64_t end)
{
	unsigned given = 0;

	for (; now < end; now += 5 * NS_PER_S)
		if (poll_idle(pid) == KINETO_DUE) {
			given++;
			kineto_table_over(t, pid);
		}
	return given;
}

START_TEST(a_process_gets_one_window_a_slot_and_none_in_its_first)
{
	ck_assert_uint_eq(poll_until(7, 5 * NS_PER_MIN), 0);
	ck_assert_uint_eq(poll_until(7, 10 * NS_PER_MIN), 1);
	ck_assert_uint_eq(poll_until(7, 30 * NS_PER_MIN), 4);
	for (int why = 0; why < KINETO_WHYS; why++)
		ck_assert_uint_eq(kineto_table_missed(t, (enum kineto_why)why), 0);
}
END_TEST

START_TEST(no_window_at_the_first_poll_nor_before_it_is_known_who_it_is)
{
	struct kineto_message m = { .kind = KINETO_POLL, .can = KINETO_CAN_TRACE, .pids = { 7 }, .n_pids = 1 };
	struct kineto_proc *p;
	bool is_new;

	kineto_table_poll(t, 7, 1000, 7, &m, now, wall0, &is_new);
	ck_assert(is_new);
	now = 5 * NS_PER_MIN;
	p = kineto_table_poll(t, 7, 1000, 7, &m, now, wall0 + now, &is_new);
	ck_assert(is_new);
	ck_assert_int_eq(kineto_table_ask(t, p, now, wall0 + now), KINETO_YOUNG);
	kineto_table_know(t, 7, 7, now - 59 * NS_PER_S, STR("/tmp"));
	ck_assert_int_eq(kineto_table_ask(t, p, now, wall0 + now), KINETO_YOUNG);
	kineto_table_know(t, 7, 7, now - 60 * NS_PER_S, STR("/tmp"));
	ck_assert_int_eq(kineto_table_ask(t, p, now, wall0 + now), KINETO_DUE);
	p->polls = 1;
	ck_assert_int_eq(kineto_table_ask(t, p, now, wall0 + now), KINETO_YOUNG);
}
END_TEST

START_TEST(a_busy_process_is_left_alone_and_its_slot_counted)
{
	for (; now < 15 * NS_PER_MIN; now += 5 * NS_PER_S)
		ck_assert_int_ne(poll_as(7, 0, 7), KINETO_DUE);
	ck_assert_uint_eq(kineto_table_missed(t, KINETO_BUSY), 1); /* the second slot is over, the third is not */
	ck_assert_int_eq(poll_idle(7), KINETO_DUE);
	ck_assert_uint_eq(kineto_table_missed(t, KINETO_BUSY), 2);
	now += 5 * NS_PER_MIN;
	ck_assert_int_eq(poll_idle(7), KINETO_BUSY); /* a window of it is out */
	kineto_table_over(t, 7);
	ck_assert_int_eq(poll_idle(7), KINETO_DUE);
}
END_TEST

START_TEST(no_more_windows_are_out_than_may_be)
{
	for (pid_t pid = 1; pid <= 5; pid++)
		poll_idle(pid);
	now = 5 * NS_PER_MIN;
	ck_assert_int_eq(poll_idle(1), KINETO_DUE);
	ck_assert_int_eq(poll_idle(2), KINETO_DUE);
	ck_assert_int_eq(poll_idle(3), KINETO_CROWDED);
	ck_assert_uint_eq(kineto_table_out(t), 2);
	kineto_table_over(t, 1);
	ck_assert_int_eq(poll_idle(4), KINETO_DUE);
	ck_assert_int_eq(poll_idle(3), KINETO_CROWDED);
	kineto_table_over(t, 99); /* of a process that is forgotten: its place is free all the same */
	ck_assert_int_eq(poll_idle(5), KINETO_DUE);
	now = 10 * NS_PER_MIN;
	poll_idle(3);
	ck_assert_uint_eq(kineto_table_missed(t, KINETO_CROWDED), 1);
}
END_TEST

START_TEST(whoever_waited_longest_is_next_whatever_the_order_of_polls)
{
	unsigned given[4] = { 0 };
	int64_t until = 0; /* the end of the window that is out: there is time for two of them in a slot */
	pid_t out = 0;

	kineto_table_free(t);
	rules.max_at_once = 1;
	t = kineto_table_new(&rules);
	for (; now < 35 * NS_PER_MIN; now += 5 * NS_PER_S)
		for (pid_t pid = 1; pid <= 3; pid++) {
			if (out != 0 && now >= until) {
				kineto_table_over(t, out);
				out = 0;
			}
			if (poll_idle(pid) == KINETO_DUE) {
				given[pid]++;
				out = pid;
				until = now + 145 * NS_PER_S;
			}
		}
	ck_assert_uint_ge(given[1] + given[2] + given[3], 12); /* in six slots */
	for (pid_t pid = 1; pid <= 3; pid++)
		ck_assert_uint_ge(given[pid], 4);
}
END_TEST

START_TEST(one_that_stopped_polling_or_takes_no_answer_keeps_nobody_waiting)
{
	struct kineto_message m = { .kind = KINETO_POLL, .can = KINETO_CAN_TRACE, .pids = { 1 }, .n_pids = 1 };
	struct kineto_proc *p;
	bool is_new;

	kineto_table_free(t);
	rules.max_at_once = 1;
	t = kineto_table_new(&rules);
	poll_idle(1);
	poll_idle(2);
	now = 5 * NS_PER_MIN;
	ck_assert_int_eq(poll_idle(2), KINETO_DUE);
	kineto_table_over(t, 2);
	now = 10 * NS_PER_MIN;
	kineto_table_poll(t, 1, 1000, 1, &m, now, wall0 + now, &is_new);
	ck_assert_int_eq(poll_idle(2), KINETO_CROWDED); /* the first one never had any */
	now += 9 * NS_PER_S;
	ck_assert_int_eq(poll_idle(2), KINETO_DUE); /* and is gone, it seems */
	kineto_table_over(t, 2);
	now = 15 * NS_PER_MIN;
	p = kineto_table_poll(t, 1, 1000, 1, &m, now, wall0 + now, &is_new);
	ck_assert_int_eq(kineto_table_ask(t, p, now, wall0 + now), KINETO_DUE);
	kineto_table_unsent(p, now);
	ck_assert_int_eq(poll_idle(2), KINETO_DUE);
}
END_TEST

START_TEST(quiet_hours_are_kept_and_counted)
{
	kineto_table_free(t);
	ck_assert_int_eq(schedule_add_quiet(&rules.schedule, STR("00:00-24:00"), NULL), OK);
	t = kineto_table_new(&rules);
	ck_assert_uint_eq(poll_until(7, 20 * NS_PER_MIN + NS_PER_S), 0);
	ck_assert_uint_eq(kineto_table_missed(t, KINETO_QUIET), 3);
}
END_TEST

START_TEST(an_answer_that_was_not_taken_leaves_the_window_owed)
{
	struct kineto_message m = { .kind = KINETO_POLL, .can = KINETO_CAN_TRACE, .pids = { 7 }, .n_pids = 1 };
	struct kineto_proc *p;
	bool is_new;

	poll_idle(7);
	now = 5 * NS_PER_MIN;
	p = kineto_table_poll(t, 7, 1000, 7, &m, now, wall0 + now, &is_new);
	ck_assert_int_eq(kineto_table_ask(t, p, now, wall0 + now), KINETO_DUE);
	kineto_table_unsent(p, now);
	ck_assert_uint_eq(kineto_table_out(t), 0);
	ck_assert_int_eq(poll_idle(7), KINETO_DUE);
}
END_TEST

START_TEST(a_minute_without_a_poll_and_it_is_forgotten)
{
	poll_idle(7);
	now = 30 * NS_PER_S;
	poll_idle(8);
	ck_assert_uint_eq(kineto_table_expire(t, 60 * NS_PER_S), 0);
	ck_assert_uint_eq(kineto_table_expire(t, 61 * NS_PER_S), 1);
	ck_assert_uint_eq(kineto_table_count(t), 1);
	ck_assert_uint_eq(kineto_table_job_count(t, 4242), 1);
	ck_assert_uint_eq(kineto_table_job_count(t, 1), 0);
}
END_TEST

START_TEST(another_process_of_the_same_pid_starts_anew)
{
	poll_idle(7);
	now = 5 * NS_PER_MIN;
	ck_assert_int_ne(poll_as(7, KINETO_CAN_TRACE, 999), KINETO_DUE); /* its first poll */
	kineto_table_know(t, 7, 7, 0, STR("/elsewhere"));		  /* of the one before: comes too late */
	now += 5 * NS_PER_S;
	ck_assert_int_ne(poll_as(7, KINETO_CAN_TRACE, 999), KINETO_DUE); /* its first slot */
	now = 10 * NS_PER_MIN;
	ck_assert_int_eq(poll_as(7, KINETO_CAN_TRACE, 999), KINETO_DUE);
}
END_TEST

START_TEST(there_is_a_ceiling_to_processes)
{
	struct kineto_message m = { .kind = KINETO_POLL, .pids = { 1 }, .n_pids = 1 };
	bool is_new;

	for (pid_t pid = 1; pid <= KINETO_PROCS_MAX; pid++)
		ck_assert_ptr_nonnull(kineto_table_poll(t, pid, 0, 1, &m, now, wall0, &is_new));
	ck_assert_ptr_null(kineto_table_poll(t, KINETO_PROCS_MAX + 1, 0, 1, &m, now, wall0, &is_new));
	ck_assert_ptr_nonnull(kineto_table_poll(t, 5, 0, 1, &m, now, wall0, &is_new));
}
END_TEST

Suite *suite_kineto_table(void)
{
	Suite *s = suite_create("agent/kineto_table");
	TCase *tc = tcase_create("kineto_table");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_process_gets_one_window_a_slot_and_none_in_its_first);
	tcase_add_test(tc, no_window_at_the_first_poll_nor_before_it_is_known_who_it_is);
	tcase_add_test(tc, a_busy_process_is_left_alone_and_its_slot_counted);
	tcase_add_test(tc, no_more_windows_are_out_than_may_be);
	tcase_add_test(tc, whoever_waited_longest_is_next_whatever_the_order_of_polls);
	tcase_add_test(tc, one_that_stopped_polling_or_takes_no_answer_keeps_nobody_waiting);
	tcase_add_test(tc, quiet_hours_are_kept_and_counted);
	tcase_add_test(tc, an_answer_that_was_not_taken_leaves_the_window_owed);
	tcase_add_test(tc, a_minute_without_a_poll_and_it_is_forgotten);
	tcase_add_test(tc, another_process_of_the_same_pid_starts_anew);
	tcase_add_test(tc, there_is_a_ceiling_to_processes);
	suite_add_tcase(s, tc);
	return s;
}
