#include "trace/link.h"

#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "trace/order.h"

/* Events by their ext. Mostly ids count upwards: then ids from the lowest to the highest have a slot each. Else open
 * addressing, at most half full, 16 ids that follow each other in one line of the cache. 8 to 16 bytes an entry, only while
 * linking. An entry is an event's index, or an index into of, which has it. */
struct by_ext {
	const struct trace *t;
	const uint32_t *of;
	uint32_t *slots;
	size_t mask;
	bool dense;
	uint64_t lowest, range; /* dense: ids from lowest on, so many; slots[range] is that of all others */
};

struct ext_range { /* of the events that will be entries */
	size_t entries;
	uint64_t lowest, highest;
};

static void widen(struct ext_range *r, uint64_t ext)
{
	if (r->entries == 0 || ext < r->lowest)
		r->lowest = ext;
	if (r->entries == 0 || ext > r->highest)
		r->highest = ext;
	r->entries++;
}

static int by_ext_init(struct by_ext *x, const struct trace *t, const uint32_t *of, const struct ext_range *r, struct err *e)
{
	size_t room = 16;

	while (room < r->entries * 2)
		room *= 2;
	*x = (struct by_ext){ .t = t, .of = of, .mask = room - 1, .lowest = r->lowest };
	x->dense = r->entries > 0 && r->highest - r->lowest < room - 1;
	if (x->dense) {
		x->range = r->highest - r->lowest + 1;
		room = (size_t)x->range + 1;
	}
	x->slots = mem_try(room * sizeof(*x->slots));
	if (x->slots == NULL)
		return err_set(e, E_NOMEM, "no memory to link %zu events", r->entries);
	memset(x->slots, 0xff, room * sizeof(*x->slots));
	return OK;
}

static uint32_t *by_ext_hashed(const struct by_ext *x, uint64_t ext)
{
	uint64_t h = (ext >> 4) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)((h ^ h >> 32) << 4 | (ext & 15)) & x->mask;

	for (; x->slots[i] != EVENT_NO_LINK; i = (i + 1) & x->mask) {
		uint32_t entry = x->slots[i];

		if (x->t->events.v[x->of == NULL ? entry : x->of[entry]].ext == ext)
			break;
	}
	return &x->slots[i];
}

/* EVENT_NO_LINK in it: there is none. Only ids of the range may be put in. */
static inline uint32_t *by_ext_slot(const struct by_ext *x, uint64_t ext)
{
	uint64_t at = ext - x->lowest;

	if (!x->dense)
		return by_ext_hashed(x, ext);
	return &x->slots[at < x->range ? at : x->range];
}

/* ---- link repair */
struct calls { /* runtime calls that have their own id where a link should be, and the op each stands in */
	uint32_t *event, *op;
	size_t n;
};

static bool is_call(const struct trace_event *ev)
{
	return event_info(ev)->launcher;
}

static bool repairs(const struct trace_event *ev)
{
	if (!(ev->flags & EVENT_OWN_ID))
		return false;
	return is_call(ev) || (event_info(ev)->class == EVENT_DEVICE && ev->cat != CAT_DEVICE_ANNOTATION);
}

static uint32_t group_for_repair(const struct trace *t, const struct trace_event *ev, const void *arg)
{
	const uint32_t *group_of = arg;

	(void)t;
	return event_info(ev)->op || (is_call(ev) && (ev->flags & EVENT_OWN_ID)) ? group_of[ev->thread] : ORDER_OUT;
}

/* The deepest op open at the start of each call of one thread. */
static void find_enclosing(const struct trace *t, const uint32_t *index, size_t n, uint32_t *stack, struct calls *calls)
{
	size_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		const struct trace_event *ev = &t->events.v[index[i]];

		while (depth > 0 && event_end_ns(&t->events.v[stack[depth - 1]]) <= ev->start_ns)
			depth--;
		if (is_call(ev)) {
			calls->event[calls->n] = index[i];
			calls->op[calls->n++] = depth > 0 ? stack[depth - 1] : EVENT_NO_LINK;
		} else {
			stack[depth++] = index[i];
		}
	}
}

static int enclose_calls(const struct trace *t, const uint32_t *group_of, size_t groups, struct calls *calls,
	struct err *e)
{
	struct order o = { 0 };
	uint32_t *stack = NULL;
	int rc;

	rc = order_make(&o, t, group_for_repair, group_of, groups, ORDER_CALLS_LAST, e);
	if (rc < 0)
		return rc;
	stack = mem_try((o.n + 1) * sizeof(*stack));
	if (stack == NULL)
		rc = err_set(e, E_NOMEM, "no memory to link %zu events", o.n);
	for (size_t g = 0; rc == OK && g < o.groups; g++)
		find_enclosing(t, o.index + o.start[g], o.start[g + 1] - o.start[g], stack, calls);
	mem_free(stack);
	order_fini(&o);
	return rc;
}

/* From now on ext is a link to an op, or there is none. */
static void take_ext(struct trace *t, struct trace_event *ev, uint32_t op)
{
	ev->flags &= 15 & ~(EVENT_HAS_EXT | EVENT_OWN_ID);
	if (op == EVENT_NO_LINK || !(t->events.v[op].flags & EVENT_HAS_EXT))
		return;
	ev->ext = t->events.v[op].ext;
	ev->flags |= EVENT_HAS_EXT;
}

