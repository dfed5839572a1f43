/* hist.h — the distribution of one op's times: a base-2 exponential histogram.
 * The kind of OpenTelemetry ("exponential histogram", data model 1.x) and of Prometheus' native histograms, at one fixed
 * scale, 5: bucket i counts values in (2^(i/32), 2^((i+1)/32)] nanoseconds, zero (and less) apart. Merging is adding
 * counts, so it is exact over any number of hosts and hours; a quantile is off by at most 1.1 % (half a bucket).
 * Which bucket a value is in is decided in integers: the same on every machine. Runs on: one thread at a time. */
#ifndef STAT_HIST_H
#define STAT_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/code.h"

/* The lowest bucket holds the value 1 alone, the highest ends at 2^63. */
enum { HIST_SCALE = 5, HIST_INDEX_MIN = -1, HIST_INDEX_MAX = (63 << HIST_SCALE) - 1 };
enum { HIST_BUCKETS_MAX = HIST_INDEX_MAX - HIST_INDEX_MIN + 1 };

struct hist {
	uint64_t zero;	 /* values <= 0 */
	uint64_t *count; /* n buckets from index lo on, some of them empty; owned */
	int32_t lo;
	uint32_t n;
};

void hist_init(struct hist *h); /* empty; an all-zero struct is an empty histogram too */
void hist_fini(struct hist *h);
void hist_reset(struct hist *h);

void hist_add(struct hist *h, int64_t ns);
void hist_add_n(struct hist *h, int64_t ns, uint64_t times);
void hist_add_bucket(struct hist *h, int32_t index, uint64_t count); /* index must be valid (hist_index_valid) */
void hist_merge(struct hist *into, const struct hist *from);
void hist_copy(struct hist *into, const struct hist *from); /* into: initialised */

uint64_t hist_count(const struct hist *h);
bool hist_empty(const struct hist *h);

/* q in 0…1. The middle (geometric) of the bucket that holds the q-th value, as nanoseconds; 0 for an empty one. */
double hist_quantile(const struct hist *h, double q);
/* Share of values <= ns, 0…1 (by interpolation inside a bucket). */
double hist_rank(const struct hist *h, double ns);

int32_t hist_index(int64_t ns); /* ns >= 1 */
bool hist_index_valid(int64_t index);
double hist_lower(int32_t index), hist_upper(int32_t index), hist_middle(int32_t index);

/* Goes over the buckets with a count, upwards: at = hist_next(h, at, &index, &count) until it is 0; start with 0. */
size_t hist_next(const struct hist *h, size_t at, int32_t *index, uint64_t *count);
size_t hist_used(const struct hist *h); /* buckets with a count */

#endif
