/* sidecars.h — the sidecars in an archive (trace/archive.h), by the names of their traces: NAME.meta.json in it is that of NAME in it, as
 * in a folder (trace/sidecar.h), whichever of both comes first. That is why they are gathered in a pass of their own, before
 * the traces are read.
 * A leading "./" of a name does not count; of two with one name the later one does, as where the archive is unpacked.
 * Runs on: one thread at a time. Memory: their texts, at most SIDECARS_BYTES_MAX. */
#ifndef TRACE_SIDECARS_H
#define TRACE_SIDECARS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "trace/input.h"
#include "trace/sidecar.h"

enum { SIDECARS_BYTES_MAX = 64 << 20, SIDECARS_MAX = 100000 };

struct sidecars;

/* in: the archive's, which is read to its end; name: what it is called. Damage of the archive is no error here: what reads the
 * traces tells of it. E_LIMIT, or what the input says. */
int sidecars_read(struct sidecars **out, struct input *in, const char *name, struct err *e) MUST_USE;
void sidecars_free(struct sidecars *s); /* NULL is fine */

/* That of the trace with this name in the archive; a zeroed one where there is none. Texts live in the arena. E_USAGE, with the name,
 * where it is wrong. */
int sidecars_find(const struct sidecars *s, struct arena *a, struct str trace, struct sidecar *out, struct err *e) MUST_USE;

#endif
