#include "trace/xla.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/enc.h"
#include "base/hash.h"
#include "base/mem.h"
#include "trace/normalise.h"
#include "trace/order.h"

enum { MODULES_MAX = 1000000, ROWS_MAX = 4000000, KEY_MAX = 1 << 20, TEXT_MAX = 200, PS = 1000 };

/* An op of a module. */
struct hlo {
	uint32_t module;
	uint32_t name; /* of the trace's names */
	uint64_t count, outer; /* all, and those inside no other one of the module */
	int64_t total_ns;
	bool control; /* it runs other ops: a loop, a call, a choice */
};

struct run {
	uint32_t module;
	uint64_t id;
};

struct device_step {
	struct trace_event ev;
	int64_t number;
};

/* An execution of a module on a device, from a line that has nothing else. */
struct span {
	int64_t start_ns, end_ns;
	uint64_t program;
	uint32_t pid, name; /* of the trace's pids and names */
	bool has_program;
};

VEC(module_list, struct xla_module);
VEC(span_list, struct span);
VEC(hlo_list, struct hlo);
VEC(run_list, struct run);
VEC(step_list, struct device_step);

struct xla {
	struct intern module_keys; /* program (or nothing) and name → index into modules */
	struct intern hlo_keys;	   /* module and hlo_op → index into hlos */
	struct module_list modules;
	struct hlo_list hlos;
	int64_t *inside_ns; /* of each event, NULL where all are 0 */
	struct run_list runs; /* again wherever another run of the module came in between */
	struct step_list device_steps; /* of one device */
	struct span_list spans;
	struct buf key;
	/* the thread of the last event */
	char last_process[TEXT_MAX], last_tid[TEXT_MAX];
	size_t last_process_n, last_tid_n;
	uint32_t last_thread;
};

void xla_begin(struct trace *t)
{
	struct xla *x = mem_get(sizeof(*x));

	intern_init(&x->module_keys, &t->arena, MODULES_MAX);
	intern_init(&x->hlo_keys, &t->arena, ROWS_MAX);
	x->modules.cap = MODULES_MAX;
	x->hlos.cap = ROWS_MAX;
	x->runs.cap = t->events.cap;
	x->device_steps.cap = TRACE_STEPS_MAX;
	x->spans.cap = t->events.cap;
	buf_init(&x->key, KEY_MAX);
	x->last_thread = INTERN_NONE;
	t->xla = x;
	t->device = "XLA";
}

void xla_free(struct xla *x)
{
	if (x == NULL)
		return;
	intern_fini(&x->module_keys);
	intern_fini(&x->hlo_keys);
	vec_fini(&x->modules);
	vec_fini(&x->hlos);
	vec_fini(&x->runs);
	vec_fini(&x->device_steps);
	vec_fini(&x->spans);
	buf_fini(&x->key);
	mem_free(x->inside_ns);
	mem_free(x);
}

enum xla_line xla_line_of(struct str name)
{
	if (str_eq(name, STR("XLA Ops")))
		return XLA_LINE_OPS;
	return str_eq(name, STR("XLA Modules")) ? XLA_LINE_MODULES : XLA_LINE_ANY;
}

bool xla_is_device(struct str process)
{
	return str_has_prefix(process, STR("/device:"));
}

static bool is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

/* Where what stands behind the last dot begins, 0 without one. */
static size_t after_dot(struct str name)
{
	size_t at = name.n;

	while (at > 0 && name.p[at - 1] != '.')
		at--;
	return at;
}

/* A number, or that it is a copy or made once more: "remat", "remat2", "remat_uncompressed". */
static bool is_of_copy(struct str s)
{
	return is_digits(s) || str_eq(s, STR("clone")) || str_has_prefix(s, STR("remat"));
}

struct str hlo_base_name(struct str op)
{
	for (;;) {
		size_t dot = after_dot(op);

		if (dot < 2 || !is_of_copy(str_from(op, dot)))
			return op;
		op = str_upto(op, dot - 1);
	}
}

/* ---- what an event is */

