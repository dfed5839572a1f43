/* utf8.h — UTF-8 one character at a time (Unicode 15, table 3-7), for this folder's own use. Pure functions. */
#ifndef JSON_UTF8_H
#define JSON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* The well-formed character at p (n >= 1): its length, good is true. Else the length of the maximal ill-formed part that
 * one U+FFFD stands for, good is false. */
size_t utf8_length(const char *p, size_t n, bool *good);

/* How many maximal ill-formed parts s has. */
uint64_t utf8_bad(struct str s);

#endif
