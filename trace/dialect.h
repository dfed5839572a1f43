/* dialect.h — a trace file becomes a trace, whichever of the profilers wrote it.
 * Runs on: one thread at a time. */
#ifndef TRACE_DIALECT_H
#define TRACE_DIALECT_H

#include "trace/probe.h"
#include "trace/reader.h"

/* As trace_read_more (which reads all that the probe does not know better), by the reader of this kind of file. What is
 * wanted besides (TRACE_…) only PyTorch's have. */
int dialect_read(enum probe_kind kind, struct input *in, const char *name, const struct trace_limits *limits,
	unsigned want, const struct trace_watcher *watcher, struct trace_report *report, struct trace **out,
	struct err *e) MUST_USE;

#endif
