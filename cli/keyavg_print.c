#include "cli/keyavg_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/table.h"
#include "cli/width.h"

const char *const keyavg_column_names[KEYAVG_COLUMNS + 1] = {
	[KEYAVG_NAME] = "name",
	[KEYAVG_IS_DEVICE] = "is_device",
	[KEYAVG_IS_USER_ANNOTATION] = "is_user_annotation",
	[KEYAVG_INPUT_DIMS] = "input_dims",
	[KEYAVG_COUNT] = "count",
	[KEYAVG_SELF_CPU] = "self_cpu_ns",
	[KEYAVG_CPU_TOTAL] = "cpu_total_ns",
	[KEYAVG_SELF_DEVICE] = "self_device_ns",
	[KEYAVG_DEVICE_TOTAL] = "device_total_ns",
	[KEYAVG_CPU_MEMORY] = "cpu_memory_bytes",
	[KEYAVG_SELF_CPU_MEMORY] = "self_cpu_memory_bytes",
	[KEYAVG_DEVICE_MEMORY] = "device_memory_bytes",
	[KEYAVG_SELF_DEVICE_MEMORY] = "self_device_memory_bytes",
};

/* A column's number in a row; 0 for texts. */
int64_t keyavg_number(const struct keyavg_row *r, enum keyavg_column c)
{
	switch (c) {
	case KEYAVG_IS_DEVICE: return r->is_device;
	case KEYAVG_IS_USER_ANNOTATION: return r->is_user_annotation;
	case KEYAVG_COUNT: return (int64_t)r->count;
	case KEYAVG_SELF_CPU: return r->self_cpu_ns;
	case KEYAVG_CPU_TOTAL: return r->cpu_total_ns;
	case KEYAVG_SELF_DEVICE: return r->self_device_ns;
	case KEYAVG_DEVICE_TOTAL: return r->device_total_ns;
	case KEYAVG_CPU_MEMORY: return r->bytes[MEMORY_CPU];
	case KEYAVG_SELF_CPU_MEMORY: return r->self_bytes[MEMORY_CPU];
	case KEYAVG_DEVICE_MEMORY: return r->bytes[MEMORY_DEVICE];
	case KEYAVG_SELF_DEVICE_MEMORY: return r->self_bytes[MEMORY_DEVICE];
	case KEYAVG_INPUT_DIMS:
	case KEYAVG_NAME:
	case KEYAVG_COLUMNS: break;
	}
	return 0;
}

static int compare_names(const struct keyavg_row *a, const struct keyavg_row *b)
{
	int order = str_cmp(a->name, b->name);

	if (order == 0)
		order = (int)a->is_device - (int)b->is_device;
	if (order == 0)
		order = (int)a->is_user_annotation - (int)b->is_user_annotation;
	return order != 0 ? order : str_cmp(a->dims, b->dims);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct keyavg_row *a = pa, *b = pb;
	enum keyavg_column by = *(const enum keyavg_column *)arg;
	int64_t x = keyavg_number(a, by), y = keyavg_number(b, by);
	int shapes = by == KEYAVG_INPUT_DIMS ? str_cmp(a->dims, b->dims) : 0;

	if (shapes != 0)
		return shapes;
	if (x == y && by != KEYAVG_NAME && a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	if (x == y && by != KEYAVG_NAME && a->first_dur_ns != b->first_dur_ns)
		return a->first_dur_ns > b->first_dur_ns ? -1 : 1;
	if (x == y)
		return compare_names(a, b);
	if (by == KEYAVG_IS_DEVICE || by == KEYAVG_IS_USER_ANNOTATION)
		return x < y ? -1 : 1;
	return x > y ? -1 : 1;
}

void keyavg_sort(struct keyavg_table *kt, enum keyavg_column by)
{
	if (kt->n > 0)
		qsort_r(kt->v, kt->n, sizeof(*kt->v), compare_rows, &by);
}

static size_t upto(const struct keyavg_table *kt, size_t limit)
{
	return kt->n < limit ? kt->n : limit;
}

/* ---- names on one line */
void keyavg_print_name(struct str name, struct buf *out)
{
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c == '\\')
			buf_text(out, "\\\\");
		else if (c == '\t')
			buf_text(out, "\\t");
		else if (c == '\n')
			buf_text(out, "\\n");
		else if (c == '\r')
			buf_text(out, "\\r");
		else if (c < 0x20 || c == 0x7f)
			buf_fmt(out, "\\u%04X", c);
		else if (c == 0xc2 && i + 1 < name.n && (unsigned char)name.p[i + 1] >= 0x80 && (unsigned char)name.p[i + 1] < 0xa0)
			buf_fmt(out, "\\u%04X", (unsigned char)name.p[++i]); /* C1: a terminal might obey it */
		else
			buf_byte(out, c);
	}
}

