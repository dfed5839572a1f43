#include "cli/ranks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/table.h"
#include "cli/width.h"
#include "trace/normalise.h"

enum { BYTES_MAX = 1 << 30, FILES_MAX = 100000, LABEL = 128, LABEL_SHOWN = 20, NAME_SHOWN = 48 };
#define NOTABLE 1.05 /* of the median */

/* Rows that stand above the ops. */
enum head { HEAD_STEP, HEAD_COMPUTE, HEAD_COLLECTIVES, HEAD_CPU, HEADS };
static const char *const head_names[] = {
	[HEAD_STEP] = "(step, on average)",
	[HEAD_COMPUTE] = "(device, without collectives)",
	[HEAD_COLLECTIVES] = "(device, collectives)",
	[HEAD_CPU] = "(self CPU)",
};
_Static_assert(COUNT(head_names) == HEADS, "name every head row");

struct file {
	char label[LABEL];
	struct str name;
	int64_t rank;
	int64_t heads[HEADS];
};

struct cell { /* an op of a file */
	uint32_t op, file;
	int64_t values[KEYAVG_COLUMNS];
};

VEC(files, struct file);
VEC(cells, struct cell);

struct ranks {
	struct arena arena;
	struct intern ops; /* a letter for the row's flags, then the name */
	struct files files;
	struct cells cells;
	uint32_t order[RANKS_SHOWN]; /* of the columns, where there is one for each file */
	bool each; /* file has its column */
	bool full;
};

struct ranks *ranks_new(void)
{
	struct ranks *r = mem_get(sizeof(*r));

	arena_init(&r->arena, BYTES_MAX);
	intern_init(&r->ops, &r->arena, UINT32_MAX - 1);
	r->files.cap = FILES_MAX;
	r->cells.cap = BYTES_MAX / sizeof(struct cell);
	return r;
}

void ranks_free(struct ranks *r)
{
	if (r == NULL)
		return;
	intern_fini(&r->ops);
	arena_fini(&r->arena);
	vec_fini(&r->files);
	vec_fini(&r->cells);
	mem_free(r);
}

/* ---- adding */
static void add_heads(struct file *f, const struct keyavg_row *row)
{
	if (!row->is_device && row->is_user_annotation && str_eq(row->name, STR("ProfilerStep*")) && row->count > 0)
		f->heads[HEAD_STEP] = row->cpu_total_ns / (int64_t)row->count;
	f->heads[HEAD_CPU] = ns_add(f->heads[HEAD_CPU], row->self_cpu_ns);
	if (row->is_device && !row->is_user_annotation) {
		int64_t *sum = &f->heads[name_is_collective(row->name) ? HEAD_COLLECTIVES : HEAD_COMPUTE];

		*sum = ns_add(*sum, row->self_device_ns);
	}
}

static void add_cell(struct ranks *r, const struct keyavg_row *row, struct buf *key)
{
	struct cell *c;
	uint32_t op;

	buf_reset(key);
	buf_byte(key, 'a' + row->is_device + 2 * row->is_user_annotation);
	buf_str(key, row->name);
	op = intern_id(&r->ops, buf_view(key));
	c = op == INTERN_NONE ? NULL : vec_push(&r->cells);
	if (c == NULL) {
		r->full = true;
		return;
	}
	c->op = op;
	c->file = (uint32_t)r->files.n - 1;
	for (int i = KEYAVG_IS_DEVICE; i < KEYAVG_COLUMNS; i++)
		c->values[i] = keyavg_number(row, (enum keyavg_column)i);
}

/* What tells files apart mostly stands at the start of their own name. */
static void make_label(struct file *f, int64_t rank, const char *name)
{
	struct str rest = str_of(name), part = rest;

	if (rank >= 0) {
		snprintf(f->label, LABEL, "rank %" PRId64, rank);
		return;
	}
	while (rest.p != NULL)
		part = str_split(&rest, '/');
	part = width_upto(str_upto(part, str_find_byte(part, '.')), 16);
	if (!str_copy_to(part, f->label, LABEL))
		snprintf(f->label, LABEL, "file");
}

