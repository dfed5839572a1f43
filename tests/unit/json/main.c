#include "tests/support/check_main.h"

suite_maker suite_num, suite_pull, suite_text, suite_tree, suite_write;

TEST_MAIN(suite_num, suite_pull, suite_text, suite_tree, suite_write)
