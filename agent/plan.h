/* plan.h — whom the sources that take windows profile, and when: one plan for all of them, so that no two windows of a
 * process are taken at once, whatever takes them. Pure: times come in.
 *
 *	a source     plan_seen   here is a worker, idle or not
 *	             plan_next   whose turn is it, of mine          → an order
 *	             plan_end    what became of the order           (a reason of the source's; or plan_unsent; exactly once an order)
 *	the daemon   plan_lead, plan_grant, plan_pause              (agent/lead.h)
 *
 * A worker gets one window a slot of the schedule (agent/schedule.h) when
 *	it is idle, its profiler and every other source's of the same pid too; it is older than min_age;
 *	it is not a quiet hour, capture is not paused, its budget allows it (a slot is passed over where its duty is reduced);
 *	fewer than max_at_once windows are out on this host, and nobody who waits for the place had its last one earlier;
 *	and, while the daemon leads (plan_lead), a lease for it is there that has not run out.
 * What was asked for (on demand, by an alert, by a slow step) needs no slot and keeps all other rules.
 * Every slot of every worker ends in an order or in one plan_why: nothing is passed over without being counted.
 * Runs on: the agent's main thread. */
#ifndef AGENT_PLAN_H
#define AGENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/schedule.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profile/window.h"

enum { PLAN_WORKERS_MAX = 4096, PLAN_LEASES_MAX = 1024, PLAN_ORDERS_MAX = 4096, PLAN_ID_TEXT = 65, PLAN_KEY_TEXT = 128 };

enum plan_why {
	PLAN_DUE, /* nothing stands in the way */
	PLAN_YOUNG,
	PLAN_BUSY, /* a profiler is active in it, or a window of it is out */
	PLAN_QUIET,
	PLAN_PAUSED,
	PLAN_BUDGET,
	PLAN_CROWDED,  /* max_at_once */
	PLAN_UNLEASED, /* the daemon gave none in time */
	PLAN_UNSENT,   /* the order did not get through to it */
	PLAN_WHYS
};
const char *plan_why_word(enum plan_why why);

enum plan_reason { PLAN_SCHEDULED, PLAN_ASKED, PLAN_SLOW_STEP, PLAN_REASONS };

struct plan_settings {
	struct schedule schedule;
	size_t max_at_once;
	int64_t min_age_ns;
	int64_t duration_ns; /* of a window */
	int64_t iterations;  /* of a window, where the source can count them; 0: by duration */
};

struct plan_worker {
	const char *source; /* a source_type's name: lives as long as the program */
	char key[PLAN_KEY_TEXT]; /* what the source knows it by: "pid 4711", "http://127.0.0.1:8000" */
	pid_t pid; /* 0: not known */
	char service[WINDOW_TEXT_MAX + 1], deploy[WINDOW_TEXT_MAX + 1], worker[WINDOW_TEXT_MAX + 1];
	int64_t born_ns; /* mono; 0: old enough */
	bool idle; /* as the source last saw it */
};

struct plan_order {
	uint64_t id;	 /* not 0 */
	uint64_t worker; /* as plan_seen gave it */
	char key[PLAN_KEY_TEXT];
	enum plan_reason reason;
	int64_t duration_ns, iterations;
	int64_t expires_ns; /* mono: not begun by then, it ends as PLAN_UNSENT */
	char lease[PLAN_ID_TEXT], capture[PLAN_ID_TEXT]; /* the daemon's ids; "" without */
};

struct plan;

struct plan *plan_new(const struct plan_settings *s);
void plan_free(struct plan *p);
void plan_set(struct plan *p, const struct plan_settings *s);
const struct plan_settings *plan_get(const struct plan *p);

/* Adds or refreshes, by source and key; its id, or 0 when the plan is full (counted). Its first slot is the one after it was first
 * seen. A worker not seen for a minute is forgotten by plan_tick. */
uint64_t plan_seen(struct plan *p, const struct plan_worker *w, int64_t now_ns, int64_t wall_ns);
void plan_gone(struct plan *p, uint64_t worker);
/* Slots that ended are counted, leases and orders that ran out too. An order that nobody ended an hour after its window is dropped. */
void plan_tick(struct plan *p, int64_t now_ns, int64_t wall_ns);
int64_t plan_wake_ns(const struct plan *p, int64_t now_ns, int64_t wall_ns);

