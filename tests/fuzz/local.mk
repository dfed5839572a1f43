# One program a target (tests/fuzz/fuzz.h). With --enable-fuzzers they are libFuzzer's, made by "make fuzzers":
#
#	../configure --enable-fuzzers --enable-sanitize=address,undefined CC=clang && make fuzzers
#	tests/fuzz/fuzz_json -max_total_time=60 /tmp/new-inputs ../tests/fuzz/corpus/json
#
# Without it make check runs each over its committed inputs.
fuzz_programs = \
	tests/fuzz/fuzz_http \
	tests/fuzz/fuzz_json \
	tests/fuzz/fuzz_judge \
	tests/fuzz/fuzz_kineto_wire \
	tests/fuzz/fuzz_neuron \
	tests/fuzz/fuzz_num \
	tests/fuzz/fuzz_text \
	tests/fuzz/fuzz_trace \
	tests/fuzz/fuzz_wire \
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

tests_fuzz_fuzz_kineto_wire_SOURCES = tests/fuzz/fuzz_kineto_wire.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_kineto_wire_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_kineto_wire_LDADD = agent/libagent.a base/libbase.a $(YAML_LIBS) -lm

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

tests_fuzz_fuzz_neuron_SOURCES = tests/fuzz/fuzz_neuron.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_neuron_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_neuron_LDADD = $(LINK_TRACE)

tests_fuzz_fuzz_wire_SOURCES = tests/fuzz/fuzz_wire.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_wire_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_wire_LDADD = $(LINK_WIRE)

tests_fuzz_fuzz_http_SOURCES = tests/fuzz/fuzz_http.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_http_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_http_LDADD = $(LINK_NET_PLAIN)

tests_fuzz_fuzz_xplane_SOURCES = tests/fuzz/fuzz_xplane.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_fuzz_xplane_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_xplane_LDADD = $(LINK_TRACE)
