/* Any bytes as reports of neuron-monitor: tests/fuzz/neuron.h. */
#include "trace/neuron_monitor.h"

#include "tests/fuzz/neuron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return neuron_fuzz(neuron_monitor_read, data, size);
}