void ranks_add(struct ranks *r, const struct keyavg_table *kt, int64_t rank, const char *file)
{
	struct file *f = vec_push(&r->files);
	struct buf key;

	if (f == NULL) {
		r->full = true;
		return;
	}
	make_label(f, rank, file);
	f->name = arena_text(&r->arena, file);
	f->rank = rank;
	buf_init(&key, 8 << 20);
	for (size_t i = 0; i < kt->n; i++) {
		add_heads(f, &kt->v[i]);
		add_cell(r, &kt->v[i], &key);
	}
	buf_fini(&key);
}

/* ---- labels that several files have */

static int compare_labels(const void *pa, const void *pb, void *arg)
{
	const struct file *files = arg;

	return strcmp(files[*(const size_t *)pa].label, files[*(const size_t *)pb].label);
}

static bool has_twins(const struct ranks *r)
{
	size_t *order = mem_get_array(r->files.n, sizeof(*order));
	bool any = false;

	for (size_t i = 0; i < r->files.n; i++)
		order[i] = i;
	qsort_r(order, r->files.n, sizeof(*order), compare_labels, r->files.v);
	for (size_t i = 1; i < r->files.n && !any; i++)
		any = compare_labels(&order[i - 1], &order[i], r->files.v) == 0;
	mem_free(order);
	return any;
}

static bool parts_names(char c)
{
	return c == '/' || c == '.' || c == ':';
}

/* How many bytes all names begin or, mirrored, end with, up to where one of their parts does. */
static size_t common_bytes(const struct ranks *r, bool mirrored)
{
	struct str first = r->files.v[0].name;
	size_t same = first.n, whole = 0;

	vec_each(f, &r->files) {
		size_t n = 0;

		while (n < same && n < f->name.n &&
			(mirrored ? f->name.p[f->name.n - 1 - n] == first.p[first.n - 1 - n] : f->name.p[n] == first.p[n]))
			n++;
		same = n;
	}
	for (size_t i = 0; i < same; i++)
		whole = parts_names(mirrored ? first.p[first.n - 1 - i] : first.p[i]) ? i + 1 : whole;
	return whole;
}

/* By what is different in their names. */
static void label_by_names(struct ranks *r)
{
	size_t before = common_bytes(r, false), behind = common_bytes(r, true);

	vec_each(f, &r->files) {
		size_t n = f->name.n > before + behind ? f->name.n - before - behind : 0;
		struct str part = width_ending(str_upto(str_from(f->name, before), n), LABEL_SHOWN);

		part = str_from(part, part.n > LABEL / 2 ? part.n - LABEL / 2 : 0);
		if (f->rank >= 0)
			snprintf(f->label, LABEL, "rank %" PRId64 " %.*s", f->rank, STR_ARG(part));
		else
			snprintf(f->label, LABEL, "%.*s", STR_ARG(part));
	}
}

static void number_labels(struct ranks *r)
{
	size_t at = 0;

	vec_each(f, &r->files) {
		size_t n = strlen(f->label);

		snprintf(f->label + n, LABEL - n, "%s#%zu", n > 0 ? " " : "", ++at);
	}
}

static void tell_apart(struct ranks *r)
{
	if (has_twins(r))
		label_by_names(r);
	if (has_twins(r)) /* one file several times */
		number_labels(r);
}

/* ---- the largest ops */
struct top {
	uint32_t op;
	int64_t most;
};

static int compare_tops(const void *pa, const void *pb)
{
	const struct top *a = pa, *b = pb;

	if (a->most != b->most)
		return a->most > b->most ? -1 : 1;
	return a->op < b->op ? -1 : a->op > b->op;
}

static int64_t *matrix_of(const struct ranks *r, enum keyavg_column by)
{
	size_t n = intern_count(&r->ops) * r->files.n, bytes = (n + 1) * sizeof(int64_t);
	int64_t *m = mem_try(bytes);

	if (m == NULL)
		return NULL;
	memset(m, 0, bytes);
	vec_each(c, &r->cells)
		m[c->op * r->files.n + c->file] = ns_add(m[c->op * r->files.n + c->file], c->values[by]);
	return m;
}

