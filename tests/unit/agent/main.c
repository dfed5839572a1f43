#include "tests/support/check_main.h"

suite_maker suite_agent, suite_job, suite_kineto, suite_kineto_config, suite_kineto_table, suite_kineto_wire, suite_options,
	suite_prometheus, suite_schedule, suite_ship, suite_spool, suite_watch, suite_worker;

TEST_MAIN(suite_agent, suite_job, suite_kineto, suite_kineto_config, suite_kineto_table, suite_kineto_wire, suite_options,
	suite_prometheus, suite_schedule, suite_ship, suite_spool, suite_watch, suite_worker)
