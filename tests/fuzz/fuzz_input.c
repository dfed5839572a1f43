/* Any bytes as a file: plain, gzip, zstd. What comes out, and what is said of it, is the same block by block, with looks
 * ahead, and with a thread that decompresses; the ceilings hold; the hash is that of the bytes as they came. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/must.h"
#include "tests/fuzz/fuzz.h"
#include "trace/input.h"

enum { OUTPUT_MAX = 8 << 20 };
static const struct trace_limits limits = { OUTPUT_MAX, 1000, 1000, 0 };

enum way { PLAINLY, PEEKING, AHEAD, WAYS };

static void say_skips(const struct trace_skip *v, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		buf_fmt(out, "\n%s %" PRIu64 " %" PRIu64, v[i].reason, v[i].count, v[i].offset);
}

static void check_hash(struct input *in, struct str bytes)
{
	uint8_t got[INPUT_HASH], want[INPUT_HASH];
	struct hash128 *h = hash128_new();

	hash128_add(h, bytes.p, bytes.n);
	hash128_get(h, want);
	hash128_free(h);
	must(input_hash(in, got, NULL) == OK && memcmp(got, want, INPUT_HASH) == 0);
}

static int next(struct input *in, enum way way, struct str *block, struct err *e)
{
	struct str peeked = STR("");
	int rc = OK;

	if (way == PEEKING) {
		rc = input_peek(in, &peeked, e);
		if (rc < 0)
			return rc;
	}
	rc = input_next(in, block, e);
	must(way != PEEKING || (rc == OK && str_eq(peeked, *block)));
	return rc;
}

static void read_all(struct str bytes, enum way way, struct buf *out)
{
	struct trace_report report = { 0 };
	struct input *in = NULL;
	struct str block = STR("");
	struct err e = { 0 };
	int rc = input_open_memory(&in, bytes, "input", &limits, &e);

	if (rc == OK && way == AHEAD)
		input_ahead(in);
	while (rc == OK && (rc = next(in, way, &block, &e)) == OK && block.n > 0) {
		must(block.n <= INPUT_BLOCK);
		buf_str(out, block);
	}
	must(out->n <= OUTPUT_MAX + INPUT_BLOCK);
	must(rc == OK || (rc == e.code && e.text[0] != '\0'));
	buf_fmt(out, "\n%d", rc);
	if (rc == OK) {
		input_report(in, &report);
		say_skips(report.skips, report.n_skips, out);
		say_skips(report.notes, report.n_notes, out);
		check_hash(in, bytes);
	}
	input_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf first, other;

	buf_init(&first, 64 << 20);
	buf_init(&other, 64 << 20);
	read_all(str_make(data, size), PLAINLY, &first);
	for (int way = PEEKING; way < WAYS; way++) {
		buf_reset(&other);
		read_all(str_make(data, size), (enum way)way, &other);
		must(str_eq(buf_view(&first), buf_view(&other)));
	}
	buf_fini(&first);
	buf_fini(&other);
	return 0;
}
