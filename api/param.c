#include "api/param.h"

#include <stdio.h>

#include "base/clock.h"
#include "net/http_parse.h"

typedef int param_fn(struct params *p, struct str value, int64_t now_ns, struct err *e);

static int to_kind(struct params *p, struct str v, int64_t now_ns, struct err *e)
{
	(void)now_ns;
	p->q.has_kind = true;
	if (op_kind_parse(v, &p->q.kind) == OK)
		return OK;
	return err_set(e, E_USAGE, "\"%.*s\" is no kind of op; step, cpu_op, annotation, region, runtime, overhead, kernel, "
				   "memcpy, memset, collective, hlo, engine and gap are", STR_ARG(str_upto(v, 64)));
}

static int to_moment(struct str v, int64_t now_ns, int64_t *out, struct err *e)
{
	if (clock_parse(v, now_ns, out) == OK)
		return OK;
	return err_set(e, E_USAGE, "\"%.*s\" is no time; write RFC 3339 (2026-11-29T14:00:00Z), Unix seconds or now-7d",
		STR_ARG(str_upto(v, 64)));
}

static int to_from(struct params *p, struct str v, int64_t now_ns, struct err *e)
{
	return to_moment(v, now_ns, &p->q.from_ns, e);
}

static int to_to(struct params *p, struct str v, int64_t now_ns, struct err *e)
{
	return to_moment(v, now_ns, &p->q.to_ns, e);
}

static int to_resolution(struct params *p, struct str v, int64_t now_ns, struct err *e)
{
	(void)now_ns;
	if (clock_parse_duration(v, &p->q.resolution_ns) == OK && p->q.resolution_ns > 0)
		return OK;
	return err_set(e, E_USAGE, "\"%.*s\" is no width of a point; write 5m, 1h or seconds", STR_ARG(str_upto(v, 64)));
}

static int to_limit(struct params *p, struct str v, int64_t now_ns, struct err *e)
{
	uint64_t n = 0;

	(void)now_ns;
	if (str_to_u64(v, &n) != OK || n < 1 || n > QUERY_LIMIT_MAX)
		return err_set(e, E_USAGE, "\"%.*s\" is no number from 1 to %d", STR_ARG(str_upto(v, 64)), QUERY_LIMIT_MAX);
	p->q.limit = (uint32_t)n;
	return OK;
}

static int to_order(struct params *p, struct str v, int64_t now_ns, struct err *e)
{
	(void)now_ns;
	p->q.newest_first = str_eq(v, STR("newest"));
	if (p->q.newest_first || str_eq(v, STR("oldest")))
		return OK;
	return err_set(e, E_USAGE, "\"%.*s\" is no order; newest and oldest are", STR_ARG(str_upto(v, 64)));
}

static int to_state(struct params *p, struct str v, int64_t now_ns, struct err *e)
{
	(void)now_ns;
	p->has_state = true;
	if (alert_state_parse(v, &p->state) == OK)
		return OK;
	return err_set(e, E_USAGE, "\"%.*s\" is no state; inactive, pending, firing, resolved, accepted and expired are",
		STR_ARG(str_upto(v, 64)));
}

