# tests of trace/; test_trace_data goes over real traces with expected tables, where there are any
if HAVE_CHECK
check_PROGRAMS += tests/unit/trace/test_trace tests/unit/trace/test_trace_data
TESTS += tests/unit/trace/test_trace tests/unit/trace/test_trace_data
endif
tests_unit_trace_test_trace_SOURCES = \
	tests/unit/trace/help.c tests/unit/trace/help.h \
	tests/unit/trace/main.c \
	tests/unit/trace/test_busy.c \
	tests/unit/trace/test_fold.c \
	tests/unit/trace/test_input.c \
	tests/unit/trace/test_keyavg.c \
	tests/unit/trace/test_normalise.c \
	tests/unit/trace/test_order.c \
	tests/unit/trace/test_probe.c \
	tests/unit/trace/test_reader.c \
	tests/unit/trace/test_window.c
tests_unit_trace_test_trace_LDADD = $(LINK_TRACE)
tests_unit_trace_test_trace_data_SOURCES = tests/unit/trace/data_main.c
tests_unit_trace_test_trace_data_LDADD = $(LINK_TRACE)
