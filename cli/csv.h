/* csv.h — tables as comma-separated values (RFC 4180): what spreadsheets and data frames read.
 * Made from the tab-separated form, so that every table that has that one has this one too. Back-slashes, tabs and line
 * ends of a name stand as they are, in quotes where they must; other control characters stay written \u00XX. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends the lines of tsv, ended by CR LF. file: goes before each line as a column of that name; NULL: no such column.
 * headed: the first line is written too (it is left out where tables of several files stand below each other). */
void csv_from_tsv(struct str tsv, const char *file, bool headed, struct buf *out);

#endif
