/* memory.h — how much memory was taken while a call lasted: from the events named "[memory]", of any thread.
 * Implements the memory columns of PyTorch's key_averages() (torch/autograd/profiler.py, _parse_kineto_results): the sum
 * of "Bytes" with a time in [start, end], for the CPU's device types and for all others.
 * Runs on: one thread at a time. Memory: 24 bytes an allocation. */
#ifndef TRACE_MEMORY_H
#define TRACE_MEMORY_H

#include "trace/event.h"

/* False at the ceiling. device_type is the number of c10::DeviceType. */
bool memory_add(struct trace *t, int64_t at_ns, int64_t device_type, int64_t bytes);

/* Once all are there: puts them in order of time, and in each the sum up to it. */
void memory_settle(struct trace *t);

struct memory_sum {
	int64_t bytes[MEMORY_SIDES];
};
/* After memory_settle; both ends are included. Exact where the sum itself fits. */
struct memory_sum memory_between(const struct trace *t, int64_t from_ns, int64_t to_ns);

#endif
