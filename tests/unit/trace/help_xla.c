#include "tests/unit/trace/help_xla.h"

#include <inttypes.h>

#include "base/enc.h"
#include "base/mem.h"
#include "tests/unit/trace/help.h"
#include "trace/xla.h"
#include "trace/xplane.h"

static void varint(struct buf *b, uint64_t v)
{
	uint8_t bytes[ENC_VARINT_MAX];

	buf_add(b, bytes, enc_put_varint(bytes, v));
}

void help_pb_number(struct buf *b, unsigned field, uint64_t v)
{
	varint(b, (uint64_t)field << 3);
	varint(b, v);
}

void help_pb_bytes(struct buf *b, unsigned field, struct str bytes)
{
	varint(b, (uint64_t)field << 3 | 2);
	varint(b, bytes.n);
	buf_str(b, bytes);
}

void help_pb_text(struct buf *b, unsigned field, const char *text)
{
	help_pb_bytes(b, field, str_of(text));
}

void help_xplane_meta(struct buf *plane, unsigned map, uint64_t id, const char *name)
{
	struct buf meta, entry;

	buf_init(&meta, 1 << 20);
	buf_init(&entry, 1 << 20);
	help_pb_number(&meta, 1, id);
	help_pb_text(&meta, 2, name);
	help_pb_number(&entry, 1, id);
	help_pb_bytes(&entry, 2, buf_view(&meta));
	help_pb_bytes(plane, map, buf_view(&entry));
	buf_fini(&meta);
	buf_fini(&entry);
}

void help_xplane_stat(struct buf *stats, uint64_t id, unsigned field, uint64_t value)
{
	struct buf stat;

	buf_init(&stat, 1 << 20);
	help_pb_number(&stat, 1, id);
	help_pb_number(&stat, field, value);
	help_pb_bytes(stats, 4, buf_view(&stat));
	buf_fini(&stat);
}

void help_xplane_event(
	struct buf *line, uint64_t meta, uint64_t offset_ps, uint64_t dur_ps, const struct buf *stats)
{
	struct buf event;

	buf_init(&event, 1 << 20);
	help_pb_number(&event, 1, meta);
	help_pb_number(&event, 2, offset_ps);
	help_pb_number(&event, 3, dur_ps);
	if (stats != NULL)
		buf_str(&event, buf_view(stats));
	help_pb_bytes(line, 4, buf_view(&event));
	buf_fini(&event);
}

/* ---- the job */

enum { M_STEP = 1, M_CALL, M_FRAME, M_DOT, M_DOT_TWIN, M_ADD };
enum { S_STEP = 1, S_OP, S_MODULE, S_PROGRAM, S_RUN, S_NAME_DOT, S_NAME_ADD, S_NAME_MODULE };

static void add_hlo(
	struct buf *line, uint64_t meta, uint64_t name, uint64_t run, uint64_t offset_ps, uint64_t dur_ps)
{
	struct buf stats;

	buf_init(&stats, 1 << 20);
	help_xplane_stat(&stats, S_OP, 7, name);
	help_xplane_stat(&stats, S_MODULE, 7, S_NAME_MODULE);
	help_xplane_stat(&stats, S_PROGRAM, 4, 9);
	help_xplane_stat(&stats, S_RUN, 4, run);
	help_xplane_event(line, meta, offset_ps, dur_ps, &stats);
	buf_fini(&stats);
}

static void begin_line(struct buf *line, uint64_t id, const char *name)
{
	buf_reset(line);
	help_pb_number(line, 1, id);
	help_pb_text(line, 2, name);
	help_pb_number(line, 3, 5000);
}

static void add_lines(struct buf *plane)
{
	struct buf line, stats;

	buf_init(&line, 1 << 20);
	buf_init(&stats, 1 << 20);
	begin_line(&line, 7, "python");
	for (uint64_t step = 0; step < 2; step++) {
		buf_reset(&stats);
		help_xplane_stat(&stats, S_STEP, 4, step + 6182);
		help_xplane_event(&line, M_STEP, step * 20000000, 10000000, &stats);
		help_xplane_event(&line, M_CALL, step * 20000000 + 1000400, 2000300, NULL);
	}
	help_xplane_event(&line, M_FRAME, 0, 99000000, NULL);
	help_pb_bytes(plane, 3, buf_view(&line));
	begin_line(&line, 8, "pool");
	for (uint64_t run = 0; run < 2; run++) {
		add_hlo(&line, M_DOT, S_NAME_DOT, 100 + run, run * 20000000 + 4000000, 2000499);
		help_xplane_event(&line, M_DOT_TWIN, run * 20000000 + 6000499, 1, NULL);
		add_hlo(&line, M_ADD, S_NAME_ADD, 100 + run, run * 20000000 + 7000000, 1000500);
	}
	help_pb_bytes(plane, 3, buf_view(&line));
	buf_fini(&line);
	buf_fini(&stats);
}

