/* xla.h — what traces of JAX and PyTorch/XLA have beside their events: rows by module, and how often each module ran.
 * The readers (xplane.h, xla_json.h) hand in events as they find them; what comes out is a struct trace like any other,
 * so that keyavg and fold work on it, with this beside it:
 *
 *	HLO events	device rows (CAT_HLO) under their hlo_op, whatever thread they stand on; so are all events of a
 *			device's line "XLA Ops", under their names where no hlo_op says better
 *	"XLA Modules"	of a device: "jit_step(17)" is an execution, and the module of the HLO events in it that name none
 *	step_num	the event is a step (CAT_USER_ANNOTATION, NAME_STEP); one of a device only where the host has none, and
 *			then those of the first device that has any
 *	other events	of the host: calls into the runtime (CAT_RUNTIME), nested by time. Of a device: copies and fills; what else
 *			stands there only sums up HLO events (its lines "Steps" and so on)
 *	no rows		"$file:line function" (Python frames), "end: NAME" (twins of HLO events, with little time or none), HLO
 *			events of a device outside its line "XLA Ops" where it has one
 *
 * Times are picoseconds from the trace's own zero. A host event's end is rounded like its start, downwards, so that what
 * was nested stays nested; an HLO event's duration is rounded to the nearest nanosecond.
 *
 * Inside a file a module is (hlo_module, program_id). Both change from compilation to compilation, so across files its
 * identity is a hash of the set of its ops' names, each without trailing ".N", ".clone" and ".remat" (hlo_base_name). A window holds
 * a module as an op of kind region:
 *
 *	hlo_module jit_step {0123456789abcdef}	name for people, normalised; then the identity
 *		calls		executions: distinct run_ids, or where there are none the largest count of any of its ops that
 *				stands in no other one: the body of a loop runs many times in one execution. Of a module with
 *				loops, calls or choices the smallest count of those
 *		device_total_ns	of its HLO events
 *		self times	0: its ops have rows of their own (kind hlo), summed over modules
 *
 * HLO events stand in each other: that of a loop, a call or a choice is around those of its body, on its own thread or on others;
 * any other one around those on its thread. Its total is all its time, its self time (and so what a module and the device
 * took) only while none of those runs.
 *
 * JSON does not say program_id: programs of one name are one module there, and its identity that of all their ops. Windows
 * are compared best with windows of the same kind of file.
 *
 * The window is cut at both ends: of an execution that stands half in it the ops that were seen count, and so may the
 * execution. Runs on: one thread at a time. Memory: 80 bytes a row and a module, 16 an execution, 32 one on a line of its own; 8 an event
 * while it is settled, and 8 more from then on where HLO events stand in each other. */
#ifndef TRACE_XLA_H
#define TRACE_XLA_H

#include "base/buf.h"
#include "base/err.h"
#include "trace/event.h"
#include "trace/report.h"

/* Where among a device's lines an event stands: HLO ops and executions of modules have lines of their own, if the device
 * has them. */
enum xla_line { XLA_LINE_ANY, XLA_LINE_OPS, XLA_LINE_MODULES, XLA_LINE_BESIDE };

struct xla_event {
	uint64_t offset; /* in the file, for the report */
	int64_t start_ps, dur_ps;
	struct str name;
	struct str process; /* "/host:CPU", "/device:TPU:0", or a number */
	struct str thread;
	enum xla_line line;
	struct str hlo_op, hlo_module; /* p is NULL where there is none */
	bool has_program, has_run, has_ordinal, has_step;
	uint64_t program, run, ordinal;
	int64_t step; /* step_num; -1 where it is no number */
};

/* Of a line's name, "XLA Ops" or "XLA Modules"; XLA_LINE_ANY for any other. */
enum xla_line xla_line_of(struct str name);
/* A trace that is to become one of XLA. */
void xla_begin(struct trace *t);
void xla_free(struct xla *x);
/* Adds the event, or counts in the report why not. */
void xla_add(struct trace *t, const struct xla_event *ev, struct trace_report *report);
/* How much of an HLO event's time is that of HLO events inside it; 0 for any other event. Once all is settled. */
int64_t xla_inside_ns(const struct trace *t, const struct trace_event *ev);
/* All events are there: finds out what is inside what, about executions and identities. */
int xla_settle(struct trace *t, struct err *e) MUST_USE;

struct str hlo_base_name(struct str op); /* "fusion.clone.12", "fusion.3.remat2" → "fusion" */
bool xla_is_device(struct str process);

struct xla_module {
	struct str name; /* as in the file; lives in the trace */
	uint64_t executions;
	int64_t device_ns;
	uint64_t identity;
	/* while reading */
	uint64_t most, fewest, last_run; /* calls of an op; fewest: of a loop, call or choice */
	bool has_runs;
};
size_t xla_modules(const struct trace *t); /* 0 where it is no XLA trace; of one without executions, all ops are others' */
const struct xla_module *xla_module(const struct trace *t, size_t i);
/* Its name in a window. */
void xla_module_name(const struct xla_module *m, struct buf *out);

/* Rows by the file's own names, programs of one name together, ordered by module and op bytewise. */
struct xla_row {
	struct str module, op;
	uint64_t count;
	int64_t total_ns;
};
struct xla_table {
	struct xla_row *v;
	size_t n;
};
int xla_table_make(struct xla_table *out, const struct trace *t, struct err *e) MUST_USE;
void xla_table_fini(struct xla_table *xt);

#endif