enum sort { NOTHING, HLO, STEP, HOST_CALL, DEVICE_STEP, DEVICE_COPY, DEVICE_FILL, MODULE_RUN };

static bool begins(struct str name, const char *one, const char *two)
{
	return str_has_prefix(name, str_of(one)) || str_has_prefix(name, str_of(two));
}

static enum sort sort_of(const struct xla_event *ev)
{
	bool device = xla_is_device(ev->process);

	if (device && (ev->line == XLA_LINE_OPS || ev->line == XLA_LINE_MODULES))
		return ev->line == XLA_LINE_OPS ? HLO : MODULE_RUN;
	if (ev->hlo_op.p != NULL)
		return device && ev->line == XLA_LINE_BESIDE ? NOTHING : HLO;
	if (device && ev->has_step)
		return DEVICE_STEP;
	if (device)
		return begins(ev->name, "Memcpy", "memcpy")    ? DEVICE_COPY
			: begins(ev->name, "Memset", "memset") ? DEVICE_FILL
							       : NOTHING;
	if (str_has_prefix(ev->name, STR("$")) || str_has_prefix(ev->name, STR("end: ")))
		return NOTHING;
	return ev->has_step ? STEP : HOST_CALL;
}

static enum event_cat cat_of(enum sort sort)
{
	switch (sort) {
	case HLO: return CAT_HLO;
	case STEP:
	case DEVICE_STEP: return CAT_USER_ANNOTATION;
	case DEVICE_COPY: return CAT_MEMCPY;
	case DEVICE_FILL: return CAT_MEMSET;
	case NOTHING:
	case MODULE_RUN:
	case HOST_CALL: break;
	}
	return CAT_RUNTIME;
}

static int64_t ns_below(int64_t ps)
{
	return ps / PS - (ps % PS < 0);
}

static int64_t ns_nearest(int64_t ps)
{
	return ps / PS + (ps % PS >= PS / 2);
}

/* ---- rows and modules */

static struct str number_text(uint64_t n, char out[24])
{
	return str_make(out, (size_t)snprintf(out, 24, "%" PRIu64, n));
}

static uint32_t module_of(struct xla *x, const struct xla_event *ev)
{
	char text[24];
	struct xla_module *m;
	uint32_t id;

	buf_reset(&x->key);
	buf_str(&x->key, ev->has_program ? number_text(ev->program, text) : STR(""));
	buf_byte(&x->key, '\037');
	buf_str(&x->key, ev->hlo_module);
	id = x->key.rc == OK ? intern_id(&x->module_keys, buf_view(&x->key)) : INTERN_NONE;
	if (id == INTERN_NONE ||
		id > x->modules.n) /* numbers are given in order: one before it found no room */
		return INTERN_NONE;
	if (id < x->modules.n)
		return id;
	m = vec_push(&x->modules);
	if (m == NULL)
		return INTERN_NONE;
	m->name = intern_name(&x->module_keys, id);
	m->name = str_from(m->name, str_find_byte(m->name, '\037') + 1);
	return id;
}

static bool is_control(struct str op)
{
	static const struct str names[] = { STR("while"), STR("call"), STR("conditional"), STR("cond") };
	struct str base = hlo_base_name(op);

	for (size_t i = 0; i < COUNT(names); i++)
		if (str_eq(base, names[i]))
			return true;
	return false;
}

static struct hlo *hlo_of(struct trace *t, uint32_t module, struct str op)
{
	struct xla *x = t->xla;
	uint8_t bytes[4];
	struct hlo *h;
	uint32_t id, name;

	enc_put32(bytes, module);
	buf_reset(&x->key);
	buf_add(&x->key, bytes, sizeof(bytes));
	buf_str(&x->key, op);
	id = x->key.rc == OK ? intern_id(&x->hlo_keys, buf_view(&x->key)) : INTERN_NONE;
	if (id == INTERN_NONE || id > x->hlos.n)
		return NULL;
	if (id < x->hlos.n)
		return &x->hlos.v[id];
	name = trace_names_id(&t->names, op);
	if (name == INTERN_NONE)
		return NULL;
	h = vec_push(&x->hlos);
	if (h != NULL)
		*h = (struct hlo){ .module = module, .name = name, .control = is_control(op) };
	return h;
}

