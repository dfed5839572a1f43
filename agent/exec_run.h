/* exec_run.h — one run of a command of the source exec (agent/exec.h), as an errand, three times: the command, what it left, and
 * its folder's end.
 * Runs on: a thread that may wait (run), the agent's main thread before and after. */
#ifndef AGENT_EXEC_RUN_H
#define AGENT_EXEC_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/errand.h"
#include "agent/harvest.h"
#include "agent/identity.h"
#include "agent/options.h"
#include "agent/plan.h"

enum exec_end {
	EXEC_TAKEN,
	EXEC_EMPTY,	 /* no ops in it */
	EXEC_BAD,	 /* no trace that can be read or kept */
	EXEC_NOTHING,	 /* no trace at all */
	EXEC_UNDECODED,	 /* a session that was not decoded; beside taken, where something else was */
	EXEC_FAILED,	 /* exit status, signal */
	EXEC_TIMEOUT,
	EXEC_TOO_LARGE,
	EXEC_NO_PROGRAM, /* it cannot be started */
	EXEC_NO_FOLDER,	 /* state_dir cannot be written, or read */
	EXEC_LOST,	 /* an earlier agent ended in the middle of it */
	EXEC_CUT,	 /* this agent does */
	EXEC_ENDS
};
const char *exec_end_word(enum exec_end end);
const char *exec_end_cure(enum exec_end end); /* NULL: nothing is wrong */

enum { EXEC_NAME_TEXT = 65, EXEC_LABELS_MAX = IDENTITY_LABELS_MAX + 2 };

/* What all runs share; lives longer than they do. */
struct exec_shared {
	const char *dir; /* STATE_DIR/exec */
	struct decode_settings decode;
	size_t keep;
};

enum exec_phase { EXEC_COMMAND, EXEC_HARVEST, EXEC_READING, EXEC_CLEANING };

struct exec_run {
	struct errand errand;
	const struct exec_shared *shared;
	const struct exec_command_conf *command;
	enum exec_phase phase;
	bool out;     /* a thread has it */
	bool adopted; /* an earlier agent's */
	uint64_t id, order;
	char dir[PATH_MAX - 512]; /* of this run */
	pid_t pid;		  /* 0: of none */
	int64_t duration_ns, iterations;
	char service[WORKER_TEXT], deploy[WORKER_TEXT], worker[WORKER_TEXT];
	struct identity identity; /* of pid */
	/* what came of it */
	enum exec_end end;
	char why[480];
	struct harvest *harvest;
};

struct exec_run *exec_run_new(const struct exec_shared *shared, const struct exec_command_conf *command, uint64_t id);
void exec_run_free(struct exec_run *r); /* folders stay */

/* The folder of an earlier agent's run: is it to be taken? Fills in whose windows these are, and is to be harvested then. */
bool exec_run_adopt(struct exec_run *r, const char *dir);

/* A word of the command as it is run: {dir} and so on replaced. */
struct str exec_word(struct arena *a, const struct exec_run *r, const char *out_dir, struct str word);

#endif
