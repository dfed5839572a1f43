#include "base/conf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mdoc.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/near.h"
#include "base/quantity.h"
#include "base/size.h"
#include "base/yaml.h"

enum { PATH_TEXT = 256, WORDS_TEXT = 200, TREE_BYTES = 32 << 20 };

/* ---- what a key may hold, in words */

static void text_words(const struct conf_key *k, struct buf *out)
{
	buf_text(out, k->type == CONF_TEXTS ? "a list of texts" : "a text");
	if (k->min > 0 && k->max > 0)
		buf_fmt(out, " of %" PRId64 " to %" PRId64 " bytes", k->min, k->max);
	else if (k->max > 0)
		buf_fmt(out, " of at most %" PRId64 " bytes", k->max);
	else if (k->min > 1)
		buf_fmt(out, " of at least %" PRId64 " bytes", k->min);
	else if (k->min == 1 && k->type == CONF_TEXT)
		buf_text(out, " that is not empty");
}

static bool may_be_empty(const struct conf_key *k)
{
	return k->type == CONF_TEXT ? k->min == 0 : k->def != NULL && k->def[0] == '\0';
}

/* "a whole number from 1 to 65535" */
static void value_words(const struct conf_key *k, struct buf *out)
{
	switch (k->type) {
	case CONF_INT: quantity_words(QUANTITY_NUMBER, k->min, k->max, out); return;
	case CONF_DURATION: quantity_words(QUANTITY_DURATION, k->min, k->max, out); return;
	case CONF_SIZE: quantity_words(QUANTITY_SIZE, k->min, k->max, out); return;
	case CONF_BOOL: buf_text(out, "true or false"); return;
	case CONF_PATH: buf_text(out, may_be_empty(k) ? "an absolute path or empty" : "an absolute path"); return;
	case CONF_CHOICE: choice_words(k->more, out); return;
	case CONF_TEXT:
	case CONF_TEXTS: text_words(k, out); return;
	case CONF_SECTIONS: buf_text(out, "a list of mappings"); return;
	case CONF_TYPES: break;
	}
	must_fail(__FILE__, __LINE__, "a configuration key's type");
}

/* ---- complaints */

struct where {
	const char *file; /* NULL: from the command line */
	unsigned line;
	const char *path; /* of the key, as shown */
	struct err *e;
};

static int PRINTF_LIKE(2, 3) wrong(const struct where *w, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (w->file == NULL)
		return err_set(w->e, E_USAGE, "--set %s: %s", w->path, text);
	return err_set(w->e, E_USAGE, "%s: line %u: %s: %s", w->file, w->line, w->path, text);
}

static int wrong_value(const struct where *w, const struct conf_key *k, struct str value)
{
	struct buf words;
	int rc;

	buf_init(&words, WORDS_TEXT);
	value_words(k, &words);
	rc = wrong(w, "\"%.*s\" is not %s", STR_ARG(str_upto(value, 100)), buf_view(&words).p);
	buf_fini(&words);
	return rc;
}

static int wrong_kind(const struct where *w, const struct conf_key *k, enum yaml_kind kind)
{
	static const char *const name[] = { [YAML_SCALAR] = "a single value", [YAML_LIST] = "a list",
		[YAML_MAP] = "a mapping" };
	struct buf words;
	int rc;

	buf_init(&words, WORDS_TEXT);
	value_words(k, &words);
	rc = wrong(w, "must be %s, not %s", buf_view(&words).p, name[kind]);
	buf_fini(&words);
	return rc;
}

static int unknown_key(const struct where *w, const struct conf_schema *s, const char *name)
{
	struct near_word n;
	const char *best;

	near_init(&n, str_of(name));
	for (size_t i = 0; i < s->n; i++)
		near_try(&n, s->keys[i].name);
	best = near_best(&n);
	if (best != NULL)
		return wrong(w, "unknown key; did you mean %s?", best);
	return wrong(w, "unknown key; --print-config lists those there are");
}

/* ---- one value */

static const struct {
	struct str word;
	bool value;
} truths[] = {
	{ STR("true"), true }, { STR("yes"), true }, { STR("on"), true },
	{ STR("false"), false }, { STR("no"), false }, { STR("off"), false },
};

