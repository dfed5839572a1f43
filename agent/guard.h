/* guard.h — a folder that somebody writes to must not fill the disk. Runs on: any thread that may wait. */
#ifndef AGENT_GUARD_H
#define AGENT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct guard {
	const char *dir;
	uint64_t max_bytes;
	bool over; /* it has max_bytes or more */
	bool low;  /* less than 128 MiB are left on its disk */
};

/* Looks; false where one of both is so. For struct child_settings' go_on, arg is the guard. */
bool guard_holds(void *arg);

#endif
