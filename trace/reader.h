/* reader.h — Kineto and Chrome trace JSON becomes events, block by block.
 *
 *	{ header…, "traceEvents": [ {"ph":"X","cat":…,"name":…,"pid":…,"tid":…,"ts":…,"dur":…,"args":{…}}, … ], header… }
 *	[ {…}, {…}, …				the old form: no header, and an event without "cat" is a cpu_op
 *
 * Events and header keys may come in any order. Only ph "X" of categories that give rows is kept (trace/event.h). Times
 * are decimal text in microseconds, numbers or strings of any length, taken to the nearest nanosecond and never through a
 * double. dur may be missing or negative (a range that never ended): the call counts with no time.
 * The last of equal keys stands, args included: of two args the first say nothing. A pid or tid of null is as good as none.
 *
 * Names with raw quotes (a dialect: json/pull.h) are read whole, whatever they are: code, JSON, what Python prints. Two cannot
 * be told from a sound text, which goes first: one whose very first quote stands where it would end ('a", "b": "c'), and one
 * that holds a key that the event has not had yet behind a quote ('{"a": "b", "pid": 3}').
 *
 * What is odd or lost is told in the report (trace/report.h); damage inside the list of events costs the events it is
 * in, damage in the header what stands before the list. Memory: 32 bytes an event kept (the array doubles, but what is not yet
 * used of it is not in memory), names once each, nothing else that grows with the file. Runs on: one thread at a time. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "base/err.h"
#include "json/mask.h"
#include "trace/event.h"
#include "trace/input.h"
#include "trace/report.h"

struct trace_reader;

struct trace_reader *trace_reader_new(uint64_t max_events);
/* Before the first block: what is read besides, TRACE_… of trace/event.h. */
void trace_reader_want(struct trace_reader *r, unsigned want);
/* Before the first block: another kernel for the quick way than the fastest, or NULL for token by token alone. The trace
 * is the same; tests and benchmarks want it. */
void trace_reader_kernel(struct trace_reader *r, const struct json_mask_kernel *kernel);
void trace_reader_free(struct trace_reader *r);
/* E_FORMAT as soon as it is clear that this is no trace. */
int trace_reader_feed(struct trace_reader *r, struct str block, struct err *e) MUST_USE;
/* Nothing comes any more. E_FORMAT where it was no trace. The trace is the caller's (trace_free). */
int trace_reader_end(struct trace_reader *r, struct trace_report *report, struct trace **out, struct err *e) MUST_USE;
void trace_free(struct trace *t);

/* All of an input; want as in trace_reader_want, 0 for trace_read. watcher may be NULL. A damaged trace is OK (see the report); E_FORMAT, E_LIMIT, E_SYS otherwise, with
 * name in front. */
int trace_read(struct input *in, const char *name, const struct trace_limits *limits,
	const struct trace_watcher *watcher, struct trace_report *report, struct trace **out, struct err *e) MUST_USE;
int trace_read_more(struct input *in, const char *name, const struct trace_limits *limits, unsigned want,
	const struct trace_watcher *watcher, struct trace_report *report, struct trace **out, struct err *e) MUST_USE;

#endif
