/* busy.h — when a device worked: the union of its executions, and the gaps in between.
 * Executions on one device may overlap (streams, queues) or lie in each other; a device is one pid of the trace, which
 * on Neuron is one core. Runs on: one thread at a time. */
#ifndef TRACE_BUSY_H
#define TRACE_BUSY_H

#include "base/err.h"
#include "trace/event.h"

struct busy_span { /* both included; only gaps that lie inside it are given */
	int64_t from_ns, to_ns;
};

struct busy_visitor {
	void (*gap)(void *arg, int64_t ns);
	void (*device)(void *arg, struct str pid, int64_t busy_ns); /* whole trace; pid as it stands in the file */
	/* A time without a pause, device after device, each before its device(); NULL is fine. */
	void (*busy)(void *arg, struct str pid, int64_t from_ns, int64_t to_ns);
	void *arg;
};

int busy_each(const struct trace *t, struct busy_span span, const struct busy_visitor *v, struct err *e) MUST_USE;

#endif
