#include "trace/name_rules.h"

#include <regex.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/vec.h"
#include "base/yaml.h"
#include "json/text.h"
#include "trace/normalise.h"

enum {
	GROUPS_MAX = 10,
	NAME_BYTES_MAX = 64 << 10, /* of a name while it is changed */
	TREE_BYTES_MAX = 16 << 20,
	GROUPS_DEEP_MAX = 32,
	WRITTEN_OUT_MAX = 4096, /* parts of a pattern, its repetitions written out */
};

struct rule {
	bool is_regex;
	struct str glob, with;
	regex_t regex;
};
VEC(rule_list, struct rule);

struct name_rules {
	struct arena texts;
	struct rule_list rules;
	char name[NAME_RULE_BYTES_MAX]; /* of the file, for messages */
};

/* ---- patterns */

/* How often what stands before s may have to be written out: 60 for "{3,60}", 2 for "+", which is "xx*". *length is that of the
 * operator, 0 where it is none. */
static size_t repetitions(struct str s, size_t *length)
{
	size_t most = 1, n = 0;

	*length = s.n > 0 && (s.p[0] == '+' || s.p[0] == '{');
	if (*length == 0 || s.p[0] == '+')
		return *length == 0 ? 1 : 2;
	for (; *length < s.n && s.p[*length] != '}'; ++*length) {
		char c = s.p[*length];

		n = c >= '0' && c <= '9' && n < WRITTEN_OUT_MAX ? n * 10 + (size_t)(c - '0') : 0;
		most = n > most ? n : most;
	}
	return most + 1; /* "{3,}" is "xxxx*" */
}

/* How long "[^]a-z[:digit:]]" is. */
static size_t bracket_length(struct str s)
{
	size_t n = 1;

	if (n < s.n && s.p[n] == '^')
		n++;
	if (n < s.n && s.p[n] == ']')
		n++;
	while (n < s.n && s.p[n] != ']') {
		char kind = n + 1 < s.n && s.p[n] == '[' ? s.p[n + 1] : '\0';

		if (kind == ':' || kind == '.' || kind == '=') {
			const char end[] = { kind, ']' };

			n += 2 + str_find(str_from(s, n + 2), str_make(end, 2)) + 1;
		}
		n++;
	}
	return n < s.n ? n + 1 : s.n;
}

/* What makes matching slow without bound, or the compiled pattern huge: (((x+)+)+)+ doubles with each level. NULL where all is
 * well; what else is wrong regcomp tells. */
static const char *pattern_trouble(struct str pattern)
{
	size_t written[GROUPS_DEEP_MAX] = { 0 }, depth = 0, atom = 1, length;

	for (size_t i = 0; i < pattern.n; i++) {
		char c = pattern.p[i];
		size_t times = repetitions(str_from(pattern, i), &length);

		if (length > 0) {
			written[depth] += atom * (times - 1);
			atom *= times;
			i += length - 1;
		} else if (c == '(') {
			if (++depth == GROUPS_DEEP_MAX)
				return "groups stand more than 31 deep";
			written[depth] = 0;
		} else if (c == ')' && depth > 0) {
			atom = written[depth] + 1;
			written[--depth] += atom;
		} else if (c != '*' && c != '?') {
			written[depth] += atom = 1;
			if (c == '[')
				i += bracket_length(str_from(pattern, i)) - 1;
			if (c == '\\' && i + 1 < pattern.n && pattern.p[i + 1] >= '1' && pattern.p[i + 1] <= '9')
				return "back-references are not allowed in a pattern";
			i += c == '\\';
		}
		if (written[depth] > WRITTEN_OUT_MAX || atom > WRITTEN_OUT_MAX)
			return "too large once its repetitions are written out";
	}
	return NULL;
}

/* ---- reading */
struct loader {
	struct name_rules *rules;
	const char *name;
	struct err *e;
};

static int refuse(const struct loader *l, unsigned line, const char *what)
{
	return err_set(l->e, E_USAGE, "%s: line %u: %s", l->name, line, what);
}

