#include "store/cursor.h"

#include <string.h>

#include "base/enc.h"
#include "profile/window.h"

enum { CURSOR_HEAD = 11, CURSOR_MAX = CURSOR_HEAD + 2 * WINDOW_TEXT_MAX };

struct str cursor_write(enum cursor_list list, const struct cursor *c, struct arena *a)
{
	uint8_t raw[CURSOR_MAX];
	size_t n = CURSOR_HEAD;
	char *hex;

	if (c->a.n + c->b.n > CURSOR_MAX - CURSOR_HEAD)
		return str_of(NULL);
	raw[0] = (uint8_t)list;
	enc_put64(raw + 1, (uint64_t)c->t_ns);
	raw[9] = (uint8_t)c->a.n;
	raw[10] = (uint8_t)(c->a.n >> 8);
	if (c->a.n)
		memcpy(raw + n, c->a.p, c->a.n);
	n += c->a.n;
	if (c->b.n)
		memcpy(raw + n, c->b.p, c->b.n);
	n += c->b.n;
	hex = arena_get(a, 2 * n + 1);
	if (hex == NULL)
		return str_of(NULL);
	enc_hex(raw, n, hex);
	return str_make(hex, 2 * n);
}

int cursor_read(enum cursor_list list, struct str text, struct cursor *c, struct arena *a, struct err *e)
{
	uint8_t *raw;
	size_t n = text.n / 2, n_a;

	if (str_empty(text))
		return OK;
	if (text.n % 2 != 0 || n < CURSOR_HEAD || n > CURSOR_MAX)
		goto bad;
	raw = arena_get(a, n);
	if (raw == NULL)
		return err_set(e, E_LIMIT, "answer: larger than %zu bytes", a->cap);
	if (enc_unhex(text, raw, n) != OK || raw[0] != list)
		goto bad;
	n_a = (size_t)raw[9] | (size_t)raw[10] << 8;
	if (n_a > n - CURSOR_HEAD)
		goto bad;
	c->t_ns = (int64_t)enc_get64(raw + 1);
	c->a = str_make(raw + CURSOR_HEAD, n_a);
	c->b = str_make(raw + CURSOR_HEAD + n_a, n - CURSOR_HEAD - n_a);
	return OK;
bad:
	return err_set(
		e, E_USAGE, "cursor: not one that this list gave out: send back an answer's next, unchanged");
}
