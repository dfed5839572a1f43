#include "tests/unit/trace/help_neuron.h"

#include <check.h>
#include <inttypes.h>

#include "base/mem.h"
#include "tests/unit/trace/help.h"

static void add_labels(const char *what, const struct label *v, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		buf_fmt(out, "%s%.*s=%.*s\n", what, STR_ARG(v[i].key), STR_ARG(v[i].value));
}

static void add_op(const struct op_summary *op, struct buf *out)
{
	buf_fmt(out, "op %s %.*s calls=%" PRIu64 " device=%" PRId64 "/%" PRId64 " cpu=%" PRId64 "/%" PRId64 " orphan=%" PRIu64
		"/%" PRId64, op_kind_name(op->kind), STR_ARG(op->name), op->calls, op->device_total_ns,
		op->device_self_ns, op->cpu_total_ns, op->cpu_self_ns, op->orphan_calls, op->orphan_ns);
	if (op->basis != OP_BASIS_NONE)
		buf_fmt(out, " %" PRId64 "..%" PRId64, op->min_ns, op->max_ns);
	buf_byte(out, '\n');
}

static void add_gauge(const struct gauge *g, struct buf *out)
{
	buf_fmt(out, "gauge %.*s %.9g %.*s", STR_ARG(g->name), g->value, STR_ARG(g->unit));
	for (size_t i = 0; i < g->n_labels; i++)
		buf_fmt(out, " %.*s=%.*s", STR_ARG(g->labels[i].key), STR_ARG(g->labels[i].value));
	buf_byte(out, '\n');
}

static void add_window(const struct window *w, const struct trace_report *r, struct buf *out)
{
	buf_fmt(out, "window dur_ns=%" PRId64 " steps=%" PRIu64 " %s launches=%" PRIu64 " events=%" PRIu64 "%s", w->dur_ns,
		w->steps, steps_from_name(w->steps_from), w->launches, r->events, w->has_device ? " device" : "");
	if (w->start_ns > 0)
		buf_fmt(out, " start_ns=%" PRId64, w->start_ns);
	buf_byte(out, '\n');
	for (size_t i = 0; i < w->n_ops; i++)
		add_op(&w->ops[i], out);
	for (size_t i = 0; i < w->n_gauges; i++)
		add_gauge(&w->gauges[i], out);
	add_labels("version ", w->versions, w->n_versions, out);
	add_labels("label ", w->labels, w->n_labels, out);
	for (size_t i = 0; i < r->n_skips; i++)
		buf_fmt(out, "skip %s %" PRIu64 " @%" PRIu64 "\n", r->skips[i].reason, r->skips[i].count, r->skips[i].offset);
	for (size_t i = 0; i < r->n_notes; i++)
		buf_fmt(out, "note %s %" PRIu64 "\n", r->notes[i].reason, r->notes[i].count);
}

void help_neuron_read(neuron_reader *read, struct str text, size_t piece, struct buf *out)
{
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	char *copy = mem_dup(text.p, text.n); /* so that a sanitizer sees a byte read too far */
	struct trace_report report = { 0 };
	struct input *in = NULL;
	struct window w = { 0 };
	struct err e = { 0 };
	struct arena a;
	struct tokens t;
	int rc;

	arena_init(&a, 64 << 20);
	rc = input_open_memory(&in, str_make(copy, text.n), "text", &limits, &e);
	ck_assert_msg(rc == OK, "%s", e.text);
	tokens_init(&t, in, &report, &e);
	t.piece = piece == 0 ? t.piece : piece;
	rc = read(&a, &t, &w, &e);
	buf_reset(out);
	if (rc == OK) {
		w.service = w.host = STR("x");
		ck_assert_msg(window_check(&w, &e) == OK, "%s", e.text);
		add_window(&w, &report, out);
	} else {
		buf_fmt(out, "error %s\n", e.text);
	}
	tokens_fini(&t);
	input_close(in);
	window_fini(&w);
	arena_fini(&a);
	mem_free(copy);
}

static bool has_line(struct str all, struct str line)
{
	while (all.p != NULL)
		if (str_eq(str_split(&all, '\n'), line))
			return true;
	return false;
}

