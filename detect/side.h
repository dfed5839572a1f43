/* side.h — one side's windows, reduced to what optable.c needs: for every op a cell for each window that has it.
 * The struct behind detect/judge.h's sides, for this folder only. */
#ifndef DETECT_SIDE_H
#define DETECT_SIDE_H

#include "base/map.h"
#include "base/vec.h"
#include "detect/judge.h"
#include "detect/names.h"
#include "stat/hist.h"

/* One op in one window; totals, not per step. */
struct side_cell {
	uint32_t window;
	double host_calls, host_ns;	/* all calls; host self time */
	double device_calls, device_ns; /* calls that launched something, or orphans; device self time */
	double cpu_calls, cpu_ns;	/* in a window with device events: calls that ran on the CPU */
};
VEC(side_cells, struct side_cell);

struct side_op {
	struct name name;
	struct str shown; /* the bytewise smallest of the names that it stood under */
	struct side_cells cells;
	struct hist hist[OP_BASES];
};
VEC(side_ops, struct side_op);

struct side_window {
	bool has_device, has_gap;
	double steps; /* 0: not known */
	double gap_ns, memcpys;
	double frames;
	double step_ns; /* mean; 0: not known */
};
VEC(side_windows, struct side_window);

enum { SIDE_STEPS_ALL, SIDE_STEPS_DEVICE, SIDE_STEPS_KINDS };

struct side {
	const struct fusion_table *fusion;
	struct arena arena;
	struct map raw;	 /* name as in the window → its op */
	struct map keys; /* class and canonical key → its op */
	struct side_ops ops;
	struct side_windows windows; /* those with ops */
	size_t n_cells, n_seen;
	uint64_t steps;
	struct hist step_hist[SIDE_STEPS_KINDS]; /* of all windows; of those with device events */
	bool has_device;
};

#endif
