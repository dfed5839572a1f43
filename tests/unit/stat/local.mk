# tests of stat/
EXTRA_DIST += tests/support/json_random.h tests/support/json_tokens.h tests/support/prop.h
if HAVE_CHECK
check_PROGRAMS += tests/unit/stat/test_stat
TESTS += tests/unit/stat/test_stat
endif
tests_unit_stat_test_stat_SOURCES = \
	tests/unit/stat/main.c \
	tests/unit/stat/test_hist.c \
	tests/unit/stat/test_rank.c \
	tests/unit/stat/test_robust.c
tests_unit_stat_test_stat_LDADD = $(LINK_FLOOR1)