/* ---- which columns there are */
struct shown {
	bool plain, shapes, memory;    /* what was asked for */
	bool device, device_memory;    /* what there is */
};

static struct shown shown_of(const struct keyavg_table *kt)
{
	struct shown s = { .shapes = kt->want & TRACE_SHAPES, .memory = kt->want & TRACE_MEMORY };

	s.plain = !s.shapes && !s.memory;
	for (size_t i = 0; i < kt->n; i++) {
		s.device |= kt->v[i].is_device;
		s.device_memory |= kt->v[i].bytes[MEMORY_DEVICE] != 0 || kt->v[i].self_bytes[MEMORY_DEVICE] != 0;
	}
	return s;
}

static bool column_shown(const struct shown *s, enum keyavg_column c)
{
	switch (c) {
	case KEYAVG_NAME:
	case KEYAVG_IS_USER_ANNOTATION:
	case KEYAVG_COUNT: return true;
	case KEYAVG_IS_DEVICE: return s->plain || s->device;
	case KEYAVG_INPUT_DIMS: return s->shapes;
	case KEYAVG_SELF_CPU:
	case KEYAVG_CPU_TOTAL: return s->plain || s->shapes;
	case KEYAVG_SELF_DEVICE:
	case KEYAVG_DEVICE_TOTAL: return s->plain || (s->shapes && s->device);
	case KEYAVG_CPU_MEMORY:
	case KEYAVG_SELF_CPU_MEMORY: return s->memory;
	case KEYAVG_DEVICE_MEMORY:
	case KEYAVG_SELF_DEVICE_MEMORY: return s->memory && s->device_memory;
	case KEYAVG_COLUMNS: break;
	}
	return false;
}

/* ---- tsv and JSON */
static void print_column(const struct keyavg_row *r, enum keyavg_column c, struct buf *out)
{
	if (c != KEYAVG_NAME)
		buf_byte(out, '\t');
	if (c == KEYAVG_NAME || c == KEYAVG_INPUT_DIMS)
		keyavg_print_name(c == KEYAVG_NAME ? r->name : r->dims, out);
	else
		buf_fmt(out, "%" PRId64, keyavg_number(r, c));
}

void keyavg_print_tsv(const struct keyavg_table *kt, size_t limit, struct buf *out)
{
	const struct shown s = shown_of(kt);

	for (int c = 0; c < KEYAVG_COLUMNS; c++)
		if (column_shown(&s, (enum keyavg_column)c))
			buf_fmt(out, "%s%s", c == 0 ? "" : "\t", keyavg_column_names[c]);
	buf_byte(out, '\n');
	for (size_t i = 0; i < upto(kt, limit); i++) {
		for (int c = 0; c < KEYAVG_COLUMNS; c++)
			if (column_shown(&s, (enum keyavg_column)c))
				print_column(&kt->v[i], (enum keyavg_column)c, out);
		buf_byte(out, '\n');
	}
}

void keyavg_print_json(const struct keyavg_table *kt, size_t limit, struct json_writer *w)
{
	const struct shown s = { .plain = true, .shapes = kt->want & TRACE_SHAPES, .memory = kt->want & TRACE_MEMORY,
		.device_memory = true };

	jw_key_array(w, "rows");
	for (size_t i = 0; i < upto(kt, limit); i++) {
		const struct keyavg_row *r = &kt->v[i];

		jw_object(w);
		jw_key_str(w, keyavg_column_names[KEYAVG_NAME], r->name);
		jw_key_bool(w, keyavg_column_names[KEYAVG_IS_DEVICE], r->is_device);
		jw_key_bool(w, keyavg_column_names[KEYAVG_IS_USER_ANNOTATION], r->is_user_annotation);
		if (s.shapes)
			jw_key_str(w, keyavg_column_names[KEYAVG_INPUT_DIMS], r->dims);
		for (int c = KEYAVG_COUNT; c < KEYAVG_COLUMNS; c++)
			if (column_shown(&s, (enum keyavg_column)c))
				jw_key_i64(w, keyavg_column_names[c], keyavg_number(r, (enum keyavg_column)c));
		jw_end(w);
	}
	jw_end(w);
}

