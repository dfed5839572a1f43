/* Nodes whose container is still open wait on one stack; when it closes, its members move to the arena as one array:
 *
 *	[1, {"a": 2, "b": [3		waiting: 1 | a:2 | 3	open: '[' from 0, '{' from 1, '[' from 2
 */
#include "json/tree.h"

#include <inttypes.h>

#include "base/map.h"
#include "base/vec.h"
#include "json/num.h"
#include "json/pull.h"
#include "json/text.h"

enum { DEPTH_MAX = 64, FEW_KEYS = 8 };

VEC(nodes, struct json_node);

struct tree {
	struct arena *arena;
	struct str text;
	struct nodes waiting;
	struct {
		struct json_node node;
		size_t from; /* its first member in waiting */
	} open[DEPTH_MAX];
	unsigned depth;
	struct str key; /* of the value that comes next */
	struct err *e;
};

static int at_offset(struct tree *t, uint64_t offset, int code, const char *what, struct str name)
{
	uint64_t line = 1, start = 0;

	for (uint64_t i = 0; i < offset && i < t->text.n; i++) {
		if (t->text.p[i] == '\n') {
			line++;
			start = i + 1;
		}
	}
	return err_set(t->e, code, "line %" PRIu64 ", column %" PRIu64 " (byte %" PRIu64 "): %s \"%.*s\"",
		line, offset - start + 1, offset, what, STR_ARG(str_upto(name, 100)));
}

static int full(struct tree *t)
{
	return err_set(t->e, E_LIMIT, "a document that takes more than %zu bytes of memory", t->arena->cap);
}

static int add(struct tree *t, struct json_node node)
{
	struct json_node *p = vec_push(&t->waiting);

	if (p == NULL || arena_full(t->arena))
		return full(t);
	*p = node;
	p->key = t->key;
	t->key = (struct str){ "", 0 };
	return OK;
}

static int add_scalar(struct tree *t, enum json_kind kind, bool truth, struct str text, uint64_t offset)
{
	return add(t, (struct json_node){ .kind = kind, .truth = truth, .text = text, .offset = offset });
}

static int begin(struct tree *t, enum json_kind kind, uint64_t offset)
{
	t->open[t->depth].node = (struct json_node){ .kind = kind, .key = t->key, .offset = offset };
	t->open[t->depth].from = t->waiting.n;
	t->depth++; /* the reader's limit is DEPTH_MAX, too */
	t->key = (struct str){ "", 0 };
	return OK;
}

/* The first member whose key another before it has, or NULL. */
static const struct json_node *key_twice(const struct json_node *items, size_t n)
{
	const struct json_node *twice = NULL;
	struct map seen;
	bool fresh;

	if (n <= FEW_KEYS) {
		for (size_t i = 1; i < n; i++)
			for (size_t k = 0; k < i; k++)
				if (str_eq(items[i].key, items[k].key))
					return &items[i];
		return NULL;
	}
	map_init(&seen, n);
	for (size_t i = 0; i < n && twice == NULL; i++)
		if (map_put(&seen, items[i].key, 0, &fresh) != NULL && !fresh)
			twice = &items[i];
	map_fini(&seen);
	return twice;
}

static int end(struct tree *t)
{
	struct json_node node = t->open[--t->depth].node;
	size_t from = t->open[t->depth].from;
	const struct json_node *twice;

	node.n = t->waiting.n - from;
	if (node.n) {
		node.items = arena_get_array(t->arena, node.n, sizeof(*node.items));
		if (node.items == NULL)
			return full(t);
		memcpy(node.items, t->waiting.v + from, node.n * sizeof(*node.items));
		t->waiting.n = from;
	}
	twice = node.kind == JSON_K_OBJECT ? key_twice(node.items, node.n) : NULL;
	if (twice != NULL)
		return at_offset(t, twice->offset, E_FORMAT, "a second value of key", twice->key);
	t->key = node.key;
	return add(t, node);
}