static int compile(const struct loader *l, const struct yaml_node *node, struct rule *rule)
{
	struct str pattern = arena_str(&l->rules->texts, node->text); /* has a NUL behind it */
	const char *trouble = pattern_trouble(pattern);
	char why[120];
	int bad;

	if (trouble != NULL)
		return refuse(l, node->line, trouble);
	if (arena_full(&l->rules->texts))
		return refuse(l, node->line, "the rules are too large");
	bad = regcomp(&rule->regex, pattern.p, REG_EXTENDED);
	if (bad != 0) {
		regerror(bad, &rule->regex, why, sizeof(why));
		return err_set(l->e, E_USAGE, "%s: line %u: \"%.*s\" is no POSIX extended regular expression: %s", l->name,
			node->line, STR_ARG(pattern), why);
	}
	rule->is_regex = true;
	if (regexec(&rule->regex, "", 0, NULL, 0) == 0)
		return refuse(l, node->line, "the pattern matches the empty text, so it would match everywhere");
	return OK;
}

/* The groups that it names must be there. */
static int check_with(const struct loader *l, const struct yaml_node *node, const struct rule *rule)
{
	for (size_t i = 0; rule->is_regex && i < rule->with.n; i++) {
		char c = i + 1 < rule->with.n ? rule->with.p[i + 1] : '\0';

		if (rule->with.p[i] != '\\')
			continue;
		i++;
		if (c != '\\' && (c < '0' || c > '9'))
			return refuse(l, node->line, "a back-slash stands before a digit or another back-slash: \\0, \\1, \\\\");
		if (c != '\\' && (size_t)(c - '0') > rule->regex.re_nsub)
			return err_set(l->e, E_USAGE, "%s: line %u: \\%c: the pattern has only %zu groups", l->name, node->line, c,
				rule->regex.re_nsub);
	}
	return OK;
}

static int unknown_key(const struct loader *l, const struct yaml_node *node, const char *const *known)
{
	struct near_word near;
	const char *best;

	near_init(&near, node->key);
	for (; *known != NULL; known++)
		near_try(&near, *known);
	best = near_best(&near);
	return err_set(l->e, E_USAGE, "%s: line %u: \"%.*s\" is not known here%s%s%s", l->name, node->key_line, STR_ARG(node->key),
		best == NULL ? "" : "; did you mean \"", best == NULL ? "" : best, best == NULL ? "" : "\"?");
}

static int check_text(const struct loader *l, const struct yaml_node *node, bool may_be_empty)
{
	if (node->kind != YAML_SCALAR || (node->text.n == 0 && !may_be_empty))
		return refuse(l, node->line, "a text is wanted here");
	if (node->text.n > NAME_RULE_BYTES_MAX)
		return refuse(l, node->line, "the text is longer than 512 bytes");
	if (memchr(node->text.p, '\0', node->text.n) != NULL || !json_utf8_valid(node->text))
		return refuse(l, node->line, "the text must be UTF-8 without NULs");
	return OK;
}

static int check_keys(const struct loader *l, const struct yaml_node *node)
{
	static const char *const known[] = { "glob", "regex", "with", NULL };
	int rc = OK;

	for (size_t i = 0; rc == OK && i < node->n; i++) {
		const struct yaml_node *item = &node->items[i];
		bool found = false;

		for (size_t k = 0; known[k] != NULL; k++)
			found |= str_eq(item->key, str_of(known[k]));
		rc = found ? check_text(l, item, str_eq(item->key, STR("with"))) : unknown_key(l, item, known);
	}
	return rc;
}

static int read_rule(const struct loader *l, const struct yaml_node *node, struct rule *rule)
{
	const struct yaml_node *glob = yaml_get(node, STR("glob")), *regex = yaml_get(node, STR("regex"));
	const struct yaml_node *with = yaml_get(node, STR("with"));
	int rc = node->kind == YAML_MAP ? check_keys(l, node) : OK;

	if (rc < 0)
		return rc;
	if (node->kind != YAML_MAP || (glob == NULL) == (regex == NULL))
		return refuse(l, node->line, "a rule has either \"glob\" or \"regex\", and \"with\" where it says what becomes of it");
	if (regex != NULL)
		rc = compile(l, regex, rule);
	else
		rule->glob = arena_str(&l->rules->texts, glob->text);
	if (with != NULL)
		rule->with = arena_str(&l->rules->texts, with->text);
	else
		rule->with = regex != NULL ? STR("*") : rule->glob;
	if (rc == OK && rule->with.n == 0 && glob != NULL)
		rc = refuse(l, with->line, "a name cannot be empty");
	return rc == OK && with != NULL ? check_with(l, with, rule) : rc;
}

