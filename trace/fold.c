#include "trace/fold.h"

#include "base/mem.h"
#include "trace/busy.h"
#include "trace/device_use.h"
#include "trace/draft.h"
#include "trace/keyavg.h"
#include "trace/launch_delay.h"
#include "trace/normalise.h"
#include "trace/rhythm.h"
#include "trace/xla.h"

enum { DEVICES_MAX = 1000 };

/* A name's ops by category: most names have one. */
struct use {
	uint32_t op;   /* OP_NONE: gives no row */
	uint32_t next; /* 1 + index of the next use of the name, 0 at the end */
	uint8_t cat;
};
#define OP_NONE UINT32_MAX

VEC(use_list, struct use);

struct fold {
	struct trace *t;
	struct window *w;
	struct draft draft;
	struct busy_span steps; /* from the first step's start to the last one's end */
	bool has_steps;
	uint32_t *first_use; /* of each name: 1 + index, 0 for none */
	struct use_list uses;
	size_t devices;
	bool full;
};

/* ---- ops */
static enum op_kind kind_of(const struct trace *t, const struct trace_event *ev)
{
	const struct event_cat_info *info = event_info(ev);
	struct str name = trace_name(t, ev->name);

	if (event_is_step(t, ev))
		return OP_STEP;
	if (info->kind == OP_KERNEL || info->kind == OP_HLO ? name_is_collective(name) : event_is_async(t, ev))
		return OP_COLLECTIVE;
	if (info->class == EVENT_HOST_OP && name_is_region(name))
		return OP_REGION;
	return info->kind;
}

static bool has_row(const struct event_cat_info *info)
{
	return info->class != EVENT_DEVICE || info->executes;
}

static struct str series_name(const struct trace *t, const struct trace_event *ev)
{
	struct str name = trace_name(t, ev->name);

	return ev->cat == CAT_HLO ? hlo_base_name(name) : name;
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
	op = draft_op(&f->draft, kind_of(f->t, ev), series_name(f->t, ev));
	if (op == NULL) {
		f->full = true;
		return OP_NONE;
	}
	u->op = (uint32_t)(op - f->draft.ops.v);
	return u->op;
}

static void add_single_time(struct fold *f, struct op_summary *op, const struct keyavg_call *c)
{
	if (op->kind == OP_STEP || event_is_async(f->t, c->ev))
		draft_value(op, c->cpu_total_ns, OP_BASIS_CPU);
	else if (f->w->has_device)
		draft_value(op, c->self_device_ns, OP_BASIS_DEVICE);
	else
		draft_value(op, c->self_cpu_ns, OP_BASIS_CPU);
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
	if (!info->executes || (info->kind != OP_KERNEL && info->kind != OP_HLO))
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
	op = &f->draft.ops.v[at];
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
	struct op_summary *op = draft_op(&f->draft, OP_GAP, STR("device"));

	if (op == NULL) {
		f->full = true;
		return;
	}
	draft_value(op, ns, OP_BASIS_DEVICE);
	op->device_total_ns = ns_add(op->device_total_ns, ns);
}

static void add_device(void *arg, struct str pid, int64_t busy_ns)
{
	struct fold *f = arg;
	struct label label = { .key = STR("device") };

	if (++f->devices > DEVICES_MAX)
		return;
	label.value = device_label(&f->draft, pid);
	draft_gauge(&f->draft, DRAFT_SUM, STR("device_busy"), STR("ns"), (double)busy_ns, &label, 1);
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
		draft_gauge(&f->draft, DRAFT_LAST, STR("region_frames"), STR("frames"), (double)frames.n, NULL, 0);
		draft_gauge(&f->draft, DRAFT_LAST, STR("region_compile_ids"), STR("compilations"), compile_ids, NULL, 0);
	}
	map_fini(&frames);
}

/* ---- modules of XLA */
static void add_modules(struct fold *f)
{
	struct buf name;

	buf_init(&name, WINDOW_NAME_MAX);
	for (size_t i = 0; i < xla_modules(f->t); i++) {
		const struct xla_module *m = xla_module(f->t, i);
		struct op_summary *op;

		if (m->executions == 0)
			continue;
		buf_reset(&name);
		xla_module_name(m, &name);
		op = name.rc == OK ? draft_op_exact(&f->draft, OP_REGION, buf_view(&name)) : NULL;
		if (op == NULL) {
			f->full = true;
			break;
		}
		op->calls += m->executions;
		op->device_total_ns = ns_add(op->device_total_ns, m->device_ns);
	}
	buf_fini(&name);
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

/* Windows on demand have no ProfilerStep. */
static int find_steps(struct fold *f, struct err *e)
{
	struct rhythm found;
	int rc = rhythm_find(f->t, f->w->dur_ns, &found, e);

	f->w->steps = found.n;
	f->w->steps_from = found.from;
	rhythm_fini(&found);
	return rc;
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
static int fold_init(struct fold *f, struct trace *t, struct arena *a, struct window *w, struct err *e)
{
	size_t names = intern_count(&t->names.intern) + 1;

	*f = (struct fold){
		.t = t,
		.w = w,
		.uses = VEC_INIT(UINT32_MAX - 1),
	};
	draft_init(&f->draft, a);
	f->first_use = mem_try(names * sizeof(*f->first_use));
	if (f->first_use == NULL)
		return err_set(e, E_NOMEM, "no memory for %zu names", names);
	memset(f->first_use, 0, names * sizeof(*f->first_use));
	return OK;
}

static void fold_fini(struct fold *f)
{
	draft_fini(&f->draft);
	vec_fini(&f->uses);
	mem_free(f->first_use);
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
	if (rc == OK)
		rc = device_use(t, &f.draft, e);
	if (t->delays != NULL)
		launch_delay_gauges(launch_delays_finish(t->delays), &f.draft);
	if (rc == OK && !f.has_steps)
		rc = find_steps(&f, e);
	if (rc == OK) {
		if (w->steps > 0)
			draft_gauge(&f.draft, DRAFT_LAST, STR("launches_per_step"), STR("launches"),
				(double)w->launches / (double)w->steps, NULL, 0);
		add_region_gauges(&f);
		add_modules(&f);
	}
	if (rc == OK && f.full)
		rc = err_set(e, E_LIMIT, "no room for a window of %zu ops", f.draft.ops.n);
	if (rc == OK)
		rc = draft_finish(&f.draft, w, e);
	fold_fini(&f);
	return rc;
}
