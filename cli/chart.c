#include "cli/chart.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "cli/width.h"
#include "stat/robust.h"

enum { LABEL_WIDTH = 9, MARK_LABEL_MAX = 20, MARK_LINES = 2, TIME_LABEL = 8 };

enum tint { TINT_NONE, TINT_DIM, TINT_BOLD, TINT_EVEN, TINT_ODD, TINTS };
static const char *const tint_on[] = {
	[TINT_NONE] = "", [TINT_DIM] = "\033[2m", [TINT_BOLD] = "\033[1m",
	[TINT_EVEN] = "\033[36m", [TINT_ODD] = "\033[33m", /* deploys in turn */
};
_Static_assert(COUNT(tint_on) == TINTS, "paint every tint");

/* What is drawn with, in UTF-8 and in ASCII. */
struct pencil {
	const char *bar[9]; /* by eighths; the first is never drawn */
	const char *shade, *none, *mark, *side, *tick_side, *corner, *floor, *tick_floor, *mark_floor, *ellipsis;
};
static const struct pencil pencils[2] = {
	{ { " ", "_", "_", "_", "=", "=", "#", "#", "#" }, ":", ".", "|", "|", "+", "+", "-", "+", "+", "~" },
	{ { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }, "░", "·", "┊", "│", "┤", "┼", "─", "┬", "┴", "…" },
};

struct cell {
	char text[5]; /* one character */
	enum tint tint;
	bool covered; /* by the wide character on its left */
};

struct drawing {
	const struct chart *c;
	const struct pencil *pencil;
	int64_t from_ns, to_ns;
	unsigned wide, high;	/* the plot, in characters */
	const struct chart_mark *marks; /* those inside the time range */
	size_t n_marks;
	unsigned data_columns;
	unsigned mark_at[CHART_MARKS_MAX]; /* the data column before which a mark stands */
	double *value, *top;		   /* of each data column */
	double step, max;		   /* of the value axis */
	struct cell *cells;		   /* high rows from the top, wide each */
	struct buf *out;
};

/* ---- numbers */

struct str chart_value(const struct chart *c, double v, char out[CLOCK_TEXT])
{
	struct str s;
	size_t at;

	if (c->unit == CHART_COUNT)
		return (struct str){ out, (size_t)snprintf(out, CLOCK_TEXT, "%.3g", v) };
	s = v == 0 ? (struct str){ out, (size_t)snprintf(out, CLOCK_TEXT, "0") } : clock_human(llround(v), out);
	at = str_find(s, STR("µ"));
	if (c->utf8 || at == s.n)
		return s;
	out[at] = 'u';
	memmove(out + at + 1, out + at + 2, s.n - at - 1);
	return (struct str){ out, s.n - 1 };
}

double chart_median(const struct chart *c, int64_t from_ns, int64_t to_ns)
{
	double *scratch = mem_get_array(c->n, sizeof(*scratch)), median;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->points[i].t_ns >= from_ns && c->points[i].t_ns < to_ns && !isnan(c->points[i].value))
			scratch[n++] = c->points[i].value;
	median = n == 0 ? (double)NAN : robust_median(scratch, n);
	mem_free(scratch);
	return median;
}

bool chart_splits(const struct chart *c, size_t mark)
{
	return c->n > 0 && c->marks[mark].t_ns >= c->points[0].t_ns + (c->point_ns > 0 ? c->point_ns : 1);
}

static double largest(const struct chart *c)
{
	double most = -1;

	for (size_t i = 0; i < c->n; i++) {
		most = c->points[i].value > most ? c->points[i].value : most;
		most = c->points[i].high > most ? c->points[i].high : most;
	}
	return most;
}

/* A round step that gives about four ticks, and room for a label above the highest bar. */
static void choose_scale(struct drawing *d, double most)
{
	static const double round[] = { 1, 2, 2.5, 5, 10 };
	double rough = (most > 0 ? most : 1) / 4, power = pow(10, floor(log10(rough)));

	for (size_t i = COUNT(round); i-- > 0;)
		if (round[i] * power >= rough * 0.999)
			d->step = round[i] * power;
	d->max = d->step * ceil(most / d->step);
	if (d->max <= 0)
		d->max = d->step;
	while (most * d->high > d->max * (d->high - 1))
		d->max += d->step / 2;
}

