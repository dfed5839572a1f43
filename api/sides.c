#include "api/sides.h"

#include "base/map.h"
#include "profile/sum.h"

enum { SIDE_OPS_MAX = 200000, SIDE_HOSTS_MAX = SIDES_WINDOWS };

static void count_host(struct map *hosts, const struct window *w, struct deploy_side *out)
{
	bool is_new = false;
	uint32_t *n = map_put(hosts, w->host, 0, &is_new);

	if (n == NULL)
		return;
	++*n;
	if (is_new && out->hosts != NULL)
		out->hosts[out->n_hosts++] = w->host;
	if (*n > out->most_of_a_host)
		out->most_of_a_host = *n;
}

static int add_window(struct map *hosts, const struct window *w, struct deploy_side *out, struct err *e)
{
	int rc = side_add(out->side, w, e);

	if (rc == OK && out->merge != NULL && profile_merge_add(out->merge, w) != OK)
		rc = err_set(e, E_LIMIT, "more than %d different ops", SIDE_OPS_MAX);
	if (rc != OK)
		return rc;
	out->windows++;
	out->steps = sum_counts(out->steps, w->steps);
	out->first_ns = out->first_ns == 0 || w->start_ns < out->first_ns ? w->start_ns : out->first_ns;
	out->last_ns = w->start_ns > out->last_ns ? w->start_ns : out->last_ns;
	count_host(hosts, w, out);
	return OK;
}

int deploy_side_load(struct store *st, const struct fusion_table *table, struct str service, struct str deploy,
	int64_t until_ns, bool with_rows, struct arena *a, struct deploy_side *out, struct err *e)
{
	struct query q = { .service = service, .deploy = deploy, .to_ns = until_ns, .limit = SIDES_WINDOWS,
		.newest_first = true, .with_ops = true };
	struct window_list list = { 0 };
	struct map hosts;
	int rc;

	memset(out, 0, sizeof(*out));
	map_init(&hosts, SIDE_HOSTS_MAX);
	out->deploy = deploy;
	out->side = side_new(table);
	out->merge = with_rows ? profile_merge_new(SIDE_OPS_MAX) : NULL;
	out->hosts = arena_get_array(a, SIDE_HOSTS_MAX, sizeof(*out->hosts));
	rc = store_windows(st, &q, true, a, &list, e);
	for (size_t i = 0; rc == OK && i < list.n; i++)
		rc = add_window(&hosts, &list.v[i], out, e);
	window_list_fini(&list);
	map_fini(&hosts);
	return rc;
}

void deploy_side_fini(struct deploy_side *s)
{
	side_free(s->side);
	profile_merge_free(s->merge);
	memset(s, 0, sizeof(*s));
}

enum judge_where deploy_where(const struct deploy *after)
{
	return after->windows >= SIDES_SETTLED * after->hosts ? JUDGE_SETTLED : JUDGE_SERVICE;
}

/* The place of the deploy in the list, or of the first with windows at or behind from, not later than until_ns, where none is named; n
 * where there is none. */
static size_t find_deploy(const struct deploy_list *l, struct str name, size_t from, int64_t until_ns)
{
	for (size_t i = str_empty(name) ? from : 0; i < l->n; i++)
		if (l->v[i].windows > 0 && (str_empty(name) ? l->v[i].first_ns < until_ns : str_eq(name, l->v[i].deploy)))
			return i;
	return l->n;
}

int deploys_newest(struct store *st, struct str service, struct str before, struct str after, int64_t until_ns,
	struct arena *a, struct deploy *before_out, struct deploy *after_out, struct err *e)
{
	struct query q = { .service = service, .to_ns = INT64_MAX, .limit = QUERY_LIMIT_MAX, .newest_first = true };
	struct deploy_list list = { 0 };
	size_t at_after, at_before;
	int rc = store_deploys(st, &q, a, &list, e);

	if (rc != OK)
		return rc;
	at_after = find_deploy(&list, after, 0, until_ns);
	if (at_after == list.n)
		return err_set(e, E_NOT_FOUND, "service %.*s has no deploy%s%.*s with windows", STR_ARG(service),
			str_empty(after) ? "" : " ", STR_ARG(after));
	at_before = find_deploy(&list, before, at_after + 1, until_ns);
	if (at_before == list.n)
		return err_set(e, E_NOT_FOUND, "service %.*s has no deploy%s%.*s with windows%s%.*s", STR_ARG(service),
			str_empty(before) ? "" : " ", STR_ARG(before), str_empty(before) ? " before " : "",
			STR_ARG(str_empty(before) ? list.v[at_after].deploy : STR("")));
	*after_out = list.v[at_after];
	*before_out = list.v[at_before];
	return OK;
}