/* The next order for a worker of this source; false: nobody's turn. It is out until plan_end. */
bool plan_next(struct plan *p, const char *source, int64_t now_ns, int64_t wall_ns, struct plan_order *out);
/* taken: a window came of it. end: the source's word for what became of it ("taken", "empty", "refused" …), for the daemon
 * and the status line; it lives as long as the program. An order that could not even be given is plan_unsent; its worker
 * gets no other one for a second. */
void plan_end(struct plan *p, uint64_t order, bool taken, const char *end, int64_t now_ns);
void plan_unsent(struct plan *p, uint64_t order, int64_t now_ns);
/* May come before plan_end, where what became of it takes longer to know: the worker is through with its window, which
 * frees its place. */
void plan_over(struct plan *p, uint64_t order);
/* A window was made of it: its id, for the daemon. The order's worker, or 0 where there is no such order. */
uint64_t plan_made(struct plan *p, uint64_t order, const char *window);

/* The order as it was given; false where there is no such order (any more). */
bool plan_order(const struct plan *p, uint64_t order, struct plan_order *out);

/* ---- the daemon's word */
void plan_lead(struct plan *p, bool daemon_leads); /* false: no daemon answers, the local limits alone count */
void plan_pause(struct plan *p, bool paused);
/* A lease: this worker may be profiled within the time that is given; asked: now, without a slot. The same id again is the same
 * lease, for one window in all. E_NOT_FOUND where there is no such worker, E_LIMIT: the lease has ended then, and plan_ended tells. */
struct plan_grant {
	struct str id, capture; /* capture: empty for one of the schedule */
	struct str source, service, worker;
	int64_t duration_ns, iterations; /* both 0: as the settings have it; iterations 0: by duration */
	int64_t expires_ns; /* mono */
};
int plan_grant(struct plan *p, const struct plan_grant *g, int64_t now_ns, struct err *e) MUST_USE;
/* What became of leases, for the daemon; told again as long as it repeats one. */
struct plan_ended {
	char lease[PLAN_ID_TEXT], capture[PLAN_ID_TEXT];
	bool taken;
	const char *end; /* a source's word, a plan_why's, "expired", "unneeded", "gone" or "lost" */
	char window[WINDOW_ID_TEXT]; /* "": none */
};
size_t plan_ended(const struct plan *p, struct plan_ended *out, size_t max);
bool plan_has_ended(const struct plan *p); /* there are any */
void plan_told(struct plan *p, const struct plan_ended *ended, size_t n); /* the daemon has them */
/* Asked for on this host: a step was slow. Nothing (false) when it was asked less than every_ns ago. */
bool plan_ask(struct plan *p, uint64_t worker, enum plan_reason reason, int64_t every_ns, int64_t now_ns);

/* ---- what capturing costs (agent/cost.h): every n-th slot only; 1: all */
void plan_set_duty(struct plan *p, uint64_t worker, unsigned every_nth);
/* For the daemon to show: parts in a million of the worker's time; measured: or reckoned from the duty cycle. */
void plan_set_cost(struct plan *p, uint64_t worker, int64_t ppm, bool measured);

/* ---- counters, and what the daemon is told */
uint64_t plan_missed(const struct plan *p, enum plan_why why);
uint64_t plan_orders(const struct plan *p); /* given so far */
uint64_t plan_refused(const struct plan *p); /* workers that had no room */
size_t plan_out(const struct plan *p);	    /* now */

struct plan_view { /* one worker, as it stands */
	const struct plan_worker *w;
	uint64_t id;
	bool out, wants; /* wants: a slot is owed and only a lease is missing */
	enum plan_why why;
	int64_t last_ns; /* mono; its last window; 0: none */
	unsigned every_nth;
	int64_t cost_ppm;
	bool measured;
};
size_t plan_count(const struct plan *p);
uint64_t plan_named(const struct plan *p, struct str service, struct str worker); /* the first of that name; 0: none */
struct plan_view plan_at(const struct plan *p, size_t i);
bool plan_leads(const struct plan *p);	/* the daemon does */
bool plan_paused(const struct plan *p);

#endif