/* ---- PyTorch's table: torch/autograd/profiler_util.py, _build_table with its defaults. Unlike there a column is as
 * wide as its title, so that "NEURON time avg" pushes nothing aside. */
enum { NAME_WIDTH_MAX = 55, SHAPES_WIDTH_MAX = 80, COLUMN_WIDTH = 12, CELL_MAX = 64, GAP = 2 };
/* On a narrow screen columns are left out before a width falls below what is good. */
enum { NAME_WIDTH_GOOD = 32, NAME_WIDTH_MIN = 12, SHAPES_WIDTH_GOOD = 32, SHAPES_WIDTH_MIN = 16 };

enum cells { C_SELF_CPU_SHARE, C_SELF_CPU, C_CPU_SHARE, C_CPU, C_CPU_AVG, C_SELF_DEV, C_SELF_DEV_SHARE, C_DEV, C_DEV_AVG,
	C_MEM, C_SELF_MEM, C_DEV_MEM, C_SELF_DEV_MEM, C_CALLS, CELLS };
static const struct {
	const char *title; /* *: the device */
	bool of_device, of_memory;
} cells[] = {
	[C_SELF_CPU_SHARE] = { .title = "Self CPU %" },
	[C_SELF_CPU] = { .title = "Self CPU" },
	[C_CPU_SHARE] = { .title = "CPU total %" },
	[C_CPU] = { .title = "CPU total" },
	[C_CPU_AVG] = { .title = "CPU time avg" },
	[C_SELF_DEV] = { "Self *", .of_device = true },
	[C_SELF_DEV_SHARE] = { "Self * %", .of_device = true },
	[C_DEV] = { "* total", .of_device = true },
	[C_DEV_AVG] = { "* time avg", .of_device = true },
	[C_MEM] = { "CPU Mem", .of_memory = true },
	[C_SELF_MEM] = { "Self CPU Mem", .of_memory = true },
	[C_DEV_MEM] = { "* Mem", .of_device = true, .of_memory = true },
	[C_SELF_DEV_MEM] = { "Self * Mem", .of_device = true, .of_memory = true },
	[C_CALLS] = { .title = "# of Calls" },
};
_Static_assert(COUNT(cells) == CELLS, "name every column");

struct layout {
	size_t name_width, shapes_width; /* 0: no shapes */
	bool has_device, has_memory, has_device_memory;
	bool narrow, left_out[CELLS]; /* names are shorter than they could be; columns that the screen has no room for */
	size_t n_left_out;
	char titles[CELLS][CELL_MAX];
	struct buf text; /* a name on its way */
};

static void put(struct buf *out, struct str text, size_t width)
{
	size_t n = width_of(text);

	buf_fill(out, ' ', n < width ? width - n : 0);
	buf_str(out, text);
	buf_text(out, "  ");
}

static size_t cell_width(const struct layout *l, enum cells c)
{
	size_t n = strlen(l->titles[c]);

	return n > COLUMN_WIDTH ? n : COLUMN_WIDTH;
}

static bool cell_shown(const struct layout *l, enum cells c)
{
	if (l->left_out[c])
		return false;
	if (cells[c].of_memory)
		return l->has_memory && (l->has_device_memory || !cells[c].of_device);
	return l->has_device || !cells[c].of_device;
}

static void time_text(char out[CELL_MAX], double ns)
{
	if (ns >= 1e9)
		snprintf(out, CELL_MAX, "%.3fs", ns / 1e9);
	else if (ns >= 1e6)
		snprintf(out, CELL_MAX, "%.3fms", ns / 1e6);
	else
		snprintf(out, CELL_MAX, "%.3fus", ns / 1e3);
}

static void share_text(char out[CELL_MAX], int64_t ns, int64_t of_ns)
{
	if (of_ns == 0)
		snprintf(out, CELL_MAX, "NaN");
	else
		snprintf(out, CELL_MAX, "%.2f%%", (double)ns * 100.0 / (double)of_ns);
}

static void bytes_text(char out[CELL_MAX], int64_t bytes)
{
	static const struct {
		const char *unit;
		double bytes;
	} units[] = { { "GB", 1 << 30 }, { "MB", 1 << 20 }, { "KB", 1 << 10 } };
	double size = bytes < 0 ? -(double)bytes : (double)bytes;

	for (size_t i = 0; i < COUNT(units); i++)
		if (size >= units[i].bytes) {
			snprintf(out, CELL_MAX, "%.2f %s", (double)bytes / units[i].bytes, units[i].unit);
			return;
		}
	snprintf(out, CELL_MAX, "%" PRId64 " B", bytes);
}

