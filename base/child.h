/* child.h — a program started by this one: in a process group of its own, with nice and ioprio, with an end to how long it may
 * run and how much it may say; never by a shell. What it starts itself ends with it, as long as that stays in the group.
 *
 * Its standard input is /dev/null; all other descriptors but 1 and 2 are closed in it; signals are as at login; it writes no
 * core; where memory runs out the kernel ends it before others. It dies with the thread that started it
 * (PR_SET_PDEATHSIG), so also when we are killed; what it started itself does not, then. Runs on: any thread, one at a time per
 * child. */
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
	const char *const *argv; /* ends in NULL; argv[0] is looked for in our PATH where it has no slash */
	const char *const *env;	 /* whole environment, ends in NULL; NULL: ours */
	const char *dir;	 /* working directory; NULL: ours */
	int nice;		 /* added to ours */
	bool io_idle;		 /* ioprio class idle */
	uint64_t memory_bytes;	 /* RLIMIT_AS; 0: none */
	uint64_t file_bytes;	 /* RLIMIT_FSIZE; 0: none */

	/* For child_run, may be NULL: asked now and every go_on_ns while it runs; false ends the run as its time limit does. */
	bool (*go_on)(void *arg);
	void *go_on_arg;
	int64_t go_on_ns;
};

struct child;

/* E_NOT_FOUND: no such program or folder; E_DENIED: not ours to run; E_FORMAT: no program (a script without #!); E_SYS. Told at
 * once, not by an exit status. */
int child_start(struct child **out, const struct child_settings *s, struct err *e) MUST_USE;
/* Ends it if it still runs (SIGTERM to the group, SIGKILL after grace_ns; what it prints meanwhile is dropped), collects it,
 * frees. NULL is fine. A child that outlives even SIGKILL by 10 s (stuck in a driver) is left as it is. */
void child_close(struct child *c, int64_t grace_ns);

pid_t child_pid(const struct child *c);
int child_out_fd(const struct child *c); /* its standard output, non-blocking */
int child_err_fd(const struct child *c);

struct child_end {
	bool exited, timed_out, stopped; /* stopped: by thread_stopping */
	bool cut;			 /* go_on said no */
	int status;			 /* exit status, where exited */
	int signal;			 /* else what ended it */
	uint64_t dropped_bytes;		 /* child_run: printed, but more than out or err_text had room for */
};

/* Has it ended? Collects it when it has, and kills what it left in its group. */
bool child_ended(struct child *c, struct child_end *out);
void child_signal(struct child *c, int sig); /* to its group */

/* A whole run: waits up to limit_ns, keeps what it printed (the first bytes that fit; the rest is read and dropped). OK whatever
 * its exit status; out and err_text may be NULL. Over the limit or asked to stop, it gets SIGTERM, and SIGKILL 2 s later.
 * t: looked at while waiting; NULL is fine. */
int child_run(const struct child_settings *s, int64_t limit_ns, struct thread *t, struct buf *out, struct buf *err_text,
	struct child_end *end, struct err *e) MUST_USE;

#endif
