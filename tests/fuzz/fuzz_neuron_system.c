/* Any bytes as a system profile: tests/fuzz/neuron.h. */
#include "trace/neuron_system.h"

#include "tests/fuzz/neuron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return neuron_fuzz(neuron_system_read, data, size);
}
