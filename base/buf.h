/* buf.h — bytes that grow, up to a ceiling given at birth, with a sticky error.
 * After the first failure (ceiling or no memory) further calls do nothing; the caller asks buf_finish once.
 * The bytes always have a NUL behind them that is not counted. Runs on: one thread at a time. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct buf {
	char *p;
	size_t n;      /* bytes in use */
	size_t room;   /* bytes allocated */
	size_t cap;    /* ceiling of n */
	int rc;	       /* OK, E_LIMIT or E_NOMEM */
};

void buf_init(struct buf *b, size_t cap_bytes);
void buf_fini(struct buf *b);
void buf_reset(struct buf *b); /* empty again, memory kept, error forgotten */

void buf_add(struct buf *b, const void *p, size_t n);
void buf_str(struct buf *b, struct str s);
void buf_text(struct buf *b, const char *s);
void buf_byte(struct buf *b, int byte);
void buf_fill(struct buf *b, int byte, size_t n);
void buf_fmt(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Room for n more bytes to write into directly; NULL after an error. Commit what was written with buf_used. */
void *buf_room(struct buf *b, size_t n);
void buf_used(struct buf *b, size_t n);

void buf_cut(struct buf *b, size_t n);	/* drops n bytes at the front */
void buf_trim(struct buf *b, size_t n); /* keeps the first n bytes */

static inline struct str buf_view(const struct buf *b)
{
	return (struct str){ b->p == NULL ? "" : b->p, b->n };
}

/* OK, or the first failure with "<what>: larger than N bytes" in e. */
int buf_finish(const struct buf *b, const char *what, struct err *e) MUST_USE;

#endif