static int take(struct tree *t, enum json_token token, const struct json_value *v)
{
	switch (token) {
	case JSON_OBJECT: return begin(t, JSON_K_OBJECT, v->offset);
	case JSON_ARRAY: return begin(t, JSON_K_ARRAY, v->offset);
	case JSON_OBJECT_END:
	case JSON_ARRAY_END: return end(t);
	case JSON_KEY: t->key = json_unescape_to(t->arena, v->raw); return OK;
	case JSON_STRING:
		return add_scalar(t, JSON_K_STRING, false, json_unescape_to(t->arena, v->raw), v->offset);
	case JSON_NUMBER: return add_scalar(t, JSON_K_NUMBER, false, arena_str(t->arena, v->raw), v->offset);
	case JSON_TRUE: return add_scalar(t, JSON_K_BOOL, true, STR(""), v->offset);
	case JSON_FALSE: return add_scalar(t, JSON_K_BOOL, false, STR(""), v->offset);
	case JSON_NULL: return add_scalar(t, JSON_K_NULL, false, STR(""), v->offset);
	case JSON_MORE:
	case JSON_DONE:
	case JSON_ERROR:
	case JSON_TOKENS: break;
	}
	return OK;
}

static int read_all(struct tree *t, struct json_reader *r)
{
	struct json_value v;
	int rc = OK;

	json_feed(r, t->text.p, t->text.n);
	while (rc == OK) {
		enum json_token token = json_next(r, &v);

		if (token == JSON_DONE)
			break;
		if (token == JSON_ERROR)
			rc = json_reader_error(r, t->e);
		else if (token == JSON_MORE)
			json_feed_end(r);
		else
			rc = take(t, token, &v);
	}
	return rc;
}

int json_parse(struct arena *a, struct str text, const struct json_node **out, struct err *e)
{
	struct json_limits limits = { DEPTH_MAX, text.n };
	struct tree t = { .arena = a, .text = text, .key = { "", 0 }, .e = e };
	struct json_reader *r = json_reader_new(JSON_STRICT, limits);
	struct json_node *root;
	int rc;

	t.waiting.cap = a->cap / sizeof(struct json_node) + 1;
	rc = read_all(&t, r);
	if (rc == OK) {
		root = arena_get(a, sizeof(*root));
		if (root == NULL) {
			rc = full(&t);
		} else {
			*root = t.waiting.v[0];
			*out = root;
		}
	}
	vec_fini(&t.waiting);
	json_reader_free(r);
	return rc;
}

const struct json_node *json_get(const struct json_node *object, const char *key)
{
	struct str name = str_of(key);

	if (object == NULL || object->kind != JSON_K_OBJECT)
		return NULL;
	for (size_t i = 0; i < object->n; i++)
		if (str_eq(object->items[i].key, name))
			return &object->items[i];
	return NULL;
}

static const struct json_node *get_kind(const struct json_node *object, const char *key, enum json_kind kind)
{
	const struct json_node *node = json_get(object, key);

	return node != NULL && node->kind == kind ? node : NULL;
}

struct str json_get_str(const struct json_node *object, const char *key)
{
	const struct json_node *node = get_kind(object, key, JSON_K_STRING);

	return node != NULL ? node->text : (struct str){ "", 0 };
}

int64_t json_get_i64(const struct json_node *object, const char *key, int64_t fallback)
{
	const struct json_node *node = get_kind(object, key, JSON_K_NUMBER);
	int64_t v;

	return node != NULL && json_i64(node->text, &v) == OK ? v : fallback;
}

double json_get_double(const struct json_node *object, const char *key, double fallback)
{
	const struct json_node *node = get_kind(object, key, JSON_K_NUMBER);
	double v;

	return node != NULL && json_double(node->text, &v) == OK ? v : fallback;
}

bool json_get_bool(const struct json_node *object, const char *key, bool fallback)
{
	const struct json_node *node = get_kind(object, key, JSON_K_BOOL);

	return node != NULL ? node->truth : fallback;
}
