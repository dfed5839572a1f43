/* fake_plan.h — stands in for agent/plan.c and agent/meter.c at link time: orders from a script, and what became of them. One worker a key. */
#ifndef TESTS_UNIT_AGENT_FAKE_PLAN_H
#define TESTS_UNIT_AGENT_FAKE_PLAN_H

#include "agent/meter.h"

enum { FAKE_WORKERS_MAX = 8, FAKE_ENDS_MAX = 100 };

struct fake_plan {
	size_t wanted;	     /* orders to give as soon as a worker is idle */
	int64_t duration_ns; /* of them */
	struct plan_worker workers[FAKE_WORKERS_MAX];
	size_t n_workers;
	size_t given, unsent;
	uint64_t out; /* the order that is out; 0: none */
	struct fake_order_end {
		bool taken;
		const char *word;
	} ends[FAKE_ENDS_MAX];
	size_t n_ends;
	uint64_t iterations; /* as meter_count was told them last */
	size_t n_counts;
};

extern struct fake_plan fake_plan;

#endif
