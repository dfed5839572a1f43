/* fleet.h — asks the daemon whose turn it is: POST /api/v1/agents/{id}/poll every poll.interval, on a thread that may wait.
 * Where a lease has ended, it says so after a second: somebody may wait for the place. What is said and what is made of it:
 * agent/lead.h.
 *
 *	STATE_DIR/paused	there while capture is switched off; holds the reason. So a kill switch outlives the agent's restart,
 *				and is there before the first window could be taken.
 *
 * Runs on: the agent's main thread. */
#ifndef AGENT_FLEET_H
#define AGENT_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/plan.h"
#include "base/err.h"

struct fleet_settings { /* texts are copied */
	const char *server, *token_file, *ca_file;
	const char *agent_id, *host, *state_dir;
	int64_t interval_ns, timeout_ns;
	int64_t start_ns; /* wall; of the agent */
};

struct fleet;

/* plan: borrowed. E_SYS where the pause cannot be read: better to end than to profile against a kill switch. */
int fleet_open(struct fleet **out, const struct fleet_settings *s, struct plan *plan, int64_t now_ns, struct err *e) MUST_USE;
void fleet_close(struct fleet *f); /* NULL is fine; within a second */

int fleet_fd(struct fleet *f); /* readable: call fleet_look */
/* Takes in an answer, and sends the next report when it is time. */
void fleet_look(struct fleet *f, int64_t now_ns, int64_t wall_ns);
int64_t fleet_wake_ns(const struct fleet *f);
void fleet_status(const struct fleet *f); /* logs one line */

#endif
