#include "cli/pprof_print.h"

#include "base/mem.h"

enum { FRAMES_BYTES_MAX = 64 << 20, FILE_BYTES_MAX = 64 << 10 };

enum value { VALUE_CALLS, VALUE_CPU, VALUE_DEVICE, VALUES };
static const struct pprof_type types[] = {
	[VALUE_CALLS] = { "calls", "count" },
	[VALUE_CPU] = { "cpu", "nanoseconds" },
	[VALUE_DEVICE] = { "device", "nanoseconds" },
};
_Static_assert(COUNT(types) == VALUES, "name every value");

struct pprof_print {
	struct pprof *pprof;
	bool has_device, too_deep, several;
	struct buf file; /* the first one's name */
	int64_t start_ns, dur_ns; /* of the first file that has a clock, of the longest */
};

struct pprof_print *pprof_print_new(void)
{
	struct pprof_print *p = mem_get(sizeof(*p));

	p->pprof = pprof_new(types, VALUES);
	buf_init(&p->file, FILE_BYTES_MAX);
	return p;
}

void pprof_print_free(struct pprof_print *p)
{
	if (p == NULL)
		return;
	pprof_free(p->pprof);
	buf_fini(&p->file);
	mem_free(p);
}

static void sample(struct pprof_print *p, const struct str *frames, size_t n, const int64_t values[VALUES], bool device,
	struct str file)
{
	const struct pprof_label labels[] = { { "on", device ? STR("device") : STR("host") }, { "file", file } };
	int64_t shown[VALUES];

	for (int i = 0; i < VALUES; i++)
		shown[i] = values[i] > 0 ? values[i] : 0; /* speedscope refuses a profile with a value below 0 */
	p->has_device |= shown[VALUE_DEVICE] > 0;
	pprof_sample(p->pprof, frames, n, shown, labels, p->several ? 2 : 1);
}

static void cover(struct pprof_print *p, int64_t start_ns, int64_t dur_ns)
{
	p->start_ns = p->start_ns == 0 ? start_ns : p->start_ns;
	p->dur_ns = dur_ns > p->dur_ns ? dur_ns : p->dur_ns;
}

static void begin(struct pprof_print *p, struct str file, bool several)
{
	p->several |= several;
	if (p->file.n == 0)
		buf_str(&p->file, file);
}

/* ---- traces */

/* The innermost first. */
static size_t frames_of(const struct chains *c, uint32_t id, struct buf *frames)
{
	buf_reset(frames);
	for (uint32_t at = id; at != CHAIN_NONE; at = c->list.v[at].parent) {
		struct str name = trace_name(c->t, c->list.v[at].name);

		buf_add(frames, &name, sizeof(name));
	}
	return frames->rc == OK ? frames->n / sizeof(struct str) : 0;
}

void pprof_print_trace(struct pprof_print *p, const struct chains *c, struct str file, bool several)
{
	const struct trace *t = c->t;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	struct buf frames;

	begin(p, file, several);
	buf_init(&frames, FRAMES_BYTES_MAX);
	for (uint32_t i = 0; i < c->list.n; i++) {
		const struct chain *chain = &c->list.v[i];
		const int64_t values[VALUES] = { (int64_t)chain->calls, chain->cpu_ns, chain->device_ns };
		size_t n = chain->calls == 0 ? 0 : frames_of(c, i, &frames);

		if (n > 0)
			sample(p, (const struct str *)(const void *)frames.p, n, values, chain->device, file);
	}
	p->too_deep |= frames.rc != OK;
	buf_fini(&frames);
	vec_each(ev, &t->events) {
		first_ns = ev->start_ns < first_ns ? ev->start_ns : first_ns;
		last_ns = event_end_ns(ev) > last_ns ? event_end_ns(ev) : last_ns;
	}
	if (t->events.n > 0)
		cover(p, t->has_base ? ns_add(t->base_ns, first_ns) : 0, ns_sub(last_ns, first_ns));
}

/* ---- windows */

/* Rows that hold again what others do: HLO ops are sums of a device's instructions where those are there. */
static bool is_sum(enum op_kind kind, bool has_kernels)
{
	return kind == OP_ENGINE || kind == OP_GAP || (kind == OP_HLO && has_kernels);
}

static bool has_kernels(const struct window *w)
{
	for (size_t i = 0; i < w->n_ops; i++)
		if (w->ops[i].kind == OP_KERNEL)
			return true;
	return false;
}

void pprof_print_window(struct pprof_print *p, const struct window *w, struct str file, bool several)
{
	bool kernels = has_kernels(w);

	begin(p, file, several);
	for (size_t i = 0; i < w->n_ops; i++) {
		const struct op_summary *op = &w->ops[i];
		bool device = op_is_device(op);
		const int64_t values[VALUES] = { (int64_t)op->calls, op->cpu_self_ns, device ? op->device_self_ns : 0 };

		if (!is_sum(op->kind, kernels))
			sample(p, &op->name, 1, values, device, file);
	}
	cover(p, w->start_ns, w->dur_ns);
}

int pprof_print_finish(struct pprof_print *p, struct buf *out, struct err *e)
{
	const struct pprof_head head = { p->several ? STR("") : buf_view(&p->file), p->start_ns, p->dur_ns,
		p->has_device ? VALUE_DEVICE : VALUE_CPU };

	if (p->too_deep)
		return err_set(e, E_LIMIT, "a chain of calls that is too deep for a profile");
	return pprof_finish(p->pprof, &head, out, e);
}
