noinst_LIBRARIES += trace/libtrace.a
trace_libtrace_a_SOURCES = \
	trace/archive.c trace/archive.h \
	trace/busy.c trace/busy.h \
	trace/chains.c trace/chains.h \
	trace/crc32.c trace/crc32.h \
	trace/device_use.c trace/device_use.h \
	trace/dialect.c trace/dialect.h \
	trace/draft.c trace/draft.h \
	trace/event.c trace/event.h \
	trace/fold.c trace/fold.h \
	trace/gzip.c trace/gzip.h \
	trace/input.c trace/input.h trace/input_codec.h \
	trace/input_ahead.c \
	trace/input_file.c \
	trace/input_zstd.c \
	trace/intake.c trace/intake.h \
	trace/keyavg.c trace/keyavg.h \
	trace/launch_delay.c trace/launch_delay.h \
	trace/link.c trace/link.h \
	trace/memory.c trace/memory.h \
	trace/name_rules.c trace/name_rules.h \
	trace/neffs.c trace/neffs.h \
	trace/neuron.c trace/neuron.h \
	trace/neuron_device.c trace/neuron_device.h \
	trace/neuron_event.c trace/neuron_event.h \
	trace/neuron_fold.c trace/neuron_fold.h \
	trace/neuron_link.c \
	trace/neuron_ls.c trace/neuron_ls.h \
	trace/neuron_monitor.c trace/neuron_monitor.h \
	trace/neuron_summary.c trace/neuron_summary.h \
	trace/neuron_system.c trace/neuron_system.h \
	trace/normalise.c trace/normalise.h \
	trace/order.c trace/order.h \
	trace/pb.c trace/pb.h \
	trace/probe.c trace/probe.h \
	trace/quick.c trace/quick.h \
	trace/reader.c trace/reader.h \
	trace/record.c trace/record.h \
	trace/report.c trace/report.h \
	trace/rhythm.c trace/rhythm.h \
	trace/session.c trace/session.h \
	trace/shares.c trace/shares.h \
	trace/sidecar.c trace/sidecar.h \
	trace/sidecars.c trace/sidecars.h \
	trace/stacks.c trace/stacks.h \
	trace/steps.c trace/steps.h \
	trace/tar.c trace/tar.h \
	trace/tokens.c trace/tokens.h \
	trace/tree.c trace/tree.h \
	trace/walk.c trace/walk.h \
	trace/window.c trace/window.h \
	trace/xla.c trace/xla.h \
	trace/xla_json.c trace/xla_json.h \
	trace/xplane.c trace/xplane.h
if ISAL
trace_libtrace_a_SOURCES += trace/input_isal.c
else
trace_libtrace_a_SOURCES += trace/input_gzip.c
endif
