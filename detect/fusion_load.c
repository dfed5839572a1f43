#include "detect/fusion_load.h"

#include <math.h>
#include <regex.h>

#include "base/near.h"

enum { PARTS_MAX = 64, WAYS_MAX = 64, PART_CALLS_MAX = 1000 };

struct loader {
	struct arena *arena;
	const char *name;
	struct fusion_additions *out;
	struct err *e;
};

static int refuse(const struct loader *l, unsigned line, const char *what)
{
	return err_set(l->e, E_USAGE, "%s: line %u: %s", l->name, line, what);
}

static int too_many(const struct loader *l, unsigned line)
{
	return err_set(l->e, E_LIMIT, "%s: line %u: more names than %d", l->name, line, FUSION_NAMES_MAX);
}

static int push(const struct loader *l, struct fusion_strs *to, struct str name, unsigned line)
{
	struct str *place = vec_push(to);

	if (place == NULL)
		return too_many(l, line);
	*place = arena_str(l->arena, name);
	return OK;
}

/* ---- lists of names: a YAML list, or one text with blanks between the names */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct str next_word(struct str *rest)
{
	size_t n = 0;
	struct str word;

	*rest = str_trim(*rest);
	while (n < rest->n && !is_blank(rest->p[n]))
		n++;
	word = str_upto(*rest, n);
	*rest = str_from(*rest, n);
	return word;
}

static int read_words(const struct loader *l, const struct yaml_node *node, struct fusion_strs *to)
{
	struct str rest = node->text, word;
	int rc = OK;

	while (rc == OK && !str_empty(word = next_word(&rest)))
		rc = push(l, to, word, node->line);
	return rc;
}

static int read_names(const struct loader *l, const struct yaml_node *node, struct fusion_strs *to)
{
	int rc = OK;

	if (node->kind == YAML_SCALAR)
		return read_words(l, node, to);
	if (node->kind != YAML_LIST)
		return refuse(l, node->line, "names are wanted: a list, or one text with blanks between them");
	for (size_t i = 0; rc == OK && i < node->n; i++) {
		const struct yaml_node *item = &node->items[i];

		if (item->kind != YAML_SCALAR || str_empty(item->text))
			return refuse(l, item->line, "a name is wanted here, as text");
		rc = push(l, to, item->text, item->line);
	}
	return rc;
}

/* ---- patterns */

static int check_pattern(const struct loader *l, const struct yaml_node *node, struct str pattern)
{
	char why[120];
	regex_t re;
	int bad = regcomp(&re, pattern.p, REG_EXTENDED | REG_NOSUB);

	if (bad) {
		regerror(bad, &re, why, sizeof(why));
		return err_set(l->e, E_USAGE, "%s: line %u: \"%.*s\" is no POSIX extended regular expression: %s",
			l->name, node->line, STR_ARG(pattern), why);
	}
	regfree(&re);
	return OK;
}

/* Patterns can hold blanks, so they are list items only. */
static int read_patterns(const struct loader *l, const struct yaml_node *node, enum name_pattern which)
{
	struct fusion_strs *to = &l->out->patterns[which];
	size_t first = to->n;
	int rc;

	if (node->kind != YAML_LIST)
		return refuse(l, node->line, "a list of patterns is wanted");
	rc = read_names(l, node, to);
	for (size_t i = first; rc == OK && i < to->n; i++)
		rc = check_pattern(l, &node->items[i - first], to->v[i]);
	return rc;
}

/* ---- fused ops */

/* "mul 3" */
static int read_part(const struct loader *l, unsigned line, struct str text, struct fused_part *out)
{
	struct fusion_strs names = VEC_INIT(PARTS_MAX);
	struct str rest = str_trim(text), alternatives = next_word(&rest), count = str_trim(rest);
	int64_t calls = 1;
	int rc = OK;

	if (str_empty(alternatives))
		return refuse(l, line, "a part has no name; parts look like \"mul 3, mean, rsqrt\"");
	if (!str_empty(count) && (str_to_i64(count, &calls) != OK || calls < 1 || calls > PART_CALLS_MAX))
		return err_set(l->e, E_USAGE, "%s: line %u: \"%.*s\" is no number of calls from 1 to %d", l->name, line,
			STR_ARG(count), PART_CALLS_MAX);
	while (rc == OK && alternatives.p != NULL)
		rc = push(l, &names, str_split(&alternatives, '/'), line);
	if (rc == OK) {
		out->names = arena_get_array(l->arena, names.n, sizeof(*names.v));
		out->n_names = out->names == NULL ? 0 : names.n;
		out->calls = (double)calls;
		if (out->names != NULL)
			memcpy(out->names, names.v, names.n * sizeof(*names.v));
	}
	vec_fini(&names);
	return rc;
}

