#include "tests/fuzz/neuron.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/rand.h"
#include "trace/probe.h"

enum { OUTPUT_MAX = 8 << 20, TEXT_MAX = 64 << 20 };
static const struct trace_limits limits = { OUTPUT_MAX, 1000, 100000, 0 };

static void say_window(const struct window *w, struct buf *out)
{
	for (size_t i = 0; i < w->n_ops; i++) {
		const struct op_summary *op = &w->ops[i];

		buf_str(out, op->name);
		buf_fmt(out, " %d %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", (int)op->kind, op->calls,
			op->device_total_ns, op->device_self_ns, op->cpu_total_ns, op->cpu_self_ns);
	}
	for (size_t i = 0; i < w->n_gauges; i++) {
		buf_str(out, w->gauges[i].name);
		buf_fmt(out, " %zu %.17g\n", w->gauges[i].n_labels, w->gauges[i].value);
	}
	buf_fmt(out, "%" PRIu64 " %" PRId64 " %" PRId64 " %zu %zu\n", w->steps, w->start_ns, w->dur_ns, w->n_labels,
		w->n_versions);
}

static void say_report(const struct trace_report *r, struct buf *out)
{
	for (size_t i = 0; i < r->n_skips; i++)
		buf_fmt(out, "%s %" PRIu64 " %" PRIu64 "\n", r->skips[i].reason, r->skips[i].count, r->skips[i].offset);
	for (size_t i = 0; i < r->n_notes; i++)
		buf_fmt(out, "%s %" PRIu64 "\n", r->notes[i].reason, r->notes[i].count);
}

/* Only sums that do not fit 64 bits may be refused. */
static void check_window(struct window *w)
{
	struct err e = { 0 };

	w->service = STR("s");
	w->host = w->host.n > 0 ? w->host : STR("h");
	if (window_check(w, &e) == OK || strstr(e.text, "sum over all ops") != NULL)
		return;
	fprintf(stderr, "%s\n", e.text);
	must(false);
}

static void read_as(neuron_reader *read, struct str bytes, size_t piece, struct buf *out)
{
	struct trace_report report = { 0 };
	struct input *in = NULL;
	struct window w = { 0 };
	struct err e = { 0 };
	struct arena a;
	struct tokens t;
	int rc;

	if (input_open_memory(&in, bytes, "input", &limits, &e) < 0)
		return;
	arena_init(&a, TEXT_MAX);
	tokens_init(&t, in, &report, &e);
	t.piece = piece;
	rc = read(&a, &t, &w, &e);
	must(rc == OK || (rc == e.code && e.text[0] != '\0'));
	if (rc == OK) {
		say_window(&w, out);
		check_window(&w);
	}
	say_report(&report, out);
	tokens_fini(&t);
	input_close(in);
	window_fini(&w);
	arena_fini(&a);
}

int neuron_fuzz(neuron_reader *read, const uint8_t *data, size_t size)
{
	struct str bytes = str_make(data, size);
	struct buf one, two;
	struct rand_gen g;

	rand_seed(&g, hash64(data, size, 1));
	buf_init(&one, TEXT_MAX);
	buf_init(&two, TEXT_MAX);
	must(probe_kind(bytes, STR("x")) < PROBE_KINDS);
	read_as(read, bytes, INPUT_BLOCK, &one);
	read_as(read, bytes, 1 + rand_below(&g, 1 + rand_below(&g, 200)), &two);
	must(str_eq(buf_view(&one), buf_view(&two)));
	buf_fini(&one);
	buf_fini(&two);
	return 0;
}
