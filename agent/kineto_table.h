/* kineto_table.h — the processes that poll, and which of them was granted a window. Pure: times come in.
 *
 * A process polls every five seconds and says whether its profiler is idle. Whose turn it is agent/plan.h knows, on the main
 * thread, and grants it here, until some time. The process gets its window at a poll when, by then,
 *	it is idle, and no window of it is out;
 *	it has polled before (the first poll comes in the middle of "import torch"), and who it is has been found out.
 * A grant that nobody came for ends as unsent. Sixty seconds without a poll, and a process is forgotten. Runs on: the poll thread. */
#ifndef AGENT_KINETO_TABLE_H
#define AGENT_KINETO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/kineto_config.h"
#include "agent/kineto_wire.h"

enum { KINETO_PROCS_MAX = 4096, KINETO_TREE_MAX = 12 };

struct kineto_grant {
	uint64_t order; /* of agent/plan.h; 0: there is none */
	int64_t duration_ns, iterations, until_ns;
};

struct kineto_proc {
	pid_t pid; /* as this host counts */
	uid_t uid;
	uint64_t address; /* a hash: another one means another process, or another life of it */
	int64_t job;
	int32_t pids[KINETO_TREE_MAX]; /* as it counts, its own first, then its ancestors' */
	size_t n_pids;
	int64_t last_ns; /* its last poll, mono */
	uint64_t polls;
	bool idle, known, out;
	bool told_idle; /* what main was told last, and when */
	int64_t told_ns;
	int64_t asked_ns; /* since then main was asked so often who this pid is, whatever its address */
	unsigned asked;
	char dir[KINETO_DIR_MAX + 1]; /* where known */
	struct kineto_grant grant;
};

struct kineto_table;

struct kineto_table *kineto_table_new(void);
void kineto_table_free(struct kineto_table *t);

/* Takes in a poll; *is_new when it must be found out who it is: a few times in a while at most, since finding out is work, and a
 * process may poll as often as it likes, under ever new addresses. NULL when the table is full. The process's place is
 * valid until the next call that adds or expires. */
struct kineto_proc *kineto_table_poll(struct kineto_table *t, pid_t pid, uid_t uid, uint64_t address,
	const struct kineto_message *m, int64_t mono_ns, bool *is_new);
/* What was found out. Nothing when the process is gone or another one by now. */
void kineto_table_know(struct kineto_table *t, pid_t pid, uint64_t address, struct str dir);

/* False when the process is gone or another one by now, or has a grant. */
bool kineto_table_grant(struct kineto_table *t, pid_t pid, uint64_t address, const struct kineto_grant *g);
void kineto_table_revoke(struct kineto_table *t); /* what nobody came for yet, as if its time were over */
/* May it have its window at this poll? */
bool kineto_table_ask(const struct kineto_proc *p, int64_t mono_ns);
void kineto_table_gave(struct kineto_table *t, struct kineto_proc *p); /* the grant is used */
/* A window that was given has come to its end, whichever. */
void kineto_table_over(struct kineto_table *t, pid_t pid);

/* The next grant that ran out, or whose process is gone; 0 when there is none. It is no grant any more. */
uint64_t kineto_table_unsent(struct kineto_table *t, int64_t mono_ns);
/* Whoever is gone, except with a grant: take those by kineto_table_unsent first. How many went. */
size_t kineto_table_expire(struct kineto_table *t, int64_t mono_ns);
/* Should main hear at once that it has become idle, or busy? Not of every poll of one that does so all the time. */
bool kineto_table_turned(const struct kineto_proc *p, int64_t mono_ns);
/* The next process that main should hear of again, since it has polled and was not told of for so long; NULL: none. */
struct kineto_proc *kineto_table_untold(struct kineto_table *t, int64_t mono_ns);

size_t kineto_table_count(const struct kineto_table *t);
size_t kineto_table_job_count(const struct kineto_table *t, int64_t job);
size_t kineto_table_out(const struct kineto_table *t);

#endif
