#include "api/body.h"

#include "json/text.h"

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
			item->key.n > WINDOW_TEXT_MAX || !json_utf8_valid(item->text) || !json_utf8_valid(item->key) ||
			body_has_nul(item->text) || body_has_nul(item->key))
			return err_set(e, E_USAGE, "labels: \"%.*s\" must be a text of at most %d bytes, none of them NUL",
				STR_ARG(str_upto(item->key, 64)), WINDOW_TEXT_MAX);
		d->labels[d->n_labels++] = (struct label){ item->key, item->text };
	}
	return OK;
}

static int take_deploy(struct arena *a, const struct json_node *body, int64_t now_ns, struct deploy *d, struct err *e)
{
	static const char *const known[] = { "service", "deploy", "first_ns", "labels" };
	int rc = body_known(body, known, COUNT(known), e);

	if (rc == OK)
		rc = body_text(body, "service", 1, WINDOW_TEXT_MAX, &d->service, e);
	if (rc == OK)
		rc = body_text(body, "deploy", 1, WINDOW_TEXT_MAX, &d->deploy, e);
	d->first_ns = now_ns;
	if (rc == OK)
		rc = body_i64(body, "first_ns", 0, WINDOW_END_NS - 1, &d->first_ns, e);
	d->last_ns = d->first_ns;
	return rc == OK ? take_labels(a, body, d, e) : rc;
}

void deploys_post(struct api_call *c)
{
	const struct json_node *body = body_object(c);
	struct deploy d = { 0 };
	struct err e = { 0 };
	int rc;

	if (body == NULL)
		return;
	rc = take_deploy(&c->arena, body, c->api->set.wall_ns(), &d, &e);
	if (rc != OK) {
		call_problem(c, PROBLEM_UNPROCESSABLE, NULL, "%s", e.text);
		return;
	}
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
