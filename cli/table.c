#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "cli/width.h"

enum { CELLS_MAX = 16 << 20, TEXT_MAX = 512 << 20, GAP = 2, FILL_WIDTH = 100 };

struct cell {
	struct str text;
	enum table_paint paint;
};
VEC(cells, struct cell);

struct table {
	const struct table_column *columns;
	size_t n_columns;
	struct cells cells; /* row by row */
	struct arena arena;
	bool cut; /* a ceiling was hit; said under the table */
};

static const char *const paint_on[] = {
	[PAINT_NONE] = "", [PAINT_BAD] = "\033[31m", [PAINT_GOOD] = "\033[32m",
	[PAINT_DIM] = "\033[2m", [PAINT_BOLD] = "\033[1m",
};

struct table *table_new(const struct table_column *columns, size_t n)
{
	struct table *t = mem_get(sizeof(*t));

	must(n > 0);
	t->columns = columns;
	t->n_columns = n;
	t->cells.cap = CELLS_MAX;
	arena_init(&t->arena, TEXT_MAX);
	return t;
}

void table_free(struct table *t)
{
	if (t == NULL)
		return;
	vec_fini(&t->cells);
	arena_fini(&t->arena);
	mem_free(t);
}

void table_cell(struct table *t, struct str text, enum table_paint paint)
{
	char *copy = arena_get(&t->arena, text.n + 1);
	struct cell *c = copy == NULL ? NULL : vec_push(&t->cells);
	size_t n;

	if (c == NULL) {
		t->cut = true;
		return;
	}
	n = str_tame(text.p, text.n, copy);
	*c = (struct cell){ { copy, cli_signs(copy, n, copy) }, paint };
}

void table_cell_fmt(struct table *t, enum table_paint paint, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_cell(t, str_of(text), paint);
}

/* ---- widths */
static size_t columns_of(const struct table *t, const size_t *widths)
{
	size_t sum = (t->n_columns - 1) * GAP;

	for (size_t i = 0; i < t->n_columns; i++)
		sum += widths[i];
	return sum;
}

/* The column that can give most: the widest of those that may be cut. */
static size_t widest_of(const struct table *t, const size_t *widths)
{
	size_t at = t->n_columns;

	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i].max_width > 0 && widths[i] > TABLE_CUT_MIN && (at == t->n_columns || widths[i] > widths[at]))
			at = i;
	return at;
}

static void fit(const struct table *t, size_t *widths, size_t columns)
{
	size_t at;

	while (columns > 0 && columns_of(t, widths) > columns && (at = widest_of(t, widths)) < t->n_columns)
		widths[at]--;
}

static void measure(const struct table *t, size_t *widths, size_t columns)
{
	for (size_t i = 0; i < t->n_columns; i++)
		widths[i] = width_of(str_of(t->columns[i].title));
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct table_column *c = &t->columns[i % t->n_columns];
		size_t n = width_of(t->cells.v[i].text), *most = &widths[i % t->n_columns];

		n = c->max_width > 0 && n > c->max_width ? c->max_width : n;
		*most = n > *most ? n : *most;
	}
	fit(t, widths, columns);
}

bool table_fits(const struct table *t, size_t columns)
{
	size_t *widths = mem_get_array(t->n_columns, sizeof(*widths));
	bool fits;

	measure(t, widths, columns);
	fits = columns == 0 || columns_of(t, widths) <= columns;
	mem_free(widths);
	return fits;
}

/* ---- printing */
struct line { /* blanks are owed until something follows them, so that none are left at the end of a line */
	FILE *out;
	bool colour;
	size_t owed;
};

static void print_text(struct line *l, struct str text, bool cut, enum table_paint paint)
{
	bool painted = l->colour && paint != PAINT_NONE;

	fprintf(l->out, "%*s%s%.*s%s%s", (int)l->owed, "", painted ? paint_on[paint] : "", STR_ARG(text),
		cut ? cli_cut_sign() : "", painted ? "\033[0m" : "");
	l->owed = 0;
}

static void print_cell(struct line *l, enum table_align align, struct str text, enum table_paint paint, size_t width)
{
	size_t n = width_of(text);
	bool cut = n > width;

	if (cut) {
		text = width_upto(text, width - 1);
		n = width_of(text) + 1;
	}
	if (align == TABLE_RIGHT)
		l->owed += width - n;
	if (n > 0)
		print_text(l, text, cut, paint);
	l->owed += GAP + (align == TABLE_LEFT ? width - n : 0);
}

static void end_line(struct line *l)
{
	fputc('\n', l->out);
	l->owed = 0;
}

static void print(const struct table *t, FILE *out, bool colour, size_t columns)
{
	size_t *widths = mem_get_array(t->n_columns, sizeof(*widths));
	struct line l = { out, colour, 0 };

	measure(t, widths, columns);
	for (size_t i = 0; i < t->n_columns; i++)
		print_cell(&l, t->columns[i].align, str_of(t->columns[i].title), PAINT_BOLD, widths[i]);
	end_line(&l);
	for (size_t i = 0; i < t->cells.n; i++) {
		size_t column = i % t->n_columns;

		print_cell(&l, t->columns[column].align, t->cells.v[i].text, t->cells.v[i].paint, widths[column]);
		if (column + 1 == t->n_columns || i + 1 == t->cells.n)
			end_line(&l);
	}
	if (t->cut)
		fputs("(more rows than fit in memory were left out)\n", out);
	mem_free(widths);
}

void table_print(const struct table *t, FILE *out, bool colour)
{
	print(t, out, colour, cli_columns(out));
}

void table_print_to(const struct table *t, struct buf *out, bool colour, size_t columns)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return;
	print(t, f, colour, columns);
	if (fclose(f) == 0)
		buf_add(out, text, n);
	free(text);
}

void table_more(struct buf *out, size_t n, const char *what)
{
	buf_fmt(out, "(%zu more %s%s: --limit)\n", n, what, n == 1 ? "" : "s");
}

static bool goes_on(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

void cli_put(FILE *out, struct str text)
{
	char piece[256];

	while (text.n > 0) {
		struct str part = str_upto(text, sizeof(piece));

		while (part.n < text.n && part.n > sizeof(piece) - 4 && goes_on(text.p[part.n]))
			part.n--; /* a character stays together */
		fwrite(piece, 1, cli_signs(piece, str_tame(part.p, part.n, piece), piece), out);
		text = str_from(text, part.n);
	}
}

void cli_put_filled(FILE *out, struct str text, size_t indent, size_t at)
{
	bool first = true;

	while (text.p != NULL) {
		struct str word = str_split(&text, ' ');
		size_t n = width_of(word);

		if (at > indent && at + 1 + n > FILL_WIDTH) {
			fputc('\n', out);
			at = 0;
		}
		fprintf(out, "%*s", at == 0 ? (int)indent : !first, "");
		at = at == 0 ? indent + n : at + !first + n;
		first = false;
		cli_put(out, word);
	}
	fputc('\n', out);
}
