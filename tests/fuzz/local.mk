# One program a target (tests/fuzz/fuzz.h). With --enable-fuzzers they are libFuzzer's, made by "make fuzzers":
#
#	../configure --enable-fuzzers --enable-sanitize=address,undefined CC=clang && make fuzzers
#	tests/fuzz/fuzz_json -max_total_time=60 /tmp/new-inputs ../tests/fuzz/corpus/json
#
# With CC=afl-clang-fast the same entry is AFL++'s: afl-fuzz -i ../tests/fuzz/corpus/json -o /tmp/found -- tests/fuzz/fuzz_json
#
# Without it make check runs each over its committed inputs.
fuzz_programs = \
	tests/fuzz/fuzz_http \
	tests/fuzz/fuzz_identity \
	tests/fuzz/fuzz_input \
	tests/fuzz/fuzz_json \
	tests/fuzz/fuzz_judge \
	tests/fuzz/fuzz_kineto_wire \
	tests/fuzz/fuzz_names \
	tests/fuzz/fuzz_neuron_device \
	tests/fuzz/fuzz_neuron_ls \
	tests/fuzz/fuzz_neuron_monitor \
	tests/fuzz/fuzz_neuron_summary \
	tests/fuzz/fuzz_neuron_system \
	tests/fuzz/fuzz_num \
	tests/fuzz/fuzz_prometheus \
	tests/fuzz/fuzz_sidecar \
	tests/fuzz/fuzz_spool \
	tests/fuzz/fuzz_sysfs \
	tests/fuzz/fuzz_text \
	tests/fuzz/fuzz_trace \
	tests/fuzz/fuzz_wire \
	tests/fuzz/fuzz_xla_wire \
	tests/fuzz/fuzz_xplane \
	tests/fuzz/fuzz_yaml

EXTRA_DIST += tests/fuzz/corpus

if FUZZERS
EXTRA_PROGRAMS = $(fuzz_programs)
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzz_main =
else
check_PROGRAMS += $(fuzz_programs)
TESTS += $(fuzz_programs)
fuzz_ldflags = $(AM_LDFLAGS)
fuzz_main = tests/fuzz/replay.c
endif

.PHONY: fuzzers
fuzzers: $(fuzz_programs)

FUZZ_FLOOR1 = stat/libstat.a json/libjson.a base/libbase.a $(YAML_LIBS) -lm

tests_fuzz_fuzz_json_SOURCES = tests/fuzz/fuzz_json.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_json_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_json_LDADD = $(FUZZ_FLOOR1)

tests_fuzz_fuzz_judge_SOURCES = tests/fuzz/fuzz_judge.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_judge_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_judge_LDADD = detect/libdetect.a profile/libprofile.a $(FUZZ_FLOOR1)

tests_fuzz_fuzz_identity_SOURCES = tests/fuzz/fuzz_identity.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_identity_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_identity_LDADD = agent/libagent.a stat/libstat.a json/libjson.a base/libbase.a $(YAML_LIBS) -lm

tests_fuzz_fuzz_kineto_wire_SOURCES = tests/fuzz/fuzz_kineto_wire.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_kineto_wire_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_kineto_wire_LDADD = agent/libagent.a base/libbase.a $(YAML_LIBS) -lm

tests_fuzz_fuzz_sysfs_SOURCES = tests/fuzz/fuzz_sysfs.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_sysfs_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_sysfs_LDADD = agent/libagent.a base/libbase.a $(YAML_LIBS) -lm

tests_fuzz_fuzz_prometheus_SOURCES = tests/fuzz/fuzz_prometheus.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_prometheus_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_prometheus_LDADD = agent/libagent.a base/libbase.a $(YAML_LIBS) -lm

tests_fuzz_fuzz_num_SOURCES = tests/fuzz/fuzz_num.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_num_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_num_LDADD = $(FUZZ_FLOOR1)

tests_fuzz_fuzz_text_SOURCES = tests/fuzz/fuzz_text.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_text_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_text_LDADD = $(FUZZ_FLOOR1)

tests_fuzz_fuzz_yaml_SOURCES = tests/fuzz/fuzz_yaml.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_yaml_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_yaml_LDADD = $(FUZZ_FLOOR1)

tests_fuzz_fuzz_trace_SOURCES = tests/fuzz/fuzz_trace.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_trace_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_trace_LDADD = $(LINK_TRACE)

fuzz_neuron = tests/fuzz/neuron.c tests/fuzz/neuron.h tests/fuzz/fuzz.h $(fuzz_main)

tests_fuzz_fuzz_neuron_device_SOURCES = tests/fuzz/fuzz_neuron_device.c $(fuzz_neuron)
tests_fuzz_fuzz_neuron_device_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_neuron_device_LDADD = $(LINK_TRACE)

tests_fuzz_fuzz_neuron_ls_SOURCES = tests/fuzz/fuzz_neuron_ls.c $(fuzz_neuron)
tests_fuzz_fuzz_neuron_ls_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_neuron_ls_LDADD = $(LINK_TRACE)

tests_fuzz_fuzz_neuron_monitor_SOURCES = tests/fuzz/fuzz_neuron_monitor.c $(fuzz_neuron)
tests_fuzz_fuzz_neuron_monitor_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_neuron_monitor_LDADD = $(LINK_TRACE)

tests_fuzz_fuzz_neuron_summary_SOURCES = tests/fuzz/fuzz_neuron_summary.c $(fuzz_neuron)
tests_fuzz_fuzz_neuron_summary_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_neuron_summary_LDADD = $(LINK_TRACE)

tests_fuzz_fuzz_neuron_system_SOURCES = tests/fuzz/fuzz_neuron_system.c $(fuzz_neuron)
tests_fuzz_fuzz_neuron_system_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_neuron_system_LDADD = $(LINK_TRACE)

tests_fuzz_fuzz_input_SOURCES = tests/fuzz/fuzz_input.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_input_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_input_LDADD = $(LINK_TRACE)

tests_fuzz_fuzz_names_SOURCES = tests/fuzz/fuzz_names.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_names_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_names_LDADD = $(LINK_TRACE)

tests_fuzz_fuzz_sidecar_SOURCES = tests/fuzz/fuzz_sidecar.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_sidecar_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_sidecar_LDADD = $(LINK_TRACE)

tests_fuzz_fuzz_spool_SOURCES = tests/fuzz/fuzz_spool.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_spool_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_spool_LDADD = agent/libagent.a $(LINK_BASE)

tests_fuzz_fuzz_wire_SOURCES = tests/fuzz/fuzz_wire.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_wire_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_wire_LDADD = $(LINK_WIRE)

tests_fuzz_fuzz_http_SOURCES = tests/fuzz/fuzz_http.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_http_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_http_LDADD = $(LINK_NET_PLAIN)

tests_fuzz_fuzz_xla_wire_SOURCES = tests/fuzz/fuzz_xla_wire.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_xla_wire_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_xla_wire_LDADD = agent/libagent.a $(LINK_TRACE)

tests_fuzz_fuzz_xplane_SOURCES = tests/fuzz/fuzz_xplane.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_xplane_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_xplane_LDADD = $(LINK_TRACE)
