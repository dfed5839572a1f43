#include "tests/unit/wire/batches.h"

#include <check.h>
#include <stdlib.h>

#include "json/write.h"

static struct str some_text(struct arena *a, struct rand_gen *g, const char *stem, uint64_t variety)
{
	return arena_fmt(a, "%s-%llu-µ\"\\", stem, (unsigned long long)rand_below(g, variety));
}

static struct label *some_labels(struct arena *a, struct rand_gen *g, size_t *n)
{
	struct label *l;

	*n = rand_below(g, 4);
	l = *n == 0 ? NULL : arena_get_array(a, *n, sizeof(*l));
	for (size_t i = 0; i < *n; i++) {
		l[i].key = arena_fmt(a, "key%zu", i);
		l[i].value = some_text(a, g, "value", 5);
	}
	return l;
}

static void some_times(struct op_summary *op, struct rand_gen *g)
{
	uint64_t n = 1 + rand_below(g, 20);

	op->basis = rand_below(g, 2) ? OP_BASIS_CPU : OP_BASIS_DEVICE;
	op->min_ns = INT64_MAX;
	for (uint64_t i = 0; i < n; i++) {
		int64_t ns = rand_below(g, 10) == 0 ? 0 : (int64_t)(rand_u64(g) >> (24 + rand_below(g, 39)));

		hist_add(&op->hist, ns);
		op->cpu_self_ns += ns;
		op->min_ns = ns < op->min_ns ? ns : op->min_ns;
		op->max_ns = ns > op->max_ns ? ns : op->max_ns;
	}
	op->calls = n;
	op->cpu_total_ns = op->cpu_self_ns + (int64_t)rand_below(g, 1000);
	if (op->basis == OP_BASIS_DEVICE) {
		op->device_self_ns = op->cpu_self_ns;
		op->device_total_ns = op->cpu_total_ns;
		op->orphan_calls = rand_below(g, n + 1);
		op->orphan_ns = (int64_t)rand_below(g, (uint64_t)op->device_self_ns + 1);
	}
}

static int op_order(const void *x, const void *y)
{
	return op_summary_cmp(x, y);
}

static void some_ops(struct arena *a, struct rand_gen *g, struct window *w, size_t ops_max)
{
	w->n_ops = rand_below(g, ops_max + 1);
	w->ops = arena_get_array(a, w->n_ops, sizeof(*w->ops));
	for (size_t i = 0; i < w->n_ops; i++) {
		struct op_summary *op = &w->ops[i];

		op->kind = (enum op_kind)rand_below(g, OP_KINDS);
		op->name = arena_fmt(a, "aten::op_%zu", i);
		hist_init(&op->hist);
		if (rand_below(g, 8) == 0)
			op->calls = 1 + rand_below(g, 100);
		else
			some_times(op, g);
	}
	qsort(w->ops, w->n_ops, sizeof(*w->ops), op_order);
}

static void some_gauges(struct arena *a, struct rand_gen *g, struct window *w)
{
	w->n_gauges = rand_below(g, 3);
	w->gauges = w->n_gauges == 0 ? NULL : arena_get_array(a, w->n_gauges, sizeof(*w->gauges));
	for (size_t i = 0; i < w->n_gauges; i++) {
		w->gauges[i].name = arena_fmt(a, "gauge_%zu", i);
		w->gauges[i].unit = STR("ns");
		w->gauges[i].value = rand_normal(g) * 1e9;
		w->gauges[i].labels = some_labels(a, g, &w->gauges[i].n_labels);
	}
}

static void some_window(struct arena *a, struct rand_gen *g, struct window *w, size_t ops_max)
{
	for (size_t i = 0; i < sizeof(w->id); i++)
		w->id[i] = (uint8_t)rand_u64(g);
	w->service = some_text(a, g, "service", 3);
	w->deploy = rand_below(g, 4) == 0 ? STR("") : some_text(a, g, "deploy", 3);
	w->host = some_text(a, g, "host", 50);
	w->worker = some_text(a, g, "worker", 4);
	w->source = STR("watch");
	w->start_ns = INT64_C(1790000000000000000) + (int64_t)rand_below(g, 1000000000000);
	w->dur_ns = (int64_t)rand_below(g, 1000000000000);
	w->steps = 1 + rand_below(g, 100);
	w->steps_from = (enum steps_from)(1 + rand_below(g, STEPS_FROMS - 1));
	w->has_device = rand_below(g, 2);
	w->flags = (uint32_t)rand_below(g, 4);
	w->launches = rand_below(g, 10000);
	w->events = rand_below(g, 1000000);
	w->skipped = rand_below(g, 10);
	w->labels = some_labels(a, g, &w->n_labels);
	w->versions = some_labels(a, g, &w->n_versions);
	some_ops(a, g, w, ops_max);
	some_gauges(a, g, w);
}

