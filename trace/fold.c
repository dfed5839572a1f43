#include "trace/fold.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "json/text.h"
#include "trace/busy.h"
#include "trace/keyavg.h"
#include "trace/normalise.h"

enum { DEVICES_MAX = 1000, SERIES_TEXT_MAX = 256 << 20, NAME_SCRATCH = 4 << 20 };

/* A name's ops by category: most names have one. */
struct use {
	uint32_t op;   /* OP_NONE: gives no row */
	uint32_t next; /* 1 + index of the next use of the name, 0 at the end */
	uint8_t cat;
};
#define OP_NONE UINT32_MAX

VEC(use_list, struct use);
VEC(op_list, struct op_summary);
VEC(gauge_list, struct gauge);

struct fold {
	struct trace *t;
	struct arena *arena; /* the window's */
	struct window *w;
	struct busy_span steps; /* from the first step's start to the last one's end */
	bool has_steps;
	uint32_t *first_use; /* of each name: 1 + index, 0 for none */
	struct use_list uses;
	struct op_list ops;
	struct intern series; /* kind and normalised name → index into ops */
	struct arena keys;
	struct buf scratch;
	struct gauge_list gauges;
	bool full;
};

/* ---- ops */
static enum op_kind kind_of(const struct trace *t, const struct trace_event *ev)
{
	const struct event_cat_info *info = event_info(ev);
	struct str name = trace_name(t, ev->name);

	if (event_is_step(t, ev))
		return OP_STEP;
	if (info->kind == OP_KERNEL ? name_is_collective(name) : event_is_async(t, ev))
		return OP_COLLECTIVE;
	if (info->class == EVENT_HOST_OP && name_is_region(name))
		return OP_REGION;
	return info->kind;
}

static bool has_row(const struct event_cat_info *info)
{
	return info->class != EVENT_DEVICE || info->executes;
}

/* The op of a kind and a name; past the ceiling all further names of a kind share "*". */
static struct op_summary *op_of_series(struct fold *f, enum op_kind kind, struct str name)
{
	char key[1 + WINDOW_NAME_MAX];
	struct op_summary *op;
	uint32_t id;

	name = normalise_name(name, WINDOW_NAME_MAX, &f->scratch);
	if (f->scratch.rc != OK)
		return NULL;
	if (intern_count(&f->series) >= WINDOW_OPS_MAX - OP_KINDS)
		name = STR("*");
	key[0] = (char)('A' + (int)kind);
	if (name.n > 0)
		memcpy(key + 1, name.p, name.n);
	id = intern_id(&f->series, str_make(key, 1 + name.n));
	if (id == INTERN_NONE)
		return NULL;
	if (id < f->ops.n)
		return &f->ops.v[id];
	op = vec_push(&f->ops);
	if (op == NULL)
		return NULL;
	op->kind = kind;
	op->name = str_from(intern_name(&f->series, id), 1);
	hist_init(&op->hist);
	return op;
}

static uint32_t find_op(struct fold *f, const struct trace_event *ev)
{
	const struct event_cat_info *info = event_info(ev);
	struct op_summary *op = NULL;
	struct use *u;

	for (uint32_t at = f->first_use[ev->name]; at > 0; at = f->uses.v[at - 1].next)
		if (f->uses.v[at - 1].cat == ev->cat)
			return f->uses.v[at - 1].op;
	u = vec_push(&f->uses);
	if (u == NULL) {
		f->full = true;
		return OP_NONE;
	}
	*u = (struct use){ .op = OP_NONE, .next = f->first_use[ev->name], .cat = ev->cat };
	f->first_use[ev->name] = (uint32_t)f->uses.n;
	if (!has_row(info))
		return OP_NONE;
	op = op_of_series(f, kind_of(f->t, ev), trace_name(f->t, ev->name));
	if (op == NULL) {
		f->full = true;
		return OP_NONE;
	}
	u->op = (uint32_t)(op - f->ops.v);
	return u->op;
}

static void add_value(struct op_summary *op, int64_t ns, enum op_basis basis)
{
	if (op->calls == 0 || ns < op->min_ns)
		op->min_ns = ns;
	if (op->calls == 0 || ns > op->max_ns)
		op->max_ns = ns;
	op->basis = basis;
	op->calls++;
	hist_add(&op->hist, ns);
}

static void add_single_time(struct fold *f, struct op_summary *op, const struct keyavg_call *c)
{
	if (op->kind == OP_STEP || event_is_async(f->t, c->ev))
		add_value(op, c->cpu_total_ns, OP_BASIS_CPU);
	else if (f->w->has_device)
		add_value(op, c->self_device_ns, OP_BASIS_DEVICE);
	else
		add_value(op, c->self_cpu_ns, OP_BASIS_CPU);
}

