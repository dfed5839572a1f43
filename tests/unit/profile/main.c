#include "tests/support/check_main.h"

suite_maker suite_alert, suite_capture, suite_merge, suite_op, suite_verdict, suite_window;

TEST_MAIN(suite_alert, suite_capture, suite_merge, suite_op, suite_verdict, suite_window)
