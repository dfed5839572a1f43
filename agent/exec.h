/* exec.h — the source "exec": windows that a command of the user's takes, as configured; also of what only neuron-explorer can
 * decode.
 *
 *	IDLE ─ the plan's order ─→ COMMAND ─ ended well ─→ HARVEST ─ traces ─→ READING ─ all are back ─→ CLEANING
 *	                              └ why not, counted ─────┴──────────────────────────────────────────────┘
 *
 *	STATE_DIR/exec/NAME.<start, wall ns>/	one run
 *	    out/	what the command writes: {dir}, TRAINSPOTTER_OUTPUT_DIR, its working folder
 *	    ended	the command did, and well; whose windows these are: service, deploy, worker, a line each
 *	    decoded-<n>/	agent/harvest.h
 *	STATE_DIR/exec/kept/	the last runs, with decode.keep
 *
 * A command runs once at a time, and its next run waits while two before it are not read yet. With "process" it has a worker for
 * every process whose command line matches, else one. What an earlier agent left is taken where its command had ended well, and
 * removed else.
 * Runs on: the agent's main thread; each command has a thread of its own to wait on, and one takes what they left. */
#ifndef AGENT_EXEC_H
#define AGENT_EXEC_H

#include <stddef.h>
#include <stdint.h>

#include "agent/exec_run.h"
#include "agent/identity.h"
#include "agent/options.h"
#include "agent/plan.h"
#include "agent/source.h"
#include "base/err.h"

enum { EXEC_COMMANDS_MAX = 16, EXEC_RUNS_MAX = 64 };

struct exec_settings {
	const struct exec_conf *conf;	  /* copied */
	const struct decode_conf *decode; /* copied */
	struct plan *plan;
	struct identities *identities; /* NULL: none */
	const char *state_dir, *proc;  /* proc: "/proc", or a test's */
};

extern const struct source_type exec_source;

/* E_USAGE names the key. */
int exec_check(const struct exec_conf *cf, struct err *e) MUST_USE;
/* out stays as it is where no command is configured and nothing was left. */
int exec_open(struct source *out, const struct exec_settings *s, struct err *e) MUST_USE;

uint64_t exec_count(const struct source *s, enum exec_end end); /* for tests */

#endif
