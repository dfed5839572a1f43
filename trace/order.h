/* order.h — indexes of events, put into groups and sorted inside each: by thread for the tree, by device for gaps.
 * 4 bytes an index and 4 while sorting. Stable: equal ones keep the order of the file. Nearly sorted input, which is
 * what traces are, costs one comparison an event; any other n log n. Runs on: one thread at a time. */
#ifndef TRACE_ORDER_H
#define TRACE_ORDER_H

#include <stdint.h>

#include "base/err.h"
#include "trace/event.h"

struct order {
	uint32_t *index; /* n events, group after group */
	size_t n;
	size_t *start; /* of each group in index; groups + 1 of them */
	size_t groups;
};

/* The group of an event, or ORDER_OUT for one that is not wanted. */
#define ORDER_OUT UINT32_MAX
typedef uint32_t order_group(const struct trace *t, const struct trace_event *ev, const void *arg);

enum order_by {
	ORDER_OUTER_FIRST, /* start, then the longer one: a parent stands before its children */
	ORDER_CALLS_LAST,  /* start, then ops before calls, then the longer one: an op stands before the calls in it */
	ORDER_BYS
};

int order_make(struct order *o, const struct trace *t, order_group *group, const void *arg, size_t groups,
	enum order_by by, struct err *e) MUST_USE;
void order_fini(struct order *o);

#endif