/* ---- time to columns */

static size_t segment_of_time(const struct drawing *d, int64_t t_ns)
{
	size_t n = 0;

	while (n < d->n_marks && d->marks[n].t_ns <= t_ns)
		n++;
	return n;
}

static size_t segment_of_column(const struct drawing *d, unsigned column)
{
	size_t n = 0;

	while (n < d->n_marks && d->mark_at[n] <= column)
		n++;
	return n;
}

/* Data columns are moved to the right by the marks in front of them. */
static unsigned x_of_column(const struct drawing *d, unsigned column)
{
	return column + (unsigned)segment_of_column(d, column);
}

static double columns_until(const struct drawing *d, int64_t t_ns)
{
	return (double)(t_ns - d->from_ns) / (double)(d->to_ns - d->from_ns) * d->data_columns;
}

static unsigned column_of_time(const struct drawing *d, int64_t t_ns)
{
	double x = floor(columns_until(d, t_ns));

	return x < 0 ? 0 : x >= d->data_columns ? d->data_columns - 1 : (unsigned)x;
}

static void place_marks(struct drawing *d)
{
	const struct chart *c = d->c;
	size_t first = 0;

	while (first < c->n_marks && !chart_splits(c, first))
		first++;
	d->marks = c->marks + first;
	for (size_t i = first; i < c->n_marks && c->marks[i].t_ns < d->to_ns && d->n_marks < CHART_MARKS_MAX; i++)
		d->n_marks++;
	d->data_columns = d->wide - (unsigned)d->n_marks;
	for (size_t i = 0; i < d->n_marks; i++)
		d->mark_at[i] = (unsigned)lround(columns_until(d, d->marks[i].t_ns));
}

/* Medians of the points that last into each column and lie on its side of every mark. */
static void fill_columns(struct drawing *d)
{
	const struct chart *c = d->c;
	double *values = mem_get_array(c->n, sizeof(*values)), *tops = mem_get_array(c->n, sizeof(*tops));

	for (unsigned x = 0; x < d->data_columns; x++) {
		size_t n = 0, n_tops = 0, segment = segment_of_column(d, x);

		for (size_t i = 0; i < c->n; i++) {
			const struct chart_point *p = &c->points[i];

			if (isnan(p->value) || columns_until(d, p->t_ns) >= x + 1 ||
				columns_until(d, p->t_ns + c->point_ns) <= x || segment_of_time(d, p->t_ns) != segment)
				continue;
			values[n++] = p->value;
			if (!isnan(p->high))
				tops[n_tops++] = p->high;
		}
		d->value[x] = n == 0 ? (double)NAN : robust_median(values, n);
		d->top[x] = n_tops == 0 ? (double)NAN : robust_median(tops, n_tops);
	}
	mem_free(tops);
	mem_free(values);
}

/* ---- cells */

static struct cell *cell_at(struct drawing *d, unsigned row_from_floor, unsigned x)
{
	return &d->cells[(d->high - 1 - row_from_floor) * d->wide + x];
}

static void put_cell(struct cell *cell, const char *text, enum tint tint)
{
	str_copy_to(str_of(text), cell->text, sizeof(cell->text));
	cell->tint = tint;
}

static void draw_column(struct drawing *d, unsigned column)
{
	double bar = d->value[column] / d->max * d->high, top = d->top[column] / d->max * d->high;
	unsigned x = x_of_column(d, column);
	enum tint tint = segment_of_column(d, column) % 2 ? TINT_ODD : TINT_EVEN;

	if (isnan(bar))
		return;
	for (unsigned row = 0; row < d->high; row++) {
		double part = bar - row;
		int eighths = part >= 1 ? 8 : part <= 0 ? 0 : (int)lround(part * 8);

		if (row == 0 && eighths == 0)
			put_cell(cell_at(d, row, x), bar > 0 ? d->pencil->bar[1] : d->pencil->none,
				bar > 0 ? tint : TINT_DIM);
		else if (eighths > 0)
			put_cell(cell_at(d, row, x), d->pencil->bar[eighths], tint);
		else if (top - row >= 0.5)
			put_cell(cell_at(d, row, x), d->pencil->shade, tint);
	}
}

