# Benchmarks: one JSON line a measurement. "make bench" runs them all; make_trace serves tests of size, too.
noinst_PROGRAMS += bench/make_trace bench/bench_summarize
bench_make_trace_SOURCES = bench/make_trace.c
bench_make_trace_LDADD = base/libbase.a $(YAML_LIBS) -lm
bench_bench_summarize_SOURCES = bench/bench_summarize.c
bench_bench_summarize_LDADD = json/libjson.a base/libbase.a $(YAML_LIBS) -lm

.PHONY: bench
bench: bench/make_trace bench/bench_summarize trainspotter
	@bench/bench_summarize --program ./trainspotter --make-trace bench/make_trace
