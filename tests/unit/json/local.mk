# tests of json/; test_json_data cuts real traces, where there are any
check_PROGRAMS += tests/unit/json/test_json_data
TESTS += tests/unit/json/test_json_data
if HAVE_CHECK
check_PROGRAMS += tests/unit/json/test_json
TESTS += tests/unit/json/test_json
if HAVE_JANSSON
check_PROGRAMS += tests/unit/json/test_jansson
TESTS += tests/unit/json/test_jansson
endif
endif
tests_unit_json_test_json_SOURCES = \
	tests/unit/json/cuts.c tests/unit/json/cuts.h \
	tests/unit/json/main.c \
	tests/unit/json/test_num.c \
	tests/unit/json/test_pull.c \
	tests/unit/json/test_text.c \
	tests/unit/json/test_tree.c \
	tests/unit/json/test_write.c
tests_unit_json_test_json_LDADD = $(LINK_FLOOR1)

tests_unit_json_test_json_data_SOURCES = \
	tests/unit/json/cuts.c tests/unit/json/cuts.h \
	tests/unit/json/data_main.c
tests_unit_json_test_json_data_LDADD = json/libjson.a base/libbase.a -lm

# another reader's opinion, where it is installed
tests_unit_json_test_jansson_SOURCES = \
	tests/unit/json/main_jansson.c \
	tests/unit/json/test_jansson.c
tests_unit_json_test_jansson_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_json_test_jansson_LDADD = $(LINK_FLOOR1) $(JANSSON_LIBS)

# run by tests/system/kernels.test
check_PROGRAMS += tests/unit/json/kernels
tests_unit_json_kernels_SOURCES = tests/unit/json/kernels_main.c
tests_unit_json_kernels_LDADD = json/libjson.a base/libbase.a -lm
