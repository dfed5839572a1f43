/* xla_call.h — one window of one job, from the folder that is made for it to the file that is taken out of it: the part that waits.
 * Runs on: an errand's thread (agent/errand.h). */
#ifndef AGENT_XLA_CALL_H
#define AGENT_XLA_CALL_H

#include "agent/xla.h"
#include "agent/xla_folder.h"
#include "agent/xla_scan.h"
#include "base/thread.h"

enum { XLA_HOST = 64, XLA_DIR = 256 };

struct xla_call {
	/* in */
	struct xla_job job;
	char host[XLA_HOST], dir[XLA_DIR];
	const char *proc;
	int64_t duration_ns, timeout_ns, max_bytes;
	uint64_t host_level;
	/* out */
	enum xla_end end; /* XLA_TAKEN: the file is there, and the folder held */
	char why[480];	  /* "" or what more there is to say */
	struct xla_folder folder;
	struct watch_file file;
};

void xla_call_do(struct xla_call *c, struct thread *t);
void xla_call_fini(struct xla_call *c); /* the folder goes */

#endif
