#include "tests/unit/api/ask.h"

_Atomic int64_t ask_later_ns;

int64_t ask_now(void)
{
	return FLEET_START + 30 * NS_PER_DAY + 5 * NS_PER_HOUR + ask_later_ns;
}

static void open_desk(struct ask *k)
{
	struct desk_settings s = { .store = k->fleet.store, .metrics = k->fleet.metrics, .now_ns = ask_now,
		.limits = { .max_per_service = 2, .max_share_percent = 50, .max_per_host = 2, .poll_ns = 10 * NS_PER_S,
			.expire_ns = 10 * NS_PER_MIN } };
	struct err e = { 0 };

	ck_assert_msg(desk_open(&k->desk, &s, &e) == OK, "%s", e.text);
}

static void on_arrived(void *env)
{
	((struct ask *)env)->arrived++;
}

void ask_open(struct ask *k, bool anonymous_reads)
{
	struct api_settings s = { .anonymous_reads = anonymous_reads, .wall_ns = ask_now, .arrived = on_arrived, .arrived_env = k,
		.version = "test" };
	struct fusion_table *table = NULL;
	struct err e = { 0 };

	memset(k, 0, sizeof(*k));
	ask_later_ns = 0;
	fleet_open(&k->fleet);
	open_desk(k);
	s.store = k->fleet.store;
	s.desk = k->desk;
	s.metrics = k->fleet.metrics;
	k->settings = s;
	k->api = api_new(&s);
	ck_assert_msg(fusion_table_new(&table, &e) == OK, "%s", e.text);
	ck_assert_int_eq(api_set_fusion(k->api, &table, &e), OK);
	arena_init(&k->arena, 64 << 20);
	buf_init(&k->rp.body, 64 << 20);
	buf_init(&k->rp.headers, 64 << 10);
	k->rq.loopback = true;
}

void ask_close(struct ask *k)
{
	buf_fini(&k->rp.body);
	buf_fini(&k->rp.headers);
	arena_fini(&k->arena);
	api_free(k->api);
	desk_close(k->desk);
	fleet_close(&k->fleet);
}

void ask_restart_desk(struct ask *k)
{
	api_free(k->api);
	desk_close(k->desk);
	open_desk(k);
	k->settings.desk = k->desk;
	k->api = api_new(&k->settings);
}

void ask_header(struct ask *k, const char *name, const char *value)
{
	k->headers[k->rq.n_headers++] = (struct http_header){ str_of(name), str_of(value) };
}

int ask_call(struct ask *k, enum http_method method, const char *path, struct str body)
{
	struct str rest = str_of(path);
	struct err e = { 0 };

	k->rq.method = method;
	k->rq.path = str_split(&rest, '?');
	k->rq.query = rest.p == NULL ? STR("") : rest;
	k->rq.headers = k->headers;
	k->rq.body = body;
	k->rq.peer = STR("test");
	buf_reset(&k->rp.body);
	buf_reset(&k->rp.headers);
	k->rp.status = 200;
	k->rp.content_type = "application/json";
	k->json = NULL;
	arena_reset(&k->arena);
	api_handle(k->api, &k->rq, &k->rp);
	k->rq.n_headers = 0;
	if (str_contains(str_of(k->rp.content_type), STR("json")))
		ck_assert_msg(json_parse(&k->arena, buf_view(&k->rp.body), &k->json, &e) == OK, "%s: %s\n%.*s", path, e.text,
			STR_ARG(buf_view(&k->rp.body)));
	return k->rp.status;
}

int ask_get(struct ask *k, const char *path)
{
	return ask_call(k, HTTP_GET, path, STR(""));
}

int ask_post_json(struct ask *k, const char *path, const char *body)
{
	ask_header(k, "Content-Type", "application/json");
	return ask_call(k, HTTP_POST, path, str_of(body));
}

size_t ask_items(const struct ask *k)
{
	const struct json_node *items = json_get(k->json, "items");

	ck_assert_ptr_nonnull(items);
	return items->n;
}

const struct json_node *ask_item(const struct ask *k, size_t i)
{
	ck_assert_uint_lt(i, ask_items(k));
	return &json_get(k->json, "items")->items[i];
}

const char *ask_detail(struct ask *k)
{
	return arena_fmt(&k->arena, "%.*s", STR_ARG(json_get_str(k->json, "detail"))).p;
}

double ask_metric(const struct ask *k, const char *line_start)
{
	struct buf b;
	struct str rest;
	double v = -1;

	buf_init(&b, 1 << 20);
	metrics_write(k->fleet.metrics, &b);
	rest = buf_view(&b);
	while (rest.p != NULL) {
		struct str line = str_split(&rest, '\n');

		if (str_drop_prefix(&line, str_of(line_start)))
			ck_assert_int_eq(str_to_double(line, &v), OK);
	}
	buf_fini(&b);
	return v;
}
