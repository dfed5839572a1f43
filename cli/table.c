#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"

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

	if (c == NULL) {
		t->cut = true;
		return;
	}
	*c = (struct cell){ { copy, str_tame(text.p, text.n, copy) }, paint };
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

static size_t shown_width(const struct table_column *col, struct str text)
{
	size_t n = str_chars(text);

	return col->max_width > 0 && n > col->max_width ? col->max_width : n;
}

static void measure(const struct table *t, size_t *widths)
{
	for (size_t i = 0; i < t->n_columns; i++)
		widths[i] = str_chars(str_of(t->columns[i].title));
	for (size_t i = 0; i < t->cells.n; i++) {
		size_t n = shown_width(&t->columns[i % t->n_columns], t->cells.v[i].text);

		if (n > widths[i % t->n_columns])
			widths[i % t->n_columns] = n;
	}
}

struct line { /* blanks are owed until something follows them, so that none are left at the end of a line */
	FILE *out;
	bool colour;
	size_t owed;
};

static void print_text(struct line *l, struct str text, bool cut, enum table_paint paint)
{
	bool painted = l->colour && paint != PAINT_NONE;

	fprintf(l->out, "%*s%s%.*s%s%s", (int)l->owed, "", painted ? paint_on[paint] : "", STR_ARG(text), cut ? "…" : "",
		painted ? "\033[0m" : "");
	l->owed = 0;
}

static void print_cell(struct line *l, const struct table_column *col, struct str text, enum table_paint paint,
	size_t width)
{
	size_t n = shown_width(col, text), chars = str_chars(text);

	if (col->align == TABLE_RIGHT)
		l->owed += width - n;
	if (n > 0)
		print_text(l, n < chars ? str_upto_chars(text, n - 1) : text, n < chars, paint);
	l->owed += GAP + (col->align == TABLE_LEFT ? width - n : 0);
}

static void end_line(struct line *l)
{
	fputc('\n', l->out);
	l->owed = 0;
}

void table_print(const struct table *t, FILE *out, bool colour)
{
	size_t *widths = mem_get_array(t->n_columns, sizeof(*widths));
	struct line l = { out, colour, 0 };

	measure(t, widths);
	for (size_t i = 0; i < t->n_columns; i++) {
		struct table_column title = { NULL, t->columns[i].align, 0 };

		print_cell(&l, &title, str_of(t->columns[i].title), PAINT_BOLD, widths[i]);
	}
	end_line(&l);
	for (size_t i = 0; i < t->cells.n; i++) {
		size_t column = i % t->n_columns;

		print_cell(&l, &t->columns[column], t->cells.v[i].text, t->cells.v[i].paint, widths[column]);
		if (column + 1 == t->n_columns || i + 1 == t->cells.n)
			end_line(&l);
	}
	if (t->cut)
		fputs("(more rows than fit in memory were left out)\n", out);
	mem_free(widths);
}

void table_print_to(const struct table *t, struct buf *out, bool colour)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return;
	table_print(t, f, colour);
	if (fclose(f) == 0)
		buf_add(out, text, n);
	free(text);
}

bool cli_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR");

	return isatty(fileno(out)) && (no == NULL || *no == '\0');
}

void cli_put(FILE *out, struct str text)
{
	char piece[256];

	while (text.n > 0) {
		struct str part = str_upto(text, sizeof(piece));

		if (part.n < text.n && (unsigned char)part.p[part.n - 1] == 0xc2)
			part.n--; /* what str_tame looks at as one stays together */
		fwrite(piece, 1, str_tame(part.p, part.n, piece), out);
		text = str_from(text, part.n);
	}
}

void cli_put_filled(FILE *out, struct str text, size_t indent, size_t at)
{
	bool first = true;

	while (text.p != NULL) {
		struct str word = str_split(&text, ' ');
		size_t n = str_chars(word);

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