static void cell_text(char out[CELL_MAX], const struct keyavg_table *kt, const struct keyavg_row *r, enum cells c)
{
	switch (c) {
	case C_SELF_CPU_SHARE: share_text(out, r->self_cpu_ns, kt->self_cpu_ns); break;
	case C_SELF_CPU: time_text(out, (double)r->self_cpu_ns); break;
	case C_CPU_SHARE: share_text(out, r->cpu_total_ns, kt->self_cpu_ns); break;
	case C_CPU: time_text(out, (double)r->cpu_total_ns); break;
	case C_CPU_AVG: time_text(out, (double)r->cpu_total_ns / (double)r->count); break;
	case C_SELF_DEV: time_text(out, (double)r->self_device_ns); break;
	case C_SELF_DEV_SHARE: share_text(out, r->self_device_ns, kt->self_device_ns); break;
	case C_DEV: time_text(out, (double)r->device_total_ns); break;
	case C_DEV_AVG: time_text(out, (double)r->device_total_ns / (double)r->count); break;
	case C_MEM: bytes_text(out, r->bytes[MEMORY_CPU]); break;
	case C_SELF_MEM: bytes_text(out, r->self_bytes[MEMORY_CPU]); break;
	case C_DEV_MEM: bytes_text(out, r->bytes[MEMORY_DEVICE]); break;
	case C_SELF_DEV_MEM: bytes_text(out, r->self_bytes[MEMORY_DEVICE]); break;
	case C_CALLS: snprintf(out, CELL_MAX, "%" PRIu64, r->count); break;
	case CELLS: break;
	}
}

static struct str shown_name(struct layout *l, struct str name)
{
	buf_reset(&l->text);
	keyavg_print_name(name.n > 0 ? name : STR("\"\""), &l->text);
	return buf_view(&l->text);
}

static size_t name_width(struct layout *l, const struct keyavg_table *kt)
{
	size_t widest = 0;

	for (size_t i = 0; i < kt->n; i++) {
		size_t n = width_of(shown_name(l, kt->v[i].name));

		widest = n > widest ? n : widest;
	}
	return widest + 4 < NAME_WIDTH_MAX ? widest + 4 : NAME_WIDTH_MAX;
}

static size_t shapes_width(const struct keyavg_table *kt)
{
	size_t widest = 0;

	for (size_t i = 0; i < kt->n; i++)
		widest = width_of(kt->v[i].dims) > widest ? width_of(kt->v[i].dims) : widest;
	return widest + 4 < SHAPES_WIDTH_MAX ? widest + 4 : SHAPES_WIDTH_MAX;
}

/* ---- narrow screens */

/* What a person misses least comes first. */
static const enum cells to_leave_out[] = { C_CPU_SHARE, C_CPU_AVG, C_DEV_AVG, C_SELF_CPU_SHARE, C_SELF_DEV_SHARE, C_MEM, C_DEV_MEM,
	C_CPU, C_DEV };

static size_t line_width(const struct layout *l)
{
	size_t sum = l->name_width + GAP + (l->shapes_width > 0 ? l->shapes_width + GAP : 0);

	for (int c = 0; c < CELLS; c++)
		sum += cell_shown(l, (enum cells)c) ? cell_width(l, (enum cells)c) + GAP : 0;
	return sum;
}

static size_t over(size_t n, size_t most)
{
	return n > most ? n - most : 0;
}

/* Takes from a width what the line has too much, but not below least. */
static void shrink(const struct layout *l, size_t *width, size_t least, size_t screen)
{
	size_t too_much = over(line_width(l), screen), spare = over(*width, least);

	*width -= too_much < spare ? too_much : spare;
}

static void layout_fit(struct layout *l, size_t screen)
{
	size_t name_width = l->name_width, spare = over(name_width, NAME_WIDTH_GOOD) + over(l->shapes_width, SHAPES_WIDTH_GOOD);

	for (size_t i = 0; i < COUNT(to_leave_out) && line_width(l) - spare > screen; i++) {
		l->n_left_out += cell_shown(l, to_leave_out[i]);
		l->left_out[to_leave_out[i]] = true;
	}
	shrink(l, &l->name_width, NAME_WIDTH_GOOD, screen);
	shrink(l, &l->shapes_width, SHAPES_WIDTH_MIN, screen);
	shrink(l, &l->name_width, NAME_WIDTH_MIN, screen);
	l->narrow = l->name_width < name_width;
}

