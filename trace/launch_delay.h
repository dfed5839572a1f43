/* launch_delay.h — from a call of the host to the start of what it launched on a device.
 *
 * Runtime calls and device events of one correlation belong together. The delay is from the start of the first call of a
 * correlation to the start of its first device event, so that a launched graph counts once. In what order they stand in
 * the file does not matter as long as both are among the last LAUNCH_DELAYS_KEPT correlations; of one that makes room
 * for another what is known by then counts. A device event before its call (two clocks) is no delay.
 *
 * Gauges: launch_delay {percentile: p50, p99} ns, launch_delay_calls calls: how many were measured. Percentiles as
 * exact as stat/hist.
 * Runs on: one thread at a time. Memory: 3 MiB from the first correlation on. */
#ifndef TRACE_LAUNCH_DELAY_H
#define TRACE_LAUNCH_DELAY_H

#include <stdint.h>

#include "stat/hist.h"
#include "trace/draft.h"

enum { LAUNCH_DELAYS_KEPT = 1 << 17 };

struct launch_delays;

struct launch_delays *launch_delays_new(void); /* NULL where there is no memory */
void launch_delays_free(struct launch_delays *d);

/* In any order; NULL is fine. */
void launch_delays_call(struct launch_delays *d, uint64_t correlation, int64_t start_ns);
void launch_delays_device(struct launch_delays *d, uint64_t correlation, int64_t start_ns);
/* Nothing comes any more: how long they took. Valid until launch_delays_free. */
const struct hist *launch_delays_finish(struct launch_delays *d);

/* Nothing for an empty one. */
void launch_delay_gauges(const struct hist *delays, struct draft *d);

#endif
