/* cores.h — which Neuron devices and cores each process holds, as neuron-ls -j tells: asked rarely, kept in between.
 *
 *	cores_want	somebody holds a device: asks when the last answer is older than every_ns, or a minute old and does not
 *			know the process
 *	cores_look	takes the answer in
 *
 * neuron-ls counts by device: two processes that share one are both told to hold all its cores (alone is false then, and
 * NEURON_RT_VISIBLE_CORES knows better). Pids are those of the host, so the agent must see those, too (hostPID). A program that is not
 * there, hangs or prints something else is said once, and asked again after every_ns.
 * Runs on: the agent's main thread; the program runs on a thread of its own. */
#ifndef AGENT_CORES_H
#define AGENT_CORES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

enum { CORES_TEXT = 128, CORES_PROCESSES_MAX = 4096 };

struct cores_of {
	int64_t pid;
	char devices[CORES_TEXT], text[CORES_TEXT]; /* ranges, "0-3,8"; "" where they do not fit */
	bool alone; /* no other process holds any of these devices */
};
VEC(cores_table, struct cores_of);

/* What neuron-ls -j printed, ordered by pid; the caller calls vec_fini. E_FORMAT. */
int cores_parse(struct cores_table *out, struct str text, struct err *e) MUST_USE;

struct cores;

int cores_start(struct cores **out, const char *program, int64_t every_ns, struct err *e) MUST_USE;
void cores_stop(struct cores *c); /* NULL is fine */
int cores_fd(struct cores *c);	  /* readable: call cores_look */
void cores_look(struct cores *c);
void cores_want(struct cores *c, pid_t pid, int64_t now_ns);
bool cores_of(const struct cores *c, pid_t pid, struct cores_of *out); /* false: not known (yet) */

#endif
