#include "detect/side.h"

#include <stdlib.h>

#include "base/mem.h"
#include "profile/sum.h"

enum {
	SIDE_BYTES_MAX = 256 << 20,
	SIDE_OPS_MAX = 400000,
	SIDE_WINDOWS_MAX = 200000,
	SIDE_CELLS_MAX = 10000000,
	SIDE_FRAMES_MAX = 10000,
};

VEC(frames, struct str);

struct side *side_new(const struct fusion_table *t)
{
	struct side *s = mem_get(sizeof(*s));

	s->fusion = t;
	arena_init(&s->arena, SIDE_BYTES_MAX);
	map_init(&s->raw, SIDE_OPS_MAX);
	map_init(&s->keys, SIDE_OPS_MAX);
	s->ops.cap = SIDE_OPS_MAX;
	s->windows.cap = SIDE_WINDOWS_MAX;
	return s;
}

void side_free(struct side *s)
{
	if (s == NULL)
		return;
	vec_each(op, &s->ops) {
		vec_fini(&op->cells);
		for (size_t i = 0; i < OP_BASES; i++)
			hist_fini(&op->hist[i]);
	}
	for (size_t i = 0; i < SIDE_STEPS_KINDS; i++)
		hist_fini(&s->step_hist[i]);
	vec_fini(&s->ops);
	vec_fini(&s->windows);
	map_fini(&s->raw);
	map_fini(&s->keys);
	arena_fini(&s->arena);
	mem_free(s);
}

size_t side_windows(const struct side *s)
{
	return s->n_seen;
}

uint64_t side_steps(const struct side *s)
{
	return s->steps;
}

static int full(struct err *e)
{
	return err_set(e, E_LIMIT, "too many windows or ops to compare at once");
}

/* ---- which op a row belongs to */

static bool is_memory(enum op_kind kind)
{
	return kind == OP_MEMCPY || kind == OP_MEMSET;
}

static bool is_region(enum name_class c)
{
	return c == NAME_REGION_OUTER || c == NAME_REGION_FUNCTION || c == NAME_REGION_INNER || c == NAME_MODULE;
}

/* Kinds that are no ops of the model, whatever their name; compiled code is taken under any kind. */
static bool is_beside(enum op_kind kind)
{
	return kind == OP_STEP || kind == OP_GAP || kind == OP_ANNOTATION || kind == OP_RUNTIME || kind == OP_OVERHEAD ||
	       kind == OP_ENGINE;
}

/* A class of its own and a key of its own make an op: aten::stack (a wrapper) is not another runtime's Stack. */
static struct side_op *op_of_name(struct side *s, const struct name *name, struct str shown, uint32_t *index)
{
	struct str key = arena_fmt(&s->arena, "%d %.*s", (int)name->class, STR_ARG(name->key));
	bool is_new = false;
	uint32_t *at = map_put(&s->keys, key, (uint32_t)s->ops.n, &is_new);
	struct side_op *op = NULL;

	if (at == NULL || arena_full(&s->arena))
		return NULL;
	*index = *at;
	if (!is_new) {
		op = &s->ops.v[*at];
		if (str_cmp(shown, op->shown) < 0)
			op->shown = shown;
		return op;
	}
	op = vec_push(&s->ops);
	if (op == NULL)
		return NULL;
	op->name = *name;
	op->shown = shown;
	op->cells.cap = SIDE_WINDOWS_MAX;
	return op;
}

static struct side_op *op_of(struct side *s, const struct op_summary *row)
{
	const uint32_t *known;
	struct str raw = row->name;
	struct name name;
	uint32_t index = 0, *at;
	struct side_op *op;

	str_drop_suffix(&raw, STR("@cpu"));
	known = map_get(&s->raw, raw);
	if (known != NULL)
		return &s->ops.v[*known];
	raw = arena_str(&s->arena, raw);
	name_read(s->fusion, raw, &s->arena, &name);
	if (is_memory(row->kind))
		name.class = NAME_QUIET;
	op = op_of_name(s, &name, raw, &index);
	at = op == NULL ? NULL : map_put(&s->raw, raw, index, NULL);
	return at == NULL ? NULL : op;
}

/* The op's cell of the window that is being added. */
static struct side_cell *cell_of(struct side *s, struct side_op *op)
{
	uint32_t window = (uint32_t)(s->windows.n - 1);
	struct side_cell *cell = op->cells.n == 0 ? NULL : &op->cells.v[op->cells.n - 1];

	if (cell != NULL && cell->window == window)
		return cell;
	if (++s->n_cells > SIDE_CELLS_MAX)
		return NULL;
	cell = vec_push(&op->cells);
	if (cell != NULL)
		cell->window = window;
	return cell;
}

/* ---- one row */

static void add_singles(struct side_op *op, const struct op_summary *row)
{
	if (row->basis != OP_BASIS_NONE && !hist_empty(&row->hist))
		hist_merge(&op->hist[row->basis], &row->hist);
}

