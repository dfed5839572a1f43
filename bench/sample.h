/* sample.h — measured values of one kind, and the JSON lines that tell of them: {"bench":…, …, "min":…,"median":…,"max":…}.
 * Runs on: one thread at a time. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <stddef.h>

#include "json/write.h"

enum { SAMPLE_MAX = 100 };

struct sample {
	double v[SAMPLE_MAX];
	size_t n;
};

void sample_add(struct sample *s, double v); /* what is too many is left out */
double sample_median(const struct sample *s); /* 0 of none */
/* KEY_min, KEY_median and KEY_max; without a key min, median and max. */
void sample_write(struct json_writer *w, const char *key, const struct sample *s);
/* a / b, run by run: what holds on a machine whose speed drifts, where both were run in turn. */
struct sample sample_ratio(const struct sample *a, const struct sample *b);

/* A line on standard output: an object begun, filled by the caller with jw_…, and ended. */
struct sample_line {
	struct buf text;
	struct json_writer w;
};
struct json_writer *sample_begin(struct sample_line *line, const char *bench);
int sample_end(struct sample_line *line, struct err *e) MUST_USE;

#endif
