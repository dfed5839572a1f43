/* tick.h — the detector at work: looks at services when windows came, and at an interval; judges the newest deploy against the
 * one before, keeps alerts in the store, hands them to notify. What fires and what resolves: tick.c.
 * Runs on: a thread of its own. */
#ifndef DAEMON_TICK_H
#define DAEMON_TICK_H

#include <stdint.h>

#include "api/api.h"
#include "api/desk.h"
#include "base/err.h"
#include "base/metric.h"
#include "notify/notify.h"
#include "store/store.h"

struct tick;

struct tick_settings {
	int64_t interval_ns, settle_ns;
	int64_t windows_before, windows_after, steps;
	bool capture;		  /* ask for windows of the hosts of an alert that fires */
	int64_t capture_every_ns; /* of a service, at most */
};

struct tick_parts { /* borrowed */
	struct store *store;
	struct api *api; /* holds the fusion table in force */
	struct notify *notify;
	struct metrics *metrics;
	int64_t (*wall_ns)(void);
	struct desk *desk; /* NULL: no captures */
};

int tick_open(struct tick **out, const struct tick_parts *parts, const struct tick_settings *set, struct err *e) MUST_USE;
void tick_close(struct tick *t); /* finishes the round it is in; NULL is fine */

void tick_poke(void *tick); /* windows came: a struct api_settings.arrived. Any thread, never waits. */
void tick_set(struct tick *t, const struct tick_settings *set); /* from the next round on, in which everything is judged anew */

/* One round, for tests: every service is looked at now. */
int tick_round(struct tick *t, struct err *e) MUST_USE;
struct tick *tick_new(const struct tick_parts *parts, const struct tick_settings *set); /* without a thread */

#endif
