#include "cli/neuron_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/keyavg_print.h"
#include "cli/table.h"
#include "trace/neuron_device.h"

/* ---- rows */

static bool has_kind_in_name(enum op_kind kind)
{
	return kind == OP_ENGINE || kind == OP_HLO || kind == OP_GAP;
}

static void add_row(struct keyavg_table *out, const struct op_summary *op, struct arena *a)
{
	struct keyavg_row *r = &out->v[out->n++];

	*r = (struct keyavg_row){ .name = op->name, .is_device = op_is_device(op),
		.is_user_annotation = op->kind == OP_ANNOTATION, .count = op->calls, .self_cpu_ns = op->cpu_self_ns,
		.cpu_total_ns = op->cpu_total_ns, .self_device_ns = op->device_self_ns,
		.device_total_ns = op->device_total_ns };
	if (has_kind_in_name(op->kind))
		r->name = arena_fmt(a, "%s %.*s", op_kind_name(op->kind), STR_ARG(op->name));
	out->self_cpu_ns = ns_add(out->self_cpu_ns, op->cpu_self_ns);
	out->self_device_ns = ns_add(out->self_device_ns, r->is_device ? op->orphan_ns : op->device_self_ns);
	if (op->kind == OP_STEP)
		out->steps += op->calls;
}

void neuron_rows_make(struct keyavg_table *out, const struct window *w, struct arena *a)
{
	*out = (struct keyavg_table){ 0 };
	out->v = mem_get_array(w->n_ops, sizeof(*out->v));
	for (size_t i = 0; i < w->n_ops; i++)
		add_row(out, &w->ops[i], a);
	keyavg_sort(out, KEYAVG_NAME);
	if (out->steps == 0)
		out->steps = w->steps;
}

/* ---- engines */

struct engine_row {
	struct str engine, opcode;
	const struct op_summary *op;
};

static bool next_engine(const struct window *w, size_t *i, struct engine_row *row)
{
	while (*i < w->n_ops) {
		row->op = &w->ops[(*i)++];
		if (neuron_device_split(row->op, &row->engine, &row->opcode))
			return true;
	}
	return false;
}

bool neuron_has_engines(const struct window *w)
{
	bool engine = false;

	for (size_t i = 0; i < w->n_ops; i++)
		engine |= w->ops[i].kind == OP_ENGINE;
	return engine;
}

void neuron_print_engines_tsv(const struct window *w, size_t limit, struct buf *out)
{
	struct engine_row row;

	buf_text(out, "engine\topcode\tcount\ttotal_ns\n");
	for (size_t i = 0, n = 0; n < limit && next_engine(w, &i, &row); n++) {
		keyavg_print_name(row.engine, out);
		buf_byte(out, '\t');
		keyavg_print_name(row.opcode, out);
		buf_fmt(out, "\t%" PRIu64 "\t%" PRId64 "\n", row.op->calls, row.op->device_total_ns);
	}
}

void neuron_print_engines_json(const struct window *w, size_t limit, struct json_writer *w_out)
{
	struct engine_row row;

	jw_key_array(w_out, "rows");
	for (size_t i = 0, n = 0; n < limit && next_engine(w, &i, &row); n++) {
		jw_object(w_out);
		jw_key_str(w_out, "engine", row.engine);
		jw_key_str(w_out, "opcode", row.opcode);
		jw_key_u64(w_out, "count", row.op->calls);
		jw_key_i64(w_out, "total_ns", row.op->device_total_ns);
		jw_end(w_out);
	}
	jw_end(w_out);
}

static void engine_cells(struct table *t, const struct engine_row *row, int64_t all_ns)
{
	const struct op_summary *op = row->op;

	table_cell(t, row->engine, PAINT_NONE);
	table_cell(t, row->opcode, PAINT_NONE);
	table_cell_fmt(t, PAINT_NONE, "%" PRIu64, op->calls);
	table_cell_fmt(t, PAINT_NONE, "%.3f", (double)op->device_total_ns / 1e3);
	table_cell_fmt(t, PAINT_NONE, "%.2f %%", all_ns == 0 ? 0 : 100.0 * (double)op->device_total_ns / (double)all_ns);
	table_cell_fmt(t, PAINT_NONE, "%.3f", (double)op->device_total_ns / (double)op->calls / 1e3);
}

