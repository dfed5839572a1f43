#include "store/scan.h"

int life_of(struct life *out, const struct filter *f, struct reader *r, struct err *e)
{
	struct buf sql;
	struct stmt s;
	int rc;

	*out = (struct life){ .empty = true };
	buf_init(&sql, FILTER_SQL_MAX);
	buf_text(&sql, "SELECT min(first_ns), max(last_ns), count(*) FROM seen WHERE 1");
	filter_sql(f, &sql);
	rc = buf_finish(&sql, "query", e);
	if (rc < 0)
		goto out;
	stmt_open(&s, r->db, sql.p);
	filter_bind(f, &s);
	if (stmt_row(&s))
		*out = (struct life){ stmt_get_i64(&s, 2) == 0, stmt_get_i64(&s, 0), stmt_get_i64(&s, 1) };
	rc = stmt_close(&s, e);
out:
	buf_fini(&sql);
	return rc;
}

static int64_t hour_up(int64_t ns)
{
	return hour_of(ns - 1) + 1;
}

/* Splits the range into raw, hours, raw. A whole hour may stand for a part of it where the rest of the hour has nothing that
 * matches, and must where windows are gone. */
static void scan_split(struct scan *sc, bool want_hours)
{
	bool all_before = sc->filter.from_ns <= sc->life.first_ns, all_behind = sc->filter.to_ns > sc->life.last_ns;
	int64_t from = sc->first_ns, to = sc->last_ns + 1;

	sc->raw_gone = from < sc->kept_ns;
	sc->hour_from = all_before || sc->raw_gone ? hour_of(from) : hour_up(from);
	sc->hour_to = all_behind || hour_of(to) * NS_PER_HOUR < sc->kept_ns ? hour_up(to) : hour_of(to);
	sc->hours = (want_hours || sc->raw_gone) && sc->hour_from < sc->hour_to;
	sc->raw[0].from_ns = from;
	sc->raw[0].to_ns = sc->hours ? sc->hour_from * NS_PER_HOUR : to;
	sc->raw[1].from_ns = sc->hour_to * NS_PER_HOUR;
	sc->raw[1].to_ns = to;
}

int scan_plan(struct scan *sc, const struct filter *f, bool want_hours, struct reader *r, struct err *e)
{
	int rc = OK;

	*sc = (struct scan){ .filter = *f, .empty = f->nothing };
	if (!sc->empty)
		rc = life_of(&sc->life, f, r, e);
	if (rc < 0 || sc->empty || sc->life.empty) {
		sc->empty = true;
		return rc;
	}
	rc = db_number(r->db, "SELECT value FROM meta WHERE key = 'raw_from_ns'", &sc->kept_ns, e);
	sc->first_ns = f->from_ns > sc->life.first_ns ? f->from_ns : sc->life.first_ns;
	sc->last_ns = f->to_ns <= sc->life.last_ns ? f->to_ns - 1 : sc->life.last_ns;
	sc->empty = sc->first_ns > sc->last_ns;
	if (!sc->empty)
		scan_split(sc, want_hours);
	return rc;
}

void scan_by_hours(struct scan *sc)
{
	if (!sc->empty)
		scan_split(sc, true);
}

/* ---- running */

static int scan_raw(const struct scan *sc, int64_t from, int64_t to, struct reader *r, scan_visit *visit,
	void *arg, struct err *e)
{
	struct buf sql;
	struct stmt s;
	int rc, visited = OK;

	if (from >= to)
		return OK;
	buf_init(&sql, FILTER_SQL_MAX);
	buf_text(&sql,
		"SELECT start_ns, steps, has_device, ops FROM window WHERE start_ns >= ? AND start_ns < ?" FILTER_WITH_OPS);
	filter_sql(&sc->filter, &sql);
	rc = buf_finish(&sql, "query", e);
	if (rc < 0)
		goto out;
	stmt_open(&s, r->db, sql.p);
	stmt_i64(&s, from);
	stmt_i64(&s, to);
	filter_bind(&sc->filter, &s);
	while (visited == OK && stmt_row(&s)) {
		struct scan_row row = {
			.first_ns = stmt_get_i64(&s, 0),
			.last_ns = stmt_get_i64(&s, 0),
			.windows = 1,
			.steps = stmt_get_u64(&s, 1),
			.has_device = stmt_get_i64(&s, 2) != 0,
			.ops = stmt_get_str(&s, 3),
		};

		visited = visit(arg, &row, e);
	}
	rc = stmt_close(&s, visited == OK ? e : NULL);
out:
	buf_fini(&sql);
	return visited < 0 ? visited : rc;
}

/* Rows over all hosts where no host and no worker is named, else those of the hosts. */
static void rollup_sql(const struct filter *f, struct buf *sql)
{
	buf_text(sql,
		"SELECT windows, steps, has_device, first_ns, last_ns, ops FROM rollup WHERE hour >= ? AND "
		"hour < ?");
	if (f->service == NAMES_NONE)
		buf_text(sql, " AND service IN (SELECT DISTINCT service FROM seen)");
	if (f->host == NAMES_NONE && f->worker == NAMES_NONE)
		buf_text(sql, " AND host = 0");
	else if (f->host == NAMES_NONE)
		buf_text(sql, " AND host IN (SELECT DISTINCT host FROM seen)");
	filter_sql(f, sql);
}

static int scan_hours(const struct scan *sc, struct reader *r, scan_visit *visit, void *arg, struct err *e)
{
	struct buf sql;
	struct stmt s;
	int rc, visited = OK;

	buf_init(&sql, FILTER_SQL_MAX);
	rollup_sql(&sc->filter, &sql);
	rc = buf_finish(&sql, "query", e);
	if (rc < 0)
		goto out;
	stmt_open(&s, r->db, sql.p);
	stmt_i64(&s, sc->hour_from);
	stmt_i64(&s, sc->hour_to);
	filter_bind(&sc->filter, &s);
	while (visited == OK && stmt_row(&s)) {
		struct scan_row row = {
			.windows = stmt_get_u64(&s, 0),
			.steps = stmt_get_u64(&s, 1),
			.has_device = stmt_get_i64(&s, 2) != 0,
			.first_ns = stmt_get_i64(&s, 3),
			.last_ns = stmt_get_i64(&s, 4),
			.ops = stmt_get_str(&s, 5),
		};

		visited = visit(arg, &row, e);
	}
	rc = stmt_close(&s, visited == OK ? e : NULL);
out:
	buf_fini(&sql);
	return visited < 0 ? visited : rc;
}

int scan_run(const struct scan *sc, struct reader *r, scan_visit *visit, void *arg, struct err *e)
{
	int rc;

	if (sc->empty)
		return OK;
	rc = scan_raw(sc, sc->raw[0].from_ns, sc->raw[0].to_ns, r, visit, arg, e);
	if (rc == OK && sc->hours)
		rc = scan_hours(sc, r, visit, arg, e);
	if (rc == OK && sc->hours)
		rc = scan_raw(sc, sc->raw[1].from_ns, sc->raw[1].to_ns, r, visit, arg, e);
	return rc;
}
