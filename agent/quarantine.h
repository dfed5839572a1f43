/* quarantine.h — batches that the daemon refused for good, kept for people to look at: DIR/TIME.batch (wall nanoseconds)
 * as it was sent (a zstd-compressed WindowBatch), and the reason beside it in .txt. At most so many; the oldest go
 * first. Runs on: the agent's main thread. */
#ifndef AGENT_QUARANTINE_H
#define AGENT_QUARANTINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Durable when it returns OK. */
int quarantine_put(const char *dir, int64_t now_wall_ns, struct str batch, struct str reason, size_t max_batches,
	struct err *e) MUST_USE;

#endif