static int to_bool(struct str text, bool *out)
{
	for (size_t i = 0; i < COUNT(truths); i++)
		if (str_eq(text, truths[i].word)) {
			*out = truths[i].value;
			return OK;
		}
	return E_FORMAT;
}

static bool has_control(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
			return true;
	return false;
}

static char *text_of(struct str text)
{
	char *p = mem_get(text.n + 1);

	memcpy(p, text.p, text.n);
	return p;
}

static bool text_fits(const struct conf_key *k, struct str text)
{
	if (has_control(text))
		return false;
	if (k->type == CONF_PATH)
		return text.n == 0 ? may_be_empty(k) : text.p[0] == '/';
	return text.n >= (uint64_t)k->min && (k->max == 0 || text.n <= (uint64_t)k->max);
}

static int to_text(const struct conf_key *k, struct str text, char **out)
{
	if (!text_fits(k, text))
		return E_FORMAT;
	mem_free(*out);
	*out = text_of(text);
	return OK;
}

/* The old value is replaced only by a good one. */
static int take_scalar(const struct where *w, const struct conf_key *k, struct str text, void *conf)
{
	void *place = (char *)conf + k->offset;
	int rc = E_FORMAT;

	switch (k->type) {
	case CONF_INT: rc = quantity_parse(QUANTITY_NUMBER, text, k->min, k->max, place); break;
	case CONF_DURATION: rc = quantity_parse(QUANTITY_DURATION, text, k->min, k->max, place); break;
	case CONF_SIZE: rc = quantity_parse(QUANTITY_SIZE, text, k->min, k->max, place); break;
	case CONF_BOOL: rc = to_bool(text, place); break;
	case CONF_TEXT:
	case CONF_PATH: rc = to_text(k, text, place); break;
	case CONF_CHOICE: rc = choice_parse(k->more, text, place); break;
	case CONF_TEXTS:
	case CONF_SECTIONS:
	case CONF_TYPES: break;
	}
	return rc < 0 ? wrong_value(w, k, text) : OK;
}

/* ---- lists */

static void texts_fini(struct conf_texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		mem_free(t->v[i]);
	mem_free(t->v);
	*t = (struct conf_texts){ 0 };
}

static void texts_add(struct conf_texts *t, struct str text)
{
	t->v = mem_resize(t->v, (t->n + 1) * sizeof(char *));
	t->v[t->n++] = text_of(text);
}

static int take_texts(const struct where *w, const struct conf_key *k, const struct yaml_node *list, void *conf)
{
	struct conf_texts *t = (struct conf_texts *)(void *)((char *)conf + k->offset);
	struct where item = *w;

	if (list->kind != YAML_LIST)
		return wrong_kind(w, k, list->kind);
	texts_fini(t);
	for (size_t i = 0; i < list->n; i++) {
		item.line = list->items[i].line;
		if (list->items[i].kind != YAML_SCALAR)
			return wrong_kind(&item, k, list->items[i].kind);
		if (!text_fits(k, list->items[i].text))
			return wrong_value(&item, k, list->items[i].text);
		texts_add(t, list->items[i].text);
	}
	return OK;
}

static struct conf_sections *sections_of(const struct conf_key *k, void *conf)
{
	return (struct conf_sections *)(void *)((char *)conf + k->offset);
}

static void sections_fini(const struct conf_schema *sub, struct conf_sections *secs)
{
	for (size_t i = 0; i < secs->n; i++)
		conf_fini(sub, (char *)secs->v + i * sub->struct_size);
	mem_free(secs->v);
	*secs = (struct conf_sections){ 0 };
}

/* ---- the whole */

void conf_init(const struct conf_schema *s, void *conf)
{
	memset(conf, 0, s->struct_size);
	for (size_t i = 0; i < s->n; i++) {
		const struct conf_key *k = &s->keys[i];
		struct err e = { 0 };
		struct where w = { "default", 0, k->name, &e };

		if (k->def == NULL || k->type == CONF_TEXTS || k->type == CONF_SECTIONS)
			continue;
		if (take_scalar(&w, k, str_of(k->def), conf) < 0)
			must_fail(__FILE__, __LINE__, e.text); /* a default of ours breaks its own rule */
	}
}

