#include "tests/support/check_main.h"

suite_maker suite_buf;

TEST_MAIN(suite_buf)
