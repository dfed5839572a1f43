/* neuron_print.h — windows of Neuron files for people and programs: their ops as rows of the table that traces have,
 * the device's engines by opcode, and gauges. */
#ifndef CLI_NEURON_PRINT_H
#define CLI_NEURON_PRINT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "json/write.h"
#include "profile/window.h"
#include "trace/keyavg.h"

/* A row an op; engines, HLO ops and gaps have their kind in front of the name. Device rows are those of device kinds,
 * annotations those of annotations. Names live in the arena. self_device_ns of the table counts each time once. */
void neuron_rows_make(struct keyavg_table *out, const struct window *w, struct arena *a);

/* engine, opcode, count, total_ns: device profiles only; at most limit rows. screen: its columns, 0 for as many as there
 * are. False where the window has no engines. */
bool neuron_has_engines(const struct window *w);
void neuron_print_engines_tsv(const struct window *w, size_t limit, struct buf *out);
void neuron_print_engines_table(const struct window *w, size_t limit, size_t screen, struct buf *out);
void neuron_print_engines_json(const struct window *w, size_t limit, struct json_writer *w_out); /* "rows":[…] */

/* Versions, then a table of gauges. */
void neuron_print_gauges(const struct window *w, size_t screen, struct buf *out);
/* "versions":{…},"labels":{…},"gauges":[…] */
void neuron_print_gauges_json(const struct window *w, struct json_writer *w_out);

#endif