static bool note_run(struct xla *x, uint32_t module, uint64_t id)
{
	struct xla_module *m = &x->modules.v[module];
	struct run *run;

	if (m->has_runs && m->last_run == id)
		return true;
	run = vec_push(&x->runs);
	if (run == NULL)
		return false;
	*run = (struct run){ module, id };
	m->has_runs = true;
	m->last_run = id;
	return true;
}

static struct hlo *hlo_of_event(struct trace *t, const struct xla_event *ev)
{
	uint32_t module = module_of(t->xla, ev);

	if (module == INTERN_NONE || (ev->has_run && !note_run(t->xla, module, ev->run)))
		return NULL;
	return hlo_of(t, module, ev->hlo_op.p != NULL ? ev->hlo_op : ev->name);
}

static void count_hlo(struct hlo *h, int64_t ns)
{
	h->count++;
	h->total_ns = ns_add(h->total_ns, ns);
}

/* ---- events */

/* The same thread mostly comes many times in a row. */
static uint32_t known_thread(struct trace *t, struct str process, struct str tid)
{
	struct xla *x = t->xla;

	if (x->last_thread != INTERN_NONE && str_eq(process, str_make(x->last_process, x->last_process_n)) &&
		str_eq(tid, str_make(x->last_tid, x->last_tid_n)))
		return x->last_thread;
	x->last_thread = trace_thread(t, process, tid);
	if (process.n > 0)
		memcpy(x->last_process, process.p, process.n);
	if (tid.n > 0)
		memcpy(x->last_tid, tid.p, tid.n);
	x->last_process_n = process.n;
	x->last_tid_n = tid.n;
	return x->last_thread;
}

/* A device is a process of its own; devices that run on threads of the host are told apart by number. */
static uint32_t thread_of(struct trace *t, const struct xla_event *ev, enum sort sort)
{
	struct str process = str_upto(ev->process, TEXT_MAX - 32);
	char text[TEXT_MAX];

	if (sort == HLO && ev->has_ordinal && !xla_is_device(process))
		process = str_make(text,
			(size_t)snprintf(text, sizeof(text), "%.*s:%" PRIu64, STR_ARG(process), ev->ordinal));
	return known_thread(t, process, str_upto(ev->thread, TEXT_MAX));
}

static void set_event(const struct xla_event *ev, struct trace_event *out, int64_t end_ps, enum sort sort, uint32_t name,
	uint32_t thread)
{
	out->name = name;
	out->thread = thread & (EVENT_THREADS_MAX - 1);
	out->cat = (unsigned)cat_of(sort) & 15;
	out->start_ns = ns_below(ev->start_ps);
	out->dur_ns = event_cat_info(cat_of(sort))->class == EVENT_DEVICE ? ns_nearest(ev->dur_ps)
									  : ns_below(end_ps) - out->start_ns;
}

static bool keep_event(struct trace *t, const struct trace_event *ev)
{
	struct trace_event *out = vec_push(&t->events);

	if (out != NULL)
		*out = *ev;
	return out != NULL;
}

static bool note_step(struct trace *t, const struct trace_event *ev, int64_t number)
{
	t->names.flags[ev->name] |= NAME_STEP;
	t->names.step = number;
	return trace_note_step(t, ev);
}

static bool keep_device_step(struct trace *t, const struct trace_event *ev, int64_t number)
{
	struct step_list *steps = &t->xla->device_steps;
	struct device_step *out;

	if (steps->n > 0 && trace_pid(t, steps->v[0].ev.thread) != trace_pid(t, ev->thread))
		return true;
	out = vec_push(steps);
	if (out != NULL)
		*out = (struct device_step){ *ev, number };
	return out != NULL;
}