static int read_rules(const struct loader *l, const struct yaml_node *root)
{
	static const char *const known[] = { "rules", NULL };
	const struct yaml_node *list = yaml_get(root, STR("rules"));
	int rc = OK;

	if (root->kind != YAML_MAP)
		return refuse(l, root->line, "\"rules:\" and a list of rules are wanted");
	for (size_t i = 0; i < root->n; i++)
		if (&root->items[i] != list)
			return unknown_key(l, &root->items[i], known);
	if (list == NULL || list->kind != YAML_LIST)
		return refuse(l, list == NULL ? root->line : list->line, "\"rules:\" and a list of rules are wanted");
	if (list->n > NAME_RULES_MAX)
		return refuse(l, list->line, "more than 256 rules");
	for (size_t i = 0; rc == OK && i < list->n; i++) {
		struct rule *rule = vec_push(&l->rules->rules);

		rc = rule == NULL ? refuse(l, list->items[i].line, "no memory for the rule") : read_rule(l, &list->items[i], rule);
	}
	if (rc == OK && arena_full(&l->rules->texts))
		rc = refuse(l, list->line, "the rules are too large");
	return rc;
}

static struct name_rules *rules_new(const char *name)
{
	struct name_rules *r = mem_get(sizeof(*r));

	arena_init(&r->texts, TREE_BYTES_MAX);
	r->rules.cap = NAME_RULES_MAX;
	str_copy_to(str_of(name), r->name, sizeof(r->name));
	return r;
}

static int take_tree(struct name_rules **out, const struct yaml_node *root, const char *name, struct err *e)
{
	struct name_rules *r = rules_new(name);
	const struct loader l = { .rules = r, .name = name, .e = e };
	int rc = read_rules(&l, root);

	if (rc < 0) {
		name_rules_free(r);
		return rc;
	}
	*out = r;
	return OK;
}

int name_rules_parse(struct name_rules **out, struct str text, const char *name, struct err *e)
{
	const struct yaml_node *root = NULL;
	struct arena a;
	int rc;

	arena_init(&a, TREE_BYTES_MAX);
	rc = yaml_parse(&a, text, name, &root, e);
	if (rc == OK)
		rc = take_tree(out, root, name, e);
	arena_fini(&a);
	return rc;
}

int name_rules_load(struct name_rules **out, const char *path, struct err *e)
{
	const struct yaml_node *root = NULL;
	struct arena a;
	int rc;

	arena_init(&a, TREE_BYTES_MAX);
	rc = yaml_load(&a, path, &root, e);
	if (rc == OK)
		rc = take_tree(out, root, path, e);
	arena_fini(&a);
	return rc;
}

void name_rules_free(struct name_rules *r)
{
	if (r == NULL)
		return;
	vec_each(rule, &r->rules)
		if (rule->is_regex)
			regfree(&rule->regex);
	vec_fini(&r->rules);
	arena_fini(&r->texts);
	mem_free(r);
}

/* ---- names */

static void put_with(const struct rule *rule, const char *text, const regmatch_t *groups, struct buf *out)
{
	for (size_t i = 0; i < rule->with.n; i++) {
		char c = rule->with.p[i];

		if (c == '\\' && rule->with.p[++i] != '\\') {
			const regmatch_t *g = &groups[rule->with.p[i] - '0'];

			if (g->rm_so >= 0)
				buf_add(out, text + g->rm_so, (size_t)(g->rm_eo - g->rm_so));
		} else {
			buf_byte(out, c);
		}
	}
}

