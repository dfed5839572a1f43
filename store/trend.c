/* store_trend: one op over time. Each row of a scan falls into one point; an op name can stand under several kinds,
 * which are kept apart until it is known which of them has calls. */
#include "base/mem.h"
#include "base/vec.h"
#include "profile/sum.h"
#include "store/codec.h"
#include "store/inside.h"
#include "store/scan.h"

enum {
	TREND_POINTS = 500,	   /* when the store picks the resolution */
	TREND_POINTS_MAX = 100000, /* when the caller does */
};

/* Widths that people read easily; hours from the point where rollups can answer. */
static const int64_t trend_widths_ns[] = {
	NS_PER_S,
	5 * NS_PER_S,
	10 * NS_PER_S,
	30 * NS_PER_S,
	NS_PER_MIN,
	5 * NS_PER_MIN,
	10 * NS_PER_MIN,
	30 * NS_PER_MIN,
	NS_PER_HOUR,
	2 * NS_PER_HOUR,
	3 * NS_PER_HOUR,
	6 * NS_PER_HOUR,
	12 * NS_PER_HOUR,
	NS_PER_DAY,
	2 * NS_PER_DAY,
	7 * NS_PER_DAY,
	14 * NS_PER_DAY,
	28 * NS_PER_DAY,
	364 * NS_PER_DAY,
};
static const int64_t trend_width_max_ns = 100 * 364 * NS_PER_DAY; /* wider than all that is kept, and room to round it up */

VEC(op_vec, struct op_summary);

struct point {
	uint64_t windows, steps;
	uint32_t op[OP_KINDS]; /* place in ops plus one, 0: none */
};

struct plotting {
	struct reader *reader;
	struct scan scan;
	int64_t width_ns, base; /* the first point's t_ns over width_ns */
	struct point *points;
	size_t n_points;
	uint32_t ids[OP_KINDS]; /* of the op by kind; NAMES_NONE where it is not */
	uint64_t calls[OP_KINDS];
	struct op_vec ops;
	struct op_summary op; /* room for one, decoded */
};

/* ---- how wide */

static int64_t points_in(const struct scan *sc, int64_t width_ns)
{
	return sc->last_ns / width_ns - sc->first_ns / width_ns + 1;
}

static int64_t width_for(const struct scan *sc)
{
	size_t i = 0;

	while (i + 1 < COUNT(trend_widths_ns) && points_in(sc, trend_widths_ns[i]) > TREND_POINTS)
		i++;
	return trend_widths_ns[i];
}

/* Only a plan knows how long the range is and whether windows are gone: after that it is known whether hours will do. */
static int plan(struct plotting *p, const struct filter *f, int64_t asked_ns, struct err *e)
{
	int rc = scan_plan(&p->scan, f, false, p->reader, e);

	if (rc < 0 || p->scan.empty)
		return rc;
	p->width_ns = asked_ns > 0 ? asked_ns : width_for(&p->scan);
	if (p->width_ns > trend_width_max_ns)
		p->width_ns = trend_width_max_ns;
	if (p->scan.raw_gone && p->width_ns % NS_PER_HOUR != 0)
		p->width_ns = (p->width_ns / NS_PER_HOUR + 1) * NS_PER_HOUR;
	if (p->width_ns % NS_PER_HOUR == 0)
		scan_by_hours(&p->scan);
	return OK;
}

static int make_points(struct plotting *p, struct err *e)
{
	/* An hour that stands for a part of it may begin before the range. */
	int64_t first = p->scan.hours && p->scan.hour_from * NS_PER_HOUR < p->scan.first_ns
		? p->scan.hour_from * NS_PER_HOUR
		: p->scan.first_ns;
	int64_t last = p->scan.hours && p->scan.hour_to * NS_PER_HOUR - 1 > p->scan.last_ns
		? p->scan.hour_to * NS_PER_HOUR - 1
		: p->scan.last_ns;
	int64_t n;

	p->base = first / p->width_ns;
	n = last / p->width_ns - p->base + 1;
	if (n > TREND_POINTS_MAX)
		return err_set(e, E_LIMIT,
			"trend: %lld points, at most %d: ask for a coarser resolution or a shorter range",
			(long long)n, TREND_POINTS_MAX);
	p->points = mem_get_array((size_t)n, sizeof(*p->points));
	p->n_points = (size_t)n;
	p->ops.cap = (size_t)n * OP_KINDS;
	return OK;
}

static int find_ids(struct plotting *p, const struct query *q, struct err *e)
{
	int rc = OK;

	for (int kind = 0; kind < OP_KINDS && rc == OK; kind++)
		if (!q->has_kind || (int)q->kind == kind)
			rc = names_find_op(p->reader->names, (enum op_kind)kind, q->op, &p->ids[kind], e);
	return rc;
}

static bool any_id(const struct plotting *p)
{
	for (int kind = 0; kind < OP_KINDS; kind++)
		if (p->ids[kind] != NAMES_NONE)
			return true;
	return false;
}

/* ---- filling */

