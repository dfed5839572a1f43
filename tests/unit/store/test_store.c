#include "world.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/file.h"
#include "store/inside.h"

Suite *suite_store(void);

static uint64_t count_windows(struct world *w)
{
	struct query q = { .limit = 100 };
	struct service_list l;
	uint64_t n = 0;

	arena_reset(&w->answer);
	world_ok(w, store_services(w->store, &q, &w->answer, &l, &w->err));
	for (size_t i = 0; i < l.n; i++)
		n += l.v[i].windows;
	return n;
}

/* Windows kept whole, in rollups and in the lists must agree with the first n of w. */
static void check_first(struct world *w, size_t n)
{
	struct query q = { .limit = QUERY_LIMIT_MAX };
	struct profile_merge *want, *got;
	struct window_list l;
	size_t all = w->n;
	int64_t tier;

	ck_assert_uint_eq(count_windows(w), n);
	world_ok(w, store_windows(w->store, &q, true, &w->answer, &l, &w->err));
	ck_assert_uint_eq(l.n, n);
	window_list_fini(&l);
	w->n = n;
	want = world_merged(w, &q);
	w->n = all;
	world_ok(w, store_merged(w->store, &q, &got, &tier, &w->err));
	world_same_merged(got, want);
	profile_merge_free(got);
	profile_merge_free(want);
}

START_TEST(a_reopened_store_holds_all_of_it)
{
	struct world w;

	world_open(&w, 70);
	world_fleet(&w, 200, 10 * NS_PER_HOUR);
	world_put(&w, w.windows, 120);
	world_reopen(&w);
	check_first(&w, 120);
	world_put(&w, w.windows + 120, 80);
	world_reopen(&w);
	check_first(&w, 200);
	world_close(&w);
}
END_TEST

START_TEST(two_stores_cannot_share_a_folder)
{
	struct world w;
	struct store *second;

	world_open(&w, 71);
	ck_assert_int_eq(store_open_sqlite(&second, &w.settings, &w.err), E_BUSY);
	ck_assert_ptr_null(second);
	ck_assert_msg(str_has_suffix(str_of(w.err.text),
			      STR("another process has this store open: stop it, or choose "
				  "another folder")),
		"%s", w.err.text);
	world_close(&w);
}
END_TEST

static void write_over(struct world *w, const char *content, size_t at)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/store.sqlite", w->dir);
	fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	world_ok(w, file_pwrite_all(fd, content, strlen(content), (off_t)at, path, &w->err));
	close(fd);
}

START_TEST(a_damaged_database_is_refused_with_what_to_do)
{
	struct world w;

	world_open(&w, 72);
	world_fleet(&w, 10, NS_PER_HOUR);
	world_put_all(&w, 10);
	store_close(w.store);
	write_over(&w, "this is no database at all", 0);
	ck_assert_int_eq(store_open_sqlite(&w.store, &w.settings, &w.err), E_CORRUPT);
	ck_assert_msg(str_contains(str_of(w.err.text), STR("damaged")) &&
			str_contains(str_of(w.err.text), STR("move this file")),
		"%s", w.err.text);
	world_close(&w);
}
END_TEST

