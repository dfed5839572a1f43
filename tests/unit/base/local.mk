# tests of base/
if HAVE_CHECK
check_PROGRAMS += tests/unit/base/test_base
TESTS += tests/unit/base/test_base
endif
tests_unit_base_test_base_SOURCES = \
	tests/unit/base/main.c \
	tests/unit/base/test_buf.c \
	tests/unit/base/test_crash.c
tests_unit_base_test_base_LDADD = $(LINK_BASE)