void conf_fini(const struct conf_schema *s, void *conf)
{
	if (conf == NULL)
		return;
	for (size_t i = 0; i < s->n; i++) {
		const struct conf_key *k = &s->keys[i];
		void *place = (char *)conf + k->offset;

		if (k->type == CONF_TEXT || k->type == CONF_PATH) {
			mem_free(*(char **)place);
			*(char **)place = NULL;
		} else if (k->type == CONF_TEXTS) {
			texts_fini(place);
		} else if (k->type == CONF_SECTIONS) {
			sections_fini(k->more, place);
		}
	}
}

/* ---- from YAML */

struct walk {
	const struct conf_schema *s;
	void *conf;
	const char *file, *shown; /* shown: what stands before a key in messages, "sources[0]." or "" */
	bool *given;		  /* which keys of s were met */
	struct err *e;
};

static const struct conf_key *find_key(const struct conf_schema *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->keys[i].name, name) == 0)
			return &s->keys[i];
	return NULL;
}

/* Is there a key "name.something"? */
static bool is_group(const struct conf_schema *s, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < s->n; i++)
		if (strncmp(s->keys[i].name, name, n) == 0 && s->keys[i].name[n] == '.')
			return true;
	return false;
}

static int take_group(const struct walk *w, const char *prefix, const struct yaml_node *map);

static int check_given(const struct walk *w, unsigned line)
{
	for (size_t i = 0; i < w->s->n; i++) {
		char path[PATH_TEXT];
		struct where at = { w->file, line, path, w->e };
		struct buf words;
		int rc;

		if (w->given[i] || w->s->keys[i].def != NULL || w->s->keys[i].type == CONF_TEXTS ||
			w->s->keys[i].type == CONF_SECTIONS)
			continue;
		buf_init(&words, WORDS_TEXT);
		value_words(&w->s->keys[i], &words);
		snprintf(path, sizeof(path), "%s%s", w->shown, w->s->keys[i].name);
		rc = wrong(&at, "is missing; it must be given and be %s", buf_view(&words).p);
		buf_fini(&words);
		return rc;
	}
	return OK;
}

static int take_section(const struct walk *outer, const struct conf_schema *sub, const struct yaml_node *map,
	const char *path, void *conf)
{
	char shown[PATH_TEXT + 2];
	struct walk w = { sub, conf, outer->file, shown, NULL, outer->e };
	int rc;

	snprintf(shown, sizeof(shown), "%s.", path);
	w.given = mem_get(sub->n);
	rc = take_group(&w, "", map);
	if (rc == OK)
		rc = check_given(&w, map->line);
	mem_free(w.given);
	return rc;
}

static int take_sections(const struct walk *w, const struct where *at, const struct conf_key *k,
	const struct yaml_node *list)
{
	const struct conf_schema *sub = k->more;
	struct conf_sections *secs = sections_of(k, w->conf);
	int rc = OK;

	if (list->kind != YAML_LIST)
		return wrong_kind(at, k, list->kind);
	sections_fini(sub, secs);
	secs->v = mem_get_array(list->n, sub->struct_size);
	for (size_t i = 0; rc == OK && i < list->n; i++) {
		void *conf = (char *)secs->v + i * sub->struct_size;
		char path[PATH_TEXT];
		struct where item = { at->file, list->items[i].line, path, at->e };

		snprintf(path, sizeof(path), "%.200s[%zu]", at->path, i);
		conf_init(sub, conf);
		secs->n++;
		if (list->items[i].kind != YAML_MAP)
			rc = wrong(&item, "must be a mapping");
		else
			rc = take_section(w, sub, &list->items[i], path, conf);
	}
	return rc;
}

static bool is_null(const struct yaml_node *node)
{
	return node->kind == YAML_SCALAR && !node->quoted &&
	       (node->text.n == 0 || str_eq(node->text, STR("~")) || str_eq(node->text, STR("null")));
}

