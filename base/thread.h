/* thread.h — a named thread with a stop flag and a join. Signals are blocked in it; the main thread takes them. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdbool.h>

#include "base/err.h"

struct thread;

/* name: at most 15 bytes, as top and gdb show it. run gets arg and should look at thread_stopping now and then. */
int thread_start(struct thread **out, const char *name, void (*run)(struct thread *, void *), void *arg,
	struct err *e) MUST_USE;
void thread_stop(struct thread *t); /* sets the flag only; wake the thread by its own means (chan_close, eventfd) */
bool thread_stopping(const struct thread *t);
int thread_stop_fd(const struct thread *t); /* readable once stopping, for poll; never read */
void thread_join(struct thread *t); /* stops, waits, frees; NULL is fine */

/* Sleeps up to ns, less when stopped; true when stopping. */
bool thread_sleep(struct thread *t, int64_t ns);

#endif
