/* neuron_monitor.h — reports of neuron-monitor, one JSON object a line, become gauges.
 *
 *	{ "neuron_runtime_data": [ {"pid","neuron_runtime_tag","report":{…}} ], "system_data": {…}, "instance_info": {…},
 *	  "neuron_hardware_info": {…}, "neuron_k8s_info": {…} }
 *
 * Every member is optional. Several reports are one window: rates and latencies are their mean, counts per
 * period their sum, totals and memory the last value. Values of a runtime carry its tag as the label tag (its pid where
 * it has none), those of a device its index as the label device. Which leaf becomes what: the table in neuron_monitor.c.
 * Percentages become ratios 0 to 1; here the file does say 0 to 100. Impossible values are left out, counted as
 * bad_value. Non-empty "error" texts are the gauge monitor_errors {message}.
 * Reports have no time stamp: start_ns stays 0; dur_ns is the sum of their periods. No ops. host: instance_id. */
#ifndef TRACE_NEURON_MONITOR_H
#define TRACE_NEURON_MONITOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/tokens.h"

/* A whole file of them. */
int neuron_monitor_read(struct arena *a, struct tokens *t, struct window *out, struct err *e) MUST_USE;

/* ---- as they come, one at a time. Values of a runtime carry the label pid here, since the processes of a model share their
 * tag: the tag stands in the list of runtimes. */
struct neuron_monitor;

struct neuron_runtime { /* seen in any of the reports so far */
	int64_t pid;
	struct str tag; /* empty: none, or its pid again */
	bool in_last;	/* in the last report, too */
	double completed; /* executions in the period of the last report; -1: it does not say */
	int64_t period_ns; /* of that */
};

/* The window's texts, and those of the runtimes, go to the arena. */
struct neuron_monitor *neuron_monitor_new(struct arena *a);
void neuron_monitor_free(struct neuron_monitor *m); /* NULL is fine */
/* Folds one report in. E_FORMAT where the line is none; what was readable in a damaged one is kept and counted. */
int neuron_monitor_add(struct neuron_monitor *m, struct str line, struct err *e) MUST_USE;
const struct neuron_runtime *neuron_monitor_runtimes(const struct neuron_monitor *m, size_t *n);
uint64_t neuron_monitor_lost(const struct neuron_monitor *m); /* values and parts of reports that could not be read */
/* What was folded. E_FORMAT where no report had a value in it; nothing is added any more. */
int neuron_monitor_finish(struct neuron_monitor *m, struct window *out, struct err *e) MUST_USE;

#endif
