/* steps.h — the steps of a trace one by one: how long, how busy the device was, what it launched, what took longest.
 *
 * A step is a ProfilerStep#N of the host, or an event with step_num. Where there is none, as in windows on demand, steps
 * are those of the window (trace/rhythm.h): from one end of the optimizer's step to its next end, where the first begins
 * with the trace and what comes behind the last is no step; or from one lookup of the tokens to the next, where the last
 * ends with the trace and what comes before the first is no step. Steps are in order of time.
 *
 * device busy	the part of the step in which a device worked, added up over the devices
 * gap		the part of the step that lies between two executions of a device, added up over the devices: waiting
 *		before the first execution of the trace and behind its last one is no gap
 * launches	device executions but copies and fills, by the start of the op that launched them; without device events
 *		calls of ops that do work themselves
 * largest ops	by the device time that belongs to them, of calls that begin in the step (without device events, by self CPU
 *		time): ops of the host, and device events that belong to none
 *
 * Runs on: one thread at a time. Memory: 64 bytes for each op in each step. */
#ifndef TRACE_STEPS_H
#define TRACE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "profile/window.h"
#include "trace/keyavg.h"

enum { STEP_OPS = 3 };

struct step_op {
	struct str name; /* lives in the trace */
	int64_t ns;
	uint64_t calls;
};

struct step_row {
	int64_t number; /* N, or the place in the list where it is not known */
	int64_t start_ns, wall_ns; /* start: since the first event */
	int64_t device_busy_ns, gap_ns;
	uint64_t launches;
	struct step_op ops[STEP_OPS]; /* the largest first */
	size_t n_ops;
};
VEC(step_rows, struct step_row);

struct step_table {
	struct step_rows rows;
	enum steps_from from;
	size_t devices;	 /* that worked at any time */
	bool has_device; /* ops are by device time */
	int64_t first_ns; /* of the trace, on its own clock */
};

struct steps;

/* Goes over the events; before keyavg_each. */
struct steps *steps_new(const struct trace *t); /* borrows */
void steps_free(struct steps *s);
/* For keyavg_table_make_and; arg: a struct steps. */
keyavg_each_call steps_add;
/* Then once. E_NOMEM. */
int steps_finish(struct steps *s, struct step_table *out, struct err *e) MUST_USE;
void step_table_fini(struct step_table *st);

#endif
