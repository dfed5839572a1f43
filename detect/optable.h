/* optable.h — two sides of windows as one op table: for every op its calls and time per step before and after, as medians
 * over each side's windows.
 *
 * Which time: device time where both sides have windows with device events (only those windows count then), else host
 * self time of all windows. In device windows rows of host ops give the device time that they launched and device rows
 * only the part that no op launched, so nothing is counted twice; a host op that launched nothing and had nothing
 * launched below it ran on the CPU. */
#ifndef DETECT_OPTABLE_H
#define DETECT_OPTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "detect/judge.h"
#include "detect/names.h"
#include "stat/hist.h"

/* One side of a row, per step. */
struct optable_side {
	double calls, time_ns;
	const struct hist *hist; /* single times of all windows, NULL where none are known; lives as long as the side */
};

struct optable_row {
	const struct name *name;
	struct str shown; /* as it stood in the windows */
	bool on_cpu;	  /* the part that ran on the host, in windows with device events */
	struct optable_side before, after;
};

struct optable_sums {
	double launches;     /* calls of work and of regions */
	double region_calls; /* of the level that has most, and of modules whose ops have no rows */
	double frames;	     /* distinct ones among the regions of a window */
	double copies;
	double total_ns;     /* all rows but book-keeping */
	double gap_ns;
	double step_ns;	     /* median; total, gap and host time where no step time is known */
	const struct hist *steps; /* single step times, or NULL */
	bool has_step, has_gap;
};

struct optable {
	const struct fusion_table *fusion;
	struct optable_row *rows; /* work, quiet rows and modules; by key bytewise, the host's part last */
	size_t n_rows;
	struct optable_row region; /* the three levels as one: calls of the level with most, time of all */
	struct optable_sums before, after;
	bool on_device;	  /* which time */
	bool has_singles; /* both sides know single times of some op */
	bool has_step;	  /* both sides know step times */
};

/* Everything but histograms lives in the arena. E_LIMIT when that is full. */
int optable_make(const struct side *before, const struct side *after, struct arena *a, struct optable *out,
	struct err *e) MUST_USE;

/* Step time after over before, less 1 (see step_ns). */
double optable_step_up(const struct optable *t);

#endif
