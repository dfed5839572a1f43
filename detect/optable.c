#include "detect/optable.h"

#include <stdlib.h>

#include "detect/side.h"
#include "stat/robust.h"

/* One side while the table is made. */
struct maker {
	const struct side *side;
	bool on_device;
	double *steps;	 /* of each window; 0: the window does not count */
	double *scratch; /* a value for each window that counts */
	size_t n_used;
};

/* What a cell is asked for. */
enum cell_value { CALLS, TIME, CPU_CALLS, CPU_TIME };

static double cell_value(const struct side_cell *c, enum cell_value what, bool on_device)
{
	switch (what) {
	case CALLS:
		return on_device ? c->device_calls : c->host_calls;
	case TIME:
		return on_device ? c->device_ns : c->host_ns;
	case CPU_CALLS:
		return on_device ? c->cpu_calls : 0;
	case CPU_TIME:
		return on_device ? c->cpu_ns : 0;
	}
	return 0;
}

/* ---- which windows count, and what their numbers are divided by */

static const struct side_op *find_work(const struct side *s, struct str key)
{
	vec_each(op, &s->ops)
		if (op->name.class == NAME_WORK && str_eq(op->name.key, key))
			return op;
	return NULL;
}

static bool all_know_steps(const struct side *s)
{
	vec_each(w, &s->windows)
		if (w->steps == 0)
			return false;
	return true;
}

/* Where a window does not know its steps, calls of an op that runs once a step stand for them, if both sides have it. */
static struct str choose_anchor(const struct side *a, const struct side *b)
{
	size_t n;
	const struct str *anchors = fusion_table_anchors(a->fusion, &n);

	if (all_know_steps(a) && all_know_steps(b))
		return STR("");
	for (size_t i = 0; i < n; i++)
		if (find_work(a, anchors[i]) != NULL && find_work(b, anchors[i]) != NULL)
			return anchors[i];
	return STR("");
}

static void anchor_steps(struct maker *m, struct str anchor)
{
	const struct side_op *op = str_empty(anchor) ? NULL : find_work(m->side, anchor);

	if (op == NULL)
		return;
	vec_each(cell, &op->cells) {
		double calls = cell_value(cell, CALLS, m->on_device);

		if (m->side->windows.v[cell->window].steps == 0 && m->steps[cell->window] > 0 && calls > 0)
			m->steps[cell->window] = calls;
	}
}

static bool maker_init(struct maker *m, const struct side *s, bool on_device, struct str anchor, struct arena *a)
{
	*m = (struct maker){ .side = s, .on_device = on_device };
	m->steps = arena_get_array(a, s->windows.n, sizeof(double));
	m->scratch = arena_get_array(a, s->windows.n, sizeof(double));
	if (m->steps == NULL || m->scratch == NULL)
		return false;
	for (size_t i = 0; i < s->windows.n; i++) {
		const struct side_window *w = &s->windows.v[i];

		if (on_device && !w->has_device)
			continue;
		m->steps[i] = w->steps > 0 ? w->steps : 1;
		m->n_used++;
	}
	anchor_steps(m, anchor);
	return true;
}

/* ---- medians over windows */

static double median_of_op(struct maker *m, const struct side_op *op, enum cell_value what)
{
	size_t n = 0;

	vec_each(cell, &op->cells)
		if (m->steps[cell->window] > 0)
			m->scratch[n++] = cell_value(cell, what, m->on_device) / m->steps[cell->window];
	while (n < m->n_used) /* windows without the op */
		m->scratch[n++] = 0;
	return robust_median(m->scratch, n);
}

enum window_value { GAP, MEMCPYS, FRAMES, STEP };

static double median_of_windows(struct maker *m, enum window_value what)
{
	size_t n = 0;

	for (size_t i = 0; i < m->side->windows.n; i++) {
		const struct side_window *w = &m->side->windows.v[i];

		if (m->steps[i] == 0 || (what == GAP && !w->has_gap) || (what == STEP && w->step_ns == 0))
			continue;
		m->scratch[n++] = what == GAP	    ? w->gap_ns / m->steps[i]
				  : what == MEMCPYS ? w->memcpys / m->steps[i]
				  : what == FRAMES  ? w->frames
						    : w->step_ns;
	}
	return robust_median(m->scratch, n);
}

/* ---- rows */

