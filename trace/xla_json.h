/* xla_json.h — trace JSON as JAX and TensorBoard's profile plug-in write it (HOST.trace.json.gz) becomes a trace
 * (trace/xla.h).
 *
 *	{ "metadata":{"highres-ticks":true}, "traceEvents":[
 *	  {"ph":"M","pid":7,"name":"process_name","args":{"name":"/host:CPU"}},		or "/device:TPU:0"
 *	  {"ph":"M","pid":7,"tid":3,"name":"thread_name","args":{"name":"XLA Ops"}},
 *	  {"ph":"X","pid":7,"tid":3,"ts":1.5,"dur":1e-06,"name":"dot.1",
 *	   "args":{"hlo_op":"dot.1","hlo_module":"jit_step","run_id":"12","program_id":"4","device_ordinal":"0"}},
 *	  {"ph":"X","pid":7,"tid":1,"ts":1,"dur":9,"name":"train","args":{"step_num":"0"}},
 *	  {} ] }
 *
 * Times are microseconds that once were picoseconds, printed with 17 digits: they are rounded to the nearest one. Events
 * have no "cat", which tells this dialect from PyTorch's; so do process names and HLO arguments.
 * All writers name processes and threads before their events. Where they are named behind them, those events are kept as they
 * stand until the end, up to 256 MiB (what is more counts as too_many); without any name they go by number.
 * Runs on: one thread at a time. Memory: a name a process and a thread beside what struct trace takes. */
#ifndef TRACE_XLA_JSON_H
#define TRACE_XLA_JSON_H

#include "base/err.h"
#include "trace/event.h"
#include "trace/input.h"
#include "trace/reader.h"
#include "trace/report.h"
#include "trace/tokens.h"

/* All of an input, like trace_read. watcher may be NULL. */
int xla_json_read(struct input *in, const char *name, const struct trace_limits *limits,
	const struct trace_watcher *watcher, struct trace_report *report, struct trace **out,
	struct err *e) MUST_USE;
/* The same from tokens; the report is theirs. */
int xla_json_tokens(struct tokens *t, uint64_t max_events, const struct trace_watcher *watcher,
	struct trace **out, struct err *e) MUST_USE;

/* Is trace JSON that starts so of this dialect? */
enum xla_json_answer { XLA_JSON_NO, XLA_JSON_YES, XLA_JSON_UNKNOWN };
enum xla_json_answer xla_json_is(struct str head);

#endif
