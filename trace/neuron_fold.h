/* neuron_fold.h — the linked events of a system profile become the rows of a window (trace/neuron_system.h). */
#ifndef TRACE_NEURON_FOLD_H
#define TRACE_NEURON_FOLD_H

#include "profile/window.h"
#include "trace/draft.h"
#include "trace/neuron_event.h"

/* Adds ops and gauges to the draft, and fills steps, steps_from, launches, has_device, start_ns, dur_ns and events. The
 * events must be linked. E_NOMEM. */
int neuron_fold(struct neuron_events_all *all, struct draft *d, struct window *w, struct err *e) MUST_USE;

#endif
