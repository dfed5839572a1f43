#include "detect/slower.h"

#include <math.h>
#include <stdlib.h>

#include "detect/fusion.h"
#include "stat/rank.h"
#include "stat/robust.h"

/* ---- the rule's numbers */
static const double RATIO_MIN = 1.25, RATIO_MIN_ALONE = 1.5, RATIO_MIN_WHERE_ALL_SLOWED = 2;
static const double Z_MIN = 3.3, CALLS_WITHIN = 0.05, SHARE_MIN = 0.02;
enum { SINGLES_MIN = 8, OTHERS_MIN = 3, STEP_OPS_MIN = 4 };

/* An op that both sides have. */
struct pair {
	const struct optable_row *row;
	double ratio; /* of times per call */
	double weight;
};

struct work {
	const struct optable *t;
	struct pair *pairs;
	size_t n;
	double *ratios, *weights; /* scratch */
};

static bool is_within(double before, double after, double share)
{
	return before > 0 && fabs(after / before - 1) <= share;
}

static bool same_launches(const struct optable *t)
{
	return is_within(t->before.launches, t->after.launches, CALLS_WITHIN);
}

/* Compiled code is the same graph only where launches are the same. A wrapper with device time launches by itself. */
static bool is_comparable(const struct optable *t, const struct optable_row *r)
{
	if (r->on_cpu || r->name->has_rows || r->before.calls <= 0 || r->after.calls <= 0 || r->before.time_ns <= 0 || r->after.time_ns <= 0)
		return false;
	switch (r->name->class) {
	case NAME_WORK:
		return true;
	case NAME_QUIET:
		return t->on_device;
	case NAME_REGION_OUTER:
	case NAME_REGION_FUNCTION:
	case NAME_REGION_INNER:
	case NAME_MODULE:
		return same_launches(t);
	case NAME_BOOKKEEPING:
	case NAME_CLASSES:
		break;
	}
	return false;
}

/* Of medians where single times are known, else of means. */
static double ratio_of(const struct optable *t, const struct optable_row *r)
{
	double before = r->before.time_ns / r->before.calls, after = r->after.time_ns / r->after.calls;

	if (t->has_singles && r->before.hist != NULL && r->after.hist != NULL) {
		before = hist_quantile(r->before.hist, 0.5);
		after = hist_quantile(r->after.hist, 0.5);
	}
	return before > 0 ? after / before : 0;
}

static void add_pair(struct work *w, const struct optable_row *r)
{
	double ratio;

	if (r->name == NULL || !is_comparable(w->t, r))
		return;
	ratio = ratio_of(w->t, r);
	if (ratio > 0)
		w->pairs[w->n++] = (struct pair){ r, ratio, sqrt(r->before.time_ns) };
}

static bool work_init(struct work *w, const struct optable *t, struct arena *a)
{
	*w = (struct work){ .t = t };
	w->pairs = arena_get_array(a, t->n_rows + 1, sizeof(*w->pairs));
	w->ratios = arena_get_array(a, t->n_rows + 1, sizeof(double));
	w->weights = arena_get_array(a, t->n_rows + 1, sizeof(double));
	if (arena_full(a))
		return false;
	add_pair(w, &t->region);
	for (size_t i = 0; i < t->n_rows; i++)
		add_pair(w, &t->rows[i]);
	return true;
}

/* Weighted median ratio of all pairs but one (w->n for none left out). */
static double median_ratio(struct work *w, size_t but)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (i == but)
			continue;
		w->ratios[n] = w->pairs[i].ratio;
		w->weights[n++] = w->pairs[i].weight;
	}
	return robust_weighted_median(w->ratios, w->weights, n);
}

/* ---- everything by the same factor */

static bool has_singles(const struct hist *before, const struct hist *after)
{
	return before != NULL && after != NULL && hist_count(before) >= SINGLES_MIN && hist_count(after) >= SINGLES_MIN;
}

/* The step slowed by a factor that counts, of as many launches. */
static bool step_slowed(const struct optable *t)
{
	return t->has_step && same_launches(t) && optable_step_up(t) >= RATIO_MIN - 1;
}

static void judge_step(struct work *w, struct slower *out)
{
	const struct hist *before = w->t->before.steps, *after = w->t->after.steps;

	if (w->n < STEP_OPS_MIN || !step_slowed(w->t) || !has_singles(before, after))
		return;
	out->step_ratio = median_ratio(w, w->n);
	out->step_z = rank_hists(before, after, 1).z;
	out->step = out->step_ratio >= RATIO_MIN && out->step_z > Z_MIN;
}

/* Where the steps are too few for Mann-Whitney there is no verdict about them, but an op is not blamed for what all others
 * show as well. */
static bool all_seem_slower(const struct work *w, double others)
{
	return w->t->has_singles && step_slowed(w->t) && !has_singles(w->t->before.steps, w->t->after.steps) &&
	       others >= RATIO_MIN;
}

/* ---- one op */

static bool is_large(const struct optable *t, const struct optable_row *r)
{
	return r->after.time_ns >= SHARE_MIN * t->after.total_ns;
}

/* Is it slower, beyond what slowed the others? */
static bool judge_op(struct work *w, size_t at, bool step_slower, struct slower_op *out)
{
	const struct pair *p = &w->pairs[at];
	const struct optable_row *r = p->row;
	bool has_others = w->n - 1 >= OTHERS_MIN;
	double least = has_others ? RATIO_MIN : RATIO_MIN_ALONE;

	*out = (struct slower_op){ .row = r, .others = 1 };
	if (p->ratio < least || !is_within(r->before.calls, r->after.calls, CALLS_WITHIN) || !is_large(w->t, r))
		return false;
	if (w->t->has_singles && (!has_others || !has_singles(r->before.hist, r->after.hist)))
		return false;
	if (has_others)
		out->others = fmax(median_ratio(w, at), 1);
	out->ratio = p->ratio / out->others;
	if (w->t->has_singles)
		out->z = rank_hists(r->before.hist, r->after.hist, out->others).z;
	out->excess_ns = r->after.time_ns - r->before.time_ns * out->others;
	if (step_slower || all_seem_slower(w, out->others))
		least = RATIO_MIN_WHERE_ALL_SLOWED;
	return out->ratio >= least && (!w->t->has_singles || out->z > Z_MIN);
}

static int by_excess(const void *a, const void *b)
{
	const struct slower_op *x = a, *y = b;

	if (x->excess_ns != y->excess_ns)
		return x->excess_ns > y->excess_ns ? -1 : 1;
	return str_cmp(x->row->shown, y->row->shown);
}

int slower_find(const struct optable *t, struct arena *a, struct slower *out, struct err *e)
{
	struct work w;

	*out = (struct slower){ 0 };
	if (optable_step_up(t) < 0)
		return OK;
	if (work_init(&w, t, a)) {
		out->ops = arena_get_array(a, w.n, sizeof(*out->ops));
		judge_step(&w, out);
		for (size_t i = 0; out->ops != NULL && i < w.n; i++)
			out->n_ops += judge_op(&w, i, out->step, &out->ops[out->n_ops]);
		if (out->n_ops > 1)
			qsort(out->ops, out->n_ops, sizeof(*out->ops), by_excess);
	}
	return arena_full(a) ? err_set(e, E_LIMIT, "too many ops to compare in the memory given") : OK;
}
