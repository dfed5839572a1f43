#include "tests/support/check_main.h"

suite_maker suite_options, suite_tick;

TEST_MAIN(suite_options, suite_tick)
