/* The description of the API is whole, and says what answers are. */
#include "api/route.h"
#include "api/schema.h"
#include "base/yaml.h"
#include "tests/unit/api/ask.h"

Suite *suite_openapi(void);

static struct ask k;
static struct arena arena;

static void start(void)
{
	ask_open(&k, false);
	arena_init(&arena, 64 << 20);
}

static void stop(void)
{
	arena_fini(&arena);
	ask_close(&k);
}

static const struct yaml_node *description(void)
{
	const struct yaml_node *root = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(ask_get(&k, "/api/v1/openapi.yaml"), 200);
	ck_assert_str_eq(k.rp.content_type, "application/yaml");
	ck_assert_msg(yaml_parse(&arena, buf_view(&k.rp.body), "openapi.yaml", &root, &e) == OK, "%s", e.text);
	return root;
}

static const struct yaml_node *get(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *n = yaml_get(map, str_of(key));

	ck_assert_msg(n != NULL, "no %s", key);
	return n;
}

static const char *method_key(enum http_method m)
{
	return m == HTTP_GET ? "get" : "post";
}

START_TEST(every_route_is_described_with_its_parameters)
{
	const struct yaml_node *root = description(), *paths = get(root, "paths");
	size_t operations = 0;

	for (size_t i = 0; i < n_routes; i++) {
		const struct route *r = &routes[i];
		const struct yaml_node *op = get(get(paths, r->path), method_key(r->method));
		const struct yaml_node *params = yaml_get(op, STR("parameters"));
		size_t want = (size_t)__builtin_popcount(r->params) + (strstr(r->path, "{id}") != NULL);

		ck_assert_msg(r->method == HTTP_GET || r->method == HTTP_POST, "%s", r->path);
		ck_assert(!str_empty(get(op, "summary")->text));
		ck_assert_uint_eq(params == NULL ? 0 : params->n, want);
		ck_assert_int_eq(yaml_get(op, STR("requestBody")) != NULL, r->method == HTTP_POST);
		ck_assert_int_eq(get(op, "security")->n == 0, r->need == NEED_NOTHING);
	}
	for (size_t i = 0; i < paths->n; i++)
		operations += paths->items[i].n;
	ck_assert_uint_eq(operations, n_routes);
}
END_TEST

START_TEST(what_a_parameter_may_be_is_described)
{
	const struct yaml_node *root = description(), *params = get(get(root, "components"), "parameters");
	const struct yaml_node *trend = get(get(get(get(root, "paths"), "/api/v1/trend"), "get"), "parameters");
	size_t required = 0;

	ck_assert_uint_eq(get(get(get(params, "kind"), "schema"), "enum")->n, OP_KINDS);
	ck_assert_uint_eq(get(get(get(params, "state"), "schema"), "enum")->n, ALERT_STATES);
	ck_assert(str_eq(get(get(get(params, "limit"), "schema"), "maximum")->text, STR("10000")));
	for (size_t i = 0; i < trend->n; i++)
		if (yaml_get(&trend->items[i], STR("required")) != NULL) {
			ck_assert(str_eq(get(&trend->items[i], "name")->text, STR("op")));
			required++;
		}
	ck_assert_uint_eq(required, 1);
}
END_TEST

START_TEST(every_reference_leads_somewhere)
{
	const struct yaml_node *components = get(description(), "components");
	struct str text = buf_view(&k.rp.body);
	size_t n = 0;

	while (text.p != NULL) {
		struct str line = str_trim(str_split(&text, '\n')), part;

		str_drop_prefix(&line, STR("- "));
		if (!str_drop_prefix(&line, STR("$ref: '#/components/")))
			continue;
		str_drop_suffix(&line, STR("'"));
		part = str_split(&line, '/');
		ck_assert_msg(yaml_get(get(components, arena_fmt(&arena, "%.*s", STR_ARG(part)).p), line) != NULL, "%.*s",
			STR_ARG(line));
		n++;
	}
	ck_assert_uint_gt(n, 100);
}
END_TEST

