/* ship.h — sends batches to the daemon, on a thread of its own, and tries again until there is a final answer.
 *
 *	2xx with {"accepted":…,"duplicates":…}, together all that were sent    accepted: the daemon has them durably
 *	400 413 415 422                                                        refused for good
 *	anything else, and no answer at all                                    again, after full-jitter backoff or what Retry-After says
 *
 * Several spooled windows travel as one batch. Where such a batch is refused, whoever gave it sends half of it at
 * a time, so that a bad window does not take the others with it. The token is read again whenever it was not good enough,
 * and never logged. Runs on: the functions on the agent's main thread, the exchanges on the ship thread. */
#ifndef AGENT_SHIP_H
#define AGENT_SHIP_H

#include <stddef.h>
#include <stdint.h>

#include "agent/errand.h"
#include "agent/spool.h"
#include "base/buf.h"
#include "base/err.h"

enum { SHIP_PARTS_MAX = 500 };

enum ship_outcome {
	SHIP_ACCEPTED,
	SHIP_REFUSED, /* for good: status and err say why */
	SHIP_GAVE_UP, /* tries used up */
	SHIP_STOPPED, /* ship_stop came first */
	SHIP_OUTCOMES
};

struct ship;

struct shipment {
	struct errand errand; /* first; of the thread that it is given to */
	struct ship *ship;
	/* in */
	struct buf parts[SHIP_PARTS_MAX]; /* encoded batches */
	size_t n_parts;
	struct spool_place upto; /* for whoever gave it: what is done with when it is accepted */
	/* out */
	enum ship_outcome outcome;
	int status; /* HTTP; 0 where no answer came or none was asked for */
	uint64_t accepted, duplicates;
	struct err err; /* why refused, or the last failure */
};

struct shipment *shipment_new(void);
void shipment_free(struct shipment *s);
/* The next part to read into, owned by the shipment; count it by n_parts++. */
struct buf *shipment_part(struct shipment *s);

struct ship_settings { /* texts are copied */
	const char *server; /* "http://host:8940" */
	const char *token_file, *ca_file; /* "" for none */
	int64_t timeout_ns; /* of one exchange */
	int64_t retry_first_ns, retry_max_ns;
	unsigned tries; /* 0: for ever */
};

int ship_start(struct ship **out, const struct ship_settings *s, struct err *e) MUST_USE;
void ship_stop(struct ship *sh); /* within a second; what is out is lost, the spool still has it */
void ship_give(struct ship *sh, struct shipment **s); /* takes *s; at most one is out at a time */
int ship_fd(struct ship *sh);			      /* readable when one is back */
struct shipment *ship_fetch(struct ship *sh);	      /* NULL when none is back */

/* What an answer means. */
enum ship_meaning { SHIP_TAKEN, SHIP_AGAIN, SHIP_NEVER };
enum ship_meaning ship_judge(int status);

/* One batch of all parts, appended to out. */
int ship_join(const struct shipment *s, struct buf *out, struct err *e) MUST_USE;

#endif
