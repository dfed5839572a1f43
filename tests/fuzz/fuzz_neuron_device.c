/* Any bytes as a device profile: tests/fuzz/neuron.h. */
#include "trace/neuron_device.h"

#include "tests/fuzz/neuron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return neuron_fuzz(neuron_device_read, data, size);
}