static void draw_marks(struct drawing *d)
{
	for (size_t i = 0; i < d->n_marks; i++)
		for (unsigned row = 0; row < d->high; row++)
			put_cell(cell_at(d, row, d->mark_at[i] + (unsigned)i), d->pencil->mark, TINT_DIM);
}

/* Writes text over cells, where it fits between two columns. */
static void write_over(struct drawing *d, unsigned row, unsigned x, struct str text)
{
	while (text.n > 0 && x < d->wide) {
		struct str one = str_upto_chars(text, 1);
		struct cell *cell = cell_at(d, row, x++);

		str_copy_to(one, cell->text, sizeof(cell->text));
		cell->tint = TINT_BOLD;
		text = str_from(text, one.n);
	}
}

/* The lowest row over all bars (and shades) of these columns. */
static unsigned row_above(const struct drawing *d, unsigned from, unsigned to)
{
	double most = 0;

	for (unsigned x = from; x < to; x++) {
		most = d->value[x] > most ? d->value[x] : most;
		most = d->top[x] > most ? d->top[x] : most;
	}
	most = ceil(most / d->max * d->high - 1.0 / 16); /* an eighth that rounds to nothing takes no row */
	return most >= d->high ? d->high - 1 : (unsigned)most;
}

/* Each stretch between marks gets its median written above its middle. */
static void label_plateaus(struct drawing *d)
{
	for (size_t s = 0; s <= d->n_marks; s++) {
		unsigned from = s == 0 ? 0 : d->mark_at[s - 1];
		unsigned to = s == d->n_marks ? d->data_columns : d->mark_at[s], width, at;
		double median = chart_median(d->c, s == 0 ? INT64_MIN : d->marks[s - 1].t_ns,
			s == d->n_marks ? INT64_MAX : d->marks[s].t_ns);
		char out[CLOCK_TEXT];
		struct str text;

		if (isnan(median))
			continue;
		text = chart_value(d->c, median, out);
		width = (unsigned)str_chars(text);
		if (to < from + width)
			continue;
		at = from + (to - from - width) / 2;
		write_over(d, row_above(d, at, at + width), x_of_column(d, at), text);
	}
}

/* ---- lines */

static void tinted(const struct drawing *d, enum tint tint, const char *text)
{
	bool paint = d->c->colour && tint != TINT_NONE;

	buf_fmt(d->out, "%s%s%s", paint ? tint_on[tint] : "", text, paint ? "\033[0m" : "");
}

/* One line of cells; runs of one tint are painted together, blanks at the end are left out. */
static void put_cells(const struct drawing *d, const struct cell *cells)
{
	enum tint now = TINT_NONE;
	unsigned n = d->wide;

	while (n > 0 && cells[n - 1].text[0] == '\0')
		n--;
	for (unsigned x = 0; x < n; x++) {
		enum tint tint = cells[x].text[0] == '\0' ? TINT_NONE : cells[x].tint;

		if (d->c->colour && tint != now)
			buf_fmt(d->out, "%s%s", now == TINT_NONE ? "" : "\033[0m", tint_on[tint]);
		now = tint;
		if (!cells[x].covered)
			buf_text(d->out, cells[x].text[0] == '\0' ? " " : cells[x].text);
	}
	if (d->c->colour && now != TINT_NONE)
		buf_text(d->out, "\033[0m");
	buf_byte(d->out, '\n');
}

/* The tick whose height is the upper edge of this row, or 0. */
static double tick_of_row(const struct drawing *d, unsigned row)
{
	for (double v = d->step; v <= d->max * 1.0001; v += d->step)
		if ((unsigned)lround(v / d->max * d->high) == row + 1)
			return v;
	return 0;
}

