/* clock.h — time as int64_t nanoseconds: wall since 1970 (UTC), mono since some start.
 * Only programs ask the real clock; libraries take the time as a parameter, so that tests own it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#include "base/code.h"
#include "base/str.h"

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MIN (60 * NS_PER_S)
#define NS_PER_HOUR (3600 * NS_PER_S)
#define NS_PER_DAY (24 * NS_PER_HOUR)

int64_t clock_wall_ns(void);
int64_t clock_mono_ns(void);
void clock_sleep_ns(int64_t ns);

static inline int64_t clock_earlier(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* RFC 3339 in UTC with as many decimals as needed (0, 3, 6 or 9): "2026-11-29T14:00:00Z". */
enum { CLOCK_TEXT = 40 };
struct str clock_rfc3339(int64_t wall_ns, char out[CLOCK_TEXT]);

/* A moment as people and programs write it: RFC 3339 (any offset), Unix seconds with decimals, "now", "now-7d",
 * "now+5m". E_FORMAT for anything else, E_LIMIT outside the years 1970 to 2262. */
int clock_parse(struct str s, int64_t now_wall_ns, int64_t *wall_ns) MUST_USE;

/* "90s", "5m", "1h30m", "7d", "2w", "250ms", "10us", "7ns"; a bare number is seconds. Never negative. */
int clock_parse_duration(struct str s, int64_t *ns) MUST_USE;

/* Exactly, in the largest unit that divides it: "5m", "90s", "0s"; clock_parse_duration reads it back. Not negative. */
struct str clock_duration(int64_t ns, char out[CLOCK_TEXT]);

/* A duration for people, three digits: "403 ns", "403 µs", "2.36 ms", "1.20 s", "5 min", "3.0 h", "21 d". */
struct str clock_human(int64_t ns, char out[CLOCK_TEXT]);

#endif
