/* fold.h — the calls of a trace become the ops, gauges and counts of a window (profile/window.h).
 *
 * Kinds: host rows by category; rows of compiled code are regions; asynchronous collectives and device work named like
 * one are collectives (device rows have a cpu_total_ns of 0); ProfilerStep#N is the step. Device annotations,
 * synchronisation and ranges are no work and have no row: the kernels in them do.
 * One time a call: self device time where the trace has device events, else self CPU time. Exceptions: a step's is its
 * duration, an asynchronous collective's its duration on the host (PyTorch gives it no self time), a gap's the gap.
 * gap device: one value a gap between executions of one device, from the first step's start to the last step's end
 * (the whole trace where there are no steps); the sum stands in device_total_ns, and device_self_ns is 0.
 * Steps: ProfilerStep#N, else what trace/rhythm.h finds, where that is clear.
 * Launches: device executions but copies and fills, inside steps by the start of the op that launched them; without
 * device events calls of ops that do work themselves (no views, no allocations, no wrappers of other ops).
 * Gauges: device_busy {device} ns (union of its executions), those of trace/device_use.h and trace/launch_delay.h, launches_per_step, region_frames and region_compile_ids (distinct frames N and
 * compilations N/M of "Torch-Compiled Region: N/M", whose names are one series).
 * Traces of JAX and PyTorch/XLA (trace/xla.h): HLO events are device work that no op launched, under their base name; each
 * module is a region besides.
 * Runs on: one thread at a time. Memory: 8 bytes a name and what keyavg takes. */
#ifndef TRACE_FOLD_H
#define TRACE_FOLD_H

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/event.h"

/* Fills ops, gauges, steps, steps_from, has_device, launches, events and dur_ns; *first_ns is the first event's start on
 * the trace's own clock. Uses the trace up (keyavg_each). On failure w has no ops. */
int fold_trace(struct trace *t, struct arena *a, struct window *w, int64_t *first_ns, struct err *e) MUST_USE;

#endif
