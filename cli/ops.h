/* ops.h — times and counts of ops as all tables of the command line show them, and the evidence of a finding. */
#ifndef CLI_OPS_H
#define CLI_OPS_H

#include <stdio.h>

#include "cli/table.h"
#include "json/tree.h"

void ops_time_cell(struct table *t, const struct json_node *row, const char *key);  /* "403 µs", "-" for null */
void ops_count_cell(struct table *t, double count, enum table_paint paint);	     /* "3", "0.25", "-" below 0 */

/* The members step_ns, launches_per_step and findings of an evidence (compare's answer, or an alert's "evidence") as
 * tables: what was one call, what stands in its place, what a step costs now. Texts are indented by two blanks. */
void ops_print_evidence(const struct json_node *evidence, FILE *out, bool colour);

#endif