static const struct hist *singles_of(const struct side_op *op, bool on_device)
{
	const struct hist *h = &op->hist[on_device ? OP_BASIS_DEVICE : OP_BASIS_CPU];

	return hist_empty(h) ? NULL : h;
}

static struct optable_side read_side(struct maker *m, const struct side_op *op, bool on_cpu)
{
	return (struct optable_side){
		.calls = median_of_op(m, op, on_cpu ? CPU_CALLS : CALLS),
		.time_ns = median_of_op(m, op, on_cpu ? CPU_TIME : TIME),
		.hist = on_cpu ? NULL : singles_of(op, m->on_device),
	};
}

static int cmp_op(const void *a, const void *b)
{
	const struct side_op *x = *(const struct side_op *const *)a, *y = *(const struct side_op *const *)b;
	int by_key = str_cmp(x->name.key, y->name.key);

	return by_key != 0 ? by_key : (int)x->name.class - (int)y->name.class;
}

static const struct side_op **sorted_ops(const struct side *s, struct arena *a)
{
	const struct side_op **ops = arena_get_array(a, s->ops.n, sizeof(struct side_op *));

	for (size_t i = 0; ops != NULL && i < s->ops.n; i++)
		ops[i] = &s->ops.v[i];
	if (ops != NULL && s->ops.n > 1)
		qsort(ops, s->ops.n, sizeof(struct side_op *), cmp_op);
	return ops;
}

static bool is_seen(const struct optable_row *r)
{
	return r->before.calls > 0 || r->after.calls > 0;
}

/* Variants of a name (aten::mul, aten::mul_) are one op; both sides together show it by the plainest there is. */
static struct str shown_name(const struct side_op *b, const struct side_op *a)
{
	if (b == NULL || a == NULL)
		return b != NULL ? b->shown : a->shown;
	return str_cmp(a->shown, b->shown) < 0 ? a->shown : b->shown;
}

/* The row of an op that one side or both have; a second one for its calls on the CPU. */
static size_t make_rows(struct maker *before, struct maker *after, const struct side_op *b, const struct side_op *a,
	struct optable_row *out)
{
	const struct side_op *any = b != NULL ? b : a;
	size_t n = 0;

	for (int on_cpu = 0; on_cpu < 2; on_cpu++) {
		struct optable_row *r = &out[n];

		*r = (struct optable_row){ .name = &any->name, .shown = shown_name(b, a), .on_cpu = on_cpu };
		if (b != NULL)
			r->before = read_side(before, b, on_cpu);
		if (a != NULL)
			r->after = read_side(after, a, on_cpu);
		n += is_seen(r);
	}
	return n;
}

static int merge_rows(struct maker *before, struct maker *after, struct arena *a, struct optable *out)
{
	size_t n_b = before->side->ops.n, n_a = after->side->ops.n, i = 0, j = 0;
	const struct side_op **b_ops = sorted_ops(before->side, a), **a_ops = sorted_ops(after->side, a);

	out->rows = arena_get_array(a, 2 * (n_b + n_a), sizeof(*out->rows));
	if (arena_full(a))
		return E_LIMIT;
	while (i < n_b || j < n_a) {
		int order = i == n_b ? 1 : j == n_a ? -1 : cmp_op(&b_ops[i], &a_ops[j]);
		const struct side_op *b = order <= 0 ? b_ops[i++] : NULL, *x = order >= 0 ? a_ops[j++] : NULL;

		out->n_rows += make_rows(before, after, b, x, &out->rows[out->n_rows]);
	}
	return OK;
}

/* ---- the three levels of regions as one row */

static bool is_level(const struct optable_row *r)
{
	return r->name->class == NAME_REGION_OUTER || r->name->class == NAME_REGION_FUNCTION ||
	       r->name->class == NAME_REGION_INNER;
}

static double max_of(double x, double y)
{
	return x > y ? x : y;
}

/* Calls of the level with most, time of all; single times from the level with most time. */
static void add_level(struct optable_row *region, const struct optable_row *level, double *most_ns)
{
	double ns = level->before.time_ns + level->after.time_ns;

	if (region->name == NULL || level->name->class < region->name->class) {
		region->name = level->name;
		region->shown = level->shown;
	}
	region->before.calls = max_of(region->before.calls, level->before.calls);
	region->after.calls = max_of(region->after.calls, level->after.calls);
	region->before.time_ns += level->before.time_ns;
	region->after.time_ns += level->after.time_ns;
	if (ns < *most_ns)
		return;
	*most_ns = ns;
	region->before.hist = level->before.hist;
	region->after.hist = level->after.hist;
}

