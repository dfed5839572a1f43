#include "trace/chains.h"

#include <string.h>

#include "base/mem.h"
#include "trace/tree.h"
#include "trace/xla.h"

enum { CHAINS_MAX = 16000000, CHAINS_BYTES_MAX = 1 << 30 };

struct builder {
	struct chains *c;
	enum chains_of of;
	uint32_t *of_event; /* the chain of each host call; NULL where nobody asks */
	bool full;
};

static uint32_t chain_of(struct builder *b, uint32_t parent, uint32_t name, bool device)
{
	const uint32_t key[] = { parent, name, device };
	uint32_t id = b->full ? INTERN_NONE : intern_id(&b->c->keys, str_make((const char *)key, sizeof(key)));
	struct chain *c;

	if (id < b->c->list.n)
		return id;
	c = id == INTERN_NONE ? NULL : vec_push(&b->c->list);
	if (c == NULL) {
		b->full = true;
		return CHAIN_NONE;
	}
	*c = (struct chain){ .parent = parent, .name = name, .device = device };
	return id;
}

/* The parent stands for a call that was taken into it. */
static bool is_taken(const struct trace_event *ev, const struct tree_node *parent)
{
	return parent != NULL && (ev->flags & EVENT_TAKEN);
}

static void open_call(void *arg, struct tree_node *node, const struct tree_node *parent)
{
	struct builder *b = arg;
	uint32_t above = parent == NULL ? CHAIN_NONE : parent->id;

	node->id = is_taken(node->ev, parent) ? above : chain_of(b, above, node->ev->name, false);
	if (b->of_event != NULL)
		b->of_event[node->ev - b->c->t->events.v] = node->id;
}

static void close_call(void *arg, const struct tree_node *node, struct tree_node *parent)
{
	struct builder *b = arg;
	struct chain *c;

	if (is_taken(node->ev, parent)) {
		parent->sum[0] = ns_add(parent->sum[0], node->sum[0]); /* its children are the parent's */
		return;
	}
	if (parent != NULL)
		parent->sum[0] = ns_add(parent->sum[0], node->ev->dur_ns);
	if (b->full)
		return;
	c = &b->c->list.v[node->id];
	c->calls++;
	c->cpu_ns = ns_add(c->cpu_ns, ns_sub(node->ev->dur_ns, node->sum[0]));
	if (b->of == CHAINS_CALLS)
		c->device_ns = ns_add(c->device_ns, node->ev->device_ns);
}

static void add_call(struct builder *b, uint32_t parent, const struct trace_event *ev, bool device)
{
	uint32_t id = chain_of(b, parent, ev->name, device);
	struct chain *c = id == CHAIN_NONE ? NULL : &b->c->list.v[id];

	if (c == NULL)
		return;
	c->calls++;
	if (device)
		c->device_ns = ns_add(c->device_ns, ev->dur_ns - xla_inside_ns(b->c->t, ev));
}

/* What stands in no tree. */
static void add_others(struct builder *b)
{
	const struct trace *t = b->c->t;

	vec_each(ev, &t->events) {
		if (event_is_async(t, ev))
			add_call(b, CHAIN_NONE, ev, false);
		else if (b->of == CHAINS_KERNELS && event_info(ev)->executes)
			add_call(b, ev->link == EVENT_NO_LINK ? CHAIN_NONE : b->of_event[ev->link], ev, true);
	}
}

static int build(struct builder *b, struct err *e)
{
	const struct tree_visitor v = { open_call, close_call, b, .taken = true };
	const struct trace *t = b->c->t;
	size_t bytes = (t->events.n + 1) * sizeof(*b->of_event);
	int rc;

	if (b->of == CHAINS_KERNELS) {
		b->of_event = mem_try(bytes);
		if (b->of_event == NULL)
			return err_set(e, E_NOMEM, "no memory for the chains of %zu events", t->events.n);
		memset(b->of_event, 0xff, bytes);
	}
	rc = tree_each(t, &v, e);
	if (rc == OK)
		add_others(b);
	mem_free(b->of_event);
	if (rc == OK && b->full)
		rc = err_set(e, E_LIMIT, "no room for more than %zu chains of calls", b->c->list.n);
	return rc;
}

int chains_make(struct chains *out, const struct trace *t, enum chains_of of, struct err *e)
{
	struct builder b = { .c = out, .of = of };
	int rc;

	*out = (struct chains){ .t = t, .list = VEC_INIT(CHAINS_MAX) };
	arena_init(&out->arena, CHAINS_BYTES_MAX);
	intern_init(&out->keys, &out->arena, CHAINS_MAX);
	rc = build(&b, e);
	if (rc < 0)
		chains_fini(out);
	return rc;
}

void chains_fini(struct chains *c)
{
	if (c == NULL || c->t == NULL)
		return;
	vec_fini(&c->list);
	intern_fini(&c->keys);
	arena_fini(&c->arena);
	*c = (struct chains){ 0 };
}
