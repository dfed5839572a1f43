/* vllm_find.h — what a profiler left in a folder since a moment.
 *
 *	DIR/host_4711.1795960800.pt.trace.json.gz         a trace, as torch.profiler names it
 *	DIR/<instance>_pid_<pid>/<time>/trace.json        a session folder of Neuron's; a trace, too
 *	                               /ntrace.pb, *.ntff, *.neff …    what only neuron-explorer decodes: a raw folder
 *
 * Looked at to a depth of six folders; links are not followed. Runs on: any thread. */
#ifndef AGENT_VLLM_FIND_H
#define AGENT_VLLM_FIND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* A file gets the time of the kernel's last tick, which is a little behind the clock. */
#define VLLM_TICK_NS (20 * NS_PER_MS)

enum { VLLM_FOUND_MAX = 1000, VLLM_LOOK_MAX = 20000 };

struct vllm_paths { /* in order */
	char (*v)[PATH_MAX];
	size_t n, room, cap;
};

struct vllm_found {
	struct vllm_paths traces, raw;
	uint64_t signature; /* changes when anything of it does; 0: nothing is there */
	bool too_many;	    /* VLLM_LOOK_MAX names were looked at, or VLLM_FOUND_MAX found, and not the rest */
};

/* What changed at since_ns (wall) or later. A folder that is not there is an empty one. */
void vllm_find(const char *dir, int64_t since_ns, struct vllm_found *out);
void vllm_found_fini(struct vllm_found *f);

#endif
