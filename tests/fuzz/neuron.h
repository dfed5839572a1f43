/* neuron.h — what the targets of the Neuron readers share. At once and in pieces of random size any bytes at all must give the
 * same window and the same report; a window must be one that the daemon takes, and the probe must have an answer. */
#ifndef TESTS_FUZZ_NEURON_H
#define TESTS_FUZZ_NEURON_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "profile/window.h"
#include "tests/fuzz/fuzz.h"
#include "trace/tokens.h"

typedef int neuron_reader(struct arena *a, struct tokens *t, struct window *out, struct err *e);

int neuron_fuzz(neuron_reader *read, const uint8_t *data, size_t size);

#endif
