/* arena.h — memory that is freed all at once: one arena a request, a trace file, an answer.
 * A bump allocator over chunks with a ceiling given at birth. Once the ceiling is hit (or the system has no more) the
 * arena is full for good: arena_get returns NULL then and arena_full tells why. Runs on: one thread at a time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/code.h"
#include "base/str.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks; /* newest first */
	size_t used;		    /* bytes handed out, alignment included */
	size_t cap;
	bool full;
};

void arena_init(struct arena *a, size_t cap_bytes);
void arena_fini(struct arena *a);
void arena_reset(struct arena *a); /* keeps one chunk for the next round */

void *arena_get(struct arena *a, size_t bytes);		     /* zeroed, aligned for any type; NULL when full */
void *arena_get_array(struct arena *a, size_t n, size_t each); /* the same, checked product */

/* Copies into the arena. When full they return the empty slice; the caller asks arena_full once at the end. */
struct str arena_str(struct arena *a, struct str s);
struct str arena_text(struct arena *a, const char *s);
struct str arena_fmt(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* All that from has handed out belongs to a from now on, and from is empty. False, and nothing is changed, where it is more than a may
 * have. */
bool arena_take(struct arena *a, struct arena *from) MUST_USE;

static inline bool arena_full(const struct arena *a)
{
	return a->full;
}

#endif
