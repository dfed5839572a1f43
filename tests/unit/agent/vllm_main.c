/* The source "vllm" over real sockets: net/http_client is not faked here, so this is a program of its own. */
#include "tests/support/check_main.h"

suite_maker suite_vllm;

TEST_MAIN(suite_vllm)
