/* agent.h — the agent as a whole: drives its sources (agent/source.h), has traces read, keeps windows in the spool, ships
 * them, and asks the daemon whom it may profile (agent/fleet.h).
 *
 *	source ─ finished file ─ job thread ─ encoded window ─ spool (fsync) ─ file removed
 *	       ─ report ────────────────────────┘                  └─ ship thread ═ daemon ─ forgotten after 2xx
 *
 * Every step is durable before the next one starts, and each can be done twice: a trace that is read again gives the
 * same window id, a batch that is sent again is a duplicate to the daemon. One thread (main) owns sources and spool;
 * the others get whole messages and give them back. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/options.h"
#include "base/err.h"

struct agent;

/* Takes *cf (and leaves defaults of nothing in it). E_BUSY when another agent has the spool. */
int agent_open(struct agent **out, struct agent_conf *cf, const struct agent_options *o, struct err *e) MUST_USE;
void agent_close(struct agent *a);

/* Until SIGTERM or SIGINT, or with --once until all is done: the exit status. */
int agent_run(struct agent *a);

#endif
