/* fuzz.h — what a fuzz target is: one entry that takes any bytes at all and returns 0. A broken promise is a must().
 * With --enable-fuzzers libFuzzer or AFL++ calls it; otherwise tests/fuzz/replay.c does, with the inputs of corpus/TARGET. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