static void add_metadata(struct buf *plane)
{
	static const struct {
		unsigned map;
		uint64_t id;
		const char *name;
	} metas[] = {
		{ 4, M_ADD, "add" },
		{ 4, M_DOT, "dot.1.clone" },
		{ 4, M_DOT_TWIN, "end: dot.1.clone" },
		{ 4, M_STEP, "train" },
		{ 4, M_CALL, "Execute" },
		{ 4, M_FRAME, "$train.py:12 step" },
		{ 5, S_RUN, "run_id" },
		{ 5, S_STEP, "step_num" },
		{ 5, S_OP, "hlo_op" },
		{ 5, S_MODULE, "hlo_module" },
		{ 5, S_PROGRAM, "program_id" },
		{ 5, S_NAME_DOT, "dot.1.clone" },
		{ 5, S_NAME_ADD, "add" },
		{ 5, S_NAME_MODULE, "jit_step" },
	};

	for (size_t i = 0; i < COUNT(metas); i++)
		help_xplane_meta(plane, metas[i].map, metas[i].id, metas[i].name);
}

void help_xspace(struct buf *out, bool metadata_first)
{
	struct buf plane;

	buf_init(&plane, 1 << 20);
	help_pb_text(&plane, 2, "/host:CPU");
	if (metadata_first)
		add_metadata(&plane);
	add_lines(&plane);
	if (!metadata_first)
		add_metadata(&plane);
	help_pb_bytes(out, 1, buf_view(&plane));
	help_pb_text(out, 4, "host-1");
	buf_fini(&plane);
}

/* Hosts end where they end, rounded down like their start: 3000700 - 1000400 ps is 3000 - 1000 ns. HLO durations are
 * rounded to the nearest: 2000499 ps, 1000500 ps. */
const char help_xspace_said[] = "Execute 0 0 2 4000 4000 0 0\n"
				"add 1 0 2 0 0 2002 2002\n"
				"dot.1.clone 1 0 2 0 0 4000 4000\n"
				"train 0 1 2 16000 20000 0 0\n"
				"module jit_step 2 6002\n"
				"hlo jit_step add 2 2002\n"
				"hlo jit_step dot.1.clone 2 4000\n"
				"step 6182\nstep 6183\n";

struct trace *help_xplane_read(struct str bytes, size_t block, struct trace_report *report)
{
	struct xplane_reader *r = xplane_reader_new(1000000, report);
	struct trace *t = NULL;
	struct err e = { 0 };
	int rc;

	*report = (struct trace_report){ .bytes = bytes.n };
	for (size_t at = 0, n; at < bytes.n; at += n) {
		/* A copy of the exact size, so that a sanitizer sees a byte read too far. */
		char *copy;

		n = block == 0 || block > bytes.n - at ? bytes.n - at : block;
		copy = mem_dup(bytes.p + at, n);
		xplane_reader_feed(r, str_make(copy, n));
		mem_free(copy);
	}
	rc = xplane_reader_end(r, &t, &e);
	ck_assert((rc == OK) == (t != NULL));
	ck_assert(rc == OK || (rc == E_FORMAT && e.text[0] != '\0'));
	xplane_reader_free(r);
	return t;
}

void help_xla_say(struct trace *t, struct buf *out)
{
	struct xla_table xt;
	struct err e = { 0 };

	help_table(t, out);
	for (size_t i = 0; i < xla_modules(t); i++)
		if (xla_module(t, i)->executions > 0)
			buf_fmt(out, "module %.*s %" PRIu64 " %" PRId64 "\n", STR_ARG(xla_module(t, i)->name),
			xla_module(t, i)->executions, xla_module(t, i)->device_ns);
	ck_assert_int_eq(xla_table_make(&xt, t, &e), OK);
	for (size_t i = 0; i < xt.n; i++)
		buf_fmt(out, "hlo %.*s %.*s %" PRIu64 " %" PRId64 "\n", STR_ARG(xt.v[i].module),
			STR_ARG(xt.v[i].op), xt.v[i].count, xt.v[i].total_ns);
	xla_table_fini(&xt);
	vec_each(step, &t->steps)
		buf_fmt(out, "step %" PRId64 "\n", step->number);
}
