#include "tests/support/check_main.h"

suite_maker suite_decode;

TEST_MAIN(suite_decode)
