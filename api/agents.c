/* agents.c — POST /api/v1/agents/{id}/poll, where agents say how they are and get leases; GET /api/v1/agents. */
#include "api/body.h"
#include "api/desk.h"
#include "base/enc.h"
#include "profile/window.h"

/* ---- what an agent says. Members that are not known are passed over: an agent may be newer. */

static int take_state(const struct json_node *o, enum worker_state *out, struct err *e)
{
	struct str word = STR("idle");
	int rc = body_text(o, "state", 0, LEASE_WORD_MAX, &word, e);

	if (rc == OK && worker_state_parse(word, out) != OK)
		rc = err_set(e, E_USAGE, "state: \"%.*s\" is none; idle, busy and capturing are", STR_ARG(word));
	return rc;
}

static int take_worker(const struct json_node *o, struct lease_worker *w, struct err *e)
{
	int rc = body_text(o, "source", 1, LEASE_WORD_MAX, &w->source, e);

	w->every_nth = 1;
	if (rc == OK)
		rc = body_text(o, "worker", 0, WINDOW_TEXT_MAX, &w->worker, e);
	if (rc == OK)
		rc = body_text(o, "service", 0, WINDOW_TEXT_MAX, &w->service, e);
	if (rc == OK)
		rc = body_text(o, "deploy", 0, WINDOW_TEXT_MAX, &w->deploy, e);
	if (rc == OK)
		rc = take_state(o, &w->state, e);
	if (rc == OK)
		rc = body_bool(o, "wants", &w->wants, e);
	if (rc == OK)
		rc = body_i64(o, "last_ns", 0, WINDOW_END_NS, &w->last_ns, e);
	if (rc == OK)
		rc = body_text(o, "why", 0, LEASE_WORD_MAX, &w->why, e);
	if (rc == OK)
		rc = body_bool(o, "measured", &w->measured, e);
	if (rc == OK)
		rc = body_i64(o, "cost_ppm", 0, 1000000000, &w->cost_ppm, e);
	return rc == OK ? body_i64(o, "every_nth", 1, 1000000, &w->every_nth, e) : rc;
}

static int take_ended(const struct json_node *o, struct lease_ended *x, struct err *e)
{
	int rc = body_text(o, "lease", 1, LEASE_WORD_MAX, &x->lease, e);

	if (rc == OK)
		rc = body_text(o, "capture", 0, LEASE_WORD_MAX, &x->capture, e);
	if (rc == OK)
		rc = body_bool(o, "taken", &x->taken, e);
	if (rc == OK)
		rc = body_text(o, "end", 0, LEASE_WORD_MAX, &x->end, e);
	return rc == OK ? body_text(o, "window", 0, LEASE_WORD_MAX, &x->window, e) : rc;
}

static int take_workers(struct arena *a, const struct json_node *body, struct lease_poll *p, struct err *e)
{
	const struct json_node *items = NULL;
	struct lease_worker *v;
	int rc = body_objects(body, "workers", LEASE_WORKERS_MAX, &items, &p->n_workers, e);

	v = arena_get_array(a, p->n_workers + 1, sizeof(*v));
	if (rc == OK && v == NULL)
		rc = err_set(e, E_LIMIT, "workers: too large");
	for (size_t i = 0; i < p->n_workers && rc == OK; i++)
		if ((rc = take_worker(&items[i], &v[i], e)) != OK)
			err_add(e, "workers[%zu]", i);
	p->workers = v;
	return rc;
}

static int take_all_ended(struct arena *a, const struct json_node *body, struct lease_poll *p, struct err *e)
{
	const struct json_node *items = NULL;
	struct lease_ended *v;
	int rc = body_objects(body, "ended", LEASE_ENDED_MAX, &items, &p->n_ended, e);

	v = arena_get_array(a, p->n_ended + 1, sizeof(*v));
	if (rc == OK && v == NULL)
		rc = err_set(e, E_LIMIT, "ended: too large");
	for (size_t i = 0; i < p->n_ended && rc == OK; i++)
		if ((rc = take_ended(&items[i], &v[i], e)) != OK)
			err_add(e, "ended[%zu]", i);
	p->ended = v;
	return rc;
}

/* One spelling of an id is one agent. */
static int take_id(struct api_call *c, struct str *out, struct err *e)
{
	uint8_t id[CAPTURE_ID / 2];
	char text[CAPTURE_ID + 1];

	if (enc_unhex(c->tail, id, sizeof(id)) != OK)
		return err_set(e, E_USAGE, "the agent's id must be %d hex digits", CAPTURE_ID);
	enc_hex(id, sizeof(id), text);
	*out = arena_text(&c->arena, text);
	return OK;
}

static int take_poll(struct api_call *c, const struct json_node *body, struct lease_poll *p, struct err *e)
{
	int rc = take_id(c, &p->agent, e);

	if (rc == OK)
		rc = body_text(body, "host", 1, WINDOW_TEXT_MAX, &p->host, e);
	if (rc == OK)
		rc = body_text(body, "version", 0, LEASE_WORD_MAX, &p->version, e);
	if (rc == OK)
		rc = body_i64(body, "start_ns", 0, WINDOW_END_NS, &p->start_ns, e);
	if (rc == OK)
		rc = take_workers(&c->arena, body, p, e);
	return rc == OK ? take_all_ended(&c->arena, body, p, e) : rc;
}

