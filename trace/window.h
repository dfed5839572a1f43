/* window.h — a trace file (and its sidecar) becomes a window: what agent and command line call.
 *
 * The sidecar of FILE is FILE.meta.json: {"service","deploy","host","worker","start_ns","labels":{…}}, all optional. What
 * it does not say comes from struct window_origin; a deploy that nobody names is a fingerprint ("fp-" and 12 hex digits) of the
 * versions found and of the compiled graphs that stand beside the trace (trace/neffs.h); a trace without such files has the
 * fingerprint of its versions alone. Names of graphs inside a trace (MODULE_…) do not count: which of them ran changes from
 * window to window, and is no deploy. A window starts at the sidecar's start_ns, else at baseTimeNanoseconds plus the first
 * event, else at the file's mtime. A worker that nobody names is distributedInfo's rank, a host the trace's host_name,
 * else "localhost"; a service that nobody names is "unknown".
 *
 * The window's id is a hash of agent id, host, worker, source (as they end up in the window) and the trace's bytes as
 * they stand in the file, so the same trace read twice is the same window (the exact recipe: wire/trainspotter.proto).
 * Runs on: any thread but an event loop. Memory: trace/reader.h, trace/keyavg.h. */
#ifndef TRACE_WINDOW_H
#define TRACE_WINDOW_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/name_rules.h"
#include "trace/report.h"

struct window_origin { /* empty slices where not known */
	struct str agent_id;
	struct str source; /* "watch" */
	struct str service, deploy, host, worker;
	const struct name_rules *rules; /* borrows; the user's own (trace/name_rules.h), or NULL */
};

/* What a file is, is told by its content (trace/probe.h): PyTorch traces, those of JAX and PyTorch/XLA
 * (trace/xla.h), and the outputs of the Neuron tools
 * (trace/neuron.h), whose host is the instance they name and whose labels go behind the sidecar's.
 * E_FORMAT where it is no trace at all or the sidecar is wrong, E_LIMIT past a limit, E_NOT_FOUND, E_UNSUPPORTED where either
 * is no regular file (a FIFO is never waited for). A damaged trace is
 * OK: the window's flags and the report say what was lost. A trace without timed events is E_FORMAT here ("no timed
 * events"). The window's texts live in the arena; the caller calls window_fini. */
int window_from_file(struct arena *a, const char *path, const struct window_origin *origin,
	const struct trace_limits *limits, struct window *out, struct trace_report *report, struct err *e) MUST_USE;

/* The same of a file that may be an archive (trace/archive.h): each trace in it is a window, in the archive's order. A trace's sidecar is
 * the one beside it in the archive, before or behind it (trace/sidecars.h), and what that does not say is as in the archive's own, but for a
 * start_ns. A trace without a clock starts at the archive's mtime.
 * window gets each window, its to window_fini (texts in the arena, which it may reset while it is called), or why a
 * file became none (w NULL): E_USAGE where its sidecar in the archive is wrong, else as above; why names the file. Of an archive up to
 * WINDOWS_WAITING of them come when it has been read, since whose they are may stand at its end; one with more is read twice.
 * between, which may be NULL, is called between two files of an archive: for who wants to pause or to stop there.
 * A negative answer of either ends the reading, and is the answer here; so is what is wrong with the file or the archive as a whole:
 * E_FORMAT where it is damaged, after all that could be read. */
enum { WINDOWS_WAITING = 256, WINDOWS_WAITING_BYTES = 64 << 20 };
struct window_visit {
	int (*window)(void *arg, const char *name, struct window *w, const struct trace_report *report, struct err *why,
		struct err *e);
	void *arg;
	int (*between)(void *arg, struct err *e);
};
int windows_from_file(struct arena *a, const char *path, const struct window_origin *origin,
	const struct trace_limits *limits, const struct window_visit *visit, struct err *e) MUST_USE;

#endif