/* "jit_step(17)": the name, then the program. */
static bool keep_span(struct trace *t, const struct xla_event *ev)
{
	struct str program = ev->name, name = str_split(&program, '(');
	uint32_t thread = thread_of(t, ev, MODULE_RUN), id = trace_names_id(&t->names, name);
	struct span *span;

	if (thread == INTERN_NONE || id == INTERN_NONE || (span = vec_push(&t->xla->spans)) == NULL)
		return false;
	*span = (struct span){ .start_ns = ns_below(ev->start_ps), .pid = trace_pid(t, thread), .name = id };
	span->end_ns = ns_add(span->start_ns, ns_nearest(ev->dur_ps));
	str_drop_suffix(&program, STR(")"));
	span->has_program = str_to_u64(program, &span->program) == OK;
	return true;
}

void xla_add(struct trace *t, const struct xla_event *ev, struct trace_report *report)
{
	enum sort sort = sort_of(ev);
	struct trace_event fresh = { .start_ns = 0 };
	struct hlo *h = NULL;
	uint32_t thread, name;
	int64_t end_ps;

	if (sort == NOTHING)
		return;
	if (ev->dur_ps < 0 || __builtin_add_overflow(ev->start_ps, ev->dur_ps, &end_ps)) {
		trace_report_add(report, TRACE_BAD_NUMBER, 1, ev->offset);
		return;
	}
	if (sort == MODULE_RUN) {
		if (!keep_span(t, ev))
			trace_report_add(report, TRACE_TOO_MANY, 1, ev->offset);
		return;
	}
	if (sort == HLO)
		h = hlo_of_event(t, ev);
	name = sort != HLO ? trace_names_id(&t->names, ev->name) : h != NULL ? h->name : INTERN_NONE;
	thread = name == INTERN_NONE ? INTERN_NONE : thread_of(t, ev, sort);
	if (thread != INTERN_NONE)
		set_event(ev, &fresh, end_ps, sort, name, thread);
	if (thread == INTERN_NONE || !(sort == DEVICE_STEP ? keep_device_step(t, &fresh, ev->step) : keep_event(t, &fresh))) {
		trace_report_add(report, TRACE_TOO_MANY, 1, ev->offset);
		return;
	}
	if (h != NULL) {
		t->events.v[t->events.n - 1].ext = (uint64_t)(h - t->xla->hlos.v); /* until all is settled */
		count_hlo(h, fresh.dur_ns);
	}
	if (sort == STEP && !note_step(t, &fresh, ev->step))
		trace_report_add(report, TRACE_TOO_MANY, 1, ev->offset);
}

/* ---- modules by time */

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The execution that an event of a device stands in, or NULL. */
static const struct span *span_around(const struct span_list *spans, uint32_t pid, const struct trace_event *ev)
{
	size_t low = 0, high = spans->n;
	const struct span *last;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct span *s = &spans->v[middle];

		if (s->pid < pid || (s->pid == pid && s->start_ns <= ev->start_ns))
			low = middle + 1;
		else
			high = middle;
	}
	last = low > 0 ? &spans->v[low - 1] : NULL;
	return last != NULL && last->pid == pid && event_end_ns(ev) <= ns_add(last->end_ns, 1) ? last : NULL;
}

/* The event's op becomes one of the module that ran. */
static bool move_to(struct trace *t, struct trace_event *ev, const struct span *span)
{
	struct xla *x = t->xla;
	struct hlo *from = &x->hlos.v[ev->ext], *to;
	const struct xla_event ran = { .hlo_module = trace_name(t, span->name), .has_program = span->has_program,
		.program = span->program };
	uint32_t module = module_of(x, &ran);

	from->count--;
	from->total_ns -= ev->dur_ns;
	if (module == INTERN_NONE || !note_run(x, module, (uint64_t)(span - x->spans.v)))
		return false;
	to = hlo_of(t, module, trace_name(t, from->name));
	if (to == NULL)
		return false;
	count_hlo(to, ev->dur_ns);
	ev->ext = (uint64_t)(to - x->hlos.v);
	return true;
}

