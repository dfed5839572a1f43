# Benchmarks: one JSON line a measurement. "make bench" runs them all; make_trace serves tests of size, too.
noinst_PROGRAMS += bench/make_trace bench/bench_summarize bench/bench_stages bench/peer_inflate
bench_make_trace_SOURCES = bench/make_trace.c
bench_make_trace_LDADD = base/libbase.a $(YAML_LIBS) -lm
bench_bench_summarize_SOURCES = bench/bench_summarize.c bench/sample.c bench/sample.h
bench_bench_summarize_LDADD = json/libjson.a base/libbase.a $(YAML_LIBS) -lm
bench_bench_stages_SOURCES = bench/bench_stages.c bench/sample.c bench/sample.h
bench_bench_stages_LDADD = $(LINK_TRACE)
bench_peer_inflate_SOURCES = bench/peer_inflate.c
bench_peer_inflate_LDADD = $(ZSTD_LIBS) $(ZLIB_LIBS)
EXTRA_DIST += bench/peer_simdjson.cc bench/peer_hta.py bench/peer_tracelens.py
CLEANFILES += bench/peer_simdjson

# A peer that needs what the rest does not (C++, libsimdjson): left out where it cannot be built.
bench_size = $${BENCH_SIZE:-200MiB}
bench_runs = $${BENCH_RUNS:-5}

.PHONY: bench
bench: bench/make_trace bench/bench_summarize bench/bench_stages bench/peer_inflate trainspotter
	@test -x bench/peer_simdjson || $${CXX:-c++} -O2 -o bench/peer_simdjson $(srcdir)/bench/peer_simdjson.cc -lsimdjson \
		2> bench/peer_simdjson.log || echo "make bench: no simdjson here (see bench/peer_simdjson.log)" >&2
	@bench/bench_summarize --scripts $(srcdir)/bench --size $(bench_size) --runs $(bench_runs)
