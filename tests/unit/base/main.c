#include "tests/support/check_main.h"

suite_maker suite_buf, suite_crash;

TEST_MAIN(suite_buf, suite_crash)
