/* cost.h — what taking windows costs a worker, by any counter of its work that only grows: steps, executions, engine
 * iterations. A book that is told counts and times, and says what was lost and how often windows may be taken. Pure.
 *
 *	   outside     window    outside        A window loses the time for which work is missing in it, by the rate of the minute or two
 *	───────────┬────────┬──────────────▶	around it:
 *	  10/s     │  8/s   │   10/s			lost = length − count ÷ rate around      slowdown = lost ÷ length
 *
 * Of the last COST_WINDOWS windows the medians count: jobs have bad minutes of their own. cost = lost ÷ time from window to window, in
 * parts per million of all the worker's time. An odd window that stalls a job among many that do not is not seen in that.
 *
 * Duty: every every_nth-th slot of the schedule. It doubles, up to COST_NTH_MAX, when the cost is over the budget twice in a row and
 * that by more than three standard errors, so that noise alone does not stop anybody's windows; it is halved again, at most
 * once in restore_ns, when the cost is within the budget also at the duty to come. Without a counter nothing is measured and the duty stays.
 *
 * A stretch that was partly inside counts as inside: what is lost stays the same and only its noise grows with the length, so whoever
 * can takes a sample at the beginning and at the end. Times are monotonic. Runs on: one thread. */
#ifndef AGENT_COST_H
#define AGENT_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { COST_NTH_MAX = 64, COST_WINDOWS = 16, COST_WINDOWS_MIN = 4, COST_WORKERS_MAX = 4096 };

/* What is counted, the best first: samples of another kind than the best one of the last minutes are passed over. */
enum cost_counter {
	COST_STEPS,	 /* the job's own step counter (cost_steps_read) */
	COST_ITERATIONS, /* of an engine: vLLM's metrics */
	COST_EXECUTIONS, /* of models on devices: neuron-monitor */
	COST_COUNTERS
};
const char *cost_counter_word(enum cost_counter c);

struct cost_settings {
	uint32_t budget_ppm;
	int64_t restore_ns;
};

struct cost;

struct cost *cost_new(const struct cost_settings *s);
void cost_free(struct cost *c); /* NULL is fine */
void cost_set(struct cost *c, const struct cost_settings *s);

/* A reading of a counter. inside: a window was under way at any moment since the reading before, or is now. A count that is less
 * than before (another process), or a time that is not later, starts afresh. worker: any number of the caller's, not 0. */
struct cost_sample {
	int64_t at_ns;
	uint64_t count;
	bool inside;
};
void cost_add(struct cost *c, uint64_t worker, enum cost_counter counter, const struct cost_sample *s);
/* The same where it is known how much was done in how long. */
void cost_add_stretch(struct cost *c, uint64_t worker, enum cost_counter counter, int64_t now_ns, int64_t length_ns, uint64_t count,
	bool inside);
/* Duties are restored; workers not heard of for a day are forgotten. */
void cost_tick(struct cost *c, int64_t now_ns);

struct cost_view {
	bool measured; /* false: no counter, fewer than COST_WINDOWS_MIN windows, or too much noise; every_nth alone counts then */
	enum cost_counter counter;
	size_t windows;	      /* that the medians are of */
	double rate_outside, rate_inside; /* counts a second around the windows and in them, of all of them */
	double slowdown;      /* 0 to 1: part of a window's time that is lost; below 0 never */
	uint32_t cost_ppm;
	double error_ppm;     /* standard error of the cost; also where that is why it counts as not measured; 0: too few windows */
	unsigned every_nth;
};
struct cost_view cost_of(const struct cost *c, uint64_t worker);

/* ---- DIR/PID.steps: how a job that uses the helper (python/trainspotter.py) counts its steps
 *
 *	0  8  "TSSTEPS1"	 8  8  u64 steps so far			16  8  i64 CLOCK_MONOTONIC ns of the last step
 *	24 8  u64 windows begun	32  8  u64 windows ended		40  8  u64 steps inside windows
 *	48 8  i64 ns spent inside windows (monotonic)			56  8  i64 CLOCK_MONOTONIC ns at the first step
 *
 * Little-endian, overwritten in place, so what is read may be half of one writing and half of the next: cost_steps_parse refuses
 * what cannot be, and the next reading is whole again. */
enum { COST_STEPS_BYTES = 64 };
struct cost_steps {
	uint64_t steps, begun, ended, steps_inside;
	int64_t last_ns, first_ns, inside_ns;
};
bool cost_steps_parse(const uint8_t bytes[COST_STEPS_BYTES], struct cost_steps *out);
/* The stretches from the reading before to this one: outside of the job's own windows, and inside. agents_window: as in cost_sample.
 * A reading from inside a window of the job's own waits for the one behind it. */
void cost_add_steps(struct cost *c, uint64_t worker, const struct cost_steps *now, bool agents_window);

#endif