static int repair_by_calls(struct trace *t, const struct calls *calls, struct err *e)
{
	struct ext_range range = { 0 };
	struct by_ext by;
	int rc;

	for (size_t i = 0; i < calls->n; i++)
		widen(&range, t->events.v[calls->event[i]].ext);
	rc = by_ext_init(&by, t, calls->event, &range, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < calls->n; i++) /* the last of equal correlations stands */
		*by_ext_slot(&by, t->events.v[calls->event[i]].ext) = (uint32_t)i;
	vec_each(ev, &t->events) {
		uint32_t call;

		if (!repairs(ev) || is_call(ev))
			continue;
		call = *by_ext_slot(&by, ev->ext);
		take_ext(t, ev, call == EVENT_NO_LINK ? EVENT_NO_LINK : calls->op[call]);
	}
	mem_free(by.slots);
	for (size_t i = 0; i < calls->n; i++)
		take_ext(t, &t->events.v[calls->event[i]], calls->op[i]);
	return OK;
}

struct repairs {
	size_t events, calls;
	size_t groups;	    /* threads with such calls */
	uint32_t *group_of; /* of each thread, in order of its first call; ORDER_OUT for none */
};

static void count_repairs(const struct trace *t, struct repairs *n)
{
	memset(n->group_of, 0xff, (intern_count(&t->threads) + 1) * sizeof(*n->group_of));

	for (size_t i = 0; i < t->events.n; i++) {
		const struct trace_event *ev = &t->events.v[i];

		if (!repairs(ev))
			continue;
		n->events++;
		n->calls += is_call(ev);
		if (is_call(ev) && n->group_of[ev->thread] == ORDER_OUT)
			n->group_of[ev->thread] = (uint32_t)n->groups++;
	}
}

static int repair_all(struct trace *t, const struct repairs *n, struct err *e)
{
	struct calls calls = { 0 };
	int rc = OK;

	calls.event = mem_try((n->calls + 1) * sizeof(*calls.event));
	calls.op = mem_try((n->calls + 1) * sizeof(*calls.op));
	if (calls.event == NULL || calls.op == NULL)
		rc = err_set(e, E_NOMEM, "no memory to link %zu events", n->calls);
	if (rc == OK && n->calls > 0)
		rc = enclose_calls(t, n->group_of, n->groups, &calls, e);
	if (rc == OK)
		rc = repair_by_calls(t, &calls, e);
	mem_free(calls.event);
	mem_free(calls.op);
	return rc;
}

static int repair(struct trace *t, struct err *e)
{
	size_t threads = intern_count(&t->threads) + 1;
	struct repairs n = { .group_of = mem_try(threads * sizeof(*n.group_of)) };
	int rc = OK;

	if (n.group_of == NULL)
		return err_set(e, E_NOMEM, "no memory for %zu threads", threads);
	count_repairs(t, &n);
	if (n.events > 0)
		rc = repair_all(t, &n, e);
	mem_free(n.group_of);
	return rc;
}

/* ---- links */
static bool may_own(const struct trace *t, const struct trace_event *ev)
{
	return event_info(ev)->class == EVENT_HOST_OP && (ev->flags & EVENT_HAS_EXT) &&
	       !event_is_async(t, ev);
}

static bool may_link(const struct trace_event *ev)
{
	enum event_class class = event_info(ev)->class;

	if (!(ev->flags & EVENT_HAS_EXT))
		return false;
	return class == EVENT_HOST_CALL || (class == EVENT_DEVICE && ev->cat != CAT_DEVICE_ANNOTATION);
}

/* A device event's ext becomes its link; a host call goes to the thread of its op. The ops' own ids stay for now. */
static void find_op(struct trace *t, struct trace_event *ev, const struct by_ext *by)
{
	uint32_t op = may_link(ev) ? *by_ext_slot(by, ev->ext) : EVENT_NO_LINK;

	must(op == EVENT_NO_LINK || op < t->events.n);
	switch (event_info(ev)->class) {
	case EVENT_DEVICE: ev->link = op; break;
	case EVENT_HOST_CALL:
		if (op != EVENT_NO_LINK)
			ev->thread = t->events.v[op].thread;
		break;
	case EVENT_HOST_OP:
	case EVENT_PYTHON:
	case EVENT_CLASSES: break;
	}
}

static int find_ops(struct trace *t, struct err *e)
{
	struct ext_range range = { 0 };
	struct by_ext by;
	int rc;

	vec_each(ev, &t->events)
		if (may_own(t, ev))
			widen(&range, ev->ext);
	rc = by_ext_init(&by, t, NULL, &range, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < t->events.n; i++) {
		uint32_t *slot;

		if (!may_own(t, &t->events.v[i]))
			continue;
		slot = by_ext_slot(&by, t->events.v[i].ext);
		if (*slot == EVENT_NO_LINK) /* the first of equal ids stands */
			*slot = (uint32_t)i;
	}
	vec_each(ev, &t->events)
		find_op(t, ev, &by);
	mem_free(by.slots);
	return OK;
}

int link_events(struct trace *t, struct err *e)
{
	int rc = repair(t, e);

	if (rc == OK)
		rc = find_ops(t, e);
	if (rc < 0)
		return rc;
	vec_each(ev, &t->events) {
		if (event_info(ev)->class != EVENT_DEVICE)
			ev->device_ns = 0; /* takes the place of ext */
	}
	vec_each(ev, &t->events) {
		if (event_info(ev)->class == EVENT_DEVICE && ev->link != EVENT_NO_LINK) {
			struct trace_event *op = &t->events.v[ev->link];

			op->device_ns = ns_add(op->device_ns, ev->dur_ns);
		}
	}
	return OK;
}
