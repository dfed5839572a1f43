/* keyavg.h — PyTorch's key_averages() over a trace, to the nanosecond.
 * Implements EventList and FunctionEventAvg of torch/autograd/profiler_util.py for what stands in the file: nesting by
 * time on each thread, device time to the op that launched it, a call that is its parent's only child and has its name
 * taken into the parent, asynchronous collectives beside the tree.
 *
 * Time: n log n for the order, one pass for the tree, no recursion. Memory beyond the events (32 bytes each): 8 to 16
 * bytes a host op while linking, after that 4 bytes a tree node (8 while sorting): never more than 48 bytes an event in
 * all. Besides, 80 bytes a level of the deepest nesting and 16 a name.
 * Runs on: one thread at a time. */
#ifndef TRACE_KEYAVG_H
#define TRACE_KEYAVG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/event.h"

/* One call that gives a row: host ops and calls, device events. */
struct keyavg_call {
	const struct trace_event *ev;
	int64_t self_cpu_ns, cpu_total_ns, self_device_ns, device_total_ns;
	bool launches; /* an op that does work and has none below it that does */
	bool orphan;   /* a device event that is in no op's device time */
};
typedef void keyavg_each_call(void *arg, const struct keyavg_call *call);

/* Links the trace's events and hands on every call once: host ones thread by thread, then device events in the order
 * of the file. Once a trace: it uses up the External ids. crossings may be NULL. */
int keyavg_each(struct trace *t, keyavg_each_call *each, void *arg, uint64_t *crossings, struct err *e) MUST_USE;

struct keyavg_row {
	struct str name; /* lives in the trace */
	struct str dims; /* as trace_dims; empty where the table is not by shapes */
	bool is_device, is_user_annotation;
	uint64_t count;
	int64_t self_cpu_ns, cpu_total_ns, self_device_ns, device_total_ns;
	int64_t bytes[MEMORY_SIDES], self_bytes[MEMORY_SIDES]; /* taken while it lasted, and not in its children */
	int64_t first_ns, first_dur_ns; /* the call that comes first in PyTorch's list: it begins first, or is the longer */
};

struct keyavg_table {
	struct keyavg_row *v; /* ordered by name bytewise, is_device, is_user_annotation, dims bytewise */
	size_t n;
	unsigned want;			       /* the trace's: TRACE_SHAPES for rows by shapes, TRACE_MEMORY for bytes */
	uint64_t steps;			       /* calls of ProfilerStep#N on the host */
	int64_t self_cpu_ns, self_device_ns;   /* PyTorch's footer: all rows; device rows that are no annotations */
	int64_t orphan_ns;		       /* the part of self_device_ns that no op launched */
	uint64_t crossings;		       /* events that end after one on their thread that they began in */
};

/* key_averages(), with group_by_input_shape=True where the trace was read with TRACE_SHAPES. */
int keyavg_table_make(struct keyavg_table *out, struct trace *t, struct err *e) MUST_USE;
/* The same, and every call is handed on to also as well: what else is wanted comes from the same pass. */
int keyavg_table_make_and(struct keyavg_table *out, struct trace *t, keyavg_each_call *also, void *arg, struct err *e)
	MUST_USE;
void keyavg_table_fini(struct keyavg_table *kt);

#endif
