/* lease_table.h — who of the fleet may be profiled now: agents with their workers, leases, and captures that
 * were asked for. Pure: time comes in, ids come from a seed, and what has to be durable goes out as a struct
 * capture_changes (api/desk.h stores it before anybody hears of it). It stands in api/ since nobody but the
 * API's poll and captures uses it; it includes floors 0 to 2 only.
 *
 *	an agent polls      here are my workers, these leases ended         → leases granted
 *	a lease             counts from its grant until the agent says that it ended, or until_ns
 *
 * Never more leases than max_per_service of a service, max_per_host of a host, max_share_percent of the workers
 * that live agents tell of (one always may). Who had its last window longest ago goes first, by this table's
 * clock and not by the agents' (only a worker that is new here is believed when it had its last); what was asked
 * for goes before what is of the schedule. A place is kept for a worker that goes before, as long as its agent
 * polls.
 *
 * A poll twice, or an answer that was lost, does no harm: a worker with a lease gets no second, and hears of it
 * again. One time, "now": wall nanoseconds that never jump (api/desk.h). Runs on: one thread at a time. */
#ifndef API_LEASE_TABLE_H
#define API_LEASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "profile/capture.h"

enum {
	LEASE_AGENTS_MAX = 10000,
	LEASE_WORKERS_MAX = 4096, /* of an agent */
	LEASE_FLEET_MAX = 100000, /* workers of all agents */
	LEASE_ENDED_MAX = 4096,	  /* in one poll */
	LEASE_LEASES_MAX = 10000,
	LEASE_CAPTURES_MAX = 1000,  /* open ones */
	LEASE_TARGETS_MAX = 100000, /* of all of them */
	LEASE_SERVICES_MAX = 50000,
	LEASE_WORD_MAX = 64, /* bytes of a source's name, of why, of end, of a version */
};

#define LEASE_BEGIN_NS (60 * NS_PER_S)	 /* from the grant: a window has to begin by then */
#define LEASE_GRACE_NS (60 * NS_PER_S)	 /* after its window's end, for the agent to say so */
#define LEASE_UNKNOWN_NS (30 * NS_PER_S) /* length of a window where only the agent knows it */
#define LEASE_MAX_NS (LEASE_BEGIN_NS + CAPTURE_DURATION_MAX_NS + LEASE_GRACE_NS)
#define LEASE_FORGET_NS NS_PER_HOUR /* an agent unheard for so long */

struct lease_limits {
	int64_t max_per_service, max_share_percent, max_per_host;
	int64_t poll_ns;   /* how often agents are to poll: unheard for three, its workers do not count */
	int64_t expire_ns; /* of a capture */
};

enum worker_state { WORKER_IDLE, WORKER_BUSY, WORKER_CAPTURING, WORKER_STATES };
const char *worker_state_name(enum worker_state s);
int worker_state_parse(struct str word, enum worker_state *out) MUST_USE;

/* One worker, as its agent tells of it; source, service and worker are its name there. */
struct lease_worker {
	struct str source, service, worker, deploy, why;
	enum worker_state state;
	bool wants;
	int64_t last_ns; /* the host's wall clock; 0: none */
	bool measured;
	int64_t cost_ppm, every_nth;
};

struct lease_ended {
	struct str lease, capture; /* capture may be empty */
	bool taken;
	struct str end, window;
};

struct lease_poll {
	struct str agent, host, version; /* agent: CAPTURE_ID lower-case hex digits */
	int64_t start_ns;
	const struct lease_worker *workers;
	size_t n_workers;
	const struct lease_ended *ended;
	size_t n_ended;
};

enum lease_refusal {
	REFUSED_SERVICE, /* max_per_service are out */
	REFUSED_FLEET,	 /* max_share */
	REFUSED_HOST,	 /* max_per_host */
	REFUSED_TURN,	 /* another had its last one earlier */
	REFUSED_PAUSED,
	LEASE_REFUSALS
};
const char *lease_refusal_name(enum lease_refusal r);

struct lease_counts { /* since the table was made */
	uint64_t polls, granted, taken, not_taken, ran_out, refused[LEASE_REFUSALS];
	uint64_t captures[CAPTURE_STATES]; /* how they ended */
	/* now */
	size_t agents, workers, leases, open_captures, running_captures;
};

/* One batch of calls: what changed, with texts of its own. */
struct lease_round {
	struct arena arena;
	struct capture_changes changes;
	bool lost; /* a ceiling was hit: not all that changed is in here, so none of it may count */
};
void lease_round_init(struct lease_round *r);
void lease_round_reset(struct lease_round *r);
void lease_round_fini(struct lease_round *r);
bool lease_round_empty(const struct lease_round *r);

struct lease_table;

struct lease_table *lease_table_new(const struct lease_limits *limits, uint64_t seed);
void lease_table_free(struct lease_table *t); /* NULL is fine */
void lease_table_set(struct lease_table *t, const struct lease_limits *limits);
struct lease_limits lease_table_limits(const struct lease_table *t);

/* In place of the leases and open captures there are: what is durable. Agents stay. now_ns bounds what a lease
 * can last. */
void lease_table_load(struct lease_table *t, const struct lease *leases, size_t n_leases,
	const struct capture *captures, size_t n_captures, int64_t now_ns);
void lease_table_pause(struct lease_table *t, bool paused);

/* Leases and captures whose time is over, agents unheard. */
void lease_table_tick(struct lease_table *t, int64_t now_ns, struct lease_round *r);

/* E_FORMAT for a poll that breaks the rules above, E_BUSY at a ceiling; nothing of it counted then. */
int lease_table_poll(struct lease_table *t, const struct lease_poll *p, int64_t now_ns, struct lease_round *r,
	struct err *e) MUST_USE;

/* The agent's leases whose windows have still to begin, in the arena; none while paused. */
struct lease *lease_table_told(const struct lease_table *t, struct str agent, int64_t now_ns, struct arena *a,
	size_t *n);

/* Opens a capture: service or hosts are set, id too; created, expires and targets are filled in. join_ns before
 * now: of workers known now only, E_NOT_FOUND where there are none. E_BUSY with too many open. On OK c's targets
 * stand in the round; the round's changes borrow c's other texts. */
int lease_table_ask(struct lease_table *t, struct capture *c, int64_t now_ns, struct lease_round *r,
	struct err *e) MUST_USE;

struct lease_counts lease_table_counts(const struct lease_table *t);

/* ---- what is shown; texts in the arena given */
struct agent_view {
	struct str id, host, version;
	int64_t start_ns, polled_ns;
	size_t n_leases;
	bool heard; /* within three polls */
	struct lease_worker *workers;
	size_t n_workers;
};
/* By host and id, behind the two given; service and host empty: all. *more: others follow. */
struct agent_view *lease_table_agents(const struct lease_table *t, struct str service, struct str host,
	struct str after_host, struct str after_id, size_t limit, int64_t now_ns, struct arena *a, size_t *n,
	bool *more);

struct service_cost {
	size_t workers, measured;
	int64_t cost_ppm, cost_ppm_max; /* of those measured: mean, highest */
	int64_t every_nth;		/* highest: 1 while nobody is over its budget */
};
/* out[i] of services[i]; those named twice get theirs once. */
void lease_table_costs(const struct lease_table *t, const struct str *services, size_t n, int64_t now_ns,
	struct service_cost *out);

#endif
