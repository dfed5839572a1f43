/* vllm_metrics.h — what a vLLM server tells of its work at /metrics, as far as it tells what profiling costs: counters that
 * only grow while it lives. Sums over models and engines. Pure. */
#ifndef AGENT_VLLM_METRICS_H
#define AGENT_VLLM_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum vllm_counter {
	VLLM_ITERATIONS, /* engine steps: vllm:iteration_tokens_total_count */
	VLLM_TOKENS,	 /* vllm:generation_tokens_total */
	VLLM_REQUESTS,	 /* finished ones: vllm:request_success_total */
	VLLM_COUNTERS
};
const char *vllm_counter_word(enum vllm_counter c);

struct vllm_metrics {
	bool known[VLLM_COUNTERS]; /* it was in the text */
	double value[VLLM_COUNTERS];
	uint64_t bad_lines;
};

void vllm_metrics_read(struct str text, struct vllm_metrics *out);

#endif
