/* Any bytes as summary-json: tests/fuzz/neuron.h. */
#include "trace/neuron_summary.h"

#include "tests/fuzz/neuron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return neuron_fuzz(neuron_summary_read, data, size);
}
