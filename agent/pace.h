/* pace.h — how long the steps of each worker take, and whether they take longer now than they did lately: the rule
 * capture.slow_step. A book that is told of windows. Pure: times come in.
 *
 *	step of a window    the median of its steps, else its length by their number
 *	slow                longer than ratio times the median of the last PACE_WINDOWS windows before it, of which there
 *	                    must be PACE_WINDOWS_MIN; of the same source, service, deploy and worker
 *
 * A slow window counts from then on like any other: what stays slow is the new pace after half of them. Runs on: one thread. */
#ifndef AGENT_PACE_H
#define AGENT_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "profile/window.h"

enum { PACE_WINDOWS = 9, PACE_WINDOWS_MIN = 4, PACE_WORKERS_MAX = 4096 };

/* Of one window; 0 where nothing tells. */
int64_t pace_step_ns(const struct window *w);

struct pace;

struct pace *pace_new(void);
void pace_free(struct pace *p); /* NULL is fine */

struct pace_key {
	struct str source, service, deploy, worker;
};
/* Was it slow? *median_ns: what it was measured by, 0 while that is not known. ratio: in thousandths. Of workers there is room
 * for PACE_WORKERS_MAX; whoever had no window for the longest time goes. */
bool pace_add(struct pace *p, const struct pace_key *k, int64_t step_ns, int64_t ratio, int64_t now_ns, int64_t *median_ns);

#endif
