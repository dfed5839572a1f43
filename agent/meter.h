/* meter.h — measures what taking windows costs: brings counters of work to the book (agent/cost.h), tells it when windows are under
 * way, and the plan how often they may be.
 *
 *	DIR/PID.steps of watched folders	read by itself, every meter_every_ns and when a window begins or ends
 *	vLLM's metrics, neuron-monitor		handed in by their sources: meter_count, meter_count_pid
 *
 * A counter belongs to the plan's worker of that pid (PID as the job sees itself, NSpid of /proc/PID/status). Where two containers
 * have the same one, one job's counter is PID.NAMESPACE.steps (the number of its /proc/self/ns/pid); where it still cannot be told
 * whose it is, it is nobody's. A counter of a job that the plan does not know is measured, too: such a job profiles
 * itself, and its own traces beside the counter get the figures.
 * Runs on: the agent's main thread. */
#ifndef AGENT_METER_H
#define AGENT_METER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/cost.h"
#include "agent/plan.h"
#include "profile/window.h"

enum { METER_GAUGES_MAX = 3, METER_FILES_MAX = 4096 };

struct meter;

/* dirs: copied. proc: "/proc", or a test's. */
struct meter *meter_new(const struct cost_settings *s, struct plan *plan, const char *proc);
void meter_free(struct meter *m); /* NULL is fine */
void meter_set(struct meter *m, const struct cost_settings *s);
void meter_folders(struct meter *m, const char *const *dirs, size_t n); /* those watched now */

/* At every turn of the loop. */
void meter_look(struct meter *m, int64_t now_ns);
int64_t meter_wake_ns(const struct meter *m);

/* What a source read of a worker of its own (its name and key as the plan has them), or of a process. NULL is fine. A reading
 * right before a window and one right behind it make the figures sharp. */
void meter_count(struct meter *m, const char *source, const char *key, enum cost_counter counter, int64_t at_ns, uint64_t count);
void meter_count_pid(struct meter *m, pid_t pid, enum cost_counter counter, int64_t at_ns, uint64_t count);

struct cost_view meter_of_worker(const struct meter *m, uint64_t worker); /* the plan's id */
struct cost_view meter_of_trace(const struct meter *m, const char *path); /* DIR/trainspotter-PID-….json, of a job that profiles itself */

/* Logs one line, and one a worker for who wants to know more. */
void meter_status(const struct meter *m);

/* As a window gets them, none where nothing is measured and no duty is reduced. Texts are static. */
size_t meter_gauges(const struct cost_view *v, struct gauge out[METER_GAUGES_MAX]);

#endif
