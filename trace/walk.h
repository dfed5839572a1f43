/* walk.h — the leaves of a JSON value, each with the keys that lead to it: for documents that are small and deep.
 *
 *	{"a":{"b":[{"c":5}]}}	one leaf, 5, with the path  a b [] c
 *
 * Runs on: one thread at a time. */
#ifndef TRACE_WALK_H
#define TRACE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "trace/tokens.h"

enum { WALK_DEPTH_MAX = 24, WALK_KEY_BYTES_MAX = 64 * 1024 }; /* what is deeper, or behind a longer key, is passed over */

struct walk {
	struct buf text; /* the keys one behind the other, unescaped */
	size_t end[WALK_DEPTH_MAX];
	bool list[WALK_DEPTH_MAX];
	unsigned depth; /* keys that lead to where the walk is */
	struct buf value;
};

struct walk_visitor {
	/* value: unescaped text, or the number as it stands; true and false are "1" and "0". Null is no leaf. */
	void (*leaf)(void *arg, const struct walk *w, struct str value, uint64_t offset);
	/* An object or list is over; w has the keys that lead to it. NULL is fine. */
	void (*end)(void *arg, const struct walk *w);
	void *arg;
};

struct str walk_key(const struct walk *w, unsigned i); /* "[]" inside a list */
/* pattern: keys with '/' in between; '*' is any one key but "[]". */
bool walk_matches(const struct walk *w, const char *pattern);

/* The rest of the object or list whose JSON_OBJECT or JSON_ARRAY was just read (list: which of them). False where it
 * ended early or damaged, which has been counted unless it is the input's end. */
bool walk_inside(struct tokens *t, bool list, const struct walk_visitor *visitor);

#endif