static bool find_modules(struct trace *t)
{
	struct xla *x = t->xla;

	if (x->spans.n > 0)
		qsort(x->spans.v, x->spans.n, sizeof(*x->spans.v), compare_spans);
	for (size_t i = 0; x->spans.n > 0 && i < t->events.n; i++) {
		struct trace_event *ev = &t->events.v[i];
		const struct span *span;

		if (ev->cat != CAT_HLO || x->modules.v[x->hlos.v[ev->ext].module].name.n > 0)
			continue;
		span = span_around(&x->spans, trace_pid(t, ev->thread), ev);
		if (span != NULL && !move_to(t, ev, span))
			return false;
	}
	vec_fini(&x->spans);
	return true;
}

/* ---- HLO events inside each other */

VEC(event_stack, uint32_t);
enum { CONTROLS_MAX = 64 }; /* open at once */
#define INSIDE (UINT64_C(1) << 63) /* in ext: a control op of the module is around it, on whatever thread */

static struct hlo *hlo_at(const struct trace *t, const struct trace_event *ev)
{
	return &t->xla->hlos.v[ev->ext & ~INSIDE];
}

static uint32_t hlo_device(const struct trace *t, const struct trace_event *ev, const void *arg)
{
	(void)arg;
	return ev->cat == CAT_HLO ? trace_pid(t, ev->thread) : ORDER_OUT;
}

static uint32_t hlo_thread(const struct trace *t, const struct trace_event *ev, const void *arg)
{
	(void)t;
	(void)arg;
	return ev->cat == CAT_HLO ? ev->thread : ORDER_OUT;
}

/* Ends are those of rounded starts and rounded durations: they may be a nanosecond apart. */
static bool is_inside(const struct trace_event *ev, const struct trace_event *around)
{
	return ev->start_ns < event_end_ns(around) && event_end_ns(ev) <= ns_add(event_end_ns(around), 1);
}

static bool note_inside(struct trace *t, uint32_t around, int64_t ns)
{
	struct xla *x = t->xla;
	size_t bytes = t->events.n * sizeof(*x->inside_ns);

	if (x->inside_ns == NULL) {
		x->inside_ns = mem_try(bytes);
		if (x->inside_ns == NULL)
			return false;
		memset(x->inside_ns, 0, bytes);
	}
	x->inside_ns[around] = ns_add(x->inside_ns[around], ns);
	return true;
}

/* As what runs in a control op. */
static bool is_counted(const struct trace *t, const struct trace_event *around, const struct trace_event *ev)
{
	return hlo_at(t, around)->control && hlo_at(t, around)->module == hlo_at(t, ev)->module;
}

struct control {
	uint32_t event;
	int64_t covered_ns; /* up to here what runs in it is counted */
};

/* The events of one device, in order: what runs in a control op, on any thread, is its inside, each moment once. */
static bool fill_controls(struct trace *t, const uint32_t *index, size_t n)
{
	struct control open[CONTROLS_MAX];
	size_t n_open = 0;

	for (size_t i = 0; i < n; i++) {
		struct trace_event *ev = &t->events.v[index[i]];
		size_t kept = 0;

		for (size_t k = 0; k < n_open; k++) {
			const struct trace_event *around = &t->events.v[open[k].event];
			int64_t from_ns = ev->start_ns > open[k].covered_ns ? ev->start_ns : open[k].covered_ns;

			if (event_end_ns(around) <= ev->start_ns)
				continue;
			if (hlo_at(t, around)->module == hlo_at(t, ev)->module && is_inside(ev, around)) {
				ev->ext |= INSIDE;
				if (event_end_ns(ev) > from_ns) {
					if (!note_inside(t, open[k].event, event_end_ns(ev) - from_ns))
						return false;
					open[k].covered_ns = event_end_ns(ev);
				}
			}
			open[kept++] = open[k];
		}
		n_open = kept;
		if (hlo_at(t, ev)->control && n_open < CONTROLS_MAX)
			open[n_open++] = (struct control){ index[i], ev->start_ns };
	}
	return true;
}

