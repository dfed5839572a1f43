/* api.c — from a request to a resource's function: the table of routes, tokens, parameters; and back. */
#include "api/api.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/behalf.h"
#include "api/route.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "profile/sum.h"

#define API_MAGIC UINT32_C(0x61706920)

/* ---- life */

struct api *api_new(const struct api_settings *s)
{
	struct api *api = mem_get(sizeof(*api));

	api->magic = API_MAGIC;
	api->set = *s;
	ingest_count(api);
	return api;
}

void api_free(struct api *api)
{
	if (api == NULL)
		return;
	must(api->magic == API_MAGIC);
	for (size_t i = 0; i < api->auth.n; i++)
		auth_free(api->auth.all[i]);
	for (size_t i = 0; i < api->fusion.n; i++)
		fusion_table_free(api->fusion.all[i]);
	api->magic = MAGIC_DEAD;
	mem_free(api);
}

static int kept_set(struct kept *k, void *p, const char *what, struct err *e)
{
	if (k->n == API_KEPT_MAX)
		return err_set(e, E_LIMIT, "%s: replaced %d times already; restart to load it anew", what, API_KEPT_MAX);
	k->all[k->n++] = p;
	atomic_store(&k->now, p);
	return OK;
}

int api_set_auth(struct api *api, struct auth **auth, struct err *e)
{
	int rc = kept_set(&api->auth, *auth, "auth.tokens_file", e);

	if (rc == OK)
		*auth = NULL;
	return rc;
}

int api_set_fusion(struct api *api, struct fusion_table **table, struct err *e)
{
	int rc = kept_set(&api->fusion, *table, "detect.fusion_table", e);

	if (rc == OK)
		*table = NULL;
	return rc;
}

const struct fusion_table *api_fusion(const struct api *api)
{
	return atomic_load(&api->fusion.now);
}

/* ---- what resources call */

void call_problem(struct api_call *c, enum problem p, const char *parameter, const char *fmt, ...)
{
	char detail[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	if (c->has_problem)
		return; /* the first one is the cause */
	c->has_problem = true;
	c->problem = p;
	problem_reply(c->rp, p, parameter, "%s", detail);
}

void call_failed(struct api_call *c, int rc, const struct err *e)
{
	static const struct {
		int code;
		enum problem problem;
	} rows[] = {
		{ E_NOT_FOUND, PROBLEM_NOT_FOUND }, { E_USAGE, PROBLEM_PARAMETER }, { E_FORMAT, PROBLEM_PARAMETER },
		{ E_LIMIT, PROBLEM_PARAMETER },	    { E_FULL, PROBLEM_FULL },	    { E_BUSY, PROBLEM_BUSY },
		{ E_STOPPED, PROBLEM_BUSY },
	};

	bool by_cursor = rc == E_USAGE && str_has_prefix(str_of(e->text), STR("cursor: ")); /* all that a store finds wrong */

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].code == rc) {
			call_problem(c, rows[i].problem, by_cursor ? param_name(PARAM_CURSOR) : NULL, "%s", e->text);
			return;
		}
	log_error("api.failed", "path=\"%.*s\" code=%s err=\"%s\"", STR_ARG(c->rq->path), code_name(rc), e->text);
	call_problem(c, PROBLEM_INTERNAL, NULL, "%s", e->text);
}

void call_list_begin(struct api_call *c)
{
	jw_object(&c->w);
	jw_key_array(&c->w, "items");
}

void call_list_end(struct api_call *c, struct str next)
{
	jw_end(&c->w);
	if (str_empty(next))
		jw_key_null(&c->w, "next");
	else
		jw_key_str(&c->w, "next", next);
}

void call_end(struct api_call *c)
{
	jw_end(&c->w);
	buf_byte(&c->rp->body, '\n');
	if (arena_full(&c->arena))
		call_problem(c, PROBLEM_PARAMETER, NULL, "the answer is larger than %d MiB; ask for less at once",
			API_ANSWER_BYTES >> 20);
}

void call_write_labels(struct api_call *c, const char *key, const struct label *v, size_t n)
{
	jw_key_object(&c->w, key);
	for (size_t i = 0; i < n; i++) {
		jw_key_of(&c->w, v[i].key);
		jw_str(&c->w, v[i].value);
	}
	jw_end(&c->w);
}

void call_write_ratio(struct api_call *c, const char *key, double part, double whole)
{
	if (whole > 0)
		jw_key_double(&c->w, key, part / whole);
	else
		jw_key_null(&c->w, key);
}

void call_write_mean_ns(struct api_call *c, const char *key, int64_t ns, uint64_t n)
{
	if (n > 0)
		jw_key_i64(&c->w, key, sum_round_ns((double)ns / (double)n));
	else
		jw_key_null(&c->w, key);
}

/* ---- the way of a request */

