/* ranks.h — several traces side by side, as those of the ranks of one job are: a row an op, a column a rank, the slowest
 * marked.
 * The slowest rank is the one whose device works longest without collectives, for the others wait for it in theirs;
 * without device time, the one with most self CPU time. Past RANKS_SHOWN files, and where the screen is too narrow for
 * them, the columns are least, median and most, and who that is.
 * Runs on: the main thread. Memory: 200 bytes a row of each file. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/keyavg_print.h"
#include "trace/keyavg.h"

enum { RANKS_SHOWN = 8 };

struct ranks;

struct ranks *ranks_new(void);
void ranks_free(struct ranks *r);
/* rank: -1 where the file does not say; file: its name. Copies. Where that tells two files alike, they are told by what is
 * different in their names. */
void ranks_add(struct ranks *r, const struct keyavg_table *kt, int64_t rank, const char *file);
/* by: the column compared, KEYAVG_COLUMNS for self device time where there is any, else self CPU time. screen: its
 * columns, 0 for as many as there are. */
int ranks_print(struct ranks *r, enum keyavg_column by, size_t limit, bool colour, size_t screen, struct buf *out,
	struct err *e) MUST_USE;

#endif
