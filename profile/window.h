/* window.h — one profiling interval of one worker, reduced to op summaries: what agents ship and stores keep.
 * Texts and arrays are slices into memory of whoever made the window (an arena, mostly); histograms inside ops are heap
 * memory and freed by window_fini. A window with nothing wrong in it passes window_check. */
#ifndef PROFILE_WINDOW_H
#define PROFILE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "profile/op.h"

enum {
	WINDOW_ID = 16,	      /* bytes */
	WINDOW_ID_TEXT = 33,  /* hex and NUL */
	WINDOW_TEXT_MAX = 256, /* service, deploy, host, worker, label keys and values, units */
	WINDOW_NAME_MAX = 2048, /* op and gauge names */
	WINDOW_OPS_MAX = 100000,
	WINDOW_LABELS_MAX = 64,
	WINDOW_GAUGES_MAX = 4096,
	WINDOW_BUCKETS_MAX = 4000000, /* histogram buckets of all ops */
};
/* 2262-01-01: windows end before it, so that whoever reckons with whole hours or days cannot leave 64 bits. */
#define WINDOW_END_NS INT64_C(9214646400000000000)

struct label {
	struct str key, value;
};

struct gauge {
	struct str name, unit;
	double value;
	struct label *labels;
	size_t n_labels;
};

/* What the window's steps are. */
enum steps_from {
	STEPS_NONE,	  /* not known: times are per window */
	STEPS_MARKER,	  /* ProfilerStep#N, step_num */
	STEPS_EXECUTIONS, /* one model execution each */
	STEPS_OPTIMIZER,  /* Optimizer.step annotations */
	STEPS_ANCHOR,	  /* calls of an op that runs once a step */
	STEPS_FROMS
};
const char *steps_from_name(enum steps_from f);
int steps_from_parse(struct str word, enum steps_from *out) MUST_USE;

/* What the trace lacked; the window's numbers are of what could be read. */
enum {
	WINDOW_TRUNCATED = 1 << 0, /* the file ended early */
	WINDOW_DAMAGED = 1 << 1,   /* a bad checksum, or events skipped */
};

struct window {
	uint8_t id[WINDOW_ID]; /* how it is made: wire/trainspotter.proto */
	struct str service, deploy, host, worker; /* service and host are never empty, deploy "" means not known */
	struct str source;			  /* "watch", "kineto", … */
	int64_t start_ns, dur_ns;		  /* wall */
	uint64_t steps;
	enum steps_from steps_from;
	bool has_device; /* device events were seen; op times per call are device times then */
	uint32_t flags;
	uint64_t launches; /* device executions where has_device, else calls of work ops; inside steps where there are any */
	uint64_t events, skipped;
	struct label *labels, *versions; /* versions: torch, runtime, driver, compiler, profiler */
	size_t n_labels, n_versions;
	struct op_summary *ops; /* ordered by op_summary_cmp, no two alike */
	size_t n_ops;
	struct gauge *gauges;
	size_t n_gauges;
};

void window_fini(struct window *w); /* frees the ops' histograms only; the rest goes with its arena */

/* E_FORMAT or E_LIMIT with a sentence that names the field: texts too long, not UTF-8 or with a NUL, negative or impossible times,
 * sums that do not fit, calls that the histogram does not have, ops out of order. */
int window_check(const struct window *w, struct err *e) MUST_USE;

const struct op_summary *window_op(const struct window *w, enum op_kind kind, struct str name); /* or NULL */
const struct gauge *window_gauge(const struct window *w, struct str name);			/* first of that name, or NULL */

void window_id_text(const uint8_t id[WINDOW_ID], char out[WINDOW_ID_TEXT]);
int window_id_parse(struct str text, uint8_t id[WINDOW_ID]) MUST_USE;

/* Many windows become one set of summaries, for top tables, rollups and comparisons. */
struct profile_merge; /* owns everything it returns */

struct merged {
	uint64_t windows, steps;
	int64_t first_ns, last_ns; /* starts of the first and last window */
	bool has_device;	   /* any of them */
	struct op_summary *ops;	   /* ordered by op_summary_cmp */
	size_t n_ops;
};

struct profile_merge *profile_merge_new(size_t cap_ops);
void profile_merge_free(struct profile_merge *m);
int profile_merge_add(struct profile_merge *m, const struct window *w) MUST_USE;		/* E_LIMIT at cap_ops */
int profile_merge_add_op(struct profile_merge *m, const struct op_summary *op) MUST_USE;
void profile_merge_add_steps(struct profile_merge *m, uint64_t windows, uint64_t steps, bool has_device,
	int64_t first_ns, int64_t last_ns);
const struct merged *profile_merge_get(struct profile_merge *m); /* valid until the next add or free */

#endif
