#include "trace/draft.h"

#include <math.h>
#include <stdlib.h>

#include "json/text.h"
#include "trace/normalise.h"

enum { KEY_BYTES_MAX = 4 << 20, KEYS_BYTES_MAX = 256 << 20, OTHERS = OP_KINDS };

void draft_init(struct draft *d, struct arena *a)
{
	*d = (struct draft){
		.arena = a,
		.ops = VEC_INIT(WINDOW_OPS_MAX),
		.gauges = VEC_INIT(WINDOW_GAUGES_MAX),
		.n_values = VEC_INIT(WINDOW_GAUGES_MAX),
		.labels = VEC_INIT(WINDOW_LABELS_MAX),
		.versions = VEC_INIT(WINDOW_LABELS_MAX),
	};
	arena_init(&d->keys, KEYS_BYTES_MAX);
	intern_init(&d->op_keys, &d->keys, WINDOW_OPS_MAX);
	intern_init(&d->gauge_keys, &d->keys, WINDOW_GAUGES_MAX);
	buf_init(&d->key, KEY_BYTES_MAX);
	buf_init(&d->name, KEY_BYTES_MAX);
}

void draft_fini(struct draft *d)
{
	vec_each(op, &d->ops)
		op_summary_fini(op);
	vec_fini(&d->ops);
	vec_fini(&d->gauges);
	vec_fini(&d->n_values);
	vec_fini(&d->labels);
	vec_fini(&d->versions);
	intern_fini(&d->op_keys);
	intern_fini(&d->gauge_keys);
	buf_fini(&d->key);
	buf_fini(&d->name);
	arena_fini(&d->keys);
}

/* At most max bytes, cut where a character starts. */
static struct str cut(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	while (max > 0 && ((unsigned char)s.p[max] & 0xc0) == 0x80)
		max--;
	return str_upto(s, max);
}

/* A copy as a window may hold it: a NUL, which it may not, becomes a space. */
static struct str own_text(struct draft *d, struct str s, size_t max)
{
	char *copy;

	s = cut(s, max);
	copy = arena_get(d->arena, s.n + 1);
	if (copy == NULL)
		return str_make("", 0);
	for (size_t i = 0; i < s.n; i++)
		copy[i] = s.p[i] == '\0' ? ' ' : s.p[i];
	return str_make(copy, s.n);
}

struct str draft_text(struct draft *d, struct str s)
{
	return own_text(d, s, WINDOW_TEXT_MAX);
}

/* ---- ops */

struct op_summary *draft_op_exact(struct draft *d, enum op_kind kind, struct str name)
{
	struct op_summary *op;
	uint32_t id;

	if (d->full) /* names and their ops may be out of step */
		return NULL;
	if (intern_count(&d->op_keys) >= WINDOW_OPS_MAX - OTHERS)
		name = STR("*");
	buf_reset(&d->key);
	buf_byte(&d->key, 'A' + (int)kind);
	buf_str(&d->key, cut(name, WINDOW_NAME_MAX));
	id = d->key.rc == OK ? intern_id(&d->op_keys, buf_view(&d->key)) : INTERN_NONE;
	if (id < d->ops.n)
		return &d->ops.v[id];
	op = id == INTERN_NONE ? NULL : vec_push(&d->ops);
	if (op == NULL) {
		d->full = true;
		return NULL;
	}
	op->kind = kind;
	op->name = str_from(intern_name(&d->op_keys, id), 1);
	hist_init(&op->hist);
	return op;
}

struct op_summary *draft_op(struct draft *d, enum op_kind kind, struct str name)
{
	name = normalise_name(name, WINDOW_NAME_MAX, &d->name);
	if (d->name.rc == OK)
		return draft_op_exact(d, kind, name);
	d->full = true;
	return NULL;
}

