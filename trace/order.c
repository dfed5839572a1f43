#include "trace/order.h"

#include <string.h>

#include "base/mem.h"

enum { SHORT_RUN = 16 };

/* Must b stand before a, although it comes later now? */
static inline bool before(const struct trace_event *b, const struct trace_event *a, enum order_by by)
{
	if (b->start_ns != a->start_ns)
		return b->start_ns < a->start_ns;
	if (by == ORDER_CALLS_LAST) {
		bool b_calls = event_info(b)->launcher;
		bool a_calls = event_info(a)->launcher;

		if (b_calls != a_calls)
			return a_calls;
	}
	return b->dur_ns > a->dur_ns;
}

static void sort_short(uint32_t *x, size_t n, const struct trace_event *ev, enum order_by by)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t one = x[i];
		size_t at = i;

		for (; at > 0 && before(&ev[one], &ev[x[at - 1]], by); at--)
			x[at] = x[at - 1];
		x[at] = one;
	}
}

/* Merges x[0…left) and x[left…n), both sorted. */
static void merge(uint32_t *x, size_t left, size_t n, uint32_t *scratch, const struct trace_event *ev, enum order_by by)
{
	size_t a = 0, b = left, to = 0;

	if (!before(&ev[x[left]], &ev[x[left - 1]], by))
		return;
	memcpy(scratch, x, left * sizeof(*x));
	while (a < left && b < n)
		x[to++] = before(&ev[x[b]], &ev[scratch[a]], by) ? x[b++] : scratch[a++];
	memcpy(x + to, scratch + a, (left - a) * sizeof(*x));
}

static void sort(uint32_t *x, size_t n, uint32_t *scratch, const struct trace_event *ev, enum order_by by)
{
	for (size_t i = 0; i < n; i += SHORT_RUN)
		sort_short(x + i, n - i < SHORT_RUN ? n - i : SHORT_RUN, ev, by);
	for (size_t width = SHORT_RUN; width < n; width *= 2)
		for (size_t i = 0; i + width < n; i += 2 * width)
			merge(x + i, width, n - i < 2 * width ? n - i : 2 * width, scratch, ev, by);
}

static void fill(struct order *o, const struct trace *t, order_group *group, const void *arg)
{
	size_t at = 0;

	for (size_t g = 0; g <= o->groups; g++) { /* counts become starts */
		size_t count = o->start[g];

		o->start[g] = at;
		at += count;
	}
	for (size_t i = 0; i < t->events.n; i++) {
		uint32_t g = group(t, &t->events.v[i], arg);

		if (g != ORDER_OUT)
			o->index[o->start[g]++] = (uint32_t)i;
	}
	memmove(o->start + 1, o->start, o->groups * sizeof(*o->start)); /* each start ran to the next one's */
	o->start[0] = 0;
}

int order_make(struct order *o, const struct trace *t, order_group *group, const void *arg, size_t groups,
	enum order_by by, struct err *e)
{
	uint32_t *scratch = NULL;
	size_t longest = 0;

	*o = (struct order){ .groups = groups };
	o->start = mem_try((groups + 1) * sizeof(*o->start));
	if (o->start == NULL)
		return err_set(e, E_NOMEM, "no memory to order %zu groups", groups);
	memset(o->start, 0, (groups + 1) * sizeof(*o->start));
	for (size_t i = 0; i < t->events.n; i++) {
		uint32_t g = group(t, &t->events.v[i], arg);

		if (g != ORDER_OUT)
			o->n += 1, o->start[g] += 1;
	}
	for (size_t g = 0; g < groups; g++)
		longest = o->start[g] > longest ? o->start[g] : longest;
	o->index = mem_try((o->n + 1) * sizeof(*o->index));
	scratch = mem_try((longest + 1) * sizeof(*scratch));
	if (o->index == NULL || scratch == NULL) {
		mem_free(scratch);
		order_fini(o);
		return err_set(e, E_NOMEM, "no memory to order %zu events", t->events.n);
	}
	fill(o, t, group, arg);
	for (size_t g = 0; g < groups; g++)
		sort(o->index + o->start[g], o->start[g + 1] - o->start[g], scratch, t->events.v, by);
	mem_free(scratch);
	return OK;
}

void order_fini(struct order *o)
{
	if (o == NULL)
		return;
	mem_free(o->index);
	mem_free(o->start);
	*o = (struct order){ 0 };
}
