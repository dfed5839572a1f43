/* batches.h — batches made up from a seed, valid and as varied as the wire allows, and what tests do with them. */
#ifndef TESTS_UNIT_WIRE_BATCHES_H
#define TESTS_UNIT_WIRE_BATCHES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/rand.h"
#include "wire/wire.h"

struct wire_batch batch_make(struct arena *a, struct rand_gen *g, size_t windows, size_t ops_max);
void batch_json(const struct wire_batch *b, struct buf *out);
void batch_assert_equal(const struct wire_batch *a, const struct wire_batch *b);

#endif
