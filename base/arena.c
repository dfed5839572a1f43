#include "base/arena.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { CHUNK_MIN = 4096, CHUNK_MAX = 1 << 20 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size, used;
	alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *a, size_t cap_bytes)
{
	*a = (struct arena){ .cap = cap_bytes };
}

void arena_fini(struct arena *a)
{
	if (a == NULL)
		return;
	for (struct arena_chunk *c = a->chunks, *next; c != NULL; c = next) {
		next = c->next;
		mem_free(c);
	}
	*a = (struct arena){ .cap = a->cap };
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *keep = a->chunks;

	if (keep != NULL) {
		a->chunks = keep->next;
		keep->next = NULL;
		keep->used = 0;
	}
	arena_fini(a);
	a->chunks = keep;
}

static struct arena_chunk *grow(struct arena *a, size_t bytes)
{
	size_t size = a->chunks == NULL ? CHUNK_MIN : a->chunks->size * 2;
	struct arena_chunk *c;

	if (size > CHUNK_MAX)
		size = CHUNK_MAX;
	if (size < bytes)
		size = bytes;
	c = mem_try(sizeof(*c) + size);
	if (c == NULL)
		return NULL;
	*c = (struct arena_chunk){ .next = a->chunks, .size = size };
	a->chunks = c;
	return c;
}

void *arena_get(struct arena *a, size_t bytes)
{
	size_t need = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	struct arena_chunk *c = a->chunks;
	void *p;

	if (need < bytes || a->full || need > a->cap - a->used) {
		a->full = true;
		return NULL;
	}
	if (c == NULL || c->size - c->used < need)
		c = grow(a, need);
	if (c == NULL) {
		a->full = true;
		return NULL;
	}
	p = c->bytes + c->used;
	c->used += need;
	a->used += need;
	return memset(p, 0, need);
}

void *arena_get_array(struct arena *a, size_t n, size_t each)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, each, &bytes)) {
		a->full = true;
		return NULL;
	}
	return arena_get(a, bytes);
}

struct str arena_str(struct arena *a, struct str s)
{
	char *p = arena_get(a, s.n + 1); /* the extra byte keeps a NUL behind each copy */

	if (p == NULL)
		return STR("");
	if (s.n)
		memcpy(p, s.p, s.n);
	return (struct str){ p, s.n };
}

struct str arena_text(struct arena *a, const char *s)
{
	return arena_str(a, str_of(s));
}

struct str arena_fmt(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *p;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	p = n < 0 ? NULL : arena_get(a, (size_t)n + 1);
	if (p != NULL)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return p == NULL ? STR("") : (struct str){ p, (size_t)n };
}

/* Behind a's newest chunk, which goes on being filled. */
bool arena_take(struct arena *a, struct arena *from)
{
	struct arena_chunk **end = a->chunks == NULL ? &a->chunks : &a->chunks->next, *behind = *end;

	if (from->used > a->cap - a->used)
		return false;
	*end = from->chunks;
	while (*end != NULL)
		end = &(*end)->next;
	*end = behind;
	a->used += from->used;
	a->full = a->full || from->full;
	arena_init(from, from->cap);
	return true;
}
