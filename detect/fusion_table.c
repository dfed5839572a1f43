#include "detect/fusion_table.h"

#include <regex.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "detect/fusion_load.h"

enum { TABLE_BYTES_MAX = 16 << 20, PATTERN_BYTES_MAX = 1 << 20 };

struct patterns {
	struct fusion_strs texts;
	regex_t all; /* of the texts together, where there are any */
	bool compiled;
};

struct fusion_table {
	struct arena arena;
	struct map lists; /* name → a bit for each list that has it */
	struct map same;  /* name → index into same_to */
	struct fusion_strs same_to, anchors;
	struct patterns patterns[NAME_PATTERNS];
	struct fused_ops ops;
	size_t longest;
};

static int no_room(struct err *e)
{
	return err_set(e, E_LIMIT, "fusion table: more than %d names", FUSION_NAMES_MAX);
}

/* ---- taking over what was read */

static int add_list(struct fusion_table *t, enum name_list which, const struct fusion_strs *names, struct err *e)
{
	vec_each(name, names) {
		uint32_t *bits = map_put(&t->lists, *name, 0, NULL);

		if (bits == NULL)
			return no_room(e);
		*bits |= 1u << which;
		if (name->n > t->longest)
			t->longest = name->n;
	}
	return OK;
}

static int add_strs(struct fusion_strs *to, const struct fusion_strs *from, struct err *e)
{
	vec_each(s, from) {
		struct str *place = vec_push(to);

		if (place == NULL)
			return no_room(e);
		*place = *s;
	}
	return OK;
}

static int add_same(struct fusion_table *t, const struct fusion_additions *add, struct err *e)
{
	for (size_t i = 0; i < add->same_from.n; i++) {
		struct str *to = vec_push(&t->same_to);
		uint32_t *at = map_put(&t->same, add->same_from.v[i], 0, NULL);

		if (to == NULL || at == NULL)
			return no_room(e);
		*to = add->same_to.v[i];
		*at = (uint32_t)(t->same_to.n - 1);
	}
	return OK;
}

/* One expression out of all: ^((first)|(second)|…)$ */
static int compile(struct patterns *p, struct err *e)
{
	struct buf all;
	int rc;

	buf_init(&all, PATTERN_BYTES_MAX);
	vec_each(text, &p->texts)
		buf_fmt(&all, "%s(%.*s)", all.n == 0 ? "^(" : "|", STR_ARG(*text));
	buf_text(&all, ")$");
	rc = buf_finish(&all, "patterns of the fusion table", e);
	if (rc == OK) {
		if (p->compiled)
			regfree(&p->all);
		p->compiled = regcomp(&p->all, all.p, REG_EXTENDED | REG_NOSUB) == 0;
		if (!p->compiled)
			rc = err_set(e, E_LIMIT, "fusion table: the patterns are too large together");
	}
	buf_fini(&all);
	return rc;
}

static int add_patterns(struct patterns *p, const struct fusion_strs *texts, struct err *e)
{
	int rc = add_strs(&p->texts, texts, e);

	return rc == OK && texts->n > 0 ? compile(p, e) : rc;
}

static int add_ops(struct fusion_table *t, const struct fused_ops *ops, struct err *e)
{
	vec_each(op, ops) {
		struct fused_op *place = NULL;

		vec_each(old, &t->ops)
			if (str_eq(old->key, op->key))
				place = old;
		if (place == NULL)
			place = vec_push(&t->ops);
		if (place == NULL)
			return no_room(e);
		*place = *op;
	}
	return OK;
}

static int add_all(struct fusion_table *t, const struct fusion_additions *add, struct err *e)
{
	int rc = OK;

	for (size_t i = 0; rc == OK && i < NAME_LISTS; i++)
		rc = add_list(t, (enum name_list)i, &add->lists[i], e);
	for (size_t i = 0; rc == OK && i < NAME_PATTERNS; i++)
		rc = add_patterns(&t->patterns[i], &add->patterns[i], e);
	if (rc == OK)
		rc = add_strs(&t->anchors, &add->anchors, e);
	if (rc == OK)
		rc = add_same(t, add, e);
	return rc == OK ? add_ops(t, &add->ops, e) : rc;
}

