/* Any bytes as what neuron-ls -j prints: tests/fuzz/neuron.h. */
#include "trace/neuron_ls.h"

#include "tests/fuzz/neuron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return neuron_fuzz(neuron_ls_read, data, size);
}