struct wire_batch batch_make(struct arena *a, struct rand_gen *g, size_t windows, size_t ops_max)
{
	struct wire_batch b = { .agent_id = STR("0123456789abcdef0123456789abcdef"), .agent_version = STR("0.1") };

	b.windows = arena_get_array(a, windows, sizeof(*b.windows));
	b.n_windows = windows;
	for (size_t i = 0; i < windows; i++)
		some_window(a, g, &b.windows[i], ops_max);
	return b;
}

static void json_labels(struct json_writer *w, const char *key, const struct label *l, size_t n)
{
	jw_key_object(w, key);
	for (size_t i = 0; i < n; i++) {
		jw_key_of(w, l[i].key);
		jw_str(w, l[i].value);
	}
	jw_end(w);
}

static void json_hist(struct json_writer *w, const struct hist *h)
{
	int32_t index, before = HIST_INDEX_MIN;
	uint64_t count;

	jw_key_u64(w, "hist_zero", h->zero);
	jw_key_array(w, "hist_delta");
	for (size_t at = 0; (at = hist_next(h, at, &index, &count)) != 0; before = index)
		jw_i64(w, index - before);
	jw_end(w);
	jw_key_array(w, "hist_count");
	for (size_t at = 0; (at = hist_next(h, at, &index, &count)) != 0;)
		jw_u64(w, count);
	jw_end(w);
}

static void json_op(struct json_writer *w, const struct op_summary *op)
{
	static const char *const bases[] = { "none", "device", "cpu" };

	jw_object(w);
	jw_key_text(w, "kind", op_kind_name(op->kind));
	jw_key_str(w, "name", op->name);
	jw_key_u64(w, "calls", op->calls);
	jw_key_i64(w, "device_total_ns", op->device_total_ns);
	jw_key_i64(w, "device_self_ns", op->device_self_ns);
	jw_key_i64(w, "cpu_total_ns", op->cpu_total_ns);
	jw_key_i64(w, "cpu_self_ns", op->cpu_self_ns);
	jw_key_u64(w, "orphan_calls", op->orphan_calls);
	jw_key_i64(w, "orphan_ns", op->orphan_ns);
	jw_key_text(w, "basis", bases[op->basis]);
	jw_key_i64(w, "min_ns", op->min_ns);
	jw_key_i64(w, "max_ns", op->max_ns);
	json_hist(w, &op->hist);
	jw_end(w);
}

static void json_gauge(struct json_writer *w, const struct gauge *g)
{
	jw_object(w);
	jw_key_str(w, "name", g->name);
	jw_key_str(w, "unit", g->unit);
	jw_key_double(w, "value", g->value);
	json_labels(w, "labels", g->labels, g->n_labels);
	jw_end(w);
}

static void json_window(struct json_writer *w, const struct window *win)
{
	char id[WINDOW_ID_TEXT];

	window_id_text(win->id, id);
	jw_object(w);
	jw_key_text(w, "id", id);
	jw_key_str(w, "service", win->service);
	jw_key_str(w, "deploy", win->deploy);
	jw_key_str(w, "host", win->host);
	jw_key_str(w, "worker", win->worker);
	jw_key_str(w, "source", win->source);
	jw_key_i64(w, "start_ns", win->start_ns);
	jw_key_i64(w, "dur_ns", win->dur_ns);
	jw_key_u64(w, "steps", win->steps);
	jw_key_text(w, "steps_from", steps_from_name(win->steps_from));
	jw_key_bool(w, "has_device", win->has_device);
	jw_key_u64(w, "flags", win->flags);
	jw_key_u64(w, "launches", win->launches);
	jw_key_u64(w, "events", win->events);
	jw_key_u64(w, "skipped", win->skipped);
	json_labels(w, "labels", win->labels, win->n_labels);
	json_labels(w, "versions", win->versions, win->n_versions);
	jw_key_array(w, "ops");
	for (size_t i = 0; i < win->n_ops; i++)
		json_op(w, &win->ops[i]);
	jw_end(w);
	jw_key_array(w, "gauges");
	for (size_t i = 0; i < win->n_gauges; i++)
		json_gauge(w, &win->gauges[i]);
	jw_end(w);
	jw_end(w);
}

