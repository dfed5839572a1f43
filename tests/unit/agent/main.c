#include "tests/support/check_main.h"

suite_maker suite_agent, suite_job, suite_options, suite_ship, suite_spool, suite_watch;

TEST_MAIN(suite_agent, suite_job, suite_options, suite_ship, suite_spool, suite_watch)
