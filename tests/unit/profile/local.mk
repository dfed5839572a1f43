# tests of profile/
if HAVE_CHECK
check_PROGRAMS += tests/unit/profile/test_profile
TESTS += tests/unit/profile/test_profile
endif
tests_unit_profile_test_profile_SOURCES = \
	tests/unit/profile/main.c \
	tests/unit/profile/test_alert.c \
	tests/unit/profile/test_capture.c \
	tests/unit/profile/test_merge.c \
	tests/unit/profile/test_op.c \
	tests/unit/profile/test_verdict.c \
	tests/unit/profile/test_window.c
tests_unit_profile_test_profile_LDADD = $(LINK_FLOOR2)
