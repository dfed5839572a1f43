#include "store/writer.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/schema.h"

enum {
	WRITER_QUEUE = 256,	     /* pieces of work that wait */
	WRITER_GROUP_MAX = 128,	     /* in one transaction */
	WRITER_GROUP_WEIGHT = 4000,  /* windows in one transaction */
	WRITER_BLOB_MAX = 512 << 20, /* bytes of one window's ops */
};
static const int64_t writer_wait_ns = 2 * NS_PER_S; /* for room in the queue */
static const int64_t writer_idle_ns = 5 * NS_PER_S; /* without work: time to empty the log */
static const int64_t writer_gather_ns = 5 * NS_PER_MS; /* between looks whether readers are back */

struct job {
	writer_work *work;
	void *arg;
	size_t weight;
	bool bare;
	struct ticket *ticket;
	struct err err;
};

/* ---- transactions */

/* Rows are never used again, since window_id holds those of windows that are gone. It is large and has no index by row: it is
 * asked only where meta does not know yet (ifnull does not look at its second when it has the first). */
static int next_row(struct writer *w, struct err *e)
{
	return db_number(w->db,
		"SELECT max(ifnull((SELECT value FROM meta WHERE key = 'next_row'),"
		" (SELECT coalesce(max(row), 0) + 1 FROM window_id)), (SELECT coalesce(max(row), 0) + 1 FROM window))",
		&w->next_row, e);
}

static int keep_next_row(struct writer *w, struct err *e)
{
	struct stmt s;

	stmt_open(&s, w->db, "INSERT INTO meta (key, value) VALUES ('next_row', ?)"
			     " ON CONFLICT (key) DO UPDATE SET value = excluded.value");
	stmt_i64(&s, w->next_row);
	return stmt_run(&s, e);
}

/* What memory holds of a transaction that is gone. */
static void undo(struct writer *w, int64_t row)
{
	db_rollback(w->db);
	names_forget(w->names);
	rollups_drop(w->rollups);
	w->next_row = row;
}

static int transact(struct writer *w, struct job *const *jobs, size_t n, struct err *e)
{
	int64_t row = w->next_row, changes = db_total_changes(w->db);
	int rc = db_exec(w->db, "BEGIN IMMEDIATE", e);

	for (size_t i = 0; i < n && rc == OK; i++)
		rc = jobs[i]->work(w, jobs[i]->arg, e);
	if (rc == OK)
		rc = rollups_flush(w->rollups, e);
	if (rc == OK && w->next_row != row)
		rc = keep_next_row(w, e);
	if (rc == OK) {
		crash_point("store.before_commit");
		rc = db_exec(w->db, "COMMIT", e);
	}
	if (rc < 0) {
		undo(w, row);
		return rc;
	}
	crash_point("store.after_commit");
	metric_add(w->commits, 1);
	if (db_total_changes(w->db) != changes && atomic_exchange(&w->full, false))
		log_info("store.room", "the disk has room again");
	return OK;
}

/* A log that grows is one that readers keep from being emptied. */
static int64_t measure_log(const struct writer *w)
{
	struct stat st;

	if (stat(w->log_path, &st) != 0)
		return 0;
	metric_set(w->log_bytes, (double)st.st_size);
	return st.st_size;
}

/* Begins gathering when the log is too large; goes on with it, a look a round, while writes go on. */
static void guard_log(struct writer *w)
{
	struct readers *rs = atomic_load(&w->readers);
	int64_t bytes = measure_log(w);

	if (rs == NULL || (!w->gathers && bytes <= w->log_max))
		return;
	w->gathers = true;
	if (!readers_gather(rs))
		return;
	/* on a full disk, say, it cannot: not to be tried every time */
	w->log_max = db_checkpoint(w->db, true, NULL) == OK ? w->log_least : bytes + w->log_least;
	metric_add(w->log_anew, 1);
	readers_let_go(rs);
	w->gathers = false;
	measure_log(w);
}

static void failed(struct writer *w, int rc, const struct err *e)
{
	metric_add(w->failures, 1);
	if (rc == E_FULL && !atomic_exchange(&w->full, true))
		log_error("store.full", "err=\"%s\"", e->text);
	else if (rc != E_FULL)
		log_error("store.write", "code=%s err=\"%s\"", code_name(rc), e->text);
}

static void run_one(struct writer *w, struct job *job)
{
	int rc = job->bare ? job->work(w, job->arg, &job->err) : transact(w, &job, 1, &job->err);

	if (rc < 0 && !job->bare)
		failed(w, rc, &job->err);
	ticket_done(job->ticket, rc);
}

static void run_group(struct writer *w, struct job *const *jobs, size_t n)
{
	struct err e = { 0 };

	if (n > 1 && transact(w, jobs, n, &e) == OK) {
		for (size_t i = 0; i < n; i++)
			ticket_done(jobs[i]->ticket, OK);
		return;
	}
	for (size_t i = 0; i < n; i++)
		run_one(w, jobs[i]);
}

/* ---- the thread */

