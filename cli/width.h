/* width.h — how many columns of a terminal a text takes: East Asian wide characters and emoji two (Unicode 15.1,
 * EastAsianWidth.txt, W and F), combining marks and characters without a shape none, all others one; bytes that are no
 * UTF-8 are one each. A sequence of emoji that some terminals draw as one is as wide as its parts, as wcwidth() has it.
 * Pure functions. */
#ifndef CLI_WIDTH_H
#define CLI_WIDTH_H

#include "base/buf.h"
#include "base/str.h"

size_t width_of(struct str s);
struct str width_upto(struct str s, size_t columns);  /* as many whole characters from the start as fit */
struct str width_ending(struct str s, size_t columns); /* the same, from the end */

/* The next character of s (which is not empty) with the marks that follow it; its columns: 0, 1 or 2. */
struct str width_next(struct str s, size_t *columns);

#endif
