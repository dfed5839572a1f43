/* explain.h — what a file lacked or had too much of, said at length: for `trainspotter summarize --explain`.
 * Each reason with how often and where first, the bytes around that place made safe for a terminal, and what helps. The
 * file is read once more up to that place, so standard input and members of archives show no bytes.
 * Runs on: the main thread. */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include <stdio.h>

#include "cli/summary.h"

void explain(const struct summary *s, const struct trace_limits *limits, FILE *out);

#endif
