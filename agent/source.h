/* source.h — one way in which windows come about, as the agent's loop drives it. The table of all sources is in agent.c.
 *
 *	finds files    watch                      look ─ next ─ (job reads the trace, spool) ─ back
 *	takes windows  kineto, xla, vllm, exec    the same; whom and when: agent/plan.h
 *	reports        neuron-monitor, sysfs      look ─ batch ─ (spool)
 *
 * Whatever waits (a connection, a child, a file to come) does so on a thread of the source's own; the functions here
 * return at once. Runs on: the agent's main thread. */
#ifndef AGENT_SOURCE_H
#define AGENT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/watch.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "profile/window.h"

/* A finished trace, for the job; texts and labels live until it is given back. */
struct source_trace {
	struct watch_file file;
	uint64_t key; /* the source's own name for it, not 0 */
	struct str service, deploy, worker; /* empty where not known */
	const struct label *labels; /* go behind the sidecar's */
	size_t n_labels;
	const struct label *versions; /* those that the trace does not name itself */
	size_t n_versions;
	uint64_t order; /* of agent/plan.h; 0: it is nobody's order */
};

enum source_end {
	SOURCE_KEPT,  /* the window is durable: the file goes, or whatever becomes of it */
	SOURCE_EMPTY, /* no ops in it: not shipped, since it must not look like a fall to zero */
	SOURCE_BAD,   /* it will never be read: put aside */
	SOURCE_AGAIN, /* not now: comes again after delay_ns */
	SOURCE_ENDS
};

struct source_result {
	enum source_end end;
	bool has_device;  /* device events were in it */
	const char *why;  /* with SOURCE_BAD; borrowed for the call */
	int64_t delay_ns; /* with SOURCE_AGAIN */
};

/* How long what failed for the tries-th time, counted from 0, waits until it is tried again: 10 s, then twice as long each time, up to
 * 43 minutes. */
static inline int64_t source_again_ns(unsigned tries)
{
	return 10 * NS_PER_S << (tries < 8 ? tries : 8);
}

/* Why it is over with a file: no reading again can mend what is in it. */
static inline bool source_is_final(int rc)
{
	return rc == E_FORMAT || rc == E_LIMIT || rc == E_CORRUPT || rc == E_UNSUPPORTED || rc == E_USAGE;
}

/* What a source need not do it leaves NULL. Times are monotonic unless they say wall. */
struct source_type {
	const char *name; /* as it stands in a window: "kineto" */
	void (*close)(void *self);
	int (*fd)(void *self); /* readable: call look; -1 for none */
	void (*look)(void *self, int64_t now_ns, int64_t wall_ns);
	int64_t (*wake_ns)(const void *self, bool busy); /* look then at the latest; busy: no trace is taken now */
	bool (*next)(void *self, int64_t now_ns, struct source_trace *out); /* false: none is finished */
	void (*back)(void *self, uint64_t key, const struct source_result *r, int64_t now_ns);
	bool (*batch)(void *self, int64_t now_ns, struct buf *out); /* an encoded WindowBatch of one window; false: none */
	void (*status)(const void *self); /* logs one line, NAME.status */
	bool (*idle)(const void *self);	  /* with --once: nothing waits or is out */
	uint64_t (*stuck)(const void *self); /* files so far that could be neither taken nor removed nor put aside */
	bool keeps_empty; /* a window without ops is kept as any other: SOURCE_EMPTY never comes */
};

struct source {
	const struct source_type *type;
	void *self;
};

#endif
