/* archive.h — the traces in an archive (trace/tar.h), one behind the other as they come.
 * Hidden files (those that macOS puts into archives are many) and sidecars (FILE.meta.json) are no traces; trace/sidecars.h
 * takes those. Runs on: one thread at a time. Memory: trace/tar.h. */
#ifndef TRACE_ARCHIVE_H
#define TRACE_ARCHIVE_H

#include "base/err.h"
#include "trace/input.h"

/* A trace: an input that nobody has read from, and its name, "ARCHIVE:FILE". Both until it returns. in is NULL where it
 * could not be opened, and why says so, with the name. A negative answer ends the reading. */
typedef int archive_visit(void *arg, const char *name, struct input *in, struct err *why, struct err *e);

struct tar;
struct tar_file;
/* A sidecar that is not hidden: tar_read gives its content. A negative answer ends the reading. */
typedef int archive_sidecar(void *arg, struct tar *t, const struct tar_file *f, struct err *e);

/* in: the archive's, of which only input_peek has looked at something; name: what it is called. sidecar: NULL passes them over. E_FORMAT,
 * with the name, where the archive is damaged or holds no traces, after all that could be read has been visited; what the input says; what
 * the visitor answered. report: of the archive itself. */
int archive_each(struct input *in, const char *name, const struct trace_limits *limits, archive_visit *visit, archive_sidecar *sidecar,
	void *arg, struct trace_report *report, struct err *e) MUST_USE;

#endif