static void put_value_label(const struct drawing *d, double v)
{
	char out[CLOCK_TEXT];
	struct str text = chart_value(d->c, v, out);
	size_t n = str_chars(text);

	buf_fill(d->out, ' ', n < LABEL_WIDTH ? LABEL_WIDTH - n : 0);
	buf_fmt(d->out, "%.*s ", STR_ARG(text));
}

static void put_rows(struct drawing *d)
{
	for (unsigned row = d->high; row-- > 0;) {
		double tick = tick_of_row(d, row);

		if (tick > 0)
			put_value_label(d, tick);
		else
			buf_fill(d->out, ' ', LABEL_WIDTH + 1);
		tinted(d, TINT_DIM, tick > 0 ? d->pencil->tick_side : d->pencil->side);
		put_cells(d, cell_at(d, row, 0));
	}
}

/* One of columns 0, 1 or 2; without the marks that stand on it. */
static void place_character(const struct drawing *d, struct cell *cells, struct str one, size_t columns)
{
	unsigned char c = (unsigned char)one.p[0];

	if (columns == 0)
		return;
	if (columns == 2) {
		put_cell(&cells[1], "?", TINT_BOLD);
		cells[1].covered = d->c->utf8;
	}
	if (c < ' ' || c == 0x7f || (c >= 0x80 && !d->c->utf8))
		put_cell(cells, "?", TINT_BOLD);
	else
		str_copy_to(str_upto_chars(one, 1), cells->text, sizeof(cells->text));
	cells->tint = TINT_BOLD;
}

/* Places one label on a line of cells if nothing is there; a label never leaves the line. */
static bool place_label(const struct drawing *d, struct cell *line, unsigned x, struct str label)
{
	bool cut = width_of(label) > MARK_LABEL_MAX;
	struct str text = cut ? width_upto(label, MARK_LABEL_MAX - 1) : label;
	unsigned n = (unsigned)width_of(text) + cut;

	if (x + n > d->wide)
		x = d->wide - n;
	for (unsigned i = x > 0 ? x - 1 : 0; i < x + n && i < d->wide; i++)
		if (line[i].text[0] != '\0')
			return false;
	for (unsigned i = 0; text.n > 0;) {
		size_t columns;
		struct str one = width_next(text, &columns);

		place_character(d, line + x + i, one, columns);
		i += (unsigned)columns;
		text = str_from(text, one.n);
	}
	if (cut)
		put_cell(&line[x + n - 1], d->pencil->ellipsis, TINT_BOLD);
	return true;
}

/* The names of the deploys over their marks, on a second line where the first is taken; later ones win over none. */
static void put_mark_labels(struct drawing *d)
{
	struct cell *lines = mem_get_array((size_t)MARK_LINES * d->wide, sizeof(*lines));
	size_t before = (size_t)(d->marks - d->c->marks), used = 0;

	for (size_t i = before > 0 ? before - 1 : 0; i < before + d->n_marks; i++) {
		unsigned x = i < before ? 0 : d->mark_at[i - before] + (unsigned)(i - before);

		for (size_t line = 0; line < MARK_LINES; line++)
			if (place_label(d, lines + line * d->wide, x, d->c->marks[i].label)) {
				used = line + 1 > used ? line + 1 : used;
				break;
			}
	}
	while (used-- > 0) {
		buf_fill(d->out, ' ', LABEL_WIDTH + 2);
		put_cells(d, lines + used * d->wide);
	}
	mem_free(lines);
}

/* ---- the time axis */

