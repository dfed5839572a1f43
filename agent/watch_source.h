/* watch_source.h — the source "watch": the folders of the configuration (agent/watch.h), as the agent's loop drives them.
 * Runs on: the agent's main thread. */
#ifndef AGENT_WATCH_SOURCE_H
#define AGENT_WATCH_SOURCE_H

#include "agent/options.h"
#include "agent/plan.h"
#include "agent/source.h"

/* cf, plan: borrowed until the source is closed. once: what cannot be read now is left, and not tried again. plan: tells whether capture is
 * paused. */
int watch_source_open(struct source *out, const struct agent_conf *cf, const struct plan *plan, bool once, struct err *e) MUST_USE;

#endif
