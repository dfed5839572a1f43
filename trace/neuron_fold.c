#include "trace/neuron_fold.h"

#include <stdlib.h>

#include "trace/event.h"
#include "trace/launch_delay.h"
#include "trace/neuron_summary.h"
#include "trace/normalise.h"

struct span {
	int64_t from_ns, to_ns;
};

struct model_time { /* one model on one core */
	uint32_t model, core, process;
	uint64_t executions;
	int64_t device_ns;
};
VEC(model_times, struct model_time);
VEC(fold_refs, struct neuron_event *);

struct fold {
	struct neuron_events_all *all;
	struct draft *d;
	struct window *w;
	struct span steps; /* from the first marked step's start to the last one's end */
	uint64_t markers;
	struct fold_refs runs; /* executions, once each */
	struct hist delays;    /* from an op to its execution */
	bool full;
};

static struct str name_of(const struct fold *f, const struct neuron_event *ev)
{
	return neuron_text(f->all, ev->name);
}

static bool is_marker(const struct fold *f, const struct neuron_event *ev)
{
	return ev->lane == NEURON_FRAMEWORK && str_has_prefix(name_of(f, ev), STR("ProfilerStep#"));
}

static bool in_steps(const struct fold *f, int64_t ns)
{
	return f->markers == 0 || (ns >= f->steps.from_ns && ns <= f->steps.to_ns);
}

/* ---- first look */

static void look_over(struct fold *f)
{
	struct span whole = { INT64_MAX, 0 };

	vec_each(ev, &f->all->events) {
		int64_t end_ns = neuron_end_ns(ev);

		whole.from_ns = ev->start_ns < whole.from_ns ? ev->start_ns : whole.from_ns;
		whole.to_ns = end_ns > whole.to_ns ? end_ns : whole.to_ns;
		f->w->has_device |= ev->what == NEURON_EXECUTION;
		if (!is_marker(f, ev))
			continue;
		f->steps.from_ns = f->markers == 0 || ev->start_ns < f->steps.from_ns ? ev->start_ns : f->steps.from_ns;
		f->steps.to_ns = f->markers == 0 || end_ns > f->steps.to_ns ? end_ns : f->steps.to_ns;
		f->markers++;
	}
	f->w->events = f->all->events.n;
	f->w->start_ns = neuron_time_possible(whole.from_ns) ? whole.from_ns : 0;
	f->w->dur_ns = f->all->events.n > 0 ? whole.to_ns - whole.from_ns : 0;
}

/* ---- rows */

static int64_t self_ns(const struct neuron_event *ev)
{
	return ns_sub(ev->dur_ns, ev->children_ns);
}

static void add_cpu(struct op_summary *op, const struct neuron_event *ev)
{
	if (op == NULL)
		return;
	op->cpu_total_ns = ns_add(op->cpu_total_ns, ev->dur_ns);
	op->cpu_self_ns = ns_add(op->cpu_self_ns, self_ns(ev));
}

static enum op_kind framework_kind(const struct fold *f, const struct neuron_event *ev)
{
	if (is_marker(f, ev))
		return OP_STEP;
	if (ev->lane == NEURON_STREAM)
		return OP_RUNTIME;
	return name_is_region(name_of(f, ev)) ? OP_REGION : OP_CPU_OP;
}

static void add_framework(struct fold *f, const struct neuron_event *ev)
{
	enum op_kind kind = framework_kind(f, ev);
	struct op_summary *op = draft_op(f->d, kind, name_of(f, ev));

	add_cpu(op, ev);
	if (op == NULL)
		return;
	op->device_self_ns = ns_add(op->device_self_ns, ev->device_ns);
	op->device_total_ns = ns_add(op->device_total_ns, ns_add(ev->device_ns, ev->device_below_ns));
	if (kind == OP_STEP)
		draft_value(op, ev->dur_ns, OP_BASIS_CPU);
	else if (f->w->has_device)
		draft_value(op, ev->device_ns, OP_BASIS_DEVICE);
	else
		draft_value(op, self_ns(ev), OP_BASIS_CPU);
}

static void add_host(struct fold *f, const struct neuron_event *ev, enum op_kind kind)
{
	struct op_summary *op = draft_op(f->d, kind, name_of(f, ev));

	add_cpu(op, ev);
	draft_value(op, self_ns(ev), OP_BASIS_CPU);
}

static bool is_transfer(const struct neuron_event *ev)
{
	return ev->what == NEURON_TO_DEVICE || ev->what == NEURON_FROM_DEVICE;
}

