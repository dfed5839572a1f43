#include "agent/vllm_metrics.h"

#include "agent/prometheus.h"

static const struct {
	const char *word, *name;
} counters[] = {
	[VLLM_ITERATIONS] = { "iterations", "vllm:iteration_tokens_total_count" },
	[VLLM_TOKENS] = { "tokens", "vllm:generation_tokens_total" },
	[VLLM_REQUESTS] = { "requests", "vllm:request_success_total" },
};
_Static_assert(COUNT(counters) == VLLM_COUNTERS, "name every counter");

const char *vllm_counter_word(enum vllm_counter c)
{
	return counters[c].word;
}

void vllm_metrics_read(struct str text, struct vllm_metrics *out)
{
	struct prometheus_sample s;

	*out = (struct vllm_metrics){ 0 };
	while (prometheus_next(&text, &s, &out->bad_lines))
		for (size_t i = 0; i < VLLM_COUNTERS; i++)
			if (s.value >= 0 && str_eq(s.name, str_of(counters[i].name))) {
				out->known[i] = true;
				out->value[i] += s.value;
			}
}