static int add_document(struct fusion_table *t, const struct yaml_node *root, const char *name, struct err *e)
{
	struct fusion_additions add;
	int rc;

	fusion_additions_init(&add);
	rc = fusion_load(&t->arena, root, name, &add, e);
	if (rc == OK)
		rc = add_all(t, &add, e);
	fusion_additions_fini(&add);
	return rc;
}

/* ---- life */

struct str fusion_table_text(void)
{
	return str_of(fusion_default_yaml);
}

int fusion_table_new(struct fusion_table **out, struct err *e)
{
	struct fusion_table *t = mem_get(sizeof(*t));
	const struct yaml_node *root;
	int rc;

	arena_init(&t->arena, TABLE_BYTES_MAX);
	map_init(&t->lists, FUSION_NAMES_MAX);
	map_init(&t->same, FUSION_NAMES_MAX);
	t->same_to.cap = t->anchors.cap = t->ops.cap = FUSION_NAMES_MAX;
	for (size_t i = 0; i < NAME_PATTERNS; i++)
		t->patterns[i].texts.cap = FUSION_NAMES_MAX;
	rc = yaml_parse(&t->arena, fusion_table_text(), "etc/fusion.yaml", &root, e);
	if (rc == OK)
		rc = add_document(t, root, "etc/fusion.yaml", e);
	if (rc < 0) {
		fusion_table_free(t);
		return rc;
	}
	*out = t;
	return OK;
}

void fusion_table_free(struct fusion_table *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < NAME_PATTERNS; i++) {
		if (t->patterns[i].compiled)
			regfree(&t->patterns[i].all);
		vec_fini(&t->patterns[i].texts);
	}
	vec_fini(&t->same_to);
	vec_fini(&t->anchors);
	vec_fini(&t->ops);
	map_fini(&t->lists);
	map_fini(&t->same);
	arena_fini(&t->arena);
	mem_free(t);
}

int fusion_table_add(struct fusion_table *t, const char *path, struct err *e)
{
	const struct yaml_node *root;
	int rc = yaml_load(&t->arena, path, &root, e);

	if (rc == E_FORMAT && e != NULL)
		rc = e->code = E_USAGE;
	return rc == OK ? add_document(t, root, path, e) : rc;
}

/* ---- questions */

bool fusion_table_lists(const struct fusion_table *t, enum name_list list, struct str name)
{
	const uint32_t *bits = map_get(&t->lists, name);

	return bits != NULL && (*bits >> list & 1);
}

bool fusion_table_listed(const struct fusion_table *t, struct str name)
{
	return map_get(&t->lists, name) != NULL;
}

size_t fusion_table_longest(const struct fusion_table *t)
{
	return t->longest;
}

struct str fusion_table_same(const struct fusion_table *t, struct str name)
{
	const uint32_t *at = map_get(&t->same, name);

	return at == NULL ? name : t->same_to.v[*at];
}

bool fusion_table_matches(const struct fusion_table *t, enum name_pattern which, const char *whole_name)
{
	const struct patterns *p = &t->patterns[which];

	return p->compiled && regexec(&p->all, whole_name, 0, NULL, 0) == 0;
}

const struct str *fusion_table_anchors(const struct fusion_table *t, size_t *n)
{
	*n = t->anchors.n;
	return t->anchors.v;
}

const struct fused_op *fusion_table_ops(const struct fusion_table *t, size_t *n)
{
	*n = t->ops.n;
	return t->ops.v;
}

const struct fused_op *fusion_table_op(const struct fusion_table *t, struct str key)
{
	vec_each(op, &t->ops)
		if (str_eq(op->key, key))
			return op;
	return NULL;
}

bool fused_op_has_name(const struct fused_op *f, struct str name)
{
	for (size_t i = 0; i < f->n_names; i++)
		if (str_glob(f->names[i], name))
			return true;
	return false;
}
