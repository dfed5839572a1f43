/* crash.h — named points between durable steps, where tests kill the program to see what survives.
 * TRAINSPOTTER_CRASH_AT=NAME:N (N is 1 where it is left out) makes the N-th pass of crash_point("NAME") raise SIGKILL: no
 * handler runs, no buffer is flushed, as when the machine's power goes. Unset, a point costs one branch. The names are
 * "PART.STEP-DONE" ("spool.synced") and stand in the file that passes them. Runs on: any thread. */
#ifndef BASE_CRASH_H
#define BASE_CRASH_H

#include <stdbool.h>

extern bool crash_armed; /* set before main, from the environment */

void crash_arm(const char *value); /* for tests: as if the variable had this value; what is not "NAME:N" is ignored */
void crash_pass(const char *name);

static inline void crash_point(const char *name)
{
	if (__builtin_expect(crash_armed, 0))
		crash_pass(name);
}

#endif
