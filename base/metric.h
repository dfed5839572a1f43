/* metric.h — counters and gauges of one program, and their Prometheus text (exposition format 0.0.4).
 * A program owns one struct metrics and hands metrics down; whoever gets none passes NULL, which every call accepts.
 * Metrics are made at start and live until metrics_free. Runs on: any thread; adding is one atomic instruction. */
#ifndef BASE_METRIC_H
#define BASE_METRIC_H

#include <stdint.h>

#include "base/buf.h"

struct metrics;
struct metric;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *ms);

/* name: "trainspotter_…", counters end in "_total"; labels: "reason=\"limit\"" or NULL. The same name and labels give
 * the same metric again. NULL where ms is NULL. */
struct metric *metric_counter(struct metrics *ms, const char *name, const char *labels, const char *help);
struct metric *metric_gauge(struct metrics *ms, const char *name, const char *labels, const char *help);

void metric_add(struct metric *m, uint64_t n); /* counters; NULL is fine */
void metric_set(struct metric *m, double v);   /* gauges; NULL is fine */
double metric_value(const struct metric *m);   /* 0 for NULL */

/* All of them, # HELP and # TYPE once a name, in order of making. */
void metrics_write(const struct metrics *ms, struct buf *out);

#endif
