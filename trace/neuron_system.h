/* neuron_system.h — neuron-explorer view --output-format json of a system profile: what framework, runtime and NeuronCores
 * did, on the host's clock.
 *
 *	{ "trace_events": [ {"name":"nc_exec_running","timestamp":…,"duration":…,"id":…,"parent_id":…,"exec_id":…,
 *	    "model_id":…,"nc_idx":…,"process_id":"…","thread_id":…,"group":…,"type":…}, … ],		also "trace_event",
 *	  "mem_usage": […], "cpu_util": […], "device_mem_usage": […] }
 *
 * Instead of a list also { lane: [ … ], … } and { label: { … }, … }, either of them in place of the whole, and objects of labels
 * in the list: the documents print events under "Neuron_Runtime_API_Event" and "Framework_Event".
 *
 * Numbers may be strings. How events are linked: trace/neuron_event.h. Rows:
 *
 *	cpu_op    aten::mul		framework ops; their device time is that of the executions they launched
 *	region, step			compiled regions and ProfilerStep#N among them
 *	runtime   nrta_execute_schedule	calls into the runtime, and the framework's stream lane
 *	memcpy    nrt_tensor_write	transfers, host time; copies inside another transfer are runtime rows
 *	kernel    MODEL			executions of a model, named by the last two parts of its path (hashes are "*");
 *					those without an op are its orphan_calls and orphan_ns
 *	collective cc_running		inside executions, so without self time
 *	overhead  nc_model_switch	other device work, without self time
 *	gap       device		between executions on one core, inside steps
 *
 * An execution that runs on several physical cores (LNC) is one: the union. Steps: ProfilerStep#N; else executions of the
 * one model, or of the one with at least four fifths of all device time, on the core with the most; else none.
 * Gauges: executions {link}, device_busy {core}, those of trace/launch_delay.h (from the start of the op to that of its
 * execution), transfer_bytes and transfers {direction}, host_memory_used, host_memory_used_ratio (largest), host_cpu_ratio (mean),
 * device_memory {usage_type, hbm, nd} (largest), events {type} of points in time, profile_warnings {category, message}.
 * Not checked against a real file: none is public. Where the documents disagree, both forms are read.
 * Memory: trace/neuron_event.h. At most NEURON_EVENTS_MAX events, what is more counts as too_many. */
#ifndef TRACE_NEURON_SYSTEM_H
#define TRACE_NEURON_SYSTEM_H

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/tokens.h"

enum { NEURON_EVENTS_MAX = 8000000 };

int neuron_system_read(struct arena *a, struct tokens *t, struct window *out, struct err *e) MUST_USE;

#endif
