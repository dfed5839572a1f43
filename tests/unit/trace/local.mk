# tests of trace/; test_trace_data, test_neuron_data and test_xla_data go over files with expected tables, where there are any
if HAVE_CHECK
check_PROGRAMS += tests/unit/trace/test_trace tests/unit/trace/test_trace_data tests/unit/trace/test_neuron_data \
	tests/unit/trace/test_xla_data
TESTS += tests/unit/trace/test_trace tests/unit/trace/test_trace_data tests/unit/trace/test_neuron_data \
	tests/unit/trace/test_xla_data
endif
tests_unit_trace_test_trace_SOURCES = \
	tests/unit/trace/help.c tests/unit/trace/help.h \
	tests/unit/trace/help_neuron.c tests/unit/trace/help_neuron.h \
	tests/unit/trace/help_xla.c tests/unit/trace/help_xla.h \
	tests/unit/trace/main.c \
	tests/unit/trace/test_busy.c \
	tests/unit/trace/test_chains.c \
	tests/unit/trace/test_crc32.c \
	tests/unit/trace/test_device_use.c \
	tests/unit/trace/test_event.c \
	tests/unit/trace/test_fold.c \
	tests/unit/trace/test_input.c \
	tests/unit/trace/test_keyavg.c \
	tests/unit/trace/test_launch_delay.c \
	tests/unit/trace/test_name_rules.c \
	tests/unit/trace/test_neuron_device.c \
	tests/unit/trace/test_neuron_ls.c \
	tests/unit/trace/test_neuron_monitor.c \
	tests/unit/trace/test_neuron_summary.c \
	tests/unit/trace/test_neuron_system.c \
	tests/unit/trace/test_normalise.c \
	tests/unit/trace/test_order.c \
	tests/unit/trace/test_pb.c \
	tests/unit/trace/test_probe.c \
	tests/unit/trace/test_quick.c \
	tests/unit/trace/test_reader.c \
	tests/unit/trace/test_report.c \
	tests/unit/trace/test_rhythm.c \
	tests/unit/trace/test_session.c \
	tests/unit/trace/test_stacks.c \
	tests/unit/trace/test_steps.c \
	tests/unit/trace/test_tar.c \
	tests/unit/trace/test_window.c \
	tests/unit/trace/test_xla.c \
	tests/unit/trace/test_xla_json.c \
	tests/unit/trace/test_xplane.c
tests_unit_trace_test_trace_LDADD = $(LINK_TRACE)
tests_unit_trace_test_trace_data_SOURCES = tests/unit/trace/data_main.c
tests_unit_trace_test_trace_data_LDADD = $(LINK_TRACE)
tests_unit_trace_test_neuron_data_SOURCES = tests/unit/trace/neuron_data_main.c
tests_unit_trace_test_neuron_data_LDADD = $(LINK_TRACE)
tests_unit_trace_test_xla_data_SOURCES = tests/unit/trace/xla_data_main.c
tests_unit_trace_test_xla_data_LDADD = $(LINK_TRACE)
