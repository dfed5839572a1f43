#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

void buf_init(struct buf *b, size_t cap_bytes)
{
	*b = (struct buf){ .cap = cap_bytes };
}

void buf_fini(struct buf *b)
{
	if (b == NULL)
		return;
	mem_free(b->p);
	*b = (struct buf){ .cap = b->cap };
}

void buf_reset(struct buf *b)
{
	b->n = 0;
	b->rc = OK;
	if (b->p != NULL)
		b->p[0] = '\0';
}

static bool grow(struct buf *b, size_t n)
{
	size_t want, room = b->room ? b->room : 64;
	char *p;

	if (b->rc != OK)
		return false;
	if (n > b->cap - b->n) {
		b->rc = E_LIMIT;
		return false;
	}
	want = b->n + n + 1;
	if (want <= b->room)
		return true;
	while (room < want)
		room *= 2;
	p = mem_try_resize(b->p, room);
	if (p == NULL) {
		b->rc = E_NOMEM;
		return false;
	}
	b->p = p;
	b->room = room;
	return true;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (!grow(b, n))
		return;
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_str(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.n);
}

void buf_text(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_byte(struct buf *b, int byte)
{
	char c = (char)byte;

	buf_add(b, &c, 1);
}

void buf_fill(struct buf *b, int byte, size_t n)
{
	if (!grow(b, n))
		return;
	memset(b->p + b->n, byte, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	must(n >= 0);
	if (grow(b, (size_t)n)) {
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
	va_end(ap);
}

void *buf_room(struct buf *b, size_t n)
{
	return grow(b, n) ? b->p + b->n : NULL;
}

void buf_used(struct buf *b, size_t n)
{
	must(b->rc == OK && n <= b->room - b->n - 1);
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_cut(struct buf *b, size_t n)
{
	must(n <= b->n);
	b->n -= n;
	if (b->p != NULL)
		memmove(b->p, b->p + n, b->n + 1);
}

void buf_trim(struct buf *b, size_t n)
{
	must(n <= b->n);
	b->n = n;
	if (b->p != NULL)
		b->p[n] = '\0';
}

int buf_finish(const struct buf *b, const char *what, struct err *e)
{
	if (b->rc == E_LIMIT)
		return err_set(e, E_LIMIT, "%s: larger than %zu bytes", what, b->cap);
	if (b->rc != OK)
		return err_set(e, b->rc, "%s: no memory for %zu bytes", what, b->n);
	return OK;
}
