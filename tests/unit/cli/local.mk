# tests of cli/ (the commands that ask a server speak to fake_http.c)
if HAVE_CHECK
check_PROGRAMS += tests/unit/cli/test_cli
TESTS += tests/unit/cli/test_cli
endif
tests_unit_cli_test_cli_SOURCES = \
	cli/chart.c \
	cli/cmd.c \
	cli/cmd_alerts.c \
	cli/cmd_compare.c \
	cli/cmd_deploys.c \
	cli/cmd_hosts.c \
	cli/cmd_services.c \
	cli/cmd_top.c \
	cli/cmd_trend.c \
	cli/cmd_windows.c \
	cli/ops.c \
	cli/remote.c \
	cli/table.c \
	tests/unit/cli/fake_http.c tests/unit/cli/fake_http.h \
	tests/unit/cli/main.c \
	tests/unit/cli/test_chart.c \
	tests/unit/cli/test_remote.c \
	tests/unit/cli/test_table.c
tests_unit_cli_test_cli_LDADD = net/libnet.a $(LINK_FLOOR2)