/* ---- what it hears */

static void write_lease(struct json_writer *w, const struct lease *l, int64_t now_ns)
{
	jw_object(w);
	jw_key_str(w, "id", l->id);
	if (str_empty(l->capture))
		jw_key_null(w, "capture");
	else
		jw_key_str(w, "capture", l->capture);
	jw_key_str(w, "source", l->source);
	jw_key_str(w, "service", l->service);
	jw_key_str(w, "worker", l->worker);
	jw_key_i64(w, "duration_ns", l->duration_ns);
	jw_key_i64(w, "iterations", l->iterations);
	jw_key_i64(w, "ttl_ns", l->begin_ns - now_ns);
	jw_end(w);
}

void poll_post(struct api_call *c)
{
	const struct json_node *body = body_object(c);
	struct desk_answer an = { 0 };
	struct lease_poll p = { 0 };
	struct err e = { 0 };
	int rc;

	if (body == NULL)
		return;
	rc = take_poll(c, body, &p, &e);
	if (rc != OK) {
		call_problem(c, PROBLEM_UNPROCESSABLE, NULL, "%s", e.text);
		return;
	}
	rc = desk_poll(c->api->set.desk, &p, &c->arena, &an, &e);
	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	jw_object(&c->w);
	jw_key_bool(&c->w, "paused", an.paused);
	jw_key_str(&c->w, "reason", an.reason);
	jw_key_i64(&c->w, "poll_ns", an.poll_ns);
	jw_key_array(&c->w, "leases");
	for (size_t i = 0; i < an.n_leases; i++)
		write_lease(&c->w, &an.leases[i], an.now_ns);
	jw_end(&c->w);
	if (!an.heard)
		jw_key_bool(&c->w, "heard", false);
	call_end(c);
}

/* ---- what people see */

static void write_worker(struct json_writer *w, const struct lease_worker *x)
{
	jw_object(w);
	jw_key_str(w, "source", x->source);
	jw_key_str(w, "service", x->service);
	jw_key_str(w, "worker", x->worker);
	jw_key_str(w, "deploy", x->deploy);
	jw_key_text(w, "state", worker_state_name(x->state));
	jw_key_bool(w, "wants", x->wants);
	jw_key_str(w, "why", x->why);
	if (x->last_ns > 0)
		jw_key_i64(w, "last_ns", x->last_ns);
	else
		jw_key_null(w, "last_ns");
	jw_key_bool(w, "measured", x->measured);
	if (x->measured)
		jw_key_i64(w, "cost_ppm", x->cost_ppm);
	else
		jw_key_null(w, "cost_ppm");
	jw_key_i64(w, "every_nth", x->every_nth);
	jw_end(w);
}

static void write_agent(struct json_writer *w, const struct agent_view *a)
{
	jw_object(w);
	jw_key_str(w, "id", a->id);
	jw_key_str(w, "host", a->host);
	jw_key_str(w, "version", a->version);
	jw_key_i64(w, "start_ns", a->start_ns);
	jw_key_i64(w, "polled_ns", a->polled_ns);
	jw_key_bool(w, "heard", a->heard);
	jw_key_u64(w, "leases", a->n_leases);
	jw_key_array(w, "workers");
	for (size_t i = 0; i < a->n_workers; i++)
		write_worker(w, &a->workers[i]);
	jw_end(w);
	jw_end(w);
}

/* A cursor is the hex of the last item's id and host. */
static int take_cursor(struct api_call *c, struct desk_agents *q, struct err *e)
{
	struct str text = c->p.q.cursor;
	uint8_t *raw = arena_get(&c->arena, text.n / 2 + 1);

	if (str_empty(text))
		return OK;
	if (raw == NULL || text.n <= 2 * CAPTURE_ID || text.n % 2 != 0 || enc_unhex(text, raw, text.n / 2) != OK)
		return err_set(e, E_USAGE, "cursor: not one that this list gave out: send back an answer's next, unchanged");
	q->after_id = str_make(raw, CAPTURE_ID);
	q->after_host = str_make(raw + CAPTURE_ID, text.n / 2 - CAPTURE_ID);
	return OK;
}

static struct str cursor_of(struct api_call *c, const struct agent_view *last)
{
	struct str raw = arena_fmt(&c->arena, "%.*s%.*s", STR_ARG(last->id), STR_ARG(last->host));
	char *hex = arena_get(&c->arena, 2 * raw.n + 1);

	if (hex == NULL)
		return STR("");
	enc_hex((const uint8_t *)raw.p, raw.n, hex);
	return str_make(hex, 2 * raw.n);
}

void agents_get(struct api_call *c)
{
	struct desk_agents q = { .service = c->p.q.service, .host = c->p.q.host, .after_host = STR(""),
		.after_id = STR(""),
		.limit = c->p.q.limit };
	struct err e = { 0 };
	int rc = take_cursor(c, &q, &e);

	if (rc == OK)
		rc = desk_agents(c->api->set.desk, &q, &c->arena, &e);
	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	call_list_begin(c);
	for (size_t i = 0; i < q.n; i++)
		write_agent(&c->w, &q.v[i]);
	call_list_end(c, q.more && q.n > 0 ? cursor_of(c, &q.v[q.n - 1]) : STR(""));
	call_end(c);
}
