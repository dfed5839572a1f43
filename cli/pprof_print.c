#include "cli/pprof_print.h"

#include "base/mem.h"

enum value { VALUE_CALLS, VALUE_CPU, VALUE_DEVICE, VALUES };
static const struct pprof_type types[] = {
	[VALUE_CALLS] = { "calls", "count" },
	[VALUE_CPU] = { "cpu", "nanoseconds" },
	[VALUE_DEVICE] = { "device", "nanoseconds" },
};
_Static_assert(COUNT(types) == VALUES, "name every value");

/* Names of ops stand in share.a; these two stand for none. */
#define OF_HOST UINT32_MAX
#define OF_NO_OP (UINT32_MAX - 1)

struct pprof_print {
	struct pprof *pprof;
	bool has_device;
	int64_t start_ns, dur_ns; /* of the first file that has a clock, of the longest */
};

struct pprof_print *pprof_print_new(void)
{
	struct pprof_print *p = mem_get(sizeof(*p));

	p->pprof = pprof_new(types, VALUES);
	return p;
}

void pprof_print_free(struct pprof_print *p)
{
	if (p == NULL)
		return;
	pprof_free(p->pprof);
	mem_free(p);
}

static void sample(struct pprof_print *p, const struct str *frames, size_t n, const int64_t values[VALUES], bool device,
	const char *file)
{
	const struct pprof_label labels[] = { { "on", device ? STR("device") : STR("host") }, { "file", str_of(file) } };

	p->has_device |= values[VALUE_DEVICE] > 0;
	pprof_sample(p->pprof, frames, n, values, labels, file == NULL ? 1 : 2);
}

static void cover(struct pprof_print *p, int64_t start_ns, int64_t dur_ns)
{
	p->start_ns = p->start_ns == 0 ? start_ns : p->start_ns;
	p->dur_ns = dur_ns > p->dur_ns ? dur_ns : p->dur_ns;
}

/* ---- traces */
void pprof_calls_add(void *arg, const struct keyavg_call *c)
{
	struct pprof_calls *calls = arg;
	const struct event_cat_info *info = event_info(c->ev);
	struct share share = { OF_HOST, c->ev->name, 1, c->self_cpu_ns, 0 };

	if (info->class == EVENT_DEVICE && !info->executes)
		return;
	if (info->class == EVENT_DEVICE) {
		share.a = c->ev->link == EVENT_NO_LINK ? OF_NO_OP : calls->t->events.v[c->ev->link].name;
		share.device_ns = c->ev->dur_ns;
	}
	shares_add(&calls->shares, share);
}

void pprof_print_trace(struct pprof_print *p, struct pprof_calls *calls, const char *file)
{
	const struct trace *t = calls->t;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	shares_settle(&calls->shares);
	for (size_t i = 0; i < calls->shares.n; i++) {
		const struct share *s = &calls->shares.v[i];
		bool in_op = s->a < OF_NO_OP;
		struct str frames[] = { trace_name(t, s->b), in_op ? trace_name(t, s->a) : STR("") };
		const int64_t values[VALUES] = { (int64_t)s->calls, s->cpu_ns, s->device_ns };

		sample(p, frames, in_op ? 2 : 1, values, s->a != OF_HOST, file);
	}
	vec_each(ev, &t->events) {
		first_ns = ev->start_ns < first_ns ? ev->start_ns : first_ns;
		last_ns = event_end_ns(ev) > last_ns ? event_end_ns(ev) : last_ns;
	}
	if (t->events.n > 0)
		cover(p, t->has_base ? ns_add(t->base_ns, first_ns) : 0, ns_sub(last_ns, first_ns));
}

/* ---- windows */
void pprof_print_window(struct pprof_print *p, const struct window *w, const char *file)
{
	for (size_t i = 0; i < w->n_ops; i++) {
		const struct op_summary *op = &w->ops[i];
		bool device = op_kind_on_device(op->kind);
		const int64_t values[VALUES] = { (int64_t)op->calls, device ? 0 : op->cpu_self_ns,
			device ? op->device_self_ns : 0 };

		if (op->kind != OP_ENGINE && op->kind != OP_GAP)
			sample(p, &op->name, 1, values, device, file);
	}
	cover(p, w->start_ns, w->dur_ns);
}

int pprof_print_finish(struct pprof_print *p, struct buf *out, struct err *e)
{
	return pprof_finish(p->pprof, p->start_ns, p->dur_ns, p->has_device ? VALUE_DEVICE : VALUE_CPU, out, e);
}
