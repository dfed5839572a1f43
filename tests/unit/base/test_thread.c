#include "base/thread.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"

Suite *suite_thread(void);

struct seen {
	char name[16];
	bool sigterm_blocked, stopped;
};

static void look(struct thread *t, void *arg)
{
	struct seen *s = arg;
	sigset_t set;

	pthread_getname_np(pthread_self(), s->name, sizeof(s->name));
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	s->sigterm_blocked = sigismember(&set, SIGTERM);
	s->stopped = thread_sleep(t, 3600 * NS_PER_S);
}

START_TEST(a_thread_has_a_name_blocks_signals_and_can_be_woken)
{
	struct seen s = { 0 };
	struct err e = { 0 };
	int64_t start = clock_mono_ns();
	struct thread *t;

	ck_assert_int_eq(thread_start(&t, "a-name-of-more-than-15-bytes", look, &s, &e), OK);
	thread_join(t);
	ck_assert_str_eq(s.name, "a-name-of-more-");
	ck_assert(s.sigterm_blocked);
	ck_assert(s.stopped);
	ck_assert_int_lt(clock_mono_ns() - start, 10 * NS_PER_S);
}
END_TEST

struct nap {
	bool stopped;
	atomic_bool over;
};

static void nap(struct thread *t, void *arg)
{
	struct nap *n = arg;

	n->stopped = thread_sleep(t, 2 * NS_PER_MS);
	atomic_store(&n->over, true);
}

START_TEST(a_sleep_that_is_not_stopped_ends_by_itself)
{
	struct nap n = { .stopped = true };
	struct thread *t;

	ck_assert_int_eq(thread_start(&t, "nap", nap, &n, NULL), OK);
	while (!atomic_load(&n.over))
		clock_sleep_ns(NS_PER_MS);
	thread_join(t);
	ck_assert(!n.stopped);
	thread_join(NULL);
}
END_TEST

Suite *suite_thread(void)
{
	Suite *s = suite_create("base/thread");
	TCase *tc = tcase_create("thread");

	tcase_add_test(tc, a_thread_has_a_name_blocks_signals_and_can_be_woken);
	tcase_add_test(tc, a_sleep_that_is_not_stopped_ends_by_itself);
	suite_add_tcase(s, tc);
	return s;
}