static int take_key(const struct walk *w, const struct where *at, const struct conf_key *k,
	const struct yaml_node *node)
{
	bool list = k->type == CONF_TEXTS || k->type == CONF_SECTIONS;

	w->given[k - w->s->keys] = true;
	if (list && is_null(node))
		return OK;
	if (k->type == CONF_TEXTS)
		return take_texts(at, k, node, w->conf);
	if (k->type == CONF_SECTIONS)
		return take_sections(w, at, k, node);
	if (node->kind != YAML_SCALAR)
		return wrong_kind(at, k, node->kind);
	if (is_null(node) && !((k->type == CONF_TEXT || k->type == CONF_PATH) && may_be_empty(k)))
		return wrong(at, "has no value; leave the line out for the default%s%s", k->def == NULL ? "" : ", ",
			k->def == NULL ? "" : k->def);
	return take_scalar(at, k, is_null(node) ? STR("") : node->text, w->conf);
}

static int take_member(const struct walk *w, const char *prefix, const struct yaml_node *node)
{
	char name[PATH_TEXT], path[PATH_TEXT * 2], inner[PATH_TEXT + 1];
	struct where at = { w->file, node->key_line, path, w->e };
	const struct conf_key *k;

	snprintf(name, sizeof(name), "%s%.*s", prefix, STR_ARG(node->key));
	snprintf(path, sizeof(path), "%s%s", w->shown, name);
	k = find_key(w->s, name);
	if (k != NULL)
		return take_key(w, &at, k, node);
	if (!is_group(w->s, name))
		return unknown_key(&at, w->s, name);
	if (is_null(node))
		return OK;
	if (node->kind != YAML_MAP)
		return wrong(&at, "must be a mapping of further keys");
	snprintf(inner, sizeof(inner), "%s.", name);
	return take_group(w, inner, node);
}

static int take_group(const struct walk *w, const char *prefix, const struct yaml_node *map)
{
	int rc = OK;

	for (size_t i = 0; rc == OK && i < map->n; i++)
		rc = take_member(w, prefix, &map->items[i]);
	return rc;
}

static int take_tree(const struct conf_schema *s, const struct yaml_node *root, const char *name, void *conf,
	struct err *e)
{
	struct walk w = { s, conf, name, "", NULL, e };
	int rc;

	if (root->kind != YAML_MAP)
		return err_set(e, E_USAGE, "%s: line %u: must be a mapping: lines \"key: value\"", name, root->line);
	w.given = mem_get(s->n);
	rc = take_group(&w, "", root);
	mem_free(w.given);
	return rc;
}

/* What yaml_parse and file_read_all say, as the caller's: everything but a missing file is the person's mistake. */
static int as_usage(int rc, struct err *e)
{
	if (rc != E_FORMAT && rc != E_LIMIT)
		return rc;
	if (e != NULL)
		e->code = E_USAGE;
	return E_USAGE;
}

int conf_parse(const struct conf_schema *s, struct str text, const char *name, void *conf, struct err *e)
{
	const struct yaml_node *root;
	struct arena a;
	int rc;

	arena_init(&a, TREE_BYTES);
	conf_init(s, conf);
	rc = as_usage(yaml_parse(&a, text, name, &root, e), e);
	if (rc == OK)
		rc = take_tree(s, root, name, conf, e);
	if (rc < 0) {
		conf_fini(s, conf);
		conf_init(s, conf);
	}
	arena_fini(&a);
	return rc;
}

int conf_load(const struct conf_schema *s, const char *path, void *conf, struct err *e)
{
	struct buf text;
	int rc;

	buf_init(&text, 1 << 20);
	rc = as_usage(file_read_all(path, &text, e), e);
	if (rc == OK)
		rc = conf_parse(s, buf_view(&text), path, conf, e);
	else
		conf_init(s, conf);
	buf_fini(&text);
	return rc;
}

static int set_texts(const struct where *at, const struct conf_key *k, struct str value, void *conf)
{
	struct conf_texts *t = (struct conf_texts *)(void *)((char *)conf + k->offset);

	texts_fini(t);
	while (value.n > 0 && value.p != NULL) {
		struct str text = str_split(&value, ',');

		if (!text_fits(k, text))
			return wrong_value(at, k, text);
		texts_add(t, text);
	}
	return OK;
}

