#include "api/body.h"

#include "json/num.h"
#include "json/text.h"

const struct json_node *body_object(struct api_call *c)
{
	struct str type = http_header_get(c->rq, "Content-Type");
	const struct json_node *body = NULL;
	struct err e = { 0 };
	int rc;

	if (!str_has_prefix(type, STR("application/json"))) {
		call_problem(c, PROBLEM_MEDIA_TYPE, NULL, "Content-Type is \"%.*s\"; it must be application/json",
			STR_ARG(str_upto(type, 80)));
		return NULL;
	}
	rc = json_parse(&c->arena, c->rq->body, &body, &e);
	if (rc != OK) {
		call_problem(c, rc == E_LIMIT ? PROBLEM_TOO_LARGE : PROBLEM_BODY, NULL, "%s", e.text);
		return NULL;
	}
	if (body->kind == JSON_K_OBJECT)
		return body;
	call_problem(c, PROBLEM_UNPROCESSABLE, NULL, "the body must be an object");
	return NULL;
}

static void list_names(const char *const *names, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		buf_fmt(out, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", names[i]);
}

int body_known(const struct json_node *body, const char *const *names, size_t n, struct err *e)
{
	struct buf all;
	int rc = OK;

	buf_init(&all, 400);
	for (size_t i = 0; i < body->n && rc == OK; i++) {
		bool found = false;

		for (size_t k = 0; k < n; k++)
			found = found || str_eq(body->items[i].key, str_of(names[k]));
		if (found)
			continue;
		list_names(names, n, &all);
		rc = err_set(e, E_USAGE, "%.*s: not known; %s are", STR_ARG(str_upto(body->items[i].key, 64)), all.p);
	}
	buf_fini(&all);
	return rc;
}

/* NULL where it is missing or null. */
static const struct json_node *member(const struct json_node *o, const char *key)
{
	const struct json_node *node = json_get(o, key);

	return node == NULL || node->kind == JSON_K_NULL ? NULL : node;
}

static bool is_text(const struct json_node *node, size_t least, size_t most)
{
	return node->kind == JSON_K_STRING && node->text.n >= least && node->text.n <= most &&
		json_utf8_valid(node->text);
}

bool body_has_nul(struct str s)
{
	return str_find_byte(s, '\0') < s.n;
}

int body_text(const struct json_node *o, const char *key, size_t least, size_t most, struct str *out, struct err *e)
{
	const struct json_node *node = member(o, key);

	if (node == NULL && least == 0)
		return OK;
	if (node == NULL || !is_text(node, least, most))
		return err_set(e, E_USAGE, "%s: must be a text of %zu to %zu bytes", key, least, most);
	if (body_has_nul(node->text))
		return err_set(e, E_USAGE, "%s: holds a NUL", key);
	*out = node->text;
	return OK;
}

int body_i64(const struct json_node *o, const char *key, int64_t least, int64_t most, int64_t *out, struct err *e)
{
	const struct json_node *node = member(o, key);
	int64_t v;

	if (node == NULL)
		return OK;
	if (node->kind != JSON_K_NUMBER || json_i64(node->text, &v) != OK || v < least || v > most)
		return err_set(e, E_USAGE, "%s: must be a whole number from %lld to %lld", key,
			(long long)least, (long long)most);
	*out = v;
	return OK;
}

int body_bool(const struct json_node *o, const char *key, bool *out, struct err *e)
{
	const struct json_node *node = member(o, key);

	if (node == NULL)
		return OK;
	if (node->kind != JSON_K_BOOL)
		return err_set(e, E_USAGE, "%s: must be true or false", key);
	*out = node->truth;
	return OK;
}

int body_texts(struct arena *a, const struct json_node *o, const char *key, size_t cap, size_t most,
	struct str **out, size_t *n, struct err *e)
{
	const struct json_node *node = member(o, key);

	if (node == NULL)
		return OK;
	if (node->kind != JSON_K_ARRAY || node->n > cap)
		return err_set(e, E_USAGE, "%s: must be a list of at most %zu texts", key, cap);
	*out = arena_get_array(a, node->n + 1, sizeof(**out));
	if (*out == NULL)
		return err_set(e, E_LIMIT, "%s: too large", key);
	for (size_t i = 0; i < node->n; i++) {
		if (!is_text(&node->items[i], 0, most) || body_has_nul(node->items[i].text))
			return err_set(e, E_USAGE, "%s[%zu]: must be a text of at most %zu bytes, none of them NUL", key, i, most);
		(*out)[(*n)++] = node->items[i].text;
	}
	return OK;
}

int body_objects(const struct json_node *o, const char *key, size_t cap, const struct json_node **items,
	size_t *n, struct err *e)
{
	const struct json_node *node = member(o, key);

	*n = 0;
	if (node == NULL)
		return OK;
	if (node->kind != JSON_K_ARRAY || node->n > cap)
		return err_set(e, E_USAGE, "%s: must be a list of at most %zu objects", key, cap);
	for (size_t i = 0; i < node->n; i++)
		if (node->items[i].kind != JSON_K_OBJECT)
			return err_set(e, E_USAGE, "%s[%zu]: must be an object", key, i);
	*items = node->items;
	*n = node->n;
	return OK;
}