void help_neuron_has(neuron_reader *read, const char *text, const char *line)
{
	struct buf out;

	buf_init(&out, 8 << 20);
	help_neuron_read(read, str_of(text), 0, &out);
	ck_assert_msg(has_line(buf_view(&out), str_of(line)), "missing: %s\nin:\n%s", line, out.p);
	buf_fini(&out);
}

void help_neuron_has_not(neuron_reader *read, const char *text, const char *part)
{
	struct buf out;

	buf_init(&out, 8 << 20);
	help_neuron_read(read, str_of(text), 0, &out);
	ck_assert_msg(!str_contains(buf_view(&out), str_of(part)), "found: %s\nin:\n%s", part, out.p);
	buf_fini(&out);
}

void help_neuron_seams(neuron_reader *read, struct str text)
{
	struct buf whole, parts;

	buf_init(&whole, 8 << 20);
	buf_init(&parts, 8 << 20);
	help_neuron_read(read, text, 0, &whole);
	for (size_t piece = 1; piece <= 80; piece++) {
		help_neuron_read(read, text, piece, &parts);
		ck_assert_msg(str_eq(buf_view(&whole), buf_view(&parts)), "pieces of %zu:\n%s\nat once:\n%s", piece, parts.p,
			whole.p);
	}
	buf_fini(&whole);
	buf_fini(&parts);
}

static size_t count_ops(struct str all)
{
	size_t n = 0;

	while (all.p != NULL)
		n += str_has_prefix(str_split(&all, '\n'), STR("op "));
	return n;
}

void help_neuron_cuts(neuron_reader *read, struct str text)
{
	struct buf out;
	size_t whole;

	buf_init(&out, 8 << 20);
	text = str_trim(text);
	help_neuron_read(read, text, 0, &out);
	whole = count_ops(buf_view(&out));
	for (size_t i = 0; i < 64; i++) {
		size_t n = text.n * i / 64;
		bool error, said;

		help_neuron_read(read, str_upto(text, n), 0, &out);
		error = str_has_prefix(buf_view(&out), STR("error "));
		said = str_contains(buf_view(&out), STR("skip truncated 1 "));
		ck_assert_msg(error || said || text.p[n] == '\n', "cut at %zu of %zu: neither an error nor truncated:\n%s", n,
			text.n, out.p);
		ck_assert_uint_le(count_ops(buf_view(&out)), whole);
	}
	buf_fini(&out);
}

static void read_without_memory(neuron_reader *read, struct str text, unsigned nth, struct buf *out, bool *over)
{
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct trace_report report = { 0 };
	struct input *in = NULL;
	struct window w = { 0 };
	struct err e = { 0 };
	struct arena a;
	struct tokens t;
	int rc;

	buf_reset(out);
	arena_init(&a, 64 << 20);
	ck_assert_int_eq(input_open_memory(&in, text, "text", &limits, &e), OK);
	tokens_init(&t, in, &report, &e);
	mem_fail_at(nth);
	rc = read(&a, &t, &w, &e);
	*over = help_fails_still();
	mem_fail_at(0);
	if (rc == OK)
		add_window(&w, &report, out);
	else
		buf_fmt(out, "error %s\n", e.text);
	ck_assert_msg(rc == OK || e.text[0] != '\0', "allocation %u: an error without a sentence", nth);
	tokens_fini(&t);
	input_close(in);
	window_fini(&w);
	arena_fini(&a);
}

void help_neuron_memory(neuron_reader *read, struct str text)
{
	struct buf whole, out;
	bool over = false;

	buf_init(&whole, 8 << 20);
	buf_init(&out, 8 << 20);
	help_neuron_read(read, text, 0, &whole);
	for (unsigned nth = 1; !over && nth < 5000; nth++) {
		buf_room(&out, 1 << 20);
		read_without_memory(read, text, nth, &out, &over);
		ck_assert_msg(str_has_prefix(buf_view(&out), STR("error ")) || str_contains(buf_view(&out), STR("\nskip ")) ||
				      str_eq(buf_view(&out), buf_view(&whole)),
			"allocation %u:\n%s\ninstead of\n%s", nth, out.p, whole.p);
	}
	ck_assert(over);
	buf_fini(&whole);
	buf_fini(&out);
}