static bool in_steps(const struct fold *f, int64_t ns)
{
	return !f->has_steps || (ns >= f->steps.from_ns && ns <= f->steps.to_ns);
}

static bool is_launch(const struct fold *f, const struct keyavg_call *c)
{
	const struct event_cat_info *info = event_info(c->ev);

	if (!f->w->has_device)
		return c->launches && in_steps(f, c->ev->start_ns);
	if (!info->executes || info->kind != OP_KERNEL)
		return false;
	return in_steps(f, c->ev->link == EVENT_NO_LINK ? c->ev->start_ns : f->t->events.v[c->ev->link].start_ns);
}

static void add_call(void *arg, const struct keyavg_call *c)
{
	struct fold *f = arg;
	uint32_t at = find_op(f, c->ev);
	struct op_summary *op;

	f->w->launches += is_launch(f, c);
	if (at == OP_NONE)
		return;
	op = &f->ops.v[at];
	add_single_time(f, op, c);
	op->device_total_ns = ns_add(op->device_total_ns, c->device_total_ns);
	op->device_self_ns = ns_add(op->device_self_ns, c->self_device_ns);
	op->cpu_total_ns = ns_add(op->cpu_total_ns, c->cpu_total_ns);
	op->cpu_self_ns = ns_add(op->cpu_self_ns, c->self_cpu_ns);
	if (c->orphan) {
		op->orphan_calls++;
		op->orphan_ns = ns_add(op->orphan_ns, c->self_device_ns);
	}
}

/* ---- gaps and gauges */
static void add_gap(void *arg, int64_t ns)
{
	struct fold *f = arg;
	struct op_summary *op = op_of_series(f, OP_GAP, STR("device"));

	if (op == NULL) {
		f->full = true;
		return;
	}
	add_value(op, ns, OP_BASIS_DEVICE);
	op->device_total_ns = ns_add(op->device_total_ns, ns);
}

static struct gauge *add_gauge(struct fold *f, struct str name, struct str unit, double value)
{
	struct gauge *g = vec_push(&f->gauges);

	if (g != NULL)
		*g = (struct gauge){ .name = name, .unit = unit, .value = value };
	else
		f->full = true;
	return g;
}

static void add_device(void *arg, struct str pid, int64_t busy_ns)
{
	struct fold *f = arg;
	struct gauge *g;
	struct label *label;

	if (f->gauges.n >= DEVICES_MAX)
		return;
	g = add_gauge(f, STR("device_busy"), STR("ns"), (double)busy_ns);
	label = arena_get(f->arena, sizeof(*label));
	if (g == NULL || label == NULL)
		return;
	str_drop_prefix(&pid, STR("\""));
	str_drop_suffix(&pid, STR("\""));
	label->key = STR("device");
	label->value = json_unescape_to(f->arena, str_upto(pid, 64)); /* at most three bytes for each */
	g->labels = label;
	g->n_labels = 1;
}

static void add_region_gauges(struct fold *f)
{
	struct map frames;
	double compile_ids = 0;

	map_init(&frames, WINDOW_OPS_MAX);
	for (uint32_t i = 0; i < intern_count(&f->t->names.intern); i++) {
		struct str frame, compile;

		if (f->first_use[i] == 0 || !name_region_ids(trace_name(f->t, i), &frame, &compile))
			continue;
		f->full |= map_put(&frames, frame, 0, NULL) == NULL;
		compile_ids++;
	}
	if (frames.n > 0) {
		add_gauge(f, STR("region_frames"), STR("frames"), (double)frames.n);
		add_gauge(f, STR("region_compile_ids"), STR("compilations"), compile_ids);
	}
	map_fini(&frames);
}

/* ---- steps */
static void add_step(struct fold *f, const struct trace_event *ev)
{
	if (!f->has_steps || ev->start_ns < f->steps.from_ns)
		f->steps.from_ns = ev->start_ns;
	if (!f->has_steps || event_end_ns(ev) > f->steps.to_ns)
		f->steps.to_ns = event_end_ns(ev);
	f->has_steps = true;
	f->w->steps++;
}

/* Windows on demand have no ProfilerStep: there an optimizer's step is one. The one that is called most, so that two
 * optimizers are not two steps. */
static void count_optimizer_steps(struct fold *f)
{
	for (size_t i = 0; i < f->ops.n; i++) {
		const struct op_summary *op = &f->ops.v[i];

		if (op->kind == OP_ANNOTATION && str_has_prefix(op->name, STR("Optimizer.step#")) &&
			op->calls > f->w->steps)
			f->w->steps = op->calls;
	}
	f->w->steps_from = f->w->steps > 0 ? STEPS_OPTIMIZER : STEPS_NONE;
}

