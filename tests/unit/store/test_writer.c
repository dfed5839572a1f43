#include "world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "store/inside.h"

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

/* ---- the log, while somebody always reads */

enum { READERS = 3, LOG_MAX = 1 << 20, LOG_ROUNDS = 120 };

struct asker {
	struct store *store;
	atomic_bool *stop;
	atomic_int answers;
	bool failed;
};

/* Snapshots that overlap: never a moment without one, as long as they are handed out. */
static void *ask_on_and_on(void *arg)
{
	struct asker *a = arg;

	for (unsigned i = 0; !atomic_load(a->stop); i++) {
		struct reader *r = NULL;
		int64_t n = 0;

		a->failed |= reader_take(&a->store->readers, &r, NULL) != OK;
		if (r == NULL)
			break;
		a->failed |= db_number(r->db, "SELECT count(*) FROM window_id", &n, NULL) != OK;
		clock_sleep_ns((int64_t)(5 + i % 7) * NS_PER_MS);
		reader_give(&a->store->readers, r);
		atomic_fetch_add(&a->answers, 1);
	}
	return NULL;
}

static int64_t log_bytes(const struct world *w)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/store.sqlite-wal", w->dir);
	return stat(path, &st) == 0 ? st.st_size : 0;
}

START_TEST(the_log_begins_anew_though_somebody_always_reads)
{
	atomic_bool stop = false;
	struct asker askers[READERS];
	pthread_t threads[READERS];
	int64_t most = 0, written = 0;
	struct world w;

	world_open(&w, 91);
	w.settings.readers = READERS;
	world_reopen(&w);
	w.store->writer->log_least = w.store->writer->log_max = LOG_MAX;
	world_fleet(&w, 20 * LOG_ROUNDS, NS_PER_DAY);
	for (int i = 0; i < READERS; i++) {
		askers[i] = (struct asker){ w.store, &stop, 0, false };
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_on_and_on, &askers[i]), 0);
	}
	for (int i = 0; i < LOG_ROUNDS; i++) {
		int64_t before = log_bytes(&w), now;

		world_put(&w, &w.windows[20 * i], 20);
		now = log_bytes(&w);
		written += now > before ? now - before : now;
		most = now > most ? now : most;
		clock_sleep_ns(10 * NS_PER_MS);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		ck_assert(!askers[i].failed && atomic_load(&askers[i].answers) > 0);
	}
	ck_assert_msg(written > 30 * LOG_MAX, "only %lld bytes were written", (long long)written);
	ck_assert_msg(most < 20 * LOG_MAX, "the log had %lld bytes", (long long)most);
	world_close(&w);
}
END_TEST

Suite *suite_writer(void)
{
	Suite *s = suite_create("store/writer");
	TCase *tc = tcase_create("writer");

	tcase_add_test(tc, what_fails_in_a_group_is_undone_alone);
	tcase_add_test(tc, a_full_queue_says_busy_and_loses_nobodys_answer);
	tcase_add_test(tc, the_log_begins_anew_though_somebody_always_reads);
	suite_add_tcase(s, tc);
	return s;
}
