/* yaml.h — a YAML document as a small tree with line numbers, read by libyaml.
 * For configuration, rules and tables: at most 1 MiB, 64 levels, 100,000 nodes. One document; no anchors, aliases or
 * tags (each is an error with its line); a key twice in one mapping is an error. Scalars stay text: whoever asks
 * converts, and complains with file and line. */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP, YAML_KINDS };

struct yaml_node {
	enum yaml_kind kind;
	unsigned line;	       /* from 1 */
	struct str text;       /* of a scalar */
	bool quoted;	       /* the scalar stood in quotes, so it is text even where it looks like a number */
	struct str key;	       /* of a mapping's member */
	unsigned key_line;
	struct yaml_node *items; /* members of a list or a mapping, as an array */
	size_t n;
};

/* name stands for the text in error messages: "NAME: line 7: …". The tree lives in the arena. An empty document is an
 * empty mapping. */
int yaml_parse(struct arena *a, struct str text, const char *name, const struct yaml_node **out, struct err *e)
	MUST_USE;
int yaml_load(struct arena *a, const char *path, const struct yaml_node **out, struct err *e) MUST_USE;

const struct yaml_node *yaml_get(const struct yaml_node *map, struct str key); /* NULL where it is not */

#endif
