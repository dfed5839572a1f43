/* pack.h — zstd around a batch. Pure. */
#ifndef WIRE_PACK_H
#define WIRE_PACK_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* The largest window a sender may ask the reader to keep: 2^23 bytes, what zstd's levels up to 19 use. */
enum { PACK_WINDOW_LOG = 23, PACK_LEVEL = 3 };

/* Appends a zstd frame of plain, with a checksum of its content. */
int pack_zstd(struct str plain, struct buf *out, struct err *e) MUST_USE;

/* Appends what is in the frame (or frames, one behind the other) and stops at out's ceiling: E_LIMIT there and for a
 * larger window, E_FORMAT for damage and for a frame that ends early. */
int pack_open(struct str packed, struct buf *out, struct err *e) MUST_USE;

#endif
