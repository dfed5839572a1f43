/* shares.h — what calls took, added up by two numbers: by step and name, by op and kernel.
 * The list is sorted and added up whenever it is full, and grows only where that does not halve it: n log n, and memory
 * for twice the different pairs. Runs on: one thread at a time. */
#ifndef TRACE_SHARES_H
#define TRACE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct share {
	uint32_t a, b;
	uint64_t calls;
	int64_t cpu_ns, device_ns;
};

struct shares { /* all zero is an empty one */
	struct share *v;
	size_t n, room;
	bool full; /* no memory: something is missing */
};

void shares_fini(struct shares *s);
/* What has the same a and b is one in the end. */
void shares_add(struct shares *s, struct share share);
/* From now on v is in order of a, then b, each pair once. */
void shares_settle(struct shares *s);

#endif