static int add_op(struct plotting *p, struct point *at, int kind, struct str record, struct err *e)
{
	int rc = codec_get_op(record, &p->op, e);

	if (rc < 0)
		return rc;
	if (at->op[kind] == 0) {
		if (vec_push(&p->ops) == NULL)
			return err_set(e, E_NOMEM, "trend: no memory for a point");
		at->op[kind] = (uint32_t)p->ops.n;
	}
	op_summary_merge(&p->ops.v[at->op[kind] - 1], &p->op);
	p->calls[kind] = sum_counts(p->calls[kind], p->op.calls);
	return OK;
}

static int kind_of(const struct plotting *p, uint32_t id)
{
	for (int kind = 0; kind < OP_KINDS; kind++)
		if (p->ids[kind] == id)
			return kind;
	return -1;
}

static int plot_row(void *arg, const struct scan_row *row, struct err *e)
{
	struct plotting *p = arg;
	int64_t slot = row->first_ns / p->width_ns - p->base;
	struct codec_ops ops;
	struct str record;
	uint32_t id;
	int rc, kind, more = 1;

	if (slot < 0 || (size_t)slot >= p->n_points)
		return err_set(e, E_CORRUPT, "store: an hour holds windows of another hour");
	p->points[slot].windows = sum_counts(p->points[slot].windows, row->windows);
	p->points[slot].steps = sum_counts(p->points[slot].steps, row->steps);
	rc = codec_ops_open(&ops, row->ops, e);
	while (rc == OK && (more = codec_ops_next(&ops, &id, &record, e)) > 0) {
		kind = kind_of(p, id);
		if (kind >= 0)
			rc = add_op(p, &p->points[slot], kind, record, e);
	}
	return rc < 0 ? rc : more;
}

/* ---- the answer */

static int chosen_kind(const struct plotting *p)
{
	int known = -1;

	for (int kind = 0; kind < OP_KINDS; kind++) {
		if (p->calls[kind] > 0)
			return kind;
		if (p->ids[kind] != NAMES_NONE && known < 0)
			known = kind;
	}
	return known;
}

/* Histograms move from p->ops to the answer. */
static int answer(struct plotting *p, struct str name, struct arena *a, struct trend *out, struct err *e)
{
	int kind = chosen_kind(p);
	size_t n = 0;

	for (size_t i = 0; i < p->n_points; i++)
		n += p->points[i].windows > 0;
	name = arena_str(a, name);
	out->v = arena_get_array(a, n, sizeof(*out->v));
	if (arena_full(a))
		return err_set(
			e, E_LIMIT, "answer: larger than %zu bytes: ask for a coarser resolution", a->cap);
	for (size_t i = 0; i < p->n_points; i++) {
		const struct point *from = &p->points[i];
		struct trend_point *to = &out->v[out->n];

		if (from->windows == 0)
			continue;
		out->n++;
		to->t_ns = (p->base + (int64_t)i) * p->width_ns;
		to->windows = from->windows;
		to->steps = from->steps;
		if (from->op[kind] != 0) {
			to->op = p->ops.v[from->op[kind] - 1];
			hist_init(&p->ops.v[from->op[kind] - 1].hist);
		}
		to->op.kind = (enum op_kind)kind;
		to->op.name = name;
	}
	return OK;
}

static int trend_read(
	struct plotting *p, const struct query *q, struct arena *a, struct trend *out, struct err *e)
{
	struct filter f;
	int rc = filter_of(&f, q, p->reader->names, e);

	if (rc == OK)
		rc = find_ids(p, q, e);
	if (rc == OK)
		rc = plan(p, &f, q->resolution_ns, e);
	if (rc < 0)
		return rc;
	out->resolution_ns = p->width_ns > 0 ? p->width_ns : NS_PER_HOUR;
	if (p->scan.empty || !any_id(p))
		return OK;
	out->tier_ns = p->scan.hours ? NS_PER_HOUR : 0;
	rc = make_points(p, e);
	if (rc == OK)
		rc = scan_run(&p->scan, p->reader, plot_row, p, e);
	return rc == OK ? answer(p, q->op, a, out, e) : rc;
}

int store_trend(struct store *st, const struct query *q, struct arena *a, struct trend *out, struct err *e)
{
	struct plotting p = { .width_ns = 0 };
	int rc;

	*out = (struct trend){ 0 };
	if (str_empty(q->op))
		return err_set(e, E_USAGE, "op: name the op whose trend is asked for");
	if (q->resolution_ns < 0)
		return err_set(e, E_USAGE, "resolution: negative");
	rc = reader_take(&st->readers, &p.reader, e);
	if (rc < 0)
		return rc;
	rc = trend_read(&p, q, a, out, e);
	reader_give(&st->readers, p.reader);
	vec_each(op, &p.ops)
		op_summary_fini(op);
	vec_fini(&p.ops);
	op_summary_fini(&p.op);
	mem_free(p.points);
	metric_add(st->queries, 1);
	return rc;
}

void trend_fini(struct trend *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->n; i++)
		op_summary_fini(&t->v[i].op);
	*t = (struct trend){ 0 };
}
