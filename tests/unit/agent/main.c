#include "tests/support/check_main.h"

suite_maker suite_agent;
suite_maker suite_cost;
suite_maker suite_errand;
suite_maker suite_fleet;
suite_maker suite_identity;
suite_maker suite_job;
suite_maker suite_keep;
suite_maker suite_kineto;
suite_maker suite_kineto_config;
suite_maker suite_kineto_table;
suite_maker suite_kineto_wire;
suite_maker suite_lead;
suite_maker suite_meter;
suite_maker suite_monitor;
suite_maker suite_options;
suite_maker suite_outbox;
suite_maker suite_pace;
suite_maker suite_plan;
suite_maker suite_prometheus;
suite_maker suite_report;
suite_maker suite_schedule;
suite_maker suite_ship;
suite_maker suite_spool;
suite_maker suite_sysfs;
suite_maker suite_watch;
suite_maker suite_worker;
suite_maker suite_xla_folder;
suite_maker suite_xla_scan;
suite_maker suite_xla_wire;

TEST_MAIN(
	suite_agent,
	suite_cost,
	suite_errand,
	suite_fleet,
	suite_identity,
	suite_job,
	suite_keep,
	suite_kineto,
	suite_kineto_config,
	suite_kineto_table,
	suite_kineto_wire,
	suite_lead,
	suite_meter,
	suite_monitor,
	suite_options,
	suite_outbox,
	suite_pace,
	suite_plan,
	suite_prometheus,
	suite_report,
	suite_schedule,
	suite_ship,
	suite_spool,
	suite_sysfs,
	suite_watch,
	suite_worker,
	suite_xla_folder,
	suite_xla_scan,
	suite_xla_wire
)