int conf_set(const struct conf_schema *s, void *conf, struct str name, struct str value, struct err *e)
{
	char path[PATH_TEXT];
	struct where at = { NULL, 0, path, e };
	const struct conf_key *k;

	str_copy_to(name, path, sizeof(path));
	k = find_key(s, path);
	if (k == NULL)
		return unknown_key(&at, s, path);
	if (k->type == CONF_SECTIONS)
		return wrong(&at, "can only be given in the file");
	return k->type == CONF_TEXTS ? set_texts(&at, k, value, conf) : take_scalar(&at, k, value, conf);
}

int conf_set_words(const struct conf_schema *s, void *conf, const char *const *words, size_t n, struct err *e)
{
	int rc = OK;

	for (size_t i = 0; i < n && rc == OK; i++) {
		struct str value = str_of(words[i]), name = str_split(&value, '=');

		rc = value.p == NULL ? err_set(e, E_USAGE, "--set %s: want KEY=VALUE", words[i])
				     : conf_set(s, conf, name, value, e);
	}
	return rc;
}

/* ---- to YAML */

static void put_text(struct str text, struct buf *out)
{
	buf_byte(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"' || text.p[i] == '\\')
			buf_byte(out, '\\');
		buf_byte(out, text.p[i]);
	}
	buf_byte(out, '"');
}

static void put_texts(const struct conf_texts *t, struct buf *out)
{
	buf_byte(out, '[');
	for (size_t i = 0; i < t->n; i++) {
		if (i > 0)
			buf_text(out, ", ");
		put_text(str_of(t->v[i]), out);
	}
	buf_byte(out, ']');
}

static void put_scalar(const struct conf_key *k, const void *place, struct buf *out)
{
	char text[CLOCK_TEXT];
	int64_t v = 0;

	if (k->type == CONF_INT || k->type == CONF_DURATION || k->type == CONF_SIZE || k->type == CONF_CHOICE)
		memcpy(&v, place, sizeof(v));
	switch (k->type) {
	case CONF_INT: buf_fmt(out, "%" PRId64, v); return;
	case CONF_DURATION: buf_str(out, clock_duration(v, text)); return;
	case CONF_SIZE: buf_str(out, size_exact(v, text)); return;
	case CONF_CHOICE: buf_text(out, ((const char *const *)k->more)[v]); return;
	case CONF_BOOL: buf_text(out, *(const bool *)place ? "true" : "false"); return;
	case CONF_TEXT:
	case CONF_PATH: put_text(str_of(*(const char *const *)place), out); return;
	case CONF_TEXTS: put_texts(place, out); return;
	case CONF_SECTIONS:
	case CONF_TYPES: break;
	}
	must_fail(__FILE__, __LINE__, "a configuration key's type");
}

struct print {
	const struct conf_schema *s;
	const void *conf;
	size_t indent;
	bool comments;
	struct buf *out;
};

static void put_group(const struct print *p, struct str prefix);

/* Help goes on with what the value may be in brackets: without its last period. */
static struct str help_of(const struct conf_key *k)
{
	struct str help = str_of(k->help);

	str_drop_suffix(&help, STR("."));
	return help;
}

static void put_comment(const struct print *p, const struct conf_key *k)
{
	if (!p->comments)
		return;
	buf_fill(p->out, ' ', p->indent);
	buf_fmt(p->out, "# %.*s (", STR_ARG(help_of(k)));
	value_words(k, p->out);
	if (k->def != NULL && k->def[0] != '\0' && k->type != CONF_TEXTS && k->type != CONF_SECTIONS)
		buf_fmt(p->out, "; default %s", k->def);
	buf_text(p->out, ")\n");
}

