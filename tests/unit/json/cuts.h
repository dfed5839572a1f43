/* cuts.h — a document is read in many ways, whole and cut, and must give the same tokens: the seam test of the reader. */
#ifndef TESTS_UNIT_JSON_CUTS_H
#define TESTS_UNIT_JSON_CUTS_H

#include "tests/support/json_tokens.h"

/* Byte by byte, and in two parts at each offset from first up to last; why tells the first difference. */
bool cuts_alike(struct str text, size_t first, size_t last, struct buf *why);

/* For struct json_read: two parts, cut at *(size_t *)arg; skipping what stands under keys of odd length. */
size_t cut_once(size_t offset, void *arg);
bool cuts_skip_odd_keys(enum json_token after, struct str raw, void *arg);

#endif
