/* neffs.h — which compiled graphs stand beside a trace: neff_HASH.neff or neff_HASH_vnc_N.neff, one a graph that was loaded
 * while the window was taken. HASH is the runtime's, of the graph's content.
 * Runs on: any thread but an event loop. */
#ifndef TRACE_NEFFS_H
#define TRACE_NEFFS_H

#include <stddef.h>

#include "base/arena.h"

enum { NEFFS_MAX = 4096 };

/* Their hashes, ordered, each once, in the arena; *n is how many. None where the folder cannot be read. */
const struct str *neffs_beside(struct arena *a, const char *trace_path, size_t *n);

#endif
