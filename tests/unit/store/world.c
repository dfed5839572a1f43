#include "world.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

void world_open(struct world *w, uint64_t seed)
{
	*w = (struct world){ .dir = "/tmp/test_store.XXXXXX" };
	ck_assert_ptr_nonnull(mkdtemp(w->dir));
	log_set_level(LOG_ERROR);
	arena_init(&w->arena, (size_t)1 << 30);
	arena_init(&w->answer, (size_t)256 << 20);
	rand_seed(&w->rand, seed);
	w->windows = mem_get_array(WORLD_WINDOWS_MAX, sizeof(*w->windows));
	w->settings = (struct store_settings){ .dir = w->dir, .readers = 2 };
	world_ok(w, store_open_sqlite(&w->store, &w->settings, &w->err));
}

void world_reopen(struct world *w)
{
	store_close(w->store);
	world_ok(w, store_open_sqlite(&w->store, &w->settings, &w->err));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

void world_close(struct world *w)
{
	store_close(w->store);
	nftw(w->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	for (size_t i = 0; i < w->n; i++)
		window_fini(&w->windows[i]);
	mem_free(w->windows);
	arena_fini(&w->arena);
	arena_fini(&w->answer);
}

/* ---- making windows */

static const struct {
	enum op_kind kind;
	enum op_basis basis;
	const char *name;
} world_ops[] = {
	{ OP_STEP, OP_BASIS_CPU, "step" },
	{ OP_CPU_OP, OP_BASIS_DEVICE, "aten::_fused_rms_norm" },
	{ OP_CPU_OP, OP_BASIS_DEVICE, "aten::add" },
	{ OP_CPU_OP, OP_BASIS_DEVICE, "aten::mul" },
	{ OP_CPU_OP, OP_BASIS_CPU, "aten::view" },
	{ OP_CPU_OP, OP_BASIS_NONE, "aten::\xc3\xa9trange" },
	{ OP_REGION, OP_BASIS_DEVICE, "Torch-Compiled Region" },
	{ OP_RUNTIME, OP_BASIS_CPU, "nrta_execute_schedule" },
	{ OP_KERNEL, OP_BASIS_DEVICE, "" },
	{ OP_KERNEL, OP_BASIS_DEVICE, "aten::mul" },
	{ OP_MEMCPY, OP_BASIS_DEVICE, "Memcpy HtoD" },
	{ OP_GAP, OP_BASIS_DEVICE, "device" },
};

static int64_t some_ns(struct rand_gen *g)
{
	return (int64_t)(rand_u64(g) >> (20 + rand_below(g, 40)));
}

static void fill_op(struct world *w, struct op_summary *op, size_t which)
{
	op->kind = world_ops[which].kind;
	op->name = str_of(world_ops[which].name);
	op->basis = world_ops[which].basis;
	op->calls = 1 + rand_below(&w->rand, 20);
	for (uint64_t i = 0; i < op->calls; i++) {
		int64_t ns = rand_below(&w->rand, 10) == 0 ? 0 : some_ns(&w->rand);

		op->device_self_ns += ns;
		op->cpu_self_ns += ns / 2 - 10;
		if (op->basis == OP_BASIS_NONE)
			continue;
		op->min_ns = i == 0 || ns < op->min_ns ? ns : op->min_ns;
		op->max_ns = i == 0 || ns > op->max_ns ? ns : op->max_ns;
		hist_add(&op->hist, ns);
	}
	op->device_total_ns = op->device_self_ns + 7;
	op->cpu_total_ns = op->device_self_ns / 2;
	if (op_kind_on_device(op->kind)) {
		op->orphan_calls = op->calls / 2;
		op->orphan_ns = op->device_self_ns / 2;
	}
}

static void fill_labels(struct world *w, struct label **out, size_t *n, const char *key)
{
	*n = rand_below(&w->rand, 4);
	*out = arena_get_array(&w->arena, *n, sizeof(**out));
	for (size_t i = 0; i < *n; i++) {
		(*out)[i].key = arena_fmt(&w->arena, "%s%zu", key, i);
		(*out)[i].value = arena_fmt(&w->arena, "v%llu", (unsigned long long)rand_below(&w->rand, 3));
	}
}

static void fill_gauges(struct world *w, struct window *win)
{
	win->n_gauges = rand_below(&w->rand, 4);
	win->gauges = arena_get_array(&w->arena, win->n_gauges, sizeof(*win->gauges));
	for (size_t i = 0; i < win->n_gauges; i++) {
		struct gauge *g = &win->gauges[i];

		g->name = arena_fmt(&w->arena, "gauge%zu", i);
		g->unit = i % 2 ? STR("bytes") : STR("");
		g->value = rand_normal(&w->rand) * 1e9;
		fill_labels(w, &g->labels, &g->n_labels, "core");
	}
}

struct window *world_window(struct world *w, const char *service, const char *deploy, const char *host,
	const char *worker, int64_t start_ns)
{
	struct window *win = &w->windows[w->n++];

	ck_assert_uint_le(w->n, WORLD_WINDOWS_MAX);
	*win = (struct window){ .source = STR("watch") };
	for (size_t i = 0; i < WINDOW_ID; i++)
		win->id[i] = (uint8_t)rand_u64(&w->rand);
	win->service = arena_text(&w->arena, service);
	win->deploy = arena_text(&w->arena, deploy);
	win->host = arena_text(&w->arena, host);
	win->worker = arena_text(&w->arena, worker);
	win->start_ns = start_ns;
	win->dur_ns = 1 + some_ns(&w->rand);
	win->steps = rand_below(&w->rand, 30);
	win->steps_from = win->steps ? STEPS_MARKER : STEPS_NONE;
	win->has_device = rand_below(&w->rand, 2) == 0;
	win->flags = rand_below(&w->rand, 8) == 0 ? WINDOW_TRUNCATED : 0;
	win->launches = rand_below(&w->rand, 1000);
	win->events = rand_u64(&w->rand) >> 30;
	win->skipped = rand_below(&w->rand, 3);
	fill_labels(w, &win->labels, &win->n_labels, "label");
	fill_labels(w, &win->versions, &win->n_versions, "torch");
	fill_gauges(w, win);
	win->ops = arena_get_array(&w->arena, COUNT(world_ops), sizeof(*win->ops));
	for (size_t i = 0; i < COUNT(world_ops); i++)
		if (rand_below(&w->rand, 4) != 0)
			fill_op(w, &win->ops[win->n_ops++], i);
	world_ok(w, window_check(win, &w->err));
	return win;
}

void world_unmake(struct world *w)
{
	window_fini(&w->windows[--w->n]);
}

void world_fleet(struct world *w, size_t n, int64_t span_ns)
{
	static const char *const services[] = { "llm-decode", "ranker" };
	static const char *const deploys[] = { "v41", "v42", "" };
	static const char *const hosts[] = { "trn-1", "trn-2", "trn-3", "trn-4" };
	static const char *const workers[] = { "0", "1" };

	for (size_t i = 0; i < n; i++)
		world_window(w, services[rand_below(&w->rand, 2)], deploys[rand_below(&w->rand, 3)],
			hosts[rand_below(&w->rand, 4)], workers[rand_below(&w->rand, 2)],
			WORLD_START + (int64_t)rand_below(&w->rand, (uint64_t)span_ns));
}

void world_put(struct world *w, const struct window *windows, size_t n)
{
	struct put_result r;

	world_ok(w, store_put(w->store, windows, n, &r, &w->err));
	ck_assert_uint_eq(r.accepted, n);
	ck_assert_uint_eq(r.duplicates, 0);
}

void world_put_all(struct world *w, size_t batch)
{
	for (size_t i = 0; i < w->n; i += batch)
		world_put(w, w->windows + i, w->n - i < batch ? w->n - i : batch);
}

/* ---- what must come out */

bool world_matches(const struct window *win, const struct query *q)
{
	return (str_empty(q->service) || str_eq(q->service, win->service)) &&
		(str_empty(q->deploy) || str_eq(q->deploy, win->deploy)) &&
		(str_empty(q->host) || str_eq(q->host, win->host)) &&
		(str_empty(q->worker) || str_eq(q->worker, win->worker)) && win->start_ns >= q->from_ns &&
		(q->to_ns == 0 || win->start_ns < q->to_ns);
}

struct profile_merge *world_merged(const struct world *w, const struct query *q)
{
	struct profile_merge *m = profile_merge_new(1000);

	for (size_t i = 0; i < w->n; i++) {
		const struct window *win = &w->windows[i];

		if (!world_matches(win, q))
			continue;
		profile_merge_add_steps(m, 1, win->steps, win->has_device, win->start_ns, win->start_ns);
		for (size_t k = 0; k < win->n_ops; k++)
			if ((!q->has_kind || q->kind == win->ops[k].kind) &&
				(str_empty(q->op) || str_eq(q->op, win->ops[k].name)))
				ck_assert_int_eq(profile_merge_add_op(m, &win->ops[k]), OK);
	}
	return m;
}

#define same_str(a, b) ck_assert_msg(str_eq(a, b), "\"%.*s\" is not \"%.*s\"", STR_ARG(a), STR_ARG(b))

static void same_hist(const struct hist *a, const struct hist *b)
{
	size_t at_a = 0, at_b = 0;
	int32_t index_a = 0, index_b = 0;
	uint64_t count_a = 0, count_b = 0;

	ck_assert_uint_eq(a->zero, b->zero);
	do {
		at_a = hist_next(a, at_a, &index_a, &count_a);
		at_b = hist_next(b, at_b, &index_b, &count_b);
		ck_assert_int_eq(at_a != 0, at_b != 0);
		if (at_a == 0)
			break;
		ck_assert_int_eq(index_a, index_b);
		ck_assert_uint_eq(count_a, count_b);
	} while (true);
}

void world_same_op(const struct op_summary *a, const struct op_summary *b)
{
	ck_assert_int_eq(a->kind, b->kind);
	same_str(a->name, b->name);
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
	same_hist(&a->hist, &b->hist);
}

static void same_labels(const struct label *a, size_t n_a, const struct label *b, size_t n_b)
{
	ck_assert_uint_eq(n_a, n_b);
	for (size_t i = 0; i < n_a; i++) {
		same_str(a[i].key, b[i].key);
		same_str(a[i].value, b[i].value);
	}
}

static void same_body(const struct window *a, const struct window *b)
{
	same_labels(a->labels, a->n_labels, b->labels, b->n_labels);
	same_labels(a->versions, a->n_versions, b->versions, b->n_versions);
	ck_assert_uint_eq(a->n_ops, b->n_ops);
	for (size_t i = 0; i < a->n_ops; i++)
		world_same_op(&a->ops[i], &b->ops[i]);
	ck_assert_uint_eq(a->n_gauges, b->n_gauges);
	for (size_t i = 0; i < a->n_gauges; i++) {
		same_str(a->gauges[i].name, b->gauges[i].name);
		same_str(a->gauges[i].unit, b->gauges[i].unit);
		ck_assert_double_eq(a->gauges[i].value, b->gauges[i].value);
		same_labels(a->gauges[i].labels, a->gauges[i].n_labels, b->gauges[i].labels,
			b->gauges[i].n_labels);
	}
}

void world_same_window(const struct window *a, const struct window *b, bool whole)
{
	ck_assert_mem_eq(a->id, b->id, WINDOW_ID);
	same_str(a->service, b->service);
	same_str(a->deploy, b->deploy);
	same_str(a->host, b->host);
	same_str(a->worker, b->worker);
	same_str(a->source, b->source);
	ck_assert_int_eq(a->start_ns, b->start_ns);
	ck_assert_int_eq(a->dur_ns, b->dur_ns);
	ck_assert_uint_eq(a->steps, b->steps);
	ck_assert_int_eq(a->steps_from, b->steps_from);
	ck_assert_int_eq(a->has_device, b->has_device);
	ck_assert_uint_eq(a->flags, b->flags);
	ck_assert_uint_eq(a->launches, b->launches);
	ck_assert_uint_eq(a->events, b->events);
	ck_assert_uint_eq(a->skipped, b->skipped);
	if (whole)
		same_body(a, b);
}

void world_same_merged(struct profile_merge *one, struct profile_merge *other)
{
	const struct merged *a = profile_merge_get(one), *b = profile_merge_get(other);

	ck_assert_uint_eq(a->windows, b->windows);
	ck_assert_uint_eq(a->steps, b->steps);
	ck_assert_int_eq(a->first_ns, b->first_ns);
	ck_assert_int_eq(a->last_ns, b->last_ns);
	ck_assert_int_eq(a->has_device, b->has_device);
	ck_assert_uint_eq(a->n_ops, b->n_ops);
	for (size_t i = 0; i < a->n_ops; i++)
		world_same_op(&a->ops[i], &b->ops[i]);
}