/* The keys a section may have, where there is none to show them. */
static void put_section_keys(const struct print *p, const struct conf_schema *sub)
{
	for (size_t i = 0; i < sub->n; i++) {
		buf_fill(p->out, ' ', p->indent);
		buf_fmt(p->out, "#   %s: %.*s (", sub->keys[i].name, STR_ARG(help_of(&sub->keys[i])));
		value_words(&sub->keys[i], p->out);
		buf_text(p->out, sub->keys[i].def == NULL ? "; must be given)\n" : ")\n");
	}
}

/* An item's "-" stands on a line of its own, so that the comment of its first key can follow. */
static void put_sections(const struct print *p, const struct conf_key *k, struct str name)
{
	const struct conf_sections *secs =
		(const struct conf_sections *)(const void *)((const char *)p->conf + k->offset);
	const struct conf_schema *sub = k->more;

	if (secs->n == 0 && p->comments)
		put_section_keys(p, sub);
	buf_fill(p->out, ' ', p->indent);
	buf_fmt(p->out, "%.*s:%s\n", STR_ARG(name), secs->n == 0 ? " []" : "");
	for (size_t i = 0; i < secs->n; i++) {
		struct print inner = { sub, (const char *)secs->v + i * sub->struct_size, p->indent + 4,
			p->comments && i == 0, p->out };

		buf_fill(p->out, ' ', p->indent + 2);
		buf_text(p->out, "-\n");
		put_group(&inner, STR(""));
	}
}

static void put_key(const struct print *p, const struct conf_key *k, struct str name)
{
	put_comment(p, k);
	if (k->type == CONF_SECTIONS) {
		put_sections(p, k, name);
		return;
	}
	buf_fill(p->out, ' ', p->indent);
	buf_fmt(p->out, "%.*s: ", STR_ARG(name));
	put_scalar(k, (const char *)p->conf + k->offset, p->out);
	buf_byte(p->out, '\n');
}

static bool came_before(const struct conf_schema *s, size_t i, struct str group)
{
	for (size_t k = 0; k < i; k++)
		if (str_has_prefix(str_of(s->keys[k].name), group))
			return true;
	return false;
}

/* All keys that begin with prefix ("listen.", or "" for all), deeper ones as nested mappings, each mapping once. */
static void put_group(const struct print *p, struct str prefix)
{
	for (size_t i = 0; i < p->s->n; i++) {
		struct str rest = str_of(p->s->keys[i].name), group;
		size_t dot;

		if (!str_drop_prefix(&rest, prefix))
			continue;
		dot = str_find_byte(rest, '.');
		if (dot == rest.n) {
			put_key(p, &p->s->keys[i], rest);
			continue;
		}
		group = str_make(p->s->keys[i].name, prefix.n + dot + 1);
		if (!came_before(p->s, i, group)) {
			struct print inner = *p;

			inner.indent += 2;
			buf_fill(p->out, ' ', p->indent);
			buf_fmt(p->out, "%.*s:\n", STR_ARG(str_upto(rest, dot)));
			put_group(&inner, group);
		}
	}
}

void conf_print(const struct conf_schema *s, const void *conf, struct buf *out)
{
	const struct print p = { s, conf, 0, true, out };

	put_group(&p, STR(""));
}

static void mdoc_key(const struct conf_key *k, struct buf *out)
{
	struct buf words;

	buf_init(&words, 4 * WORDS_TEXT);
	value_words(k, &words);
	if (k->def == NULL && k->type != CONF_TEXTS && k->type != CONF_SECTIONS)
		buf_text(&words, "; must be given");
	else if (k->def != NULL && k->def[0] != '\0')
		buf_fmt(&words, "; the default is %s", k->def);
	buf_text(out, ".It Cm ");
	mdoc_line(str_of(k->name), out);
	mdoc_text(help_of(k), out);
	buf_text(out, "\n(");
	mdoc_text(buf_view(&words), out);
	buf_text(out, ").\n");
	buf_fini(&words);
}

void conf_mdoc(const struct conf_schema *s, struct buf *out)
{
	buf_text(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < s->n; i++) {
		mdoc_key(&s->keys[i], out);
		if (s->keys[i].type == CONF_SECTIONS) {
			buf_text(out, "Each has the keys\n");
			conf_mdoc(s->keys[i].more, out);
		}
	}
	buf_text(out, ".El\n");
}
