#include "store/names.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "profile/window.h"

enum {
	NAMES_BYTES_MAX = 64 << 20, /* of texts kept in memory */
	NAMES_TRIM = 32 << 20,	    /* names_trim forgets above this */
	NAMES_KEYS_MAX = 1 << 20,
	NAMES_ID_MAX = 16
		<< 20, /* ids in the database; more is not a fleet but an op name that should be normalised */
};

struct named {
	struct str text; /* p is NULL where it was not looked up yet */
	enum op_kind kind;
};

VEC(named_vec, struct named);

struct names {
	struct db *db;
	struct arena arena;
	struct map texts, ops; /* to ids; an op's key is its kind as a byte, then its name */
	struct named_vec by_id, op_by_id;
};

static void names_init(struct names *n)
{
	arena_init(&n->arena, NAMES_BYTES_MAX);
	map_init(&n->texts, NAMES_KEYS_MAX);
	map_init(&n->ops, NAMES_KEYS_MAX);
	n->by_id = (struct named_vec)VEC_INIT(NAMES_ID_MAX);
	n->op_by_id = (struct named_vec)VEC_INIT(NAMES_ID_MAX);
}

static void names_fini(struct names *n)
{
	map_fini(&n->texts);
	map_fini(&n->ops);
	vec_fini(&n->by_id);
	vec_fini(&n->op_by_id);
	arena_fini(&n->arena);
}

struct names *names_new(struct db *db)
{
	struct names *n = mem_get(sizeof(*n));

	n->db = db;
	names_init(n);
	return n;
}

void names_free(struct names *n)
{
	if (n == NULL)
		return;
	names_fini(n);
	mem_free(n);
}

void names_forget(struct names *n)
{
	names_fini(n);
	names_init(n);
}

/* One more text always fits after this. */
static void names_trim(struct names *n)
{
	if (arena_full(&n->arena) || n->arena.used > NAMES_TRIM)
		names_forget(n);
}

/* Remembering is a favour: where there is no room, the next one asks the database again. */
static void remember(struct names *n, struct map *m, struct str key, uint32_t id)
{
	struct str kept;

	if (n->arena.used > NAMES_TRIM)
		names_trim(n);
	kept = arena_str(&n->arena, key);
	if (!arena_full(&n->arena))
		map_put(m, kept, id, NULL);
}

/* ---- to ids */

static int id_of_row(struct stmt *s, uint32_t *id, struct err *e)
{
	int64_t row = stmt_row(s) ? stmt_get_i64(s, 0) : NAMES_NONE;
	int rc = stmt_close(s, e);

	if (rc < 0)
		return rc;
	if (row < 0 || row > NAMES_ID_MAX)
		return err_set(e, E_LIMIT, "store: more than %d different names", NAMES_ID_MAX);
	*id = (uint32_t)row;
	return OK;
}

int names_find(struct names *n, struct str text, uint32_t *id, struct err *e)
{
	const uint32_t *known = map_get(&n->texts, text);
	struct stmt s;
	int rc;

	if (known != NULL) {
		*id = *known;
		return OK;
	}
	stmt_open(&s, n->db, "SELECT id FROM name WHERE text = ?");
	stmt_str(&s, text);
	rc = id_of_row(&s, id, e);
	if (rc == OK && *id != NAMES_NONE)
		remember(n, &n->texts, text, *id);
	return rc;
}

int names_make(struct names *n, struct str text, uint32_t *id, struct err *e)
{
	struct stmt s;
	int rc = names_find(n, text, id, e);

	if (rc < 0 || *id != NAMES_NONE)
		return rc;
	stmt_open(&s, n->db, "INSERT INTO name (text) VALUES (?) RETURNING id");
	stmt_str(&s, text);
	rc = id_of_row(&s, id, e);
	if (rc == OK)
		remember(n, &n->texts, text, *id);
	return rc;
}

static struct str op_key(enum op_kind kind, struct str name, char room[WINDOW_NAME_MAX + 1])
{
	size_t many = name.n < WINDOW_NAME_MAX ? name.n : WINDOW_NAME_MAX;

	room[0] = (char)kind;
	memcpy(room + 1, name.n ? name.p : "", many);
	return str_make(room, many + 1);
}

