/* The rules, in order; the first that holds makes the verdict.
 *
 *   1. fusion_lost, fusion_changed	detect/fusion.h: structure finds it, cost says which of the two it is
 *   2. graph_breaks			compiled regions run 1.5 times as often, out of more frames, with little new work
 *   3. cpu_fallback			ops run on the host that did not, and copies rise
 *   4. host_gap			the device waits longer between launches, and works no longer
 *   5. op_slower, step_slower		detect/slower.h; in a service ops only, once the deploy has settled
 *
 * cpu_fallback comes first of the two: while an op runs on the host the device waits, so the gap would hide its own cause.
 */
#include "detect/judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/must.h"
#include "detect/fusion.h"
#include "detect/optable.h"
#include "detect/sentence.h"
#include "detect/side.h"
#include "detect/slower.h"

/* ---- the rules' numbers */
static const double BREAKS_RATIO_MIN = 1.5, BREAKS_WORK_SHARE = 0.25, BREAKS_WORK = 2;
static const double GAP_RATIO_MIN = 1.5, GAP_MORE_NS = 5000, GAP_DEVICE_UP_MAX = 0.03;
static const double STEP_UP_MIN = 0.03, FALLBACK_STEP_UP_MIN = 0.05, FALLBACK_SHARE_MIN = 0.01;
static const double CALLS_EPS = 1e-6;

enum { FINDINGS_MAX = 16, REPLACED_MAX = 64 };

struct court {
	const struct optable *t;
	enum judge_where where;
	struct arena *arena;
	struct verdict *v;
};

static bool step_slowed(const struct optable *t)
{
	return optable_step_up(t) >= STEP_UP_MIN;
}

/* Adds a finding and fills in what all have in common. NULL when there are enough, or no memory. */
static struct finding *add_finding(struct court *c, enum verdict_kind kind, struct op_change op, double net_ns)
{
	struct finding *f = &c->v->findings[c->v->n_findings];

	if (c->v->n_findings == FINDINGS_MAX)
		return NULL;
	c->v->n_findings++;
	*f = (struct finding){ .kind = kind, .op = op, .net_ns_per_step = net_ns, .why = str_of(verdict_name(kind)) };
	f->op.op = arena_str(c->arena, op.op);
	f->share = c->t->before.step_ns > 0 ? net_ns / c->t->before.step_ns : 0;
	return f;
}

static struct op_change change_of(struct arena *a, const struct optable_row *r)
{
	return (struct op_change){
		.op = r->on_cpu ? arena_fmt(a, "%.*s@cpu", STR_ARG(r->shown)) : arena_str(a, r->shown),
		.calls_per_step = { r->before.calls, r->after.calls },
		.time_per_step_ns = { r->before.time_ns, r->after.time_ns },
	};
}

/* ---- lost fusion */

static void list_replaced(struct court *c, struct finding *f, const struct fusion_candidate *k)
{
	size_t n = k->n_gained < REPLACED_MAX ? k->n_gained : REPLACED_MAX;

	f->replaced_by = arena_get_array(c->arena, n, sizeof(*f->replaced_by));
	for (size_t i = 0; f->replaced_by != NULL && i < n; i++)
		f->replaced_by[f->n_replaced_by++] = change_of(c->arena, k->gained[i]);
}

/* Two rules can find the same op; the one with the larger net came first. */
static bool has_finding_of(const struct verdict *v, struct str op)
{
	for (size_t i = 0; i < v->n_findings; i++)
		if (str_eq(v->findings[i].op.op, op))
			return true;
	return false;
}

static int judge_fusion(struct court *c, struct err *e)
{
	struct fusion_candidate *found;
	size_t n;
	int rc = fusion_find(c->t, c->arena, &found, &n, e);

	for (size_t i = 0; rc == OK && i < n; i++) {
		const struct fusion_candidate *k = &found[i];
		struct finding *f = has_finding_of(c->v, k->lost.op)
					    ? NULL
					    : add_finding(c, fusion_judge(c->t, k), k->lost, k->net_ns);

		if (f == NULL)
			continue;
		f->kappa = k->kappa;
		f->pieces = k->pieces;
		f->why = k->why;
		list_replaced(c, f, k);
	}
	return rc;
}

/* ---- graph breaks */

