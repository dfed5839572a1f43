/* outbox.h — windows on their way to the daemon: the spool, which keeps them, and the ship thread, which sends them in batches, the
 * oldest first.
 *
 *	outbox_put ─ spool (fsync) ─ as many as fit into a batch ─ ship ═ daemon
 *	                                    accepted: forgotten
 *	                                    refused:  half as many at a time, until the bad one stands alone: quarantine
 *
 * Runs on: the agent's main thread. */
#ifndef AGENT_OUTBOX_H
#define AGENT_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/ship.h"
#include "agent/spool.h"
#include "base/err.h"
#include "base/str.h"

struct outbox;

struct outbox_counts {
	uint64_t shipped;     /* the daemon has them now */
	uint64_t duplicates;  /* the daemon had them already */
	uint64_t quarantined; /* the daemon refused them for good */
};

/* state_dir: copied; spool and quarantine are in it. E_BUSY when another agent has the spool. */
int outbox_open(struct outbox **out, const char *state_dir, int64_t spool_bytes, struct err *e) MUST_USE;
void outbox_close(struct outbox *o); /* NULL is fine */

/* Where to and how; what was under way is sent again. batch_bytes: at once; quarantine_batches: kept of those refused. */
int outbox_ship(struct outbox *o, const struct ship_settings *s, int64_t batch_bytes, int64_t quarantine_batches,
	struct err *e) MUST_USE;
void outbox_hold(struct outbox *o); /* sends no more until outbox_ship */

/* Can all of an archive's windows wait at once? Else the last ones would push out the first. */
bool outbox_can_hold(const struct outbox *o, size_t windows, uint64_t bytes);
int outbox_put(struct outbox *o, struct str batch, struct err *e) MUST_USE; /* as spool_append */

int outbox_fd(const struct outbox *o); /* readable: call outbox_take */
void outbox_take(struct outbox *o);    /* what is back */
void outbox_send(struct outbox *o);    /* what is next, unless something is under way */

bool outbox_idle(const struct outbox *o);    /* nothing is under way */
bool outbox_gave_up(const struct outbox *o); /* tries were limited, and used up */
const struct spool_state *outbox_state(const struct outbox *o);
const struct outbox_counts *outbox_counts(const struct outbox *o);

#endif
