/* schedule.h — when windows are due: every interval, at an offset that is the host's own, so that a fleet spreads
 * itself with nobody to tell it; never in quiet hours. Pure: wall time comes in.
 *
 *	slot N     from N * interval + offset to (N + 1) * interval + offset, in nanoseconds since 1970
 *	offset     hash of the host's name, modulo the interval */
#ifndef AGENT_SCHEDULE_H
#define AGENT_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { SCHEDULE_QUIET_MAX = 16 };

struct schedule {
	int64_t interval_ns, offset_ns;
	struct schedule_quiet {
		int64_t from_ns, to_ns; /* of the day, UTC; to below from: past midnight */
	} quiet[SCHEDULE_QUIET_MAX];
	size_t n_quiet;
};

void schedule_init(struct schedule *s, int64_t interval_ns, struct str host);
/* "22:00-06:00", UTC; E_USAGE says what would be right, E_LIMIT for too many. */
int schedule_add_quiet(struct schedule *s, struct str hours, struct err *e) MUST_USE;

int64_t schedule_slot(const struct schedule *s, int64_t now_wall_ns);
bool schedule_is_quiet(const struct schedule *s, int64_t now_wall_ns);

#endif
