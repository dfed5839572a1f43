/* draft.h — a window in the making: ops by kind and name, gauges, labels and versions are added in any order, and handed
 * over sorted at the end.
 * Texts go to the window's arena as a window may hold them: cut, and without NULs. Past a ceiling (WINDOW_OPS_MAX
 * names, WINDOW_GAUGES_MAX gauges) ops of a kind share the name "*" and gauges are dropped; draft_dropped tells how many.
 * Runs on: one thread at a time. Memory: one summary with its histogram a name. */
#ifndef TRACE_DRAFT_H
#define TRACE_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/window.h"

/* What becomes of several values of one gauge (same name, same labels). */
enum draft_fold { DRAFT_LAST, DRAFT_SUM, DRAFT_MEAN, DRAFT_MAX, DRAFT_MIN, DRAFT_FOLDS };

VEC(draft_ops, struct op_summary);
VEC(draft_gauges, struct gauge);
VEC(draft_counts, uint64_t);
VEC(draft_labels, struct label);

struct draft {
	struct arena *arena; /* the window's */
	struct arena keys;
	struct buf key, name;
	struct intern op_keys, gauge_keys; /* → index into ops, gauges */
	struct draft_ops ops;
	struct draft_gauges gauges;
	struct draft_counts n_values; /* of each gauge */
	struct draft_labels labels, versions;
	uint64_t dropped;
	bool full; /* no memory, or no room in an arena */
};

void draft_init(struct draft *d, struct arena *a);
void draft_fini(struct draft *d);

/* The op of a kind and a name, its name made one that survives a recompile (trace/normalise.h); draft_op_exact takes the
 * name as it stands. Valid until the next one is made; NULL when there is no memory. */
struct op_summary *draft_op(struct draft *d, enum op_kind kind, struct str name);
struct op_summary *draft_op_exact(struct draft *d, enum op_kind kind, struct str name);

/* One more call that took ns: counts, extremes and histogram; the sums are the caller's. NULL is fine. */
void draft_value(struct op_summary *op, int64_t ns, enum op_basis basis);
/* One more call of a device op: its value, total and self time; orphan: no other row holds that time. */
void draft_device(struct op_summary *op, int64_t ns, bool orphan);
/* Several calls whose times are known as a sum only. */
void draft_sum(struct op_summary *op, uint64_t calls, int64_t device_ns);

/* A copy in the window's arena, of at most what a window's text may have. */
struct str draft_text(struct draft *d, struct str s);

/* Labels may be NULL where n is 0. A value that is not finite is dropped, and so is one without a name. */
void draft_gauge(struct draft *d, enum draft_fold fold, struct str name, struct str unit, double value,
	const struct label *labels, size_t n);
/* The last of a key stays; empty values are ignored. */
void draft_version(struct draft *d, struct str key, struct str value);
void draft_label(struct draft *d, struct str key, struct str value);

static inline uint64_t draft_dropped(const struct draft *d)
{
	return d->dropped;
}

/* Fills ops, gauges, labels and versions, all in order. E_LIMIT when the arena is full or there was no memory. */
int draft_finish(struct draft *d, struct window *w, struct err *e) MUST_USE;

#endif
