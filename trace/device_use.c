#include "trace/device_use.h"

#include "base/mem.h"
#include "json/text.h"
#include "trace/normalise.h"
#include "trace/order.h"
#include "trace/xla.h"

/* The union of spans that come in order of their start. */
struct cover {
	int64_t first_ns, end_ns, busy_ns;
	bool any;
};

static void cover_add(struct cover *c, const struct trace_event *ev)
{
	int64_t from = c->any && c->end_ns > ev->start_ns ? c->end_ns : ev->start_ns;

	if (!c->any)
		c->first_ns = c->end_ns = ev->start_ns;
	c->any = true;
	if (event_end_ns(ev) <= from)
		return;
	c->busy_ns = ns_add(c->busy_ns, event_end_ns(ev) - from);
	c->end_ns = event_end_ns(ev);
}

struct sum {
	uint64_t calls;
	int64_t ns;
};

static void sum_add(struct sum *s, int64_t ns)
{
	s->calls++;
	s->ns = ns_add(s->ns, ns);
}

struct use {
	const struct trace *t;
	struct draft *d;
	uint8_t *kind_of; /* of each name: 1 + enum op_kind of an execution so named, 0 where it is not known yet */
	struct sum kinds[OP_KINDS], copies[COPY_DIRECTIONS], orphans;
	size_t devices, streams;
};

/* ---- directions */

static const char *const direction_names[] = {
	[COPY_HOST_TO_DEVICE] = "host_to_device",
	[COPY_DEVICE_TO_HOST] = "device_to_host",
	[COPY_DEVICE_TO_DEVICE] = "device_to_device",
	[COPY_OTHER] = "other",
};
_Static_assert(COUNT(direction_names) == COPY_DIRECTIONS, "name every direction");

enum copy_direction copy_direction(struct str name)
{
	static const struct {
		struct str part;
		enum copy_direction direction;
	} parts[] = {
		{ STR("HtoD"), COPY_HOST_TO_DEVICE },	      { STR("HostToDevice"), COPY_HOST_TO_DEVICE },
		{ STR("M2D"), COPY_HOST_TO_DEVICE },	      { STR("DtoH"), COPY_DEVICE_TO_HOST },
		{ STR("DeviceToHost"), COPY_DEVICE_TO_HOST }, { STR("D2M"), COPY_DEVICE_TO_HOST },
		{ STR("DtoD"), COPY_DEVICE_TO_DEVICE },	      { STR("DeviceToDevice"), COPY_DEVICE_TO_DEVICE },
		{ STR("D2D"), COPY_DEVICE_TO_DEVICE },	      { STR("PtoP"), COPY_DEVICE_TO_DEVICE },
	};

	for (size_t i = 0; i < COUNT(parts); i++)
		if (str_find(name, parts[i].part) < name.n)
			return parts[i].direction;
	return COPY_OTHER;
}

/* ---- gauges */

struct str device_label(struct draft *d, struct str id)
{
	str_drop_prefix(&id, STR("\""));
	str_drop_suffix(&id, STR("\""));
	return json_unescape_to(d->arena, str_upto(id, 64)); /* at most three bytes for each */
}

static void put_time(struct use *u, struct str name, int64_t ns, const struct label *labels, size_t n)
{
	if (ns > 0)
		draft_gauge(u->d, DRAFT_SUM, name, STR("ns"), (double)ns, labels, n);
}

static void put_count(struct use *u, struct str name, const char *unit, uint64_t count, const struct label *labels, size_t n)
{
	if (count > 0)
		draft_gauge(u->d, DRAFT_SUM, name, str_of(unit), (double)count, labels, n);
}

static void put_sums(struct use *u)
{
	for (int kind = 0; kind < OP_KINDS; kind++) {
		const struct label class = { STR("class"), str_of(op_kind_name((enum op_kind)kind)) };

		put_time(u, STR("device_time"), u->kinds[kind].ns, &class, 1);
		put_count(u, STR("device_calls"), "calls", u->kinds[kind].calls, &class, 1);
	}
	for (int i = 0; i < COPY_DIRECTIONS; i++) {
		const struct label direction = { STR("direction"), str_of(direction_names[i]) };

		put_time(u, STR("copy_time"), u->copies[i].ns, &direction, 1);
		put_count(u, STR("copy_calls"), "calls", u->copies[i].calls, &direction, 1);
		put_count(u, STR("copy_bytes"), "bytes", u->t->copy_bytes[i], &direction, 1);
	}
	put_time(u, STR("orphan_time"), u->orphans.ns, NULL, 0);
	put_count(u, STR("orphan_calls"), "calls", u->orphans.calls, NULL, 0);
}

/* ---- executions */

static enum op_kind kind_of(struct use *u, const struct trace_event *ev)
{
	enum op_kind kind = event_info(ev)->kind;
	uint8_t *known = &u->kind_of[ev->name];

