#include "tests/support/check_main.h"

suite_maker suite_agents, suite_api, suite_ask, suite_ingest, suite_lease_table, suite_openapi, suite_param, suite_row;

TEST_MAIN(suite_param, suite_api, suite_ingest, suite_ask, suite_lease_table, suite_agents, suite_openapi, suite_row)