static void run_sql(struct world *w, const char *sql)
{
	char path[128];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/store.sqlite", w->dir);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

START_TEST(a_newer_schema_and_a_stranger_are_refused)
{
	struct world w;

	world_open(&w, 73);
	store_close(w.store);
	run_sql(&w, "PRAGMA user_version = 999");
	ck_assert_int_eq(store_open_sqlite(&w.store, &w.settings, &w.err), E_UNSUPPORTED);
	ck_assert_msg(str_contains(str_of(w.err.text), STR("schema 999")), "%s", w.err.text);
	run_sql(&w, "PRAGMA user_version = 1; PRAGMA application_id = 7");
	ck_assert_int_eq(store_open_sqlite(&w.store, &w.settings, &w.err), E_USAGE);
	ck_assert_msg(str_contains(str_of(w.err.text), STR("not one of Trainspotter")), "%s", w.err.text);
	world_close(&w);
}
END_TEST

START_TEST(a_damaged_row_is_an_error_and_not_a_crash)
{
	struct world w;
	struct query q = { .limit = 100 };
	struct window_list l;
	struct profile_merge *m;
	int64_t tier;

	world_open(&w, 74);
	world_fleet(&w, 20, NS_PER_HOUR);
	world_put_all(&w, 20);
	store_close(w.store);
	run_sql(&w, "UPDATE window SET ops = x'01ff'; UPDATE rollup SET ops = x'0105'");
	world_ok(&w, store_open_sqlite(&w.store, &w.settings, &w.err));
	ck_assert_int_eq(store_windows(w.store, &q, true, &w.answer, &l, &w.err), E_CORRUPT);
	ck_assert_uint_eq(l.n, 0);
	ck_assert_int_eq(store_merged(w.store, &q, &m, &tier, &w.err), E_CORRUPT);
	world_ok(&w, store_windows(w.store, &q, false, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 20);
	world_close(&w);
}
END_TEST

/* ---- kill -9 */

/* Puts one window after the other and writes to fd after each answer; never returns. */
static void put_for_ever(struct world *w, int fd)
{
	if (store_open_sqlite(&w->store, &w->settings, &w->err) != OK)
		_exit(1);
	for (size_t i = 0; i < w->n; i++) {
		struct put_result r;

		if (store_put(w->store, w->windows + i, 1, &r, &w->err) != OK || r.accepted != 1)
			_exit(2);
		if (write(fd, "x", 1) != 1)
			_exit(3);
	}
	_exit(4);
}

/* A child puts the windows of w until it dies; returns how many were acknowledged. */
static size_t acknowledged(struct world *w, const char *crash_at, int64_t kill_after_ns)
{
	size_t n = 0;
	char c[64];
	int fds[2], status;
	ssize_t got;
	pid_t pid;

	store_close(w->store);
	w->store = NULL;
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		crash_arm(crash_at);
		put_for_ever(w, fds[1]);
	}
	close(fds[1]);
	if (crash_at == NULL) {
		clock_sleep_ns(kill_after_ns);
		kill(pid, SIGKILL);
	}
	while ((got = read(fds[0], c, sizeof(c))) > 0)
		n += (size_t)got;
	close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %d after %zu", status, n);
	world_ok(w, store_open_sqlite(&w->store, &w->settings, &w->err));
	return n;
}

START_TEST(killed_in_the_middle_of_puts_it_keeps_all_it_acknowledged)
{
	struct world w;

	for (int round = 0; round < 6; round++) {
		size_t n;
		uint64_t have;

		world_open(&w, 80 + (uint64_t)round);
		world_fleet(&w, 4000, 10 * NS_PER_HOUR);
		n = acknowledged(&w, NULL, (20 + 40 * round) * NS_PER_MS);
		have = count_windows(&w);
		ck_assert_uint_ge(have, n);
		ck_assert_uint_le(have, n + 1); /* one may have been durable and not answered yet */
		check_first(&w, have);
		world_close(&w);
	}
}
END_TEST

START_TEST(killed_before_and_after_the_commit_it_is_none_or_all)
{
	static const struct {
		const char *at;
		size_t acknowledged, kept;
	} cases[] = {
		{ "store.before_commit:1", 0, 0 },
		{ "store.after_commit:1", 0, 1 },
		{ "store.before_commit:5", 4, 4 },
		{ "store.after_commit:5", 4, 5 },
	};
	struct world w;

	world_open(&w, 90);
	world_fleet(&w, 20, 10 * NS_PER_HOUR);
	ck_assert_uint_eq(acknowledged(&w, cases[_i].at, 0), cases[_i].acknowledged);
	check_first(&w, cases[_i].kept);
	{ /* the sender tries all again: each is there once */
		struct put_result r;

		world_ok(&w, store_put(w.store, w.windows, w.n, &r, &w.err));
		ck_assert_uint_eq(r.duplicates, cases[_i].kept);
		check_first(&w, w.n);
	}
	world_close(&w);
}
END_TEST

/* ---- full disk */

START_TEST(a_full_disk_undoes_the_write_and_is_said_until_there_is_room)
{
	struct world w;
	struct put_result r;
	size_t put = 0;
	int rc;

	world_open(&w, 100);
	world_fleet(&w, 3000, 10 * NS_PER_HOUR);
	world_ok(&w, store_ready(w.store, &w.err));
	world_ok(&w, store_limit_pages(w.store, 300, &w.err));
	while ((rc = store_put(w.store, w.windows + put, 50, &r, &w.err)) == OK && put + 50 < w.n)
		put += 50;
	ck_assert_int_eq(rc, E_FULL);
	ck_assert_msg(str_has_suffix(str_of(w.err.text), STR("no space left on the disk")), "%s", w.err.text);
	ck_assert_uint_eq(r.accepted, 0);
	ck_assert_int_eq(store_ready(w.store, &w.err), E_FULL);
	ck_assert_int_eq(store_ready(w.store, &w.err), E_FULL);
	check_first(&w, put);
	world_ok(&w, store_limit_pages(w.store, 0, &w.err));
	clock_sleep_ns(1100 * NS_PER_MS);
	world_ok(&w, store_ready(w.store, &w.err));
	world_put(&w, w.windows + put, 50);
	world_ok(&w, store_ready(w.store, &w.err));
	check_first(&w, put + 50);
	world_close(&w);
}
END_TEST

/* Takes every byte that is left in the store's folder. */
static void fill_up(const struct world *w)
{
	static const char block[4096];
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/more-ballast", w->dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
}

/* A file system of its own under the store's folder, with less room than its size by the ballast. It is gone with the
 * test's process. False where mounting is not allowed: the page limit stands for it then. */
static bool world_on_small_disk(struct world *w, const char *size, off_t ballast_bytes, char ballast[128])
{
	int fd;

	store_close(w->store);
	w->store = NULL;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("test_store", w->dir, "tmpfs", 0, size) < 0) {
		fprintf(stderr, "skipped: not allowed to mount a file system here\n");
		world_close(w);
		return false;
	}
	world_ok(w, store_open_sqlite(&w->store, &w->settings, &w->err));
	snprintf(ballast, 128, "%s/ballast", w->dir);
	fd = open(ballast, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(posix_fallocate(fd, 0, ballast_bytes), 0);
	close(fd);
	return true;
}

/* Puts until the disk is full; returns how many windows are in. */
static size_t put_until_full(struct world *w)
{
	struct put_result r;
	size_t put = 0;
	int rc;

	while ((rc = store_put(w->store, w->windows + put, 50, &r, &w->err)) == OK && put + 50 < w->n)
		put += 50;
	ck_assert_msg(rc == E_FULL, "%d: %s", rc, w->err.text);
	return put;
}

static void leave_small_disk(struct world *w)
{
	store_close(w->store);
	w->store = NULL;
	ck_assert_int_eq(umount(w->dir), 0);
	world_close(w);
}

START_TEST(a_file_system_without_room_is_a_full_disk_too)
{
	struct world w;
	struct put_result r;
	char ballast[128];
	size_t put;

	world_open(&w, 101);
	world_fleet(&w, 4000, 10 * NS_PER_HOUR);
	if (!world_on_small_disk(&w, "size=48m", 40 << 20, ballast))
		return;
	put = put_until_full(&w);
	ck_assert_int_eq(store_ready(w.store, &w.err), E_FULL);
	check_first(&w, put);
	fill_up(&w); /* without a single byte left it can be read */
	check_first(&w, put);
	ck_assert_int_eq(store_put(w.store, w.windows + put, 50, &r, &w.err), E_FULL);
	ck_assert_int_eq(unlink(ballast), 0);
	clock_sleep_ns(1100 * NS_PER_MS);
	world_ok(&w, store_ready(w.store, &w.err));
	world_put(&w, w.windows + put, 50);
	world_reopen(&w);
	check_first(&w, put + 50);
	leave_small_disk(&w);
}
END_TEST

START_TEST(on_a_full_disk_the_reserve_lets_it_be_opened_and_tidied)
{
	struct query q = { .limit = QUERY_LIMIT_MAX };
	struct window_list l;
	struct world w;
	char ballast[128];
	size_t put;

	world_open(&w, 102);
	world_fleet(&w, 4000, 10 * NS_PER_HOUR);
	w.settings.max_bytes = 3 << 20;
	if (!world_on_small_disk(&w, "size=256m", 227 << 20, ballast))
		return;
	put = put_until_full(&w);
	fill_up(&w);
	store_close(w.store);
	fill_up(&w);
	world_ok(&w, store_open_sqlite(&w.store, &w.settings, &w.err));
	check_first(&w, put);
	world_ok(&w, store_housekeep(w.store, WORLD_START, &w.err));
	world_ok(&w, store_windows(w.store, &q, false, &w.answer, &l, &w.err));
	ck_assert_uint_gt(l.n, 0);
	ck_assert_uint_lt(l.n, put);
	world_put(&w, w.windows + put, 50);
	leave_small_disk(&w);
}
END_TEST

/* ---- threads */

struct reading {
	struct world *w;
	atomic_bool stop;
	atomic_int failures, answers;
};

/* Every answer is of one moment: windows in rollups, lists and raw agree. */
static void *read_on(void *arg)
{
	struct reading *r = arg;
	struct query q = { .op = STR("step"), .resolution_ns = NS_PER_HOUR };
	uint64_t before = 0;
	struct arena a;

	arena_init(&a, (size_t)64 << 20);
	while (!atomic_load(&r->stop)) {
		struct profile_merge *m = NULL;
		struct trend t;
		uint64_t n = 0, points = 0;
		int64_t tier;

		arena_reset(&a);
		if (store_merged(r->w->store, &q, &m, &tier, NULL) == OK)
			n = profile_merge_get(m)->windows;
		else
			atomic_fetch_add(&r->failures, 1);
		profile_merge_free(m);
		if (store_trend(r->w->store, &q, &a, &t, NULL) != OK)
			atomic_fetch_add(&r->failures, 1);
		for (size_t i = 0; i < t.n; i++)
			points += t.v[i].windows;
		trend_fini(&t);
		if (n < before || (n > 0 && points < n))
			atomic_fetch_add(&r->failures, 1);
		before = n;
		atomic_fetch_add(&r->answers, 1);
	}
	arena_fini(&a);
	return NULL;
}

START_TEST(two_threads_read_while_windows_are_written)
{
	struct world w;
	struct reading r = { .w = &w };
	pthread_t readers[2];

	world_open(&w, 110);
	world_fleet(&w, 2000, 10 * NS_PER_HOUR);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&readers[i], NULL, read_on, &r), 0);
	world_put_all(&w, 10);
	atomic_store(&r.stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	ck_assert_int_eq(atomic_load(&r.failures), 0);
	ck_assert_int_gt(atomic_load(&r.answers), 5);
	check_first(&w, 2000);
	world_close(&w);
}
END_TEST

