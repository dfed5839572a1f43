#include "trace/link.h"

#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "trace/order.h"

/* Events by their ext: open addressing over indexes, at most half full, 8 to 16 bytes an entry. Only while linking. */
struct by_ext {
	uint32_t *slots;
	size_t mask;
};

static int by_ext_init(struct by_ext *x, size_t entries, struct err *e)
{
	size_t room = 16;

	while (room < entries * 2)
		room *= 2;
	x->mask = room - 1;
	x->slots = mem_try(room * sizeof(*x->slots));
	if (x->slots == NULL)
		return err_set(e, E_NOMEM, "no memory to link %zu events", entries);
	memset(x->slots, 0xff, room * sizeof(*x->slots));
	return OK;
}

static uint32_t *by_ext_slot(const struct by_ext *x, const struct trace *t, uint64_t ext)
{
	uint64_t h = ext * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(h ^ h >> 32) & x->mask;

	while (x->slots[i] != EVENT_NO_LINK && t->events.v[x->slots[i]].ext != ext)
		i = (i + 1) & x->mask;
	return &x->slots[i];
}

/* ---- link repair */
static bool repairs(const struct trace_event *ev)
{
	const struct event_cat_info *info = event_cat_info((enum event_cat)ev->cat);

	if (!(ev->flags & EVENT_OWN_ID))
		return false;
	return info->launcher || (info->class == EVENT_DEVICE && ev->cat != CAT_DEVICE_ANNOTATION);
}

static uint32_t group_for_repair(const struct trace *t, const struct trace_event *ev, const void *arg)
{
	const bool *has_calls = arg;
	const struct event_cat_info *info = event_cat_info((enum event_cat)ev->cat);

	(void)t;
	if (!has_calls[ev->thread])
		return ORDER_OUT;
	return info->op || (info->launcher && (ev->flags & EVENT_OWN_ID)) ? ev->thread : ORDER_OUT;
}

/* Sets the link of each call of one thread to the deepest op open at its start. */
static void find_enclosing(struct trace *t, const uint32_t *index, size_t n, uint32_t *stack)
{
	size_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		struct trace_event *ev = &t->events.v[index[i]];

		while (depth > 0 && event_end_ns(&t->events.v[stack[depth - 1]]) <= ev->start_ns)
			depth--;
		if (event_cat_info((enum event_cat)ev->cat)->launcher)
			ev->link = depth > 0 ? stack[depth - 1] : EVENT_NO_LINK;
		else
			stack[depth++] = index[i];
	}
}

/* From now on ext is a link to an op, or there is none. */
static void take_ext(struct trace *t, struct trace_event *ev, uint32_t op)
{
	ev->flags &= (uint8_t) ~(EVENT_HAS_EXT | EVENT_OWN_ID);
	ev->link = EVENT_NO_LINK;
	if (op == EVENT_NO_LINK || !(t->events.v[op].flags & EVENT_HAS_EXT))
		return;
	ev->ext = t->events.v[op].ext;
	ev->flags |= EVENT_HAS_EXT;
}

static bool is_call(const struct trace_event *ev)
{
	return event_cat_info((enum event_cat)ev->cat)->launcher;
}

static int repair_by_calls(struct trace *t, size_t calls, struct err *e)
{
	struct by_ext by = { 0 };
	int rc = by_ext_init(&by, calls, e);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < t->events.n; i++) /* the last of equal correlations stands */
		if (repairs(&t->events.v[i]) && is_call(&t->events.v[i]))
			*by_ext_slot(&by, t, t->events.v[i].ext) = (uint32_t)i;
	for (size_t i = 0; i < t->events.n; i++) {
		struct trace_event *ev = &t->events.v[i];
		uint32_t call;

		if (!repairs(ev) || is_call(ev))
			continue;
		call = *by_ext_slot(&by, t, ev->ext);
		take_ext(t, ev, call == EVENT_NO_LINK ? EVENT_NO_LINK : t->events.v[call].link);
	}
	for (size_t i = 0; i < t->events.n; i++)
		if (repairs(&t->events.v[i]))
			take_ext(t, &t->events.v[i], t->events.v[i].link);
	mem_free(by.slots);
	return OK;
}

static int enclose_calls(struct trace *t, const bool *has_calls, struct err *e)
{
	struct order o = { 0 };
	uint32_t *stack = NULL;
	int rc;

	rc = order_make(&o, t, group_for_repair, has_calls, intern_count(&t->threads), ORDER_CALLS_LAST, e);
	if (rc < 0)
		return rc;
	stack = mem_try((o.n + 1) * sizeof(*stack));
	if (stack == NULL)
		rc = err_set(e, E_NOMEM, "no memory to link %zu events", o.n);
	for (size_t g = 0; rc == OK && g < o.groups; g++)
		find_enclosing(t, o.index + o.start[g], o.start[g + 1] - o.start[g], stack);
	mem_free(stack);
	order_fini(&o);
	return rc;
}

static int repair(struct trace *t, struct err *e)
{
	bool *has_calls;
	size_t calls = 0, own = 0;
	int rc = OK;

	has_calls = mem_get_array(intern_count(&t->threads) + 1, sizeof(*has_calls));
	vec_each(ev, &t->events) {
		if (!repairs(ev))
			continue;
		own++;
		if (is_call(ev)) {
			calls++;
			has_calls[ev->thread] = true;
		}
	}
	if (calls > 0)
		rc = enclose_calls(t, has_calls, e);
	if (rc == OK && own > 0)
		rc = repair_by_calls(t, calls, e);
	mem_free(has_calls);
	return rc;
}

/* ---- links */
static bool may_own(const struct trace *t, const struct trace_event *ev)
{
	return event_cat_info((enum event_cat)ev->cat)->class == EVENT_HOST_OP && (ev->flags & EVENT_HAS_EXT) &&
	       !event_is_async(t, ev);
}

static bool may_link(const struct trace_event *ev)
{
	enum event_class class = event_cat_info((enum event_cat)ev->cat)->class;

	if (!(ev->flags & EVENT_HAS_EXT))
		return false;
	return class == EVENT_HOST_CALL || (class == EVENT_DEVICE && ev->cat != CAT_DEVICE_ANNOTATION);
}

static int find_ops(struct trace *t, struct err *e)
{
	struct by_ext by = { 0 };
	size_t ops = 0;
	int rc;

	vec_each(ev, &t->events)
		ops += may_own(t, ev);
	rc = by_ext_init(&by, ops, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < t->events.n; i++) {
		uint32_t *slot;

		if (!may_own(t, &t->events.v[i]))
			continue;
		slot = by_ext_slot(&by, t, t->events.v[i].ext);
		if (*slot == EVENT_NO_LINK) /* the first of equal ids stands */
			*slot = (uint32_t)i;
	}
	vec_each(ev, &t->events)
		ev->link = may_link(ev) ? *by_ext_slot(&by, t, ev->ext) : EVENT_NO_LINK;
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
		if (event_cat_info((enum event_cat)ev->cat)->class != EVENT_DEVICE)
			ev->device_ns = 0; /* takes the place of ext */
	}
	vec_each(ev, &t->events) {
		enum event_class class = event_cat_info((enum event_cat)ev->cat)->class;

		if (ev->link == EVENT_NO_LINK)
			continue;
		must(ev->link < t->events.n);
		if (class == EVENT_DEVICE)
			t->events.v[ev->link].device_ns = ns_add(t->events.v[ev->link].device_ns, ev->dur_ns);
		else
			ev->thread = t->events.v[ev->link].thread;
	}
	return OK;
}

