#include "tests/support/check_main.h"

suite_maker suite_fusion, suite_fusion_table, suite_judge, suite_names, suite_pairs, suite_sentence, suite_side, suite_slower;

TEST_MAIN(suite_fusion, suite_fusion_table, suite_judge, suite_names, suite_pairs, suite_sentence, suite_side, suite_slower)
