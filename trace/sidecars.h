/* sidecars.h — the sidecars in an archive (trace/archive.h), by the names of their traces: NAME.meta.json in it is that of NAME in it, as
 * in a folder (trace/sidecar.h), whichever of both comes first.
 * A leading "./" of a name does not count; of two with one name the later one does, as where the archive is unpacked.
 * Runs on: one thread at a time. Memory: their texts, at most SIDECARS_BYTES_MAX. */
#ifndef TRACE_SIDECARS_H
#define TRACE_SIDECARS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "trace/input.h"
#include "trace/sidecar.h"
#include "trace/tar.h"

enum { SIDECARS_BYTES_MAX = 64 << 20, SIDECARS_MAX = 100000 };

struct sidecars;

struct sidecars *sidecars_new(const char *archive); /* what it is called */
void sidecars_free(struct sidecars *s);		     /* NULL is fine */

/* This one, at which the archive's reader is. E_LIMIT, or what the input says. */
int sidecars_take(struct sidecars *s, struct tar *t, const struct tar_file *f, struct err *e) MUST_USE;
/* All of the archive, to its end, for which nobody has read from in. Damage of the archive is no error here: what reads the traces
 * tells of it. The same. */
int sidecars_read(struct sidecars *s, struct input *in, struct err *e) MUST_USE;

/* That of the trace with this name in the archive; a zeroed one where there is none. Texts live in the arena. E_USAGE, with the name,
 * where it is wrong. */
int sidecars_find(const struct sidecars *s, struct arena *a, struct str trace, struct sidecar *out, struct err *e) MUST_USE;

#endif
