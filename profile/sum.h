/* sum.h — sums of numbers that strangers sent: they stay at the largest or smallest there is rather than wrap. */
#ifndef PROFILE_SUM_H
#define PROFILE_SUM_H

#include <math.h>
#include <stdint.h>

static inline int64_t sum_ns(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

static inline uint64_t sum_counts(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* To the nearest, halves away from zero; what is no number is 0. */
static inline int64_t sum_round_ns(double ns)
{
	const double edge = 9223372036854775808.0; /* 2^63 */

	if (isnan(ns))
		return 0;
	if (ns >= edge || ns <= -edge)
		return ns > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)llround(ns);
}

#endif
