#include "base/yaml.h"

#include <yaml.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"

enum { BYTES_MAX = 1 << 20, LEVELS_MAX = 64, NODES_MAX = 100000 };

VEC(nodes, struct yaml_node);

struct reader {
	yaml_parser_t parser;
	struct arena *arena;
	const char *name;
	struct err *e;
	size_t nodes;
	unsigned level;
};

static unsigned line_of(const yaml_event_t *ev)
{
	return (unsigned)ev->start_mark.line + 1;
}

static int refuse(const struct reader *r, unsigned line, const char *what)
{
	return err_set(r->e, E_FORMAT, "%s: line %u: %s", r->name, line, what);
}

/* What libyaml says, with a hint for the mistake that its words do not explain. */
static int syntax_error(const struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *problem = p->problem == NULL ? "not readable" : p->problem;
	bool tab = strstr(problem, "cannot start any token") != NULL;
	unsigned line = (unsigned)p->problem_mark.line + 1;

	if (p->error == YAML_MEMORY_ERROR)
		return err_set(r->e, E_NOMEM, "%s: no memory", r->name);
	if (p->error == YAML_READER_ERROR)
		return err_set(r->e, E_FORMAT, "%s: byte %zu: %s", r->name, p->problem_offset, problem);
	return err_set(r->e, E_FORMAT, "%s: line %u: not YAML: %s%s%s%s", r->name, line, problem,
		p->context == NULL ? "" : " ", p->context == NULL ? "" : p->context,
		tab ? " (indent with blanks, never with tabs; put texts that start with @, ` or % in quotes)" : "");
}

static int next(struct reader *r, yaml_event_t *ev)
{
	return yaml_parser_parse(&r->parser, ev) ? OK : syntax_error(r);
}

/* Anchors and tags would let a small file mean a large one, or a text mean something else: neither is read. */
static int check_plain(const struct reader *r, const yaml_event_t *ev)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (ev->type == YAML_ALIAS_EVENT)
		return refuse(r, line_of(ev), "aliases (*name) are not supported; write the value out");
	if (ev->type == YAML_SCALAR_EVENT) {
		anchor = ev->data.scalar.anchor;
		tag = ev->data.scalar.tag;
	} else if (ev->type == YAML_SEQUENCE_START_EVENT) {
		anchor = ev->data.sequence_start.anchor;
		tag = ev->data.sequence_start.tag;
	} else if (ev->type == YAML_MAPPING_START_EVENT) {
		anchor = ev->data.mapping_start.anchor;
		tag = ev->data.mapping_start.tag;
	}
	if (anchor != NULL)
		return refuse(r, line_of(ev), "anchors (&name) are not supported; write the value out");
	if (tag != NULL)
		return refuse(r, line_of(ev), "tags (!name) are not supported; leave it out");
	return OK;
}

static int read_node(struct reader *r, const yaml_event_t *ev, struct yaml_node *node);

static int read_scalar(struct reader *r, const yaml_event_t *ev, struct yaml_node *node)
{
	node->kind = YAML_SCALAR;
	node->text = arena_str(r->arena, str_make(ev->data.scalar.value, ev->data.scalar.length));
	node->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return OK;
}

static int read_key(struct reader *r, const yaml_event_t *ev, struct map *seen, struct yaml_node *item)
{
	bool is_new;
	int rc = check_plain(r, ev);

	if (rc < 0)
		return rc;
	if (ev->type != YAML_SCALAR_EVENT)
		return refuse(r, line_of(ev), "a key must be a plain text, not a list or a mapping");
	item->key = arena_str(r->arena, str_make(ev->data.scalar.value, ev->data.scalar.length));
	item->key_line = line_of(ev);
	if (map_put(seen, item->key, item->key_line, &is_new) == NULL)
		return err_set(r->e, E_NOMEM, "%s: no memory", r->name);
	if (!is_new)
		return err_set(r->e, E_FORMAT, "%s: line %u: key \"%.*s\" stands twice; first on line %u", r->name,
			item->key_line, STR_ARG(item->key), *map_get(seen, item->key));
	return OK;
}

/* One member of a list or mapping; *ended when it was the end instead. */
static int read_member(struct reader *r, struct yaml_node *parent, struct map *seen, struct nodes *items, bool *ended)
{
	struct yaml_node item = { 0 }, *place;
	yaml_event_t ev;
	int rc = next(r, &ev);

	if (rc < 0)
		return rc;
	*ended = ev.type == YAML_SEQUENCE_END_EVENT || ev.type == YAML_MAPPING_END_EVENT;
	if (!*ended && parent->kind == YAML_MAP) {
		rc = read_key(r, &ev, seen, &item);
		yaml_event_delete(&ev);
		if (rc == OK)
			rc = next(r, &ev);
		if (rc < 0)
			return rc;
	}
	if (!*ended)
		rc = read_node(r, &ev, &item);
	yaml_event_delete(&ev);
	if (rc < 0 || *ended)
		return rc;
	place = vec_push(items);
	if (place == NULL)
		return err_set(r->e, E_NOMEM, "%s: no memory", r->name);
	*place = item;
	return OK;
}

