#include "tests/support/check_main.h"

suite_maker suite_windows, suite_merged, suite_trend, suite_fleet, suite_alerts, suite_captures, suite_housekeep, suite_store,
	suite_codec, suite_cursor, suite_db, suite_reports, suite_writer;

TEST_MAIN(suite_codec, suite_cursor, suite_db, suite_writer, suite_windows, suite_merged, suite_trend,
	suite_fleet, suite_alerts, suite_captures, suite_housekeep, suite_reports, suite_store)
