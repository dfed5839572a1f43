/* auth.h — who may do what: a YAML list of roles and SHA-256 of bearer tokens (doc/api.md, "Who may do what").
 * A loaded list never changes; it can be asked from any thread. */
#ifndef NET_AUTH_H
#define NET_AUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum auth_role { AUTH_INGEST, AUTH_READ, AUTH_ADMIN, AUTH_ROLES };
const char *auth_role_name(enum auth_role r);

enum auth_answer {
	AUTH_GOOD,
	AUTH_MISSING, /* no Authorization header, or not "Bearer TOKEN" */
	AUTH_UNKNOWN, /* no such token */
	AUTH_WRONG,   /* known, but of a role that may not */
	AUTH_ANSWERS
};

enum { AUTH_TOKENS_MAX = 1000 };

struct auth;

/* E_USAGE names file, line and key. An empty list is allowed: nobody may do anything then. */
int auth_load(struct auth **out, const char *path, struct err *e) MUST_USE;
void auth_free(struct auth *a); /* NULL is fine */
size_t auth_count(const struct auth *a);

/* header: the value of Authorization. need: AUTH_INGEST or AUTH_READ; admin may do both. Every entry is compared, each in
 * constant time, so that the time taken tells nothing. NULL as a knows no token. */
enum auth_answer auth_check(const struct auth *a, struct str header, enum auth_role need);

/* 64 hex digits and NUL: what stands in the file for a token. */
void auth_hash(struct str token, char out[65]);

#endif
