/* pb.h — protobuf, streaming: fields come out as their bytes come in, whatever the messages are. Knows numbers and
 * lengths only; what a field means is the caller's.
 *
 *	message := field*		field := tag payload		tag := varint, number << 3 | type
 *	type 0	varint			type 1	8 bytes, little endian	type 5	4 bytes, little endian
 *	type 2	varint length, so many bytes: a text, or a message
 *
 * Blocks may be cut at any byte. Memory is constant: one text, and a number a level of nesting. Groups (types 3, 4), which
 * nobody has written since 2008, are errors like the types that do not exist.
 *
 *	pb_feed(p, block);
 *	while ((tok = pb_next(p, &f)) != PB_MORE) ...
 *
 * Runs on: one thread at a time. */
#ifndef TRACE_PB_H
#define TRACE_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { PB_DEPTH_MAX = 16, PB_TEXT_MAX = 64 * 1024 };

enum pb_token {
	PB_MORE,   /* the block is used up */
	PB_NUMBER, /* a varint or a fixed number, in value */
	PB_BYTES,  /* value bytes follow: pb_enter or pb_text, else they are passed over */
	PB_TEXT,   /* what pb_text asked for */
	PB_END,	   /* of the message that was entered last */
	PB_ERROR,  /* no protobuf from offset on: pb_recover, or nothing more comes */
};

struct pb_field {
	uint64_t number; /* of the field; of PB_TEXT the one of its PB_BYTES */
	uint64_t value;
	uint64_t offset; /* of the tag in all that was fed */
	struct str text; /* valid until the next pb_next */
	bool cut;	 /* the text was longer than PB_TEXT_MAX: this is its start */
};

struct pb;

struct pb *pb_new(void);
void pb_free(struct pb *p);

/* The block is borrowed until PB_MORE. */
void pb_feed(struct pb *p, struct str block);
enum pb_token pb_next(struct pb *p, struct pb_field *f);

/* Right after PB_BYTES: its fields come next, then PB_END. False past PB_DEPTH_MAX: it is passed over. */
bool pb_enter(struct pb *p);
/* Right after PB_BYTES: PB_TEXT comes next. */
void pb_text(struct pb *p);

/* After PB_ERROR: drops the rest of the innermost message, whose PB_END comes next. False where that is the outermost:
 * nothing tells where it goes on. */
bool pb_recover(struct pb *p);

uint64_t pb_offset(const struct pb *p);	 /* of the next byte */
bool pb_is_complete(const struct pb *p); /* may end here: between two fields of the outermost message */

#endif
