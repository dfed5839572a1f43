#include "agent/guard.h"

#include "base/file.h"
#include "base/tree.h"

/* The last of a disk belongs to the jobs. */
static const uint64_t left_bytes = 128 << 20;

bool guard_holds(void *arg)
{
	struct guard *g = arg;
	uint64_t bytes = 0, left = UINT64_MAX;

	g->over = tree_bytes(g->dir, &bytes, NULL) < 0 || bytes >= g->max_bytes;
	g->low = file_free_bytes(g->dir, &left, NULL) == OK && left < left_bytes;
	return !g->over && !g->low;
}