static struct top *tops_of(const struct ranks *r, const int64_t *m)
{
	size_t n = intern_count(&r->ops);
	struct top *tops = mem_try((n + 1) * sizeof(*tops));

	for (uint32_t i = 0; tops != NULL && i < n; i++) {
		tops[i] = (struct top){ i, 0 };
		for (size_t k = 0; k < r->files.n; k++)
			if (m[i * r->files.n + k] > tops[i].most)
				tops[i].most = m[i * r->files.n + k];
	}
	if (tops != NULL && n > 0)
		qsort(tops, n, sizeof(*tops), compare_tops);
	return tops;
}

/* ---- rows */
static int compare_values(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return a < b ? -1 : a > b;
}

struct spread {
	int64_t least, median, most;
	size_t most_at;
	bool notable;
};

static struct spread spread_of(const int64_t *v, size_t n)
{
	int64_t *sorted = mem_dup(v, n * sizeof(*v));
	struct spread s = { 0 };

	qsort(sorted, n, sizeof(*sorted), compare_values);
	s.least = sorted[0];
	s.median = sorted[(n - 1) / 2];
	s.most = sorted[n - 1];
	for (size_t i = n; i-- > 0;)
		if (v[i] == s.most)
			s.most_at = i;
	s.notable = n > 1 && (double)s.most > NOTABLE * (double)s.median;
	mem_free(sorted);
	return s;
}

static void value_cell(struct table *t, int64_t v, bool time, bool mark)
{
	char text[CLOCK_TEXT], number[CLOCK_TEXT + 8];
	struct str s = clock_human(v, text);

	if (!time)
		s = str_make(number, (size_t)snprintf(number, sizeof(number), "%" PRId64, v));
	table_cell_fmt(t, mark ? PAINT_BAD : PAINT_NONE, "%s%.*s", mark ? "* " : "", STR_ARG(s));
}

static void row(struct table *t, const struct ranks *r, struct str name, const int64_t *v, bool time)
{
	struct spread s = spread_of(v, r->files.n);

	table_cell(t, name, PAINT_NONE);
	for (size_t i = 0; r->each && i < r->files.n; i++)
		value_cell(t, v[r->order[i]], time, s.notable && r->order[i] == s.most_at);
	if (!r->each) {
		value_cell(t, s.least, time, false);
		value_cell(t, s.median, time, false);
		value_cell(t, s.most, time, s.notable);
		table_cell(t, str_of(r->files.v[s.most_at].label), PAINT_NONE);
	}
	if (s.median > 0)
		table_cell_fmt(t, PAINT_DIM, "%+.0f %%", 100.0 * ((double)s.most / (double)s.median - 1));
	else
		table_cell(t, STR("-"), PAINT_DIM);
}

static void head_rows(struct table *t, const struct ranks *r)
{
	int64_t *v = mem_get_array(r->files.n, sizeof(*v));

	for (int h = 0; h < HEADS; h++) {
		bool any = false;

		for (size_t i = 0; i < r->files.n; i++) {
			v[i] = r->files.v[i].heads[h];
			any |= v[i] > 0;
		}
		if (any)
			row(t, r, str_of(head_names[h]), v, true);
	}
	mem_free(v);
}

/* ---- the table */

/* By rank; files that do not say theirs stay in the order given. */
static void put_in_order(struct ranks *r)
{
	for (uint32_t i = 0; r->files.n <= RANKS_SHOWN && i < r->files.n; i++) {
		uint32_t at = i;

		for (; at > 0 && r->files.v[r->order[at - 1]].rank > r->files.v[i].rank; at--)
			r->order[at] = r->order[at - 1];
		r->order[at] = i;
	}
}

static const char *const of_many[] = { "least", "median", "most", "who" };

static struct table_column *columns_of(const struct ranks *r, size_t *n)
{
	struct table_column *c = mem_get_array(RANKS_SHOWN + 3, sizeof(*c));

