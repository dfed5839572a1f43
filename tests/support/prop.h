/* prop.h — property tests: a promise is tried on many random cases, and the smallest failing one is shown.
 *
 *	static bool sorted_stays_sorted(struct rand_gen *g, size_t size, void *arg) { ... make a case of about size parts
 *		from g alone; true when the promise holds ... }
 *	prop_check("sorted stays sorted", 200, 1000, sorted_stays_sorted, NULL);
 *
 * A case is made from its seed and size alone. A case that fails is made again at half the size as long as it still
 * fails, and the test ends with seed and size of the smallest. PROP_SEED=SEED replays that seed first and only that;
 * without it the seed is new each run and printed. */
#ifndef TESTS_SUPPORT_PROP_H
#define TESTS_SUPPORT_PROP_H

#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rand.h"

typedef bool prop_holds(struct rand_gen *g, size_t size, void *arg);

static inline bool prop_try(uint64_t seed, size_t size, prop_holds *holds, void *arg)
{
	struct rand_gen g;

	rand_seed(&g, seed);
	return holds(&g, size, arg);
}

static inline void prop_shrink(const char *name, uint64_t seed, size_t size, prop_holds *holds, void *arg)
{
	while (size > 1 && !prop_try(seed, size / 2, holds, arg))
		size /= 2;
	ck_abort_msg("%s: does not hold at size %zu, PROP_SEED=%" PRIu64, name, size, seed);
}

/* Sizes go from 1 up to size_max over the cases, so that small cases are tried first. */
static inline void prop_check(const char *name, unsigned cases, size_t size_max, prop_holds *holds, void *arg)
{
	const char *given = getenv("PROP_SEED");
	struct rand_gen seeds;
	uint64_t first;

	if (given != NULL) {
		first = strtoull(given, NULL, 10);
		for (size_t size = 1; size <= size_max; size++)
			if (!prop_try(first, size, holds, arg))
				prop_shrink(name, first, size, holds, arg);
		return;
	}
	rand_seed_os(&seeds);
	first = rand_u64(&seeds);
	printf("# %s: seeds from %" PRIu64 "\n", name, first);
	fflush(stdout);
	for (unsigned i = 0; i < cases; i++) {
		size_t size = 1 + (cases > 1 ? (size_max - 1) * i / (cases - 1) : size_max - 1);

		if (!prop_try(first + i, size, holds, arg))
			prop_shrink(name, first + i, size, holds, arg);
	}
}

#endif
