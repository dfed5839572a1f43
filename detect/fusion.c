#include "detect/fusion.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"

/* ---- the rule's numbers */
static const double FALLEN_MIN = 0.2, KAPPA_MIN = 0.5, PIECES_MIN = 1.5;
static const double REGION_PIECES_MIN = 2, MODULE_PIECES_MIN = 3;
static const double OPAQUE_FALLEN_MIN = 0.5, OPAQUE_PIECES_MIN = 3, OPAQUE_TIMES_MAX = 8, WHOLE_WITHIN = 0.1;
static const double COMPANION_WITHIN = 0.1;
static const double NET_SHARE_MIN = 0.01, STEP_UP_MIN = 0.03, RELIEF_SHARE = 0.05;
static const double LAUNCH_NS = 5000; /* what a launch costs where no gap between launches was measured */
static const double CALLS_EPS = 1e-6;

enum { CANDIDATES_MAX = 100000 };

VEC(candidates, struct fusion_candidate);

struct finder {
	const struct optable *t;
	struct arena *arena;
	const struct optable_row **gained; /* rows of work with more calls than before */
	size_t n_gained;
	bool *taken; /* of the gained ones, by the candidate at hand */
	struct candidates found;
};

static double calls_up(const struct optable_row *r)
{
	return r->after.calls - r->before.calls;
}

static double time_up(const struct optable_row *r)
{
	return r->after.time_ns - r->before.time_ns;
}

static bool is_work(const struct optable_row *r)
{
	return r->name->class == NAME_WORK && !r->on_cpu;
}

static bool is_gained(const struct optable_row *r)
{
	return is_work(r) && calls_up(r) > CALLS_EPS;
}

static double fallen(double before, double after)
{
	return before > 0 ? (before - after) / before : 0;
}

double fusion_gained_work(const struct optable *t)
{
	double calls = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		if (is_gained(&t->rows[i]))
			calls += calls_up(&t->rows[i]);
	return calls;
}

/* ---- what is taken as having come in place of what went */

static void take_none(struct finder *f)
{
	for (size_t i = 0; i < f->n_gained; i++)
		f->taken[i] = false;
}

static double taken_calls(const struct finder *f)
{
	double calls = 0;

	for (size_t i = 0; i < f->n_gained; i++)
		if (f->taken[i])
			calls += calls_up(f->gained[i]);
	return calls;
}

static double taken_time(const struct finder *f)
{
	double ns = 0;

	for (size_t i = 0; i < f->n_gained; i++)
		if (f->taken[i])
			ns += time_up(f->gained[i]);
	return ns;
}

static int by_time(const void *a, const void *b)
{
	const struct optable_row *x = *(const struct optable_row *const *)a, *y = *(const struct optable_row *const *)b;

	if (time_up(x) != time_up(y))
		return time_up(x) > time_up(y) ? -1 : 1;
	return str_cmp(x->name->key, y->name->key);
}

static const struct optable_row **taken_rows(struct finder *f, size_t *n)
{
	const struct optable_row **rows = arena_get_array(f->arena, f->n_gained, sizeof(struct optable_row *));

	*n = 0;
	for (size_t i = 0; rows != NULL && i < f->n_gained; i++)
		if (f->taken[i])
			rows[(*n)++] = f->gained[i];
	if (*n > 1)
		qsort(rows, *n, sizeof(struct optable_row *), by_time);
	return rows;
}

/* What follows from what went and what came. */
static void finish(struct fusion_candidate *c)
{
	const struct before_after *calls = &c->lost.calls_per_step, *ns = &c->lost.time_per_step_ns;

	c->lost_calls = calls->before - calls->after;
	c->fallen = fallen(calls->before, calls->after);
	c->pieces = c->lost_calls > 0 ? c->gained_calls / c->lost_calls : 0;
	c->net_ns = c->gained_ns - (ns->before - ns->after);
}

/* A candidate out of what is taken now; lost has its calls and times before and after. */
static void keep(struct finder *f, struct op_change lost, struct str why, double kappa)
{
	struct fusion_candidate *c = vec_push(&f->found);

	if (c == NULL)
		return;
	*c = (struct fusion_candidate){ .lost = lost, .why = why, .kappa = kappa };
	c->gained_calls = taken_calls(f);
	c->gained_ns = taken_time(f);
	c->gained = taken_rows(f, &c->n_gained);
	finish(c);
}

