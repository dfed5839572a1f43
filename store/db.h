/* db.h — one SQLite connection with its prepared statements; inside store/ only.
 * Every error of SQLite becomes a code and a sentence here and nowhere else. Statements are prepared once a connection
 * and kept by their text, which must be a literal or live as long as the connection's cache holds it (it is copied).
 * Runs on: the one thread that owns the connection. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum db_role { DB_WRITER, DB_READER, DB_ROLES };

struct db;

/* E_CORRUPT where the file is no database or a damaged one. */
int db_open(struct db **out, const char *path, enum db_role role, struct err *e) MUST_USE;
void db_close(struct db *db); /* NULL is fine */

/* Statements after this moment (mono) are interrupted: E_LIMIT. 0 for none. */
void db_deadline(struct db *db, int64_t mono_ns);

int db_exec(struct db *db, const char *sql, struct err *e) MUST_USE; /* any number of statements */
int db_number(
	struct db *db, const char *sql, int64_t *out, struct err *e) MUST_USE; /* first column of first row */
void db_rollback(struct db *db); /* fine without a transaction */
int db_checkpoint(
	struct db *db, bool truncate, struct err *e) MUST_USE; /* E_BUSY when a reader was in the way */
int64_t db_changes(struct db *db);			       /* rows that the last statement changed */
int64_t db_total_changes(struct db *db);		       /* since the connection was opened */

/* One statement, sticky: after a failure the other calls do nothing and stmt_close tells.
 *
 *	stmt_open(&s, db, "SELECT a FROM t WHERE b = ? AND c = ?");
 *	stmt_i64(&s, b);
 *	stmt_str(&s, c);
 *	while (stmt_row(&s))
 *		... stmt_get_i64(&s, 0) ...
 *	return stmt_close(&s, e);
 *
 * Bound texts and bytes are borrowed until stmt_close; what stmt_get_* returns lives until the next stmt_row. */
struct stmt {
	struct db *db;
	sqlite3_stmt *s;
	int bound;
	int rc;
	struct err err;
};

void stmt_open(struct stmt *s, struct db *db, const char *sql);
void stmt_i64(struct stmt *s, int64_t v);
void stmt_u64(struct stmt *s, uint64_t v); /* the same 64 bits */
void stmt_str(struct stmt *s, struct str v);
void stmt_text(struct stmt *s, const char *v);
void stmt_blob(struct stmt *s, const void *p, size_t n);
bool stmt_row(struct stmt *s); /* false at the end and after a failure */
int64_t stmt_get_i64(const struct stmt *s, int column);
uint64_t stmt_get_u64(const struct stmt *s, int column);
struct str stmt_get_str(const struct stmt *s, int column); /* texts and blobs */
int stmt_close(struct stmt *s, struct err *e) MUST_USE;
int stmt_run(struct stmt *s, struct err *e) MUST_USE; /* all rows passed over, then closed */

#endif
