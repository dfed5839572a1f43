# tests of daemon/
if HAVE_CHECK
check_PROGRAMS += tests/unit/daemon/test_daemon
TESTS += tests/unit/daemon/test_daemon
endif
tests_unit_daemon_test_daemon_SOURCES = \
	daemon/options.c daemon/tables.c daemon/tick.c \
	tests/unit/daemon/main.c \
	tests/unit/daemon/test_options.c \
	tests/unit/daemon/test_tick.c
tests_unit_daemon_test_daemon_LDADD = notify/libnotify.a $(LINK_API)