static struct op_change change_of(const struct optable_row *r)
{
	return (struct op_change){
		.op = r->shown,
		.calls_per_step = { r->before.calls, r->after.calls },
		.time_per_step_ns = { r->before.time_ns, r->after.time_ns },
	};
}

/* ---- rule: compiled regions are gone, their ops run one by one */

static void add_change(struct op_change *to, const struct optable_row *r)
{
	to->calls_per_step.before += r->before.calls;
	to->calls_per_step.after += r->after.calls;
	to->time_per_step_ns.before += r->before.time_ns;
	to->time_per_step_ns.after += r->after.time_ns;
}

struct op_change fusion_regions(const struct optable *t)
{
	struct op_change all = change_of(&t->region);
	double most_ns = -1;

	for (size_t i = 0; i < t->n_rows; i++) {
		const struct optable_row *r = &t->rows[i];

		if (r->name->class != NAME_MODULE || r->name->has_rows)
			continue;
		add_change(&all, r);
		if (t->region.name == NULL && r->before.time_ns > most_ns) {
			most_ns = r->before.time_ns;
			all.op = r->shown;
		}
	}
	return all;
}

static void find_region(struct finder *f)
{
	struct op_change lost = fusion_regions(f->t);
	double n = lost.calls_per_step.before - lost.calls_per_step.after, fusible = 0;

	if (n <= CALLS_EPS || fallen(lost.calls_per_step.before, lost.calls_per_step.after) < FALLEN_MIN)
		return;
	for (size_t i = 0; i < f->n_gained; i++) {
		f->taken[i] = true; /* all work: matrix products were inside, too */
		if (f->gained[i]->name->fusible || f->gained[i]->name->is_fused)
			fusible += calls_up(f->gained[i]);
	}
	if (fusible >= REGION_PIECES_MIN * n)
		keep(f, lost, STR("region"), 1);
}

/* ---- rule: a compiled module gave way to many others */

static bool is_new_module(const struct optable_row *r)
{
	return r->name->class == NAME_MODULE && r->before.calls <= CALLS_EPS && r->after.calls > CALLS_EPS;
}

/* Modules that are called less, together; shown as the one with most time. */
static struct op_change lost_modules(const struct optable *t, bool *has_rows)
{
	struct op_change lost = { .op = { NULL, 0 } };
	double most_ns = -1;

	for (size_t i = 0; i < t->n_rows; i++) {
		const struct optable_row *r = &t->rows[i];

		if (r->name->class != NAME_MODULE || fallen(r->before.calls, r->after.calls) < FALLEN_MIN)
			continue;
		add_change(&lost, r);
		if (r->before.time_ns > most_ns) {
			most_ns = r->before.time_ns;
			lost.op = r->shown;
			*has_rows = r->name->has_rows;
		}
	}
	return lost;
}

/* What came in a module's place: new modules, and all gained work. Where the ops of modules have rows, their time is in
 * the modules: those that are called more, and no work besides. */
static bool is_in_its_place(const struct optable_row *r, bool has_rows)
{
	if (has_rows)
		return r->name->has_rows && calls_up(r) > CALLS_EPS;
	return is_new_module(r) || is_gained(r);
}

static const struct optable_row **with_new_modules(struct finder *f, bool has_rows, size_t *n)
{
	const struct optable_row **rows = arena_get_array(f->arena, f->t->n_rows, sizeof(struct optable_row *));

	*n = 0;
	for (size_t i = 0; rows != NULL && i < f->t->n_rows; i++)
		if (is_in_its_place(&f->t->rows[i], has_rows))
			rows[(*n)++] = &f->t->rows[i];
	if (*n > 1)
		qsort(rows, *n, sizeof(struct optable_row *), by_time);
	return rows;
}

