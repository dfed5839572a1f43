/* stacks.h — which calls stood in which, and the time each chain took by itself: what flame graph tools read.
 *
 *	ProfilerStep*;aten::linear;aten::addmm 4711		root first, a blank, whole microseconds
 *
 * As PyTorch's export_stacks() (torch/autograd/profiler_util.py): blanks, semicolons and line ends of names become "_",
 * and chains of less than a microsecond are left out. So do control characters and the blanks and line ends of Unicode, at
 * which tools split lines or trim them, and a name that is empty is written "". There a chain is of Python calls; here
 * it is what the tree of the table has, so ops are in it, and Python calls where the trace keeps them. One line a chain, in
 * order bytewise.
 * Runs on: one thread at a time. Memory: trace/chains.h, and the lines. */
#ifndef TRACE_STACKS_H
#define TRACE_STACKS_H

#include "base/buf.h"
#include "base/err.h"
#include "trace/event.h"

enum stacks_of {
	STACKS_CPU,    /* self CPU time */
	STACKS_DEVICE, /* the time of the device events that belong to the call itself */
	STACKS_OFS
};

/* After keyavg_each; appends the lines. E_NOMEM, E_LIMIT past too many chains. */
int stacks_print(const struct trace *t, enum stacks_of of, struct buf *out, struct err *e) MUST_USE;

#endif
