# tests of store/
if HAVE_CHECK
check_PROGRAMS += tests/unit/store/test_store
TESTS += tests/unit/store/test_store
endif
tests_unit_store_test_store_SOURCES = \
	tests/unit/store/main.c \
	tests/unit/store/test_alerts.c \
	tests/unit/store/test_captures.c \
	tests/unit/store/test_codec.c \
	tests/unit/store/test_cursor.c \
	tests/unit/store/test_db.c \
	tests/unit/store/test_fleet.c \
	tests/unit/store/test_housekeep.c \
	tests/unit/store/test_merged.c \
	tests/unit/store/test_reports.c \
	tests/unit/store/test_store.c \
	tests/unit/store/test_trend.c \
	tests/unit/store/test_windows.c \
	tests/unit/store/test_writer.c \
	tests/unit/store/v1.h \
	tests/unit/store/world.c tests/unit/store/world.h
tests_unit_store_test_store_LDADD = $(LINK_STORE)
