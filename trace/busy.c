#include "trace/busy.h"

#include "trace/order.h"

static uint32_t device_of(const struct trace *t, const struct trace_event *ev, const void *arg)
{
	(void)arg;
	return event_info(ev)->executes ? trace_pid(t, ev->thread) : ORDER_OUT;
}

static void say_busy(const struct busy_visitor *v, struct str pid, int64_t from_ns, int64_t to_ns)
{
	if (v->busy != NULL && to_ns > from_ns)
		v->busy(v->arg, pid, from_ns, to_ns);
}

static void sweep(const struct trace *t, const uint32_t *index, size_t n, struct busy_span span, struct str pid,
	const struct busy_visitor *v)
{
	int64_t busy_ns = 0, end = t->events.v[index[0]].start_ns, begin = end;

	for (size_t i = 0; i < n; i++) {
		const struct trace_event *ev = &t->events.v[index[i]];
		int64_t from = ev->start_ns > end ? ev->start_ns : end;

		if (ev->start_ns > end && end >= span.from_ns && ev->start_ns <= span.to_ns && i > 0)
			v->gap(v->arg, ns_sub(ev->start_ns, end));
		if (event_end_ns(ev) <= from)
			continue;
		if (ev->start_ns > end) {
			say_busy(v, pid, begin, end);
			begin = ev->start_ns;
		}
		busy_ns = ns_add(busy_ns, event_end_ns(ev) - from);
		end = event_end_ns(ev);
	}
	say_busy(v, pid, begin, end);
	v->device(v->arg, pid, busy_ns);
}

int busy_each(const struct trace *t, struct busy_span span, const struct busy_visitor *v, struct err *e)
{
	struct order o = { 0 };
	int rc = order_make(&o, t, device_of, NULL, intern_count(&t->pids), ORDER_OUTER_FIRST, e);

	for (size_t g = 0; rc == OK && g < o.groups; g++)
		if (o.start[g + 1] > o.start[g])
			sweep(t, o.index + o.start[g], o.start[g + 1] - o.start[g], span,
				intern_name(&t->pids, (uint32_t)g), v);
	order_fini(&o);
	return rc;
}
