# tests of api/
EXTRA_DIST += tests/support/fleet.h
if HAVE_CHECK
check_PROGRAMS += tests/unit/api/test_api
TESTS += tests/unit/api/test_api
endif
tests_unit_api_test_api_SOURCES = \
	tests/unit/api/ask.c tests/unit/api/ask.h \
	tests/unit/api/main.c \
	tests/unit/api/test_agents.c \
	tests/unit/api/test_api.c \
	tests/unit/api/test_ask.c \
	tests/unit/api/test_ingest.c \
	tests/unit/api/test_lease_table.c \
	tests/unit/api/test_openapi.c \
	tests/unit/api/test_param.c \
	tests/unit/api/test_row.c
tests_unit_api_test_api_LDADD = $(LINK_API)