static int judge_graph_breaks(struct court *c, struct err *e)
{
	const struct optable_sums *b = &c->t->before, *x = &c->t->after;
	struct op_change regions = fusion_regions(c->t);

	(void)e;
	if (b->region_calls <= 0 || x->region_calls < BREAKS_RATIO_MIN * b->region_calls || x->frames <= b->frames)
		return OK;
	if (x->launches < b->launches - CALLS_EPS ||
		fusion_gained_work(c->t) > BREAKS_WORK_SHARE * b->launches + BREAKS_WORK + CALLS_EPS)
		return OK;
	if (c->where != JUDGE_DIFF && !step_slowed(c->t))
		return OK;
	add_finding(c, VERDICT_GRAPH_BREAKS, regions, x->step_ns - b->step_ns);
	return OK;
}

/* ---- ops on the host */

static bool is_new_on_cpu(const struct optable_row *r)
{
	return r->on_cpu && r->before.calls <= CALLS_EPS && r->after.calls > CALLS_EPS;
}

static int cmp_cpu_time(const void *a, const void *b)
{
	const struct op_change *x = a, *y = b;

	if (x->time_per_step_ns.after != y->time_per_step_ns.after)
		return x->time_per_step_ns.after > y->time_per_step_ns.after ? -1 : 1;
	return str_cmp(x->op, y->op);
}

static int judge_cpu_fallback(struct court *c, struct err *e)
{
	const struct optable *t = c->t;
	struct op_change *ops = arena_get_array(c->arena, t->n_rows, sizeof(*ops));
	struct finding *f;
	double ns = 0;
	size_t n = 0;

	(void)e;
	for (size_t i = 0; ops != NULL && i < t->n_rows; i++) {
		if (!is_new_on_cpu(&t->rows[i]))
			continue;
		ns += t->rows[i].after.time_ns;
		ops[n++] = change_of(c->arena, &t->rows[i]);
	}
	if (n == 0 || t->after.copies <= t->before.copies + CALLS_EPS || ns < FALLBACK_SHARE_MIN * t->before.step_ns ||
		optable_step_up(t) < FALLBACK_STEP_UP_MIN)
		return OK;
	qsort(ops, n, sizeof(*ops), cmp_cpu_time);
	f = add_finding(c, VERDICT_CPU_FALLBACK, ops[0], ns);
	if (f != NULL && n > 1) {
		f->replaced_by = &ops[1];
		f->n_replaced_by = n - 1 < REPLACED_MAX ? n - 1 : REPLACED_MAX;
	}
	return OK;
}

/* ---- gaps */

static int judge_host_gap(struct court *c, struct err *e)
{
	const struct optable_sums *b = &c->t->before, *x = &c->t->after;
	struct op_change gap = {
		.op = STR("gap device"),
		.calls_per_step = { b->launches, x->launches },
		.time_per_step_ns = { b->gap_ns, x->gap_ns },
	};

	(void)e;
	if (!b->has_gap || !x->has_gap || x->gap_ns < GAP_RATIO_MIN * b->gap_ns + GAP_MORE_NS)
		return OK;
	if (x->total_ns <= b->total_ns * (1 + GAP_DEVICE_UP_MAX) && step_slowed(c->t))
		add_finding(c, VERDICT_HOST_GAP, gap, x->gap_ns - b->gap_ns);
	return OK;
}

/* ---- the same, but slower */

static void add_slower_op(struct court *c, const struct slower_op *s)
{
	struct finding *f = add_finding(c, VERDICT_OP_SLOWER, change_of(c->arena, s->row), s->excess_ns);

	if (f == NULL)
		return;
	f->ratio = s->ratio;
	f->z = s->z;
}

static void add_slower_step(struct court *c, const struct slower *s)
{
	const struct optable_sums *b = &c->t->before, *x = &c->t->after;
	struct op_change step = {
		.op = STR("step"),
		.calls_per_step = { 1, 1 },
		.time_per_step_ns = { b->step_ns, x->step_ns },
	};
	struct finding *f = add_finding(c, VERDICT_STEP_SLOWER, step, x->step_ns - b->step_ns);

	if (f == NULL)
		return;
	f->ratio = s->step_ratio;
	f->z = s->step_z;
}

