/* tree.h — the calls of each thread as keyavg nests them, for whatever needs more of a call than its times.
 * After keyavg_each: a call that its parent stands for is passed over then, so what is seen is the settled tree: host
 * ops and calls, Python calls where the trace keeps them; asynchronous collectives and device events are beside it.
 * Runs on: one thread at a time. Memory: 4 bytes a node (8 while sorting), 32 a level of the deepest nesting. */
#ifndef TRACE_TREE_H
#define TRACE_TREE_H

#include <stdbool.h>

#include "base/err.h"
#include "trace/event.h"

struct tree_node { /* a call that is open; the visitor's part is zero when it opens */
	const struct trace_event *ev;
	int64_t sum[2];
	uint32_t id;
};

struct tree_visitor {
	/* parent: NULL for a call that stands in none. Open may be NULL. */
	void (*open)(void *arg, struct tree_node *node, const struct tree_node *parent);
	void (*close)(void *arg, const struct tree_node *node, struct tree_node *parent);
	void *arg;
	bool taken; /* calls that their parent stands for are handed on, too: EVENT_TAKEN in their flags */
};

/* The thread whose tree an event is a node of, or ORDER_OUT (trace/order.h). arg: NULL, or what is not NULL for calls
 * that their parent stands for as well. */
uint32_t tree_thread(const struct trace *t, const struct trace_event *ev, const void *arg);

int tree_each(const struct trace *t, const struct tree_visitor *v, struct err *e) MUST_USE;

#endif
