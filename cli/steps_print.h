/* steps_print.h — the steps of a trace (trace/steps.h) for people and programs. */
#ifndef CLI_STEPS_PRINT_H
#define CLI_STEPS_PRINT_H

#include <stdbool.h>

#include "base/buf.h"
#include "json/write.h"
#include "trace/steps.h"

/* A row a step, the longest one marked; at most limit rows. screen: its columns, 0 for as many as there are. */
void steps_print_table(const struct step_table *st, size_t limit, bool colour, size_t screen, struct buf *out);
/* step start_ns wall_ns device_busy_ns gap_ns launches, then op1 op1_ns and so on: empty and 0 where there are fewer. */
void steps_print_tsv(const struct step_table *st, size_t limit, struct buf *out);
/* "steps_from":…,"devices":…,"rows":[{…}] */
void steps_print_json(const struct step_table *st, size_t limit, struct json_writer *w);

#endif