static int judge_slower(struct court *c, struct err *e)
{
	struct slower s;
	int rc = c->where == JUDGE_SERVICE ? OK : slower_find(c->t, c->arena, &s, e);

	if (rc < 0 || c->where == JUDGE_SERVICE)
		return rc;
	for (size_t i = 0; i < s.n_ops; i++)
		add_slower_op(c, &s.ops[i]);
	if (s.step && c->where == JUDGE_DIFF)
		add_slower_step(c, &s);
	return OK;
}

/* ---- the verdict */

static int (*const rules[])(struct court *c, struct err *e) = {
	judge_fusion, judge_graph_breaks, judge_cpu_fallback, judge_host_gap, judge_slower,
};

static int open_court(struct court *c, struct err *e)
{
	const struct optable *t = c->t;

	*c->v = (struct verdict){
		.has_step = t->has_step,
		.step_ns = { t->before.step_ns, t->after.step_ns },
		.launches_per_step = { t->before.launches, t->after.launches },
	};
	c->v->findings = arena_get_array(c->arena, FINDINGS_MAX, sizeof(*c->v->findings));
	return c->v->findings == NULL ? err_set(e, E_LIMIT, "too little memory for a verdict") : OK;
}

int judge(const struct side *before, const struct side *after, enum judge_where where, struct arena *a,
	struct verdict *out, struct err *e)
{
	struct optable t;
	struct court c = { .t = &t, .where = where, .arena = a, .v = out };
	int rc;

	must(before->fusion == after->fusion);
	rc = optable_make(before, after, a, &t, e);
	if (rc == OK)
		rc = open_court(&c, e);
	for (size_t i = 0; rc == OK && i < COUNT(rules) && out->n_findings == 0; i++)
		rc = rules[i](&c, e);
	if (rc < 0)
		return rc;
	out->kind = out->n_findings > 0 ? out->findings[0].kind : VERDICT_NONE;
	for (size_t i = 0; i < out->n_findings; i++)
		out->findings[i].sentence = sentence_of(&out->findings[i], i == 0 ? out : NULL, a);
	return arena_full(a) ? err_set(e, E_LIMIT, "too many ops to compare in the memory given") : OK;
}

bool verdict_is_regression(const struct verdict *v)
{
	switch (v->kind) {
	case VERDICT_NONE:
	case VERDICT_FUSION_CHANGED:
	case VERDICT_STEP_SLOWER:
		return false;
	case VERDICT_GRAPH_BREAKS:
		return v->step_ns.after >= v->step_ns.before * (1 + STEP_UP_MIN);
	case VERDICT_FUSION_LOST:
	case VERDICT_HOST_GAP:
	case VERDICT_CPU_FALLBACK:
	case VERDICT_OP_SLOWER:
	case VERDICTS:
		break;
	}
	return true;
}

/* ---- changes, whatever the verdict */

static double time_moved(const struct op_change *c)
{
	return fabs(c->time_per_step_ns.after - c->time_per_step_ns.before);
}

static int cmp_moved(const void *a, const void *b)
{
	const struct op_change *x = a, *y = b;

	if (time_moved(x) != time_moved(y))
		return time_moved(x) > time_moved(y) ? -1 : 1;
	return str_cmp(x->op, y->op);
}

static void push_change(struct op_change *out, size_t *n, struct op_change c)
{
	if (time_moved(&c) > 0 || c.calls_per_step.before != c.calls_per_step.after)
		out[(*n)++] = c;
}

int judge_changes(const struct side *before, const struct side *after, size_t limit, struct arena *a,
	struct op_change **out, size_t *n, struct err *e)
{
	struct optable t;
	int rc = optable_make(before, after, a, &t, e);

	*n = 0;
	if (rc < 0)
		return rc;
	*out = arena_get_array(a, t.n_rows + 1, sizeof(**out));
	if (*out != NULL && t.region.name != NULL)
		push_change(*out, n, change_of(a, &t.region));
	for (size_t i = 0; *out != NULL && i < t.n_rows; i++)
		if (!t.rows[i].name->has_rows) /* its ops are there */
			push_change(*out, n, change_of(a, &t.rows[i]));
	if (*n > 1)
		qsort(*out, *n, sizeof(**out), cmp_moved);
	if (*n > limit)
		*n = limit;
	return arena_full(a) ? err_set(e, E_LIMIT, "too many ops to compare in the memory given") : OK;
}