/* "mul 3, mean, add, rsqrt" */
static int read_way(const struct loader *l, const struct yaml_node *node, struct fused_way *out)
{
	struct str rest = node->text;
	int rc = OK;

	if (node->kind != YAML_SCALAR || str_empty(str_trim(node->text)))
		return refuse(l, node->line, "parts are wanted as one text: \"mul 3, mean, rsqrt\"");
	out->parts = arena_get_array(l->arena, PARTS_MAX, sizeof(*out->parts));
	while (rc == OK && out->parts != NULL && rest.p != NULL) {
		if (out->n_parts == PARTS_MAX)
			return refuse(l, node->line, "more than 64 parts");
		rc = read_part(l, node->line, str_split(&rest, ','), &out->parts[out->n_parts]);
		out->calls += out->parts[out->n_parts++].calls;
	}
	return rc;
}

static int read_ways(const struct loader *l, const struct yaml_node *node, struct fused_op *out)
{
	int rc = OK;

	if (node->kind != YAML_LIST || node->n == 0 || node->n > WAYS_MAX)
		return refuse(l, node->line, "parts are a list of 1 to 64 texts, one for each way the op falls apart");
	out->ways = arena_get_array(l->arena, node->n, sizeof(*out->ways));
	for (size_t i = 0; rc == OK && out->ways != NULL && i < node->n; i++)
		rc = read_way(l, &node->items[i], &out->ways[out->n_ways++]);
	return rc;
}

static int read_op_names(const struct loader *l, const struct yaml_node *node, struct fused_op *out)
{
	struct fusion_strs names = VEC_INIT(FUSION_NAMES_MAX);
	int rc = read_names(l, node, &names);

	if (rc == OK && names.n == 0)
		rc = refuse(l, node->line, "names are wanted: what the fused op is called");
	if (rc == OK) {
		out->names = arena_get_array(l->arena, names.n, sizeof(*names.v));
		out->n_names = out->names == NULL ? 0 : names.n;
		if (out->names != NULL)
			memcpy(out->names, names.v, names.n * sizeof(*names.v));
	}
	vec_fini(&names);
	return rc;
}

static int read_op(const struct loader *l, const struct yaml_node *node, struct fused_op *out)
{
	const struct yaml_node *names = yaml_get(node, STR("names")), *parts = yaml_get(node, STR("parts"));
	int rc;

	out->key = arena_str(l->arena, node->key);
	if (node->kind != YAML_MAP || names == NULL || parts == NULL)
		return refuse(l, node->key_line, "a fused op has \"names\" and \"parts\"");
	for (size_t i = 0; i < node->n; i++)
		if (&node->items[i] != names && &node->items[i] != parts)
			return err_set(l->e, E_USAGE, "%s: line %u: \"%.*s\" is not known here; a fused op has names and parts",
				l->name, node->items[i].key_line, STR_ARG(node->items[i].key));
	rc = read_op_names(l, names, out);
	return rc == OK ? read_ways(l, parts, out) : rc;
}

/* ---- sections */

static int section_list(const struct loader *l, const struct yaml_node *node, int which)
{
	return read_names(l, node, &l->out->lists[which]);
}

static int section_bookkeeping(const struct loader *l, const struct yaml_node *node, int unused)
{
	(void)unused;
	return read_patterns(l, node, PATTERN_BOOKKEEPING);
}

static int section_anchors(const struct loader *l, const struct yaml_node *node, int unused)
{
	(void)unused;
	return read_names(l, node, &l->out->anchors);
}

static int section_same(const struct loader *l, const struct yaml_node *node, int unused)
{
	int rc = OK;

	(void)unused;
	if (node->kind != YAML_MAP)
		return refuse(l, node->line, "lines like \"multiply: mul\" are wanted");
	for (size_t i = 0; rc == OK && i < node->n; i++) {
		const struct yaml_node *item = &node->items[i];

		if (item->kind != YAML_SCALAR || str_empty(item->text) || str_empty(item->key))
			return refuse(l, item->key_line, "lines like \"multiply: mul\" are wanted");
		rc = push(l, &l->out->same_from, item->key, item->key_line);
		if (rc == OK)
			rc = push(l, &l->out->same_to, item->text, item->line);
	}
	return rc;
}

