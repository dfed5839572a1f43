/* cursor.h — where the next page of a list begins, as an opaque text: lower-case hex of
 *
 *	u8	which list (enum cursor_list), so that one list's is not taken for another's
 *	u64	t, little-endian
 *	u16	length of a, little-endian
 *	bytes	a, then b
 *
 * It is the key of the last item, so a page begins behind it whatever came or went meanwhile. Inside store/ only. */
#ifndef STORE_CURSOR_H
#define STORE_CURSOR_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum cursor_list {
	CURSOR_WINDOWS_OLDEST = 1,
	CURSOR_WINDOWS_NEWEST,
	CURSOR_SERVICES,
	CURSOR_HOSTS,
	CURSOR_DEPLOYS,
	CURSOR_ALERTS,
	CURSOR_CAPTURES,
};

struct cursor {
	int64_t t_ns;
	struct str a, b;
};

struct str cursor_write(enum cursor_list list, const struct cursor *c, struct arena *a);

/* The empty text leaves *c as it is (the caller's start of the list). E_USAGE for what this list has not given out. */
int cursor_read(
	enum cursor_list list, struct str text, struct cursor *c, struct arena *a, struct err *e) MUST_USE;

#endif