static void add_ns(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

void draft_value(struct op_summary *op, int64_t ns, enum op_basis basis)
{
	if (op == NULL)
		return;
	if (op->calls == 0 || ns < op->min_ns)
		op->min_ns = ns;
	if (op->calls == 0 || ns > op->max_ns)
		op->max_ns = ns;
	op->basis = basis;
	op->calls++;
	hist_add(&op->hist, ns);
}

void draft_device(struct op_summary *op, int64_t ns, bool orphan)
{
	if (op == NULL)
		return;
	draft_value(op, ns, OP_BASIS_DEVICE);
	add_ns(&op->device_total_ns, ns);
	add_ns(&op->device_self_ns, ns);
	if (!orphan)
		return;
	op->orphan_calls++;
	add_ns(&op->orphan_ns, ns);
}

void draft_sum(struct op_summary *op, uint64_t calls, int64_t device_ns)
{
	if (op == NULL)
		return;
	if (__builtin_add_overflow(op->calls, calls, &op->calls))
		op->calls = UINT64_MAX;
	add_ns(&op->device_total_ns, device_ns);
	add_ns(&op->device_self_ns, device_ns);
}

/* ---- gauges */

static struct label *copy_labels(struct draft *d, const struct label *labels, size_t n)
{
	struct label *copy = n == 0 ? NULL : arena_get_array(d->arena, n, sizeof(*copy));

	for (size_t i = 0; copy != NULL && i < n; i++)
		copy[i] = (struct label){
			draft_text(d, labels[i].key),
			draft_text(d, labels[i].value),
		};
	return copy;
}

static void fold(struct gauge *g, uint64_t *n_values, enum draft_fold how, double value)
{
	++*n_values;
	switch (how) {
	case DRAFT_LAST: g->value = value; break;
	case DRAFT_SUM: g->value += value; break;
	case DRAFT_MEAN: g->value += (value - g->value) / (double)*n_values; break;
	case DRAFT_MAX: g->value = *n_values == 1 || value > g->value ? value : g->value; break;
	case DRAFT_MIN: g->value = *n_values == 1 || value < g->value ? value : g->value; break;
	case DRAFT_FOLDS: break;
	}
}

static uint32_t gauge_key(struct draft *d, struct str name, const struct label *labels, size_t n)
{
	buf_reset(&d->key);
	buf_str(&d->key, name);
	for (size_t i = 0; i < n; i++) {
		buf_byte(&d->key, '\0');
		buf_str(&d->key, labels[i].key);
		buf_byte(&d->key, '\0');
		buf_str(&d->key, labels[i].value);
	}
	return d->key.rc == OK ? intern_id(&d->gauge_keys, buf_view(&d->key)) : INTERN_NONE;
}

static bool new_gauge(struct draft *d, struct str name, struct str unit, const struct label *labels, size_t n)
{
	struct gauge *g = vec_push(&d->gauges);

	if (g == NULL || vec_push(&d->n_values) == NULL)
		return false;
	g->name = own_text(d, name, WINDOW_NAME_MAX);
	g->unit = draft_text(d, unit);
	g->labels = copy_labels(d, labels, n);
	g->n_labels = g->labels == NULL ? 0 : n;
	return true;
}

void draft_gauge(struct draft *d, enum draft_fold how, struct str name, struct str unit, double value,
	const struct label *labels, size_t n)
{
	uint32_t id;

	if (!isfinite(value) || name.n == 0 || d->full)
		return;
	id = gauge_key(d, name, labels, n);
	if (id == INTERN_NONE && d->gauges.n == WINDOW_GAUGES_MAX) {
		d->dropped++;
		return;
	}
	if (id == INTERN_NONE || (id >= d->gauges.n && !new_gauge(d, name, unit, labels, n))) {
		d->full = true;
		return;
	}
	fold(&d->gauges.v[id], &d->n_values.v[id], how, value);
}

/* ---- labels and versions */

static void set_label(struct draft *d, struct draft_labels *v, struct str key, struct str value)
{
	struct label *l = NULL;

	if (value.n == 0 || !json_utf8_valid(value))
		return;
	vec_each(old, v)
		if (str_eq(old->key, key))
			l = old;
	if (l == NULL)
		l = vec_push(v);
	if (l == NULL) {
		d->dropped += v->n == v->cap;
		d->full |= v->n < v->cap;
		return;
	}
	if (l->key.n > 0 && str_eq(l->value, value))
		return;
	l->key = l->key.n > 0 ? l->key : draft_text(d, key);
	l->value = draft_text(d, value);
}

void draft_version(struct draft *d, struct str key, struct str value)
{
	set_label(d, &d->versions, key, str_trim(value));
}

void draft_label(struct draft *d, struct str key, struct str value)
{
	set_label(d, &d->labels, key, str_trim(value));
}

/* ---- the window */

static int by_op(const void *a, const void *b)
{
	return op_summary_cmp(a, b);
}

static int by_key(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return str_cmp(x->key, y->key);
}

static int by_name(const void *a, const void *b)
{
	const struct gauge *x = a, *y = b;
	int order = str_cmp(x->name, y->name);

	for (size_t i = 0; order == 0 && i < x->n_labels && i < y->n_labels; i++)
		order = str_cmp(x->labels[i].value, y->labels[i].value);
	return order;
}

static void *copy_sorted(struct arena *a, void *v, size_t n, size_t each, int (*cmp)(const void *, const void *))
{
	void *copy = n == 0 ? NULL : arena_get_array(a, n, each);

	if (copy == NULL)
		return NULL;
	qsort(v, n, each, cmp);
	return memcpy(copy, v, n * each);
}

int draft_finish(struct draft *d, struct window *w, struct err *e)
{
	struct arena *a = d->arena;

	vec_each(op, &d->ops)
		op->name = own_text(d, op->name, WINDOW_NAME_MAX);
	w->gauges = copy_sorted(a, d->gauges.v, d->gauges.n, sizeof(*w->gauges), by_name);
	w->n_gauges = d->gauges.n;
	w->labels = copy_sorted(a, d->labels.v, d->labels.n, sizeof(*w->labels), by_key);
	w->n_labels = d->labels.n;
	w->versions = copy_sorted(a, d->versions.v, d->versions.n, sizeof(*w->versions), by_key);
	w->n_versions = d->versions.n;
	w->ops = copy_sorted(a, d->ops.v, d->ops.n, sizeof(*w->ops), by_op);
	w->n_ops = w->ops == NULL ? 0 : d->ops.n;
	if (arena_full(a) || d->full) {
		w->ops = NULL;
		w->gauges = NULL;
		w->labels = w->versions = NULL;
		w->n_ops = w->n_gauges = w->n_labels = w->n_versions = 0;
		return err_set(e, E_LIMIT, "no room for a window of %zu ops", d->ops.n);
	}
	d->ops.n = 0; /* the histograms are the window's now */
	return OK;
}
