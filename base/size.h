/* size.h — amounts of bytes as people write them. */
#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include <stdint.h>

#include "base/code.h"
#include "base/str.h"

enum { SIZE_TEXT = 32 };

/* "512", "64KiB", "10MiB", "2GiB", "1TiB", "5kB", "5MB", "5GB", "5TB": whole numbers, never negative.
 * E_FORMAT for anything else, E_LIMIT over 2^63 - 1. */
int size_parse(struct str s, int64_t *bytes) MUST_USE;

/* Exactly, in the largest unit that divides it: "64KiB", "1000"; size_parse reads it back. */
struct str size_exact(int64_t bytes, char out[SIZE_TEXT]);

/* Three digits for people: "512 B", "64.0 KiB", "1.50 GiB". */
struct str size_human(int64_t bytes, char out[SIZE_TEXT]);

#endif
