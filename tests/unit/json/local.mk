# tests of json/
if HAVE_CHECK
check_PROGRAMS += tests/unit/json/test_json
TESTS += tests/unit/json/test_json
if HAVE_JANSSON
check_PROGRAMS += tests/unit/json/test_jansson
TESTS += tests/unit/json/test_jansson
endif
endif
tests_unit_json_test_json_SOURCES = \
	tests/unit/json/main.c \
	tests/unit/json/test_num.c \
	tests/unit/json/test_pull.c \
	tests/unit/json/test_text.c \
	tests/unit/json/test_tree.c \
	tests/unit/json/test_write.c
tests_unit_json_test_json_LDADD = $(LINK_FLOOR1)

# another reader's opinion, where it is installed
tests_unit_json_test_jansson_SOURCES = \
	tests/unit/json/main_jansson.c \
	tests/unit/json/test_jansson.c
tests_unit_json_test_jansson_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_json_test_jansson_LDADD = $(LINK_FLOOR1) $(JANSSON_LIBS)
