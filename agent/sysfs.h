/* sysfs.h — the source "sysfs": the Neuron driver's own counters (agent/sysfs_walk.h), once in a while, as a window of gauges.
 *
 *	a counter	its rate over the time since the last look, per second; nc_time_in_use as a ratio
 *	a level, power	as it is now; peaks with stat=peak, power with stat=min|max|avg as a ratio of the most it may draw
 *	a component	1, with the label component
 *	info		labels of the window, where all devices agree
 *
 * Zeros are left out: a gauge that is not there is 0. A counter that went back (the driver was loaded anew, or the counter
 * cleared) has no rate this time. The driver's version goes with the window: before 2.30.2 counters lag behind.
 * Runs on: the agent's main thread; files are read on a thread of its own. */
#ifndef AGENT_SYSFS_H
#define AGENT_SYSFS_H

#include <stdint.h>

#include "agent/options.h"
#include "agent/report.h"
#include "agent/source.h"
#include "base/err.h"

enum sysfs_trouble {
	SYSFS_ABSENT, /* no driver's folder */
	SYSFS_DENIED, /* some files may not be read */
	SYSFS_CUT,    /* more files than are read, or slower */
	SYSFS_ODD,    /* files that say something unknown */
	SYSFS_BACK,   /* counters went back */
	SYSFS_FULL,   /* more gauges than a window has */
	SYSFS_TROUBLES
};
const char *sysfs_trouble_word(enum sysfs_trouble t);

struct sysfs_settings {
	const struct sysfs_conf *conf; /* lives as long as the source */
	struct report_origin origin;
};

extern const struct source_type sysfs_source;

int sysfs_open(struct source *out, const struct sysfs_settings *s, struct err *e) MUST_USE;

uint64_t sysfs_count(const struct source *s, enum sysfs_trouble t); /* looks that met it; for tests */

#endif
