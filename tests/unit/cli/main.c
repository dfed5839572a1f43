#include "tests/support/check_main.h"

suite_maker suite_capture, suite_chart, suite_csv, suite_keyavg_print, suite_optable_file, suite_pprof, suite_pprof_print,
	suite_progress, suite_ranks, suite_remote, suite_screen, suite_table, suite_width;

TEST_MAIN(suite_capture, suite_chart, suite_csv, suite_keyavg_print, suite_optable_file, suite_pprof, suite_pprof_print,
	suite_progress, suite_ranks, suite_remote, suite_screen, suite_table, suite_width)
