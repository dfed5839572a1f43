/* sides.h — two deploys of a service out of the store, judged: under GET /api/v1/compare and under the daemon's detector.
 * Runs on: any thread that may block. */
#ifndef API_SIDES_H
#define API_SIDES_H

#include "base/arena.h"
#include "base/err.h"
#include "detect/judge.h"
#include "store/store.h"

enum {
	SIDES_WINDOWS = 64, /* the newest of each deploy */
	SIDES_SETTLED = 6,  /* windows a host, on average */
};

struct deploy_side {
	struct str deploy;
	struct side *side; /* for judge; freed by sides_fini */
	uint64_t windows, steps;
	uint64_t most_of_a_host; /* windows of the host that has most */
	int64_t first_ns, last_ns;
	struct str *hosts; /* in the arena */
	size_t n_hosts;
	struct profile_merge *merge; /* its ops, where rows were asked for */
};


/* Loads the newest SIDES_WINDOWS windows of a service's deploy into a side; with_rows merges them too. */
int deploy_side_load(struct store *st, const struct fusion_table *table, struct str service, struct str deploy,
	bool with_rows, struct arena *a, struct deploy_side *out, struct err *e) MUST_USE;
void deploy_side_fini(struct deploy_side *s);

/* How a deploy is to be judged: as settled from its sixth window a host on. */
enum judge_where deploy_where(const struct deploy *after);

/* The newest two deploys of a service that have windows, by their first windows' own times; either may be named.
 * E_NOT_FOUND with a sentence where there are no two. */
int deploys_newest(struct store *st, struct str service, struct str before, struct str after, struct arena *a,
	struct deploy *before_out, struct deploy *after_out, struct err *e) MUST_USE;

#endif