/* Takes what is waiting behind the first job, up to a size; a bare one ends the group and stands in *bare. */
static size_t gather(struct writer *w, struct job *jobs[WRITER_GROUP_MAX], struct job **bare)
{
	size_t n = 1, weight = jobs[0]->weight;
	void *p;

	while (n < WRITER_GROUP_MAX && weight < WRITER_GROUP_WEIGHT && *bare == NULL &&
		chan_pop(w->jobs, &p, 0) == OK) {
		struct job *job = p;

		if (job->bare) {
			*bare = job;
		} else {
			weight += job->weight;
			jobs[n++] = job;
		}
	}
	return n;
}

static void work_round(struct writer *w, struct job *first)
{
	struct job *jobs[WRITER_GROUP_MAX] = { first }, *bare = NULL;

	if (first->bare) {
		run_one(w, first);
		return;
	}
	run_group(w, jobs, gather(w, jobs, &bare));
	if (bare != NULL)
		run_one(w, bare);
}

static void writer_main(struct thread *t, void *arg)
{
	struct writer *w = arg;
	bool grew = false;
	void *p;
	int rc;

	(void)t; /* the channel's end is ours */
	while ((rc = chan_pop(w->jobs, &p, w->gathers ? writer_gather_ns : grew ? writer_idle_ns : -1)) != E_STOPPED) {
		if (rc == OK) {
			work_round(w, p);
			grew = true;
		} else if (!w->gathers) {
			grew = db_checkpoint(w->db, true, NULL) != OK; /* a reader in the way: later */
		}
		guard_log(w);
	}
	if (w->gathers)
		readers_let_go(w->readers);
}

/* ---- asking it */

static int enqueue(struct writer *w, struct job *job, struct err *e)
{
	int rc;

	job->ticket = ticket_new();
	rc = chan_push(w->jobs, job, writer_wait_ns);
	if (rc == E_BUSY)
		err_set(e, E_BUSY, "store: %d writes are waiting already, try again later", WRITER_QUEUE);
	else if (rc < 0)
		err_set(e, rc, "store: closing");
	if (rc == OK) {
		rc = ticket_wait(job->ticket);
		if (rc < 0 && e != NULL)
			*e = job->err;
	}
	ticket_free(job->ticket);
	return rc;
}

int writer_do(struct writer *w, writer_work *work, void *arg, size_t weight, struct err *e)
{
	struct job job = { .work = work, .arg = arg, .weight = weight };

	return enqueue(w, &job, e);
}

int writer_do_bare(struct writer *w, writer_work *work, void *arg, struct err *e)
{
	struct job job = { .work = work, .arg = arg, .bare = true };

	return enqueue(w, &job, e);
}

/* ---- life */

static char *path_of_log(const char *path)
{
	size_t n = strlen(path) + sizeof("-wal");
	char *log = mem_get(n);

	snprintf(log, n, "%s-wal", path);
	return log;
}

int writer_open(struct writer **out, const char *path, struct metrics *metrics, struct err *e)
{
	struct writer *w = mem_get(sizeof(*w));
	int rc;

	buf_init(&w->blob, WRITER_BLOB_MAX);
	buf_init(&w->rest, WRITER_BLOB_MAX);
	buf_init(&w->scratch, WRITER_BLOB_MAX);
	w->commits = metric_counter(
		metrics, "trainspotter_store_commits_total", NULL, "Transactions made durable.");
	w->failures = metric_counter(metrics, "trainspotter_store_write_failures_total", NULL,
		"Writes undone, for want of space or another reason.");
	w->log_bytes = metric_gauge(
		metrics, "trainspotter_store_log_bytes", NULL, "Size of the write-ahead log.");
	w->log_anew = metric_counter(metrics, "trainspotter_store_log_anew_total", NULL,
		"Times that all readers were gathered because the write-ahead log had grown.");
	w->log_path = path_of_log(path);
	w->log_max = w->log_least = WRITER_LOG_MAX;
	w->jobs = chan_new(WRITER_QUEUE);
	rc = db_open(&w->db, path, DB_WRITER, e);
	if (rc == OK)
		rc = schema_migrate(w->db, path, e);
	if (rc == OK)
		rc = next_row(w, e);
	if (rc == OK) {
		w->names = names_new(w->db);
		w->rollups = rollups_new(w->db, w->names,
			metric_counter(metrics, "trainspotter_store_rollup_ops_dropped_total", NULL,
				"Ops left out of an hour with too many."));
		rc = thread_start(&w->thread, "store-writer", writer_main, w, e);
	}
	if (rc < 0) {
		writer_close(w);
		w = NULL;
	}
	*out = w;
	return rc;
}

void writer_guard_log(struct writer *w, struct readers *rs)
{
	atomic_store(&w->readers, rs);
}

void writer_stop(struct writer *w)
{
	if (w == NULL)
		return;
	chan_close(w->jobs);
	thread_join(w->thread);
	w->thread = NULL;
}

void writer_close(struct writer *w)
{
	if (w == NULL)
		return;
	writer_stop(w);
	rollups_free(w->rollups);
	names_free(w->names);
	db_close(w->db);
	chan_free(w->jobs);
	buf_fini(&w->blob);
	buf_fini(&w->rest);
	buf_fini(&w->scratch);
	mem_free(w->ids);
	mem_free(w->log_path);
	mem_free(w);
}