static int read_members(struct reader *r, struct yaml_node *node)
{
	struct nodes items = VEC_INIT(NODES_MAX);
	bool ended = false;
	struct map seen;
	int rc = OK;

	map_init(&seen, NODES_MAX);
	while (rc == OK && !ended)
		rc = read_member(r, node, &seen, &items, &ended);
	if (rc == OK && items.n > 0) {
		node->items = arena_get_array(r->arena, items.n, sizeof(*items.v));
		if (node->items != NULL)
			memcpy(node->items, items.v, items.n * sizeof(*items.v));
		node->n = node->items == NULL ? 0 : items.n;
	}
	map_fini(&seen);
	vec_fini(&items);
	return rc;
}

static int read_node(struct reader *r, const yaml_event_t *ev, struct yaml_node *node)
{
	int rc = check_plain(r, ev);

	if (rc < 0)
		return rc;
	node->line = line_of(ev);
	if (++r->nodes > NODES_MAX)
		return err_set(r->e, E_LIMIT, "%s: line %u: more than %d values", r->name, node->line, NODES_MAX);
	if (ev->type == YAML_SCALAR_EVENT)
		return read_scalar(r, ev, node);
	if (r->level == LEVELS_MAX)
		return err_set(r->e, E_LIMIT, "%s: line %u: more than %d levels", r->name, node->line, LEVELS_MAX);
	node->kind = ev->type == YAML_MAPPING_START_EVENT ? YAML_MAP : YAML_LIST;
	r->level++;
	rc = read_members(r, node);
	r->level--;
	return rc;
}

/* Drops events up to the first node of a document or the end of the stream. */
static int next_root(struct reader *r, yaml_event_t *ev)
{
	int rc;

	while ((rc = next(r, ev)) == OK) {
		if (ev->type != YAML_STREAM_START_EVENT && ev->type != YAML_DOCUMENT_START_EVENT &&
			ev->type != YAML_DOCUMENT_END_EVENT)
			break;
		yaml_event_delete(ev);
	}
	return rc;
}

static int read_document(struct reader *r, struct yaml_node *root)
{
	yaml_event_t ev;
	int rc = next_root(r, &ev);

	if (rc < 0)
		return rc;
	if (ev.type != YAML_STREAM_END_EVENT)
		rc = read_node(r, &ev, root);
	yaml_event_delete(&ev);
	if (rc < 0 || root->line == 0)
		return rc;
	rc = next_root(r, &ev);
	if (rc < 0)
		return rc;
	if (ev.type != YAML_STREAM_END_EVENT)
		rc = refuse(r, line_of(&ev), "a second document; only one is read");
	yaml_event_delete(&ev);
	return rc;
}

int yaml_parse(struct arena *a, struct str text, const char *name, const struct yaml_node **out, struct err *e)
{
	struct reader r = { .arena = a, .name = name, .e = e };
	struct yaml_node *root = arena_get(a, sizeof(*root));
	int rc;

	*out = NULL;
	if (text.n > BYTES_MAX)
		return err_set(e, E_LIMIT, "%s: larger than %d bytes", name, BYTES_MAX);
	if (root == NULL)
		return err_set(e, E_LIMIT, "%s: no room left for it", name);
	if (!yaml_parser_initialize(&r.parser))
		return err_set(e, E_NOMEM, "%s: no memory", name);
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.p, text.n);
	rc = read_document(&r, root);
	yaml_parser_delete(&r.parser);
	if (rc < 0)
		return rc;
	if (arena_full(a))
		return err_set(e, E_LIMIT, "%s: larger than there is room for", name);
	if (root->line == 0 || (root->kind == YAML_SCALAR && root->text.n == 0 && !root->quoted))
		*root = (struct yaml_node){ .kind = YAML_MAP, .line = 1 };
	*out = root;
	return OK;
}

int yaml_load(struct arena *a, const char *path, const struct yaml_node **out, struct err *e)
{
	struct buf text;
	int rc;

	*out = NULL;
	buf_init(&text, BYTES_MAX);
	rc = file_read_all(path, &text, e);
	if (rc == OK)
		rc = yaml_parse(a, buf_view(&text), path, out, e);
	buf_fini(&text);
	return rc;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, struct str key)
{
	if (map == NULL || map->kind != YAML_MAP)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (str_eq(map->items[i].key, key))
			return &map->items[i];
	return NULL;
}
