#include "cli/keyavg_print.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const keyavg_column_names[KEYAVG_COLUMNS + 1] = {
	[KEYAVG_NAME] = "name",
	[KEYAVG_IS_DEVICE] = "is_device",
	[KEYAVG_IS_USER_ANNOTATION] = "is_user_annotation",
	[KEYAVG_COUNT] = "count",
	[KEYAVG_SELF_CPU] = "self_cpu_ns",
	[KEYAVG_CPU_TOTAL] = "cpu_total_ns",
	[KEYAVG_SELF_DEVICE] = "self_device_ns",
	[KEYAVG_DEVICE_TOTAL] = "device_total_ns",
};

/* A column's number in a row; 0 for the name. */
static int64_t number(const struct keyavg_row *r, enum keyavg_column c)
{
	switch (c) {
	case KEYAVG_IS_DEVICE: return r->is_device;
	case KEYAVG_IS_USER_ANNOTATION: return r->is_user_annotation;
	case KEYAVG_COUNT: return (int64_t)r->count;
	case KEYAVG_SELF_CPU: return r->self_cpu_ns;
	case KEYAVG_CPU_TOTAL: return r->cpu_total_ns;
	case KEYAVG_SELF_DEVICE: return r->self_device_ns;
	case KEYAVG_DEVICE_TOTAL: return r->device_total_ns;
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
	return order != 0 ? order : (int)a->is_user_annotation - (int)b->is_user_annotation;
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct keyavg_row *a = pa, *b = pb;
	enum keyavg_column by = *(const enum keyavg_column *)arg;
	int64_t x = number(a, by), y = number(b, by);

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
static void add_name(struct buf *out, struct str name)
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
		else
			buf_byte(out, c);
	}
}

/* ---- tsv and JSON */
void keyavg_print_tsv(const struct keyavg_table *kt, size_t limit, struct buf *out)
{
	for (int c = 0; c < KEYAVG_COLUMNS; c++)
		buf_fmt(out, "%s%s", c == 0 ? "" : "\t", keyavg_column_names[c]);
	buf_byte(out, '\n');
	for (size_t i = 0; i < upto(kt, limit); i++) {
		add_name(out, kt->v[i].name);
		for (int c = KEYAVG_IS_DEVICE; c < KEYAVG_COLUMNS; c++)
			buf_fmt(out, "\t%" PRId64, number(&kt->v[i], (enum keyavg_column)c));
		buf_byte(out, '\n');
	}
}

void keyavg_print_json(const struct keyavg_table *kt, size_t limit, struct json_writer *w)
{
	jw_key_array(w, "rows");
	for (size_t i = 0; i < upto(kt, limit); i++) {
		const struct keyavg_row *r = &kt->v[i];

		jw_object(w);
		jw_key_str(w, keyavg_column_names[KEYAVG_NAME], r->name);
		jw_key_bool(w, keyavg_column_names[KEYAVG_IS_DEVICE], r->is_device);
		jw_key_bool(w, keyavg_column_names[KEYAVG_IS_USER_ANNOTATION], r->is_user_annotation);
		for (int c = KEYAVG_COUNT; c < KEYAVG_COLUMNS; c++)
			jw_key_i64(w, keyavg_column_names[c], number(r, (enum keyavg_column)c));
		jw_end(w);
	}
	jw_end(w);
}

/* ---- PyTorch's table: torch/autograd/profiler_util.py, _build_table with its defaults */
enum { NAME_WIDTH_MAX = 55, COLUMN_WIDTH = 12, CELL_MAX = 64 };

