#include "trace/neuron_event.h"

#include <stdlib.h>

#include "base/err.h"
#include "trace/event.h"

/* Chains are short; what goes on longer goes in a circle. */
enum { HOPS_MAX = 16, CANDIDATES_MAX = 64, NEST_MAX = 10000 };

struct by_key { /* an index over events */
	uint64_t key;
	int64_t start_ns;
	uint32_t process, event;
};
VEC(keys, struct by_key);

struct linker {
	struct neuron_events_all *all;
	struct keys ids, execs, flows; /* process and number → events in order of time; sorted */
};

/* Those of one number around a time. */
struct candidates {
	const struct by_key *v;
	size_t n;
};

static struct neuron_event *at(const struct linker *l, uint32_t i)
{
	return &l->all->events.v[i];
}

/* ---- nesting on a thread */

static int by_thread_then_time(const void *a, const void *b)
{
	const struct neuron_event *x = *(struct neuron_event *const *)a, *y = *(struct neuron_event *const *)b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->dur_ns != y->dur_ns)
		return x->dur_ns > y->dur_ns ? -1 : 1;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x < y ? -1 : 1;
}

VEC(event_refs, struct neuron_event *);

static void nest(struct linker *l, struct event_refs *order)
{
	struct event_refs stack = VEC_INIT(NEST_MAX);

	vec_each(ref, order) {
		struct neuron_event *ev = *ref, **top;

		while (stack.n > 0 && (stack.v[stack.n - 1]->thread != ev->thread ||
					      neuron_end_ns(stack.v[stack.n - 1]) < neuron_end_ns(ev) ||
					      neuron_end_ns(stack.v[stack.n - 1]) == ev->start_ns))
			stack.n--;
		if (stack.n > 0) {
			ev->up = (uint32_t)(stack.v[stack.n - 1] - l->all->events.v);
			stack.v[stack.n - 1]->children_ns = ns_add(stack.v[stack.n - 1]->children_ns, ev->dur_ns);
		}
		top = vec_push(&stack);
		if (top != NULL)
			*top = ev;
	}
	vec_fini(&stack);
}

static int nest_all(struct linker *l, struct err *e)
{
	struct event_refs order = { .cap = l->all->events.n };
	int rc = OK;

	vec_each(ev, &l->all->events) {
		struct neuron_event **place;

		if (ev->lane == NEURON_HARDWARE || ev->thread == NEURON_NONE || ev->what == NEURON_MARK)
			continue;
		place = vec_push(&order);
		if (place == NULL) {
			rc = err_set(e, E_NOMEM, "no memory to order %zu events", l->all->events.n);
			break;
		}
		*place = ev;
	}
	if (rc == OK && order.n > 1)
		qsort(order.v, order.n, sizeof(*order.v), by_thread_then_time);
	if (rc == OK)
		nest(l, &order);
	vec_fini(&order);
	return rc;
}

/* ---- indexes */

