/* The database, table by table. Times are wall nanoseconds; unsigned counts are kept as the same 64 bits; "hour" is
 * hours since 1970; texts that repeat (service, deploy, host, worker, source) are ids of name, ops are ids of op.
 * Nothing is ever removed from name and op: an id means the same for as long as the database lives, which is what lets
 * readers keep what they have looked up.
 *
 *   meta        one number a key: raw_from_ns, the start from which on every window is still kept whole; next_row, the
 *               row of the next window, where any was put since that is kept
 *   name        id <-> text
 *   op          id <-> kind (by word, so that the enum may change) and name
 *   window_id   every window ever accepted that rollups still count, also when the window itself is gone: what makes a
 *               repeated window a duplicate
 *   window      windows kept whole; ops and rest are blobs, drawn in codec.h
 *   rollup      the windows with ops of one hour merged, by service, deploy, host and worker; and once more with host and worker
 *               0: over all hosts. Written in the transaction of the windows, so it is always true
 *   seen        who has sent windows with ops: what the lists of services, hosts and deploys are made of
 *   deploy      deploys as announced
 *   alert       alerts, by their fingerprint
 *   room        empty; written to and emptied again to see whether the disk has room
 *   lease       leases that agents have or may have: by their ids; a row goes when its lease ends
 *   capture     windows that were asked for; ended_ns 0 is open; hosts and workers are lists of texts (codec.h), empty for any
 *   capture_target  their workers, each with the state it is in
 *   capture_policy  one row: the kill switch
 */
#include "store/schema.h"

static const char schema_v1[] =
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
	"INSERT INTO meta VALUES ('raw_from_ns', 0);"
	"CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;"
	"CREATE TABLE op (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE (name, "
	"kind)) STRICT;"

	"CREATE TABLE window_id (id BLOB PRIMARY KEY, row INTEGER NOT NULL, start_ns INTEGER NOT NULL)"
	" STRICT, WITHOUT ROWID;"
	"CREATE INDEX window_id_start ON window_id (start_ns);"

	"CREATE TABLE window (row INTEGER PRIMARY KEY, id BLOB NOT NULL, service INTEGER NOT NULL,"
	" deploy INTEGER NOT NULL, host INTEGER NOT NULL, worker INTEGER NOT NULL, source INTEGER NOT NULL,"
	" start_ns INTEGER NOT NULL, dur_ns INTEGER NOT NULL, steps INTEGER NOT NULL, steps_from TEXT NOT "
	"NULL,"
	" has_device INTEGER NOT NULL, flags INTEGER NOT NULL, launches INTEGER NOT NULL, events INTEGER NOT "
	"NULL,"
	" skipped INTEGER NOT NULL, ops BLOB NOT NULL, rest BLOB NOT NULL) STRICT;"
	/* Both hold every column that filters, so that windows that do not match are never read. */
	"CREATE INDEX window_start ON window (start_ns, id, service, deploy, host, worker);"
	"CREATE INDEX window_service ON window (service, start_ns, id, deploy, host, worker);"

	"CREATE TABLE rollup (row INTEGER PRIMARY KEY, hour INTEGER NOT NULL, service INTEGER NOT NULL,"
	" deploy INTEGER NOT NULL, host INTEGER NOT NULL, worker INTEGER NOT NULL, windows INTEGER NOT NULL,"
	" steps INTEGER NOT NULL, has_device INTEGER NOT NULL, first_ns INTEGER NOT NULL, last_ns INTEGER "
	"NOT NULL,"
	" ops BLOB NOT NULL) STRICT;"
	"CREATE UNIQUE INDEX rollup_key ON rollup (service, host, hour, deploy, worker);"
	"CREATE INDEX rollup_hour ON rollup (hour);"

	"CREATE TABLE seen (service INTEGER NOT NULL, deploy INTEGER NOT NULL, host INTEGER NOT NULL,"
	" worker INTEGER NOT NULL, windows INTEGER NOT NULL, first_ns INTEGER NOT NULL, last_ns INTEGER NOT "
	"NULL,"
	" PRIMARY KEY (service, deploy, host, worker)) STRICT, WITHOUT ROWID;"
	"CREATE INDEX seen_host ON seen (host);"

	"CREATE TABLE deploy (service INTEGER NOT NULL, deploy INTEGER NOT NULL, announced_ns INTEGER NOT "
	"NULL,"
	" labels BLOB NOT NULL, PRIMARY KEY (service, deploy)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE alert (id TEXT PRIMARY KEY, state TEXT NOT NULL, kind TEXT NOT NULL, service TEXT NOT "
	"NULL,"
	" deploy TEXT NOT NULL, deploy_before TEXT NOT NULL, op TEXT NOT NULL, sentence TEXT NOT NULL,"
	" started_ns INTEGER NOT NULL, fired_ns INTEGER NOT NULL, resolved_ns INTEGER NOT NULL,"
	" updated_ns INTEGER NOT NULL, windows_before INTEGER NOT NULL, windows_after INTEGER NOT NULL,"
	" hosts BLOB NOT NULL, evidence TEXT NOT NULL) STRICT;"
	"CREATE INDEX alert_started ON alert (started_ns, id);"
	"CREATE TABLE room (row INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;";

