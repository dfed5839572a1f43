/* errand.h — a thread that does one thing after the other that has to wait: an exchange, a child, a file that is to
 * come. The caller's struct begins with a struct errand; run gets it on the thread and leaves what it found in it.
 * Runs on: start, give, fetch and stop on the agent's main thread. */
#ifndef AGENT_ERRAND_H
#define AGENT_ERRAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/thread.h"

struct errand {
	/* On the thread; it looks at thread_stopping whenever it waits. */
	void (*run)(struct errand *er, struct thread *t);
	void (*free)(struct errand *er); /* what nobody fetched */
};

struct errands;

/* name: of the thread, 15 bytes at most. cap: errands that wait, and as many that are back. */
int errands_start(struct errands **out, const char *name, size_t cap, struct err *e) MUST_USE;
void errands_stop(struct errands *es); /* waits for the one at hand; frees the others; NULL is fine */
bool errands_give(struct errands *es, struct errand *er); /* false when cap are waiting; else it is taken */
int errands_fd(struct errands *es);			  /* readable when one is back */
struct errand *errands_fetch(struct errands *es);	  /* NULL when none is back */

#endif
