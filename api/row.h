/* row.h — an op summary as members of a JSON object, the same in windows, top and trend. Inside api/ only. */
#ifndef API_ROW_H
#define API_ROW_H

#include "json/write.h"
#include "profile/op.h"

void row_write_names(struct json_writer *w, const struct op_summary *op);    /* kind, op, calls */
void row_write_sums(struct json_writer *w, const struct op_summary *op);     /* device and CPU, total and self */
void row_write_per_call(struct json_writer *w, const struct op_summary *op); /* basis, min, max, p50, p99 */

/* The time that counts: self device time where has_device, else self CPU time; of a step all its CPU time, of a gap all its
 * device time. */
int64_t row_time_ns(const struct op_summary *op, bool has_device);
/* The part of it that no other row holds as well; 0 for kinds that are no work of their own (step, gap, engine). */
int64_t row_own_time_ns(const struct op_summary *op, bool has_device);
/* Kinds that a table of work leaves out unless it is asked for them. */
bool row_kind_is_extra(enum op_kind kind);

#endif
