#include "agent/kineto_table.h"

#include <check.h>

#include "base/clock.h"

Suite *suite_kineto_table(void);

static int64_t now;
static struct kineto_table *t;

static void setup(void)
{
	now = NS_PER_HOUR;
	t = kineto_table_new();
}

static void teardown(void)
{
	kineto_table_free(t);
}

static struct kineto_proc *poll_as(pid_t pid, uint32_t can, uint64_t address)
{
	struct kineto_message m = { .kind = KINETO_POLL, .can = can, .job = 4242, .pids = { pid, 1 }, .n_pids = 2 };
	bool is_new = false;
	struct kineto_proc *p = kineto_table_poll(t, pid, 1000, address, &m, now, &is_new);

	ck_assert_ptr_nonnull(p);
	if (is_new)
		kineto_table_know(t, pid, address, STR("/tmp"));
	return p;
}

static struct kineto_proc *poll_idle(pid_t pid)
{
	return poll_as(pid, KINETO_CAN_TRACE, (uint64_t)pid);
}

static bool grant(pid_t pid, uint64_t order)
{
	return kineto_table_grant(t, pid, (uint64_t)pid, &(struct kineto_grant){ .order = order, .until_ns = now + 15 * NS_PER_S });
}

START_TEST(no_window_without_a_grant_and_one_for_each)
{
	poll_idle(7);
	ck_assert(!kineto_table_ask(poll_idle(7), now));
	ck_assert(grant(7, 1));
	ck_assert(!grant(7, 2));
	ck_assert(kineto_table_ask(poll_idle(7), now));
	kineto_table_gave(t, poll_idle(7));
	ck_assert_uint_eq(kineto_table_out(t), 1);
	ck_assert(!kineto_table_ask(poll_idle(7), now));
	ck_assert(grant(7, 3));
	ck_assert(!kineto_table_ask(poll_idle(7), now)); /* its window is out */
	kineto_table_over(t, 7);
	ck_assert(kineto_table_ask(poll_idle(7), now));
	kineto_table_gave(t, poll_idle(7));
	kineto_table_over(t, 99); /* of a process that is forgotten */
	ck_assert_uint_eq(kineto_table_out(t), 0);
}
END_TEST

START_TEST(no_window_at_the_first_poll_nor_before_it_is_known_who_it_is)
{
	struct kineto_message m = { .kind = KINETO_POLL, .can = KINETO_CAN_TRACE, .pids = { 7 }, .n_pids = 1 };
	struct kineto_proc *p;
	bool is_new;

	p = kineto_table_poll(t, 7, 1000, 7, &m, now, &is_new);
	ck_assert(is_new);
	ck_assert(grant(7, 1));
	ck_assert(!kineto_table_ask(p, now));
	kineto_table_know(t, 7, 7, STR("/tmp"));
	ck_assert(!kineto_table_ask(p, now));
	p = kineto_table_poll(t, 7, 1000, 7, &m, now, &is_new);
	ck_assert(!is_new);
	ck_assert(kineto_table_ask(p, now));
	p->known = false;
	ck_assert(!kineto_table_ask(p, now));
}
END_TEST

START_TEST(a_busy_process_is_left_alone_whatever_was_granted)
{
	poll_idle(7);
	ck_assert(grant(7, 1));
	ck_assert(!kineto_table_ask(poll_as(7, 0, 7), now));
	ck_assert(kineto_table_ask(poll_idle(7), now));
}
END_TEST

START_TEST(a_grant_that_nobody_came_for_in_time_is_told)
{
	poll_idle(7);
	poll_idle(8);
	ck_assert(grant(7, 1));
	now += 10 * NS_PER_S;
	ck_assert(grant(8, 2));
	ck_assert_uint_eq(kineto_table_unsent(t, now), 0);
	now += 5 * NS_PER_S;
	ck_assert(!kineto_table_ask(poll_idle(7), now));
	ck_assert_uint_eq(kineto_table_unsent(t, now), 1);
	ck_assert_uint_eq(kineto_table_unsent(t, now), 0);
	ck_assert(grant(7, 3));
}
END_TEST

START_TEST(what_is_revoked_is_told_as_if_its_time_were_over)
{
	poll_idle(7);
	poll_idle(8);
	ck_assert(grant(7, 1));
	kineto_table_revoke(t);
	ck_assert(!kineto_table_ask(poll_idle(7), now));
	ck_assert_uint_eq(kineto_table_unsent(t, now), 1);
	ck_assert_uint_eq(kineto_table_unsent(t, now), 0);
	ck_assert(grant(7, 2));
	ck_assert(kineto_table_ask(poll_idle(7), now));
}
END_TEST

START_TEST(a_grant_is_not_lost_with_its_process)
{
	poll_idle(7);
	ck_assert(kineto_table_grant(t, 7, 7, &(struct kineto_grant){ .order = 1, .until_ns = now + NS_PER_HOUR }));
	now += 2 * NS_PER_MIN;
	ck_assert_uint_eq(kineto_table_expire(t, now), 0);
	poll_as(7, KINETO_CAN_TRACE, 999); /* another one of that pid */
	ck_assert(!kineto_table_ask(poll_as(7, KINETO_CAN_TRACE, 999), now));
	ck_assert_uint_eq(kineto_table_unsent(t, now), 1);
	now += 2 * NS_PER_MIN;
	ck_assert_uint_eq(kineto_table_expire(t, now), 1);
	ck_assert(!grant(7, 2)); /* gone */
}
END_TEST