static void find_modules(struct finder *f)
{
	bool has_rows = false;
	struct op_change lost = lost_modules(f->t, &has_rows);
	double came = 0, n = lost.calls_per_step.before - lost.calls_per_step.after;
	struct fusion_candidate c = { .lost = lost, .why = STR("module"), .lost_calls = n, .kappa = 1 }, *place;

	for (size_t i = 0; i < f->t->n_rows; i++)
		if (is_new_module(&f->t->rows[i]))
			came += calls_up(&f->t->rows[i]);
	if (n <= CALLS_EPS || came < MODULE_PIECES_MIN * n || f->t->after.launches <= f->t->before.launches)
		return;
	c.gained = with_new_modules(f, has_rows, &c.n_gained);
	for (size_t i = 0; i < c.n_gained; i++) {
		c.gained_calls += calls_up(c.gained[i]);
		c.gained_ns += time_up(c.gained[i]);
	}
	finish(&c);
	place = vec_push(&f->found);
	if (place != NULL)
		*place = c;
}

/* ---- rule: a fused op of the table */

/* Kernels in no list that came exactly as often as the fused op went belong to its pieces. */
static void take_companions(struct finder *f, double lost)
{
	for (size_t i = 0; i < f->n_gained; i++) {
		const struct name *n = f->gained[i]->name;

		if (n->opaque && !n->is_fused && fabs(calls_up(f->gained[i]) / lost - 1) < COMPANION_WITHIN)
			f->taken[i] = true;
	}
}

/* Takes the constituents of one way to fall apart and returns kappa; 0 for none at all. */
static double take_way(struct finder *f, const struct fused_way *way, double lost)
{
	double covered = 0;

	take_none(f);
	for (size_t p = 0; p < way->n_parts; p++) {
		double calls = 0;

		for (size_t i = 0; i < f->n_gained; i++) {
			if (!name_is_part(f->t->fusion, f->gained[i]->name, &way->parts[p]))
				continue;
			calls += calls_up(f->gained[i]);
			f->taken[i] = true;
		}
		covered += fmin(way->parts[p].calls, calls / lost);
	}
	if (covered > 0)
		take_companions(f, lost);
	return covered / way->calls;
}

struct best_way {
	const struct fused_op *op;
	const struct fused_way *way;
	double kappa, pieces;
};

static void try_ways(struct finder *f, const struct fused_op *op, double lost, struct best_way *best)
{
	for (size_t i = 0; i < op->n_ways; i++) {
		double kappa = take_way(f, &op->ways[i], lost), pieces = taken_calls(f) / lost;

		if (kappa > best->kappa + 1e-9 || (kappa > best->kappa - 1e-9 && pieces > best->pieces))
			*best = (struct best_way){ op, &op->ways[i], kappa, pieces };
	}
}

static void find_named(struct finder *f, const struct optable_row *r)
{
	size_t n_ops;
	const struct fused_op *ops = fusion_table_ops(f->t->fusion, &n_ops);
	struct best_way best = { 0 };

	if (!r->name->is_fused)
		return;
	for (size_t i = 0; i < n_ops; i++)
		if (name_is_fused(r->name, &ops[i]))
			try_ways(f, &ops[i], -calls_up(r), &best);
	if (best.op == NULL || best.kappa < KAPPA_MIN || best.pieces < PIECES_MIN)
		return;
	take_way(f, best.way, -calls_up(r));
	keep(f, change_of(r), arena_fmt(f->arena, "table:%.*s", STR_ARG(best.op->key)), best.kappa);
}

/* ---- rule: a kernel of inductor was split */

static bool is_piece_of(const struct name *piece, const struct name *kernel)
{
	if (!piece->kernel)
		return name_has_member(kernel, piece->key);
	return name_shared_members(piece, kernel) >= (piece->n_members == 1 ? 1 : 2);
}

static double covered_members(const struct finder *f, const struct name *kernel)
{
	size_t covered = 0;

	for (size_t m = 0; m < kernel->n_members; m++) {
		bool is_there = false;

		for (size_t i = 0; i < f->n_gained && !is_there; i++)
			is_there = f->taken[i] && (str_eq(f->gained[i]->name->key, kernel->members[m]) ||
							  name_has_member(f->gained[i]->name, kernel->members[m]));
		covered += is_there;
	}
	return (double)covered / (double)kernel->n_members;
}

static void find_split(struct finder *f, const struct optable_row *r)
{
	double kappa;

	if (!r->name->kernel || r->name->n_members < 2)
		return;
	for (size_t i = 0; i < f->n_gained; i++)
		f->taken[i] = is_piece_of(f->gained[i]->name, r->name);
	kappa = covered_members(f, r->name);
	if (kappa >= KAPPA_MIN && taken_calls(f) >= PIECES_MIN * -calls_up(r))
		keep(f, change_of(r), STR("kernel split"), kappa);
}

