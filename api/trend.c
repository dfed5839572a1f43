/* trend.c — one op over time, with the deploys that began in the range. */
#include "api/call.h"
#include "api/row.h"
#include "api/sides.h"

enum { TREND_POINTS_MAX = 10000 };

/* Ends that were not named become those of what is kept, so that "from the beginning" is a moment. A window dated far
 * ahead of the clock does not stretch the range to years: it is shown to those who name an end behind it. */
static int narrow(struct api_call *c, struct query *q, struct err *e)
{
	struct query all = { .service = q->service };
	int64_t first_ns = 0, last_ns = 0, until_ns = c->api->set.wall_ns() + SIDES_AHEAD_NS;
	bool any = false;
	int rc = store_life(c->api->set.store, &all, &any, &first_ns, &last_ns, e);

	if (rc != OK || !any)
		return rc;
	if (q->from_ns < first_ns && !param_given(&c->p, PARAM_FROM))
		q->from_ns = first_ns;
	if (q->to_ns > last_ns && !param_given(&c->p, PARAM_TO))
		q->to_ns = last_ns + 1;
	if (q->to_ns > until_ns && q->from_ns < until_ns && !param_given(&c->p, PARAM_TO))
		q->to_ns = until_ns;
	if (q->to_ns < q->from_ns) /* nothing came since */
		q->to_ns = q->from_ns;
	return OK;
}

/* A point a nanosecond would be a great many. */
static void bound_points(struct query *q)
{
	int64_t least = (q->to_ns - q->from_ns) / TREND_POINTS_MAX + 1;

	if (q->resolution_ns > 0 && q->resolution_ns < least)
		q->resolution_ns = least;
}

static void write_point(struct api_call *c, const struct trend_point *p)
{
	bool device = p->op.basis == OP_BASIS_DEVICE || (p->op.basis == OP_BASIS_NONE && p->op.device_self_ns > 0);
	int64_t time_ns = row_time_ns(&p->op, device);

	jw_object(&c->w);
	jw_key_i64(&c->w, "t_ns", p->t_ns);
	jw_key_u64(&c->w, "windows", p->windows);
	jw_key_u64(&c->w, "steps", p->steps);
	jw_key_u64(&c->w, "calls", p->op.calls);
	call_write_ratio(c, "calls_per_step", (double)p->op.calls, (double)p->steps);
	call_write_mean_ns(c, "mean_ns", time_ns, p->op.calls);
	row_write_per_call(&c->w, &p->op);
	jw_key_i64(&c->w, "time_ns", time_ns);
	call_write_mean_ns(c, "time_per_step_ns", time_ns, p->steps);
	jw_end(&c->w);
}

/* Oldest first; the store lists them newest first. */
static int write_deploys(struct api_call *c, const struct query *q, struct err *e)
{
	struct query all = { .service = q->service, .to_ns = INT64_MAX, .limit = QUERY_LIMIT_MAX, .newest_first = true };
	struct deploy_list list = { 0 };
	int rc = store_deploys(c->api->set.store, &all, &c->arena, &list, e);

	if (rc != OK)
		return rc;
	jw_key_array(&c->w, "deploys");
	for (size_t i = list.n; i-- > 0;) {
		const struct deploy *d = &list.v[i];

		if (d->first_ns < q->from_ns || d->first_ns >= q->to_ns)
			continue;
		jw_object(&c->w);
		jw_key_str(&c->w, "service", d->service);
		jw_key_str(&c->w, "deploy", d->deploy);
		jw_key_i64(&c->w, "first_ns", d->first_ns);
		jw_end(&c->w);
	}
	jw_end(&c->w);
	return OK;
}

static int write_trend(struct api_call *c, const struct query *q, const struct trend *t, struct err *e)
{
	int rc;

	jw_object(&c->w);
	jw_key_str(&c->w, "op", q->op);
	jw_key_text(&c->w, "kind", q->has_kind ? op_kind_name(q->kind) : NULL);
	jw_key_i64(&c->w, "from_ns", q->from_ns);
	jw_key_i64(&c->w, "to_ns", q->to_ns);
	jw_key_i64(&c->w, "resolution_ns", t->resolution_ns);
	jw_key_i64(&c->w, "tier_ns", t->tier_ns);
	jw_key_array(&c->w, "items");
	for (size_t i = 0; i < t->n; i++)
		write_point(c, &t->v[i]);
	jw_end(&c->w);
	jw_key_null(&c->w, "next");
	rc = write_deploys(c, q, e);
	call_end(c);
	return rc;
}

void trend_get(struct api_call *c)
{
	struct query q = c->p.q;
	struct trend t = { 0 };
	struct err e = { 0 };
	int rc;

	if (str_empty(q.op)) {
		call_problem(c, PROBLEM_PARAMETER, "op", "op: is missing; name an op as /api/v1/top shows it");
		return;
	}
	q.newest_first = false;
	rc = narrow(c, &q, &e);
	if (rc == OK) {
		bound_points(&q);
		rc = store_trend(c->api->set.store, &q, &c->arena, &t, &e);
	}
	if (rc == OK)
		rc = write_trend(c, &q, &t, &e);
	if (rc != OK)
		call_failed(c, rc, &e);
	trend_fini(&t);
}
