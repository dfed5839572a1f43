/* near.h — "did you mean": the nearest of some words to one that was mistyped.
 *
 *	near_init(&n, word);
 *	for each known word: near_try(&n, known);
 *	if (near_best(&n) != NULL) "; did you mean %s?"
 *
 * Distance is that of Damerau and Levenshtein with adjacent swaps (optimal string alignment). */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <stddef.h>

#include "base/str.h"

struct near_word {
	struct str word;
	const char *best;
	size_t distance;
};

void near_init(struct near_word *n, struct str word);
void near_try(struct near_word *n, const char *known); /* borrows known */
const char *near_best(const struct near_word *n);      /* NULL when nothing is near enough to be meant */

size_t near_distance(struct str a, struct str b); /* only the first 63 bytes of each count */

#endif