void neuron_print_engines_table(const struct window *w, size_t limit, size_t screen, struct buf *out)
{
	static const struct table_column columns[] = { { "Engine", TABLE_LEFT, 24 }, { "Opcode", TABLE_LEFT, 48 },
		{ "Count", TABLE_RIGHT, 0 }, { "Total us", TABLE_RIGHT, 0 }, { "Share", TABLE_RIGHT, 0 },
		{ "Average us", TABLE_RIGHT, 0 } };
	struct table *t = table_new(columns, COUNT(columns));
	struct engine_row row;
	int64_t all_ns = 0;
	size_t rows = 0;

	for (size_t i = 0; next_engine(w, &i, &row); rows++)
		all_ns = ns_add(all_ns, row.op->device_total_ns);
	for (size_t i = 0, n = 0; n < limit && next_engine(w, &i, &row); n++)
		engine_cells(t, &row, all_ns);
	table_print_to(t, out, false, screen);
	table_free(t);
	if (limit < rows)
		table_more(out, rows - limit, "row");
}

/* ---- gauges */

static void add_labels(const struct gauge *g, struct buf *text)
{
	for (size_t i = 0; i < g->n_labels; i++)
		buf_fmt(text, "%s%.*s=%.*s", i == 0 ? "" : " ", STR_ARG(g->labels[i].key), STR_ARG(g->labels[i].value));
}

static void gauge_cells(struct table *t, const struct gauge *g)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	add_labels(g, &text);
	table_cell(t, g->name, PAINT_NONE);
	table_cell(t, buf_view(&text), PAINT_NONE);
	table_cell_fmt(t, PAINT_NONE, "%.9g", g->value);
	table_cell(t, str_eq(g->unit, STR("1")) ? STR("") : g->unit, PAINT_NONE);
	buf_fini(&text);
}

void neuron_print_gauges(const struct window *w, size_t screen, struct buf *out)
{
	static const struct table_column columns[] = { { "Gauge", TABLE_LEFT, 48 }, { "Of", TABLE_LEFT, 60 },
		{ "Value", TABLE_RIGHT, 0 }, { "Unit", TABLE_LEFT, 0 } };
	struct table *t;

	for (size_t i = 0; i < w->n_versions; i++)
		buf_fmt(out, "%s%.*s %.*s", i == 0 ? "" : ", ", STR_ARG(w->versions[i].key), STR_ARG(w->versions[i].value));
	buf_text(out, w->n_versions > 0 ? "\n" : "");
	if (w->n_gauges == 0)
		return;
	t = table_new(columns, COUNT(columns));
	for (size_t i = 0; i < w->n_gauges; i++)
		gauge_cells(t, &w->gauges[i]);
	table_print_to(t, out, false, screen);
	table_free(t);
}

static void labels_json(const char *key, const struct label *labels, size_t n, struct json_writer *w_out)
{
	jw_key_object(w_out, key);
	for (size_t i = 0; i < n; i++) {
		jw_key_of(w_out, labels[i].key);
		jw_str(w_out, labels[i].value);
	}
	jw_end(w_out);
}

void neuron_print_gauges_json(const struct window *w, struct json_writer *w_out)
{
	labels_json("versions", w->versions, w->n_versions, w_out);
	labels_json("labels", w->labels, w->n_labels, w_out);
	jw_key_array(w_out, "gauges");
	for (size_t i = 0; i < w->n_gauges; i++) {
		const struct gauge *g = &w->gauges[i];

		jw_object(w_out);
		jw_key_str(w_out, "name", g->name);
		jw_key_str(w_out, "unit", g->unit);
		jw_key_double(w_out, "value", g->value);
		labels_json("labels", g->labels, g->n_labels, w_out);
		jw_end(w_out);
	}
	jw_end(w_out);
}
