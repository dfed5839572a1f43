/* body.h — the JSON body of a request, member by member. Each take_ function says what a member must be
 * (E_USAGE, with the member's name in front) and leaves *out as it was where the member is missing or null.
 * Inside api/ only. */
#ifndef API_BODY_H
#define API_BODY_H

#include "api/call.h"
#include "json/tree.h"

/* The body as an object; else the problem is answered and it is NULL: 415, 400, 413. */
const struct json_node *body_object(struct api_call *c);
/* Other members than these are E_USAGE: a typing error must not go unseen. */
int body_known(const struct json_node *body, const char *const *names, size_t n, struct err *e) MUST_USE;

bool body_has_nul(struct str s); /* no text of a window has one, so none that is compared with theirs may */
int body_text(const struct json_node *o, const char *key, size_t least, size_t most, struct str *out,
	struct err *e) MUST_USE;
int body_i64(const struct json_node *o, const char *key, int64_t least, int64_t most, int64_t *out,
	struct err *e) MUST_USE;
int body_bool(const struct json_node *o, const char *key, bool *out, struct err *e) MUST_USE;
/* A list of at most cap texts of 0 to most bytes. */
int body_texts(struct arena *a, const struct json_node *o, const char *key, size_t cap, size_t most,
	struct str **out, size_t *n, struct err *e) MUST_USE;
/* The items of a list of objects; none where it is missing. */
int body_objects(const struct json_node *o, const char *key, size_t cap, const struct json_node **items, size_t *n,
	struct err *e) MUST_USE;

#endif
