# tests of cli/ (the commands that ask a server speak to fake_http.c); test_diff_data goes over pairs of traces with
# expected verdicts, where there are any
if HAVE_CHECK
check_PROGRAMS += tests/unit/cli/test_cli tests/unit/cli/test_diff_data
TESTS += tests/unit/cli/test_cli tests/unit/cli/test_diff_data
endif
tests_unit_cli_test_cli_SOURCES = \
	cli/capture.c \
	cli/chart.c \
	cli/cmd.c \
	cli/cmd_agents.c \
	cli/cmd_alerts.c \
	cli/cmd_capture.c \
	cli/cmd_compare.c \
	cli/cmd_deploys.c \
	cli/cmd_hosts.c \
	cli/cmd_services.c \
	cli/cmd_top.c \
	cli/cmd_trend.c \
	cli/cmd_windows.c \
	cli/csv.c \
	cli/keyavg_print.c \
	cli/ops.c \
	cli/optable_file.c \
	cli/overhead.c \
	cli/pprof.c \
	cli/pprof_print.c \
	cli/progress.c \
	cli/ranks.c \
	cli/remote.c \
	cli/screen.c \
	cli/table.c \
	cli/width.c \
	tests/unit/cli/command.c tests/unit/cli/command.h \
	tests/unit/cli/fake_http.c tests/unit/cli/fake_http.h \
	tests/unit/cli/main.c \
	tests/unit/cli/pprof_read.c tests/unit/cli/pprof_read.h \
	tests/unit/cli/test_capture.c \
	tests/unit/cli/test_chart.c \
	tests/unit/cli/test_csv.c \
	tests/unit/cli/test_keyavg_print.c \
	tests/unit/cli/test_optable_file.c \
	tests/unit/cli/test_pprof.c \
	tests/unit/cli/test_pprof_print.c \
	tests/unit/cli/test_progress.c \
	tests/unit/cli/test_ranks.c \
	tests/unit/cli/test_remote.c \
	tests/unit/cli/test_screen.c \
	tests/unit/cli/test_table.c \
	tests/unit/cli/test_width.c
tests_unit_cli_test_cli_LDADD = net/libnet.a $(LINK_TRACE)
tests_unit_cli_test_diff_data_SOURCES = \
	cli/diff_side.c \
	cli/optable_file.c \
	tests/unit/cli/diff_data_main.c
tests_unit_cli_test_diff_data_LDADD = detect/libdetect.a $(LINK_TRACE)
