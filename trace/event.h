/* event.h — the timed events of one trace, as the reader keeps them and keyavg and fold go over them.
 *
 * One event is 32 bytes; names and threads are numbers into tables:
 *
 *	 0  start_ns    8	from the trace's own zero (baseTimeNanoseconds, or none)
 *	 8  dur_ns      8	never negative
 *	16  ext         8	External id, until links are made; then
 *	    device_ns		(host events) the time of the device events that belong to it, or
 *	    link		(device events) index of the op it belongs to, or EVENT_NO_LINK
 *	24  name        4	index into trace.names
 *	28  thread      3	index into trace.threads: one (pid, tid)
 *	31  cat, flags  1	four bits each: enum event_cat, EVENT_…
 *
 * Runs on: one thread at a time. */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/op.h"
#include "profile/sum.h"

/* What an event's category makes of it (PyTorch's key_averages()). */
enum event_class {
	EVENT_HOST_OP,	 /* a row, a node of the tree, may own device events */
	EVENT_HOST_CALL, /* a row and a node, owns nothing */
	EVENT_DEVICE,	 /* a row beside the tree */
	EVENT_PYTHON,	 /* a node without a row, and only in traces that name their host (PyTorch 2.12 and later), unless
			    TRACE_PYTHON is wanted */
	EVENT_CLASSES
};

enum event_cat {
	CAT_CPU_OP,
	CAT_OPERATOR, /* cpu_op in 2021 */
	CAT_USER_ANNOTATION,
	CAT_RUNTIME, /* …_runtime, …_driver, Runtime */
	CAT_GLOW_RUNTIME,
	CAT_OVERHEAD,
	CAT_EXTERNAL_CORRELATION,
	CAT_KERNEL,
	CAT_MEMCPY,
	CAT_MEMSET,
	CAT_DEVICE_OP,	  /* mtia_ccp_events, hpu_op: device work of other makers */
	CAT_DEVICE_RANGE, /* cuda_sync, cuda_profiler_range, mtia_insight: device rows that are no work */
	CAT_DEVICE_ANNOTATION,
	CAT_PYTHON,
	CAT_HLO, /* an XLA op; traces of JAX and PyTorch/XLA only (trace/xla.h) */
	EVENT_CATS
};

struct event_cat_info {
	enum event_class class;
	bool annotation; /* the row's is_user_annotation */
	bool op;	 /* cpu_op: what a call can be launched from */
	bool launcher;	 /* a runtime call that launches device events by correlation */
	bool executes;	 /* the device works while it lasts */
	enum op_kind kind;
};
extern const struct event_cat_info event_cat_infos[EVENT_CATS];
static inline const struct event_cat_info *event_cat_info(enum event_cat cat)
{
	return &event_cat_infos[cat];
}
/* The text of an event's "cat"; false for one that gives no row and no node. */
bool event_cat_parse(struct str text, enum event_cat *out);
/* What PyTorch's table calls the device that a category of runtime calls or device events is about, or NULL. */
const char *event_cat_device(struct str text);

enum {
	EVENT_HAS_EXT = 1 << 0, /* ext is an External id */
	EVENT_OWN_ID = 1 << 1,	/* External id equals correlation: its own number and no link (keyavg step 4) */
	EVENT_LOST = 1 << 2,	/* a host op whose device events went out of all rows (keyavg step 7) */
	EVENT_TAKEN = 1 << 3,	/* its parent's only child, which the parent stands for (keyavg step 7) */
};
#define EVENT_NO_LINK UINT32_MAX

struct trace_event {
	int64_t start_ns, dur_ns;
	union {
		uint64_t ext;
		int64_t device_ns;
		uint32_t link;
	};
	uint32_t name;
	uint32_t thread : 24, cat : 4, flags : 4;
};
_Static_assert(sizeof(struct trace_event) == 32, "as drawn above");
_Static_assert(EVENT_CATS <= 16, "a category is four bits");
enum { EVENT_THREADS_MAX = 1 << 24 };

static inline const struct event_cat_info *event_info(const struct trace_event *ev)
{
	return event_cat_info((enum event_cat)ev->cat);
}

static inline int64_t event_end_ns(const struct trace_event *ev)
{
	return ev->start_ns + ev->dur_ns; /* the reader keeps no event whose end does not fit */
}

/* What a name alone tells, found once a name. */
enum {
	NAME_DROPPED = 1 << 0, /* the profiler's own book-keeping: no row, no node */
	NAME_STEP = 1 << 1,    /* ProfilerStep#N, kept as ProfilerStep* */
	NAME_ASYNC = 1 << 2,   /* an annotation so named is an asynchronous collective */
	NAME_NO_WORK = 1 << 3, /* a view or an allocation: launches nothing */
};

struct trace_names {
	struct intern intern;
	uint8_t *flags; /* of each name */
	size_t room;
	int64_t step; /* N of the ProfilerStep#N that was looked up last, -1 where N is no number */
};
void trace_names_init(struct trace_names *n, struct arena *a, size_t cap);
void trace_names_fini(struct trace_names *n);
uint32_t trace_names_id(struct trace_names *n, struct str name); /* INTERN_NONE at the ceiling */