/* Segment by segment; the tail is what stands for {id}. */
static bool route_fits(const struct route *r, struct str path, struct str *tail)
{
	struct str want = str_of(r->path), have = path;

	*tail = STR("");
	while (want.p != NULL && have.p != NULL) {
		struct str w = str_split(&want, '/'), h = str_split(&have, '/');

		if (str_eq(w, STR("{id}")) && !str_empty(h))
			*tail = h;
		else if (!str_eq(w, h))
			return false;
	}
	return want.p == NULL && have.p == NULL;
}

static bool method_fits(const struct route *r, enum http_method m)
{
	return r->method == m || (r->method == HTTP_GET && m == HTTP_HEAD);
}

static const struct route *find_route(struct api_call *c)
{
	struct buf allow;
	const struct route *found = NULL;
	struct str tail;

	buf_init(&allow, 200);
	for (size_t i = 0; i < n_routes && found == NULL; i++) {
		if (!route_fits(&routes[i], c->rq->path, &tail))
			continue;
		if (method_fits(&routes[i], c->rq->method)) {
			found = &routes[i];
			c->tail = tail;
		}
		buf_fmt(&allow, "%s%s%s", allow.n > 0 ? ", " : "", http_method_name(routes[i].method),
			routes[i].method == HTTP_GET ? ", HEAD" : "");
	}
	if (found == NULL && allow.n > 0) {
		http_reply_header(c->rp, "Allow", "%s", allow.p);
		call_problem(c, PROBLEM_METHOD, NULL, "%s does not apply to this path; these do: %s",
			http_method_name(c->rq->method), allow.p);
	} else if (found == NULL) {
		call_problem(c, PROBLEM_NOT_FOUND, NULL, "no such path; GET /api/v1/openapi.yaml lists what there is");
	}
	buf_fini(&allow);
	return found;
}

static bool check_token(struct api_call *c, enum auth_role role, struct str header)
{
	const char *or_admin = role == AUTH_ADMIN ? "" : " or admin";

	switch (auth_check(atomic_load(&c->api->auth.now), header, role)) {
	case AUTH_GOOD: return true;
	case AUTH_MISSING:
		call_problem(c, PROBLEM_UNAUTHORIZED, NULL, "send \"Authorization: Bearer TOKEN\" with a token of role %s%s",
			auth_role_name(role), or_admin);
		return false;
	case AUTH_UNKNOWN:
		call_problem(c, PROBLEM_UNAUTHORIZED, NULL, "this token is not known");
		return false;
	case AUTH_WRONG:
		call_problem(c, PROBLEM_FORBIDDEN, NULL, "this token is known, but not of role %s%s", auth_role_name(role),
			or_admin);
		return false;
	case AUTH_ANSWERS: break;
	}
	return false;
}

/* doc/api.md, "Who may do what". */
static bool may(struct api_call *c, enum need need)
{
	static const enum auth_role roles[NEEDS] = { [NEED_READ] = AUTH_READ, [NEED_INGEST] = AUTH_INGEST, [NEED_ADMIN] = AUTH_ADMIN };
	struct str header = http_header_get(c->rq, "Authorization");
	bool tokens = atomic_load(&c->api->auth.now) != NULL;
	const char *other;

	if (need == NEED_NOTHING)
		return true;
	if (need == NEED_READ && !tokens && c->api->set.anonymous_reads && str_empty(header))
		return true;
	if (c->rq->loopback && str_empty(header)) {
		other = behalf_of_other(c->rq, need != NEED_READ);
		if (other == NULL)
			return true;
		call_problem(c, PROBLEM_UNAUTHORIZED, NULL,
			"from this machine, but for somebody else, as its %s says (\"%.*s\"): ask for localhost or an address, "
			"without a proxy, or send a token",
			other, STR_ARG(str_upto(http_header_get(c->rq, other), 80)));
		return false;
	}
	return check_token(c, roles[need], header);
}

static bool take_params(struct api_call *c, const struct route *r)
{
	const char *name = NULL;
	struct err e = { 0 };

	if (params_parse(&c->arena, c->rq->query, r->params, c->api->set.wall_ns(), &c->p, &name, &e) == OK)
		return true;
	call_problem(c, PROBLEM_PARAMETER, name, "%s%s%s", name == NULL ? "" : name, name == NULL ? "" : ": ", e.text);
	return false;
}

void api_handle(void *env, const struct http_request *rq, struct http_reply *rp)
{
	struct api_call c = { .api = MAGIC_CHECK((struct api *)env, API_MAGIC), .rq = rq, .rp = rp };
	const struct route *r;

	arena_init(&c.arena, API_ANSWER_BYTES);
	jw_init(&c.w, &rp->body);
	r = find_route(&c);
	if (r != NULL && may(&c, r->need) && take_params(&c, r))
		r->run(&c);
	if (c.has_problem && r != NULL && r->run == ingest_post)
		metric_add(c.api->refused[c.problem], 1);
	arena_fini(&c.arena);
}
