/* worker.h — who a process is: what /proc tells of a worker that some source profiles.
 *
 *	environ    TRAINSPOTTER_SERVICE, else NEURON_PROCESS_TAG: service; TRAINSPOTTER_DEPLOY: deploy; RANK, else
 *	           NEURON_RT_VISIBLE_CORES: worker; KINETO_ONDEMAND_TRACE_DIR; POD_NAME, POD_NAMESPACE
 *	stat       when it was born
 *	status     the pid that it has in its own name space
 *	cgroup     its pod and container (agent/cgroup.h)
 *	ns/mnt     another mount namespace than ours: its files are below /proc/PID/root
 *	ns/pid     in which it has own_pid
 *	fd/        does it hold a /dev/neuron*
 *
 * Reading another user's needs root, or CAP_SYS_PTRACE; what cannot be read stays empty and env_read tells. No other value
 * of the environment is kept. Runs on: the agent's main thread. */
#ifndef AGENT_WORKER_H
#define AGENT_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/cgroup.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { WORKER_TEXT = 257, WORKER_DIR = 201, WORKER_ROOT = 128 };

struct worker {
	pid_t pid;
	char service[WORKER_TEXT], deploy[WORKER_TEXT], worker[WORKER_TEXT]; /* "": it does not say */
	char trace_dir[WORKER_DIR]; /* "": it does not say */
	char pod[WORKER_TEXT], pod_namespace[WORKER_TEXT]; /* "": it does not say */
	struct cgroup cgroup;
	pid_t own_pid; /* what getpid() tells it; pid where it is in no other name space */
	uint64_t pid_space; /* the number of that name space; 0: not known */
	char root[WORKER_ROOT];	    /* before a path of its own; "" when it sees the files that we do */
	uint64_t born_ticks;	    /* since boot: two processes of one pid differ by it */
	int64_t age_ns;
	bool env_read, owns_device;
};

/* proc: "/proc", or a test's. E_NOT_FOUND when there is no such process (any more). */
int worker_read(struct worker *out, const char *proc, pid_t pid, struct err *e) MUST_USE;
/* A regular file as the worker sees it, as file_read_inside reads it. */
int worker_read_file(const struct worker *w, const char *path, struct buf *b, struct err *e) MUST_USE;
/* A name, as it may stand in a window: UTF-8 without control characters, not empty, less than cap bytes. */
bool worker_is_name(struct str s, size_t cap);
/* Is it still there, and still the one that was read? */
bool worker_lives(const struct worker *w, const char *proc);
/* The value of one variable of its environment, when it is a name (no control characters) and fits. */
bool worker_variable(const char *proc, pid_t pid, struct str name, char *out, size_t cap);

#endif
