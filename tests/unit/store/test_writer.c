#include "world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "store/writer.h"

Suite *suite_writer(void);

enum { MANY = 300 }; /* more than the queue holds */

struct desk {
	struct writer *writer;
	atomic_int runs; /* of work, tries that were undone included */
	atomic_bool go;	 /* hold waits for it */
	atomic_bool held;
	atomic_int answered; /* tasks that have their answer */
};

struct task {
	struct desk *desk;
	int64_t number;
	int rc;
	struct err err;
};

static void desk_open(struct world *w, struct desk *d)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/other.sqlite", w->dir);
	*d = (struct desk){ .writer = NULL };
	world_ok(w, writer_open(&d->writer, path, NULL, &w->err));
}

/* Keeps the writer busy, so that a queue forms. */
static int hold(struct writer *w, void *arg, struct err *e)
{
	struct desk *d = arg;

	(void)w;
	(void)e;
	atomic_store(&d->held, true);
	while (!atomic_load(&d->go))
		clock_sleep_ns(NS_PER_MS);
	return OK;
}

/* Writes its number; odd multiples of five fail afterwards. */
static int write_number(struct writer *w, void *arg, struct err *e)
{
	struct task *t = arg;
	struct stmt s;
	int rc;

	atomic_fetch_add(&t->desk->runs, 1);
	stmt_open(&s, w->db, "INSERT INTO name (text) VALUES (?)");
	stmt_str(&s, str_make(&t->number, sizeof(t->number)));
	rc = stmt_run(&s, e);
	if (rc == OK && t->number % 10 == 5)
		return err_set(e, E_FORMAT, "number %lld", (long long)t->number);
	return rc;
}

static void *run_hold(void *arg)
{
	struct desk *d = arg;

	ck_assert_int_eq(writer_do(d->writer, hold, d, 1, NULL), OK);
	return NULL;
}

static void *run_task(void *arg)
{
	struct task *t = arg;

	t->rc = writer_do(t->desk->writer, write_number, t, 1, &t->err);
	atomic_fetch_add(&t->desk->answered, 1);
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	ck_assert_int_eq(pthread_create(thread, &attr, run, arg), 0);
	pthread_attr_destroy(&attr);
}

static void hold_writer(struct desk *d, pthread_t *holder)
{
	start(holder, run_hold, d);
	while (!atomic_load(&d->held))
		clock_sleep_ns(NS_PER_MS);
}

static int count_numbers(struct writer *w, void *arg, struct err *e)
{
	return db_number(w->db, "SELECT count(*) FROM name", arg, e);
}

START_TEST(what_fails_in_a_group_is_undone_alone)
{
	static struct task tasks[40];
	pthread_t holder, threads[40];
	struct world w;
	struct desk d;
	int64_t n = -1;

	world_open(&w, 130);
	desk_open(&w, &d);
	hold_writer(&d, &holder);
	for (int i = 0; i < 40; i++) {
		tasks[i] = (struct task){ .desk = &d, .number = i };
		start(&threads[i], run_task, &tasks[i]);
	}
	while (chan_count(d.writer->jobs) < 40)
		clock_sleep_ns(NS_PER_MS);
	atomic_store(&d.go, true);
	pthread_join(holder, NULL);
	for (int i = 0; i < 40; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_int_eq(tasks[i].rc, i % 10 == 5 ? E_FORMAT : OK);
		if (i == 15)
			ck_assert_str_eq(tasks[i].err.text, "number 15");
	}
	ck_assert_int_gt(atomic_load(&d.runs), 40); /* they were a group at first */
	world_ok(&w, writer_do(d.writer, count_numbers, &n, 0, &w.err));
	ck_assert_int_eq(n, 36);
	writer_close(d.writer);
	world_close(&w);
}
END_TEST

START_TEST(a_full_queue_says_busy_and_loses_nobodys_answer)
{
	static struct task tasks[MANY];
	static pthread_t threads[MANY];
	pthread_t holder;
	struct world w;
	struct desk d;
	int64_t n = -1, fine = 0, busy = 0;

	world_open(&w, 131);
	desk_open(&w, &d);
	hold_writer(&d, &holder);
	for (int i = 0; i < MANY; i++) {
		tasks[i] = (struct task){ .desk = &d, .number = i * 10 };
		start(&threads[i], run_task, &tasks[i]);
	}
	while (atomic_load(&d.answered) < MANY - 256) /* the others fill the queue */
		clock_sleep_ns(NS_PER_MS);
	atomic_store(&d.go, true);
	pthread_join(holder, NULL);
	for (int i = 0; i < MANY; i++) {
		pthread_join(threads[i], NULL);
		fine += tasks[i].rc == OK;
		busy += tasks[i].rc == E_BUSY;
		if (tasks[i].rc == E_BUSY)
			ck_assert_str_eq(
				tasks[i].err.text, "store: 256 writes are waiting already, try again later");
	}
	ck_assert_int_eq(fine, 256);
	ck_assert_int_eq(busy, MANY - 256);
	world_ok(&w, writer_do(d.writer, count_numbers, &n, 0, &w.err));
	ck_assert_int_eq(n, fine);
	writer_close(d.writer);
	world_close(&w);
}
END_TEST

Suite *suite_writer(void)
{
	Suite *s = suite_create("store/writer");
	TCase *tc = tcase_create("writer");

	tcase_add_test(tc, what_fails_in_a_group_is_undone_alone);
	tcase_add_test(tc, a_full_queue_says_busy_and_loses_nobodys_answer);
	suite_add_tcase(s, tc);
	return s;
}
