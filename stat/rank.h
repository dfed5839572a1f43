/* rank.h — Mann-Whitney over histograms and arrays: did values move, and which way. Pure.
 * H. B. Mann, D. R. Whitney 1947; normal approximation with tie correction (detect: 8 values a side at least). */
#ifndef STAT_RANK_H
#define STAT_RANK_H

#include <stddef.h>

#include "stat/hist.h"

struct rank_test {
	double z;	   /* positive: the second sample is larger */
	double cliff_delta; /* 2U/(ab) - 1, -1…1 */
};

struct rank_test rank_values(double *a, size_t n_a, double *b, size_t n_b); /* both are sorted in place */
/* Buckets as values; the second's values are divided by divisor before (1 for none). */
struct rank_test rank_hists(const struct hist *a, const struct hist *b, double divisor);

#endif