	if (kind != OP_KERNEL && kind != OP_HLO)
		return kind;
	if (*known == 0)
		*known = (uint8_t)(1 + (name_is_collective(trace_name(u->t, ev->name)) ? OP_COLLECTIVE : kind));
	return (enum op_kind)(*known - 1);
}

static void add_execution(struct use *u, const struct trace_event *ev, enum op_kind kind)
{
	sum_add(&u->kinds[kind], ev->dur_ns - xla_inside_ns(u->t, ev));
	if (kind == OP_MEMCPY)
		sum_add(&u->copies[copy_direction(trace_name(u->t, ev->name))], ev->dur_ns);
	if (u->t->xla != NULL) /* no HLO event says what launched it */
		return;
	if (ev->link == EVENT_NO_LINK || (u->t->events.v[ev->link].flags & EVENT_LOST))
		sum_add(&u->orphans, ev->dur_ns);
}

/* All executions of one device, in order. */
static void add_device(struct use *u, const uint32_t *index, size_t n, struct str pid)
{
	const struct label label = { STR("device"), device_label(u->d, pid) };
	struct cover all = { 0 }, collectives = { 0 }, others = { 0 }, both = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct trace_event *ev = &u->t->events.v[index[i]];
		enum op_kind kind = kind_of(u, ev);

		add_execution(u, ev, kind);
		cover_add(&all, ev);
		if ((kind != OP_COLLECTIVE && kind != OP_KERNEL && kind != OP_HLO) || xla_inside_ns(u->t, ev) > 0)
			continue; /* a loop around the work is none */
		cover_add(kind == OP_COLLECTIVE ? &collectives : &others, ev);
		cover_add(&both, ev);
	}
	if (++u->devices > DEVICE_USE_MAX)
		return;
	put_time(u, STR("device_idle"), ns_sub(ns_sub(all.end_ns, all.first_ns), all.busy_ns), &label, 1);
	put_time(u, STR("collective_busy"), collectives.busy_ns, &label, 1);
	put_time(u, STR("collective_overlap"), ns_sub(ns_add(collectives.busy_ns, others.busy_ns), both.busy_ns), &label, 1);
}

static struct str tid_of(const struct trace *t, uint32_t thread)
{
	struct str text = intern_name(&t->threads, thread);

	return str_from(text, intern_name(&t->pids, trace_pid(t, thread)).n + 1);
}

static void add_stream(struct use *u, const uint32_t *index, size_t n, uint32_t thread)
{
	const struct label labels[] = {
		{ STR("device"), device_label(u->d, intern_name(&u->t->pids, trace_pid(u->t, thread))) },
		{ STR("stream"), device_label(u->d, tid_of(u->t, thread)) },
	};
	struct cover all = { 0 };

	for (size_t i = 0; i < n; i++)
		cover_add(&all, &u->t->events.v[index[i]]);
	if (++u->streams <= DEVICE_USE_MAX)
		put_time(u, STR("stream_busy"), all.busy_ns, labels, COUNT(labels));
}

static uint32_t by_device(const struct trace *t, const struct trace_event *ev, const void *arg)
{
	(void)arg;
	return event_info(ev)->executes ? trace_pid(t, ev->thread) : ORDER_OUT;
}

static uint32_t by_stream(const struct trace *t, const struct trace_event *ev, const void *arg)
{
	(void)t;
	(void)arg;
	return event_info(ev)->executes ? ev->thread : ORDER_OUT;
}

static int go_over(struct use *u, bool streams, struct err *e)
{
	const struct trace *t = u->t;
	struct order o = { 0 };
	int rc = order_make(&o, t, streams ? by_stream : by_device, NULL,
		intern_count(streams ? &t->threads : &t->pids), ORDER_OUTER_FIRST, e);

	for (size_t g = 0; rc == OK && g < o.groups; g++) {
		const uint32_t *index = o.index + o.start[g];
		size_t n = o.start[g + 1] - o.start[g];

		if (n > 0 && streams)
			add_stream(u, index, n, (uint32_t)g);
		else if (n > 0)
			add_device(u, index, n, intern_name(&t->pids, (uint32_t)g));
	}
	order_fini(&o);
	return rc;
}

int device_use(const struct trace *t, struct draft *d, struct err *e)
{
	size_t names = intern_count(&t->names.intern) + 1;
	struct use u = { .t = t, .d = d, .kind_of = mem_try(names) };
	int rc;

	if (u.kind_of == NULL)
		return err_set(e, E_NOMEM, "no memory for %zu names", names);
	memset(u.kind_of, 0, names);
	rc = go_over(&u, false, e);
	if (rc == OK)
		rc = go_over(&u, true, e);
	if (rc == OK)
		put_sums(&u);
	mem_free(u.kind_of);
	return rc;
}
