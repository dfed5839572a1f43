/* tree.h — a small document as a tree, read strictly with json/pull: API bodies, op tables, server answers.
 * Numbers stay decimal text; a key twice in one object is an error. Everything lives in the arena. */
#ifndef JSON_TREE_H
#define JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum json_kind { JSON_K_NULL, JSON_K_BOOL, JSON_K_NUMBER, JSON_K_STRING, JSON_K_ARRAY, JSON_K_OBJECT, JSON_KINDS };

struct json_node {
	enum json_kind kind;
	bool truth;
	struct str text; /* a string unescaped, a number as it stands */
	struct str key;	 /* of an object's member, unescaped */
	struct json_node *items;
	size_t n;
	uint64_t offset;
};

/* E_FORMAT with line and column, E_LIMIT for depth over 64 or a full arena. */
int json_parse(struct arena *a, struct str text, const struct json_node **out, struct err *e) MUST_USE;

const struct json_node *json_get(const struct json_node *object, const char *key); /* NULL where it is not, or no object */

/* For reading answers leniently: a missing or different member gives the fallback. */
struct str json_get_str(const struct json_node *object, const char *key); /* empty slice as fallback */
int64_t json_get_i64(const struct json_node *object, const char *key, int64_t fallback);
double json_get_double(const struct json_node *object, const char *key, double fallback);
bool json_get_bool(const struct json_node *object, const char *key, bool fallback);

#endif
