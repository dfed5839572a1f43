/* captures.c — windows that are asked for, and the kill switch. */
#include "api/body.h"
#include "api/desk.h"
#include "profile/window.h"

enum { REASON_MAX = 1024 };

/* ---- asking for one */

static int take_capture(struct arena *a, const struct json_node *body, struct capture *k, struct err *e)
{
	static const char *const known[] = { "service", "hosts", "workers", "source", "duration_ns",
		"iterations", "reason" };
	int rc = body_known(body, known, COUNT(known), e);

	if (rc == OK)
		rc = body_text(body, "service", 0, WINDOW_TEXT_MAX, &k->service, e);
	if (rc == OK)
		rc = body_texts(a, body, "hosts", CAPTURE_HOSTS_MAX, WINDOW_TEXT_MAX, &k->hosts, &k->n_hosts, e);
	if (rc == OK)
		rc = body_texts(a, body, "workers", CAPTURE_HOSTS_MAX, WINDOW_TEXT_MAX, &k->workers,
			&k->n_workers, e);
	if (rc == OK)
		rc = body_text(body, "source", 0, LEASE_WORD_MAX, &k->source, e);
	if (rc == OK)
		rc = body_i64(body, "duration_ns", 0, CAPTURE_DURATION_MAX_NS, &k->duration_ns, e);
	if (rc == OK)
		rc = body_i64(body, "iterations", 0, CAPTURE_ITERATIONS_MAX, &k->iterations, e);
	if (rc == OK)
		rc = body_text(body, "reason", 0, REASON_MAX, &k->reason, e);
	if (rc == OK && str_empty(k->service) && k->n_hosts == 0)
		rc = err_set(e, E_USAGE, "service or hosts must say whom to capture: all of a fleet is too much");
	return rc;
}

static void answer_created(struct api_call *c, const struct capture *k)
{
	c->rp->status = 201;
	http_reply_header(c->rp, "Location", "/api/v1/captures/%.*s", STR_ARG(k->id));
	capture_write(&c->w, k);
	buf_byte(&c->rp->body, '\n');
}

void captures_post(struct api_call *c)
{
	const struct json_node *body = body_object(c);
	struct capture k = { .reason = STR(""), .service = STR(""), .source = STR(""), .alert = STR("") };
	struct err e = { 0 };
	int rc;

	if (body == NULL)
		return;
	rc = take_capture(&c->arena, body, &k, &e);
	if (rc != OK) {
		call_problem(c, PROBLEM_UNPROCESSABLE, NULL, "%s", e.text);
		return;
	}
	rc = desk_ask(c->api->set.desk, &k, &c->arena, &e);
	if (rc == OK)
		answer_created(c, &k);
	else
		call_failed(c, rc, &e);
}

/* ---- looking */

void captures_get(struct api_call *c)
{
	struct capture_list list = { 0 };
	struct err e = { 0 };
	int rc = store_captures(c->api->set.store, &c->p.q, false, &c->arena, &list, &e);

	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	call_list_begin(c);
	for (size_t i = 0; i < list.n; i++)
		capture_write(&c->w, &list.v[i]);
	call_list_end(c, list.next);
	call_end(c);
}

void capture_get(struct api_call *c)
{
	struct capture k = { 0 };
	struct err e = { 0 };
	int rc = store_capture(c->api->set.store, c->tail, &c->arena, &k, &e);

	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	capture_write(&c->w, &k);
	buf_byte(&c->rp->body, '\n');
}

/* ---- the kill switch */

static void write_policy(struct api_call *c, const struct capture_policy *p)
{
	jw_object(&c->w);
	jw_key_bool(&c->w, "paused", p->paused);
	jw_key_str(&c->w, "reason", p->reason);
	if (p->changed_ns > 0)
		jw_key_i64(&c->w, "changed_ns", p->changed_ns);
	else
		jw_key_null(&c->w, "changed_ns");
	call_end(c);
}

void policy_get(struct api_call *c)
{
	struct capture_policy p = { 0 };
	struct err e = { 0 };
	int rc = desk_policy(c->api->set.desk, &c->arena, &p, &e);

	if (rc == OK)
		write_policy(c, &p);
	else
		call_failed(c, rc, &e);
}

static int take_policy(const struct json_node *body, struct capture_policy *p, struct err *e)
{
	static const char *const known[] = { "paused", "reason" };
	const struct json_node *paused = json_get(body, "paused");
	int rc = body_known(body, known, COUNT(known), e);

	if (rc == OK && (paused == NULL || paused->kind == JSON_K_NULL)) /* half an order must not let a fleet go on */
		rc = err_set(e, E_USAGE, "paused: must be true or false");
	if (rc == OK)
		rc = body_bool(body, "paused", &p->paused, e);
	return rc == OK ? body_text(body, "reason", 0, REASON_MAX, &p->reason, e) : rc;
}

void policy_post(struct api_call *c)
{
	const struct json_node *body = body_object(c);
	struct capture_policy p = { .reason = STR("") }, now = { 0 };
	struct err e = { 0 };
	int rc;

	if (body == NULL)
		return;
	rc = take_policy(body, &p, &e);
	if (rc != OK) {
		call_problem(c, PROBLEM_UNPROCESSABLE, NULL, "%s", e.text);
		return;
	}
	rc = desk_pause(c->api->set.desk, p.paused, p.reason, &c->arena, &now, &e);
	if (rc == OK)
		write_policy(c, &now);
	else
		call_failed(c, rc, &e);
}
