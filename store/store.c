/* A store is a folder:
 *
 *	lock		held by the process that has the store open
 *	reserve		space for the day when the disk is full (reserve.h)
 *	store.sqlite	everything (schema.c), with its -wal and -shm beside it
 */
#include "store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/housekeep.h"
#include "store/inside.h"
#include "store/put.h"
#include "store/reserve.h"

enum {
	STORE_READERS_MAX = 64,
	STORE_FREE_BYTES = 16 << 20,  /* of the disk: less is no room, since a batch may need that much */
	STORE_ROOM_BYTES = 256 << 10, /* written to try it: quotas do not show in the disk's free bytes */
};
static const int64_t store_probe_ns = NS_PER_S; /* between tries whether a full disk has room again */

/* ---- opening */

static int lock_dir(struct store *st, struct err *e)
{
	char path[PATH_MAX];
	int rc;

	if (snprintf(path, sizeof(path), "%s/lock", st->dir) >= (int)sizeof(path))
		return err_set(e, E_LIMIT, "%s: path longer than %d bytes", st->dir, PATH_MAX);
	rc = file_lock(path, &st->lock_fd, e);
	if (rc == E_BUSY)
		return err_set(e, E_BUSY,
			"%s: another process has this store open: stop it, or choose another folder",
			st->dir);
	return rc;
}

/* SQLite gives its other files the database's mode. */
static int make_file(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);

	if (fd < 0)
		return err_sys(e, "%s", path);
	close(fd);
	return OK;
}

static size_t reader_count(int asked)
{
	long cores = asked > 0 ? asked : sysconf(_SC_NPROCESSORS_ONLN);

	if (cores < 2)
		cores = 2; /* a long question must not shut out the short ones */
	return cores > STORE_READERS_MAX ? STORE_READERS_MAX : (size_t)cores;
}

/* SQLite needs a little room even to read: with the disk full to the last byte the reserve gives it. */
static int open_writer(struct store *st, const char *path, struct err *e)
{
	int rc = writer_open(&st->writer, path, st->settings.metrics, e);

	if (rc == E_FULL && reserve_shrink(st->dir))
		rc = writer_open(&st->writer, path, st->settings.metrics, e);
	return rc;
}

static int open_files(struct store *st, struct err *e)
{
	char path[PATH_MAX];
	int rc;

	if (snprintf(path, sizeof(path), "%s/store.sqlite", st->dir) >= (int)sizeof(path))
		return err_set(e, E_LIMIT, "%s: path longer than %d bytes", st->dir, PATH_MAX);
	rc = make_file(path, e);
	if (rc == OK)
		rc = open_writer(st, path, e);
	if (rc == OK)
		rc = readers_open(&st->readers, path, reader_count(st->settings.readers), e);
	if (rc == OK)
		writer_guard_log(st->writer, &st->readers);
	return rc == OK ? file_sync_dir(st->dir, e) : rc;
}

static void make_metrics(struct store *st, struct metrics *ms)
{
	st->accepted = metric_counter(
		ms, "trainspotter_store_windows_total", "result=\"accepted\"", "Windows put.");
	st->duplicates = metric_counter(
		ms, "trainspotter_store_windows_total", "result=\"duplicate\"", "Windows put.");
	st->queries = metric_counter(
		ms, "trainspotter_store_queries_total", NULL, "Questions asked of the store.");
	st->dropped = metric_counter(ms, "trainspotter_store_windows_dropped_total", NULL,
		"Windows dropped for age or size; their rollups stay.");
	st->bytes = metric_gauge(
		ms, "trainspotter_store_bytes", NULL, "Size of the database at the last housekeeping.");
}

int store_open_sqlite(struct store **out, const struct store_settings *settings, struct err *e)
{
	struct store *st = mem_get(sizeof(*st));
	int rc;

	st->settings = *settings;
	st->dir = mem_dup_text(settings->dir);
	st->settings.dir = st->dir;
	st->lock_fd = -1;
	make_metrics(st, settings->metrics);
	rc = file_make_dirs(st->dir, 0750, e);
	if (rc == OK)
		rc = lock_dir(st, e);
	if (rc == OK)
		rc = open_files(st, e);
	if (rc < 0) {
		store_close(st);
		st = NULL;
	} else {
		reserve_make(st->dir);
		log_info("store.open", "dir=\"%s\" readers=%zu sqlite=%s", st->dir, st->readers.n,
			sqlite3_libversion());
	}
	*out = st;
	return rc;
}

