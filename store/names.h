/* names.h — texts and ops of the database and their ids, both ways, with what was looked up kept in memory.
 * A reader's finds, the writer's makes what is missing. Inside store/ only. Runs on: the connection's thread. */
#ifndef STORE_NAMES_H
#define STORE_NAMES_H

#include "base/str.h"
#include "profile/op.h"
#include "store/db.h"

struct names;

enum { NAMES_NONE = 0 }; /* no row has this id */

struct names *names_new(struct db *db); /* borrows db */
void names_free(struct names *n);
void names_forget(struct names *n); /* after a rollback: ids made in it are gone */

/* NAMES_NONE where there is no such text. */
int names_find(struct names *n, struct str text, uint32_t *id, struct err *e) MUST_USE;
int names_make(struct names *n, struct str text, uint32_t *id, struct err *e) MUST_USE;
int names_find_op(struct names *n, enum op_kind kind, struct str name, uint32_t *id, struct err *e) MUST_USE;
int names_make_op(struct names *n, enum op_kind kind, struct str name, uint32_t *id, struct err *e) MUST_USE;

/* E_CORRUPT where the id is not in the database. The text lives until the next call: what is kept has a ceiling, and all
 * of it goes when that is reached. */
int names_text(struct names *n, uint32_t id, struct str *text, struct err *e) MUST_USE;
int names_op(struct names *n, uint32_t id, enum op_kind *kind, struct str *name, struct err *e) MUST_USE;

#endif
