#include "tests/support/check_main.h"

suite_maker suite_form, suite_json_form, suite_pack, suite_scan, suite_wire;

TEST_MAIN(suite_form, suite_json_form, suite_pack, suite_scan, suite_wire)
