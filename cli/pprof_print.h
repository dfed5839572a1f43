/* pprof_print.h — what goes into the profile of a summary (cli/pprof.h): calls, CPU and device time.
 * A trace gives a sample for each chain of calls with its self CPU time, and one for each kernel under the chain that
 * launched it, so each nanosecond counts once, and a self time below 0 (children that overlap) as none; device rows
 * that are no work (annotations, synchronisation) are left out. A window of the Neuron tools gives a sample an op:
 * device time of what runs on a device, and CPU time; engines, gaps and, where there are instructions, HLO ops would
 * count the same time again. Samples carry the labels "on" (host, device) and, of several files, "file". */
#ifndef CLI_PPROF_PRINT_H
#define CLI_PPROF_PRINT_H

#include <stdbool.h>

#include "cli/pprof.h"
#include "profile/window.h"
#include "trace/chains.h"

struct pprof_print;

struct pprof_print *pprof_print_new(void);
void pprof_print_free(struct pprof_print *p);
/* file: its name, UTF-8; several: there are others. */
void pprof_print_trace(struct pprof_print *p, const struct chains *c, struct str file, bool several); /* CHAINS_KERNELS */
void pprof_print_window(struct pprof_print *p, const struct window *w, struct str file, bool several);
int pprof_print_finish(struct pprof_print *p, struct buf *out, struct err *e) MUST_USE;

#endif
