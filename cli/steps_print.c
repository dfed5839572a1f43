#include "cli/steps_print.h"

#include <inttypes.h>

#include "base/clock.h"
#include "cli/keyavg_print.h"
#include "cli/table.h"
#include "cli/width.h"

static size_t upto(const struct step_table *st, size_t limit)
{
	return st->rows.n < limit ? st->rows.n : limit;
}

/* ---- for programs */
void steps_print_tsv(const struct step_table *st, size_t limit, struct buf *out)
{
	buf_text(out, "step\tstart_ns\twall_ns\tdevice_busy_ns\tgap_ns\tlaunches");
	for (int k = 1; k <= STEP_OPS; k++)
		buf_fmt(out, "\top%d\top%d_ns", k, k);
	buf_byte(out, '\n');
	for (size_t i = 0; i < upto(st, limit); i++) {
		const struct step_row *r = &st->rows.v[i];

		buf_fmt(out, "%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRIu64, r->number, r->start_ns,
			r->wall_ns, r->device_busy_ns, r->gap_ns, r->launches);
		for (size_t k = 0; k < STEP_OPS; k++) {
			buf_byte(out, '\t');
			if (k < r->n_ops)
				keyavg_print_name(r->ops[k].name, out);
			buf_fmt(out, "\t%" PRId64, k < r->n_ops ? r->ops[k].ns : 0);
		}
		buf_byte(out, '\n');
	}
}

static void json_ops(struct json_writer *w, const struct step_row *r)
{
	jw_key_array(w, "ops");
	for (size_t k = 0; k < r->n_ops; k++) {
		jw_object(w);
		jw_key_str(w, "name", r->ops[k].name);
		jw_key_u64(w, "count", r->ops[k].calls);
		jw_key_i64(w, "ns", r->ops[k].ns);
		jw_end(w);
	}
	jw_end(w);
}

void steps_print_json(const struct step_table *st, size_t limit, struct json_writer *w)
{
	jw_key_text(w, "steps_from", steps_from_name(st->from));
	jw_key_u64(w, "devices", st->devices);
	jw_key_array(w, "rows");
	for (size_t i = 0; i < upto(st, limit); i++) {
		const struct step_row *r = &st->rows.v[i];

		jw_object(w);
		jw_key_i64(w, "step", r->number);
		jw_key_i64(w, "start_ns", r->start_ns);
		jw_key_i64(w, "wall_ns", r->wall_ns);
		jw_key_i64(w, "device_busy_ns", r->device_busy_ns);
		jw_key_i64(w, "gap_ns", r->gap_ns);
		jw_key_u64(w, "launches", r->launches);
		json_ops(w, r);
		jw_end(w);
	}
	jw_end(w);
}

/* ---- for people */
enum { NAME_SHOWN = 40, OPS_SHOWN = STEP_OPS * (NAME_SHOWN + 12) };

static const struct table_column columns[] = {
	{ "step", TABLE_RIGHT, 0 },	 { "", TABLE_LEFT, 0 },	      { "wall", TABLE_RIGHT, 0 },
	{ "device busy", TABLE_RIGHT, 0 }, { "", TABLE_RIGHT, 0 },	      { "gap", TABLE_RIGHT, 0 },
	{ "launches", TABLE_RIGHT, 0 },	 { "largest ops", TABLE_LEFT, OPS_SHOWN },
};

static void time_cell(struct table *t, int64_t ns, enum table_paint paint)
{
	char text[CLOCK_TEXT];

	table_cell(t, clock_human(ns, text), paint);
}

static void device_cells(struct table *t, const struct step_table *st, const struct step_row *r)
{
	double all_ns = (double)r->wall_ns * (double)st->devices;

	if (st->devices == 0) {
		for (int i = 0; i < 3; i++)
			table_cell(t, i == 1 ? STR("") : STR("-"), PAINT_DIM);
		return;
	}
	time_cell(t, r->device_busy_ns, PAINT_NONE);
	if (all_ns > 0)
		table_cell_fmt(t, PAINT_DIM, "%.0f %%", 100.0 * (double)r->device_busy_ns / all_ns);
	else
		table_cell(t, STR(""), PAINT_NONE);
	time_cell(t, r->gap_ns, PAINT_NONE);
}

static void ops_cell(struct table *t, const struct step_row *r)
{
	struct buf b;

	buf_init(&b, 64 << 10);
	for (size_t k = 0; k < r->n_ops; k++) {
		char time[CLOCK_TEXT];
		struct str name = r->ops[k].name;
		bool cut = width_of(name) > NAME_SHOWN;

		buf_text(&b, k == 0 ? "" : ", ");
		buf_str(&b, cut ? width_upto(name, NAME_SHOWN - 1) : name);
		buf_fmt(&b, "%s ", cut ? cli_cut_sign() : "");
		buf_str(&b, clock_human(r->ops[k].ns, time));
	}
	table_cell(t, buf_view(&b), PAINT_NONE);
	buf_fini(&b);
}

static size_t longest(const struct step_table *st)
{
	size_t at = 0;

	for (size_t i = 1; i < st->rows.n; i++)
		if (st->rows.v[i].wall_ns > st->rows.v[at].wall_ns)
			at = i;
	return at;
}

static const char *const from_sentences[] = {
	[STEPS_NONE] = "The trace marks no steps: it has neither ProfilerStep#N nor a clear rhythm of an optimizer's steps or of token lookups.\n",
	[STEPS_MARKER] = "",
	[STEPS_EXECUTIONS] = "",
	[STEPS_OPTIMIZER] = "The trace has no ProfilerStep#N: a step ends where the optimizer's does.\n",
	[STEPS_ANCHOR] = "The trace has no ProfilerStep#N: a step begins with an op that runs once a step.\n",
};
_Static_assert(COUNT(from_sentences) == STEPS_FROMS, "say where steps come from");

void steps_print_table(const struct step_table *st, size_t limit, bool colour, size_t screen, struct buf *out)
{
	struct table *t = table_new(columns, COUNT(columns));
	size_t slowest = longest(st);

	for (size_t i = 0; i < upto(st, limit); i++) {
		const struct step_row *r = &st->rows.v[i];
		bool mark = i == slowest && st->rows.n > 1;

		table_cell_fmt(t, mark ? PAINT_BAD : PAINT_NONE, "%" PRId64, r->number);
		table_cell(t, mark ? STR("*") : STR(""), PAINT_BAD);
		time_cell(t, r->wall_ns, mark ? PAINT_BAD : PAINT_NONE);
		device_cells(t, st, r);
		table_cell_fmt(t, PAINT_NONE, "%" PRIu64, r->launches);
		ops_cell(t, r);
	}
	if (st->rows.n > 0)
		table_print_to(t, out, colour, screen);
	table_free(t);
	if (st->rows.n > 1)
		buf_text(out, "*  the longest\n");
	if (upto(st, limit) < st->rows.n)
		table_more(out, st->rows.n - upto(st, limit), "step");
	buf_text(out, from_sentences[st->from]);
}
