/* desk.h — where agents come for leases and people for captures: one thread that owns the lease table
 * (api/lease_table.h) and has what changed made durable before anybody hears of it. What waits is done together:
 * one commit for all of it.
 *
 * Leases are rows of the store: after a restart, clean or not, the table begins with those that were granted and
 * have not ended, so the limits hold over it and agents find their leases again. When a commit fails (a full
 * disk), the table goes back to what is durable: whoever asked or paused gets the error; agents are answered
 * from what is left, with no new leases, since without an answer they would lead themselves.
 *
 * Runs on: its thread; every function may be called from any thread that may block. */
#ifndef API_DESK_H
#define API_DESK_H

#include "api/lease_table.h"
#include "base/metric.h"
#include "store/store.h"

struct desk;

struct desk_settings {
	struct store *store;	  /* borrowed */
	struct metrics *metrics;  /* borrowed, may be NULL */
	int64_t (*now_ns)(void);  /* NULL: wall time that never jumps; tests have their own */
	struct lease_limits limits;
};

int desk_open(struct desk **out, const struct desk_settings *s, struct err *e) MUST_USE;
void desk_close(struct desk *d); /* does what waits first; NULL is fine */

/* From the next call on. */
int desk_set(struct desk *d, const struct lease_limits *limits, struct err *e) MUST_USE;

struct desk_answer {
	bool paused;
	struct str reason;
	int64_t poll_ns, now_ns;
	struct lease *leases;
	size_t n_leases;
	bool heard; /* what ended is durable; else the agent has to tell it again */
};
/* E_FORMAT for a poll that cannot be, E_BUSY at a ceiling or when too many wait, and what the store says. Texts
 * are in the arena. */
int desk_poll(struct desk *d, const struct lease_poll *p, struct arena *a, struct desk_answer *out,
	struct err *e) MUST_USE;

/* Opens a capture: id, times and targets are filled in. Where there are no workers to ask, E_NOT_FOUND; for
 * three polls after the start, while agents are not all known yet, those that come join instead. */
int desk_ask(struct desk *d, struct capture *c, struct arena *a, struct err *e) MUST_USE;

int desk_pause(struct desk *d, bool paused, struct str reason, struct arena *a, struct capture_policy *out,
	struct err *e) MUST_USE;
int desk_policy(struct desk *d, struct arena *a, struct capture_policy *out, struct err *e) MUST_USE;

struct desk_agents {
	struct str service, host, after_host, after_id; /* in */
	size_t limit;
	struct agent_view *v; /* out, in the arena */
	size_t n;
	bool more;
};
int desk_agents(struct desk *d, struct desk_agents *q, struct arena *a, struct err *e) MUST_USE;

/* out[i] of services[i]. */
int desk_costs(struct desk *d, const struct str *services, size_t n, struct service_cost *out,
	struct err *e) MUST_USE;

#endif