static void add_device_row(struct side_op *op, struct side_cell *cell, const struct op_summary *row)
{
	cell->device_calls += (double)row->orphan_calls;
	cell->device_ns += (double)row->orphan_ns;
	if (row->orphan_calls == row->calls)
		add_singles(op, row);
}

/* An op that launched nothing, and nothing below it did, was placed on the host: said by its name, or, of work that
 * PyTorch does itself, seen from its time. */
static bool ran_on_cpu(const struct side_op *op, const struct op_summary *row)
{
	if (row->device_total_ns != 0 || row->device_self_ns != 0)
		return false;
	if (str_has_suffix(row->name, STR("@cpu")))
		return true;
	return op->name.aten && op->name.class == NAME_WORK && row->cpu_self_ns > 0;
}

static void add_host_row(struct side_op *op, struct side_cell *cell, const struct op_summary *row, bool has_device)
{
	double calls = (double)row->calls, cpu_ns = (double)row->cpu_self_ns;
	bool no_times = row->device_total_ns == 0 && row->device_self_ns == 0 && row->cpu_self_ns == 0;

	cell->host_calls += calls;
	cell->host_ns += cpu_ns;
	if (has_device && ran_on_cpu(op, row)) {
		cell->cpu_calls += calls;
		cell->cpu_ns += cpu_ns;
		return;
	}
	if (row->device_self_ns > 0 || no_times || is_region(op->name.class)) {
		cell->device_calls += calls;
		cell->device_ns += (double)(op->name.has_rows ? row->device_total_ns : row->device_self_ns);
	}
	add_singles(op, row);
}

static int add_row(struct side *s, const struct op_summary *row, bool has_device, struct err *e)
{
	struct side_op *op = op_of(s, row);
	struct side_cell *cell;

	if (op == NULL)
		return full(e);
	if (op->name.class == NAME_BOOKKEEPING || (is_beside(row->kind) && !is_region(op->name.class)))
		return OK;
	cell = cell_of(s, op);
	if (cell == NULL)
		return full(e);
	if (op_is_device(row))
		add_device_row(op, cell, row);
	else
		add_host_row(op, cell, row, has_device);
	return OK;
}

/* ---- one window */

static void add_step(struct side *s, struct side_window *win, const struct op_summary *row)
{
	if (row->calls == 0)
		return;
	win->step_ns = (double)row->cpu_total_ns / (double)row->calls;
	hist_merge(&s->step_hist[SIDE_STEPS_ALL], &row->hist);
	if (win->has_device)
		hist_merge(&s->step_hist[SIDE_STEPS_DEVICE], &row->hist);
}

static void add_gap(struct side_window *win, const struct op_summary *row)
{
	int64_t ns = row->device_total_ns != 0 ? row->device_total_ns : row->cpu_total_ns;

	win->has_gap = true;
	win->gap_ns += (double)ns;
}

static void add_beside(struct side *s, struct side_window *win, const struct op_summary *row)
{
	if (row->kind == OP_STEP)
		add_step(s, win, row);
	else if (row->kind == OP_GAP && str_eq(row->name, STR("device")))
		add_gap(win, row);
	else if (row->kind == OP_MEMCPY)
		win->memcpys += (double)row->calls;
}

static int cmp_str(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Frames among the names of region rows, or what the window's gauge says where names are normalised. */
static double count_frames(const struct window *w)
{
	const struct gauge *gauge = window_gauge(w, STR("region_frames"));
	struct frames seen = VEC_INIT(SIDE_FRAMES_MAX);
	double n = 0;

	for (size_t i = 0; i < w->n_ops; i++) {
		struct str frame = name_frame(w->ops[i].name), *place;

		if (str_empty(frame) || w->ops[i].calls == 0)
			continue;
		place = vec_push(&seen);
		if (place != NULL)
			*place = frame;
	}
	if (seen.n > 1)
		qsort(seen.v, seen.n, sizeof(*seen.v), cmp_str);
	for (size_t i = 0; i < seen.n; i++)
		n += i == 0 || !str_eq(seen.v[i], seen.v[i - 1]);
	vec_fini(&seen);
	return gauge != NULL && gauge->value > n ? gauge->value : n;
}

int side_add(struct side *s, const struct window *w, struct err *e)
{
	struct side_window *win;
	int rc = OK;

	s->n_seen++;
	if (w->n_ops == 0)
		return OK;
	win = vec_push(&s->windows);
	if (win == NULL)
		return full(e);
	win->has_device = w->has_device;
	win->steps = (double)w->steps;
	win->frames = count_frames(w);
	s->steps = sum_counts(s->steps, w->steps);
	s->has_device |= w->has_device;
	for (size_t i = 0; rc == OK && i < w->n_ops; i++) {
		add_beside(s, win, &w->ops[i]);
		if (w->ops[i].kind != OP_STEP && w->ops[i].kind != OP_GAP)
			rc = add_row(s, &w->ops[i], w->has_device, e);
	}
	return rc;
}
