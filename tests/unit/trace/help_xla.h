/* help_xla.h — XSpace files written field by field, and traces of XLA as lines of text. */
#ifndef TESTS_UNIT_TRACE_HELP_XLA_H
#define TESTS_UNIT_TRACE_HELP_XLA_H

#include "base/buf.h"
#include "trace/event.h"
#include "trace/report.h"

/* ---- protobuf, one field at a time */
void help_pb_number(struct buf *b, unsigned field, uint64_t v);
void help_pb_bytes(struct buf *b, unsigned field, struct str bytes);
void help_pb_text(struct buf *b, unsigned field, const char *text);

/* Field 1 a key, field 2 a message of id and name: an entry of a plane's map (field 4 or 5). */
void help_xplane_meta(struct buf *plane, unsigned map, uint64_t id, const char *name);
/* An event for a line: stats is a message's fields, or NULL. */
void help_xplane_event(
	struct buf *line, uint64_t meta, uint64_t offset_ps, uint64_t dur_ps, const struct buf *stats);
/* A stat for an event: field 3 or 4 a number, 7 the id of a name. */
void help_xplane_stat(struct buf *stats, uint64_t id, unsigned field, uint64_t value);

/* Two steps of a made-up job: a small model of what JAX writes. Metadata stands behind the lines, or before them. */
void help_xspace(struct buf *out, bool metadata_first);
/* What help_xla_say says of it. */
extern const char help_xspace_said[];

/* Reads an XSpace in blocks of so many bytes (0: one). NULL where it is refused. */
struct trace *help_xplane_read(struct str bytes, size_t block, struct trace_report *report);

/* "name device annotation calls …" lines of the table, then "module NAME executions device_ns", then
 * "hlo MODULE OP count total_ns", then "step NUMBER". Uses the trace up. */
void help_xla_say(struct trace *t, struct buf *out);

#endif