static size_t characters(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

/* The first n characters. */
static struct str first_characters(struct str s, size_t n)
{
	size_t i = 0;

	while (i < s.n && (n > 0 || ((unsigned char)s.p[i] & 0xc0) == 0x80)) {
		n -= ((unsigned char)s.p[i] & 0xc0) != 0x80;
		i++;
	}
	return str_upto(s, i);
}

static void cell(struct buf *out, struct str text, size_t width)
{
	size_t n = characters(text);

	buf_fill(out, ' ', n < width ? width - n : 0);
	buf_str(out, text);
	buf_text(out, "  ");
}

static void time_cell(struct buf *out, double ns)
{
	char text[CELL_MAX];

	if (ns >= 1e9)
		snprintf(text, sizeof(text), "%.3fs", ns / 1e9);
	else if (ns >= 1e6)
		snprintf(text, sizeof(text), "%.3fms", ns / 1e6);
	else
		snprintf(text, sizeof(text), "%.3fus", ns / 1e3);
	cell(out, str_of(text), COLUMN_WIDTH);
}

static void share_cell(struct buf *out, int64_t ns, int64_t of_ns)
{
	char text[CELL_MAX] = "NaN";

	if (of_ns != 0)
		snprintf(text, sizeof(text), "%.2f%%", (double)ns * 100.0 / (double)of_ns);
	cell(out, str_of(text), COLUMN_WIDTH);
}

struct layout {
	size_t name_width;
	bool has_device;
	const char *device;
	struct buf text; /* a name on its way */
};

static struct str shown_name(struct layout *l, struct str name)
{
	buf_reset(&l->text);
	add_name(&l->text, name.n > 0 ? name : STR("\"\""));
	return buf_view(&l->text);
}

static size_t name_width(struct layout *l, const struct keyavg_table *kt)
{
	size_t widest = 0;

	for (size_t i = 0; i < kt->n; i++) {
		size_t n = characters(shown_name(l, kt->v[i].name));

		widest = n > widest ? n : widest;
	}
	return widest + 4 < NAME_WIDTH_MAX ? widest + 4 : NAME_WIDTH_MAX;
}

static void rule(struct buf *out, const struct layout *l)
{
	size_t columns = l->has_device ? 10 : 6;

	buf_fill(out, '-', l->name_width);
	buf_text(out, "  ");
	for (size_t i = 0; i < columns; i++)
		buf_text(out, "------------  ");
	buf_byte(out, '\n');
}

static void head(struct buf *out, const struct layout *l)
{
	static const char *const cpu[] = { "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg" };
	static const struct {
		const char *before, *behind;
	} device[] = { { "Self ", "" }, { "Self ", " %" }, { "", " total" }, { "", " time avg" } };

	cell(out, STR("Name"), l->name_width);
	for (size_t i = 0; i < COUNT(cpu); i++)
		cell(out, str_of(cpu[i]), COLUMN_WIDTH);
	for (size_t i = 0; l->has_device && i < COUNT(device); i++) {
		char text[CELL_MAX];

		snprintf(text, sizeof(text), "%s%s%s", device[i].before, l->device, device[i].behind);
		cell(out, str_of(text), COLUMN_WIDTH);
	}
	cell(out, STR("# of Calls"), COLUMN_WIDTH);
	buf_byte(out, '\n');
}

static void line(struct buf *out, struct layout *l, const struct keyavg_table *kt, const struct keyavg_row *r)
{
	struct str name = shown_name(l, r->name);
	char calls[CELL_MAX];

	if (characters(name) >= NAME_WIDTH_MAX - 3) {
		buf_trim(&l->text, first_characters(name, NAME_WIDTH_MAX - 3).n);
		buf_text(&l->text, "...");
		name = buf_view(&l->text);
	}
	snprintf(calls, sizeof(calls), "%" PRIu64, r->count);
	cell(out, name, l->name_width);
	share_cell(out, r->self_cpu_ns, kt->self_cpu_ns);
	time_cell(out, (double)r->self_cpu_ns);
	share_cell(out, r->cpu_total_ns, kt->self_cpu_ns);
	time_cell(out, (double)r->cpu_total_ns);
	time_cell(out, (double)r->cpu_total_ns / (double)r->count);
	if (l->has_device) {
		time_cell(out, (double)r->self_device_ns);
		share_cell(out, r->self_device_ns, kt->self_device_ns);
		time_cell(out, (double)r->device_total_ns);
		time_cell(out, (double)r->device_total_ns / (double)r->count);
	}
	cell(out, str_of(calls), COLUMN_WIDTH);
	buf_byte(out, '\n');
}

static void total(struct buf *out, const char *what, int64_t ns)
{
	struct buf text;

	buf_init(&text, 256);
	time_cell(&text, (double)ns);
	buf_fmt(out, "Self %s time total: %.*s\n", what, STR_ARG(str_trim(buf_view(&text))));
	buf_fini(&text);
}

void keyavg_print_table(const struct keyavg_table *kt, size_t limit, const char *device, struct buf *out)
{
	struct layout l = { .device = device };

	for (size_t i = 0; i < kt->n; i++)
		l.has_device |= kt->v[i].self_device_ns > 0;
	buf_init(&l.text, 8 << 20);
	l.name_width = name_width(&l, kt);
	rule(out, &l);
	head(out, &l);
	rule(out, &l);
	for (size_t i = 0; i < upto(kt, limit); i++)
		line(out, &l, kt, &kt->v[i]);
	rule(out, &l);
	total(out, "CPU", kt->self_cpu_ns);
	if (l.has_device)
		total(out, device, kt->self_device_ns);
	buf_fini(&l.text);
}