static void layout_init(struct layout *l, const struct keyavg_table *kt, const char *device)
{
	*l = (struct layout){ 0 };
	buf_init(&l->text, 8 << 20);
	l->has_memory = kt->want & TRACE_MEMORY;
	for (size_t i = 0; i < kt->n; i++) {
		l->has_device |= kt->v[i].self_device_ns > 0;
		l->has_device_memory |= kt->v[i].self_bytes[MEMORY_DEVICE] > 0;
	}
	for (int c = 0; c < CELLS; c++) {
		struct str title = str_of(cells[c].title), before = str_upto(title, str_find_byte(title, '*'));

		snprintf(l->titles[c], CELL_MAX, "%.*s%s%s", STR_ARG(before), cells[c].of_device ? device : "",
			before.n < title.n ? title.p + before.n + 1 : "");
	}
	l->name_width = name_width(l, kt);
	l->shapes_width = kt->want & TRACE_SHAPES ? shapes_width(kt) : 0;
}

static void rule(struct buf *out, const struct layout *l)
{
	buf_fill(out, '-', l->name_width);
	buf_text(out, "  ");
	for (int c = 0; c < CELLS; c++) {
		if (!cell_shown(l, (enum cells)c))
			continue;
		buf_fill(out, '-', cell_width(l, (enum cells)c));
		buf_text(out, "  ");
	}
	if (l->shapes_width > 0) {
		buf_fill(out, '-', l->shapes_width);
		buf_text(out, "  ");
	}
	buf_byte(out, '\n');
}

static void head(struct buf *out, const struct layout *l)
{
	put(out, STR("Name"), l->name_width);
	for (int c = 0; c < CELLS; c++)
		if (cell_shown(l, (enum cells)c))
			put(out, str_of(l->titles[c]), cell_width(l, (enum cells)c));
	if (l->shapes_width > 0)
		put(out, STR("Input Shapes"), l->shapes_width);
	buf_byte(out, '\n');
}

static void line(struct buf *out, struct layout *l, const struct keyavg_table *kt, const struct keyavg_row *r)
{
	struct str name = shown_name(l, r->name);
	size_t room = l->narrow ? l->name_width - 3 : NAME_WIDTH_MAX - 3;

	if (l->narrow ? width_of(name) > l->name_width : width_of(name) >= room) {
		buf_trim(&l->text, width_upto(name, room).n);
		buf_text(&l->text, "...");
		name = buf_view(&l->text);
	}
	put(out, name, l->name_width);
	for (int c = 0; c < CELLS; c++) {
		char text[CELL_MAX] = "";

		if (!cell_shown(l, (enum cells)c))
			continue;
		cell_text(text, kt, r, (enum cells)c);
		put(out, str_of(text), cell_width(l, (enum cells)c));
	}
	if (l->shapes_width > 0)
		put(out, width_upto(shown_name(l, r->dims), l->shapes_width), l->shapes_width);
	buf_byte(out, '\n');
}

static void total(struct buf *out, const char *what, int64_t ns)
{
	char text[CELL_MAX];

	time_text(text, (double)ns);
	buf_fmt(out, "Self %s time total: %s\n", what, text);
}

void keyavg_print_table(const struct keyavg_table *kt, size_t limit, const char *device, size_t screen, struct buf *out)
{
	struct layout l;

	layout_init(&l, kt, device);
	if (screen > 0)
		layout_fit(&l, screen);
	rule(out, &l);
	head(out, &l);
	rule(out, &l);
	for (size_t i = 0; i < upto(kt, limit); i++)
		line(out, &l, kt, &kt->v[i]);
	rule(out, &l);
	total(out, "CPU", kt->self_cpu_ns);
	if (l.has_device)
		total(out, device, kt->self_device_ns);
	if (l.n_left_out > 0)
		buf_fmt(out, "(no room for %zu more column%s; to see all: trainspotter summarize ... | less -S)\n",
			l.n_left_out, l.n_left_out == 1 ? "" : "s");
	if (screen > 0 && upto(kt, limit) < kt->n)
		table_more(out, kt->n - upto(kt, limit), "row");
	buf_fini(&l.text);
}