/* The events of one thread, in order. */
static bool nest(struct trace *t, const uint32_t *index, size_t n, struct event_stack *open)
{
	const struct trace_event *v = t->events.v;

	open->n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct trace_event *ev = &v[index[i]];
		uint32_t *top;

		while (open->n > 0 && !is_inside(ev, &v[open->v[open->n - 1]]))
			open->n--;
		top = open->n > 0 ? &open->v[open->n - 1] : NULL;
		if (top != NULL && !is_counted(t, &v[*top], ev) && !note_inside(t, *top, ev->dur_ns))
			return false;
		hlo_at(t, ev)->outer += !(ev->ext & INSIDE) &&
					(top == NULL || hlo_at(t, &v[*top])->module != hlo_at(t, ev)->module);
		top = vec_push(open);
		if (top == NULL)
			return false;
		*top = index[i];
	}
	return true;
}

/* Counts and times of modules, of what no other event of theirs has counted. */
static void sum_modules(struct trace *t)
{
	struct xla *x = t->xla;

	vec_each(h, &x->hlos) {
		struct xla_module *m = &x->modules.v[h->module];

		m->most = h->outer > m->most ? h->outer : m->most;
		if (h->control && h->outer > 0 && (m->fewest == 0 || h->outer < m->fewest))
			m->fewest = h->outer;
	}
	vec_each(ev, &t->events) {
		struct xla_module *m;

		if (ev->cat != CAT_HLO)
			continue;
		m = &x->modules.v[hlo_at(t, ev)->module];
		m->device_ns = ns_add(m->device_ns, ev->dur_ns - xla_inside_ns(t, ev));
		ev->ext = 0;
	}
}

static int nest_all(struct trace *t, struct err *e)
{
	struct event_stack open = { .cap = t->events.n + 1 };
	struct order o = { 0 };
	int rc = order_make(&o, t, hlo_device, NULL, intern_count(&t->pids), ORDER_OUTER_FIRST, e);

	for (size_t g = 0; rc == OK && g < o.groups; g++)
		if (!fill_controls(t, o.index + o.start[g], o.start[g + 1] - o.start[g]))
			rc = err_set(e, E_NOMEM, "no memory to nest %zu HLO events", o.n);
	order_fini(&o);
	if (rc == OK)
		rc = order_make(&o, t, hlo_thread, NULL, intern_count(&t->threads), ORDER_OUTER_FIRST, e);
	for (size_t g = 0; rc == OK && g < o.groups; g++)
		if (!nest(t, o.index + o.start[g], o.start[g + 1] - o.start[g], &open))
			rc = err_set(e, E_NOMEM, "no memory to nest %zu HLO events", o.n);
	vec_fini(&open);
	order_fini(&o);
	if (rc == OK)
		sum_modules(t);
	return rc;
}

int64_t xla_inside_ns(const struct trace *t, const struct trace_event *ev)
{
	int64_t ns;

	if (t->xla == NULL || t->xla->inside_ns == NULL)
		return 0;
	ns = t->xla->inside_ns[ev - t->events.v];
	return ns < ev->dur_ns ? ns : ev->dur_ns;
}

/* ---- executions and identities */

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void count_executions(struct xla *x)
{
	if (x->runs.n > 0)
		qsort(x->runs.v, x->runs.n, sizeof(*x->runs.v), compare_runs);
	for (size_t i = 0; i < x->runs.n; i++)
		if (i == 0 || compare_runs(&x->runs.v[i], &x->runs.v[i - 1]) != 0)
			x->modules.v[x->runs.v[i].module].executions++;
	vec_each(m, &x->modules)
		if (!m->has_runs)
			m->executions = m->fewest > 0 ? m->fewest : m->most;
	vec_fini(&x->runs);
}

/* The sum of the hashes of a module's distinct base names: the same in whatever order they came. */
static int identify(struct trace *t, struct err *e)
{
	struct xla *x = t->xla;
	struct arena keys;
	struct intern seen;
	int rc = OK;

	arena_init(&keys, (size_t)1 << 30);
	intern_init(&seen, &keys, ROWS_MAX);
	vec_each(h, &x->hlos) {
		struct str base = hlo_base_name(trace_name(t, h->name));
		size_t known = intern_count(&seen);
		uint8_t bytes[4];

		if (h->count == 0)
			continue;
		enc_put32(bytes, h->module);
		buf_reset(&x->key);
		buf_add(&x->key, bytes, sizeof(bytes));
		buf_str(&x->key, base);
		if (x->key.rc != OK || intern_id(&seen, buf_view(&x->key)) == INTERN_NONE)
			rc = err_set(e, E_NOMEM, "no memory for the ops of %zu modules", x->modules.n);
		else if (intern_count(&seen) > known)
			x->modules.v[h->module].identity += hash64(base.p, base.n, 0);
	}
	intern_fini(&seen);
	arena_fini(&keys);
	return rc;
}