static void look_over(struct fold *f, int64_t *first_ns)
{
	int64_t last_ns = INT64_MIN;

	*first_ns = INT64_MAX;
	vec_each(ev, &f->t->events) {
		*first_ns = ev->start_ns < *first_ns ? ev->start_ns : *first_ns;
		last_ns = event_end_ns(ev) > last_ns ? event_end_ns(ev) : last_ns;
		f->w->has_device |= event_info(ev)->executes;
		if (event_is_step(f->t, ev))
			add_step(f, ev);
	}
	f->w->events = f->t->events.n;
	f->w->dur_ns = f->t->events.n > 0 ? ns_sub(last_ns, *first_ns) : 0;
	*first_ns = f->t->events.n > 0 ? *first_ns : 0;
	if (!f->has_steps)
		f->steps = (struct busy_span){ INT64_MIN, INT64_MAX };
	f->w->steps_from = f->has_steps ? STEPS_MARKER : STEPS_NONE;
}

/* ---- the window */
static int compare_ops(const void *a, const void *b)
{
	return op_summary_cmp(a, b);
}

static int hand_over(struct fold *f, struct err *e)
{
	struct window *w = f->w;

	w->ops = arena_get_array(f->arena, f->ops.n, sizeof(*w->ops));
	w->gauges = arena_get_array(f->arena, f->gauges.n, sizeof(*w->gauges));
	for (size_t i = 0; i < f->ops.n; i++)
		f->ops.v[i].name = arena_str(f->arena, f->ops.v[i].name);
	if (arena_full(f->arena) || f->full) {
		w->ops = NULL;
		w->gauges = NULL;
		return err_set(e, E_LIMIT, "no room for a window of %zu ops", f->ops.n);
	}
	if (f->ops.n > 0)
		memcpy(w->ops, f->ops.v, f->ops.n * sizeof(*w->ops));
	if (f->gauges.n > 0)
		memcpy(w->gauges, f->gauges.v, f->gauges.n * sizeof(*w->gauges));
	w->n_ops = f->ops.n;
	w->n_gauges = f->gauges.n;
	f->ops.n = 0; /* the histograms are the window's now */
	if (w->n_ops > 0)
		qsort(w->ops, w->n_ops, sizeof(*w->ops), compare_ops);
	return OK;
}

static int fold_init(struct fold *f, struct trace *t, struct arena *a, struct window *w, struct err *e)
{
	size_t names = intern_count(&t->names.intern) + 1;

	*f = (struct fold){
		.t = t,
		.arena = a,
		.w = w,
		.uses = VEC_INIT(UINT32_MAX - 1),
		.ops = VEC_INIT(WINDOW_OPS_MAX),
		.gauges = VEC_INIT(WINDOW_GAUGES_MAX),
	};
	arena_init(&f->keys, SERIES_TEXT_MAX);
	intern_init(&f->series, &f->keys, WINDOW_OPS_MAX);
	buf_init(&f->scratch, NAME_SCRATCH);
	f->first_use = mem_try(names * sizeof(*f->first_use));
	if (f->first_use == NULL)
		return err_set(e, E_NOMEM, "no memory for %zu names", names);
	memset(f->first_use, 0, names * sizeof(*f->first_use));
	return OK;
}

static void fold_fini(struct fold *f)
{
	vec_each(op, &f->ops)
		op_summary_fini(op);
	vec_fini(&f->ops);
	vec_fini(&f->uses);
	vec_fini(&f->gauges);
	mem_free(f->first_use);
	intern_fini(&f->series);
	arena_fini(&f->keys);
	buf_fini(&f->scratch);
}

int fold_trace(struct trace *t, struct arena *a, struct window *w, int64_t *first_ns, struct err *e)
{
	struct fold f;
	const struct busy_visitor busy = { .gap = add_gap, .device = add_device, .arg = &f };
	int rc;

	rc = fold_init(&f, t, a, w, e);
	look_over(&f, first_ns);
	if (rc == OK)
		rc = keyavg_each(t, add_call, &f, NULL, e);
	if (rc == OK)
		rc = busy_each(t, f.steps, &busy, e);
	if (rc == OK && !f.has_steps)
		count_optimizer_steps(&f);
	if (rc == OK)
		add_region_gauges(&f);
	if (rc == OK)
		rc = hand_over(&f, e);
	fold_fini(&f);
	return rc;
}
