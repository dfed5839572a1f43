#include "trace/steps.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/busy.h"
#include "trace/rhythm.h"
#include "trace/shares.h"

struct steps {
	const struct trace *t;
	struct step_table table;
	int64_t dur_ns; /* of the trace */
	int64_t *reach; /* of each step: the last end of it and those before it */
	struct shares shares; /* by step and name */
	int64_t busy_until_ns; /* of the device that busy_each is at */
	bool device_began;
	bool full;
};

#define STEP_NONE SIZE_MAX

/* ---- which steps there are */
static int compare_starts(const void *pa, const void *pb)
{
	const struct step_row *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->wall_ns > b->wall_ns ? -1 : a->wall_ns < b->wall_ns;
}

static void add_row(struct steps *s, int64_t number, int64_t start_ns, int64_t wall_ns)
{
	struct step_row *r = vec_push(&s->table.rows);

	s->full |= r == NULL;
	if (r != NULL)
		*r = (struct step_row){ .number = number, .start_ns = start_ns, .wall_ns = wall_ns };
}

static void add_marked(struct steps *s)
{
	if (s->t->steps.n > 0) {
		vec_each(step, &s->t->steps)
			add_row(s, step->number, step->start_ns, step->dur_ns);
	} else {
		vec_each(ev, &s->t->events)
			if (event_is_step(s->t, ev))
				add_row(s, -1, ev->start_ns, ev->dur_ns);
	}
	if (s->table.rows.n > 0)
		s->table.from = STEPS_MARKER;
}

/* An edge of the optimizer ends a step, the first of which begins with the trace; one of an op begins a step, the last of
 * which ends with the trace. */
static void add_found(struct steps *s)
{
	const int64_t last_ns = ns_add(s->table.first_ns, s->dur_ns);
	struct rhythm found;
	struct err e = { 0 };

	if (rhythm_find(s->t, s->dur_ns, &found, &e) < 0)
		s->full = true;
	for (uint64_t i = 0; i < found.n; i++) {
		int64_t from_ns = found.edge_ns[i], to_ns = i + 1 < found.n ? found.edge_ns[i + 1] : last_ns;

		if (found.from == STEPS_OPTIMIZER) {
			from_ns = i > 0 ? found.edge_ns[i - 1] : s->table.first_ns;
			to_ns = found.edge_ns[i];
		}
		add_row(s, -1, from_ns, ns_sub(to_ns, from_ns));
	}
	s->table.from = found.from;
	rhythm_fini(&found);
}

static void look_over(struct steps *s)
{
	int64_t last_ns = INT64_MIN;

	s->table.first_ns = INT64_MAX;
	vec_each(ev, &s->t->events) {
		s->table.first_ns = ev->start_ns < s->table.first_ns ? ev->start_ns : s->table.first_ns;
		last_ns = event_end_ns(ev) > last_ns ? event_end_ns(ev) : last_ns;
		s->table.has_device |= event_info(ev)->executes;
	}
	s->dur_ns = s->t->events.n > 0 ? ns_sub(last_ns, s->table.first_ns) : 0;
}

static int64_t end_of(const struct step_row *r)
{
	return ns_add(r->start_ns, r->wall_ns);
}

static void measure_reach(struct steps *s)
{
	struct step_rows *rows = &s->table.rows;
	int64_t reach = INT64_MIN;

	s->reach = mem_try((rows->n + 1) * sizeof(*s->reach));
	if (s->reach == NULL) {
		s->full = true;
		rows->n = 0;
	}
	for (size_t i = 0; i < rows->n; i++) {
		reach = end_of(&rows->v[i]) > reach ? end_of(&rows->v[i]) : reach;
		s->reach[i] = reach;
		if (rows->v[i].number < 0)
			rows->v[i].number = (int64_t)i;
	}
}

struct steps *steps_new(const struct trace *t)
{
	struct steps *s = mem_get(sizeof(*s));

	s->t = t;
	s->table.rows.cap = UINT32_MAX - 1;
	s->table.from = STEPS_NONE;
	look_over(s);
	add_marked(s);
	if (s->table.rows.n == 0)
		add_found(s);
	if (s->table.rows.n > 0)
		qsort(s->table.rows.v, s->table.rows.n, sizeof(*s->table.rows.v), compare_starts);
	measure_reach(s);
	return s;
}

void steps_free(struct steps *s)
{
	if (s == NULL)
		return;
	step_table_fini(&s->table);
	mem_free(s->reach);
	shares_fini(&s->shares);
	mem_free(s);
}

void step_table_fini(struct step_table *st)
{
	if (st != NULL)
		vec_fini(&st->rows);
}

/* ---- which step a moment is in */

