#include "trace/tree.h"

#include "base/mem.h"
#include "trace/order.h"

struct climb {
	const struct trace *t;
	const struct tree_visitor *v;
	struct tree_node *stack;
	size_t depth, room;
};

uint32_t tree_thread(const struct trace *t, const struct trace_event *ev, const void *arg)
{
	if (event_info(ev)->class == EVENT_DEVICE || event_is_async(t, ev) || (arg == NULL && (ev->flags & EVENT_TAKEN)))
		return ORDER_OUT;
	return ev->thread;
}

static void close_top(struct climb *c)
{
	struct tree_node *node = &c->stack[--c->depth];

	c->v->close(c->v->arg, node, c->depth > 0 ? node - 1 : NULL);
}

static bool open_node(struct climb *c, const struct trace_event *ev)
{
	struct tree_node *node;

	if (c->depth == c->room) {
		size_t room = c->room ? c->room * 2 : 64;
		struct tree_node *stack = mem_try_resize(c->stack, room * sizeof(*stack));

		if (stack == NULL)
			return false;
		c->stack = stack;
		c->room = room;
	}
	node = &c->stack[c->depth++];
	*node = (struct tree_node){ .ev = ev };
	if (c->v->open != NULL)
		c->v->open(c->v->arg, node, c->depth > 1 ? node - 1 : NULL);
	return true;
}

static int climb_thread(struct climb *c, const uint32_t *index, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		const struct trace_event *ev = &c->t->events.v[index[i]];

		while (c->depth > 0) {
			int64_t end = event_end_ns(c->stack[c->depth - 1].ev);

			if (ev->start_ns < end && event_end_ns(ev) <= end)
				break;
			close_top(c);
		}
		if (!open_node(c, ev))
			return err_set(e, E_NOMEM, "no memory for %zu events in each other", c->depth);
	}
	while (c->depth > 0)
		close_top(c);
	return OK;
}

int tree_each(const struct trace *t, const struct tree_visitor *v, struct err *e)
{
	struct climb c = { .t = t, .v = v };
	struct order o = { 0 };
	int rc = order_make(&o, t, tree_thread, v->taken ? v : NULL, intern_count(&t->threads), ORDER_OUTER_FIRST, e);

	for (size_t g = 0; rc == OK && g < o.groups; g++)
		rc = climb_thread(&c, o.index + o.start[g], o.start[g + 1] - o.start[g], e);
	order_fini(&o);
	mem_free(c.stack);
	return rc;
}
