/* chan.h — a bounded queue of pointers between threads, with an eventfd for threads that sit in an event loop.
 * The pointer's object changes hands with it. Runs on: any thread. */
#ifndef BASE_CHAN_H
#define BASE_CHAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/code.h"

struct chan;

struct chan *chan_new(size_t cap); /* cap: how many pointers it holds */
void chan_free(struct chan *c);	   /* must be empty of what anybody still wants */

/* E_BUSY at once when full, E_STOPPED after chan_close. */
int chan_try_push(struct chan *c, void *p) MUST_USE;
/* Waits for room up to timeout_ns (negative: for ever): OK, E_BUSY on time-out, E_STOPPED. */
int chan_push(struct chan *c, void *p, int64_t timeout_ns) MUST_USE;
/* Waits for an item up to timeout_ns (0: not at all, negative: for ever): OK, E_BUSY when none came,
 * E_STOPPED when closed and empty. */
int chan_pop(struct chan *c, void **p, int64_t timeout_ns) MUST_USE;

void chan_close(struct chan *c); /* no more pushes; what is in it can still be popped */
size_t chan_count(const struct chan *c);

/* Readable while the channel holds items or is closed; made at the first call, -1 with errno when there is none to be
 * had. Only for poll and event loops. */
int chan_fd(struct chan *c);

/* A place where one thread waits for one answer of another (the reply slot of a request that went through a chan). */
struct ticket;
struct ticket *ticket_new(void);
void ticket_free(struct ticket *t);
void ticket_done(struct ticket *t, int rc);	       /* exactly once a round */
int ticket_wait(struct ticket *t);		       /* the rc; the ticket is fresh again then */

#endif
