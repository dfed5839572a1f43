/* world.h — stores in temporary folders and fleets of made-up windows, for the tests of store/. */
#ifndef TESTS_UNIT_STORE_WORLD_H
#define TESTS_UNIT_STORE_WORLD_H

#include <check.h>

#include "base/clock.h"
#include "base/rand.h"
#include "store/store.h"

/* 2026-11-01T00:00:00Z */
#define WORLD_START (INT64_C(1793491200) * NS_PER_S)

struct world {
	char dir[64];
	struct store_settings settings;
	struct store *store;
	struct arena arena;  /* the windows' texts and arrays */
	struct arena answer; /* of one question: world_ask resets it */
	struct rand_gen rand;
	struct window *windows;
	size_t n;
	struct err err;
};

enum { WORLD_WINDOWS_MAX = 20000 };

void world_open(struct world *w, uint64_t seed);
void world_close(struct world *w); /* removes the folder */
void world_reopen(struct world *w);

/* A window of these, with random ops, labels and gauges; kept in w->windows. */
struct window *world_window(struct world *w, const char *service, const char *deploy, const char *host,
	const char *worker, int64_t start_ns);
void world_unmake(struct world *w); /* the last one */
/* n windows over two services, three deploys, four hosts, two workers and span_ns from WORLD_START. */
void world_fleet(struct world *w, size_t n, int64_t span_ns);

void world_put(struct world *w, const struct window *windows, size_t n);
void world_put_all(struct world *w, size_t batch);

bool world_matches(const struct window *win, const struct query *q);
/* The same as a store must answer, by going over the windows: only those of put windows that match. */
struct profile_merge *world_merged(const struct world *w, const struct query *q);

void world_same_op(const struct op_summary *a, const struct op_summary *b);
void world_same_window(const struct window *a, const struct window *b, bool whole);
void world_same_merged(struct profile_merge *a, struct profile_merge *b);

#define world_ok(w, call) ck_assert_msg((call) == OK, "%s: %s", #call, (w)->err.text)

#endif
