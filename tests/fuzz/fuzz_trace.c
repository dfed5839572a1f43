/* A trace of any bytes at all: plain text, gzip or zstd. Read in blocks as they come, from mark to mark, and cut at random,
 * token by token, it must give the same rows and the same report; as a window it must be one that the daemon takes. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/rand.h"
#include "tests/fuzz/fuzz.h"
#include "trace/fold.h"
#include "trace/keyavg.h"
#include "trace/reader.h"
#include "trace/stacks.h"

enum { OUTPUT_MAX = 8 << 20, EVENTS_MAX = 100000 };
static const struct trace_limits limits = { OUTPUT_MAX, 1000, EVENTS_MAX, 0 };

/* All that comes out of the input, and what was wrong with it. */
static int unpack(struct str bytes, struct buf *out, struct trace_report *report)
{
	struct input *in = NULL;
	struct str block;
	struct err e = { 0 };
	int rc = input_open_memory(&in, bytes, "input", &limits, &e);

	if (rc < 0)
		return rc;
	do {
		rc = input_next(in, &block, &e);
		buf_str(out, block);
	} while (rc == OK && block.n > 0);
	input_report(in, report);
	input_close(in);
	return rc;
}

static struct trace *read_text(struct str text, unsigned want, struct rand_gen *cuts, struct trace_report *report)
{
	struct trace_reader *r = trace_reader_new(EVENTS_MAX);
	struct trace *t = NULL;
	struct err e = { 0 };
	int rc = OK;

	trace_reader_want(r, want);
	if (cuts != NULL)
		trace_reader_kernel(r, NULL);
	for (size_t at = 0, n; rc == OK && at < text.n; at += n) {
		n = cuts == NULL ? text.n : 1 + rand_below(cuts, 1 + rand_below(cuts, 200));
		rc = trace_reader_feed(r, str_upto(str_from(text, at), n), &e);
	}
	if (rc == OK)
		rc = trace_reader_end(r, report, &t, &e);
	must((rc == OK) == (t != NULL));
	must(rc == OK || (rc == e.code && e.text[0] != '\0'));
	trace_reader_free(r);
	return t;
}

static void say(struct trace *t, const struct trace_report *report, struct buf *out)
{
	struct keyavg_table kt;
	struct err e = { 0 };

	for (size_t i = 0; i < report->n_skips; i++)
		buf_fmt(out, "%s %" PRIu64 " %" PRIu64 "\n", report->skips[i].reason, report->skips[i].count,
			report->skips[i].offset);
	for (size_t i = 0; i < report->n_notes; i++)
		buf_fmt(out, "%s %" PRIu64 "\n", report->notes[i].reason, report->notes[i].count);
	if (t == NULL)
		return;
	must(keyavg_table_make(&kt, t, &e) == OK);
	for (size_t i = 0; i < kt.n; i++) {
		const struct keyavg_row *r = &kt.v[i];

		buf_str(out, r->name);
		buf_fmt(out, " %d %d %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " ",
			r->is_device, r->is_user_annotation, r->count, r->self_cpu_ns, r->cpu_total_ns,
			r->self_device_ns, r->device_total_ns);
		buf_str(out, r->dims);
		for (int side = 0; side < MEMORY_SIDES; side++)
			buf_fmt(out, " %" PRId64 " %" PRId64, r->bytes[side], r->self_bytes[side]);
		buf_byte(out, '\n');
	}
	for (int i = 0; i < COPY_DIRECTIONS; i++)
		buf_fmt(out, "%" PRIu64 "\n", t->copy_bytes[i]);
	must(stacks_print(t, STACKS_CPU, out, &e) == OK);
	keyavg_table_fini(&kt);
}

/* Only sums that do not fit 64 bits and the NUL in a device's id may be refused. */
static void fold_window(struct trace *t)
{
	struct window w = { .service = STR("s"), .host = STR("h") };
	struct err e = { 0 };
	struct arena a;
	int64_t first_ns;
	int rc;

	arena_init(&a, 256 << 20);
	must(fold_trace(t, &a, &w, &first_ns, &e) == OK);
	rc = window_check(&w, &e);
	must(rc == OK || strstr(e.text, "sum over all ops") != NULL || strstr(e.text, "holds a NUL") != NULL);
	window_fini(&w);
	arena_fini(&a);
}

/* Both ways, with what is wanted besides. */
static void compare_ways(struct str text, unsigned want, const struct trace_report *packed, struct rand_gen *g)
{
	struct trace_report whole = *packed, parts = *packed;
	struct buf one, two;
	struct trace *t;

	buf_init(&one, 64 << 20);
	buf_init(&two, 64 << 20);
	t = read_text(text, want, NULL, &whole);
	say(t, &whole, &one);
	trace_free(t);
	t = read_text(text, want, g, &parts);
	say(t, &parts, &two);
	trace_free(t);
	must(str_eq(buf_view(&one), buf_view(&two)));
	buf_fini(&one);
	buf_fini(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_report packed = { 0 };
	struct trace *t;
	struct buf text;
	struct rand_gen g;

	rand_seed(&g, hash64(data, size, 1));
	buf_init(&text, OUTPUT_MAX + INPUT_BLOCK);
	if (unpack(str_make(data, size), &text, &packed) == OK) {
		compare_ways(buf_view(&text), 0, &packed, &g);
		compare_ways(buf_view(&text), TRACE_SHAPES | TRACE_MEMORY | TRACE_PYTHON | TRACE_COPIES, &packed, &g);
		t = read_text(buf_view(&text), TRACE_COPIES, NULL, &packed);
		if (t != NULL)
			fold_window(t);
		trace_free(t);
	}
	buf_fini(&text);
	return 0;
}
