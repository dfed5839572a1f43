/* neuron.h — any file of the Neuron tools that the probe knows becomes a window.
 * Ops, gauges, versions, labels, events, steps, launches, has_device and dur_ns are filled; start_ns where the file has a
 * wall clock, else 0; host where the file names its instance, else empty. Damage is OK: the report tells.
 * Runs on: one thread at a time. */
#ifndef TRACE_NEURON_H
#define TRACE_NEURON_H

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/input.h"
#include "trace/probe.h"
#include "trace/report.h"

/* kind: one for which probe_is_neuron is true. E_FORMAT where nothing can be read, E_LIMIT, E_SYS, with name in front.
 * The caller calls window_fini. */
int neuron_read(enum probe_kind kind, struct arena *a, struct input *in, const char *name, struct window *out,
	struct trace_report *report, struct err *e) MUST_USE;

#endif