START_TEST(a_minute_without_a_poll_and_it_is_forgotten)
{
	poll_idle(7);
	now += 30 * NS_PER_S;
	poll_idle(8);
	now += 30 * NS_PER_S;
	ck_assert_uint_eq(kineto_table_expire(t, now), 0);
	ck_assert_uint_eq(kineto_table_expire(t, now + NS_PER_S), 1);
	ck_assert_uint_eq(kineto_table_count(t), 1);
	ck_assert_uint_eq(kineto_table_job_count(t, 4242), 1);
	ck_assert_uint_eq(kineto_table_job_count(t, 1), 0);
}
END_TEST

START_TEST(main_hears_of_a_process_now_and_then_while_it_polls)
{
	struct kineto_proc *p;

	poll_idle(7);
	poll_idle(7);
	ck_assert_ptr_null(kineto_table_untold(t, now + NS_PER_S));
	now += 20 * NS_PER_S;
	ck_assert_ptr_null(kineto_table_untold(t, now)); /* it has not polled since */
	poll_idle(7);
	p = kineto_table_untold(t, now);
	ck_assert_ptr_nonnull(p);
	p->told_ns = now;
	ck_assert_ptr_null(kineto_table_untold(t, now));
}
END_TEST

START_TEST(another_process_of_the_same_pid_starts_anew)
{
	bool is_new = false;
	struct kineto_message m = { .kind = KINETO_POLL, .can = KINETO_CAN_TRACE, .pids = { 7 }, .n_pids = 1 };
	struct kineto_proc *p;

	poll_idle(7);
	poll_idle(7);
	p = kineto_table_poll(t, 7, 1000, 999, &m, now, &is_new);
	ck_assert(is_new);
	ck_assert_uint_eq(p->polls, 1);
	kineto_table_know(t, 7, 7, STR("/elsewhere")); /* of the one before: comes too late */
	ck_assert(!p->known);
	ck_assert(!grant(7, 1));
}
END_TEST

static bool asks_who(pid_t pid, uint64_t address)
{
	struct kineto_message m = { .kind = KINETO_POLL, .can = KINETO_CAN_TRACE, .pids = { pid }, .n_pids = 1 };
	bool is_new = false;

	ck_assert_ptr_nonnull(kineto_table_poll(t, pid, 1000, address, &m, now, &is_new));
	return is_new;
}

START_TEST(whoever_polls_under_ever_new_addresses_is_asked_about_a_few_times_only)
{
	unsigned asked = 0;

	for (uint64_t i = 0; i < 10000; i++) {
		asked += asks_who(7, 1 + i % 3);
		now += NS_PER_US;
	}
	ck_assert_uint_eq(asked, 4);
	ck_assert(asks_who(8, 1)); /* another one is not held up by it */
	now += 5 * NS_PER_S;
	ck_assert(asks_who(7, 1));
	kineto_table_know(t, 7, 1, STR("/tmp"));
	ck_assert(!asks_who(7, 1));
}
END_TEST

START_TEST(main_hears_soon_of_a_process_that_turns_idle_or_busy_and_not_of_each_time)
{
	struct kineto_proc *p = poll_as(7, 0, 7);
	unsigned turned = 0;

	now += NS_PER_S;
	for (unsigned i = 0; i < 10000; i++) {
		p = poll_as(7, i % 2 == 0 ? KINETO_CAN_TRACE : 0, 7);
		if (kineto_table_turned(p, now)) {
			turned++;
			p->told_idle = p->idle;
			p->told_ns = now;
		}
		now += 10 * NS_PER_US; /* a tenth of a second in all */
	}
	ck_assert_uint_ge(turned, 1);
	ck_assert_uint_le(turned, 2);
	p = poll_as(7, p->told_idle ? 0 : KINETO_CAN_TRACE, 7);
	ck_assert_ptr_null(kineto_table_untold(t, p->told_ns + NS_PER_MS));
	ck_assert_ptr_eq(kineto_table_untold(t, p->told_ns + NS_PER_S), p); /* what was held back comes after all */
}
END_TEST

START_TEST(there_is_a_ceiling_to_processes)
{
	struct kineto_message m = { .kind = KINETO_POLL, .pids = { 1 }, .n_pids = 1 };
	bool is_new;

	for (pid_t pid = 1; pid <= KINETO_PROCS_MAX; pid++)
		ck_assert_ptr_nonnull(kineto_table_poll(t, pid, 0, 1, &m, now, &is_new));
	ck_assert_ptr_null(kineto_table_poll(t, KINETO_PROCS_MAX + 1, 0, 1, &m, now, &is_new));
	ck_assert_ptr_nonnull(kineto_table_poll(t, 5, 0, 1, &m, now, &is_new));
}
END_TEST

Suite *suite_kineto_table(void)
{
	Suite *s = suite_create("agent/kineto_table");
	TCase *tc = tcase_create("kineto_table");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, no_window_without_a_grant_and_one_for_each);
	tcase_add_test(tc, no_window_at_the_first_poll_nor_before_it_is_known_who_it_is);
	tcase_add_test(tc, a_busy_process_is_left_alone_whatever_was_granted);
	tcase_add_test(tc, a_grant_that_nobody_came_for_in_time_is_told);
	tcase_add_test(tc, what_is_revoked_is_told_as_if_its_time_were_over);
	tcase_add_test(tc, a_grant_is_not_lost_with_its_process);
	tcase_add_test(tc, a_minute_without_a_poll_and_it_is_forgotten);
	tcase_add_test(tc, main_hears_of_a_process_now_and_then_while_it_polls);
	tcase_add_test(tc, another_process_of_the_same_pid_starts_anew);
	tcase_add_test(tc, whoever_polls_under_ever_new_addresses_is_asked_about_a_few_times_only);
	tcase_add_test(tc, main_hears_soon_of_a_process_that_turns_idle_or_busy_and_not_of_each_time);
	tcase_add_test(tc, there_is_a_ceiling_to_processes);
	suite_add_tcase(s, tc);
	return s;
}
