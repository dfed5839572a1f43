/* device_use.h — what the devices of a trace did, as gauges of its window. All are of the whole trace; those of nothing
 * are left out.
 *
 *	device_idle {device}		ns	from the first execution to the last one's end, without device_busy (trace/fold.h)
 *	stream_busy {device, stream}	ns	union of the executions of one stream or queue
 *	collective_busy {device}	ns	union of the executions that are collectives
 *	collective_overlap {device}	ns	the part of it in which another kernel ran, too
 *	device_time {class}		ns	executions by the kind of their op: kernel, hlo, collective, memcpy, memset
 *	device_calls {class}		calls
 *	copy_time, copy_calls, copy_bytes {direction}	host_to_device, device_to_host, device_to_device, other; bytes only
 *					where the trace was read with TRACE_COPIES
 *	orphan_time, orphan_calls		executions that no op launched
 *
 * A device is a pid of the trace (a core on Neuron), a stream a thread of it.
 * Runs on: one thread at a time. Memory: 8 bytes an execution while sorting. */
#ifndef TRACE_DEVICE_USE_H
#define TRACE_DEVICE_USE_H

#include "base/err.h"
#include "trace/draft.h"
#include "trace/event.h"

enum { DEVICE_USE_MAX = 200 }; /* devices, and streams; further ones have no gauges of their own */

/* After keyavg_each. */
int device_use(const struct trace *t, struct draft *d, struct err *e) MUST_USE;

/* Of a copy's name: "Memcpy HtoD (Pinned -> Device)". */
enum copy_direction copy_direction(struct str name);

/* The text of a pid or tid as a label's value. */
struct str device_label(struct draft *d, struct str id);

#endif
