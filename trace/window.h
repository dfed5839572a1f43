/* window.h — a trace file (and its sidecar) becomes a window: what agent and command line call.
 *
 * The sidecar of FILE is FILE.meta.json: {"service","deploy","host","worker","start_ns","labels":{…}}, all optional. What
 * it does not say comes from struct window_origin; a deploy that nobody names is a fingerprint of the versions found
 * ("fp-" and 12 hex digits). A window starts at the sidecar's start_ns, else at baseTimeNanoseconds plus the first
 * event, else at the file's mtime.
 *
 * The window's id is a hash of agent id, host, worker, source and the trace's bytes as they stand in the file, so the
 * same trace read twice is the same window (the exact recipe: wire/trainspotter.proto).
 * Runs on: any thread but an event loop. Memory: trace/reader.h. */
#ifndef TRACE_WINDOW_H
#define TRACE_WINDOW_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"

struct window_origin { /* empty slices where not known */
	struct str agent_id;
	struct str source; /* "watch" */
	struct str service, deploy, host, worker;
};

struct trace_limits {
	uint64_t max_output_bytes; /* of decompression */
	uint64_t max_ratio;	   /* output over input, once 1 MiB came out */
	uint64_t max_events;	   /* timed events kept */
};
#define TRACE_LIMITS_DEFAULT ((struct trace_limits){ UINT64_C(64) << 30, 1000, UINT64_C(200) << 20 })

struct trace_skip { /* what could not be read */
	const char *reason; /* a stable word: "truncated", "bad_checksum", "bad_number", … (trace/reader.h) */
	uint64_t count;
	uint64_t offset; /* of the first one, in the decompressed text */
};
enum { TRACE_SKIPS_MAX = 16 };

struct trace_report {
	uint64_t events, bytes;
	struct trace_skip skips[TRACE_SKIPS_MAX];
	size_t n_skips;
};

/* E_FORMAT where it is no trace at all, E_LIMIT past a limit, E_NOT_FOUND. A damaged trace is OK: the window's flags and
 * the report say what was lost. A trace without timed events is E_FORMAT here ("no timed events"). The window's texts
 * live in the arena; the caller calls window_fini. */
int window_from_file(struct arena *a, const char *path, const struct window_origin *origin,
	const struct trace_limits *limits, struct window *out, struct trace_report *report, struct err *e) MUST_USE;

#endif
