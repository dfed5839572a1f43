#include "api/call.h"

#include "json/num.h"
#include "json/text.h"
#include "json/tree.h"

static void write_item(struct api_call *c, const struct deploy *d)
{
	jw_object(&c->w);
	jw_key_str(&c->w, "service", d->service);
	jw_key_str(&c->w, "deploy", d->deploy);
	jw_key_i64(&c->w, "first_ns", d->first_ns);
	jw_key_i64(&c->w, "last_ns", d->last_ns);
	jw_key_u64(&c->w, "windows", d->windows);
	jw_key_u64(&c->w, "hosts", d->hosts);
	call_write_labels(c, "labels", d->labels, d->n_labels);
	jw_end(&c->w);
}

void deploys_get(struct api_call *c)
{
	struct deploy_list list = { 0 };
	struct err e = { 0 };
	int rc = store_deploys(c->api->set.store, &c->p.q, &c->arena, &list, &e);

	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	call_list_begin(c);
	for (size_t i = 0; i < list.n; i++)
		write_item(c, &list.v[i]);
	call_list_end(c, list.next);
	call_end(c);
}

/* ---- announcing one */

static int take_name(const struct json_node *body, const char *key, struct str *out, struct err *e)
{
	const struct json_node *node = json_get(body, key);

	if (node == NULL || node->kind != JSON_K_STRING || str_empty(node->text) || node->text.n > WINDOW_TEXT_MAX)
		return err_set(e, E_USAGE, "%s: must be a text of 1 to %d bytes", key, WINDOW_TEXT_MAX);
	if (!json_utf8_valid(node->text))
		return err_set(e, E_USAGE, "%s: must be UTF-8", key);
	*out = node->text;
	return OK;
}

static int take_first(const struct json_node *body, struct deploy *d, int64_t now_ns, struct err *e)
{
	const struct json_node *node = json_get(body, "first_ns");

	d->first_ns = now_ns;
	if (node != NULL && (node->kind != JSON_K_NUMBER || json_i64(node->text, &d->first_ns) != OK || d->first_ns < 0 ||
				    d->first_ns >= WINDOW_END_NS))
		return err_set(e, E_USAGE, "first_ns: must be whole nanoseconds since 1970, before the year 2262");
	d->last_ns = d->first_ns;
	return OK;
}

static int take_labels(struct arena *a, const struct json_node *body, struct deploy *d, struct err *e)
{
	const struct json_node *node = json_get(body, "labels");

	if (node == NULL)
		return OK;
	if (node->kind != JSON_K_OBJECT || node->n > WINDOW_LABELS_MAX)
		return err_set(e, E_USAGE, "labels: must be an object of at most %d texts", WINDOW_LABELS_MAX);
	d->labels = arena_get_array(a, node->n + 1, sizeof(*d->labels));
	if (d->labels == NULL)
		return err_set(e, E_LIMIT, "labels: too large");
	for (size_t i = 0; i < node->n; i++) {
		const struct json_node *item = &node->items[i];

		if (item->kind != JSON_K_STRING || item->text.n > WINDOW_TEXT_MAX || str_empty(item->key) ||
			item->key.n > WINDOW_TEXT_MAX || !json_utf8_valid(item->text) || !json_utf8_valid(item->key))
			return err_set(e, E_USAGE, "labels: \"%.*s\" must be a text of at most %d bytes",
				STR_ARG(str_upto(item->key, 64)), WINDOW_TEXT_MAX);
		d->labels[d->n_labels++] = (struct label){ item->key, item->text };
	}
	return OK;
}

static int take_members(const struct json_node *body, struct err *e)
{
	static const char *const known[] = { "service", "deploy", "first_ns", "labels" };

	if (body->kind != JSON_K_OBJECT)
		return err_set(e, E_USAGE, "the body must be an object");
	for (size_t i = 0; i < body->n; i++) {
		bool found = false;

		for (size_t k = 0; k < COUNT(known); k++)
			found = found || str_eq(body->items[i].key, str_of(known[k]));
		if (!found)
			return err_set(e, E_USAGE, "%.*s: not known; service, deploy, first_ns and labels are",
				STR_ARG(str_upto(body->items[i].key, 64)));
	}
	return OK;
}

static bool take_deploy(struct api_call *c, struct deploy *d)
{
	const struct json_node *body = NULL;
	struct err e = { 0 };
	int rc = json_parse(&c->arena, c->rq->body, &body, &e);

	if (rc != OK) {
		call_problem(c, rc == E_LIMIT ? PROBLEM_TOO_LARGE : PROBLEM_BODY, NULL, "%s", e.text);
		return false;
	}
	rc = take_members(body, &e);
	if (rc == OK)
		rc = take_name(body, "service", &d->service, &e);
	if (rc == OK)
		rc = take_name(body, "deploy", &d->deploy, &e);
	if (rc == OK)
		rc = take_first(body, d, c->api->set.wall_ns(), &e);
	if (rc == OK)
		rc = take_labels(&c->arena, body, d, &e);
	if (rc != OK)
		call_problem(c, PROBLEM_UNPROCESSABLE, NULL, "%s", e.text);
	return rc == OK;
}

void deploys_post(struct api_call *c)
{
	struct deploy d = { 0 };
	struct err e = { 0 };
	struct str type = http_header_get(c->rq, "Content-Type");
	int rc;

	if (!str_has_prefix(type, STR("application/json"))) {
		call_problem(c, PROBLEM_MEDIA_TYPE, NULL, "Content-Type is \"%.*s\"; it must be application/json",
			STR_ARG(str_upto(type, 80)));
		return;
	}
	if (!take_deploy(c, &d))
		return;
	rc = store_put_deploy(c->api->set.store, &d, &e);
	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	jw_object(&c->w);
	jw_key_str(&c->w, "service", d.service);
	jw_key_str(&c->w, "deploy", d.deploy);
	jw_key_i64(&c->w, "first_ns", d.first_ns);
	call_write_labels(c, "labels", d.labels, d.n_labels);
	call_end(c);
	if (c->api->set.arrived != NULL)
		c->api->set.arrived(c->api->set.arrived_env);
}
