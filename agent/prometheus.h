/* prometheus.h — reads the text that programs show at /metrics: Prometheus' exposition format 0.0.4 and OpenMetrics 1.0.
 *
 *	# HELP name what it is        passed over, as every other line that starts with '#'
 *	name 5
 *	name{label="a \"b\"",…} 5.5e3 1795960800000
 *
 * Tolerant: a line that is no sample is counted and passed over, and so is a last line that was cut short. Pure. */
#ifndef AGENT_PROMETHEUS_H
#define AGENT_PROMETHEUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct prometheus_sample {
	struct str name;
	struct str labels; /* what is between the braces, as it stands there */
	double value;	   /* finite: samples of NaN and infinity are passed over */
};

/* The next sample of *rest, which moves on behind it; false at the end. bad: lines that are none. */
bool prometheus_next(struct str *rest, struct prometheus_sample *out, uint64_t *bad);

#endif