/* The first step from which on an end lies behind the moment; rows.n where there is none. */
static size_t first_reaching(const struct steps *s, int64_t ns)
{
	size_t low = 0, high = s->table.rows.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->reach[middle] > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The step that began last of those the moment is in. */
static size_t step_at(const struct steps *s, int64_t ns)
{
	size_t found = STEP_NONE;

	for (size_t i = first_reaching(s, ns); i < s->table.rows.n && s->table.rows.v[i].start_ns <= ns; i++)
		if (end_of(&s->table.rows.v[i]) > ns)
			found = i;
	return found;
}

/* ---- busy and gaps */
enum part { PART_BUSY, PART_GAP };

static void add_part(struct steps *s, enum part part, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = first_reaching(s, from_ns); i < s->table.rows.n && s->table.rows.v[i].start_ns < to_ns; i++) {
		struct step_row *r = &s->table.rows.v[i];
		int64_t from = from_ns > r->start_ns ? from_ns : r->start_ns, to = to_ns < end_of(r) ? to_ns : end_of(r);

		if (to <= from)
			continue;
		if (part == PART_BUSY)
			r->device_busy_ns = ns_add(r->device_busy_ns, to - from);
		else
			r->gap_ns = ns_add(r->gap_ns, to - from);
	}
}

static void add_busy(void *arg, struct str pid, int64_t from_ns, int64_t to_ns)
{
	struct steps *s = arg;

	(void)pid;
	if (s->device_began)
		add_part(s, PART_GAP, s->busy_until_ns, from_ns);
	add_part(s, PART_BUSY, from_ns, to_ns);
	s->device_began = true;
	s->busy_until_ns = to_ns;
}

static void next_device(void *arg, struct str pid, int64_t busy_ns)
{
	struct steps *s = arg;

	(void)pid;
	s->table.devices += busy_ns > 0;
	s->device_began = false;
}

static void no_gap(void *arg, int64_t ns)
{
	(void)arg;
	(void)ns;
}

/* ---- launches and ops */
/* The time of a call that counts for the largest ops: each nanosecond of a device belongs to one call. */
static int64_t share_of(const struct steps *s, const struct keyavg_call *c)
{
	const struct event_cat_info *info = event_info(c->ev);

	if (event_is_step(s->t, c->ev))
		return 0;
	if (!s->table.has_device)
		return info->class == EVENT_DEVICE ? 0 : c->self_cpu_ns;
	if (info->class == EVENT_DEVICE)
		return info->executes && c->orphan ? c->self_device_ns : 0;
	return c->self_device_ns;
}

static bool is_launch(const struct steps *s, const struct keyavg_call *c)
{
	const struct event_cat_info *info = event_info(c->ev);

	return s->table.has_device ? info->executes && (info->kind == OP_KERNEL || info->kind == OP_HLO) : c->launches;
}

void steps_add(void *arg, const struct keyavg_call *c)
{
	struct steps *s = arg;
	const struct trace_event *from = c->ev;
	int64_t ns = share_of(s, c);
	bool launch = is_launch(s, c);
	size_t step;

	if (!launch && ns <= 0)
		return;
	if (event_info(from)->class == EVENT_DEVICE && from->link != EVENT_NO_LINK)
		from = &s->t->events.v[from->link];
	step = step_at(s, from->start_ns);
	if (step == STEP_NONE)
		return;
	s->table.rows.v[step].launches += launch;
	if (ns > 0)
		shares_add(&s->shares, (struct share){ (uint32_t)step, c->ev->name, 1, 0, ns });
}

/* ---- the table */
static void keep_largest(struct step_row *r, const struct step_op *op)
{
	size_t at = r->n_ops;

	while (at > 0 && r->ops[at - 1].ns < op->ns)
		at--;
	if (at == STEP_OPS)
		return;
	r->n_ops += r->n_ops < STEP_OPS;
	for (size_t i = r->n_ops - 1; i > at; i--)
		r->ops[i] = r->ops[i - 1];
	r->ops[at] = *op;
}

int steps_finish(struct steps *s, struct step_table *out, struct err *e)
{
	const struct busy_visitor busy = { .gap = no_gap, .device = next_device, .busy = add_busy, .arg = s };
	int rc = busy_each(s->t, (struct busy_span){ INT64_MIN, INT64_MAX }, &busy, e);

	*out = (struct step_table){ 0 };
	if (rc == OK && (s->full || s->shares.full))
		rc = err_set(e, E_NOMEM, "no memory for the ops of %zu steps", s->table.rows.n);
	if (rc < 0)
		return rc;
	shares_settle(&s->shares);
	for (size_t i = 0; i < s->shares.n; i++) {
		const struct share *share = &s->shares.v[i];
		const struct step_op op = { trace_name(s->t, share->b), share->device_ns, share->calls };

		keep_largest(&s->table.rows.v[share->a], &op);
	}
	vec_each(row, &s->table.rows)
		row->start_ns = ns_sub(row->start_ns, s->table.first_ns);
	*out = s->table;
	s->table = (struct step_table){ 0 };
	return OK;
}