	*n = 0;
	c[(*n)++] = (struct table_column){ "", TABLE_LEFT, NAME_SHOWN };
	for (size_t i = 0; r->each && i < r->files.n; i++)
		c[(*n)++] = (struct table_column){ r->files.v[r->order[i]].label, TABLE_RIGHT, 0 };
	for (size_t i = 0; !r->each && i < COUNT(of_many); i++)
		c[(*n)++] = (struct table_column){ of_many[i], i == 3 ? TABLE_LEFT : TABLE_RIGHT, 0 };
	c[(*n)++] = (struct table_column){ "over median", TABLE_RIGHT, 0 };
	return c;
}

static void tell_slowest(const struct ranks *r, bool device, struct buf *out)
{
	enum head h = device ? HEAD_COMPUTE : HEAD_CPU;
	int64_t *v = mem_get_array(r->files.n, sizeof(*v));
	char text[CLOCK_TEXT];
	struct spread s;

	for (size_t i = 0; i < r->files.n; i++)
		v[i] = r->files.v[i].heads[h];
	s = spread_of(v, r->files.n);
	buf_text(out, "*  the most of its row, where that is more than 5 % over the median\n");
	buf_fmt(out, s.notable ? "slowest: %s, " : "none stands out: %s has most, ", r->files.v[s.most_at].label);
	buf_add(out, text, cli_signs(text, clock_human(s.most, text).n, text));
	buf_fmt(out, " of %s", device ? "device time without collectives (in theirs the others wait for it)" : "self CPU time");
	if (s.median > 0)
		buf_fmt(out, ", %.1f %% over the median", 100.0 * ((double)s.most / (double)s.median - 1));
	buf_byte(out, '\n');
	mem_free(v);
}

static bool has_device(const struct ranks *r)
{
	bool any = false;

	vec_each(f, &r->files)
		any |= f->heads[HEAD_COMPUTE] > 0 || f->heads[HEAD_COLLECTIVES] > 0;
	return any;
}

/* What is printed, and how. */
struct page {
	const struct top *tops;
	const int64_t *matrix;
	bool time, colour;
	size_t limit, screen;
};

/* False, and nothing printed, where the screen is too narrow and the columns of so many files are fewer. */
static bool print_table(const struct ranks *r, const struct page *p, struct buf *out)
{
	size_t n_columns, shown = 0, n_ops = intern_count(&r->ops);
	struct table_column *columns = columns_of(r, &n_columns);
	struct table *t = table_new(columns, n_columns);
	bool good;

	head_rows(t, r);
	for (size_t i = 0; i < n_ops && shown < p->limit && p->tops[i].most > 0; i++, shown++)
		row(t, r, str_from(intern_name(&r->ops, p->tops[i].op), 1), p->matrix + p->tops[i].op * r->files.n, p->time);
	good = !r->each || r->files.n <= COUNT(of_many) || table_fits(t, p->screen);
	if (good)
		table_print_to(t, out, p->colour, p->screen);
	table_free(t);
	mem_free(columns);
	return good;
}

static void print(struct ranks *r, const struct page *p, struct buf *out)
{
	r->each = r->files.n <= RANKS_SHOWN;
	if (!print_table(r, p, out)) {
		r->each = false;
		(void)print_table(r, p, out);
	}
	tell_slowest(r, has_device(r), out);
}

int ranks_print(struct ranks *r, enum keyavg_column by, size_t limit, bool colour, size_t screen, struct buf *out,
	struct err *e)
{
	struct top *tops = NULL;
	int64_t *m;
	int rc = OK;

	if (by == KEYAVG_COLUMNS || by == KEYAVG_NAME)
		by = has_device(r) ? KEYAVG_SELF_DEVICE : KEYAVG_SELF_CPU;
	if (r->files.n == 0)
		return OK;
	tell_apart(r);
	put_in_order(r);
	m = matrix_of(r, by);
	tops = m == NULL ? NULL : tops_of(r, m);
	if (tops == NULL || r->full)
		rc = err_set(e, E_NOMEM, "no memory for the rows of %zu files", r->files.n);
	else
		print(r, &(struct page){ tops, m, by >= KEYAVG_SELF_CPU && by <= KEYAVG_DEVICE_TOTAL, colour, limit, screen }, out);
	mem_free(m);
	mem_free(tops);
	return rc;
}
