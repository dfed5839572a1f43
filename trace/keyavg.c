#include "trace/keyavg.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "trace/link.h"
#include "trace/memory.h"
#include "trace/order.h"
#include "trace/tree.h"
#include "trace/xla.h"

/* A node that is open (on the stack) or just closed. Sums are over its direct children. */
struct node {
	struct trace_event *ev;
	int64_t children_ns, children_device_ns;
	uint32_t children;
	bool work_below;
	bool has_work; /* itself or below */
};

/* The child that closed last, as long as it is its parent's only one: whether it is a row is known when the parent
 * gets another child or closes. One for each level of the stack. */
struct level {
	struct node node;
	struct node only;
};

struct walk {
	struct trace *t;
	struct level *stack;
	size_t depth, room;
	uint64_t crossings;
	keyavg_each_call *each;
	void *arg;
};

static void emit(struct walk *w, const struct node *nd)
{
	struct keyavg_call call = {
		.ev = nd->ev,
		.cpu_total_ns = nd->ev->dur_ns,
		.self_cpu_ns = ns_sub(nd->ev->dur_ns, nd->children_ns),
		.self_device_ns = nd->ev->device_ns,
		.device_total_ns = ns_add(nd->ev->device_ns, nd->children_device_ns),
		.launches = nd->has_work && !nd->work_below,
	};

	if (event_info(nd->ev)->class != EVENT_PYTHON || (w->t->want & TRACE_PYTHON))
		w->each(w->arg, &call);
}

/* The parent takes the place of its only child, which has its name: children and device events are the child's, the
 * parent's own device events are in no row. */
static void absorb(struct node *parent, const struct node *child)
{
	parent->children = child->children;
	parent->children_ns = child->children_ns;
	parent->children_device_ns = child->children_device_ns;
	parent->work_below = child->work_below;
	parent->ev->device_ns = child->ev->device_ns;
	parent->ev->flags |= EVENT_LOST;
	child->ev->flags |= EVENT_TAKEN;
}

static void settle_only_child(struct walk *w, struct level *l)
{
	if (l->node.children != 1)
		return;
	if (l->only.ev->name == l->node.ev->name)
		absorb(&l->node, &l->only);
	else
		emit(w, &l->only);
}

static void add_child(struct walk *w, struct level *parent, const struct node *child)
{
	if (parent->node.children == 1)
		emit(w, &parent->only);
	if (parent->node.children > 0)
		emit(w, child);
	parent->only = *child;
	parent->node.children++;
	parent->node.children_ns = ns_add(parent->node.children_ns, child->ev->dur_ns);
	parent->node.children_device_ns = ns_add(parent->node.children_device_ns, child->ev->device_ns);
	parent->node.children_device_ns = ns_add(parent->node.children_device_ns, child->children_device_ns);
	parent->node.work_below |= child->has_work;
}

static void close_top(struct walk *w)
{
	struct level *l = &w->stack[w->depth - 1];
	struct node *nd = &l->node;

	settle_only_child(w, l);
	nd->has_work = nd->work_below || (event_info(nd->ev)->op &&
						 !(trace_name_flags(w->t, nd->ev->name) & NAME_NO_WORK));
	w->depth--;
	if (w->depth > 0)
		add_child(w, &w->stack[w->depth - 1], nd);
	else
		emit(w, nd);
}

static bool open_node(struct walk *w, struct trace_event *ev)
{
	if (w->depth == w->room) {
		size_t room = w->room ? w->room * 2 : 64;
		struct level *stack = mem_try_resize(w->stack, room * sizeof(*stack));

		if (stack == NULL)
			return false;
		w->stack = stack;
		w->room = room;
	}
	w->stack[w->depth++] = (struct level){ .node = { .ev = ev } };
	return true;
}

static int walk_thread(struct walk *w, const uint32_t *index, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		struct trace_event *ev = &w->t->events.v[index[i]];

		while (w->depth > 0) {
			int64_t end = event_end_ns(w->stack[w->depth - 1].node.ev);

			if (ev->start_ns < end && event_end_ns(ev) <= end)
				break;
			w->crossings += ev->start_ns < end;
			close_top(w);
		}
		if (!open_node(w, ev))
			return err_set(e, E_NOMEM, "no memory for %zu events in each other", w->depth);
	}
	while (w->depth > 0)
		close_top(w);
	return OK;
}

