/* record.h — objects in JSON lists, member by member of a table: the rows of profiles.
 *
 *	static const struct record_field fields[] = { RECORD_FIELD("dur", DUR), RECORD_FIELD("duration", DUR), … };
 *	while ((step = record_next(t, depth, fields, COUNT(fields), &rec)) == RECORD_READ) …
 *
 * Texts are unescaped, numbers stay decimal text, whatever their JSON type is: profiles often write numbers as strings.
 * true and false are "1" and "0", null is absent. Nested values are passed over, but for fields that are lists, whose
 * texts and numbers are joined by RECORD_JOIN, and those whose members count as the record's own ("args": {…}).
 * A table with RECORD_LABELLED takes objects under labels for records, too: {"label": {…}, "label": {…}} in the list is two.
 * Members that are not in the table cost nothing.
 * Runs on: one thread at a time. */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "trace/tokens.h"

enum { RECORD_SLOTS = 32, RECORD_BYTES_MAX = 8 << 20 };
#define RECORD_JOIN '\037'

enum record_kind { RECORD_ONE, RECORD_LIST, RECORD_INSIDE, RECORD_TEXTS, RECORD_LABELS };
struct record_field {
	struct str key;
	uint8_t slot;
	uint8_t kind;
};
#define RECORD_FIELD(text, where) { STR(text), (where), RECORD_ONE }
/* The last of a table: a text in the list is a record that has nothing but that slot. */
#define RECORD_TEXT(where) { STR("\0"), (where), RECORD_TEXTS }
/* The last of a table: an object of a list that has objects instead of members, and these have that slot, is as many records. */
#define RECORD_LABELLED(where) { STR("\0"), (where), RECORD_LABELS }

struct record {
	struct str v[RECORD_SLOTS]; /* p is NULL where the object has no such member */
	uint64_t offset;	    /* of its brace */
	bool some, labelled;	    /* it has a member; it stands under a label */
	struct arena scratch;	    /* the texts, until the next one */
};

void record_init(struct record *rec);
void record_fini(struct record *rec);

enum record_step {
	RECORD_READ, /* one is in rec */
	RECORD_END,  /* the array's end */
	RECORD_STOP, /* the input's end inside the array, or damage that cannot be passed by */
};
/* The next object of the array that was opened at the given depth (tokens_depth right after its JSON_ARRAY). Damage costs
 * the objects it is in; what is no object, or larger than RECORD_BYTES_MAX, is passed over: all counted in the report. */
enum record_step record_next(struct tokens *t, unsigned array_depth, const struct record_field *fields, size_t n,
	struct record *rec);

/* After JSON_OBJECT: its members, whatever the table says of labels. False where the input ended or JSON did, which the caller counts. */
bool record_members(struct tokens *t, const struct record_field *fields, size_t n, struct record *rec);

static inline bool record_has(const struct record *rec, unsigned slot)
{
	return rec->v[slot].p != NULL;
}

/* The member as text, empty where it is not there. */
static inline struct str record_str(const struct record *rec, unsigned slot)
{
	return record_has(rec, slot) ? rec->v[slot] : str_make("", 0);
}

/* OK, E_NOT_FOUND (or nothing but blanks), E_FORMAT, E_LIMIT. Decimals are cut off. */
int record_i64(const struct record *rec, unsigned slot, int64_t *out) MUST_USE;
int record_double(const struct record *rec, unsigned slot, double *out) MUST_USE;

#endif
