# tests of json/
if HAVE_CHECK
check_PROGRAMS += tests/unit/json/test_json
TESTS += tests/unit/json/test_json
endif
tests_unit_json_test_json_SOURCES = \
	tests/unit/json/main.c \
	tests/unit/json/test_num.c \
	tests/unit/json/test_pull.c \
	tests/unit/json/test_text.c \
	tests/unit/json/test_tree.c \
	tests/unit/json/test_write.c
tests_unit_json_test_json_LDADD = $(LINK_FLOOR1)