/* ---- do answers hold to it? */

static void must_fit(struct str type, const struct json_node *n, const char *where);

static const struct schema_member *member_of(const struct schema *s, struct str name)
{
	for (; s != NULL; s = s->base == NULL ? NULL : schema_find(s->base))
		for (size_t i = 0; i < s->n; i++)
			if (str_eq(str_of(s->members[i].name), name))
				return &s->members[i];
	return NULL;
}

static void must_fit_schema(const struct schema *s, const struct json_node *n, const char *where)
{
	ck_assert_msg(n->kind == JSON_K_OBJECT, "%s is no object", where);
	for (size_t i = 0; i < n->n; i++) {
		const struct schema_member *m = member_of(s, n->items[i].key);

		ck_assert_msg(m != NULL, "%s: %s does not know %.*s", where, s->name, STR_ARG(n->items[i].key));
		must_fit(str_of(m->type), &n->items[i], m->name);
	}
	for (const struct schema *b = s; b != NULL; b = b->base == NULL ? NULL : schema_find(b->base))
		for (size_t i = 0; i < b->n; i++)
			ck_assert_msg(b->members[i].optional || json_get(n, b->members[i].name) != NULL, "%s: no %s", where,
				b->members[i].name);
}

static bool is_plain(struct str type, const struct json_node *n)
{
	int64_t whole;

	if (str_eq(type, STR("string")))
		return n->kind == JSON_K_STRING;
	if (str_eq(type, STR("integer")))
		return n->kind == JSON_K_NUMBER && str_to_i64(n->text, &whole) == OK;
	if (str_eq(type, STR("number")))
		return n->kind == JSON_K_NUMBER;
	if (str_eq(type, STR("boolean")))
		return n->kind == JSON_K_BOOL;
	return str_eq(type, STR("object")) && n->kind == JSON_K_OBJECT;
}

static void must_fit(struct str type, const struct json_node *n, const char *where)
{
	const struct schema *s;

	if (str_drop_suffix(&type, STR("?")) && n->kind == JSON_K_NULL)
		return;
	if (type.p[0] == '[' || type.p[0] == '{') {
		ck_assert_msg(n->kind == (type.p[0] == '[' ? JSON_K_ARRAY : JSON_K_OBJECT), "%s is no %.*s", where, STR_ARG(type));
		for (size_t i = 0; i < n->n; i++)
			must_fit(str_from(str_upto(type, type.n - 1), 1), &n->items[i], where);
		return;
	}
	s = schema_find(arena_fmt(&arena, "%.*s", STR_ARG(type)).p);
	if (s != NULL)
		must_fit_schema(s, n, where);
	else
		ck_assert_msg(is_plain(type, n), "%s is no %.*s", where, STR_ARG(type));
}

static const char window_body[] =
	"{\"agent_id\":\"curl\",\"windows\":[{\"id\":\"00112233445566778899aabbccddeeff\",\"service\":\"llm-decode\",\"deploy\":\"v1\","
	"\"host\":\"h1\",\"worker\":\"0\",\"source\":\"test\",\"start_ns\":1793491200000000000,\"dur_ns\":1000000000,\"steps\":10,"
	"\"steps_from\":\"marker\",\"labels\":{\"a\":\"b\"},\"gauges\":[{\"name\":\"util\",\"unit\":\"1\",\"value\":0.5,\"labels\":{}}],"
	"\"ops\":[{\"kind\":\"cpu_op\",\"name\":\"aten::mul\",\"calls\":30,\"cpu_total_ns\":900,\"cpu_self_ns\":900}]}]}";

#define AGENT "/api/v1/agents/00000000000000000000000000000001/poll"

