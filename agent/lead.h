/* lead.h — who says when windows are taken: the daemon, by leases, or the local limits alone where no daemon answers. What is
 * posted to /api/v1/agents/{id}/poll, and what is made of the answer. Pure: times come in; the exchange is agent/fleet.h.
 *
 *	lead_report     workers as the plan has them, and what became of leases     → body
 *	lead_answer     200: paused or not, leases, how often to ask
 *	lead_failed     no answer, or none of a daemon: after three of them the local limits alone count
 *
 * A pause stays in force until an answer lifts it, whoever leads. What became of leases is repeated until an answer came that does
 * not say "heard":false. Before the first answer the daemon leads, so that an agent that starts anew takes nothing unleased.
 * Runs on: the agent's main thread. */
#ifndef AGENT_LEAD_H
#define AGENT_LEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/plan.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { LEAD_BODY_MAX = 4 << 20, LEAD_ANSWER_MAX = 1 << 20, LEAD_WORKERS_MAX = 2000, LEAD_ENDED_MAX = 256, LEAD_REASON_MAX = 200,
	LEAD_FAILURES = 3 };

struct lead_settings { /* texts are borrowed */
	const char *host;
	int64_t start_ns; /* wall; of the agent */
	int64_t poll_ns;  /* how often to ask, until an answer says otherwise */
};

struct lead {
	struct lead_settings settings;
	struct plan *plan; /* borrowed */
	unsigned failures; /* since the last answer */
	bool paused;
	char reason[LEAD_REASON_MAX + 1]; /* of the pause */
	int64_t poll_ns;
	int64_t ahead_ns; /* of the wall clock before the monotonic one; the same until the clock is set */
	uint64_t answers, failed, leases; /* so far; leases: answered with, repeats counted */
	bool unheard; /* by its last answer the daemon could not keep what ended */
	struct plan_ended told[LEAD_ENDED_MAX]; /* in the report that is out */
	size_t n_told;
};

/* paused: as it was when the agent ended. */
void lead_init(struct lead *l, const struct lead_settings *s, struct plan *plan, bool paused, const char *reason);

void lead_report(struct lead *l, int64_t now_ns, int64_t wall_ns, struct buf *out);
/* The body of a 200. E_FORMAT where no daemon said this, which is then a failure. */
int lead_answer(struct lead *l, struct str body, int64_t now_ns, struct err *e) MUST_USE;
void lead_failed(struct lead *l);

#endif
