#include "base/chan.h"

#include <check.h>
#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"

Suite *suite_chan(void);

enum { ITEMS = 20000, WORKERS = 3 };

struct relay { /* WORKERS threads push ITEMS numbers each, WORKERS pop them */
	struct chan *chan;
	uint64_t sum[WORKERS];
	uint64_t count[WORKERS];
};

struct part {
	struct relay *relay;
	int i;
};

static void send_all(struct thread *t, void *arg)
{
	struct part *p = arg;

	(void)t;
	for (uintptr_t i = 1; i <= ITEMS; i++)
		if (chan_push(p->relay->chan, (void *)i, -1) != OK)
			abort();
}

static void take_all(struct thread *t, void *arg)
{
	struct part *p = arg;
	void *item;

	(void)t;
	while (chan_pop(p->relay->chan, &item, -1) == OK) {
		p->relay->sum[p->i] += (uintptr_t)item;
		p->relay->count[p->i]++;
	}
}

START_TEST(what_many_threads_push_is_popped_exactly_once)
{
	struct relay r = { .chan = chan_new(7) };
	struct thread *senders[WORKERS], *takers[WORKERS];
	struct part parts[WORKERS];
	uint64_t sum = 0, count = 0;

	for (int i = 0; i < WORKERS; i++) {
		parts[i] = (struct part){ &r, i };
		ck_assert_int_eq(thread_start(&senders[i], "send", send_all, &parts[i], NULL), OK);
		ck_assert_int_eq(thread_start(&takers[i], "take", take_all, &parts[i], NULL), OK);
	}
	for (int i = 0; i < WORKERS; i++)
		thread_join(senders[i]);
	chan_close(r.chan);
	for (int i = 0; i < WORKERS; i++) {
		thread_join(takers[i]);
		sum += r.sum[i];
		count += r.count[i];
	}
	ck_assert_uint_eq(count, (uint64_t)WORKERS * ITEMS);
	ck_assert_uint_eq(sum, (uint64_t)WORKERS * ITEMS * (ITEMS + 1) / 2);
	ck_assert_uint_eq(chan_count(r.chan), 0);
	chan_free(r.chan);
}
END_TEST

START_TEST(a_full_channel_is_busy_and_an_empty_one_too)
{
	struct chan *c = chan_new(2);
	int x, y, z;
	void *p;

	ck_assert_int_eq(chan_pop(c, &p, 0), E_BUSY);
	ck_assert_int_eq(chan_try_push(c, &x), OK);
	ck_assert_int_eq(chan_try_push(c, &y), OK);
	ck_assert_int_eq(chan_try_push(c, &z), E_BUSY);
	ck_assert_int_eq(chan_push(c, &z, 2 * NS_PER_MS), E_BUSY);
	ck_assert_uint_eq(chan_count(c), 2);
	ck_assert_int_eq(chan_pop(c, &p, 0), OK);
	ck_assert_ptr_eq(p, &x);
	ck_assert_int_eq(chan_try_push(c, &z), OK);
	ck_assert_int_eq(chan_pop(c, &p, -1), OK);
	ck_assert_ptr_eq(p, &y);
	ck_assert_int_eq(chan_pop(c, &p, -1), OK);
	ck_assert_ptr_eq(p, &z);
	chan_free(c);
}
END_TEST

START_TEST(a_pop_waits_as_long_as_it_was_told)
{
	struct chan *c = chan_new(1);
	int64_t start = clock_mono_ns(), waited;
	void *p;

	ck_assert_int_eq(chan_pop(c, &p, 20 * NS_PER_MS), E_BUSY);
	waited = clock_mono_ns() - start;
	ck_assert_int_ge(waited, 20 * NS_PER_MS);
	chan_free(c);
}
END_TEST

START_TEST(a_closed_channel_still_gives_what_it_holds)
{
	struct chan *c = chan_new(4);
	void *p;
	int x;

	ck_assert_int_eq(chan_try_push(c, &x), OK);
	chan_close(c);
	chan_close(c);
	ck_assert_int_eq(chan_try_push(c, &x), E_STOPPED);
	ck_assert_int_eq(chan_push(c, &x, -1), E_STOPPED);
	ck_assert_int_eq(chan_pop(c, &p, -1), OK);
	ck_assert_ptr_eq(p, &x);
	ck_assert_int_eq(chan_pop(c, &p, -1), E_STOPPED);
	ck_assert_int_eq(chan_pop(c, &p, 0), E_STOPPED);
	chan_free(c);
}
END_TEST

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

START_TEST(its_fd_is_readable_exactly_while_there_is_something)
{
	struct chan *c = chan_new(4);
	int x, fd = chan_fd(c);
	void *p;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(chan_fd(c), fd);
	for (int round = 0; round < 3; round++) {
		ck_assert(!readable(fd));
		ck_assert_int_eq(chan_try_push(c, &x), OK);
		ck_assert_int_eq(chan_try_push(c, &x), OK);
		ck_assert(readable(fd));
		ck_assert_int_eq(chan_pop(c, &p, 0), OK);
		ck_assert(readable(fd));
		ck_assert_int_eq(chan_pop(c, &p, 0), OK);
	}
	ck_assert_int_eq(chan_try_push(c, &x), OK);
	chan_close(c);
	ck_assert_int_eq(chan_pop(c, &p, 0), OK);
	ck_assert(readable(fd));
	chan_free(c);
}
END_TEST

START_TEST(an_fd_that_is_made_late_knows_what_is_there)
{
	struct chan *c = chan_new(4);
	void *p;
	int x;

	ck_assert_int_eq(chan_try_push(c, &x), OK);
	ck_assert(readable(chan_fd(c)));
	ck_assert_int_eq(chan_pop(c, &p, 0), OK);
	ck_assert(!readable(chan_fd(c)));
	chan_close(c);
	ck_assert(readable(chan_fd(c)));
	chan_free(c);
}
END_TEST

static void answer(struct thread *t, void *arg)
{
	(void)t;
	clock_sleep_ns(NS_PER_MS);
	ticket_done(arg, E_FULL);
}

START_TEST(a_ticket_carries_one_answer_a_round)
{
	struct ticket *ticket = ticket_new();

	for (int round = 0; round < 3; round++) {
		struct thread *t;

		ck_assert_int_eq(thread_start(&t, "answer", answer, ticket, NULL), OK);
		ck_assert_int_eq(ticket_wait(ticket), E_FULL);
		thread_join(t);
	}
	ticket_done(ticket, OK); /* before anybody waits */
	ck_assert_int_eq(ticket_wait(ticket), OK);
	ticket_free(ticket);
}
END_TEST

Suite *suite_chan(void)
{
	Suite *s = suite_create("base/chan");
	TCase *tc = tcase_create("chan");

	tcase_add_test(tc, what_many_threads_push_is_popped_exactly_once);
	tcase_add_test(tc, a_full_channel_is_busy_and_an_empty_one_too);
	tcase_add_test(tc, a_pop_waits_as_long_as_it_was_told);
	tcase_add_test(tc, a_closed_channel_still_gives_what_it_holds);
	tcase_add_test(tc, its_fd_is_readable_exactly_while_there_is_something);
	tcase_add_test(tc, an_fd_that_is_made_late_knows_what_is_there);
	tcase_add_test(tc, a_ticket_carries_one_answer_a_round);
	suite_add_tcase(s, tc);
	return s;
}