static int section_fused(const struct loader *l, const struct yaml_node *node, int unused)
{
	int rc = OK;

	(void)unused;
	if (node->kind != YAML_MAP)
		return refuse(l, node->line, "fused ops are wanted, each as a mapping with names and parts");
	for (size_t i = 0; rc == OK && i < node->n; i++) {
		struct fused_op *op = vec_push(&l->out->ops);

		rc = op == NULL ? too_many(l, node->items[i].key_line) : read_op(l, &node->items[i], op);
	}
	return rc;
}

struct section {
	const char *key;
	int (*read)(const struct loader *l, const struct yaml_node *node, int which);
	int which;
};

static const struct section region_sections[] = {
	{ "outer", NULL, PATTERN_OUTER },
	{ "function", NULL, PATTERN_FUNCTION },
	{ "inner", NULL, PATTERN_INNER },
	{ "module", NULL, PATTERN_MODULE },
};

static int section_regions(const struct loader *l, const struct yaml_node *node, int unused);

static const struct section sections[] = {
	{ "regions", section_regions, 0 },
	{ "bookkeeping", section_bookkeeping, 0 },
	{ "views", section_list, LIST_VIEWS },
	{ "wrappers", section_list, LIST_WRAPPERS },
	{ "copies", section_list, LIST_COPIES },
	{ "fusible", section_list, LIST_FUSIBLE },
	{ "words", section_list, LIST_WORDS },
	{ "transfers", section_list, LIST_TRANSFERS },
	{ "same", section_same, 0 },
	{ "anchors", section_anchors, 0 },
	{ "fused", section_fused, 0 },
};

static const struct section *find_section(const struct section *in, size_t n, struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(str_of(in[i].key), key))
			return &in[i];
	return NULL;
}

static int unknown_section(const struct loader *l, const struct section *in, size_t n, const struct yaml_node *node)
{
	struct near_word near;

	near_init(&near, node->key);
	for (size_t i = 0; i < n; i++)
		near_try(&near, in[i].key);
	return err_set(l->e, E_USAGE, "%s: line %u: \"%.*s\" is no section%s%s%s", l->name, node->key_line,
		STR_ARG(node->key), near_best(&near) == NULL ? "" : "; did you mean \"",
		near_best(&near) == NULL ? "" : near_best(&near), near_best(&near) == NULL ? "" : "\"?");
}

static int section_regions(const struct loader *l, const struct yaml_node *node, int unused)
{
	int rc = OK;

	(void)unused;
	if (node->kind != YAML_MAP)
		return refuse(l, node->line, "lists named outer, function, inner or module are wanted");
	for (size_t i = 0; rc == OK && i < node->n; i++) {
		const struct section *s = find_section(region_sections, COUNT(region_sections), node->items[i].key);

		rc = s == NULL ? unknown_section(l, region_sections, COUNT(region_sections), &node->items[i])
			       : read_patterns(l, &node->items[i], (enum name_pattern)s->which);
	}
	return rc;
}

int fusion_load(struct arena *a, const struct yaml_node *root, const char *name, struct fusion_additions *out,
	struct err *e)
{
	struct loader l = { .arena = a, .name = name, .out = out, .e = e };
	int rc = OK;

	if (root->kind != YAML_MAP)
		return refuse(&l, root->line, "sections are wanted: regions, bookkeeping, views, fused, …");
	for (size_t i = 0; rc == OK && i < root->n; i++) {
		const struct section *s = find_section(sections, COUNT(sections), root->items[i].key);

		rc = s == NULL ? unknown_section(&l, sections, COUNT(sections), &root->items[i])
			       : s->read(&l, &root->items[i], s->which);
	}
	if (rc == OK && arena_full(a))
		rc = err_set(e, E_LIMIT, "%s: larger than a fusion table can be", name);
	return rc;
}

void fusion_additions_init(struct fusion_additions *add)
{
	*add = (struct fusion_additions){ .ops = VEC_INIT(FUSION_NAMES_MAX), .anchors = VEC_INIT(FUSION_NAMES_MAX) };
	add->same_from.cap = add->same_to.cap = FUSION_NAMES_MAX;
	for (size_t i = 0; i < NAME_LISTS; i++)
		add->lists[i].cap = FUSION_NAMES_MAX;
	for (size_t i = 0; i < NAME_PATTERNS; i++)
		add->patterns[i].cap = FUSION_NAMES_MAX;
}

void fusion_additions_fini(struct fusion_additions *add)
{
	for (size_t i = 0; i < NAME_LISTS; i++)
		vec_fini(&add->lists[i]);
	for (size_t i = 0; i < NAME_PATTERNS; i++)
		vec_fini(&add->patterns[i]);
	vec_fini(&add->anchors);
	vec_fini(&add->same_from);
	vec_fini(&add->same_to);
	vec_fini(&add->ops);
}
