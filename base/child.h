/* child.h — a program started by this one: in a process group of its own, with nice and ioprio, with an end to how long it may
 * run and how much it may say; never by a shell. What it starts itself ends with it.
 *
 * Its standard input is /dev/null; all other descriptors but 1 and 2 are closed in it; signals are as at login; it is
 * told to die with us (PR_SET_PDEATHSIG). Runs on: any thread, one at a time per child. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/thread.h"

struct child_settings {
	const char *const *argv; /* ends in NULL; argv[0] is looked for in PATH where it has no slash */
	const char *const *env;	 /* whole environment, ends in NULL; NULL: ours */
	const char *dir;	 /* working directory; NULL: ours */
	int nice;		 /* added to ours */
	bool io_idle;		 /* ioprio class idle */
	uint64_t memory_bytes;	 /* RLIMIT_AS; 0: none */
	uint64_t file_bytes;	 /* RLIMIT_FSIZE; 0: none */
};

struct child;

/* E_NOT_FOUND: no such program; E_DENIED: not ours to run; E_SYS. Told at once, not by an exit status. */
int child_start(struct child **out, const struct child_settings *s, struct err *e) MUST_USE;
/* Ends it if it still runs (SIGTERM to the group, SIGKILL after grace_ns), collects it, frees. NULL is fine. */
void child_close(struct child *c, int64_t grace_ns);

pid_t child_pid(const struct child *c);
int child_out_fd(const struct child *c); /* its standard output, non-blocking */
int child_err_fd(const struct child *c);

struct child_end {
	bool exited, timed_out, stopped; /* stopped: by thread_stopping */
	int status;			 /* exit status, where exited */
	int signal;			 /* else what ended it */
};

/* Has it ended? Collects it when it has. */
bool child_ended(struct child *c, struct child_end *out);
void child_signal(struct child *c, int sig); /* to its group */

/* A whole run: waits up to limit_ns, keeps what it printed (the first bytes that fit; the rest is read and dropped). OK whatever
 * its exit status; out and err_text may be NULL. t: looked at while waiting; NULL is fine. */
int child_run(const struct child_settings *s, int64_t limit_ns, struct thread *t, struct buf *out, struct buf *err_text,
	struct child_end *end, struct err *e) MUST_USE;

#endif