/* Inside another transfer: a copy of a part of it. */
static bool is_part(const struct fold *f, const struct neuron_event *ev)
{
	uint32_t i = ev->up;

	for (unsigned n = 0; n < 16 && i != NEURON_NONE; n++) {
		if (is_transfer(&f->all->events.v[i]))
			return true;
		i = f->all->events.v[i].up;
	}
	return false;
}

static void add_transfer(struct fold *f, const struct neuron_event *ev)
{
	const struct label direction = { STR("direction"),
		ev->what == NEURON_TO_DEVICE ? STR("host_to_device") : STR("device_to_host") };

	if (is_part(f, ev)) {
		add_host(f, ev, OP_RUNTIME);
		return;
	}
	add_host(f, ev, OP_MEMCPY);
	draft_gauge(f->d, DRAFT_SUM, STR("transfers"), STR("1"), 1, &direction, 1);
	if (ev->bytes >= 0)
		draft_gauge(f->d, DRAFT_SUM, STR("transfer_bytes"), STR("bytes"), (double)ev->bytes, &direction, 1);
}

/* Device time that lies in an execution, or beside all ops: a total, and no self time. */
static void add_inside(struct fold *f, const struct neuron_event *ev, enum op_kind kind)
{
	struct op_summary *op = draft_op(f->d, kind, name_of(f, ev));

	if (op == NULL)
		return;
	op->device_total_ns = ns_add(op->device_total_ns, ev->dur_ns);
	draft_value(op, ev->dur_ns, OP_BASIS_DEVICE);
}

/* Has three letters in a row: "model" has, "_tp0_bk0" has not. */
static bool says_something(struct str folder)
{
	unsigned letters = 0;

	for (size_t i = 0; i < folder.n && letters < 3; i++) {
		char c = (char)(folder.p[i] | 0x20);

		letters = c >= 'a' && c <= 'z' ? letters + 1 : 0;
	}
	return letters == 3;
}

/* Models are named by the path of their NEFF in a cache or in a folder of the job; the folders above the last one that
 * says something change with every compiler and job. */
static struct str short_model(struct str path)
{
	size_t end = path.n, at;

	while (end > 0 && path.p[end - 1] != '/')
		end--;
	for (at = end; at > 0; end = at) {
		at--; /* the slash */
		while (at > 0 && path.p[at - 1] != '/')
			at--;
		if (says_something(str_make(path.p + at, end - at)) || at == 0)
			break;
	}
	return str_from(path, at);
}

static void add_execution(struct fold *f, struct neuron_event *ev)
{
	struct str model = short_model(neuron_text(f->all, ev->model));
	const struct label link = { STR("link"), str_of(neuron_link_name((enum neuron_link)ev->link)) };
	struct neuron_event **run;
	const struct neuron_event *op;

	if (ev->merged)
		return;
	draft_device(draft_op(f->d, OP_KERNEL, model.n > 0 ? model : name_of(f, ev)), ev->device_ns, ev->op == NEURON_NONE);
	draft_gauge(f->d, DRAFT_SUM, STR("executions"), STR("1"), 1, &link, 1);
	op = ev->op == NEURON_NONE ? ev : &f->all->events.v[ev->op];
	f->w->launches += in_steps(f, op->start_ns);
	if (op != ev && op->start_ns <= ev->start_ns)
		hist_add(&f->delays, ev->start_ns - op->start_ns);
	run = vec_push(&f->runs);
	if (run != NULL)
		*run = ev;
	else
		f->full = true;
}

static void add_mark(struct fold *f, const struct neuron_event *ev)
{
	const struct label type = { STR("type"), name_of(f, ev) };

	draft_gauge(f->d, DRAFT_SUM, STR("events"), STR("1"), 1, &type, 1);
}

static void add_event(struct fold *f, struct neuron_event *ev)
{
	switch ((enum neuron_what)ev->what) {
	case NEURON_CALL:
		if (ev->lane == NEURON_RUNTIME)
			add_host(f, ev, OP_RUNTIME);
		else
			add_framework(f, ev);
		break;
	case NEURON_EXECUTION: add_execution(f, ev); break;
	case NEURON_COLLECTIVE: add_inside(f, ev, OP_COLLECTIVE); break;
	case NEURON_DEVICE_WORK: add_inside(f, ev, OP_OVERHEAD); break;
	case NEURON_TO_DEVICE:
	case NEURON_FROM_DEVICE: add_transfer(f, ev); break;
	case NEURON_MARK: add_mark(f, ev); break;
	case NEURON_WHATS: break;
	}
}

/* ---- cores: busy time and gaps */

static int by_core_and_time(const void *a, const void *b)
{
	const struct neuron_event *x = *(struct neuron_event *const *)a, *y = *(struct neuron_event *const *)b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x < y ? -1 : 1;
}

