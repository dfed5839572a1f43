#include "api/call.h"
#include "api/desk.h"
#include "api/sides.h"

/* What capturing costs it, as the agents of now measure it; cost_ppm null: unmeasured, or no agent tells of it. */
static void write_cost(struct json_writer *w, const struct service_cost *cost)
{
	jw_key_object(w, "capture");
	jw_key_u64(w, "workers", cost->workers);
	jw_key_u64(w, "measured", cost->measured);
	if (cost->measured > 0) {
		jw_key_i64(w, "cost_ppm", cost->cost_ppm);
		jw_key_i64(w, "cost_ppm_max", cost->cost_ppm_max);
	} else {
		jw_key_null(w, "cost_ppm");
		jw_key_null(w, "cost_ppm_max");
	}
	if (cost->workers > 0)
		jw_key_i64(w, "every_nth", cost->every_nth);
	else
		jw_key_null(w, "every_nth");
	jw_end(w);
}

static void write_item(struct json_writer *w, const struct service_item *s, const struct service_cost *cost)
{
	jw_object(w);
	jw_key_str(w, "service", s->service);
	jw_key_str(w, "deploy", s->deploy);
	jw_key_u64(w, "hosts", s->hosts);
	jw_key_u64(w, "deploys", s->deploys);
	jw_key_u64(w, "windows", s->windows);
	jw_key_i64(w, "first_ns", s->first_ns);
	jw_key_i64(w, "last_ns", s->last_ns);
	write_cost(w, cost);
	jw_end(w);
}

static int find_costs(struct api_call *c, const struct service_list *list, struct service_cost **out, struct err *e)
{
	struct str *names = arena_get_array(&c->arena, list->n + 1, sizeof(*names));

	*out = arena_get_array(&c->arena, list->n + 1, sizeof(**out));
	if (names == NULL || *out == NULL)
		return err_set(e, E_LIMIT, "the answer is too large; ask for less at once");
	for (size_t i = 0; i < list->n; i++)
		names[i] = list->v[i].service;
	return desk_costs(c->api->set.desk, names, list->n, *out, e);
}

void services_get(struct api_call *c)
{
	struct service_list list = { 0 };
	struct service_cost *costs = NULL;
	struct err e = { 0 };
	int rc;

	c->p.q.until_ns = c->api->set.wall_ns() + SIDES_AHEAD_NS;
	rc = store_services(c->api->set.store, &c->p.q, &c->arena, &list, &e);
	if (rc == OK)
		rc = find_costs(c, &list, &costs, &e);
	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	call_list_begin(c);
	for (size_t i = 0; i < list.n; i++)
		write_item(&c->w, &list.v[i], &costs[i]);
	call_list_end(c, list.next);
	call_end(c);
}