static void split_regions(struct optable *t)
{
	size_t kept = 0;
	double most_ns = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		if (is_level(&t->rows[i]))
			add_level(&t->region, &t->rows[i], &most_ns);
		else
			t->rows[kept++] = t->rows[i];
	}
	t->n_rows = kept;
}

/* ---- sums */

static void add_row(struct optable_sums *s, const struct optable_row *r, const struct optable_side *side, double *host_ns)
{
	if (r->on_cpu) {
		*host_ns += side->time_ns;
		return;
	}
	if (r->name->has_rows)
		return; /* all of it stands in its ops' rows */
	s->total_ns += side->time_ns;
	if (r->name->class == NAME_WORK)
		s->launches += side->calls;
	else if (r->name->class == NAME_MODULE)
		s->region_calls += side->calls;
	if (r->name->transfer)
		s->copies += side->calls;
}

static void read_step(struct maker *m, struct optable_sums *s, double host_ns)
{
	const struct hist *h = &m->side->step_hist[m->on_device ? SIDE_STEPS_DEVICE : SIDE_STEPS_ALL];

	s->steps = hist_empty(h) ? NULL : h;
	s->step_ns = s->steps != NULL ? hist_quantile(h, 0.5) : median_of_windows(m, STEP);
	s->has_step = s->step_ns > 0;
	if (!s->has_step)
		s->step_ns = s->total_ns + s->gap_ns + host_ns;
}

static void sum_side(struct maker *m, const struct optable *t, bool after, struct optable_sums *s)
{
	const struct optable_side *region = after ? &t->region.after : &t->region.before;
	double host_ns = 0;

	s->region_calls = region->calls;
	s->total_ns = region->time_ns;
	for (size_t i = 0; i < t->n_rows; i++)
		add_row(s, &t->rows[i], after ? &t->rows[i].after : &t->rows[i].before, &host_ns);
	s->launches += s->region_calls;
	s->frames = median_of_windows(m, FRAMES);
	s->copies += median_of_windows(m, MEMCPYS);
	s->gap_ns = median_of_windows(m, GAP);
	vec_each(w, &m->side->windows)
		s->has_gap |= w->has_gap;
	read_step(m, s, host_ns);
}

/* Times of single calls are wanted on both sides, be it of different ops. */
static bool know_singles(const struct optable *t)
{
	bool before = t->region.before.hist != NULL, after = t->region.after.hist != NULL;

	for (size_t i = 0; i < t->n_rows; i++) {
		before |= t->rows[i].before.hist != NULL;
		after |= t->rows[i].after.hist != NULL;
	}
	return before && after;
}

/* A step time that one side alone knows compares with nothing: the sums of rows stand in on both. */
static void agree_on_step(struct optable *t)
{
	t->has_step = t->before.has_step && t->after.has_step;
	if (t->has_step || (!t->before.has_step && !t->after.has_step))
		return;
	t->before.step_ns = t->before.total_ns + t->before.gap_ns;
	t->after.step_ns = t->after.total_ns + t->after.gap_ns;
}

int optable_make(const struct side *before, const struct side *after, struct arena *a, struct optable *out, struct err *e)
{
	bool on_device = before->has_device && after->has_device;
	struct str anchor = choose_anchor(before, after);
	struct maker b, x;

	*out = (struct optable){ .fusion = before->fusion, .on_device = on_device };
	if (!maker_init(&b, before, on_device, anchor, a) || !maker_init(&x, after, on_device, anchor, a) ||
		merge_rows(&b, &x, a, out) != OK)
		return err_set(e, E_LIMIT, "too many ops to compare in the memory given");
	split_regions(out);
	sum_side(&b, out, false, &out->before);
	sum_side(&x, out, true, &out->after);
	out->has_singles = know_singles(out);
	agree_on_step(out);
	return OK;
}

double optable_step_up(const struct optable *t)
{
	return t->before.step_ns > 0 ? t->after.step_ns / t->before.step_ns - 1 : 0;
}
