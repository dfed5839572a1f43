/* form.h — what the two forms of a batch, protobuf and JSON, have in common inside wire/. Pure. */
#ifndef WIRE_FORM_H
#define WIRE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

/* The columns of Ops that are one 64-bit number an op: where it stands in struct op_summary, in the proto's order. */
struct form_column {
	const char *name;
	size_t at;
	bool is_signed;
};
enum { FORM_COLUMNS = 10 };
extern const struct form_column form_columns[FORM_COLUMNS];

/* Fills an empty histogram from the buckets as they travel (Ops.hist_delta and hist_count of one op). What it takes is
 * subtracted from *budget_bytes: E_LIMIT where that is not enough, E_FORMAT for buckets that cannot be. */
int form_hist(struct hist *h, const uint32_t *delta, const uint64_t *count, size_t n, size_t *budget_bytes,
	struct err *e) MUST_USE;

/* Puts the ops in order and asks window_check, whose E_FORMAT becomes E_UNSUPPORTED here: the bytes were well-formed. */
int form_finish_window(struct window *w, struct err *e) MUST_USE;

int form_check_agent(const struct wire_batch *b, struct err *e) MUST_USE;

int form_read_protobuf(struct arena *a, struct str bytes, const struct wire_limits *limits, struct wire_batch *out,
	struct err *e) MUST_USE;
int form_read_json(struct arena *a, struct str text, const struct wire_limits *limits, struct wire_batch *out,
	struct err *e) MUST_USE;

#endif
