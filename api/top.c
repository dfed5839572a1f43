/* top.c — the table of ops. All windows that match are merged, then the rows are ordered and cut to a page; the cursor is the
 * place in that order, so a page may shift by what arrives meanwhile. */
#include "api/call.h"
#include "api/row.h"
#include "profile/sum.h"

#include <stdlib.h>

struct top_row {
	const struct op_summary *op;
	int64_t time_ns;
};

struct top {
	const struct merged *all;
	int64_t tier_ns, total_ns;
	struct top_row *v;
	size_t n;
};

static int by_time(const void *pa, const void *pb)
{
	const struct top_row *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return op_summary_cmp(a->op, b->op);
}

static bool is_wanted(const struct query *q, const struct op_summary *op)
{
	if (!str_empty(q->op) && !str_eq(q->op, op->name))
		return false;
	return q->has_kind ? op->kind == q->kind : !row_kind_is_extra(op->kind);
}

static void order_rows(struct api_call *c, struct top *t)
{
	t->v = arena_get_array(&c->arena, t->all->n_ops + 1, sizeof(*t->v));
	for (size_t i = 0; i < t->all->n_ops && t->v != NULL; i++) {
		const struct op_summary *op = &t->all->ops[i];

		t->total_ns = sum_ns(t->total_ns, row_own_time_ns(op, t->all->has_device));
		if (is_wanted(&c->p.q, op))
			t->v[t->n++] = (struct top_row){ op, row_time_ns(op, t->all->has_device) };
	}
	if (t->n > 1)
		qsort(t->v, t->n, sizeof(*t->v), by_time);
}

static void write_row(struct api_call *c, const struct top *t, const struct top_row *row)
{
	const struct op_summary *op = row->op;
	bool shared = op->kind == OP_STEP || op->kind == OP_GAP || op->kind == OP_ENGINE;

	jw_object(&c->w);
	row_write_names(&c->w, op);
	call_write_ratio(c, "calls_per_step", (double)op->calls, (double)t->all->steps);
	row_write_sums(&c->w, op);
	jw_key_i64(&c->w, "time_ns", row->time_ns);
	call_write_mean_ns(c, "time_per_step_ns", row->time_ns, t->all->steps);
	call_write_ratio(c, "share", (double)row->time_ns, shared ? 0 : (double)t->total_ns);
	row_write_per_call(&c->w, op);
	jw_end(&c->w);
}

static void write_totals(struct api_call *c, const struct top *t)
{
	jw_key_object(&c->w, "totals");
	jw_key_u64(&c->w, "windows", t->all->windows);
	jw_key_u64(&c->w, "steps", t->all->steps);
	jw_key_bool(&c->w, "has_device", t->all->has_device);
	jw_key_i64(&c->w, "time_ns", t->total_ns);
	jw_key_i64(&c->w, "first_ns", t->all->first_ns);
	jw_key_i64(&c->w, "last_ns", t->all->last_ns);
	jw_key_i64(&c->w, "tier_ns", t->tier_ns);
	jw_end(&c->w);
}

static void write_page(struct api_call *c, const struct top *t, size_t from)
{
	size_t to = from < t->n && t->n - from > c->p.q.limit ? from + c->p.q.limit : t->n;

	call_list_begin(c);
	for (size_t i = from; i < to; i++)
		write_row(c, t, &t->v[i]);
	call_list_end(c, to < t->n ? arena_fmt(&c->arena, "%zu", to) : STR(""));
	write_totals(c, t);
	call_end(c);
}

void top_get(struct api_call *c)
{
	struct profile_merge *m = NULL;
	struct query q = c->p.q;
	struct top t = { 0 };
	struct err e = { 0 };
	uint64_t from = 0;
	int rc;

	if (!str_empty(q.cursor) && str_to_u64(q.cursor, &from) != OK) {
		call_problem(c, PROBLEM_PARAMETER, "cursor", "cursor: is not one that top gave");
		return;
	}
	/* all ops, whatever was asked for: a share needs the whole */
	q.op = q.cursor = STR("");
	q.has_kind = false;
	rc = store_merged(c->api->set.store, &q, &m, &t.tier_ns, &e);
	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	t.all = profile_merge_get(m);
	order_rows(c, &t);
	write_page(c, &t, from);
	profile_merge_free(m);
}
