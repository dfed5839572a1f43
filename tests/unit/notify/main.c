#include "tests/support/check_main.h"

suite_maker suite_notify, suite_seen;

TEST_MAIN(suite_seen, suite_notify)