void batch_json(const struct wire_batch *b, struct buf *out)
{
	struct json_writer w;

	jw_init(&w, out);
	jw_object(&w);
	jw_key_str(&w, "agent_id", b->agent_id);
	jw_key_str(&w, "agent_version", b->agent_version);
	jw_key_array(&w, "windows");
	for (size_t i = 0; i < b->n_windows; i++)
		json_window(&w, &b->windows[i]);
	jw_end(&w);
	jw_end(&w);
	ck_assert_int_eq(jw_finish(&w, NULL), OK);
}

static void assert_text(struct str a, struct str b)
{
	ck_assert_msg(str_eq(a, b), "\"%.*s\" is not \"%.*s\"", STR_ARG(a), STR_ARG(b));
}

static void assert_labels(const struct label *a, size_t n_a, const struct label *b, size_t n_b)
{
	ck_assert_uint_eq(n_a, n_b);
	for (size_t i = 0; i < n_a; i++) {
		assert_text(a[i].key, b[i].key);
		assert_text(a[i].value, b[i].value);
	}
}

static void assert_hist(const struct hist *a, const struct hist *b)
{
	size_t at_a = 0, at_b = 0;
	uint64_t count_a, count_b;
	int32_t index_a, index_b;

	ck_assert_uint_eq(a->zero, b->zero);
	ck_assert_uint_eq(hist_used(a), hist_used(b));
	for (;;) {
		at_a = hist_next(a, at_a, &index_a, &count_a);
		at_b = hist_next(b, at_b, &index_b, &count_b);
		ck_assert_int_eq(at_a != 0, at_b != 0);
		if (at_a == 0)
			return;
		ck_assert_int_eq(index_a, index_b);
		ck_assert_uint_eq(count_a, count_b);
	}
}

static void assert_op(const struct op_summary *a, const struct op_summary *b)
{
	ck_assert_int_eq(a->kind, b->kind);
	assert_text(a->name, b->name);
	ck_assert_uint_eq(a->calls, b->calls);
	ck_assert_int_eq(a->device_total_ns, b->device_total_ns);
	ck_assert_int_eq(a->device_self_ns, b->device_self_ns);
	ck_assert_int_eq(a->cpu_total_ns, b->cpu_total_ns);
	ck_assert_int_eq(a->cpu_self_ns, b->cpu_self_ns);
	ck_assert_uint_eq(a->orphan_calls, b->orphan_calls);
	ck_assert_int_eq(a->orphan_ns, b->orphan_ns);
	ck_assert_int_eq(a->basis, b->basis);
	ck_assert_int_eq(a->min_ns, b->min_ns);
	ck_assert_int_eq(a->max_ns, b->max_ns);
	assert_hist(&a->hist, &b->hist);
}

static void assert_window(const struct window *a, const struct window *b)
{
	ck_assert_mem_eq(a->id, b->id, sizeof(a->id));
	assert_text(a->service, b->service);
	assert_text(a->deploy, b->deploy);
	assert_text(a->host, b->host);
	assert_text(a->worker, b->worker);
	assert_text(a->source, b->source);
	ck_assert_int_eq(a->start_ns, b->start_ns);
	ck_assert_int_eq(a->dur_ns, b->dur_ns);
	ck_assert_uint_eq(a->steps, b->steps);
	ck_assert_int_eq(a->steps_from, b->steps_from);
	ck_assert_int_eq(a->has_device, b->has_device);
	ck_assert_uint_eq(a->flags, b->flags);
	ck_assert_uint_eq(a->launches, b->launches);
	ck_assert_uint_eq(a->events, b->events);
	ck_assert_uint_eq(a->skipped, b->skipped);
	assert_labels(a->labels, a->n_labels, b->labels, b->n_labels);
	assert_labels(a->versions, a->n_versions, b->versions, b->n_versions);
	ck_assert_uint_eq(a->n_ops, b->n_ops);
	for (size_t i = 0; i < a->n_ops; i++)
		assert_op(&a->ops[i], &b->ops[i]);
	ck_assert_uint_eq(a->n_gauges, b->n_gauges);
	for (size_t i = 0; i < a->n_gauges; i++) {
		assert_text(a->gauges[i].name, b->gauges[i].name);
		assert_text(a->gauges[i].unit, b->gauges[i].unit);
		ck_assert(a->gauges[i].value == b->gauges[i].value);
		assert_labels(a->gauges[i].labels, a->gauges[i].n_labels, b->gauges[i].labels, b->gauges[i].n_labels);
	}
}

void batch_assert_equal(const struct wire_batch *a, const struct wire_batch *b)
{
	assert_text(a->agent_id, b->agent_id);
	assert_text(a->agent_version, b->agent_version);
	ck_assert_uint_eq(a->n_windows, b->n_windows);
	for (size_t i = 0; i < a->n_windows; i++)
		assert_window(&a->windows[i], &b->windows[i]);
}
