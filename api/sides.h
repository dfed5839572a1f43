/* sides.h — two deploys of a service out of the store, judged: under GET /api/v1/compare and under the daemon's
 * detector. Runs on: any thread that may block. */
#ifndef API_SIDES_H
#define API_SIDES_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "detect/judge.h"
#include "store/store.h"

enum {
	SIDES_WINDOWS = 64, /* the newest of each deploy */
	SIDES_SETTLED = 6,  /* windows a host, on average */
};

/* A window that starts later than this after the daemon's clock comes from a host whose clock is wrong. It is
 * kept as it says, but until its time has come it is judged with none, and a deploy that begins with it is not
 * the newest. */
#define SIDES_AHEAD_NS (10 * NS_PER_MIN)

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


/* Loads the newest SIDES_WINDOWS windows of a service's deploy that start before until_ns into a side; with_rows
 * merges them too. */
int deploy_side_load(struct store *st, const struct fusion_table *table, struct str service, struct str deploy,
	int64_t until_ns, bool with_rows, struct arena *a, struct deploy_side *out, struct err *e) MUST_USE;
void deploy_side_fini(struct deploy_side *s);

/* How a deploy is to be judged: as settled from its sixth window a host on. */
enum judge_where deploy_where(const struct deploy *after);

/* The newest two deploys of a service that have windows, by their first windows' own times, and began before
 * until_ns; either may be named, one that began later too. E_NOT_FOUND with a sentence where there are no two.
 * */
int deploys_newest(struct store *st, struct str service, struct str before, struct str after, int64_t until_ns,
	struct arena *a, struct deploy *before_out, struct deploy *after_out, struct err *e) MUST_USE;

#endif