/* Every part of the name that matches, from left to right; whether there was one. An empty match (of "$" behind a part that
 * went before) is none. */
static bool replace(const struct rule *rule, const char *name, struct buf *out)
{
	regmatch_t groups[GROUPS_MAX];
	bool any = false;

	while (regexec(&rule->regex, name, GROUPS_MAX, groups, any ? REG_NOTBOL : 0) == 0 && groups[0].rm_eo > groups[0].rm_so) {
		buf_add(out, name, (size_t)groups[0].rm_so);
		put_with(rule, name, groups, out);
		name += groups[0].rm_eo;
		any = true;
	}
	buf_text(out, name);
	return any;
}

static bool is_name(const struct buf *b)
{
	return b->rc == OK && b->n > 0 && json_utf8_valid(buf_view(b));
}

static bool apply_rule(const struct rule *rule, struct str name, const char *text, struct buf *out)
{
	buf_reset(out);
	if (rule->is_regex)
		return replace(rule, text, out) && is_name(out);
	buf_str(out, rule->with);
	return str_glob(rule->glob, name);
}

struct str name_rules_name(const struct name_rules *r, struct str name, struct buf *scratch)
{
	struct buf now, next;
	bool changed = false;

	buf_init(&now, NAME_BYTES_MAX);
	buf_init(&next, NAME_BYTES_MAX);
	buf_str(&now, name);
	vec_each(rule, &r->rules) {
		struct buf swap = now;

		if (now.n == 0 || !apply_rule(rule, buf_view(&now), now.p, &next))
			continue;
		changed = true;
		now = next;
		next = swap;
	}
	if (changed) {
		name_shorten(&now, WINDOW_NAME_MAX);
		buf_reset(scratch);
		buf_str(scratch, buf_view(&now));
	}
	buf_fini(&now);
	buf_fini(&next);
	return changed && scratch->rc == OK ? buf_view(scratch) : name;
}

/* ---- a window */

static int64_t cpu_ns(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int by_op(const void *a, const void *b)
{
	return op_summary_cmp(a, b);
}

/* Times per call of two sorts do not go into one histogram: it is dropped, the sums stay. */
static void merge_two(struct op_summary *into, const struct op_summary *from)
{
	if (into->calls > 0 && from->calls > 0 && into->basis != from->basis) {
		hist_reset(&into->hist);
		into->basis = OP_BASIS_NONE;
		into->min_ns = into->max_ns = 0;
	}
	op_summary_merge(into, from);
}

/* Ops of one kind and name stand together. */
static void merge_alike(struct window *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_ops; i++) {
		if (n > 0 && op_summary_cmp(&w->ops[n - 1], &w->ops[i]) == 0) {
			merge_two(&w->ops[n - 1], &w->ops[i]);
			op_summary_fini(&w->ops[i]);
		} else {
			w->ops[n++] = w->ops[i];
		}
	}
	w->n_ops = n;
}

int name_rules_apply(const struct name_rules *r, struct arena *a, struct window *w, struct err *e)
{
	int64_t until_ns = cpu_ns() + NAME_RULES_CPU_NS;
	struct buf scratch;
	int rc = OK;

	buf_init(&scratch, NAME_BYTES_MAX);
	for (size_t i = 0; rc == OK && i < w->n_ops; i++) {
		struct str name = name_rules_name(r, w->ops[i].name, &scratch);

		if (name.p != w->ops[i].name.p && !str_eq(name, w->ops[i].name)) {
			name = arena_str(a, name);
			if (!arena_full(a))
				w->ops[i].name = name;
		}
		if (arena_full(a))
			rc = err_set(e, E_LIMIT, "no room for the names of %zu ops", w->n_ops);
		else if (cpu_ns() > until_ns)
			rc = err_set(e, E_LIMIT, "%s: too slow: more than %lld s for the names of one window", r->name,
				(long long)(NAME_RULES_CPU_NS / NS_PER_S));
	}
	buf_fini(&scratch);
	if (w->n_ops > 1)
		qsort(w->ops, w->n_ops, sizeof(*w->ops), by_op);
	merge_alike(w);
	return rc;
}
