/* keyavg_print.h — the table of a trace as PyTorch prints it, as tab-separated values, as JSON. */
#ifndef CLI_KEYAVG_PRINT_H
#define CLI_KEYAVG_PRINT_H

#include "base/buf.h"
#include "json/write.h"
#include "trace/keyavg.h"
#include "trace/report.h"

enum keyavg_column {
	KEYAVG_NAME,
	KEYAVG_IS_DEVICE,
	KEYAVG_IS_USER_ANNOTATION,
	KEYAVG_INPUT_DIMS,
	KEYAVG_COUNT,
	KEYAVG_SELF_CPU,
	KEYAVG_CPU_TOTAL,
	KEYAVG_SELF_DEVICE,
	KEYAVG_DEVICE_TOTAL,
	KEYAVG_CPU_MEMORY,
	KEYAVG_SELF_CPU_MEMORY,
	KEYAVG_DEVICE_MEMORY,
	KEYAVG_SELF_DEVICE_MEMORY,
	KEYAVG_COLUMNS
};
extern const char *const keyavg_column_names[KEYAVG_COLUMNS + 1]; /* NULL-ended */

/* A column's number in a row; 0 for texts. */
int64_t keyavg_number(const struct keyavg_row *r, enum keyavg_column c);

/* Largest first, names and flags upwards; of rows alike the one that was called first, as PyTorch has it. */
void keyavg_sort(struct keyavg_table *kt, enum keyavg_column by);

/* PyTorch's own table() with its defaults: at most limit rows. device: "CUDA". Columns are those of a terminal
 * (cli/width.h). On a screen that is too narrow, of so many columns (0: as many as there are), averages, shares and totals
 * are left out, names get shorter, and a line below says so. */
void keyavg_print_table(const struct keyavg_table *kt, size_t limit, const char *device, size_t screen, struct buf *out);
/* A line of column names, then rows. A plain table has all columns but shapes and memory. One by shapes has them
 * and the times, one of memory the bytes; there the columns of a device stand only where it has rows or memory. In
 * names back-slash, tab, line ends and control characters are written \\ \t \n \r and \u00XX. */
void keyavg_print_tsv(const struct keyavg_table *kt, size_t limit, struct buf *out);
void keyavg_print_name(struct str name, struct buf *out); /* so written */
/* "rows":[{…}]: a member of an object that the caller has open. */
void keyavg_print_json(const struct keyavg_table *kt, size_t limit, struct json_writer *w);

#endif
