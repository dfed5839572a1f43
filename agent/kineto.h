/* kineto.h — the source "kineto": windows from PyTorch processes started with KINETO_USE_DAEMON=1, with no code of theirs
 * changed. libkineto's on-demand protocol is in agent/kineto_wire.h, who polls in agent/kineto_table.h.
 *
 *	NEW pid ─ who is it (/proc) ─ KNOWN, and the plan (agent/plan.h) hears of it
 *	        ─ the plan's order ─ GRANT ─→ a poll gets a configuration ─ GIVEN path; or nobody came for it ─ UNSENT
 *	        ─ path.tmp is renamed to path: the window is finished ─ job, spool ─ the file is removed
 *	        ─ or it is not there in time: a reason is counted, with its cure in the log ─ OVER
 *
 * A file that comes after its time is taken all the same, and so is one that an agent before this one had asked for.
 * Runs on: the agent's main thread; polls are answered on a thread of their own. */
#ifndef AGENT_KINETO_H
#define AGENT_KINETO_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/kineto_poll.h"
#include "agent/options.h"
#include "agent/plan.h"
#include "agent/source.h"
#include "base/err.h"
#include "base/metric.h"

/* How windows end. */
enum kineto_end {
	KINETO_TAKEN,
	KINETO_NO_DEVICE, /* taken, with no device events although the process holds a device */
	KINETO_LATE,	  /* taken, after it had been given up */
	KINETO_EMPTY,	  /* no ops in it */
	KINETO_CANCELLED, /* the job started a profile of its own meanwhile */
	KINETO_UNWRITTEN, /* nothing came */
	KINETO_UNFINISHED, /* writing began and did not end */
	KINETO_DIED,	  /* the process did */
	KINETO_FOREIGN,	  /* the file is another user's */
	KINETO_BAD,	  /* no trace, or cannot be kept */
	KINETO_ENDS
};
const char *kineto_end_word(enum kineto_end end);

struct kineto;

/* What the configuration says, as the poll thread takes it; E_USAGE names the key. Texts are borrowed. plan: could a window of
 * its length be asked for? */
int kineto_settings(const struct kineto_conf *cf, const struct plan_settings *plan, struct kineto_poll_settings *out,
	struct err *e) MUST_USE;

/* The configuration is copied, the plan borrowed. proc: "/proc", or a test's. bad_dir: where traces go that cannot be read, keep_files of
 * them. Sockets that cannot be had now are tried again every few seconds. */
int kineto_open(struct kineto **out, const struct kineto_conf *cf, struct plan *plan, const char *proc,
	const char *bad_dir, size_t keep_files, struct err *e) MUST_USE;
void kineto_close(struct kineto *k);
void kineto_identify(struct kineto *k, struct identities *ids); /* borrows: who asks pods and neuron-ls; none without */

extern const struct source_type kineto_source; /* its self is a struct kineto */

uint64_t kineto_count(const struct kineto *k, enum kineto_end end);
const struct kineto_poll_counts *kineto_counts(const struct kineto *k);

#endif
