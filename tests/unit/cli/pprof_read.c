#include "tests/unit/cli/pprof_read.h"

#include <check.h>
#include <inttypes.h>

#include "base/enc.h"
#include "trace/input.h"

void pprof_unpack(struct str packed, struct buf *out)
{
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct trace_report report = { 0 };
	struct input *in = NULL;
	struct err e = { 0 };
	struct str block;

	ck_assert_int_eq(input_open_memory(&in, packed, "profile", &limits, &e), OK);
	do {
		ck_assert_int_eq(input_next(in, &block, &e), OK);
		buf_str(out, block);
	} while (block.n > 0);
	input_report(in, &report);
	ck_assert_uint_eq(report.n_skips + report.n_notes, 0);
	ck_assert_uint_lt(report.raw_bytes, 1 << 20);
	input_close(in);
}

static uint64_t varint(struct str *s)
{
	uint64_t v = 0;
	size_t n = enc_get_varint((const uint8_t *)s->p, s->n, &v);

	ck_assert_uint_gt(n, 0);
	*s = str_from(*s, n);
	return v;
}

/* depth: levels that are messages. */
static void tell(struct str message, unsigned depth, struct buf *out)
{
	while (message.n > 0) {
		uint64_t tag = varint(&message), v = varint(&message);

		if ((tag & 7) == 0) {
			buf_fmt(out, "%" PRIu64 "=%" PRId64 " ", tag >> 3, (int64_t)v);
			continue;
		}
		ck_assert_uint_eq(tag & 7, 2);
		ck_assert_uint_le(v, message.n);
		buf_fmt(out, "%" PRIu64 "{", tag >> 3);
		if (tag >> 3 == 6 && depth == 2) {
			buf_str(out, str_upto(message, v));
		} else if (depth == 0 || (depth == 1 && (tag >> 3) < 3)) { /* packed numbers */
			for (struct str packed = str_upto(message, v); packed.n > 0;)
				buf_fmt(out, "%" PRId64 " ", (int64_t)varint(&packed));
		} else {
			tell(str_upto(message, v), depth - 1, out);
		}
		buf_text(out, "}\n");
		message = str_from(message, v);
	}
}

void pprof_tell(struct str message, struct buf *out)
{
	tell(message, 2, out);
}
