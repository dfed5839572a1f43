# tests of notify/
if HAVE_CHECK
check_PROGRAMS += tests/unit/notify/test_notify
TESTS += tests/unit/notify/test_notify
endif
tests_unit_notify_test_notify_SOURCES = \
	tests/unit/notify/main.c \
	tests/unit/notify/test_notify.c \
	tests/unit/notify/test_seen.c
tests_unit_notify_test_notify_LDADD = notify/libnotify.a $(LINK_NET)
