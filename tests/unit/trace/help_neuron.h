/* help_neuron.h — Neuron files from text, windows as lines that tests can look for. */
#ifndef TESTS_UNIT_TRACE_HELP_NEURON_H
#define TESTS_UNIT_TRACE_HELP_NEURON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "profile/window.h"
#include "trace/tokens.h"

typedef int neuron_reader(struct arena *a, struct tokens *t, struct window *out, struct err *e);

/* What a reader makes of a text, fed in pieces of at most so many bytes (0: at once). The window must pass window_check.
 *
 *	window dur_ns=40 steps=1 executions launches=1 events=2 device
 *	op kernel Vector ADD calls=2 device=30/30 cpu=0/0 orphan=2/30 10..20
 *	gauge semaphore_wait 900 ns engine=Vector
 *	version runtime=2.29 | label instance_type=trn1 | skip truncated 1 @99 | note bad_utf8 1
 *
 * or "error SENTENCE". device and cpu are total and self, orphan is calls and time. */
void help_neuron_read(neuron_reader *read, struct str text, size_t piece, struct buf *out);

/* The text must give this line; the whole is printed where it does not. */
void help_neuron_has(neuron_reader *read, const char *text, const char *line);
void help_neuron_has_not(neuron_reader *read, const char *text, const char *part);

/* The same for pieces of every size up to 80 bytes as at once. */
void help_neuron_seams(neuron_reader *read, struct str text);
/* Cut at every 1/64 of its length: a window that says it is truncated, or an error; never more ops than the whole. */
void help_neuron_cuts(neuron_reader *read, struct str text);

/* The n-th piece of memory cannot be had, for every n: an error, a loss that is counted, or the same window. */
void help_neuron_memory(neuron_reader *read, struct str text);

#endif
