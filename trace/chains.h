/* chains.h — which calls stood in which: each chain of names once, with how often it was called and what it took by itself.
 * The tree is that of the table (trace/keyavg.h), with Python calls where the trace keeps them; a call that its parent
 * stands for is its parent. Asynchronous collectives stand at the root.
 * Runs on: one thread at a time. Memory: about 80 bytes a chain, 4 an event where device events are wanted, and what
 * trace/tree.h takes. */
#ifndef TRACE_CHAINS_H
#define TRACE_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "trace/event.h"

#define CHAIN_NONE UINT32_MAX

struct chain {
	uint32_t parent, name; /* the index of the chain around it, or CHAIN_NONE; of the innermost call */
	uint64_t calls;
	int64_t cpu_ns, device_ns; /* self times */
	bool device;		   /* a device event, in the op that launched it */
};
VEC(chain_list, struct chain);

struct chains {
	const struct trace *t; /* borrowed */
	struct chain_list list; /* parents before what stands in them */
	struct arena arena;
	struct intern keys; /* parent, name, device → index into list */
};

enum chains_of {
	CHAINS_CALLS,	/* host calls alone; their device_ns is that of the device events that belong to them */
	CHAINS_KERNELS, /* device events are chains of their own, and the device time is theirs */
	CHAINS_OFS
};

/* After keyavg_each. E_NOMEM, E_LIMIT past too many chains; then there is nothing to fini. */
int chains_make(struct chains *out, const struct trace *t, enum chains_of of, struct err *e) MUST_USE;
void chains_fini(struct chains *c);

#endif
