# tests of wire/
if HAVE_CHECK
check_PROGRAMS += tests/unit/wire/test_wire
TESTS += tests/unit/wire/test_wire
endif
tests_unit_wire_test_wire_SOURCES = \
	tests/unit/wire/batches.c tests/unit/wire/batches.h \
	tests/unit/wire/main.c \
	tests/unit/wire/test_form.c \
	tests/unit/wire/test_json_form.c \
	tests/unit/wire/test_pack.c \
	tests/unit/wire/test_scan.c \
	tests/unit/wire/test_wire.c
tests_unit_wire_test_wire_LDADD = $(LINK_WIRE)
