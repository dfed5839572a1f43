/* quantity.h — the values that options and configuration keys have in common: read within a range, and told in words. */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include <stdint.h>

#include "base/buf.h"
#include "base/code.h"
#include "base/str.h"

enum quantity { QUANTITY_NUMBER, QUANTITY_DURATION /* ns */, QUANTITY_SIZE /* bytes */, QUANTITIES };

/* min and max both 0: any value. E_FORMAT for what is none, E_LIMIT out of range; *out stays then. */
int quantity_parse(enum quantity q, struct str text, int64_t min, int64_t max, int64_t *out) MUST_USE;

/* "a whole number from 1 to 65535", "a duration such as 90s, 5m or 7d", "a size such as 64KiB or 2GiB of at least 1MiB" */
void quantity_words(enum quantity q, int64_t min, int64_t max, struct buf *out);

/* One of a NULL-ended list: its index, or E_FORMAT; "one of a, b, c". */
int choice_parse(const char *const *words, struct str text, int64_t *out) MUST_USE;
void choice_words(const char *const *words, struct buf *out);

#endif
