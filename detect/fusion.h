/* fusion.h — lost fusion by structure: something known to be fused is called less often a step, and launches of what it
 * consists of take its place. Pure.
 *
 * A candidate, whatever the rule that found it (calls and time per step):
 *	fallen	share of its calls that the fused thing lost, at least 20 %
 *	kappa	how much of what it consists of came back: over the constituents, the smaller of multiplicity and gained
 *		calls for each lost call, over the sum of multiplicities; at least 0.5
 *	pieces	gained calls for each lost call, at least 1.5: one for one is a new name and no lost fusion
 *	net	time of what came minus time of what went */
#ifndef DETECT_FUSION_H
#define DETECT_FUSION_H

#include "base/arena.h"
#include "base/err.h"
#include "detect/optable.h"
#include "profile/verdict.h"

struct fusion_candidate {
	struct op_change lost;
	struct str why; /* "region", "module", "table:rms_norm", "kernel split", "opaque kernel" */
	double lost_calls;
	double fallen, kappa, pieces, net_ns;
	double gained_calls, gained_ns;
	const struct optable_row **gained; /* most time first */
	size_t n_gained;
};

/* All candidates, largest net first. None where launches fell: whatever happened, it was no loss of fusion.
 * Arrays live in the arena. E_LIMIT when that is full. */
int fusion_find(const struct optable *t, struct arena *a, struct fusion_candidate **out, size_t *n, struct err *e)
	MUST_USE;

/* VERDICT_FUSION_LOST where it costs something, else VERDICT_FUSION_CHANGED. */
enum verdict_kind fusion_judge(const struct optable *t, const struct fusion_candidate *c);

/* Regions and modules together; shown as the regions, or as the module with most time where there are only those. */
struct op_change fusion_regions(const struct optable *t);

/* Calls of work that rose, together. */
double fusion_gained_work(const struct optable *t);

#endif
