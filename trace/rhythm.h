/* rhythm.h — how many steps a trace without ProfilerStep holds: windows on demand have none.
 *
 * What comes once a step is an optimizer's step ("Optimizer.step#…"), else the lookup of the tokens, which begins a model's
 * pass (aten::embedding). Several calls that come close together, the same number in each round (two embeddings of one
 * model, two optimizers), are one step. It counts only where the rhythm is clear: rounds much alike in length, as many as
 * fill the trace; at least two of an optimizer, five of an op. Otherwise the steps are not known: no count is better than
 * a wrong one, as all that is told per step would be wrong with it.
 * Runs on: one thread at a time. Memory: 32 bytes a call of these ops. */
#ifndef TRACE_RHYTHM_H
#define TRACE_RHYTHM_H

#include "base/err.h"
#include "profile/window.h"
#include "trace/event.h"

struct rhythm {
	uint64_t n;
	enum steps_from from; /* STEPS_OPTIMIZER, STEPS_ANCHOR, or STEPS_NONE and n is 0 */
	int64_t *edge_ns;     /* of each step, in order, owned: where its last optimizer's step ends; where its first lookup
				 starts */
};

/* dur_ns: of the whole trace. E_NOMEM. */
int rhythm_find(const struct trace *t, int64_t dur_ns, struct rhythm *out, struct err *e) MUST_USE;
void rhythm_fini(struct rhythm *r);

/* The rounds of calls that start at these times, in order; 0 where that is not clear. scratch: n times. *part_ns: a gap
 * that is at least as long parts one round from the next; 0 where each call is a round. */
uint64_t rhythm_rounds(const int64_t *start_ns, size_t n, int64_t dur_ns, int64_t *scratch, int64_t *part_ns);

#endif