static int op_lookup(struct names *n, const char *sql, struct str key, uint32_t *id, struct err *e)
{
	struct stmt s;
	int rc;

	stmt_open(&s, n->db, sql);
	stmt_str(&s, str_from(key, 1));
	stmt_text(&s, op_kind_name((enum op_kind)key.p[0]));
	rc = id_of_row(&s, id, e);
	if (rc == OK && *id != NAMES_NONE)
		remember(n, &n->ops, key, *id);
	return rc;
}

int names_find_op(struct names *n, enum op_kind kind, struct str name, uint32_t *id, struct err *e)
{
	char room[WINDOW_NAME_MAX + 1];
	struct str key = op_key(kind, name, room);
	const uint32_t *known = map_get(&n->ops, key);

	*id = known != NULL ? *known : NAMES_NONE;
	if (known != NULL || name.n > WINDOW_NAME_MAX)
		return OK;
	return op_lookup(n, "SELECT id FROM op WHERE name = ? AND kind = ?", key, id, e);
}

int names_make_op(struct names *n, enum op_kind kind, struct str name, uint32_t *id, struct err *e)
{
	char room[WINDOW_NAME_MAX + 1];
	int rc = names_find_op(n, kind, name, id, e);

	if (rc < 0 || *id != NAMES_NONE)
		return rc;
	return op_lookup(
		n, "INSERT INTO op (name, kind) VALUES (?, ?) RETURNING id", op_key(kind, name, room), id, e);
}

/* ---- from ids */

/* The id's place in by_id, made when missing; NULL where there is no memory. */
static struct named *place_of(struct named_vec *v, uint32_t id)
{
	while (v->n <= id)
		if (vec_push(v) == NULL)
			return NULL;
	return &v->v[id];
}

static int unknown_id(uint32_t id, struct err *e)
{
	return err_set(e, E_CORRUPT, "store: a row names id %u, which is not in the database", id);
}

/* Reads the text (column 0) and, for ops, the kind (column 1) of the one row. */
static int load_named(
	struct names *n, struct stmt *s, bool with_kind, uint32_t id, struct named *out, struct err *e)
{
	struct str word;
	int rc, kind_rc = OK;

	if (!stmt_row(s)) {
		rc = stmt_close(s, e);
		return rc < 0 ? rc : unknown_id(id, e);
	}
	out->text = arena_str(&n->arena, stmt_get_str(s, 0));
	if (with_kind) {
		word = stmt_get_str(s, 1);
		kind_rc = op_kind_parse(word, &out->kind);
	}
	rc = stmt_close(s, e);
	if (rc == OK && kind_rc < 0)
		rc = err_set(e, E_CORRUPT, "store: op %u has a kind that this program does not know", id);
	if (rc == OK && arena_full(&n->arena))
		rc = err_set(e, E_LIMIT, "store: names longer than %d bytes in all", NAMES_BYTES_MAX);
	if (rc < 0)
		out->text = (struct str){ NULL, 0 };
	return rc;
}

int names_text(struct names *n, uint32_t id, struct str *text, struct err *e)
{
	struct named *at;
	struct stmt s;
	int rc = OK;

	names_trim(n);
	at = id <= NAMES_ID_MAX ? place_of(&n->by_id, id) : NULL;
	if (at == NULL)
		return unknown_id(id, e);
	if (at->text.p == NULL) {
		stmt_open(&s, n->db, "SELECT text FROM name WHERE id = ?");
		stmt_i64(&s, id);
		rc = load_named(n, &s, false, id, at, e);
	}
	*text = at->text;
	return rc;
}

int names_op(struct names *n, uint32_t id, enum op_kind *kind, struct str *name, struct err *e)
{
	struct named *at;
	struct stmt s;
	int rc = OK;

	names_trim(n);
	at = id <= NAMES_ID_MAX ? place_of(&n->op_by_id, id) : NULL;
	if (at == NULL)
		return unknown_id(id, e);
	if (at->text.p == NULL) {
		stmt_open(&s, n->db, "SELECT name, kind FROM op WHERE id = ?");
		stmt_i64(&s, id);
		rc = load_named(n, &s, true, id, at, e);
	}
	*kind = at->kind;
	*name = at->text;
	return rc;
}
