/* table.h — tables that line up, on a terminal or in a pipe.
 * Cells are UTF-8; widths count characters, not bytes. A cell wider than its column's max_width is cut with "…".
 * Colour is used only where the caller says so (cli_colour: standard output is a terminal and NO_COLOR is not set). */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/code.h"
#include "base/str.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT };
enum table_paint { PAINT_NONE, PAINT_BAD, PAINT_GOOD, PAINT_DIM, PAINT_BOLD };

struct table_column {
	const char *title;
	enum table_align align;
	size_t max_width; /* 0: as wide as its cells */
};

struct table;
struct table *table_new(const struct table_column *columns, size_t n); /* columns: static */
void table_free(struct table *t);
/* Cells fill rows from left to right; a new row starts by itself. */
void table_cell(struct table *t, struct str text, enum table_paint paint);
void table_cell_fmt(struct table *t, enum table_paint paint, const char *fmt, ...) PRINTF_LIKE(3, 4);
void table_print(const struct table *t, FILE *out, bool colour);
void table_print_to(const struct table *t, struct buf *out, bool colour);

bool cli_colour(FILE *out);

/* Text from a trace or a server, on a terminal: control characters are shown as '?' (cells do that by themselves). */
void cli_put(FILE *out, struct str text);

/* The same, its words filled into lines of at most 100 characters and a newline at the end. The first line goes on at
 * column at (0: nothing is there yet), every line begins with indent blanks. */
void cli_put_filled(FILE *out, struct str text, size_t indent, size_t at);

#endif