static int by_process_and_key(const void *a, const void *b)
{
	const struct by_key *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

static bool add_key(struct linker *l, struct keys *v, uint64_t key, uint32_t process, uint32_t event)
{
	struct by_key *k = vec_push(v);

	if (k == NULL)
		return false;
	*k = (struct by_key){ key, at(l, event)->start_ns, process, event };
	return true;
}

static int index_all(struct linker *l, struct err *e)
{
	bool fits = true;

	for (uint32_t i = 0; fits && i < l->all->events.n; i++) {
		const struct neuron_event *ev = at(l, i);

		if (ev->id != 0)
			fits = add_key(l, &l->ids, ev->id, ev->process, i);
		if (fits && ev->exec != 0 && ev->lane == NEURON_RUNTIME)
			fits = add_key(l, &l->execs, ev->exec, ev->process, i);
		for (uint32_t k = 0; fits && k < ev->n_flows; k++)
			fits = add_key(l, &l->flows, l->all->flows.v[ev->first_flow + k], 0, i);
	}
	if (!fits)
		return err_set(e, E_NOMEM, "no memory to link %zu events", l->all->events.n);
	if (l->ids.n > 1)
		qsort(l->ids.v, l->ids.n, sizeof(*l->ids.v), by_process_and_key);
	if (l->execs.n > 1)
		qsort(l->execs.v, l->execs.n, sizeof(*l->execs.v), by_process_and_key);
	if (l->flows.n > 1)
		qsort(l->flows.v, l->flows.n, sizeof(*l->flows.v), by_process_and_key);
	return OK;
}

/* The first entry that does not stand before this one. */
static size_t first_from(const struct keys *v, uint64_t key, uint32_t process, int64_t start_ns)
{
	const struct by_key wanted = { key, start_ns, process, 0 };
	size_t low = 0, high = v->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_process_and_key(&v->v[mid], &wanted) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Ids may be used again and again: of more than CANDIDATES_MAX the ones next before and behind count. */
static struct candidates candidates_of(const struct keys *v, uint64_t key, uint32_t process, int64_t start_ns)
{
	size_t first = first_from(v, key, process, INT64_MIN), from = first_from(v, key, process, ns_add(start_ns, 1)), to = from;

	while (to < v->n && to - from < CANDIDATES_MAX && v->v[to].key == key && v->v[to].process == process)
		to++;
	if (from - first > CANDIDATES_MAX)
		first = from - CANDIDATES_MAX;
	return (struct candidates){ v->n == 0 ? NULL : &v->v[first], to - first };
}

/* ---- upwards */

/* Is a the better one to go on from than b? The nearer to the framework, then the later among those that began before
 * ev, for a flow or an id may be used again. */
static bool is_better(const struct linker *l, const struct neuron_event *ev, uint32_t a, uint32_t b)
{
	const struct neuron_event *x = at(l, a), *y;
	bool x_before, y_before;

	if (b == NEURON_NONE)
		return true;
	y = at(l, b);
	x_before = x->start_ns <= ev->start_ns;
	y_before = y->start_ns <= ev->start_ns;
	if (x_before != y_before)
		return x_before;
	if (x->lane != y->lane)
		return x->lane < y->lane;
	return x_before ? x->start_ns > y->start_ns : x->start_ns < y->start_ns;
}

static uint32_t by_flow(const struct linker *l, const struct neuron_event *ev)
{
	uint32_t best = NEURON_NONE;

	for (uint32_t k = 0; k < ev->n_flows; k++) {
		uint64_t flow = l->all->flows.v[ev->first_flow + k];
		struct candidates c = candidates_of(&l->flows, flow, 0, ev->start_ns);

		for (size_t i = 0; i < c.n; i++)
			if (at(l, c.v[i].event)->lane < ev->lane && is_better(l, ev, c.v[i].event, best))
				best = c.v[i].event;
	}
	return best;
}

static uint32_t by_parent(const struct linker *l, const struct neuron_event *ev)
{
	struct candidates c = candidates_of(&l->ids, ev->parent, ev->process, ev->start_ns);
	uint32_t best = NEURON_NONE;

	for (size_t i = 0; ev->parent != 0 && i < c.n; i++)
		if (at(l, c.v[i].event) != ev && is_better(l, ev, c.v[i].event, best))
			best = c.v[i].event;
	return best;
}

/* The innermost framework event around it on its thread. */
static uint32_t by_thread(const struct linker *l, const struct neuron_event *ev)
{
	uint32_t i = ev->up;

	for (unsigned n = 0; n < NEST_MAX && i != NEURON_NONE && at(l, i)->lane != NEURON_FRAMEWORK; n++)
		i = at(l, i)->up;
	return i;
}

/* From an event up to the framework op that it serves. *link becomes the weakest way that was used. */
static uint32_t climb(const struct linker *l, uint32_t from, enum neuron_link *link)
{
	uint32_t i = from, stream = NEURON_NONE;

	for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
		const struct neuron_event *ev = at(l, i);
		uint32_t next;

		if (ev->lane == NEURON_FRAMEWORK)
			return i;
		if (ev->lane == NEURON_STREAM)
			stream = i;
		next = by_flow(l, ev);
		if (next == NEURON_NONE)
			next = by_parent(l, ev);
		if (next == NEURON_NONE && ev->lane == NEURON_RUNTIME) {
			next = by_thread(l, ev);
			*link = next == NEURON_NONE ? *link : NEURON_BY_THREAD;
		}
		if (next == NEURON_NONE)
			break;
		i = next;
	}
	return stream;
}

static bool fits(uint32_t a, uint32_t b)
{
	return a == NEURON_NONE || b == NEURON_NONE || a == b;
}

/* The call that scheduled it: the lowest rank, then the latest before it, among those of its model (and its core). */
static uint32_t next_dispatch(const struct linker *l, const struct neuron_event *ev, int above_rank, bool same_core)
{
	struct candidates c = candidates_of(&l->execs, ev->exec, ev->process, ev->start_ns);
	uint32_t best = NEURON_NONE;

	for (size_t i = 0; i < c.n; i++) {
		uint32_t other = c.v[i].event;
		const struct neuron_event *call = at(l, other);

		if (call->rank <= above_rank || !fits(call->model, ev->model))
			continue;
		if (same_core && !fits(call->core, ev->core))
			continue;
		if (best == NEURON_NONE || call->rank < at(l, best)->rank ||
			(call->rank == at(l, best)->rank && is_better(l, ev, other, best)))
			best = other;
	}
	return best;
}

/* By exec_id, from one call after the other until one leads to an op. Cores may be numbered differently in both lanes:
 * they decide only where a call of the same core is there. */
static void link_by_exec(const struct linker *l, struct neuron_event *ev, enum neuron_link *link)
{
	bool same_core = next_dispatch(l, ev, -1, true) != NEURON_NONE;
	int rank = -1;

	while (ev->op == NEURON_NONE) {
		uint32_t call = next_dispatch(l, ev, rank, same_core);

		if (call == NEURON_NONE)
			return;
		*link = NEURON_BY_EXEC;
		ev->op = climb(l, call, link);
		rank = at(l, call)->rank;
	}
}

static void link_execution(const struct linker *l, uint32_t i)
{
	struct neuron_event *ev = at(l, i);
	enum neuron_link link = by_flow(l, ev) == NEURON_NONE ? NEURON_BY_EXEC : NEURON_BY_FLOW;

	ev->op = climb(l, i, &link);
	if (ev->op == NEURON_NONE && ev->exec != 0)
		link_by_exec(l, ev, &link);
	ev->link = (uint8_t)(ev->op == NEURON_NONE ? NEURON_UNLINKED : link);
}

/* ---- one execution on several physical cores is one */

struct core_run {
	const struct neuron_event *key;
	uint32_t first; /* the event that stands for all */
	uint64_t cores; /* physical ones seen, as bits */
	int64_t end_ns; /* of the union so far */
};

static int by_execution(const void *a, const void *b)
{
	const struct neuron_event *x = *(struct neuron_event *const *)a, *y = *(struct neuron_event *const *)b;
	const uint64_t left[] = { x->process, x->core, x->model, x->exec };
	const uint64_t right[] = { y->process, y->core, y->model, y->exec };

	for (size_t i = 0; i < COUNT(left); i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x < y ? -1 : 1;
}

static bool same_execution(const struct core_run *run, const struct neuron_event *ev)
{
	const struct neuron_event *k = run->key;

	return k != NULL && ev->exec != 0 && ev->physical_core >= 0 && k->physical_core >= 0 && k->exec == ev->exec &&
	       k->process == ev->process && k->core == ev->core && k->model == ev->model &&
	       (run->cores & (UINT64_C(1) << (ev->physical_core & 63))) == 0;
}

static void merge(struct linker *l, struct event_refs *order)
{
	struct core_run run = { .key = NULL };

	vec_each(ref, order) {
		struct neuron_event *ev = *ref, *first;
		int64_t from_ns = ev->start_ns, end_ns = neuron_end_ns(ev);

		if (!same_execution(&run, ev)) {
			run = (struct core_run){ .key = ev, .first = (uint32_t)(ev - l->all->events.v), .end_ns = ev->start_ns };
			ev->device_ns = 0;
		}
		first = at(l, run.first);
		ev->merged = first != ev;
		run.cores |= UINT64_C(1) << (ev->physical_core & 63);
		from_ns = from_ns > run.end_ns ? from_ns : run.end_ns;
		if (end_ns > run.end_ns) {
			first->device_ns += end_ns - from_ns;
			run.end_ns = end_ns;
		}
		if (run.end_ns > neuron_end_ns(first))
			first->dur_ns = run.end_ns - first->start_ns;
	}
}

static int merge_cores(struct linker *l, struct err *e)
{
	struct event_refs order = { .cap = l->all->events.n };
	int rc = OK;

	vec_each(ev, &l->all->events) {
		struct neuron_event **place;

		if (ev->what != NEURON_EXECUTION)
			continue;
		place = vec_push(&order);
		if (place == NULL) {
			rc = err_set(e, E_NOMEM, "no memory to order the executions");
			break;
		}
		*place = ev;
	}
	if (rc == OK && order.n > 1)
		qsort(order.v, order.n, sizeof(*order.v), by_execution);
	if (rc == OK)
		merge(l, &order);
	vec_fini(&order);
	return rc;
}

/* ---- all of it */

static void hand_up(struct linker *l, const struct neuron_event *execution)
{
	uint32_t i = execution->op;

	at(l, i)->device_ns = ns_add(at(l, i)->device_ns, execution->device_ns);
	i = at(l, i)->up;
	for (unsigned n = 0; n < NEST_MAX && i != NEURON_NONE; n++) {
		at(l, i)->device_below_ns = ns_add(at(l, i)->device_below_ns, execution->device_ns);
		i = at(l, i)->up;
	}
}

static void link_all(struct linker *l)
{
	for (uint32_t i = 0; i < l->all->events.n; i++) {
		struct neuron_event *ev = at(l, i);

		if (ev->what != NEURON_EXECUTION || ev->merged)
			continue;
		link_execution(l, i);
		if (ev->op != NEURON_NONE)
			hand_up(l, ev);
	}
}

int neuron_link_events(struct neuron_events_all *all, struct err *e)
{
	struct linker l = { .all = all, .ids = VEC_INIT(all->events.n), .execs = VEC_INIT(all->events.n),
		.flows = VEC_INIT(all->flows.n) };
	int rc = nest_all(&l, e);

	if (rc == OK)
		rc = index_all(&l, e);
	if (rc == OK)
		rc = merge_cores(&l, e);
	if (rc == OK)
		link_all(&l);
	vec_fini(&l.ids);
	vec_fini(&l.execs);
	vec_fini(&l.flows);
	return rc;
}