static const char schema_v2[] =
	"CREATE TABLE lease (id TEXT PRIMARY KEY, agent TEXT NOT NULL, capture TEXT NOT NULL, host TEXT NOT NULL,"
	" service TEXT NOT NULL, source TEXT NOT NULL, worker TEXT NOT NULL, duration_ns INTEGER NOT NULL,"
	" iterations INTEGER NOT NULL, granted_ns INTEGER NOT NULL, begin_ns INTEGER NOT NULL,"
	" until_ns INTEGER NOT NULL) STRICT, WITHOUT ROWID;"

	"CREATE TABLE capture (id TEXT PRIMARY KEY, created_ns INTEGER NOT NULL, expires_ns INTEGER NOT NULL,"
	" join_ns INTEGER NOT NULL, ended_ns INTEGER NOT NULL, service TEXT NOT NULL, source TEXT NOT NULL,"
	" hosts BLOB NOT NULL, workers BLOB NOT NULL, duration_ns INTEGER NOT NULL, iterations INTEGER NOT NULL,"
	" reason TEXT NOT NULL, alert TEXT NOT NULL) STRICT;"
	"CREATE INDEX capture_created ON capture (created_ns, id);"
	"CREATE INDEX capture_open ON capture (created_ns) WHERE ended_ns = 0;"

	"CREATE TABLE capture_target (capture TEXT NOT NULL, host TEXT NOT NULL, service TEXT NOT NULL,"
	" source TEXT NOT NULL, worker TEXT NOT NULL, state TEXT NOT NULL, lease TEXT NOT NULL, end TEXT NOT NULL,"
	" window TEXT NOT NULL, PRIMARY KEY (capture, host, service, source, worker)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE capture_policy (row INTEGER PRIMARY KEY CHECK (row = 1), paused INTEGER NOT NULL,"
	" reason TEXT NOT NULL, changed_ns INTEGER NOT NULL) STRICT;"
	"INSERT INTO capture_policy VALUES (1, 0, '', 0);";

/* Windows without ops are dropped before the others: found without reading those (FILTER_WITH_OPS in store/filter.h). Since
 * this version window.rest may be compressed (store/codec.h). */
static const char schema_v3[] = "CREATE INDEX window_report ON window (start_ns, id) WHERE length(ops) <= 2;";

/* schema_steps[n] brings version n to n + 1. */
static const char *const schema_steps[] = { schema_v1, schema_v2, schema_v3 };
_Static_assert(COUNT(schema_steps) == SCHEMA_VERSION, "one step a version");

static int schema_known(struct db *db, const char *path, int64_t version, struct err *e)
{
	int64_t application, tables;
	int rc = db_number(db, "PRAGMA application_id", &application, e);

	if (rc == OK)
		rc = db_number(db, "SELECT count(*) FROM sqlite_schema", &tables, e);
	if (rc < 0)
		return rc;
	if (application != SCHEMA_APPLICATION && (tables > 0 || version > 0))
		return err_set(e, E_USAGE,
			"%s: a database, but not one of Trainspotter: choose another folder", path);
	if (version > SCHEMA_VERSION)
		return err_set(e, E_UNSUPPORTED,
			"%s: written by a newer Trainspotter (schema %lld, this program knows %d): install "
			"that version "
			"again, or choose another folder",
			path, (long long)version, SCHEMA_VERSION);
	return OK;
}

static int schema_step(struct db *db, int64_t from, struct err *e)
{
	char mark[96];
	int rc = db_exec(db, "BEGIN IMMEDIATE", e);

	snprintf(mark, sizeof(mark), "PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT",
		(int)from + 1, SCHEMA_APPLICATION);
	if (rc == OK)
		rc = db_exec(db, schema_steps[from], e);
	if (rc == OK)
		rc = db_exec(db, mark, e);
	if (rc < 0)
		db_rollback(db);
	return rc;
}

int schema_migrate(struct db *db, const char *path, struct err *e)
{
	int64_t version;
	int rc = db_number(db, "PRAGMA user_version", &version, e);

	if (rc == OK)
		rc = schema_known(db, path, version, e);
	for (; rc == OK && version < SCHEMA_VERSION; version++) {
		rc = schema_step(db, version, e);
		if (rc < 0)
			rc = err_add(e, "schema %lld to %lld", (long long)version, (long long)version + 1);
	}
	return rc;
}
