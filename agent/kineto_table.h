/* kineto_table.h — the processes that poll, and which of them gets a window when. Pure: times come in.
 *
 * A process polls every five seconds and says whether its profiler is idle. It gets a window at a poll when
 *	it is idle, and no window of it is out;
 *	it has polled before (the first poll comes in the middle of "import torch"), who it is has been found out, and it
 *	is old enough;
 *	the slot of the schedule has not given it one, and it is not a quiet hour;
 *	fewer than max_at_once windows are out on this host, and nobody who waits for the place had its last one earlier.
 * A slot that ends without one is counted by what stood in the way at its last poll. The first slot of a process is
 * the one after it was first seen. Sixty seconds without a poll, and it is forgotten. Runs on: the poll thread. */
#ifndef AGENT_KINETO_TABLE_H
#define AGENT_KINETO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/kineto_config.h"
#include "agent/kineto_wire.h"
#include "agent/schedule.h"

enum { KINETO_PROCS_MAX = 4096, KINETO_TREE_MAX = 12 };

enum kineto_why {
	KINETO_DUE, /* nothing stands in the way */
	KINETO_YOUNG,
	KINETO_BUSY, /* its profiler is, or a window of it is out */
	KINETO_QUIET,
	KINETO_CROWDED, /* max_at_once */
	KINETO_UNSENT,	/* it did not take the answer */
	KINETO_WHYS
};
const char *kineto_why_word(enum kineto_why why);

struct kineto_proc {
	pid_t pid; /* as this host counts */
	uid_t uid;
	uint64_t address; /* a hash: another one means another process, or another life of it */
	int64_t job;
	int32_t pids[KINETO_TREE_MAX]; /* as it counts, its own first, then its ancestors' */
	size_t n_pids;
	int64_t first_ns, last_ns; /* polls, mono */
	uint64_t polls;
	bool idle, known, out;
	int64_t born_ns; /* mono; where known */
	int64_t asked_ns; /* mono: its last window, or try of one; 0: none yet */
	char dir[KINETO_DIR_MAX + 1];
	int64_t slot;
	bool owed; /* the slot has not given it a window yet */
	enum kineto_why why;
};

struct kineto_rules {
	struct schedule schedule;
	size_t max_at_once;
	int64_t min_age_ns;
};

struct kineto_table;

struct kineto_table *kineto_table_new(const struct kineto_rules *rules);
void kineto_table_free(struct kineto_table *t);

/* Takes in a poll; *is_new when it must be found out who it is. NULL when the table is full. The process's place is
 * valid until the next call that adds or expires. */
struct kineto_proc *kineto_table_poll(struct kineto_table *t, pid_t pid, uid_t uid, uint64_t address,
	const struct kineto_message *m, int64_t mono_ns, int64_t wall_ns, bool *is_new);
/* What was found out. Nothing when the process is gone or another one by now. */
void kineto_table_know(struct kineto_table *t, pid_t pid, uint64_t address, int64_t born_ns, struct str dir);

/* May it have a window at this poll? */
enum kineto_why kineto_table_ask(struct kineto_table *t, struct kineto_proc *p, int64_t mono_ns, int64_t wall_ns);
void kineto_table_gave(struct kineto_table *t, struct kineto_proc *p, int64_t mono_ns);
void kineto_table_unsent(struct kineto_proc *p, int64_t mono_ns);
/* A window that was given has come to its end, whichever. */
void kineto_table_over(struct kineto_table *t, pid_t pid);

size_t kineto_table_expire(struct kineto_table *t, int64_t mono_ns); /* how many went */

size_t kineto_table_count(const struct kineto_table *t);
size_t kineto_table_job_count(const struct kineto_table *t, int64_t job);
size_t kineto_table_out(const struct kineto_table *t);
uint64_t kineto_table_missed(const struct kineto_table *t, enum kineto_why why);

#endif
