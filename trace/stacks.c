#include "trace/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "trace/tree.h"

enum {
	CHAINS_MAX = 16000000,
	CHAINS_BYTES_MAX = 1 << 30,
	LINE_BYTES_MAX = 64 << 20, /* of one chain */
};
#define NO_CHAIN UINT32_MAX

struct chain {
	uint32_t parent, name;
	int64_t ns;
};

VEC(chain_list, struct chain);
VEC(line_list, struct str);

struct stacks {
	const struct trace *t;
	enum stacks_of of;
	struct arena arena;
	struct intern keys; /* parent and name → index into chains */
	struct chain_list chains;
	bool full;
};

static uint32_t chain_of(struct stacks *s, uint32_t parent, uint32_t name)
{
	const uint32_t key[] = { parent, name };
	uint32_t id = intern_id(&s->keys, str_make((const char *)key, sizeof(key)));
	struct chain *c;

	if (id == INTERN_NONE || id < s->chains.n)
		return id;
	c = vec_push(&s->chains);
	if (c == NULL)
		return INTERN_NONE;
	*c = (struct chain){ .parent = parent, .name = name };
	return id;
}

static void open_call(void *arg, struct tree_node *node, const struct tree_node *parent)
{
	struct stacks *s = arg;

	if (s->full)
		return;
	node->id = chain_of(s, parent == NULL ? NO_CHAIN : parent->id, node->ev->name);
	s->full = node->id == INTERN_NONE;
}

static void close_call(void *arg, const struct tree_node *node, struct tree_node *parent)
{
	struct stacks *s = arg;
	int64_t ns = s->of == STACKS_DEVICE ? node->ev->device_ns : ns_sub(node->ev->dur_ns, node->sum[0]);

	if (parent != NULL)
		parent->sum[0] = ns_add(parent->sum[0], node->ev->dur_ns);
	if (!s->full)
		s->chains.v[node->id].ns = ns_add(s->chains.v[node->id].ns, ns);
}

/* ---- lines */

static void put_name(struct str name, struct buf *out)
{
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		buf_byte(out, c <= ' ' || c == ';' || c == 0x7f ? '_' : c);
	}
}

/* Names from the root down: the way up is written down first. */
static struct str line_of(const struct stacks *s, uint32_t id, struct buf *way, struct buf *line, struct arena *a)
{
	buf_reset(way);
	buf_reset(line);
	for (uint32_t at = id; at != NO_CHAIN; at = s->chains.v[at].parent)
		buf_add(way, &s->chains.v[at].name, sizeof(uint32_t));
	for (size_t left = way->n; left > 0; left -= sizeof(uint32_t)) {
		uint32_t name;

		memcpy(&name, way->p + left - sizeof(name), sizeof(name));
		put_name(trace_name(s->t, name), line);
		buf_byte(line, left > sizeof(name) ? ';' : ' ');
	}
	buf_fmt(line, "%" PRId64 "\n", s->chains.v[id].ns / 1000);
	return way->rc == OK && line->rc == OK ? arena_str(a, buf_view(line)) : STR("");
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int print_lines(const struct stacks *s, struct buf *out, struct err *e)
{
	struct line_list lines = VEC_INIT(CHAINS_MAX);
	struct buf way, line;
	struct arena a;
	bool whole = true;

	arena_init(&a, CHAINS_BYTES_MAX);
	buf_init(&way, LINE_BYTES_MAX);
	buf_init(&line, LINE_BYTES_MAX);
	for (uint32_t i = 0; whole && i < s->chains.n; i++) {
		struct str *text = s->chains.v[i].ns < 1000 ? NULL : vec_push(&lines);

		if (text != NULL)
			*text = line_of(s, i, &way, &line, &a);
		whole = s->chains.v[i].ns < 1000 || (text != NULL && text->n > 0);
	}
	if (whole && lines.n > 0)
		qsort(lines.v, lines.n, sizeof(*lines.v), by_text);
	if (whole)
		vec_each(text, &lines)
			buf_str(out, *text);
	vec_fini(&lines);
	buf_fini(&way);
	buf_fini(&line);
	arena_fini(&a);
	return whole ? OK : err_set(e, E_LIMIT, "no room for the text of %zu chains of calls", s->chains.n);
}

int stacks_print(const struct trace *t, enum stacks_of of, struct buf *out, struct err *e)
{
	struct stacks s = { .t = t, .of = of, .chains = VEC_INIT(CHAINS_MAX) };
	const struct tree_visitor v = { open_call, close_call, &s };
	int rc;

	arena_init(&s.arena, CHAINS_BYTES_MAX);
	intern_init(&s.keys, &s.arena, CHAINS_MAX);
	rc = tree_each(t, &v, e);
	if (rc == OK && s.full)
		rc = err_set(e, E_LIMIT, "no room for more than %zu chains of calls", s.chains.n);
	if (rc == OK)
		rc = print_lines(&s, out, e);
	vec_fini(&s.chains);
	intern_fini(&s.keys);
	arena_fini(&s.arena);
	return rc;
}
