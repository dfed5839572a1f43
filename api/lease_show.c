/* lease_show.c — what people see of the lease table. */
#include "api/lease_inside.h"

#include <stdlib.h>

#include "base/mem.h"

void worker_copy(struct arena *a, struct lease_worker *w)
{
	struct str *const fields[] = { &w->source, &w->service, &w->worker, &w->deploy, &w->why };

	for (size_t i = 0; i < COUNT(fields); i++)
		*fields[i] = str_empty(*fields[i]) ? STR("") : arena_str(a, *fields[i]);
}

struct lease_counts lease_table_counts(const struct lease_table *t)
{
	struct lease_counts c = t->counts;

	c.agents = t->agents.n;
	c.workers = t->n_workers;
	c.leases = t->leases.n;
	c.open_captures = t->captures.n;
	c.running_captures = captures_running(t);
	return c;
}

static bool agent_shows(const struct agent *a, struct str service, struct str host)
{
	bool any = str_empty(service);

	if (!str_empty(host) && !str_eq(host, a->host))
		return false;
	for (size_t i = 0; i < a->n_seats && !any; i++)
		any = str_eq(a->seats[i].w.service, service);
	return any;
}

static int agent_cmp(const void *x, const void *y)
{
	const struct agent *const *a = x, *const *b = y;
	int order = str_cmp((*a)->host, (*b)->host);

	return order != 0 ? order : strcmp((*a)->id, (*b)->id);
}

static bool is_behind(const struct agent *a, struct str host, struct str id)
{
	int order = str_cmp(a->host, host);

	return order > 0 || (order == 0 && str_cmp(str_of(a->id), id) > 0);
}

static void show_agent(const struct lease_table *t, const struct agent *a, struct str service, int64_t now_ns,
	struct arena *to, struct agent_view *v)
{
	*v = (struct agent_view){ .id = arena_text(to, a->id), .host = arena_str(to, a->host),
		.version = arena_str(to, a->version),
		.start_ns = a->start_ns, .polled_ns = a->polled_ns, .n_leases = a->n_leases,
		.heard = agent_heard(t, a, now_ns),
		.workers = arena_get_array(to, a->n_seats + 1, sizeof(*v->workers)) };
	for (size_t i = 0; v->workers != NULL && i < a->n_seats; i++) {
		if (!str_empty(service) && !str_eq(service, a->seats[i].w.service))
			continue;
		v->workers[v->n_workers] = a->seats[i].w;
		worker_copy(to, &v->workers[v->n_workers++]);
	}
}

struct agent_view *lease_table_agents(const struct lease_table *t, struct str service, struct str host,
	struct str after_host, struct str after_id, size_t limit, int64_t now_ns, struct arena *a, size_t *n,
	bool *more)
{
	struct agent **v = mem_get_array(t->agents.n + 1, sizeof(struct agent *));
	struct agent_view *out;
	size_t found = 0;

	vec_each(x, &t->agents)
		if (agent_shows(*x, service, host) && is_behind(*x, after_host, after_id))
			v[found++] = *x;
	qsort(v, found, sizeof(struct agent *), agent_cmp);
	*n = found < limit ? found : limit;
	*more = found > *n;
	out = arena_get_array(a, *n + 1, sizeof(*out));
	for (size_t i = 0; out != NULL && i < *n; i++)
		show_agent(t, v[i], service, now_ns, a, &out[i]);
	mem_free(v);
	return out;
}

static void add_cost(struct service_cost *c, const struct lease_worker *w)
{
	c->workers++;
	c->every_nth = w->every_nth > c->every_nth ? w->every_nth : c->every_nth;
	if (!w->measured)
		return;
	c->measured++;
	c->cost_ppm += w->cost_ppm;
	c->cost_ppm_max = w->cost_ppm > c->cost_ppm_max ? w->cost_ppm : c->cost_ppm_max;
}

void lease_table_costs(const struct lease_table *t, const struct str *services, size_t n, int64_t now_ns,
	struct service_cost *out)
{
	struct map places;

	map_init(&places, n + 1);
	for (size_t i = 0; i < n; i++) {
		out[i] = (struct service_cost){ .workers = 0 };
		map_put(&places, services[i], (uint32_t)i, NULL);
	}
	vec_each(a, &t->agents)
		for (size_t i = 0; agent_heard(t, *a, now_ns) && i < (*a)->n_seats; i++) {
			const uint32_t *at = map_get(&places, (*a)->seats[i].w.service);

			if (at != NULL)
				add_cost(&out[*at], &(*a)->seats[i].w);
		}
	for (size_t i = 0; i < n; i++)
		if (out[i].measured > 0)
			out[i].cost_ppm /= (int64_t)out[i].measured;
	map_fini(&places);
}