static int64_t choose_time_step(const struct drawing *d)
{
	static const int64_t steps[] = { NS_PER_S, 10 * NS_PER_S, NS_PER_MIN, 5 * NS_PER_MIN, 15 * NS_PER_MIN,
		NS_PER_HOUR, 3 * NS_PER_HOUR, 6 * NS_PER_HOUR, 12 * NS_PER_HOUR, NS_PER_DAY, 2 * NS_PER_DAY,
		3 * NS_PER_DAY, 7 * NS_PER_DAY, 14 * NS_PER_DAY, 28 * NS_PER_DAY, 91 * NS_PER_DAY, 364 * NS_PER_DAY };
	double per_column = (double)(d->to_ns - d->from_ns) / d->data_columns;

	for (size_t i = 0; i < COUNT(steps); i++)
		if ((double)steps[i] >= per_column * (double)TIME_LABEL)
			return steps[i];
	return steps[COUNT(steps) - 1];
}

static void time_text(int64_t t_ns, int64_t step_ns, char *out, size_t cap)
{
	time_t sec = (time_t)(t_ns / NS_PER_S);
	struct tm tm;

	gmtime_r(&sec, &tm);
	if (step_ns >= 28 * NS_PER_DAY)
		strftime(out, cap, "%Y-%m", &tm);
	else if (step_ns >= NS_PER_DAY || (tm.tm_hour == 0 && tm.tm_min == 0 && tm.tm_sec == 0))
		strftime(out, cap, "%b %d", &tm);
	else
		strftime(out, cap, step_ns >= NS_PER_MIN ? "%H:%M" : "%H:%M:%S", &tm);
}

static void put_time_axis(struct drawing *d)
{
	struct cell *floor_line = mem_get_array(d->wide, sizeof(*floor_line));
	struct cell *labels = mem_get_array(d->wide, sizeof(*labels));
	int64_t step = choose_time_step(d), t = (d->from_ns + step - 1) / step * step;

	for (unsigned x = 0; x < d->wide; x++)
		put_cell(&floor_line[x], d->pencil->floor, TINT_DIM);
	for (; t < d->to_ns; t += step) {
		unsigned x = x_of_column(d, column_of_time(d, t));
		char text[32];

		time_text(t, step, text, sizeof(text));
		put_cell(&floor_line[x], d->pencil->tick_floor, TINT_DIM);
		if (x + strlen(text) > d->wide)
			break;
		for (size_t i = 0; text[i] != '\0'; i++)
			put_cell(&labels[x + i], (char[]){ text[i], '\0' }, TINT_NONE);
	}
	for (size_t i = 0; i < d->n_marks; i++)
		put_cell(&floor_line[d->mark_at[i] + i], d->pencil->mark_floor, TINT_DIM);
	put_value_label(d, 0);
	tinted(d, TINT_DIM, d->pencil->corner);
	put_cells(d, floor_line);
	buf_fill(d->out, ' ', LABEL_WIDTH + 2);
	put_cells(d, labels);
	mem_free(labels);
	mem_free(floor_line);
}

static unsigned within(unsigned v, unsigned least, unsigned most)
{
	return v < least ? least : v > most ? most : v;
}

void chart_draw(const struct chart *c, struct buf *out)
{
	struct drawing d = { .c = c, .pencil = &pencils[c->utf8], .out = out };
	double most = largest(c);

	if (most < 0)
		return;
	d.wide = within(c->width, CHART_WIDTH_MIN, CHART_WIDTH_MAX) - LABEL_WIDTH - 2;
	d.high = within(c->height, CHART_HEIGHT_MIN, CHART_HEIGHT_MAX);
	d.from_ns = c->points[0].t_ns;
	d.to_ns = c->points[c->n - 1].t_ns + (c->point_ns > 0 ? c->point_ns : 1);
	place_marks(&d);
	choose_scale(&d, most);
	d.value = mem_get_array(d.data_columns, sizeof(double));
	d.top = mem_get_array(d.data_columns, sizeof(double));
	d.cells = mem_get_array((size_t)d.wide * d.high, sizeof(*d.cells));
	fill_columns(&d);
	for (unsigned x = 0; x < d.data_columns; x++)
		draw_column(&d, x);
	draw_marks(&d);
	label_plateaus(&d);
	put_mark_labels(&d);
	put_rows(&d);
	put_time_axis(&d);
	mem_free(d.cells);
	mem_free(d.top);
	mem_free(d.value);
}