static void emit_others(struct walk *w)
{
	struct trace *t = w->t;

	vec_each(ev, &t->events) {
		struct keyavg_call call = { .ev = ev };

		if (event_info(ev)->class == EVENT_DEVICE) {
			call.device_total_ns = ev->dur_ns;
			call.self_device_ns = ev->dur_ns - (t->xla == NULL ? 0 : xla_inside_ns(t, ev));
			call.orphan = ev->link == EVENT_NO_LINK || (t->events.v[ev->link].flags & EVENT_LOST);
		} else if (event_is_async(t, ev)) {
			call.cpu_total_ns = ev->dur_ns;
		} else {
			continue;
		}
		w->each(w->arg, &call);
	}
}

int keyavg_each(struct trace *t, keyavg_each_call *each, void *arg, uint64_t *crossings, struct err *e)
{
	struct walk w = { .t = t, .each = each, .arg = arg };
	struct order o = { 0 };
	int rc = link_events(t, e);

	if (rc == OK)
		rc = order_make(&o, t, tree_thread, NULL, intern_count(&t->threads), ORDER_OUTER_FIRST, e);
	for (size_t g = 0; rc == OK && g < o.groups; g++)
		rc = walk_thread(&w, o.index + o.start[g], o.start[g + 1] - o.start[g], e);
	order_fini(&o);
	mem_free(w.stack);
	if (rc == OK)
		emit_others(&w);
	if (crossings != NULL)
		*crossings = w.crossings;
	return rc;
}

/* ---- the table */
enum {
	SORTS = 4, /* device or not, annotation or not */
	KEYS_MAX = 16000000,
	KEYS_BYTES_MAX = 1 << 30,
};

VEC(row_list, struct keyavg_row);

struct rows {
	uint32_t *of; /* SORTS for each name: 1 + index into list, or 0; not by shapes */
	struct arena keys;
	struct intern by_shape; /* name, sort and shapes → index into list */
	struct row_list list;
	struct keyavg_table *out;
	const struct trace *t;
	keyavg_each_call *also; /* or NULL */
	void *also_arg;
	bool full;
};

static struct keyavg_row *new_row(struct rows *rows, const struct trace_event *ev)
{
	struct keyavg_row *r = vec_push(&rows->list);

	if (r == NULL)
		return NULL;
	r->name = trace_name(rows->t, ev->name);
	r->is_device = event_info(ev)->class == EVENT_DEVICE;
	r->is_user_annotation = event_info(ev)->annotation;
	if (rows->out->want & TRACE_SHAPES)
		r->dims = trace_dims(rows->t, ev);
	return r;
}

static struct keyavg_row *row_by_shape(struct rows *rows, const struct trace_event *ev, uint32_t sort)
{
	const uint32_t key[] = { ev->name, sort, rows->t->dims_of.v[ev - rows->t->events.v] };
	uint32_t id = intern_id(&rows->by_shape, str_make((const char *)key, sizeof(key)));

	if (id == INTERN_NONE)
		return NULL;
	return id < rows->list.n ? &rows->list.v[id] : new_row(rows, ev);
}

static struct keyavg_row *row_of(struct rows *rows, const struct trace_event *ev, const struct event_cat_info *info)
{
	uint32_t sort = (info->class == EVENT_DEVICE ? 2 : 0) + (info->annotation ? 1 : 0);
	uint32_t *at = &rows->of[(size_t)ev->name * SORTS + sort];
	struct keyavg_row *r;

	if (rows->out->want & TRACE_SHAPES)
		return row_by_shape(rows, ev, sort);
	if (*at > 0)
		return &rows->list.v[*at - 1];
	r = new_row(rows, ev);
	if (r != NULL)
		*at = (uint32_t)rows->list.n;
	return r;
}

static void add_call(void *arg, const struct keyavg_call *c)
{
	struct rows *rows = arg;
	const struct event_cat_info *info = event_info(c->ev);
	struct keyavg_row *r = row_of(rows, c->ev, info);

	if (rows->also != NULL)
		rows->also(rows->also_arg, c);
	if (r == NULL) {
		rows->full = true;
		return;
	}
	if (r->count == 0 || c->ev->start_ns < r->first_ns ||
		(c->ev->start_ns == r->first_ns && c->ev->dur_ns > r->first_dur_ns)) {
		r->first_ns = c->ev->start_ns;
		r->first_dur_ns = c->ev->dur_ns;
	}
	r->count++;
	r->self_cpu_ns = ns_add(r->self_cpu_ns, c->self_cpu_ns);
	r->cpu_total_ns = ns_add(r->cpu_total_ns, c->cpu_total_ns);
	r->self_device_ns = ns_add(r->self_device_ns, c->self_device_ns);
	r->device_total_ns = ns_add(r->device_total_ns, c->device_total_ns);
	rows->out->steps += event_is_step(rows->t, c->ev);
	rows->out->self_cpu_ns = ns_add(rows->out->self_cpu_ns, c->self_cpu_ns);
	if (r->is_device && !r->is_user_annotation) {
		rows->out->self_device_ns = ns_add(rows->out->self_device_ns, c->self_device_ns);
		if (c->orphan)
			rows->out->orphan_ns = ns_add(rows->out->orphan_ns, c->self_device_ns);
	}
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct keyavg_row *a = pa, *b = pb;
	int by_name = str_cmp(a->name, b->name);

	if (by_name != 0)
		return by_name;
	if (a->is_device != b->is_device)
		return a->is_device ? 1 : -1;
	if (a->is_user_annotation != b->is_user_annotation)
		return a->is_user_annotation ? 1 : -1;
	return str_cmp(a->dims, b->dims);
}

