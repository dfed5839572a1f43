/* text.h — string escapes and UTF-8. Pure functions. */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* A JSON string's raw text (without quotes) to what it means: escapes resolved, surrogate pairs joined, each maximal
 * ill-formed part of UTF-8 and each lone surrogate becomes U+FFFD (Unicode 15, section 3.9), a back-slash that starts
 * no escape stands for itself. Appends to out. */
void json_unescape(struct str raw, struct buf *out);
struct str json_unescape_to(struct arena *a, struct str raw);

/* The length of the escape that starts with the back-slash at p: 2 or 6, 0 where it is none (RFC 8259, section 7). */
size_t json_escape_length(const char *p, size_t n);

bool json_utf8_valid(struct str s);
void json_add_code_point(struct buf *out, uint32_t cp); /* as UTF-8; cp is one: at most 0x10ffff, no surrogate */

/* Appends s as the inside of a JSON string: quote, back-slash and control characters escaped (DEL and
 * C1, which a terminal may obey, and U+2028 and U+2029, at which readers of lines part a text, too), ill-formed UTF-8 as
 * U+FFFD. */
void json_escape(struct str s, struct buf *out);

#endif
