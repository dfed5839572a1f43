#include "store/housekeep.h"

#include "base/clock.h"

enum {
	HOUSEKEEP_SLICE = 200,	       /* windows or rollups in one transaction */
	HOUSEKEEP_PAGES = 2000,	       /* given back to the disk in one transaction */
	HOUSEKEEP_ROUNDS_MAX = 100000, /* slices in one run; the next run goes on */
};

/* One slice, inside the writer's transaction. did: rows that went. */
struct slice {
	const char *sql; /* of the rowids that go: two parameters, before and how many */
	int64_t before;
	int64_t did;
};

/* ---- windows */

/* Marks the newest start of the windows that go: from behind it on, everything is kept. Nothing is written where nothing
 * goes. */
static int mark_gone(struct writer *w, const struct slice *sl, struct err *e)
{
	int64_t gone_ns = -1;
	struct stmt s;
	int rc;

	stmt_open(&s, w->db,
		"SELECT ifnull(max(start_ns), -1) FROM (SELECT start_ns FROM window WHERE start_ns < ?"
		" ORDER BY start_ns, id LIMIT ?)");
	stmt_i64(&s, sl->before);
	stmt_i64(&s, HOUSEKEEP_SLICE);
	if (stmt_row(&s))
		gone_ns = stmt_get_i64(&s, 0);
	rc = stmt_close(&s, e);
	if (rc < 0)
		return rc;
	stmt_open(&s, w->db, "UPDATE meta SET value = ? WHERE key = 'raw_from_ns' AND value < ?");
	stmt_i64(&s, gone_ns + 1);
	stmt_i64(&s, gone_ns + 1);
	return stmt_run(&s, e);
}

static int delete_rows(struct writer *w, struct slice *sl, struct err *e)
{
	struct stmt s;
	int rc;

	stmt_open(&s, w->db, sl->sql);
	stmt_i64(&s, sl->before);
	stmt_i64(&s, HOUSEKEEP_SLICE);
	rc = stmt_run(&s, e);
	sl->did = rc == OK ? db_changes(w->db) : 0;
	return rc;
}

static int drop_windows(struct writer *w, void *arg, struct err *e)
{
	struct slice *sl = arg;
	int rc = mark_gone(w, sl, e);

	return rc == OK ? delete_rows(w, sl, e) : rc;
}

/* Windows without ops: no rollup counts them, so their ids go with them, and what is kept of the others stays as it is. */
static int drop_reports(struct writer *w, void *arg, struct err *e)
{
	struct slice *sl = arg;
	int rc;

	sl->sql = "DELETE FROM window_id WHERE id IN"
		  " (SELECT id FROM window WHERE start_ns < ? AND length(ops) <= 2 ORDER BY start_ns, id LIMIT ?)";
	rc = delete_rows(w, sl, e);
	sl->sql = "DELETE FROM window WHERE row IN"
		  " (SELECT row FROM window WHERE start_ns < ? AND length(ops) <= 2 ORDER BY start_ns, id LIMIT ?)";
	return rc == OK ? delete_rows(w, sl, e) : rc;
}

static int drop_rows(struct writer *w, void *arg, struct err *e)
{
	return delete_rows(w, arg, e);
}

static const char sql_windows[] =
	"DELETE FROM window WHERE row IN"
	" (SELECT row FROM window WHERE start_ns < ? ORDER BY start_ns, id LIMIT ?)";

/* What goes with the rollups: "before" is in hours or in nanoseconds. of_windows: not while windows of that time are kept, since
 * without who sent them none of them is found. */
static const struct {
	const char *sql;
	bool hours, of_windows;
} rollup_drops[] = {
	{ "DELETE FROM rollup WHERE row IN (SELECT row FROM rollup WHERE hour < ? ORDER BY hour LIMIT ?)",
		true, true },
	/* Ids stay as long as their window does: a repeat must be known as one. */
	{ "DELETE FROM window_id WHERE id IN (SELECT i.id FROM window_id i WHERE i.start_ns < ?"
	  " AND NOT EXISTS (SELECT 1 FROM window w WHERE w.row = i.row) ORDER BY i.start_ns LIMIT ?)",
		false, false },
	{ "DELETE FROM seen WHERE (service, deploy, host, worker) IN (SELECT service, deploy, host, worker "
	  "FROM seen"
	  " WHERE last_ns < ? LIMIT ?)",
		false, true },
	{ "DELETE FROM deploy WHERE (service, deploy) IN (SELECT service, deploy FROM deploy d WHERE "
	  "announced_ns < ?"
	  " AND NOT EXISTS (SELECT 1 FROM seen s WHERE s.service = d.service AND s.deploy = d.deploy) LIMIT "
	  "?)",
		false, false },
	{ "DELETE FROM alert WHERE id IN (SELECT id FROM alert WHERE updated_ns < ?"
	  " AND state NOT IN ('pending', 'firing') LIMIT ?)",
		false, false },
	{ "DELETE FROM capture WHERE id IN (SELECT id FROM capture WHERE created_ns < ? AND ended_ns <> 0 LIMIT ?)", false, false },
	/* of those: the time is no matter */
	{ "DELETE FROM capture_target WHERE (capture, host, service, source, worker) IN (SELECT capture, host, service,"
	  " source, worker FROM capture_target t WHERE ? IS NOT NULL AND NOT EXISTS"
	  " (SELECT 1 FROM capture c WHERE c.id = t.capture) LIMIT ?)",
		false, false },
};