static void add_gap(struct fold *f, int64_t from_ns, int64_t to_ns)
{
	struct op_summary *op;

	if (!in_steps(f, from_ns) || !in_steps(f, to_ns))
		return;
	op = draft_op(f->d, OP_GAP, STR("device"));
	if (op == NULL)
		return;
	op->device_total_ns = ns_add(op->device_total_ns, to_ns - from_ns);
	draft_value(op, to_ns - from_ns, OP_BASIS_DEVICE);
}

static void add_busy(struct fold *f, const struct neuron_event *ev, int64_t ns)
{
	struct str core = neuron_text(f->all, ev->core);
	const struct label label = { STR("core"), core };

	draft_gauge(f->d, DRAFT_SUM, STR("device_busy"), STR("ns"), (double)ns, &label, core.n > 0);
}

static void look_at_cores(struct fold *f)
{
	const struct neuron_event *last = NULL;
	int64_t end_ns = 0;

	if (f->runs.n > 1)
		qsort(f->runs.v, f->runs.n, sizeof(*f->runs.v), by_core_and_time);
	vec_each(ref, &f->runs) {
		const struct neuron_event *ev = *ref;
		int64_t ev_end_ns = neuron_end_ns(ev);

		if (last == NULL || last->process != ev->process || last->core != ev->core)
			end_ns = ev->start_ns;
		else if (ev->start_ns > end_ns)
			add_gap(f, end_ns, ev->start_ns);
		if (ev_end_ns > end_ns) {
			add_busy(f, ev, ev_end_ns - (ev->start_ns > end_ns ? ev->start_ns : end_ns));
			end_ns = ev_end_ns;
		}
		last = ev;
	}
}

/* ---- steps */

static int by_model(const void *a, const void *b)
{
	const struct neuron_event *x = *(struct neuron_event *const *)a, *y = *(struct neuron_event *const *)b;

	if (x->model != y->model)
		return x->model < y->model ? -1 : 1;
	return by_core_and_time(a, b);
}

/* What the models took: an entry for each model on each core. */
static void time_models(struct fold *f, struct model_times *times)
{
	struct model_time *t = NULL;

	if (f->runs.n > 1)
		qsort(f->runs.v, f->runs.n, sizeof(*f->runs.v), by_model);
	vec_each(ref, &f->runs) {
		const struct neuron_event *ev = *ref;

		if (t == NULL || t->model != ev->model || t->core != ev->core || t->process != ev->process) {
			t = vec_push(times);
			if (t == NULL) {
				f->full = true;
				return;
			}
			*t = (struct model_time){ .model = ev->model, .core = ev->core, .process = ev->process };
		}
		t->executions++;
		t->device_ns = ns_add(t->device_ns, ev->device_ns);
	}
}

/* A model that takes nearly all of the device's time is the step; of many small ones (an op each) none is. */
static void count_steps(struct fold *f)
{
	struct model_times times = { .cap = f->runs.n };
	int64_t all_ns = 0, best_ns = -1;
	uint64_t executions = 0;

	time_models(f, &times);
	for (size_t i = 0; i < times.n;) {
		int64_t model_ns = 0;
		uint64_t most = 0;
		size_t k = i;

		for (; k < times.n && times.v[k].model == times.v[i].model; k++) {
			model_ns = ns_add(model_ns, times.v[k].device_ns);
			most = times.v[k].executions > most ? times.v[k].executions : most;
		}
		all_ns = ns_add(all_ns, model_ns);
		if (model_ns > best_ns) {
			best_ns = model_ns;
			executions = most;
		}
		i = k;
	}
	vec_fini(&times);
	if (executions == 0 || best_ns < all_ns / 5 * 4)
		return;
	f->w->steps = executions;
	f->w->steps_from = STEPS_EXECUTIONS;
}

int neuron_fold(struct neuron_events_all *all, struct draft *d, struct window *w, struct err *e)
{
	struct fold f = { .all = all, .d = d, .w = w, .runs = VEC_INIT(all->events.n) };

	look_over(&f);
	vec_each(ev, &all->events)
		add_event(&f, ev);
	launch_delay_gauges(&f.delays, d);
	look_at_cores(&f);
	w->steps = f.markers;
	w->steps_from = f.markers > 0 ? STEPS_MARKER : STEPS_NONE;
	if (f.markers == 0)
		count_steps(&f);
	vec_fini(&f.runs);
	hist_fini(&f.delays);
	return f.full ? err_set(e, E_NOMEM, "no memory for the executions of %zu events", all->events.n) : OK;
}
