#include "tests/support/check_main.h"

suite_maker suite_busy, suite_chains, suite_crc32, suite_device_use, suite_event, suite_fold, suite_input, suite_keyavg,
	suite_launch_delay, suite_name_rules, suite_neuron_device, suite_neuron_ls, suite_neuron_monitor,
	suite_neuron_summary, suite_neuron_system, suite_normalise, suite_order, suite_pb, suite_probe, suite_quick,
	suite_reader, suite_report, suite_rhythm, suite_session, suite_stacks, suite_steps, suite_tar, suite_window,
	suite_xla, suite_xla_json, suite_xplane;

TEST_MAIN(suite_name_rules, suite_report, suite_crc32, suite_input, suite_event, suite_reader, suite_quick, suite_order,
	suite_keyavg, suite_launch_delay, suite_normalise, suite_busy, suite_device_use, suite_fold, suite_rhythm,
	suite_chains, suite_stacks, suite_steps, suite_tar, suite_window, suite_probe, suite_session,
	suite_neuron_device, suite_neuron_summary, suite_neuron_system, suite_neuron_monitor, suite_neuron_ls, suite_pb,
	suite_xplane, suite_xla_json, suite_xla)