VEC(trace_events, struct trace_event);

/* What of a trace is read and kept besides, where somebody asks for it. */
enum {
	TRACE_SHAPES = 1 << 0, /* the inputs' shapes: 4 bytes an event */
	TRACE_MEMORY = 1 << 1, /* allocations: 24 bytes each */
	TRACE_PYTHON = 1 << 2, /* Python calls are rows, and nodes in every trace */
	TRACE_COPIES = 1 << 3, /* how many bytes were copied */
	TRACE_DELAYS = 1 << 4, /* how long after the host's call the device began (trace/launch_delay.h) */
};

enum copy_direction { COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE, COPY_OTHER, COPY_DIRECTIONS };

enum memory_side { MEMORY_CPU, MEMORY_DEVICE, MEMORY_SIDES };
struct trace_alloc { /* bytes taken, below 0 where they are given back; see trace/memory.h */
	int64_t at_ns;
	int64_t bytes[MEMORY_SIDES];
};

VEC(trace_allocs, struct trace_alloc);
VEC(trace_ids, uint32_t);

struct trace_step { /* a ProfilerStep#N of the host, or one with step_num: its event has no room for N */
	int64_t start_ns, dur_ns, number; /* -1: not known */
};
enum { TRACE_STEPS_MAX = 1 << 20 }; /* further ones have no number */
VEC(trace_steps, struct trace_step);

struct trace_version { /* of what made the trace: "runtime" "12000" */
	struct str key, value;
};
enum { TRACE_VERSIONS_MAX = 16 };

struct trace {
	struct arena arena; /* names and header texts */
	struct trace_events events;
	struct trace_steps steps;
	struct trace_names names;
	unsigned want; /* TRACE_… */
	struct intern dims; /* "[[2, 3], []]" */
	struct trace_ids dims_of; /* of each event: 1 + id, or 0 */
	struct trace_allocs allocs;
	uint64_t copy_bytes[COPY_DIRECTIONS]; /* of all copies on devices */
	struct launch_delays *delays; /* NULL where there are none */
	struct intern threads; /* "pid\037tid" as they stand in the file, texts with their quotes */
	struct intern pids;
	uint32_t *pid_of; /* of each thread */
	size_t pid_room;
	bool bare_array; /* the old form, without a header */
	bool has_base, has_host_name;
	int64_t base_ns; /* baseTimeNanoseconds */
	struct str host_name;
	const char *device; /* what PyTorch calls it, as far as categories tell: "CUDA"; NULL where they do not */
	int64_t rank; /* distributedInfo.rank, -1 where there is none */
	struct trace_version versions[TRACE_VERSIONS_MAX];
	size_t n_versions;
	struct xla *xla; /* of traces of JAX and PyTorch/XLA (trace/xla.h), else NULL */
};

void trace_init(struct trace *t, size_t cap_events);
void trace_fini(struct trace *t);
void trace_forget_events(struct trace *t); /* all that was read of them so far, but their names */

static inline struct str trace_name(const struct trace *t, uint32_t name)
{
	return intern_name(&t->names.intern, name);
}

static inline uint8_t trace_name_flags(const struct trace *t, uint32_t name)
{
	return t->names.flags[name];
}

/* The shapes of an event's inputs as JSON with ", " between the items; "[]" where there are none or nobody asked. */
struct str trace_dims(const struct trace *t, const struct trace_event *ev);

/* Remembers the number of the step that was just kept, where ev is one. False where there is no room for it. */
bool trace_note_step(struct trace *t, const struct trace_event *ev);

/* The thread of (pid, tid), both as they stand in the file; INTERN_NONE at the ceiling. */
uint32_t trace_thread(struct trace *t, struct str pid, struct str tid);
static inline uint32_t trace_pid(const struct trace *t, uint32_t thread)
{
	return t->pid_of[thread];
}

/* Once all is read: Python calls stay only where the header named the host or they are wanted, and allocations can be
 * summed. */
void trace_settle(struct trace *t);

static inline bool event_is_step(const struct trace *t, const struct trace_event *ev)
{
	return (trace_name_flags(t, ev->name) & NAME_STEP) &&
	       event_info(ev)->class == EVENT_HOST_OP;
}

static inline bool event_is_async(const struct trace *t, const struct trace_event *ev)
{
	return ev->cat == CAT_USER_ANNOTATION && (trace_name_flags(t, ev->name) & NAME_ASYNC);
}

/* Times of strangers: they stop at the ends of int64_t and never wrap. */
static inline int64_t ns_add(int64_t a, int64_t b)
{
	return sum_ns(a, b);
}

static inline int64_t ns_sub(int64_t a, int64_t b)
{
	int64_t rest;

	if (!__builtin_sub_overflow(a, b, &rest))
		return rest;
	return b < 0 ? INT64_MAX : INT64_MIN;
}

#endif
