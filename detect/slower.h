/* slower.h — the same calls take longer: one op, or all by the same factor. Pure.
 * For two sets of windows where one or two windows are all there is: what slowed everything (machine, clock, input) is
 * divided out of each op first, and where single times are known Mann-Whitney has to agree. */
#ifndef DETECT_SLOWER_H
#define DETECT_SLOWER_H

#include "base/arena.h"
#include "base/err.h"
#include "detect/optable.h"

struct slower_op {
	const struct optable_row *row; /* or the table's region */
	double ratio;	 /* of times per call, after dividing out */
	double others;	 /* what was divided out, at least 1 */
	double z;	 /* Mann-Whitney; 0 where single times are not known */
	double excess_ns; /* a step, beyond what slowed everything */
};

struct slower {
	struct slower_op *ops; /* most excess first */
	size_t n_ops;
	bool step;	   /* everything slowed by about the same */
	double step_ratio; /* weighted median over the ops */
	double step_z;
};

/* E_LIMIT when the arena is full. */
int slower_find(const struct optable *t, struct arena *a, struct slower *out, struct err *e) MUST_USE;

#endif
