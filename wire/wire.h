/* wire.h — a batch of windows ⇄ bytes: WindowBatch of wire/trainspotter.proto, zstd around it, and its JSON form.
 * Limits are checked before memory is taken: compressed size, decompressed size while it streams, counts of repeated
 * fields by a scan of the bytes, then unpacking with an allocator that has a ceiling. Pure; any thread. */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "profile/window.h"

struct wire_limits {
	size_t encoded_bytes;	/* as received */
	size_t decoded_bytes;	/* after zstd; and what unpacking may take; and what all histograms may take */
	size_t windows;		/* a batch */
};
#define WIRE_LIMITS_DEFAULT ((struct wire_limits){ 4u << 20, 64u << 20, 1000 })

struct wire_batch {
	struct str agent_id, agent_version; /* in the arena */
	struct window *windows;
	size_t n_windows;
};
void wire_batch_fini(struct wire_batch *b); /* frees the histograms */

/* zstd-compressed protobuf. Appends to out. */
int wire_encode(const struct wire_batch *b, struct buf *out, struct err *e) MUST_USE;

enum wire_form { WIRE_PROTOBUF, WIRE_JSON };

/* zstd: the bytes are a zstd frame around the form. Every window has passed window_check. E_FORMAT for what cannot be read,
 * E_UNSUPPORTED for a window that can be read and says what cannot be (window_check), E_LIMIT. */
int wire_decode(struct arena *a, struct str bytes, enum wire_form form, bool zstd, const struct wire_limits *limits,
	struct wire_batch *out, struct err *e) MUST_USE;

#endif