/* ---- rule: a kernel that nobody knows went, and fusible ops came in whole multiples of it */

static bool is_multiple(double calls, double lost)
{
	double times = calls / lost, whole = round(times);

	return fabs(times - whole) < WHOLE_WITHIN && whole >= 1 && whole <= OPAQUE_TIMES_MAX;
}

static void find_opaque(struct finder *f, const struct optable_row *r)
{
	double lost = -calls_up(r);
	size_t n = 0;

	if (!r->name->opaque || fallen(r->before.calls, r->after.calls) < OPAQUE_FALLEN_MIN)
		return;
	for (size_t i = 0; i < f->n_gained; i++) {
		f->taken[i] = f->gained[i]->name->fusible && is_multiple(calls_up(f->gained[i]), lost);
		n += f->taken[i];
	}
	if (n >= 2 && taken_calls(f) >= OPAQUE_PIECES_MIN * lost)
		keep(f, change_of(r), STR("opaque kernel"), 1);
}

/* ---- all rules */

static void find_lost_rows(struct finder *f)
{
	for (size_t i = 0; i < f->t->n_rows; i++) {
		const struct optable_row *r = &f->t->rows[i];

		if (!is_work(r) || calls_up(r) > -CALLS_EPS || fallen(r->before.calls, r->after.calls) < FALLEN_MIN)
			continue;
		find_named(f, r);
		find_split(f, r);
		find_opaque(f, r);
	}
}

static int by_net(const void *a, const void *b)
{
	const struct fusion_candidate *x = a, *y = b;

	if (x->net_ns != y->net_ns)
		return x->net_ns > y->net_ns ? -1 : 1;
	return str_cmp(x->lost.op, y->lost.op);
}

static bool finder_init(struct finder *f, const struct optable *t, struct arena *a)
{
	*f = (struct finder){ .t = t, .arena = a, .found = VEC_INIT(CANDIDATES_MAX) };
	f->gained = arena_get_array(a, t->n_rows, sizeof(struct optable_row *));
	f->taken = arena_get_array(a, t->n_rows, sizeof(bool));
	for (size_t i = 0; f->gained != NULL && i < t->n_rows; i++)
		if (is_gained(&t->rows[i]))
			f->gained[f->n_gained++] = &t->rows[i];
	return !arena_full(a);
}

int fusion_find(const struct optable *t, struct arena *a, struct fusion_candidate **out, size_t *n, struct err *e)
{
	struct finder f;

	*out = NULL;
	*n = 0;
	if (t->after.launches < t->before.launches - CALLS_EPS)
		return OK;
	if (finder_init(&f, t, a)) {
		find_region(&f);
		find_modules(&f);
		find_lost_rows(&f);
	}
	if (f.found.n > 0) {
		*out = arena_get_array(a, f.found.n, sizeof(**out));
		*n = f.found.n;
		if (*out != NULL) {
			memcpy(*out, f.found.v, f.found.n * sizeof(**out));
			qsort(*out, *n, sizeof(**out), by_net);
		}
	}
	vec_fini(&f.found);
	return arena_full(a) ? err_set(e, E_LIMIT, "too many ops to compare in the memory given") : OK;
}

/* ---- cost */

/* Where no step time tells, more launches cost what the gaps between launches are measured to be. */
static double launches_ns(const struct optable *t)
{
	double each = LAUNCH_NS;

	if (t->has_step)
		return 0;
	if (t->after.has_gap && t->after.gap_ns > 0 && t->after.launches > 0)
		each = t->after.gap_ns / t->after.launches;
	return each * (t->after.launches - t->before.launches);
}

enum verdict_kind fusion_judge(const struct optable *t, const struct fusion_candidate *c)
{
	double step_up = t->has_step ? optable_step_up(t) : 0;
	bool costs = c->net_ns + launches_ns(t) >= NET_SHARE_MIN * t->before.total_ns || step_up >= STEP_UP_MIN;
	bool relief = step_up < 0 && c->net_ns < RELIEF_SHARE * t->before.total_ns;

	return costs && !relief ? VERDICT_FUSION_LOST : VERDICT_FUSION_CHANGED;
}
