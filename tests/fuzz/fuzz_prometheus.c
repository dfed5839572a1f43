/* What a server shows at /metrics: any bytes give samples whose texts lie within the bytes and whose values are finite, and
 * every line that is neither a sample nor a comment is counted. */
#include "agent/prometheus.h"

#include <math.h>

#include "agent/vllm_metrics.h"
#include "base/must.h"
#include "tests/fuzz/fuzz.h"

static bool within(struct str part, struct str whole)
{
	return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all = str_make(data, size), rest = all;
	struct prometheus_sample s;
	struct vllm_metrics m;
	uint64_t bad = 0, samples = 0, lines = 1;

	while (prometheus_next(&rest, &s, &bad)) {
		must(s.name.n > 0 && within(s.name, all) && within(s.labels, all));
		must(isfinite(s.value));
		samples++;
	}
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	must(samples + bad <= lines);
	vllm_metrics_read(all, &m);
	must(m.bad_lines == bad);
	for (size_t i = 0; i < VLLM_COUNTERS; i++)
		must(!isnan(m.value[i]) && (m.known[i] || m.value[i] == 0));
	return 0;
}
