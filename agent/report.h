/* report.h — a window of gauges, with no ops, on its way into the spool: what the sources that report do alike.
 * Runs on: the agent's main thread. */
#ifndef AGENT_REPORT_H
#define AGENT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/sequence.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "profile/window.h"

/* Who reports. Texts live as long as the source. */
struct report_origin {
	struct str agent_id, agent_version, host;
	struct sequence *sequence;
};

/* Windows that wait for the agent's loop to take them. The oldest go where too many do. */
enum { REPORT_BATCHES_MAX = 256 };
struct report_queue {
	struct report_batches {
		struct buf *v;
		size_t n, room, cap;
	} batches;
	size_t first;	     /* of v that is still there */
	uint64_t made, lost; /* lost: made, and no room, or not made at all */
};

void report_queue_init(struct report_queue *q);
void report_queue_fini(struct report_queue *q);

/* Gives the window its id and what else origin and source say, and encodes it. w: service, deploy, worker, times, labels, versions and
 * gauges are set; an empty service becomes "unknown". E_LIMIT, E_FORMAT: counted as lost, like every failure. */
int report_push(struct report_queue *q, const struct report_origin *o, const char *source, struct window *w, struct err *e)
	MUST_USE;
/* As source_type's batch. */
bool report_pop(struct report_queue *q, struct buf *out);

#endif
