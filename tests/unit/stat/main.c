#include "tests/support/check_main.h"

suite_maker suite_hist;

TEST_MAIN(suite_hist)
