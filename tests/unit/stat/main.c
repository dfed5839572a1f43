#include "tests/support/check_main.h"

suite_maker suite_hist, suite_rank, suite_robust;

TEST_MAIN(suite_hist, suite_rank, suite_robust)
