/* table.h — tables that line up, on a terminal or in a pipe.
 * Cells are UTF-8; widths are columns of a terminal (cli/width.h). A cell wider than its column's max_width is cut with
 * "…". On a terminal that is narrower than the table, columns that have a max_width get less, down to TABLE_CUT_MIN.
 * Colour is used only where the caller says so (cli_colour). */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/code.h"
#include "base/str.h"
#include "cli/screen.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT };
enum table_paint { PAINT_NONE, PAINT_BAD, PAINT_GOOD, PAINT_DIM, PAINT_BOLD };

struct table_column {
	const char *title;
	enum table_align align;
	size_t max_width; /* 0: as wide as its cells */
};

enum { TABLE_CUT_MIN = 16 };

struct table;
struct table *table_new(const struct table_column *columns, size_t n); /* columns: static */
void table_free(struct table *t);
/* Cells fill rows from left to right; a new row starts by itself. */
void table_cell(struct table *t, struct str text, enum table_paint paint);
void table_cell_fmt(struct table *t, enum table_paint paint, const char *fmt, ...) PRINTF_LIKE(3, 4);
void table_print(const struct table *t, FILE *out, bool colour);
/* For a screen of so many columns; 0: as wide as it is. */
void table_print_to(const struct table *t, struct buf *out, bool colour, size_t columns);
bool table_fits(const struct table *t, size_t columns); /* with what can be cut cut; 0: always */

void table_more(struct buf *out, size_t n, const char *what); /* "(3 more rows: --limit)" */

/* Text from a trace or a server, on a terminal: control characters are shown as '?' and our own signs are those of the
 * locale (cells do both by themselves). */
void cli_put(FILE *out, struct str text);

/* The same, its words filled into lines of at most 100 characters and a newline at the end. The first line goes on at
 * column at (0: nothing is there yet), every line begins with indent blanks. */
void cli_put_filled(FILE *out, struct str text, size_t indent, size_t at);

#endif
