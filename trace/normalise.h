/* normalise.h — the name an op has as a series: what changes with every recompile, run or step becomes "*".
 * Rules are a table: fixed text, then a run of characters that changes, then (some) fixed text; besides, what looks like a
 * hash wherever it stands. What tells ops apart stays: overloads, AddBackward0 and AddBackward1, sizes of tiles, layers.
 * A name above 256 bytes with templates in it loses the inside of its innermost brackets ("f<g<…>, 3>(…)") and gets the
 * hash of the whole. A NUL, which no window may hold, becomes a space. Normalising twice changes nothing more. Pure.
 * Users' own rules: trace/name_rules.h. */
#ifndef TRACE_NORMALISE_H
#define TRACE_NORMALISE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* name itself where no rule applies, else what stands in scratch then (which is emptied first). At most max bytes: a
 * longer name is cut at a character and gets "~" and 16 hex digits of its hash, so that two stay two. */
struct str normalise_name(struct str name, size_t max, struct buf *scratch);

/* The same cut alone, in place. */
void name_shorten(struct buf *name, size_t max);

/* Rows of what a compiler made into one: Torch-Compiled Region, CompiledFunction, CompiledFxGraph, NEFF, … */
bool name_is_region(struct str name);
/* Device events and annotations of collective communication. */
bool name_is_collective(struct str name);

/* "Torch-Compiled Region: 3/1": frame 3, compiled the second time; "!0/3/1": the same in compiled autograd 0. False for any
 * other name. */
bool name_region_ids(struct str name, struct str *frame, struct str *compile);

#endif
