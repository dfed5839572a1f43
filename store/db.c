#include "store/db.h"

#include <errno.h>
#include <limits.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"

enum {
	DB_STATEMENTS_MAX = 256,   /* kept a connection; the store's queries have fewer forms */
	DB_TEXTS_MAX = 1 << 20,	   /* bytes of their texts */
	DB_PROGRESS_STEPS = 20000, /* virtual machine steps between looks at the clock: about a millisecond */
	DB_BUSY_MS = 2000,	   /* recovery of the log by another connection takes that long at most */
};

struct db {
	sqlite3 *h;
	char *path;
	int64_t deadline_ns;
	struct arena texts;
	struct map by_text;
	sqlite3_stmt *kept[DB_STATEMENTS_MAX];
};

/* What SQLite's primary result codes are to us; what is not in here is E_SYS. */
static const struct {
	int sqlite, code;
	const char *say;
} db_codes[] = {
	{ SQLITE_FULL, E_FULL, "no space left on the disk" },
	{ SQLITE_CORRUPT, E_CORRUPT, NULL },
	{ SQLITE_NOTADB, E_CORRUPT, NULL },
	{ SQLITE_BUSY, E_BUSY, "locked by another process" },
	{ SQLITE_LOCKED, E_BUSY, "locked" },
	{ SQLITE_NOMEM, E_NOMEM, "not enough memory" },
	{ SQLITE_TOOBIG, E_LIMIT, "a value is larger than a row can be" },
	{ SQLITE_INTERRUPT, E_LIMIT, "the query took too long: ask for a shorter range or name a service" },
	{ SQLITE_PERM, E_DENIED, "not allowed" },
};

/* Writes the sentence for a failed call and returns our code. */
static int db_fail(const struct db *db, int rc, struct err *e)
{
	int primary = rc & 0xff, sys = sqlite3_system_errno(db->h);

	if (primary == SQLITE_IOERR && (sys == ENOSPC || sys == EDQUOT))
		primary = SQLITE_FULL;
	for (size_t i = 0; i < COUNT(db_codes); i++) {
		if (db_codes[i].sqlite != primary)
			continue;
		if (db_codes[i].code != E_CORRUPT)
			return err_set(e, db_codes[i].code, "%s: %s", db->path, db_codes[i].say);
		return err_set(e, E_CORRUPT,
			"%s: damaged (%s): stop the daemon, move this file and its -wal and -shm away, then "
			"start with an "
			"empty store or put a backup in their place",
			db->path, sqlite3_errmsg(db->h));
	}
	return err_set(e, E_SYS, "%s: %s (SQLite error %d%s%s)", db->path, sqlite3_errmsg(db->h), rc,
		sys ? ", " : "", sys ? strerror(sys) : "");
}

/* ---- opening */

static const char *const db_setup[DB_ROLES] = {
	/* auto_vacuum and page_size only count before the first table; they must come before journal_mode. */
	[DB_WRITER] = "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
		      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000; PRAGMA "
		      "journal_size_limit = 67108864;"
		      "PRAGMA secure_delete = OFF; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;"
		      "PRAGMA cache_size = -65536;",
	/* Only the writer ever checkpoints: two that do can lose pages (SQLite before 3.51.3). */
	[DB_READER] = "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY;"
		      "PRAGMA cache_size = -16384;",
};

/* SQLite's progress handler: non-zero interrupts the statement. */
static int over_deadline(void *arg)
{
	const struct db *db = arg;

	return db->deadline_ns != 0 && clock_mono_ns() > db->deadline_ns;
}

