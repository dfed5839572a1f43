/* verdict.h — what a detector found, with its evidence. Made by detect/, shown by cli, api, notify; kept by store.
 * Texts and arrays live in the arena of whoever asked for the verdict. */
#ifndef PROFILE_VERDICT_H
#define PROFILE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "json/write.h"

enum verdict_kind {
	VERDICT_NONE,
	VERDICT_FUSION_LOST,
	VERDICT_FUSION_CHANGED,
	VERDICT_GRAPH_BREAKS,
	VERDICT_HOST_GAP,
	VERDICT_CPU_FALLBACK,
	VERDICT_OP_SLOWER,
	VERDICT_STEP_SLOWER,
	VERDICTS
};
const char *verdict_name(enum verdict_kind k); /* "fusion_lost" */
int verdict_parse(struct str word, enum verdict_kind *out) MUST_USE;

struct before_after {
	double before, after;
};

/* One op on both sides, per step. */
struct op_change {
	struct str op;
	struct before_after calls_per_step;
	struct before_after time_per_step_ns;
};

struct finding {
	enum verdict_kind kind;
	struct op_change op;		/* what was lost, broke, or got slower; for step_slower and host_gap: the step, the gap */
	struct op_change *replaced_by;	/* fusion: what stands in its place, most time first */
	size_t n_replaced_by;
	double net_ns_per_step;		/* time gained by the replacement minus time lost */
	double share;			/* net over the step's (or table's) time before */
	double kappa, pieces;		/* fusion: detect/fusion.h; 0 elsewhere */
	double ratio, z;		/* slower: ratio of medians after dividing out, Mann-Whitney z; 0 elsewhere */
	struct str why;			/* the rule: "table:rms_norm", "region", "kernel split", … */
	struct str sentence;		/* for people: "aten::_fused_rms_norm (1 call, 403 µs a step) became 6 calls …" */
};

struct verdict {
	enum verdict_kind kind;		/* of the first finding, or none */
	bool has_step;			/* step times are known on both sides */
	struct before_after step_ns;	/* median; the sum of all rows where no step time is known (has_step false) */
	struct before_after launches_per_step;
	struct finding *findings;	/* gravest first */
	size_t n_findings;
};

/* {"verdict":…,"step_ns":{"before","after"},"launches_per_step":{…},"findings":[{"kind","op","calls_per_step":{…},
 * "time_per_step_ns":{…},"replaced_by":[{"op","calls_per_step":{…},"time_per_step_ns":{…}}],"net_ns_per_step","share",
 * "why","sentence",…}]}: as members of an object that the caller has open. Times are rounded to whole ns. */
void verdict_write_members(struct json_writer *w, const struct verdict *v);

#endif
