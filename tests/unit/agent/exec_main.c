#include "tests/support/check_main.h"

suite_maker suite_decode, suite_exec, suite_harvest, suite_session_source;

TEST_MAIN(suite_decode, suite_exec, suite_harvest, suite_session_source)
