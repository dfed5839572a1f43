noinst_LIBRARIES += trace/libtrace.a
trace_libtrace_a_SOURCES = \
	trace/window.h