/* Each route once at least, with something in its answer; "ID" is that of the first item of the list asked for last. */
static const struct {
	const char *path, *body; /* NULL: GET */
} calls[] = {
	{ "/api/v1/windows", window_body },
	{ "/api/v1/deploys", "{\"service\":\"llm-decode\",\"deploy\":\"v43\",\"labels\":{\"sdk\":\"2\"}}" },
	{ "/api/v1/services", NULL },
	{ "/api/v1/hosts", NULL },
	{ "/api/v1/deploys", NULL },
	{ "/api/v1/windows", NULL },
	{ "/api/v1/windows/ID", NULL },
	{ "/api/v1/windows/00112233445566778899aabbccddeeff", NULL },
	{ "/api/v1/top", NULL },
	{ "/api/v1/trend?op=aten::mul", NULL },
	{ "/api/v1/compare?service=llm-decode&before=v41&after=v42", NULL },
	{ "/api/v1/alerts", NULL },
	{ "/api/v1/alerts/ID", NULL },
	{ AGENT, "{\"host\":\"trn-1\",\"workers\":[{\"source\":\"kineto\",\"service\":\"llm-decode\",\"wants\":true}]}" },
	{ "/api/v1/agents", NULL },
	{ "/api/v1/services", NULL },
	{ "/api/v1/captures", "{\"service\":\"llm-decode\",\"hosts\":[\"trn-1\"],\"workers\":[\"\"],\"reason\":\"x\"}" },
	{ "/api/v1/captures", NULL },
	{ "/api/v1/captures/ID", NULL },
	{ "/api/v1/capture/policy", NULL },
	{ "/api/v1/capture/policy", "{\"paused\":true,\"reason\":\"x\"}" },
	{ "/-/healthy", NULL },
	{ "/-/ready", NULL },
};

static const struct route *route_of(const char *path, enum http_method m)
{
	struct str want = str_upto(str_of(path), strcspn(path, "?"));

	for (size_t i = 0; i < n_routes; i++) {
		struct str pattern = str_of(routes[i].path), have = want;
		bool fits = routes[i].method == m;

		while (fits && pattern.p != NULL && have.p != NULL) {
			struct str p = str_split(&pattern, '/'), h = str_split(&have, '/');

			fits = str_eq(p, h) || str_eq(p, STR("{id}"));
		}
		if (fits && pattern.p == NULL && have.p == NULL)
			return &routes[i];
	}
	ck_abort_msg("no route for %s", path);
}

static void put_an_alert(void)
{
	struct str hosts[] = { STR("trn-1") };
	struct alert al = { .id = STR("5f0d"), .state = ALERT_FIRING, .kind = VERDICT_FUSION_LOST, .service = STR("llm-decode"),
		.deploy = STR("v42"), .deploy_before = STR("v41"), .op = STR("aten::mul"), .sentence = STR("s"), .started_ns = 1,
		.fired_ns = 2, .updated_ns = 3, .hosts = hosts, .n_hosts = 1, .windows_before = 3, .windows_after = 2 };
	struct err e = { 0 };

	al.evidence = STR("{\"verdict\":\"fusion_lost\",\"has_step\":true,\"step_ns\":{\"before\":1,\"after\":null},"
			  "\"launches_per_step\":{\"before\":1,\"after\":2},\"findings\":[],\"capture\":\"7d20\"}");
	ck_assert_msg(store_put_alert(k.fleet.store, &al, &e) == OK, "%s", e.text);
}

static void make_call(size_t i, struct str *id)
{
	const char *path = calls[i].path;
	char text[200];
	const struct json_node *items;

	snprintf(text, sizeof(text), "%s", path);
	if (str_has_suffix(str_of(path), STR("/ID")))
		snprintf(text, sizeof(text), "%.*s%.*s", (int)strlen(path) - 2, path, STR_ARG(*id));
	if (calls[i].body != NULL)
		ask_post_json(&k, text, calls[i].body);
	else
		ask_get(&k, text);
	ck_assert_msg(k.rp.status / 100 == 2, "%s: %d %s", text, k.rp.status, k.rp.body.p);
	items = json_get(k.json, "items");
	ck_assert_msg(items == NULL || items->n > 0, "%s: nothing in it", text);
	if (items != NULL && !str_empty(json_get_str(&items->items[0], "id")))
		*id = arena_str(&arena, json_get_str(&items->items[0], "id"));
}

