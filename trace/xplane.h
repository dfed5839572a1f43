/* xplane.h — the profiler's protobuf of TensorFlow, JAX and PyTorch/XLA (HOST.xplane.pb) becomes a trace (trace/xla.h).
 * By field numbers alone:
 *
 *	XSpace		1 planes*	4 hostnames*
 *	XPlane		2 name		3 lines*	4 event_metadata*	5 stat_metadata*	6 stats*
 *	XLine		1 id		2 name		3 timestamp_ns		4 events*	11 display_name
 *	XEvent		1 metadata_id	2 offset_ps (from the line's timestamp)	3 duration_ps	4 stats*	5 num_occurrences
 *	XStat		1 metadata_id	3 uint64	4 int64		5 text	7 ref: the text is a stat_metadata's name
 *	metadata*	1 key		2 value { 1 id	2 name	4 display_name	5 stats* }
 *
 * What names an event may stand behind it, as it does in files that exist: events are kept as numbers until their plane
 * ends, and named then. An event with num_occurrences and no offset is a sum and no call; it is passed over. What an event's
 * metadata has of stats counts where the event itself has none.
 * A plane named "/host:metadata" has the versions, "Task Environment" the wall clock (profile_start_time, ns).
 *
 * Damage costs the message that it is in, and is counted; what is missing at the end costs the event that was cut, and
 * events whose plane ended before their names came.
 * Memory: one plane's events as varints (about 40 bytes each) and its metadata, beside what struct trace takes.
 * Runs on: one thread at a time. */
#ifndef TRACE_XPLANE_H
#define TRACE_XPLANE_H

#include "base/err.h"
#include "trace/event.h"
#include "trace/input.h"
#include "trace/reader.h"
#include "trace/report.h"

struct xplane_reader;

/* The report is borrowed: what is lost goes there at once. */
struct xplane_reader *xplane_reader_new(uint64_t max_events, struct trace_report *report);
void xplane_reader_free(struct xplane_reader *r);
void xplane_reader_feed(struct xplane_reader *r, struct str block);
/* Nothing comes any more. E_FORMAT where it was no XSpace. The trace is the caller's (trace_free). */
int xplane_reader_end(struct xplane_reader *r, struct trace **out, struct err *e) MUST_USE;

/* All of an input, like trace_read. watcher may be NULL. */
int xplane_read(struct input *in, const char *name, const struct trace_limits *limits,
	const struct trace_watcher *watcher, struct trace_report *report, struct trace **out,
	struct err *e) MUST_USE;

#endif