int db_open(struct db **out, const char *path, enum db_role role, struct err *e)
{
	int flags = SQLITE_OPEN_NOMUTEX |
		(role == DB_WRITER ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
	struct db *db = mem_get(sizeof(*db));
	int rc;

	db->path = mem_dup_text(path);
	arena_init(&db->texts, DB_TEXTS_MAX);
	map_init(&db->by_text, DB_STATEMENTS_MAX);
	rc = sqlite3_open_v2(path, &db->h, flags, NULL);
	if (rc != SQLITE_OK) {
		rc = db_fail(db, rc, e);
		goto out;
	}
	sqlite3_extended_result_codes(db->h, 1);
	sqlite3_busy_timeout(db->h, DB_BUSY_MS);
	sqlite3_progress_handler(db->h, DB_PROGRESS_STEPS, over_deadline, db);
	if (role == DB_READER)
		sqlite3_db_config(db->h, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	rc = db_exec(db, db_setup[role], e);
out:
	if (rc < 0) {
		db_close(db);
		db = NULL;
	}
	*out = db;
	return rc;
}

void db_close(struct db *db)
{
	if (db == NULL)
		return;
	for (size_t i = 0; i < DB_STATEMENTS_MAX; i++)
		sqlite3_finalize(db->kept[i]);
	must(sqlite3_close(db->h) == SQLITE_OK);
	map_fini(&db->by_text);
	arena_fini(&db->texts);
	mem_free(db->path);
	mem_free(db);
}

void db_deadline(struct db *db, int64_t mono_ns)
{
	db->deadline_ns = mono_ns;
}

/* ---- whole statements */

int db_exec(struct db *db, const char *sql, struct err *e)
{
	int rc = sqlite3_exec(db->h, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? OK : db_fail(db, rc, e);
}

int db_number(struct db *db, const char *sql, int64_t *out, struct err *e)
{
	struct stmt s;

	*out = 0;
	stmt_open(&s, db, sql);
	if (stmt_row(&s))
		*out = stmt_get_i64(&s, 0);
	return stmt_close(&s, e);
}

void db_rollback(struct db *db)
{
	/* A full disk has rolled back by itself already. A rollback that fails leaves nothing to do about it: the
	 * next BEGIN fails and says so. */
	if (!sqlite3_get_autocommit(db->h))
		sqlite3_exec(db->h, "ROLLBACK", NULL, NULL, NULL);
}

int db_checkpoint(struct db *db, bool truncate, struct err *e)
{
	int rc;

	sqlite3_busy_timeout(db->h, 0); /* readers finish in their own time; the next one will do it */
	rc = sqlite3_wal_checkpoint_v2(
		db->h, NULL, truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	sqlite3_busy_timeout(db->h, DB_BUSY_MS);
	return rc == SQLITE_OK ? OK : db_fail(db, rc, e);
}

int64_t db_changes(struct db *db)
{
	return sqlite3_changes(db->h);
}

int64_t db_total_changes(struct db *db)
{
	return sqlite3_total_changes64(db->h);
}

/* ---- statements */

static int stmt_prepare(struct db *db, const char *sql, sqlite3_stmt **out, struct err *e)
{
	struct str text = str_of(sql);
	const uint32_t *known = map_get(&db->by_text, text);
	uint32_t *at;
	int rc;

	if (known != NULL) {
		*out = db->kept[*known];
		return OK;
	}
	rc = sqlite3_prepare_v3(db->h, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
	if (rc != SQLITE_OK)
		return db_fail(db, rc, e);
	must(db->by_text.n < DB_STATEMENTS_MAX); /* our own queries have a bounded number of forms */
	at = map_put(&db->by_text, arena_str(&db->texts, text), (uint32_t)db->by_text.n, NULL);
	if (arena_full(&db->texts) || at == NULL) {
		sqlite3_finalize(*out);
		*out = NULL;
		return err_set(e, E_NOMEM, "%s: not enough memory for a statement", db->path);
	}
	db->kept[*at] = *out;
	return OK;
}

void stmt_open(struct stmt *s, struct db *db, const char *sql)
{
	s->db = db;
	s->s = NULL;
	s->bound = 0;
	err_clear(&s->err);
	s->rc = stmt_prepare(db, sql, &s->s, &s->err);
}

static void stmt_check(struct stmt *s, int rc)
{
	if (rc != SQLITE_OK && s->rc == OK)
		s->rc = db_fail(s->db, rc, &s->err);
}

void stmt_i64(struct stmt *s, int64_t v)
{
	if (s->rc == OK)
		stmt_check(s, sqlite3_bind_int64(s->s, ++s->bound, v));
}

void stmt_u64(struct stmt *s, uint64_t v)
{
	stmt_i64(s, (int64_t)v);
}

void stmt_str(struct stmt *s, struct str v)
{
	if (s->rc == OK)
		stmt_check(s,
			sqlite3_bind_text64(
				s->s, ++s->bound, v.n ? v.p : "", v.n, SQLITE_STATIC, SQLITE_UTF8));
}

void stmt_text(struct stmt *s, const char *v)
{
	stmt_str(s, str_of(v));
}

void stmt_blob(struct stmt *s, const void *p, size_t n)
{
	if (s->rc == OK)
		stmt_check(s, sqlite3_bind_blob64(s->s, ++s->bound, n ? p : "", n, SQLITE_STATIC));
}

bool stmt_row(struct stmt *s)
{
	int rc;

	if (s->rc != OK)
		return false;
	rc = sqlite3_step(s->s);
	if (rc == SQLITE_ROW)
		return true;
	if (rc != SQLITE_DONE)
		stmt_check(s, rc);
	return false;
}

int64_t stmt_get_i64(const struct stmt *s, int column)
{
	return sqlite3_column_int64(s->s, column);
}

uint64_t stmt_get_u64(const struct stmt *s, int column)
{
	return (uint64_t)sqlite3_column_int64(s->s, column);
}

struct str stmt_get_str(const struct stmt *s, int column)
{
	const void *p = sqlite3_column_blob(s->s, column);
	int n = sqlite3_column_bytes(s->s, column);

	return p == NULL ? str_of(NULL) : str_make(p, (size_t)n);
}

int stmt_close(struct stmt *s, struct err *e)
{
	/* Always reset: a statement left open holds its snapshot, and the log cannot be emptied. */
	if (s->s != NULL) {
		sqlite3_reset(s->s);
		sqlite3_clear_bindings(s->s);
	}
	if (s->rc != OK && e != NULL)
		*e = s->err;
	return s->rc;
}

int stmt_run(struct stmt *s, struct err *e)
{
	while (stmt_row(s))
		;
	return stmt_close(s, e);
}
