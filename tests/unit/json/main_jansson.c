#include "tests/support/check_main.h"

suite_maker suite_jansson;

TEST_MAIN(suite_jansson)
