/* xla.h — the source "xla": windows of JAX and PyTorch/XLA processes that run a profiler server (jax.profiler.start_server,
 * xp.start_server), with nothing else changed in them.
 *
 *	scan (agent/xla_scan.h) ─ plan_seen ─ plan_next ─→ a folder is made (agent/xla_folder.h)
 *	─ one gRPC call (agent/xla_wire.h), answered when the window is written ─ the file is taken out of the job's hands
 *	─ job, spool ─ the folder is removed
 *
 * However a window ends it ends as one of enum xla_end, counted, and what is wrong is logged with its cure. Folders that an
 * agent before this one left are removed once nothing can be written into them any more.
 * Runs on: the agent's main thread; calls and scans on a thread of their own, one at a time. */
#ifndef AGENT_XLA_H
#define AGENT_XLA_H

#include <stddef.h>
#include <stdint.h>

#include "agent/options.h"
#include "agent/plan.h"
#include "agent/source.h"
#include "base/err.h"
#include "base/str.h"

enum xla_end {
	XLA_TAKEN,
	XLA_NO_DEVICE, /* taken, with no HLO or device events in it */
	XLA_EMPTY,     /* nothing was recorded */
	XLA_BUSY,      /* somebody else profiles it */
	XLA_REFUSED,   /* nobody listens */
	XLA_NO_FOLDER, /* the job cannot write where it should, or we can make no folder there */
	XLA_WRONG,     /* something else listens there */
	XLA_FAILED,    /* the server says so, in its own words */
	XLA_TIMEOUT,
	XLA_BROKEN,    /* the connection ended first */
	XLA_UNWRITTEN, /* all is well, says the server, and there is no file */
	XLA_FOREIGN,   /* the file is another user's, or no file */
	XLA_TOO_LARGE,
	XLA_BAD,       /* no trace, or cannot be kept */
	XLA_DIED,      /* the process did */
	XLA_STOPPED,   /* the agent did */
	XLA_ENDS
};
const char *xla_end_word(enum xla_end end);

extern const struct source_type xla_source;

struct xla;
struct identities;

struct xla_settings {
	const struct xla_conf *conf; /* copied */
	struct plan *plan;	     /* borrowed */
	struct identities *identities; /* borrowed; NULL: the process and the configuration alone say who it is */
	struct str host;
	const char *proc;	     /* "/proc", or a test's */
	const char *bad_dir;	     /* where traces go that cannot be read, keep_files of them */
	size_t keep_files;
};
int xla_open(struct xla **out, const struct xla_settings *s, struct err *e) MUST_USE;

uint64_t xla_count(const struct xla *x, enum xla_end end);

/* What no row of the options can say; E_USAGE names the key. */
int xla_conf_check(const struct xla_conf *cf, struct err *e) MUST_USE;

#endif