START_TEST(answers_hold_to_their_schemas_and_every_route_is_asked)
{
	bool *asked = arena_get_array(&arena, n_routes, sizeof(*asked));
	struct str id = STR("");

	fleet_deploy(&k.fleet, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&k.fleet, "v42", FLEET_START + 10 * NS_PER_HOUR, 4, FLEET_EAGER);
	put_an_alert();
	for (size_t i = 0; i < COUNT(calls); i++) {
		const struct route *r = route_of(calls[i].path, calls[i].body == NULL ? HTTP_GET : HTTP_POST);

		make_call(i, &id);
		ck_assert_int_eq(k.rp.status, r->status == 0 ? 200 : r->status);
		must_fit(str_of(r->answer), k.json, calls[i].path);
		asked[r - routes] = true;
	}
	for (size_t i = 0; i < n_routes; i++)
		ck_assert_msg(asked[i] || strchr(routes[i].answer, '/') != NULL, "%s was not asked", routes[i].path);
	/* a problem is described, too */
	ask_get(&k, "/api/v1/top?form=x");
	must_fit(STR("Problem"), k.json, "problem");
}
END_TEST

static const struct {
	const char *path, *schema, *body;
	int status;
} bodies[] = {
	{ AGENT, "Poll",
	  "{\"host\":\"h\",\"version\":\"1\",\"start_ns\":1,\"workers\":[{\"source\":\"s\",\"service\":\"llm\",\"worker\":\"0\","
	  "\"deploy\":\"d\",\"state\":\"busy\",\"wants\":false,\"last_ns\":1,\"why\":\"w\",\"cost_ppm\":1,\"measured\":true,"
	  "\"every_nth\":2}],\"ended\":[{\"lease\":\"l\",\"capture\":null,\"taken\":true,\"end\":\"taken\",\"window\":null}]}",
	  200 },
	{ "/api/v1/captures", "CaptureRequest",
	  "{\"service\":\"llm\",\"hosts\":[\"h\"],\"workers\":[\"0\"],\"source\":\"s\",\"duration_ns\":1,\"iterations\":1,"
	  "\"reason\":\"r\"}",
	  201 },
	{ "/api/v1/capture/policy", "CapturePolicyRequest", "{\"paused\":true,\"reason\":\"r\"}", 200 },
	{ "/api/v1/deploys", "DeployAnnouncement",
	  "{\"service\":\"s\",\"deploy\":\"d\",\"first_ns\":1,\"labels\":{\"a\":\"b\"}}", 200 },
};

START_TEST(bodies_with_every_member_that_is_described_are_taken)
{
	for (size_t i = 0; i < COUNT(bodies); i++) {
		const struct json_node *body = NULL;

		ck_assert_int_eq(json_parse(&arena, str_of(bodies[i].body), &body, NULL), OK);
		must_fit(str_of(bodies[i].schema), body, bodies[i].path);
		ck_assert_uint_eq(body->n, schema_find(bodies[i].schema)->n);
		ck_assert_msg(ask_post_json(&k, bodies[i].path, bodies[i].body) == bodies[i].status, "%s: %s", bodies[i].path,
			k.rp.body.p);
	}
}
END_TEST

Suite *suite_openapi(void)
{
	Suite *s = suite_create("api/openapi");
	TCase *tc = tcase_create("openapi");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, every_route_is_described_with_its_parameters);
	tcase_add_test(tc, what_a_parameter_may_be_is_described);
	tcase_add_test(tc, every_reference_leads_somewhere);
	tcase_add_test(tc, answers_hold_to_their_schemas_and_every_route_is_asked);
	tcase_add_test(tc, bodies_with_every_member_that_is_described_are_taken);
	suite_add_tcase(s, tc);
	return s;
}