static void add_memory(struct rows *rows, const struct trace_event *ev, const struct memory_sum *all,
	const int64_t *children)
{
	struct keyavg_row *r;

	if (event_info(ev)->class == EVENT_PYTHON && !(rows->out->want & TRACE_PYTHON))
		return;
	r = row_of(rows, ev, event_info(ev));
	for (int side = 0; r != NULL && side < MEMORY_SIDES; side++) {
		r->bytes[side] = ns_add(r->bytes[side], all->bytes[side]);
		if (children != NULL)
			r->self_bytes[side] = ns_add(r->self_bytes[side], ns_sub(all->bytes[side], children[side]));
	}
	rows->full |= r == NULL;
}

static void close_memory(void *arg, const struct tree_node *node, struct tree_node *parent)
{
	struct rows *rows = arg;
	struct memory_sum all = memory_between(rows->t, node->ev->start_ns, event_end_ns(node->ev));

	add_memory(rows, node->ev, &all, node->sum);
	for (int side = 0; parent != NULL && side < MEMORY_SIDES; side++)
		parent->sum[side] = ns_add(parent->sum[side], all.bytes[side]);
}

/* Asynchronous collectives are in no tree and have no self memory. */
static int add_memory_of_all(struct rows *rows, struct err *e)
{
	const struct tree_visitor v = { .close = close_memory, .arg = rows };
	const struct trace *t = rows->t;

	vec_each(ev, &t->events) {
		struct memory_sum all;

		if (!event_is_async(t, ev))
			continue;
		all = memory_between(t, ev->start_ns, event_end_ns(ev));
		add_memory(rows, ev, &all, NULL);
	}
	return tree_each(t, &v, e);
}

int keyavg_table_make(struct keyavg_table *out, struct trace *t, struct err *e)
{
	return keyavg_table_make_and(out, t, NULL, NULL, e);
}

int keyavg_table_make_and(struct keyavg_table *out, struct trace *t, keyavg_each_call *also, void *arg, struct err *e)
{
	size_t names = intern_count(&t->names.intern), bytes = (names + 1) * SORTS * sizeof(uint32_t);
	struct rows rows = { .t = t, .out = out, .also = also, .also_arg = arg, .list = VEC_INIT(UINT32_MAX - 1) };
	int rc;

	*out = (struct keyavg_table){ .want = t->want };
	rows.of = mem_try(bytes);
	if (rows.of == NULL)
		return err_set(e, E_NOMEM, "no memory for the rows of %zu names", names);
	memset(rows.of, 0, bytes);
	arena_init(&rows.keys, KEYS_BYTES_MAX);
	intern_init(&rows.by_shape, &rows.keys, KEYS_MAX);
	rc = keyavg_each(t, add_call, &rows, &out->crossings, e);
	if (rc == OK && (t->want & TRACE_MEMORY))
		rc = add_memory_of_all(&rows, e);
	intern_fini(&rows.by_shape);
	arena_fini(&rows.keys);
	if (rc == OK && rows.full)
		rc = err_set(e, E_NOMEM, "no memory for more than %zu rows", rows.list.n);
	mem_free(rows.of);
	if (rc < 0) {
		vec_fini(&rows.list);
		return rc;
	}
	out->v = rows.list.v;
	out->n = rows.list.n;
	if (out->n > 0)
		qsort(out->v, out->n, sizeof(*out->v), compare_rows);
	return OK;
}

void keyavg_table_fini(struct keyavg_table *kt)
{
	if (kt == NULL)
		return;
	mem_free(kt->v);
	*kt = (struct keyavg_table){ 0 };
}
