/* chrome_print.h — a summary as a small Chrome trace, which chrome://tracing and Perfetto open whatever the size of the
 * trace it is of.
 *
 * Two processes a file:
 *	FILE: steps		a track of steps, each with its numbers; under it each step's largest ops end to end from the
 *				step's start (lengths are sums, not places, and are cut at the step's end); a counter of
 *				launches and one of how busy the device was in each step
 *	FILE: all ops		a track each for the device time of ops, the device time of kernels and the CPU time of ops:
 *				one slice an op, as long as all its self time, largest first, with its calls and totals. Of a
 *				file of the Neuron tools kernels are instructions, and HLO ops, engines and gaps, which hold
 *				the same time again, have tracks of their own where there are any
 *
 * The category is "summary", so that nobody counts it as a trace of its own. */
#ifndef CLI_CHROME_PRINT_H
#define CLI_CHROME_PRINT_H

#include "json/write.h"
#include "profile/window.h"
#include "trace/keyavg.h"
#include "trace/steps.h"

/* Inside the array "traceEvents" that the caller has open. index: of the file. st: NULL or without rows where there are no
 * steps. kt gets sorted anew. */
void chrome_print(struct keyavg_table *kt, const struct step_table *st, const char *file, size_t index, size_t limit,
	struct json_writer *w);
void chrome_print_window(const struct window *of, const char *file, size_t index, size_t limit, struct json_writer *w);

#endif
