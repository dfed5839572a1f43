noinst_LIBRARIES += trace/libtrace.a
trace_libtrace_a_SOURCES = \
	trace/busy.c trace/busy.h \
	trace/event.c trace/event.h \
	trace/fold.c trace/fold.h \
	trace/input.c trace/input.h trace/input_codec.h \
	trace/input_file.c \
	trace/input_gzip.c \
	trace/input_zstd.c \
	trace/keyavg.c trace/keyavg.h \
	trace/link.c trace/link.h \
	trace/normalise.c trace/normalise.h \
	trace/order.c trace/order.h \
	trace/reader.c trace/reader.h \
	trace/report.c trace/report.h \
	trace/window.c trace/window.h
