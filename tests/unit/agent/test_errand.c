#include "agent/errand.h"

#include <check.h>
#include <poll.h>

#include "base/clock.h"
#include "base/mem.h"

Suite *suite_errand(void);

struct task {
	struct errand errand; /* first */
	int number, done;
	int64_t sleep_ns;
	bool stopped;
};

static _Atomic int ran, freed;
static struct errands *es;
static struct err e;

static void on_run(struct errand *er, struct thread *t)
{
	struct task *k = (struct task *)er;

	k->stopped = k->sleep_ns > 0 && thread_sleep(t, k->sleep_ns);
	k->done = k->number * 2;
	ran++;
}

static void on_free(struct errand *er)
{
	freed++;
	mem_free(er);
}

static struct task *make(int number, int64_t sleep_ns)
{
	struct task *k = mem_get(sizeof(*k));

	*k = (struct task){ .errand = { on_run, on_free }, .number = number, .sleep_ns = sleep_ns };
	return k;
}

static void setup(void)
{
	ran = freed = 0;
	err_clear(&e);
	ck_assert_int_eq(errands_start(&es, "test", 2, &e), OK);
}

static struct task *wait_for_one(void)
{
	struct pollfd fd = { .fd = errands_fd(es), .events = POLLIN };

	ck_assert_int_eq(poll(&fd, 1, 5000), 1);
	return (struct task *)errands_fetch(es);
}

START_TEST(errands_come_back_done_and_in_order)
{
	ck_assert_ptr_null(errands_fetch(es));
	for (int i = 1; i <= 3; i++) {
		struct task *k;

		ck_assert(errands_give(es, &make(i, 0)->errand));
		k = wait_for_one();
		ck_assert_int_eq(k->number, i);
		ck_assert_int_eq(k->done, 2 * i);
		on_free(&k->errand);
	}
	errands_stop(es);
	ck_assert_int_eq(freed, 3);
}
END_TEST

START_TEST(no_more_wait_than_may)
{
	struct task *k[4];

	for (int i = 0; i < 4; i++)
		k[i] = make(i, NS_PER_S * 20);
	ck_assert(errands_give(es, &k[0]->errand));
	for (int i = 0; i < 200 && !errands_give(es, &k[1]->errand); i++)
		clock_sleep_ns(5 * NS_PER_MS);
	for (int i = 0; i < 200 && !errands_give(es, &k[2]->errand); i++) /* the first one is under way */
		clock_sleep_ns(5 * NS_PER_MS);
	ck_assert(!errands_give(es, &k[3]->errand));
	mem_free(k[3]);
	errands_stop(es); /* within a moment: the one at hand looks whether it is to stop, the others do not run */
	ck_assert_int_eq(freed, 3);
	ck_assert_int_eq(ran, 1);
}
END_TEST

START_TEST(what_nobody_fetched_is_freed)
{
	ck_assert(errands_give(es, &make(1, 0)->errand));
	for (int i = 0; i < 1000 && ran < 1; i++)
		clock_sleep_ns(5 * NS_PER_MS);
	errands_stop(es);
	ck_assert_int_eq(freed, 1);
	errands_stop(NULL);
}
END_TEST

Suite *suite_errand(void)
{
	Suite *s = suite_create("agent/errand");
	TCase *tc = tcase_create("errand");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, errands_come_back_done_and_in_order);
	tcase_add_test(tc, no_more_wait_than_may);
	tcase_add_test(tc, what_nobody_fetched_is_freed);
	suite_add_tcase(s, tc);
	return s;
}