static bool use_device_steps(struct trace *t)
{
	vec_each(ev, &t->events)
		if (event_is_step(t, ev))
			return true;
	vec_each(step, &t->xla->device_steps) {
		if (!keep_event(t, &step->ev))
			return t->events.n == t->events.cap;
		(void)note_step(t, &step->ev, step->number); /* without its number it is a step all the same */
	}
	return true;
}

int xla_settle(struct trace *t, struct err *e)
{
	int rc;

	if (!use_device_steps(t))
		return err_set(e, E_NOMEM, "no memory for %zu steps", t->xla->device_steps.n);
	if (!find_modules(t))
		return err_set(e, E_NOMEM, "no memory for the modules of %zu events", t->events.n);
	rc = nest_all(t, e);
	if (rc < 0)
		return rc;
	count_executions(t->xla);
	return identify(t, e);
}

size_t xla_modules(const struct trace *t)
{
	return t->xla == NULL ? 0 : t->xla->modules.n;
}

const struct xla_module *xla_module(const struct trace *t, size_t i)
{
	return &t->xla->modules.v[i];
}

void xla_module_name(const struct xla_module *m, struct buf *out)
{
	struct str name = m->name;
	size_t dot = after_dot(name);
	bool numbered = dot > 1 && is_digits(str_from(name, dot));
	struct buf scratch;

	buf_init(&scratch, KEY_MAX);
	buf_text(out, "hlo_module ");
	buf_str(out, normalise_name(numbered ? str_upto(name, dot - 1) : name, 256, &scratch));
	buf_text(out, numbered ? ".*" : "");
	buf_fmt(out, " {%016" PRIx64 "}", m->identity);
	if (out->rc == OK)
		out->rc = scratch.rc;
	buf_fini(&scratch);
}

/* ---- the table by module */

static int compare_rows(const void *a, const void *b)
{
	const struct xla_row *x = a, *y = b;
	int by_module = str_cmp(x->module, y->module);

	return by_module != 0 ? by_module : str_cmp(x->op, y->op);
}

int xla_table_make(struct xla_table *out, const struct trace *t, struct err *e)
{
	const struct xla *x = t->xla;
	size_t n = x == NULL ? 0 : x->hlos.n, all = 0, kept = 0;

	*out = (struct xla_table){ .v = mem_try((n + 1) * sizeof(*out->v)) };
	if (out->v == NULL)
		return err_set(e, E_NOMEM, "no memory for %zu rows", n);
	for (size_t i = 0; i < n; i++) {
		if (x->hlos.v[i].count == 0) /* its calls went to the modules that ran */
			continue;
		out->v[all++] = (struct xla_row){
			.module = x->modules.v[x->hlos.v[i].module].name,
			.op = trace_name(t, x->hlos.v[i].name),
			.count = x->hlos.v[i].count,
			.total_ns = x->hlos.v[i].total_ns,
		};
	}
	n = all;
	qsort(out->v, n, sizeof(*out->v), compare_rows);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || compare_rows(&out->v[kept - 1], &out->v[i]) != 0) {
			out->v[kept++] = out->v[i];
			continue;
		}
		out->v[kept - 1].count += out->v[i].count;
		out->v[kept - 1].total_ns = ns_add(out->v[kept - 1].total_ns, out->v[i].total_ns);
	}
	out->n = kept;
	return OK;
}

void xla_table_fini(struct xla_table *xt)
{
	if (xt == NULL)
		return;
	mem_free(xt->v);
	*xt = (struct xla_table){ 0 };
}
