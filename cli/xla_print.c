#include "cli/xla_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/keyavg_print.h"
#include "cli/table.h"

static size_t upto(const struct xla_table *xt, size_t limit)
{
	return xt->n < limit ? xt->n : limit;
}

void xla_print_tsv(const struct xla_table *xt, size_t limit, struct buf *out)
{
	buf_text(out, "hlo_module\thlo_op\tcount\ttotal_ns\n");
	for (size_t i = 0; i < upto(xt, limit); i++) {
		const struct xla_row *r = &xt->v[i];

		keyavg_print_name(r->module, out);
		buf_byte(out, '\t');
		keyavg_print_name(r->op, out);
		buf_fmt(out, "\t%" PRIu64 "\t%" PRId64 "\n", r->count, r->total_ns);
	}
}

void xla_print_json(const struct xla_table *xt, size_t limit, struct json_writer *w)
{
	jw_key_array(w, "rows");
	for (size_t i = 0; i < upto(xt, limit); i++) {
		const struct xla_row *r = &xt->v[i];

		jw_object(w);
		jw_key_str(w, "hlo_module", r->module);
		jw_key_str(w, "hlo_op", r->op);
		jw_key_u64(w, "count", r->count);
		jw_key_i64(w, "total_ns", r->total_ns);
		jw_end(w);
	}
	jw_end(w);
}

static int compare_times(const void *a, const void *b)
{
	const struct xla_row *x = a, *y = b;
	int by_module = str_cmp(x->module, y->module);

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return by_module != 0 ? by_module : str_cmp(x->op, y->op);
}

static void row_cells(struct table *t, const struct xla_row *r, int64_t all_ns)
{
	table_cell(t, r->module, PAINT_NONE);
	table_cell(t, r->op, PAINT_NONE);
	table_cell_fmt(t, PAINT_NONE, "%" PRIu64, r->count);
	table_cell_fmt(t, PAINT_NONE, "%.3f", (double)r->total_ns / 1e3);
	table_cell_fmt(
		t, PAINT_NONE, "%.2f %%", all_ns == 0 ? 0 : 100.0 * (double)r->total_ns / (double)all_ns);
	table_cell_fmt(t, PAINT_NONE, "%.3f", (double)r->total_ns / (double)r->count / 1e3);
}

void xla_print_table(struct xla_table *xt, size_t limit, size_t screen, struct buf *out)
{
	static const struct table_column columns[] = { { "HLO module", TABLE_LEFT, 48 },
		{ "HLO op", TABLE_LEFT, 48 }, { "Count", TABLE_RIGHT, 0 }, { "Total us", TABLE_RIGHT, 0 },
		{ "Share", TABLE_RIGHT, 0 }, { "Average us", TABLE_RIGHT, 0 } };
	struct table *t = table_new(columns, COUNT(columns));
	int64_t all_ns = 0;

	if (xt->n > 0)
		qsort(xt->v, xt->n, sizeof(*xt->v), compare_times);
	for (size_t i = 0; i < xt->n; i++)
		all_ns = ns_add(all_ns, xt->v[i].total_ns);
	for (size_t i = 0; i < upto(xt, limit); i++)
		row_cells(t, &xt->v[i], all_ns);
	table_print_to(t, out, false, screen);
	table_free(t);
	if (upto(xt, limit) < xt->n)
		table_more(out, xt->n - upto(xt, limit), "row");
}