/* ---- size */

struct size {
	int64_t bytes; /* in use: what the files have or need, without free pages */
	int64_t free_pages;
};

static int measure(struct writer *w, void *arg, struct err *e)
{
	struct size *size = arg;
	int64_t page = 0, pages = 0;
	int rc = db_number(w->db, "PRAGMA page_size", &page, e);

	if (rc == OK)
		rc = db_number(w->db, "PRAGMA page_count", &pages, e);
	if (rc == OK)
		rc = db_number(w->db, "PRAGMA freelist_count", &size->free_pages, e);
	size->bytes = (pages - size->free_pages) * page;
	return rc;
}

static int give_back(struct writer *w, void *arg, struct err *e)
{
	char sql[64];

	(void)arg;
	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)", HOUSEKEEP_PAGES);
	return db_exec(w->db, sql, e);
}

static int empty_log(struct writer *w, void *arg, struct err *e)
{
	int rc = db_checkpoint(w->db, true, e);

	(void)arg;
	return rc == E_BUSY ? OK : rc; /* a reader is in the way: the writer tries again when it is idle */
}

/* ---- all of it */

static int run_slices(
	struct writer *w, writer_work *work, struct slice *sl, struct metric *count, struct err *e)
{
	int rc = OK;

	for (int round = 0; rc == OK && round < HOUSEKEEP_ROUNDS_MAX; round++) {
		rc = writer_do(w, work, sl, HOUSEKEEP_SLICE, e);
		if (rc == OK)
			metric_add(count, (uint64_t)sl->did);
		if (sl->did < HOUSEKEEP_SLICE)
			break;
	}
	return rc;
}

static int drop_old(struct writer *w, const struct housekeep *h, struct err *e)
{
	struct slice reports = { .before = h->report_before_ns };
	struct slice sl = { .sql = sql_windows, .before = h->raw_before_ns };
	int rc = run_slices(w, drop_reports, &reports, h->dropped, e);

	if (rc == OK)
		rc = run_slices(w, drop_windows, &sl, h->dropped, e);
	for (size_t i = 0; i < COUNT(rollup_drops) && rc == OK; i++) {
		sl.sql = rollup_drops[i].sql;
		sl.before = h->rollup_before_ns;
		if (rollup_drops[i].of_windows && sl.before > h->raw_before_ns)
			sl.before = h->raw_before_ns;
		if (rollup_drops[i].hours)
			sl.before /= NS_PER_HOUR;
		rc = run_slices(w, drop_rows, &sl, NULL, e);
	}
	return rc;
}

/* The oldest of what can best be missed: reports, as long as there are any, then windows; hours when there are no windows left. */
static int drop_some(struct writer *w, struct housekeep *h, bool *has_reports, bool *any, struct err *e)
{
	struct slice reports = { .before = INT64_MAX };
	struct slice windows = { .sql = sql_windows, .before = INT64_MAX };
	struct slice hours = { .sql = rollup_drops[0].sql, .before = INT64_MAX };
	int rc = *has_reports ? writer_do(w, drop_reports, &reports, HOUSEKEEP_SLICE, e) : OK;

	*has_reports = reports.did > 0;
	if (rc == OK && reports.did == 0)
		rc = writer_do(w, drop_windows, &windows, HOUSEKEEP_SLICE, e);
	if (rc == OK && reports.did + windows.did == 0)
		rc = writer_do(w, drop_rows, &hours, HOUSEKEEP_SLICE, e);
	metric_add(h->dropped, rc == OK ? (uint64_t)(reports.did + windows.did) : 0);
	*any = rc == OK && reports.did + windows.did + hours.did > 0;
	return rc;
}

static int drop_over_cap(struct writer *w, struct housekeep *h, struct err *e)
{
	struct size size = { 0 };
	bool any = true, has_reports = true;
	int rc = writer_do(w, measure, &size, 0, e);

	while (rc == OK && any && h->max_bytes > 0 && size.bytes > h->max_bytes) {
		rc = drop_some(w, h, &has_reports, &any, e);
		if (rc == OK)
			rc = writer_do(w, measure, &size, 0, e);
	}
	for (int round = 0; rc == OK && size.free_pages > HOUSEKEEP_PAGES / 4 && round < HOUSEKEEP_ROUNDS_MAX;
		round++) {
		rc = writer_do(w, give_back, NULL, HOUSEKEEP_SLICE, e);
		if (rc == OK)
			rc = writer_do(w, measure, &size, 0, e);
	}
	h->bytes = size.bytes;
	return rc;
}

int housekeep_run(struct writer *w, struct housekeep *h, struct err *e)
{
	int rc = drop_old(w, h, e);

	if (rc == OK)
		rc = drop_over_cap(w, h, e);
	return rc == OK ? writer_do_bare(w, empty_log, NULL, e) : rc;
}
