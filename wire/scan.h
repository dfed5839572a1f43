/* scan.h — a look over the bytes of a WindowBatch before anything is unpacked: is it well-formed protobuf, are the
 * repeated fields few enough, are the texts UTF-8. Takes no memory at all, so a hostile batch costs one pass over it.
 * Pure. */
#ifndef WIRE_SCAN_H
#define WIRE_SCAN_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum { SCAN_STRINGS_MAX = 1 << 20 };

/* E_FORMAT, E_LIMIT with the field's path: "windows[3]: ops: calls: 100001 values, at most 100000". */
int scan_batch(struct str bytes, size_t windows_max, struct err *e) MUST_USE;

#endif
