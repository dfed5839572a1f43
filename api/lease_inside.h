/* lease_inside.h — the lease table, for its files: lease_table.c (agents, leases, whose turn it is), lease_ask.c
 * (captures), lease_show.c (what is shown). Inside api/ only. */
#ifndef API_LEASE_INSIDE_H
#define API_LEASE_INSIDE_H

#include "api/lease_table.h"
#include "base/map.h"
#include "base/rand.h"
#include "base/vec.h"

struct seat { /* a worker of an agent */
	struct lease_worker w;
	struct str key;	  /* source, service and worker as one text */
	uint32_t service; /* index into services */
	int64_t turn_ns;  /* when it had its last window, or lease; 0: never */
	bool asked;	  /* a capture waits for it */
	bool leased;
};

struct agent {
	char id[CAPTURE_ID + 1];
	struct arena arenas[2]; /* of this poll's texts and of the last one's */
	unsigned at;
	struct str host, version;
	int64_t start_ns, polled_ns;
	struct seat *seats;
	size_t n_seats, n_leases;
};

struct held {
	struct lease l;
	char *texts; /* owns l's */
	uint32_t service;
};

struct service {
	uint32_t leases;
	/* of this round of the table; 0 in another */
	uint32_t strays; /* windows under way without a lease */
	uint32_t ahead;	 /* workers that go before the one that is looked at */
	bool turned;	 /* one of the polling agent's had to let others go first: so have those behind it */
	uint64_t round;
};

VEC(target_vec, struct capture_target);
struct open_capture {
	struct arena arena;
	struct capture c; /* targets stand in the vector */
	struct target_vec targets;
	size_t waiting; /* of them */
};

VEC(agent_vec, struct agent *);
VEC(held_vec, struct held);
VEC(service_vec, struct service);
VEC(open_vec, struct open_capture *);

struct lease_table {
	struct lease_limits limits;
	struct rand_gen rand;
	struct arena names; /* of services */
	struct intern intern;
	struct service_vec services;
	struct agent_vec agents;
	struct held_vec leases;
	struct open_vec captures; /* oldest first */
	size_t n_workers, n_targets;
	uint64_t round;
	bool paused;
	struct lease_counts counts;
};

/* A copy in the round's memory; empty where that is full. */
static inline struct str round_str(struct lease_round *r, struct str s)
{
	return str_empty(s) ? STR("") : arena_str(&r->arena, s);
}

static inline bool agent_heard(const struct lease_table *t, const struct agent *a, int64_t now_ns)
{
	return now_ns - a->polled_ns <= 3 * t->limits.poll_ns;
}

void worker_copy(struct arena *a, struct lease_worker *w); /* its texts, in the arena; lease_show.c */

/* ---- lease_ask.c */
size_t captures_running(const struct lease_table *t); /* some worker has its lease, or had */
void captures_load(struct lease_table *t, const struct capture *v, size_t n, int64_t now_ns);
void captures_free(struct lease_table *t);
void captures_tick(struct lease_table *t, int64_t now_ns, struct lease_round *r);
/* An agent's workers are new: they join what is open for joining, and know what is asked of them. */
void captures_join(struct lease_table *t, struct agent *a, int64_t now_ns, struct lease_round *r);
/* The oldest capture that waits for this worker; its target is leased now. NULL: none. */
const struct capture *captures_lease(struct lease_table *t, const struct agent *a, struct seat *s, struct str lease,
	struct lease_round *r);
/* What became of a lease that was for a capture. ran_out: nothing was heard. */
void captures_settle(struct lease_table *t, const struct lease_ended *end, bool ran_out, int64_t now_ns,
	struct lease_round *r);

#endif
