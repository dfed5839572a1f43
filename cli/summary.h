/* summary.h — one file read for `trainspotter summarize`, whatever wrote it: the table, and what else was asked for.
 * Runs on: the main thread. Memory: trace/reader.h, trace/keyavg.h. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/chains.h"
#include "trace/input.h"
#include "trace/keyavg.h"
#include "trace/report.h"
#include "trace/stacks.h"
#include "trace/steps.h"
#include "trace/xla.h"

struct summary_want {
	bool by_engine, by_module, by_step; /* only files that have them are any good then */
	bool steps;			    /* where the file has them */
	bool chains; /* of calls, for a pprof profile */
	bool gauges; /* of traces: trace/device_use.h */
	bool folded; /* stacks of calls */
	enum stacks_of stacks_of;
	unsigned more; /* TRACE_…: of PyTorch traces only */
};

struct summary {
	const char *name;	/* in the arena, as are the next two */
	const char *text;	/* the name as UTF-8 */
	const char *label;	/* the same, as a terminal may see it */
	struct trace *trace;	/* NULL for a Neuron file */
	struct window *window;	/* NULL for a trace */
	struct arena arena;	/* the window's */
	struct keyavg_table table;
	struct xla_table modules; /* where they are wanted, as the next three */
	struct step_table steps;
	struct chains chains;
	struct buf stacks;
	struct window gauges; /* versions and gauges of a trace */
	struct trace_report report;
	bool readable;
	bool member; /* of an archive, or the archive itself */
	struct err error; /* why it is not readable */
};

/* Gets each summary, which is valid until it returns. */
typedef void summary_visit(void *arg, struct summary *s);
/* The file; "-" is standard input. Of an archive (tar, also compressed) every file in it, named ARCHIVE:FILE, but those
 * whose name begins with a dot and sidecars; what is wrong with the archive itself comes last, under its own name. */
void summary_read(const char *path, const struct summary_want *want, const struct trace_limits *limits,
	summary_visit *visit, void *arg);

#endif
