/* str.h — text as a slice: a pointer and a length, borrowed from whoever owns the bytes.
 * No NUL is promised behind it; system calls that want one get a copy (str_copy_to, arena_str). */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/code.h"

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
/* For printf: "%.*s" */
#define STR_ARG(s) (int)((s).n > INT32_MAX ? INT32_MAX : (s).n), (s).p

static inline struct str str_of(const char *text) /* NULL gives the empty slice */
{
	return text == NULL ? (struct str){ "", 0 } : (struct str){ text, strlen(text) };
}

static inline struct str str_make(const void *p, size_t n)
{
	return (struct str){ (const char *)p, n };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_empty(struct str s)
{
	return s.n == 0;
}

int str_cmp(struct str a, struct str b); /* bytewise, like memcmp; the shorter is the smaller */
bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);
bool str_contains(struct str s, struct str needle);
size_t str_find(struct str s, struct str needle); /* its offset, or s.n where it is not */
size_t str_find_byte(struct str s, char c);	  /* its offset, or s.n where it is not */
struct str str_from(struct str s, size_t offset); /* the rest; empty past the end */
struct str str_upto(struct str s, size_t n);	  /* the first n bytes, or all there are */
struct str str_trim(struct str s);		  /* without ASCII white space at both ends */
bool str_drop_prefix(struct str *s, struct str prefix);
bool str_drop_suffix(struct str *s, struct str suffix);

/* Splits at the first sep: the part before is returned, *rest becomes what is behind it. The last part leaves
 * *rest with a NULL pointer, so "while (rest.p != NULL)" goes over all parts. */
struct str str_split(struct str *rest, char sep);
/* The last line with something in it, trimmed: what a program said when it failed. */
struct str str_last_line(struct str text);

/* Shell-like pattern: '*' any run of bytes, '?' one byte; the whole of s must match. No backtracking blow-up. */
bool str_glob(struct str pattern, struct str s);

/* Whole decimal numbers; an optional sign for i64. E_FORMAT for anything else, E_LIMIT when out of range. */
int str_to_i64(struct str s, int64_t *out) MUST_USE;
int str_to_u64(struct str s, uint64_t *out) MUST_USE;
int str_to_double(struct str s, double *out) MUST_USE; /* independent of the locale; finite only */

/* UTF-8: a character is a byte that does not continue one; what is no UTF-8 counts as a character a byte or so. */
size_t str_chars(struct str s);			       /* how many */
struct str str_upto_chars(struct str s, size_t n_chars); /* the first of them */

/* For a terminal or a log: control characters (C0, DEL, and C1 as UTF-8) become '?', so that a name out of a trace, a folder or an
 * answer can neither move the cursor nor end a line. Returns how many bytes out got, never more than there were; out
 * may be p. */
size_t str_tame(const char *p, size_t n, char *out);

/* Copies with a NUL, cut to cap - 1 bytes; returns false when something was cut or holds a NUL. */
bool str_copy_to(struct str s, char *dst, size_t cap);

#endif
