/* neuron_device.h — neuron-explorer view --output-format json of a device profile: every instruction of one NeuronCore.
 *
 *	{ "instruction": [ {"label":"Vector","opcode":"TENSOR_TENSOR","timestamp":7,"duration":1200,"layer":…,"hlo_name":…}, … ],
 *	  "dma": […], "layer_summary": […], "ham": […], "nc_mem_usage": […], "summary": [{…}], "metadata": [{…}], … }
 *
 * Lists in any order, times in nanoseconds from the profile's start. Rows:
 *
 *	engine  Tensor		all its instructions; the label TensorMatrix is Tensor
 *	kernel  Tensor MATMUL	those of one opcode on one engine: what summarize --by-engine prints
 *	hlo     multiply	one call is all instructions of one HLO op ("multiply.3"): a profile is of one execution
 *	annotation /sg00/_dot	one call is one layer: its span from the layer list, else the sum of its instructions
 *	engine  DMA		transfers
 *
 * EVENT_SEMAPHORE rows are no work: their duration is the wait, up to thousands of times the work. They are left out, and
 * their sum is the gauge semaphore_wait {engine}. An instruction's time stands in one hlo row, or, where it has no HLO
 * op, in its kernel row, as orphan_ns: so each nanosecond counts once.
 * Gauges: the fields of "summary" (trace/neuron_summary.h), throttle_events and throttle_time {type}, device_memory
 * {usage_type, nc, nd}, dma_bytes, profile_warnings {category, message}, peaks of the device from "metadata".
 * Impossible durations and times are left out and counted as bad_value; so are instructions without an opcode (no_name).
 * Field names of the profilers 2.2x ("label", "timestamp", "duration") and of today's tables ("engine", "start_ts",
 * "duration_ns") are both read. Memory: one summary a name, nothing that grows with the instructions.
 * steps 1 (one execution), start_ns 0: the file has no wall clock. */
#ifndef TRACE_NEURON_DEVICE_H
#define TRACE_NEURON_DEVICE_H

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/tokens.h"

int neuron_device_read(struct arena *a, struct tokens *t, struct window *out, struct err *e) MUST_USE;

/* Splits the name of a kernel row above; false for another row. */
bool neuron_device_split(const struct op_summary *op, struct str *engine, struct str *opcode);

#endif