struct putting {
	struct world *w;
	size_t from, n;
	atomic_uint *accepted;
};

static void *put_on(void *arg)
{
	struct putting *p = arg;

	for (size_t i = 0; i < p->n; i++) {
		struct put_result r;

		if (store_put(p->w->store, &p->w->windows[p->from + i], 1, &r, NULL) == OK)
			atomic_fetch_add(p->accepted, (unsigned)r.accepted);
	}
	return NULL;
}

START_TEST(writers_that_come_together_are_committed_together_and_each_gets_its_answer)
{
	struct world w;
	struct putting p[8];
	pthread_t t[8];
	atomic_uint accepted = 0;
	struct metrics *ms = metrics_new();

	world_open(&w, 111);
	w.settings.metrics = ms;
	world_reopen(&w);
	world_fleet(&w, 800, 10 * NS_PER_HOUR);
	for (size_t i = 0; i < 8; i++) { /* each window comes twice, from two threads */
		p[i] = (struct putting){ .w = &w, .from = i / 2 * 200, .n = 200, .accepted = &accepted };
		ck_assert_int_eq(pthread_create(&t[i], NULL, put_on, &p[i]), 0);
	}
	for (size_t i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	ck_assert_uint_eq(accepted, 800);
	check_first(&w, 800);
	ck_assert_double_eq(metric_value(metric_counter(
				    ms, "trainspotter_store_windows_total", "result=\"duplicate\"", "")),
		800);
	ck_assert_double_lt(
		metric_value(metric_counter(ms, "trainspotter_store_commits_total", NULL, "")), 1600);
	world_close(&w);
	metrics_free(ms);
}
END_TEST

Suite *suite_store(void)
{
	Suite *s = suite_create("store/store");
	TCase *tc = tcase_create("store");

	tcase_set_timeout(tc, 60); /* each syncs the disk often, which others may use, too */
	tcase_add_test(tc, a_reopened_store_holds_all_of_it);
	tcase_add_test(tc, two_stores_cannot_share_a_folder);
	tcase_add_test(tc, a_damaged_database_is_refused_with_what_to_do);
	tcase_add_test(tc, a_newer_schema_and_a_stranger_are_refused);
	tcase_add_test(tc, a_damaged_row_is_an_error_and_not_a_crash);
	tcase_add_test(tc, killed_in_the_middle_of_puts_it_keeps_all_it_acknowledged);
	tcase_add_loop_test(tc, killed_before_and_after_the_commit_it_is_none_or_all, 0, 4);
	tcase_add_test(tc, a_full_disk_undoes_the_write_and_is_said_until_there_is_room);
	tcase_add_test(tc, a_file_system_without_room_is_a_full_disk_too);
	tcase_add_test(tc, on_a_full_disk_the_reserve_lets_it_be_opened_and_tidied);
	tcase_add_test(tc, two_threads_read_while_windows_are_written);
	tcase_add_test(tc, writers_that_come_together_are_committed_together_and_each_gets_its_answer);
	suite_add_tcase(s, tc);
	return s;
}
