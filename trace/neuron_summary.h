/* neuron_summary.h — neuron-explorer view --output-format summary-json: hundreds of totals of one profile.
 *
 *	{ "n_<hash>": { "total_time": 0.21, "mfu_estimated_percent": 0.4, … }, "s_<hash>": { … } }	a profile a key, whatever key
 *	{ "total_time": 0.21, … }									one profile
 *
 * Every field is optional, and what is there becomes a gauge of its name; the ending of the name tells unit and range:
 *
 *	*_percent		"*_ratio"	ratio	0 to 1: in every real file these are fractions, whatever the
 *							documented unit says; above 1.01 it is an impossible value
 *	*_ns, *_time_ns		as it is	ns	0 to 31 days: an epoch time stamp is no duration
 *	*_time			as it is	s	the same
 *	*_bytes, *_size		as it is	bytes	0 to 2^60
 *	*_flops			as it is	flops	0 to 2^100
 *	*_cycles, *_cycle_count	as it is	cycles
 *	other numbers		as it is	1	not negative
 *	*_nc<N>_*		without _nc<N>		with the label nc=N
 *	event_type_count, message_count: {name: n}	with the label type=name
 *
 * Values of a block carry its nc_idx and nd_idx as the labels nc and nd. Several profiles of one core, or of cores that
 * the file does not name (the keys are hashes that change from run to run), give the mean of their values. Versions and
 * instance_type are the window's. Impossible values are left out and counted as bad_value.
 * Ops: engine Tensor, Vector, Scalar, GpSimd, Sync, DMA and collective cc_op, as sums (no single times). Their calls
 * include semaphore instructions, their times do not: that is how the file counts them.
 * has_device where there are ops; dur_ns is the longest total_time; start_ns stays 0 (the file does not say).
 * Fields as documented for schema 7.4.0 and as seen in real files of the profilers 2.27 and 2.29. */
#ifndef TRACE_NEURON_SUMMARY_H
#define TRACE_NEURON_SUMMARY_H

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/draft.h"
#include "trace/tokens.h"

int neuron_summary_read(struct arena *a, struct tokens *t, struct window *out, struct err *e) MUST_USE;

/* For the same fields inside other files: the list of summaries, or the one, whose first token was just read. The longest total_time
 * goes to *total_ns. False where the input ended in it or is damaged. */
bool neuron_summary_inside(struct tokens *t, bool list, struct draft *d, int64_t *total_ns);

/* A duration that a profile can have: not negative, not longer than 31 days. */
#define NEURON_DUR_MAX_NS (INT64_C(31) * 86400 * 1000000000)
static inline bool neuron_dur_possible(int64_t ns)
{
	return ns >= 0 && ns <= NEURON_DUR_MAX_NS;
}
/* A wall time that a profile can have: 2015 to 2100. */
static inline bool neuron_time_possible(int64_t ns)
{
	return ns >= INT64_C(1420070400000000000) && ns <= INT64_C(4102444800000000000);
}

#endif
