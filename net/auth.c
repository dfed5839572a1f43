#include "net/auth.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/arena.h"
#include "base/enc.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/yaml.h"

enum { AUTH_HASH = 32, AUTH_TOKEN_MAX = 4096, AUTH_YAML_BYTES = 4 << 20 };

struct auth_entry {
	enum auth_role role;
	uint8_t hash[AUTH_HASH];
};

struct auth {
	struct auth_entry *v;
	size_t n;
};

static const char *const role_names[] = { [AUTH_INGEST] = "ingest", [AUTH_READ] = "read", [AUTH_ADMIN] = "admin" };
_Static_assert(COUNT(role_names) == AUTH_ROLES, "name every role");

const char *auth_role_name(enum auth_role r)
{
	return role_names[r];
}

static void sha256(struct str s, uint8_t out[AUTH_HASH])
{
	unsigned n = 0;

	must(EVP_Digest(s.p, s.n, out, &n, EVP_sha256(), NULL) == 1 && n == AUTH_HASH);
}

void auth_hash(struct str token, char out[65])
{
	uint8_t hash[AUTH_HASH];

	sha256(token, hash);
	enc_hex(hash, sizeof(hash), out);
}

static int read_role(const char *path, const struct yaml_node *node, enum auth_role *out, struct err *e)
{
	for (size_t i = 0; i < AUTH_ROLES; i++)
		if (node->kind == YAML_SCALAR && str_eq(node->text, str_of(role_names[i]))) {
			*out = (enum auth_role)i;
			return OK;
		}
	return err_set(e, E_USAGE, "%s: line %u: role: must be ingest, read or admin", path, node->line);
}

static int read_entry(const char *path, const struct yaml_node *item, struct auth_entry *out, struct err *e)
{
	const struct yaml_node *role = yaml_get(item, STR("role")), *hash = yaml_get(item, STR("sha256"));

	if (item->kind != YAML_MAP)
		return err_set(e, E_USAGE, "%s: line %u: an entry must be a mapping with role and sha256", path, item->line);
	for (size_t i = 0; i < item->n; i++) {
		const struct yaml_node *member = &item->items[i];

		if (member != role && member != hash && !str_eq(member->key, STR("name")))
			return err_set(e, E_USAGE, "%s: line %u: %.*s: an entry has role, sha256 and name only", path,
				member->key_line, STR_ARG(member->key));
	}
	if (role == NULL || hash == NULL)
		return err_set(e, E_USAGE, "%s: line %u: %s is missing", path, item->line, role == NULL ? "role" : "sha256");
	if (hash->kind != YAML_SCALAR || enc_unhex(hash->text, out->hash, AUTH_HASH) != OK)
		return err_set(e, E_USAGE, "%s: line %u: sha256: must be 64 hex digits (printf %%s TOKEN | sha256sum)", path,
			hash->line);
	return read_role(path, role, &out->role, e);
}

static int read_list(const char *path, const struct yaml_node *list, struct auth *a, struct err *e)
{
	int rc = OK;

	if (list->n == 0)
		return OK;
	if (list->kind != YAML_LIST)
		return err_set(e, E_USAGE, "%s: line %u: must be a list of entries \"- role: …\"", path, list->line);
	if (list->n > AUTH_TOKENS_MAX)
		return err_set(e, E_LIMIT, "%s: more than %d entries", path, AUTH_TOKENS_MAX);
	a->v = mem_get_array(list->n, sizeof(*a->v));
	for (size_t i = 0; i < list->n && rc == OK; i++)
		rc = read_entry(path, &list->items[i], &a->v[a->n++], e);
	return rc;
}

int auth_load(struct auth **out, const char *path, struct err *e)
{
	const struct yaml_node *list = NULL;
	struct auth *a = mem_get(sizeof(*a));
	struct arena arena;
	int rc;

	*out = NULL;
	arena_init(&arena, AUTH_YAML_BYTES);
	rc = yaml_load(&arena, path, &list, e);
	if (rc == OK)
		rc = read_list(path, list, a, e);
	arena_fini(&arena);
	if (rc != OK) {
		auth_free(a);
		return rc;
	}
	*out = a;
	return OK;
}

void auth_free(struct auth *a)
{
	if (a == NULL)
		return;
	mem_free(a->v);
	mem_free(a);
}

size_t auth_count(const struct auth *a)
{
	return a == NULL ? 0 : a->n;
}

/* "Bearer TOKEN"; the scheme's name is case-blind (RFC 9110 11.1). */
static bool take_bearer(struct str header, struct str *token)
{
	struct str rest = str_trim(header), scheme = str_split(&rest, ' ');

	if (scheme.n != 6 || strncasecmp(scheme.p, "bearer", 6) != 0 || rest.p == NULL)
		return false;
	*token = str_trim(rest);
	return token->n > 0 && token->n <= AUTH_TOKEN_MAX;
}

enum auth_answer auth_check(const struct auth *a, struct str header, enum auth_role need)
{
	enum auth_answer answer = AUTH_UNKNOWN;
	uint8_t hash[AUTH_HASH];
	struct str token;

	if (!take_bearer(header, &token))
		return AUTH_MISSING;
	sha256(token, hash);
	for (size_t i = 0; i < auth_count(a); i++) {
		bool may = a->v[i].role == need || a->v[i].role == AUTH_ADMIN;

		if (CRYPTO_memcmp(hash, a->v[i].hash, AUTH_HASH) != 0)
			continue;
		if (may || answer == AUTH_UNKNOWN)
			answer = may ? AUTH_GOOD : AUTH_WRONG;
	}
	return answer;
}
