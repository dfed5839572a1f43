/* neuron_event.h — the events of a Neuron system profile, as its reader keeps them and links them.
 *
 *	framework	aten::mul  (thread)			an op is dispatched
 *	framework	stream lane				what it asks of the device
 *	neuron_rt	nrta_execute_schedule, nrt_model_submit	the runtime takes it: exec_id
 *	neuron_hw	nc_exec_running  (core)			the NeuronCore executes: the same exec_id
 *
 * Each lane leads to the one above it: by a flow_id that both events have; else by parent_id; an execution by its exec_id
 * to the call that scheduled it; a call without a parent to the op of its own thread that lasts while it is made, for
 * documented framework events carry no id. What leads nowhere stays without an op.
 * Names and lanes as documented for Neuron SDK 2.31 and seen in lists of real runs; no real file was at hand.
 * Runs on: one thread at a time. Memory: 128 bytes an event and 56 while linking, 32 for each
 * flow id. */
#ifndef TRACE_NEURON_EVENT_H
#define TRACE_NEURON_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

enum neuron_lane { NEURON_FRAMEWORK, NEURON_STREAM, NEURON_RUNTIME, NEURON_HARDWARE, NEURON_LANES };

enum neuron_what {
	NEURON_CALL,	    /* of the framework or the runtime */
	NEURON_EXECUTION,   /* a model runs on a core */
	NEURON_COLLECTIVE,  /* collective communication on a core */
	NEURON_TO_DEVICE,   /* a copy from host to device */
	NEURON_FROM_DEVICE, /* a copy from device to host */
	NEURON_DEVICE_WORK, /* other work of a core: a model switch */
	NEURON_MARK,	    /* a point in time */
	NEURON_WHATS
};

enum neuron_link { NEURON_UNLINKED, NEURON_BY_FLOW, NEURON_BY_EXEC, NEURON_BY_THREAD, NEURON_LINKS };
const char *neuron_link_name(enum neuron_link link); /* "none" "flow" "exec_id" "thread" */

/* What a name tells. Unknown names are calls of the runtime. */
struct neuron_name {
	const char *name;
	enum neuron_lane lane;
	enum neuron_what what;
	uint8_t rank; /* how near it is to the call that scheduled an execution: the least first */
};
enum { NEURON_RANK_OTHER = 9 };
const struct neuron_name *neuron_name_find(struct str name); /* NULL where it is not in the table */

/* "neuron_hw" of trace_event_source or of a lane label. */
bool neuron_lane_parse(struct str word, enum neuron_lane *out);
/* "i-0b1ea/PID:17/neuron_hw/NC0:4" */
bool neuron_lane_of_label(struct str label, enum neuron_lane *out);

#define NEURON_NONE UINT32_MAX

struct neuron_event {
	int64_t start_ns, dur_ns;
	uint64_t id, parent, exec; /* 0: none; exec is exec_id + 1 */
	int64_t bytes;		   /* of a transfer, -1 where not known */
	int64_t children_ns;	   /* direct children on its thread */
	int64_t device_ns;	   /* executions that it launched; of an execution: its own time, all physical cores as one */
	int64_t device_below_ns;   /* those of its descendants */
	uint32_t name, thread, process, model, core; /* ids of texts, NEURON_NONE where not known */
	int32_t physical_core;			     /* -1: not known */
	uint32_t first_flow, n_flows;
	uint32_t up; /* the event around it on its thread */
	uint32_t op; /* of an execution: the framework event, or NEURON_NONE */
	uint8_t lane, what, rank, link;
	bool merged; /* an execution of another physical core that stands in for this one too */
};

_Static_assert(sizeof(struct neuron_event) <= 128, "the promise above");

VEC(neuron_events, struct neuron_event);
VEC(neuron_flows, uint64_t);
VEC(neuron_indexes, uint32_t);

struct neuron_events_all {
	struct arena arena;  /* texts */
	struct intern texts; /* names, threads, processes, models, cores */
	struct neuron_events events;
	struct neuron_flows flows; /* hashes; an event's stand together */
};

static inline int64_t neuron_end_ns(const struct neuron_event *ev)
{
	return ev->start_ns + ev->dur_ns; /* the reader keeps none whose end does not fit */
}

static inline struct str neuron_text(const struct neuron_events_all *all, uint32_t id)
{
	return id == NEURON_NONE ? str_make("", 0) : intern_name(&all->texts, id);
}

/* Fills up, children_ns, merged, op, link, device_ns and device_below_ns. E_NOMEM. */
int neuron_link_events(struct neuron_events_all *all, struct err *e) MUST_USE;

#endif
