/* vllm.h — the source "vllm": windows of vLLM servers that were started with their profiler, by POST /start_profile and
 * /stop_profile, the way from outside that vLLM itself offers.
 *
 *	IDLE ─ the plan's order ─→ WORKING ─ traces came ─→ READING ─ all are given back ─→ IDLE
 *	                           │   ↑                                                      ↑
 *	                           │   └ when it is time ─ OWES_STOP                          │
 *	                           ├ stop was not answered ─↑                                 │
 *	                           └ nothing came of it, and why is counted ──────────────────┘
 *
 * Never two windows of a server at once. What was started is noted down before (agent/vllm_journal.h): stop is sent
 * whatever happens, also by the next agent, and also when the configuration names the server no longer.
 * Runs on: the agent's main thread; each server has a thread of its own for what waits (agent/vllm_task.h). */
#ifndef AGENT_VLLM_H
#define AGENT_VLLM_H

#include <stddef.h>
#include <stdint.h>

#include "agent/meter.h"
#include "agent/options.h"
#include "agent/plan.h"
#include "agent/source.h"
#include "agent/vllm_task.h"
#include "base/err.h"

enum { VLLM_SERVERS_MAX = 64 };

struct vllm_settings {
	const struct vllm_conf *conf; /* copied */
	struct plan *plan;
	struct meter *meter; /* is told the engine's iterations; NULL: nobody asks */
	const char *state_dir; /* the journal is in state_dir/vllm, traces that cannot be read go to state_dir/bad */
	size_t keep_files;     /* of the latter */
	const struct decode_conf *decode; /* copied; NULL: session folders stay as they are */
	int64_t stop_first_ns; /* before a stop that failed is sent again, doubling; 0: a second */
};

extern const struct source_type vllm_source;

const char *vllm_end_word(enum vllm_end end);

/* What an earlier agent left running is stopped at once. out stays as it is where there is neither a server nor a note. */
int vllm_open(struct source *out, const struct vllm_settings *s, struct err *e) MUST_USE;

uint64_t vllm_count(const struct source *s, enum vllm_end end); /* for tests */
uint64_t vllm_raw(const struct source *s); /* folders so far that neuron-explorer would have to decode */
/* The last look at a server's counters; false where there was none. */
bool vllm_last_sample(const struct source *s, const char *url, struct vllm_sample *out);

#endif
