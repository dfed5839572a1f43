#include "cli/explain.h"

#include <inttypes.h>

#include "base/buf.h"

enum { AROUND = 60 }; /* bytes shown on either side */

/* Sentences for whoever has the file; NULL where there is nothing to be done. */
static const char *const advice[] = {
	[TRACE_TRUNCATED] = "wait until the file is whole: writers should rename it into place, and a job that ends early "
			    "leaves half of it",
	[TRACE_BAD_CHECKSUM] = "copy the file again; when it stays so, what wrote it was cut short or the disk is bad",
	[TRACE_BAD_DATA] = "copy the file again; when it stays so, what wrote it was cut short or the disk is bad",
	[TRACE_BAD_JSON] = "look at the bytes: two writers in one file, or a tool that edited it as text, are the usual causes",
	[TRACE_BAD_NUMBER] = "look at the bytes: times are decimal microseconds, as numbers or texts",
	[TRACE_NO_TIME] = "an event needs ts; the tool that wrote these leaves it out",
	[TRACE_NO_NAME] = "an event needs a name; the tool that wrote these leaves it out",
	[TRACE_BAD_EVENT] = "the list should hold objects only; the tool that wrote this one puts other things in",
	[TRACE_BAD_VALUE] = "the profiler wrote numbers that cannot be; its newer versions may not",
	[TRACE_BAD_MESSAGE] = "copy the file again; when it stays so, what wrote it was cut short",
	[TRACE_TOO_MANY] = "profile fewer steps",
	[TRACE_EMPTY_OBJECT] = NULL,
	[TRACE_UNFINISHED] = "the window ended before these did; end it after the step, or synchronize before",
	[TRACE_OPEN_ARRAY] = NULL,
	[TRACE_TRAILING_GARBAGE] = "two files may have been put together",
	[TRACE_RAW_QUOTES] = "PyTorch up to 2.13 writes names so; other tools cannot read such a file, this one can",
	[TRACE_RAW_CONTROLS] = "PyTorch up to 2.13 writes names so; other tools cannot read such a file, this one can",
	[TRACE_BAD_ESCAPES] = "Windows paths are written so; other tools cannot read such a file, this one can",
	[TRACE_BAD_UTF8] = NULL,
	[TRACE_NON_NUMBERS] = NULL,
	[TRACE_EXTRA_COMMAS] = NULL,
	[TRACE_BYTE_ORDER_MARK] = NULL,
	[TRACE_CUT_TOKENS] = "names of more than 1 MiB are no names: what writes them?",
};
_Static_assert(COUNT(advice) == TRACE_REASONS, "say what helps against every reason, or that nothing does");

/* The text's bytes from…to, as far as the file can be read. */
static void read_around(const char *path, const struct trace_limits *limits, uint64_t from, uint64_t to, struct buf *out)
{
	struct input *in = NULL;
	struct str block;
	uint64_t at = 0;

	if (input_open_regular(&in, path, limits, NULL) < 0)
		return;
	while (at < to && input_next(in, &block, NULL) == OK && block.n > 0) {
		struct str part = str_upto(block, to - at < block.n ? (size_t)(to - at) : block.n);

		if (at + part.n > from)
			buf_str(out, str_from(part, from > at ? (size_t)(from - at) : 0));
		at += block.n;
	}
	input_close(in);
}

/* One line: a byte is a column, whatever it is. */
static void put_bytes(struct str s, FILE *out)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		fputc(c == '\n' || c == '\r' || c == '\t' ? ' ' : c >= 0x20 && c < 0x7f ? c : '?', out);
	}
	fputc('\n', out);
}

static void show_bytes(const struct summary *s, const struct trace_limits *limits, uint64_t offset, FILE *out)
{
	uint64_t from = offset > AROUND ? offset - AROUND : 0;
	struct buf b;

	buf_init(&b, 2 * AROUND);
	read_around(s->name, limits, from, offset + AROUND, &b);
	if (b.n > 0) {
		fputs("    ", out);
		put_bytes(buf_view(&b), out);
		fprintf(out, "    %*s^ byte %" PRIu64 "\n", (int)(offset - from), "", offset);
	}
	buf_fini(&b);
}

static void explain_reason(const struct summary *s, enum trace_reason reason, const struct trace_limits *limits, FILE *out)
{
	const struct trace_skip *skip = trace_report_find(&s->report, reason);

	if (skip == NULL)
		return;
	fprintf(out, "%s  %s, %" PRIu64 " time%s\n    %s\n", reason < TRACE_LOSSES ? "lost" : "odd ", skip->reason,
		skip->count, skip->count == 1 ? "" : "s", trace_reason_meaning(reason));
	if (reason <= TRACE_TRAILING_GARBAGE && !s->member && !str_eq(str_of(s->name), STR("-")))
		show_bytes(s, limits, skip->offset, out);
	if (advice[reason] != NULL)
		fprintf(out, "    what helps: %s\n", advice[reason]);
}

void explain(const struct summary *s, const struct trace_limits *limits, FILE *out)
{
	if (!s->readable)
		return;
	fprintf(out, "%s: %" PRIu64 " timed events from %" PRIu64 " bytes of text\n", s->label, s->report.events, s->report.bytes);
	if (s->report.n_skips == 0 && s->report.n_notes == 0)
		fputs("  nothing was lost, nothing was odd\n", out);
	for (int reason = 0; reason < TRACE_REASONS; reason++)
		explain_reason(s, (enum trace_reason)reason, limits, out);
}