static const struct {
	const char *name;
	param_fn *take; /* NULL: the text as it is, to offset */
	size_t offset;
	const char *help;
} params[] = {
	[PARAM_SERVICE] = { "service", NULL, offsetof(struct params, q.service),
		"Only of this service, by its exact name." },
	[PARAM_DEPLOY] = { "deploy", NULL, offsetof(struct params, q.deploy),
		"Only of this deploy." },
	[PARAM_HOST] = { "host", NULL, offsetof(struct params, q.host),
		"Only of this host." },
	[PARAM_WORKER] = { "worker", NULL, offsetof(struct params, q.worker),
		"Only of this worker." },
	[PARAM_OP] = { "op", NULL, offsetof(struct params, q.op),
		"The exact name of an op, as top shows it." },
	[PARAM_KIND] = { "kind", to_kind, 0,
		"step, cpu_op, annotation, region, runtime, overhead, kernel, memcpy, memset, collective, hlo, engine or gap." },
	[PARAM_FROM] = { "from", to_from, 0,
		"Windows from then on: RFC 3339, Unix seconds, now or now-7d." },
	[PARAM_TO] = { "to", to_to, 0,
		"Windows before then; as from." },
	[PARAM_RESOLUTION] = { "resolution", to_resolution, 0,
		"Width of a point: 5m, 1h, or seconds." },
	[PARAM_LIMIT] = { "limit", to_limit, 0,
		"Items in the answer, 1 to 10000; 100 where it is missing." },
	[PARAM_CURSOR] = { "cursor", NULL, offsetof(struct params, q.cursor),
		"The next of the answer before." },
	[PARAM_ORDER] = { "order", to_order, 0,
		"newest or oldest first." },
	[PARAM_STATE] = { "state", to_state, 0,
		"inactive, pending, firing, resolved, accepted or expired." },
	[PARAM_BEFORE] = { "before", NULL, offsetof(struct params, before),
		"The deploy that is compared with; the one in front of after where it is missing." },
	[PARAM_AFTER] = { "after", NULL, offsetof(struct params, after),
		"The deploy that is judged; the newest where it is missing." },
};
_Static_assert(COUNT(params) == PARAMS, "name every parameter");

const char *param_name(enum param_id id)
{
	return params[id].name;
}

const char *param_help(enum param_id id)
{
	return params[id].help;
}

static int unknown(uint32_t allowed, struct err *e)
{
	char text[300];
	size_t n = 0;

	if (allowed == 0)
		return err_set(e, E_USAGE, "no parameters are known here");
	for (unsigned i = 0; i < PARAMS && n < sizeof(text); i++)
		if ((allowed & PARAM_BIT(i)) != 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", params[i].name);
	return err_set(e, E_USAGE, "not known here; these are:%s", text);
}

static int take_pair(struct arena *a, struct str pair, uint32_t allowed, int64_t now_ns, struct params *out,
	const char **name, struct err *e)
{
	struct str rest = pair, raw_name = str_split(&rest, '='), key = STR(""), value = STR("");

	if (http_decode(a, raw_name, true, &key) != OK || (rest.p != NULL && http_decode(a, rest, true, &value) != OK))
		return err_set(e, E_USAGE, "a percent-escape is wrong"); /* no name: it may be the one that is */
	for (unsigned i = 0; i < PARAMS; i++) {
		if (!str_eq(key, str_of(params[i].name)) || (allowed & PARAM_BIT(i)) == 0)
			continue;
		*name = params[i].name;
		if (param_given(out, (enum param_id)i))
			return err_set(e, E_USAGE, "given twice");
		out->given |= PARAM_BIT(i);
		if (params[i].take != NULL)
			return params[i].take(out, value, now_ns, e);
		*(struct str *)(void *)((char *)out + params[i].offset) = value;
		return OK;
	}
	*name = arena_fmt(a, "%.*s", STR_ARG(str_upto(key, 64))).p;
	return unknown(allowed, e);
}

int params_parse(struct arena *a, struct str query, uint32_t allowed, int64_t now_ns, struct params *out,
	const char **name, struct err *e)
{
	struct str rest = query;
	int rc = OK;

	memset(out, 0, sizeof(*out));
	out->q.to_ns = INT64_MAX;
	out->q.limit = QUERY_LIMIT_DEFAULT;
	out->q.newest_first = true;
	*name = NULL;
	while (rc == OK && rest.p != NULL) {
		struct str pair = str_split(&rest, '&');

		if (!str_empty(pair))
			rc = take_pair(a, pair, allowed, now_ns, out, name, e);
	}
	if (rc == OK && out->q.from_ns >= out->q.to_ns) {
		*name = "from";
		rc = err_set(e, E_USAGE, "must be before to");
	}
	return rc;
}
