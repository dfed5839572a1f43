/* neuron_monitor.h — reports of neuron-monitor, one JSON object a line, become gauges.
 *
 *	{ "neuron_runtime_data": [ {"pid","neuron_runtime_tag","report":{…}} ], "system_data": {…}, "instance_info": {…},
 *	  "neuron_hardware_info": {…}, "neuron_k8s_info": {…} }
 *
 * Every member is optional. Several reports in a file are one window: rates and latencies are their mean, counts per
 * period their sum, totals and memory the last value. Values of a runtime carry its tag as the label tag (its pid where
 * it has none), those of a device its index as the label device. Which leaf becomes what: the table in neuron_monitor.c.
 * Percentages become ratios 0 to 1; here the file does say 0 to 100. Impossible values are left out, counted as
 * bad_value. Non-empty "error" texts are the gauge monitor_errors {message}.
 * Reports have no time stamp: start_ns stays 0; dur_ns is the sum of their periods. No ops. host: instance_id. */
#ifndef TRACE_NEURON_MONITOR_H
#define TRACE_NEURON_MONITOR_H

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/tokens.h"

int neuron_monitor_read(struct arena *a, struct tokens *t, struct window *out, struct err *e) MUST_USE;

#endif
