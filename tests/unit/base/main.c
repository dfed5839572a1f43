#include "tests/support/check_main.h"

suite_maker suite_arena, suite_buf, suite_chan, suite_child, suite_clock, suite_conf, suite_crash, suite_enc, suite_err, suite_file, suite_hash, suite_log, suite_map,
	suite_metric, suite_must, suite_near, suite_opt, suite_pbw, suite_proc, suite_quantity, suite_rand, suite_size, suite_str, suite_thread, suite_tree, suite_vec, suite_yaml;

TEST_MAIN(suite_arena, suite_buf, suite_chan, suite_child, suite_clock, suite_conf, suite_crash, suite_enc, suite_err, suite_file,
	suite_hash, suite_log, suite_map, suite_metric, suite_must, suite_near, suite_opt, suite_pbw, suite_proc, suite_quantity, suite_rand,
	suite_size, suite_str, suite_thread, suite_tree, suite_vec, suite_yaml)