void store_close(struct store *st)
{
	if (st == NULL)
		return;
	writer_stop(st->writer);
	readers_close(&st->readers);
	writer_close(st->writer);
	if (st->lock_fd >= 0)
		close(st->lock_fd);
	mem_free(st->dir);
	mem_free(st);
}

/* ---- writing */

int store_put(struct store *st, const struct window *windows, size_t n, struct put_result *out, struct err *e)
{
	struct put_batch batch = { .windows = windows, .n = n };
	int rc = OK;

	*out = (struct put_result){ 0 };
	for (size_t i = 0; i < n; i++) {
		rc = window_check(&windows[i], e);
		if (rc < 0)
			return err_add(e, "windows[%zu]", i);
	}
	if (n > 0)
		rc = writer_do(st->writer, put_batch, &batch, n, e);
	if (rc < 0)
		return rc;
	*out = batch.result;
	metric_add(st->accepted, out->accepted);
	metric_add(st->duplicates, out->duplicates);
	return OK;
}

static int64_t older_than(int64_t now_ns, int64_t retention_ns)
{
	return retention_ns > 0 ? now_ns - retention_ns : INT64_MIN;
}

int store_housekeep(struct store *st, int64_t now_ns, struct err *e)
{
	struct housekeep h = {
		.raw_before_ns = older_than(now_ns, st->settings.retention_raw_ns),
		.report_before_ns = older_than(now_ns, st->settings.retention_report_ns),
		.rollup_before_ns = older_than(now_ns, st->settings.retention_rollup_ns),
		.max_bytes = st->settings.max_bytes,
		.dropped = st->dropped,
	};
	int rc = housekeep_run(st->writer, &h, e);

	if (rc == E_FULL && reserve_release(st->dir)) {
		log_warn("store.reserve", "the reserve is used to drop what is old: free some space");
		rc = housekeep_run(st->writer, &h, e);
	}
	if (rc < 0)
		return rc;
	metric_set(st->bytes, (double)h.bytes);
	reserve_make(st->dir);
	return OK;
}

/* ---- is there room? */

static bool has_free_bytes(const struct store *st)
{
	uint64_t bytes;

	return file_free_bytes(st->dir, &bytes, NULL) == OK && bytes >= STORE_FREE_BYTES;
}

/* Allocates pages and lets go of them: two transactions, since only a commit finds out. */
static int fill_room(struct writer *w, void *arg, struct err *e)
{
	struct stmt s;

	(void)arg;
	stmt_open(&s, w->db, "INSERT OR REPLACE INTO room (row, bytes) VALUES (1, zeroblob(?))");
	stmt_i64(&s, STORE_ROOM_BYTES);
	return stmt_run(&s, e);
}

static int clear_room(struct writer *w, void *arg, struct err *e)
{
	(void)arg;
	return db_exec(w->db, "DELETE FROM room", e);
}

int store_ready(struct store *st, struct err *e)
{
	int64_t now = clock_mono_ns(), last = atomic_load(&st->probed_ns);

	if (!atomic_load(&st->writer->full))
		return OK;
	if (now - last >= store_probe_ns && has_free_bytes(st) &&
		atomic_compare_exchange_strong(&st->probed_ns, &last, now)) {
		int rc = writer_do(st->writer, fill_room, NULL, 1, NULL);

		if (rc == OK)
			return writer_do(st->writer, clear_room, NULL, 1, e);
	}
	return err_set(
		e, E_FULL, "%s: no space left on the disk: windows are refused until there is", st->dir);
}

static int limit_pages(struct writer *w, void *arg, struct err *e)
{
	char sql[64];
	unsigned pages = *(unsigned *)arg;

	snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %u", pages ? pages : 1073741823);
	return db_exec(w->db, sql, e);
}

int store_limit_pages(struct store *st, unsigned pages, struct err *e)
{
	return writer_do_bare(st->writer, limit_pages, &pages, e);
}
