/* pbw.h — protobuf, written: fields by number into a buffer, whose error is sticky. A message inside a message is written into a
 * buffer of its own and put in as bytes. (Reading: trace/pb.h.) Pure functions. */
#ifndef BASE_PBW_H
#define BASE_PBW_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

void pbw_varint(struct buf *b, uint64_t v); /* bare: a length, or an item of a packed field */
void pbw_number(struct buf *b, unsigned field, uint64_t v); /* 0 is left out, as proto3 has it; negative int64 as uint64 */
void pbw_bytes(struct buf *b, unsigned field, struct str bytes); /* text, message, packed field */

#endif
