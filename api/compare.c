/* compare.c — two deploys of a service: the verdict, and the ops of either side by the size of their change. */
#include "api/call.h"
#include "api/row.h"
#include "api/sides.h"
#include "profile/sum.h"

#include <math.h>
#include <stdlib.h>

struct compare_row {
	const struct op_summary *before, *after; /* NULL where a side does not have it */
	double change_ns;			 /* per step */
};

struct compare {
	struct deploy_side before, after;
	const struct merged *all_before, *all_after;
	enum judge_where where;
	bool has_device; /* on both sides: device times are compared then, else CPU times */
	struct compare_row *rows;
	size_t n_rows;
};

/* What a side's numbers are divided by: its steps, or its windows where no steps are known. */
static double per(const struct merged *m)
{
	return m->steps > 0 ? (double)m->steps : m->windows > 0 ? (double)m->windows : 1;
}

static double time_per_step(const struct compare *k, const struct merged *m, const struct op_summary *op)
{
	return op == NULL ? 0 : (double)row_time_ns(op, k->has_device) / per(m);
}

static void add_row(struct compare *k, const struct op_summary *before, const struct op_summary *after)
{
	struct compare_row *r = &k->rows[k->n_rows];

	if (row_kind_is_extra(before != NULL ? before->kind : after->kind))
		return;
	r->before = before;
	r->after = after;
	r->change_ns = time_per_step(k, k->all_after, after) - time_per_step(k, k->all_before, before);
	k->n_rows++;
}

/* Both sides are ordered alike: a merge of two lists. */
static void pair_rows(struct api_call *c, struct compare *k)
{
	const struct merged *b = k->all_before, *a = k->all_after;
	size_t i = 0, j = 0;

	k->rows = arena_get_array(&c->arena, b->n_ops + a->n_ops + 1, sizeof(*k->rows));
	if (k->rows == NULL)
		return;
	while (i < b->n_ops || j < a->n_ops) {
		int cmp = i == b->n_ops ? 1 : j == a->n_ops ? -1 : op_summary_cmp(&b->ops[i], &a->ops[j]);

		add_row(k, cmp <= 0 ? &b->ops[i] : NULL, cmp >= 0 ? &a->ops[j] : NULL);
		i += cmp <= 0;
		j += cmp >= 0;
	}
}

static int by_change(const void *pa, const void *pb)
{
	const struct compare_row *a = pa, *b = pb;
	double da = fabs(a->change_ns), db = fabs(b->change_ns);

	if (da < db || db < da)
		return da > db ? -1 : 1;
	return op_summary_cmp(a->before != NULL ? a->before : a->after, b->before != NULL ? b->before : b->after);
}

/* ---- writing */

static void write_side(struct api_call *c, const char *key, const struct deploy_side *s)
{
	jw_key_object(&c->w, key);
	jw_key_str(&c->w, "deploy", s->deploy);
	jw_key_u64(&c->w, "windows", s->windows);
	jw_key_u64(&c->w, "hosts", s->n_hosts);
	jw_key_u64(&c->w, "steps", s->steps);
	jw_key_i64(&c->w, "first_ns", s->first_ns);
	jw_key_i64(&c->w, "last_ns", s->last_ns);
	jw_end(&c->w);
}

static void write_p50(struct json_writer *w, const char *key, const struct op_summary *op)
{
	if (op == NULL || op->basis == OP_BASIS_NONE || hist_empty(&op->hist))
		jw_key_null(w, key);
	else
		jw_key_i64(w, key, sum_round_ns(hist_quantile(&op->hist, 0.5)));
}

static void write_row(struct api_call *c, const struct compare *k, const struct compare_row *r)
{
	const struct op_summary *any = r->before != NULL ? r->before : r->after;
	struct json_writer *w = &c->w;

	jw_object(w);
	jw_key_text(w, "kind", op_kind_name(any->kind));
	jw_key_str(w, "op", any->name);
	jw_key_object(w, "calls_per_step");
	jw_key_double(w, "before", r->before == NULL ? 0 : (double)r->before->calls / per(k->all_before));
	jw_key_double(w, "after", r->after == NULL ? 0 : (double)r->after->calls / per(k->all_after));
	jw_end(w);
	jw_key_object(w, "time_per_step_ns");
	jw_key_i64(w, "before", sum_round_ns(time_per_step(k, k->all_before, r->before)));
	jw_key_i64(w, "after", sum_round_ns(time_per_step(k, k->all_after, r->after)));
	jw_end(w);
	jw_key_object(w, "p50_ns");
	write_p50(w, "before", r->before);
	write_p50(w, "after", r->after);
	jw_end(w);
	jw_key_i64(w, "change_ns_per_step", sum_round_ns(r->change_ns));
	jw_end(w);
}

static void write_compare(struct api_call *c, const struct compare *k, const struct verdict *v)
{
	size_t n = k->n_rows < c->p.q.limit ? k->n_rows : c->p.q.limit;

	jw_object(&c->w);
	jw_key_str(&c->w, "service", c->p.q.service);
	write_side(c, "before", &k->before);
	write_side(c, "after", &k->after);
	jw_key_bool(&c->w, "regression", verdict_is_regression(v));
	verdict_write_members(&c->w, v);
	jw_key_array(&c->w, "rows");
	for (size_t i = 0; i < n; i++)
		write_row(c, k, &k->rows[i]);
	jw_end(&c->w);
	call_end(c);
}

/* A deploy that was named although all of it is ahead of the clock is compared all the same. */
static int64_t side_until(const struct deploy *d, int64_t until_ns)
{
	return d->first_ns < until_ns ? until_ns : INT64_MAX;
}

static int load(struct api_call *c, struct compare *k, struct err *e)
{
	const struct fusion_table *table = api_fusion(c->api);
	struct store *st = c->api->set.store;
	struct deploy before = { 0 }, after = { 0 };
	int64_t until_ns = c->api->set.wall_ns() + SIDES_AHEAD_NS;
	int rc = deploys_newest(st, c->p.q.service, c->p.before, c->p.after, until_ns, &c->arena, &before, &after, e);

	if (rc == OK)
		rc = deploy_side_load(st, table, c->p.q.service, before.deploy, side_until(&before, until_ns), true, &c->arena, &k->before, e);
	if (rc == OK)
		rc = deploy_side_load(st, table, c->p.q.service, after.deploy, side_until(&after, until_ns), true, &c->arena, &k->after, e);
	if (rc != OK)
		return rc;
	k->where = deploy_where(&after);
	k->all_before = profile_merge_get(k->before.merge);
	k->all_after = profile_merge_get(k->after.merge);
	k->has_device = k->all_before->has_device && k->all_after->has_device;
	pair_rows(c, k);
	if (k->n_rows > 1)
		qsort(k->rows, k->n_rows, sizeof(*k->rows), by_change);
	return OK;
}

void compare_get(struct api_call *c)
{
	struct compare k = { 0 };
	struct verdict v = { 0 };
	struct err e = { 0 };
	int rc;

	if (str_empty(c->p.q.service)) {
		call_problem(c, PROBLEM_PARAMETER, "service", "service: is missing; /api/v1/services lists them");
		return;
	}
	rc = load(c, &k, &e);
	if (rc == OK)
		rc = judge(k.before.side, k.after.side, k.where, &c->arena, &v, &e);
	if (rc == OK)
		write_compare(c, &k, &v);
	else
		call_failed(c, rc, &e);
	deploy_side_fini(&k.before);
	deploy_side_fini(&k.after);
}
