#include "tests/unit/api/ask.h"

#include "base/file.h"

Suite *suite_api(void);

static struct ask k;

static void start(void)
{
	ask_open(&k, false);
}

static void start_open(void)
{
	ask_open(&k, true);
}

static void stop(void)
{
	ask_close(&k);
}

START_TEST(a_path_that_is_not_there_is_404)
{
	static const char *const paths[] = { "/nowhere", "/api", "/api/v1/", "/api/v1/service", "/api/v1/services/",
		"/api/v1/windows/", "/api/v1/windows/a/b", "//", "/metrics/" };

	for (size_t i = 0; i < COUNT(paths); i++)
		ck_assert_msg(ask_get(&k, paths[i]) == 404, "%s", paths[i]);
	ck_assert(str_eq(json_get_str(k.json, "type"), STR("urn:trainspotter:not-found")));
	ck_assert_int_eq(json_get_i64(k.json, "status", 0), 404);
	ck_assert_str_eq(k.rp.content_type, "application/problem+json");
}
END_TEST

START_TEST(another_method_is_405_with_what_is_allowed)
{
	ck_assert_int_eq(ask_call(&k, HTTP_DELETE, "/api/v1/windows", STR("")), 405);
	ck_assert_msg(str_contains(buf_view(&k.rp.headers), STR("Allow: POST, GET, HEAD\r\n")), "%s", k.rp.headers.p);
	ck_assert_int_eq(ask_call(&k, HTTP_POST, "/api/v1/top", STR("")), 405);
	ck_assert(str_contains(buf_view(&k.rp.headers), STR("Allow: GET, HEAD\r\n")));
}
END_TEST

START_TEST(head_is_a_get)
{
	ck_assert_int_eq(ask_call(&k, HTTP_HEAD, "/-/healthy", STR("")), 200);
	ck_assert(k.rp.body.n > 0); /* the server leaves it out */
}
END_TEST

START_TEST(a_wrong_parameter_is_named)
{
	ck_assert_int_eq(ask_get(&k, "/api/v1/windows?hosst=x"), 400);
	ck_assert(str_eq(json_get_str(k.json, "parameter"), STR("hosst")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/trend"), 400);
	ck_assert(str_eq(json_get_str(k.json, "parameter"), STR("op")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/compare"), 400);
	ck_assert(str_eq(json_get_str(k.json, "parameter"), STR("service")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/windows?cursor=made-up"), 400);
	ck_assert(str_eq(json_get_str(k.json, "parameter"), STR("cursor")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/top?cursor=made-up"), 400);
}
END_TEST

START_TEST(health_metrics_and_a_page_are_there)
{
	ck_assert_int_eq(ask_get(&k, "/-/healthy"), 200);
	ck_assert(str_eq(json_get_str(k.json, "status"), STR("healthy")));
	ck_assert_int_eq(ask_get(&k, "/-/ready"), 200);
	ck_assert(str_eq(json_get_str(k.json, "status"), STR("ready")));
	ck_assert_int_eq(ask_get(&k, "/metrics"), 200);
	ck_assert(str_has_prefix(str_of(k.rp.content_type), STR("text/plain; version=0.0.4")));
	ck_assert(str_contains(buf_view(&k.rp.body), STR("trainspotter_ingest_windows_total 0")));
	ck_assert_int_eq(ask_get(&k, "/"), 200);
	ck_assert(str_has_prefix(str_of(k.rp.content_type), STR("text/html")));
}
END_TEST

/* ---- who may do what */

static void use_tokens(void)
{
	char path[128], text[600], hash[3][65];
	struct auth *a = NULL;
	struct err e = { 0 };

	auth_hash(STR("in"), hash[0]);
	auth_hash(STR("re"), hash[1]);
	auth_hash(STR("ad"), hash[2]);
	snprintf(path, sizeof(path), "%s/tokens.yaml", k.fleet.dir);
	snprintf(text, sizeof(text), "- role: ingest\n  sha256: %s\n- role: read\n  sha256: %s\n- role: admin\n  sha256: %s\n",
		hash[0], hash[1], hash[2]);
	ck_assert_int_eq(file_replace(path, str_of(text), 0600, &e), OK);
	ck_assert_msg(auth_load(&a, path, &e) == OK, "%s", e.text);
	ck_assert_int_eq(api_set_auth(k.api, &a, &e), OK);
	ck_assert_ptr_null(a);
}

static int from(bool loopback, const char *token, bool write)
{
	char header[64];

	k.rq.loopback = loopback;
	if (token != NULL) {
		snprintf(header, sizeof(header), "Bearer %s", token);
		ask_header(&k, "authorization", header);
	}
	return write ? ask_post_json(&k, "/api/v1/deploys", "{\"service\":\"s\",\"deploy\":\"d\"}") : ask_get(&k, "/api/v1/services");
}

START_TEST(tokens_say_who_may_write_and_read_from_elsewhere)
{
	use_tokens();
	ck_assert_int_eq(from(false, NULL, true), 401);
	ck_assert(str_contains(buf_view(&k.rp.headers), STR("WWW-Authenticate: Bearer")));
	ck_assert_int_eq(from(false, "no", true), 401);
	ck_assert_int_eq(from(false, "re", true), 403);
	ck_assert_int_eq(from(false, "in", true), 200);
	ck_assert_int_eq(from(false, "ad", true), 200);
	ck_assert_int_eq(from(false, NULL, false), 401);
	ck_assert_int_eq(from(false, "in", false), 403);
	ck_assert_int_eq(from(false, "re", false), 200);
	ck_assert_int_eq(from(false, "ad", false), 200);
	k.rq.loopback = false;
	ck_assert_int_eq(ask_get(&k, "/-/ready"), 200);
	ck_assert_int_eq(ask_get(&k, "/metrics"), 401);
}
END_TEST

START_TEST(loopback_needs_no_token_but_a_bad_one_is_refused)
{
	use_tokens();
	ck_assert_int_eq(from(true, NULL, true), 200);
	ck_assert_int_eq(from(true, NULL, false), 200);
	ck_assert_int_eq(from(true, "no", false), 401);
	ck_assert_int_eq(from(true, "re", true), 403);
}
END_TEST

/* ---- from this machine, but on behalf of whom? */
static const struct {
	const char *name, *value;
	int read, write;
} behalf[] = {
	{ "Host", "127.0.0.1:8940", 200, 200 },
	{ "Host", "127.8.9.10", 200, 200 },
	{ "Host", "[::1]:8940", 200, 200 },
	{ "Host", "localhost:8940", 200, 200 },
	{ "Host", "LocalHost.", 200, 200 },
	{ "Host", "daemon.localhost:8940", 200, 200 },
	{ "Host", "localhost.localdomain:8940", 200, 200 },
	{ "Host", "localhost6.localdomain6:8940", 200, 200 },
	{ "Host", ".", 401, 401 },
	{ "Host", "trainspotter:8940", 200, 200 }, /* no name that a stranger can own */
	{ "Host", "", 200, 200 },		   /* HTTP/1.0 */
	{ "Host", "evil.example:8940", 401, 401 }, /* a page of theirs whose name was made to mean this machine */
	{ "Host", "127.0.0.1.evil.example", 401, 401 },
	{ "Host", "localhost.evil.example", 401, 401 },
	{ "Host", "trainspotterd.trainspotter.svc:8940", 401, 401 }, /* a proxy in the pod */
	{ "Host", "[::1]evil.example", 401, 401 },
	{ "Host", "127.0.0.1@evil.example", 401, 401 },
	{ "Origin", "http://127.0.0.1:8940", 200, 200 },
	{ "Origin", "http://localhost:8940", 200, 200 },
	{ "Origin", "https://evil.example", 401, 401 },
	{ "Origin", "http://localhost.evil.example", 401, 401 },
	{ "Origin", "null", 401, 401 },
	{ "X-Forwarded-For", "10.1.2.3", 200, 401 }, /* Grafana here may read for its users */
	{ "X-Real-IP", "10.1.2.3", 200, 401 },
	{ "Forwarded", "for=10.1.2.3", 200, 401 },
	{ "Via", "1.1 proxy", 200, 401 },
};

START_TEST(loopback_without_a_token_is_only_who_asks_for_this_machine_by_itself)
{
	use_tokens();
	ask_header(&k, behalf[_i].name, behalf[_i].value);
	ck_assert_msg(from(true, NULL, false) == behalf[_i].read, "reading, %s: %s", behalf[_i].name, behalf[_i].value);
	ask_header(&k, behalf[_i].name, behalf[_i].value);
	ck_assert_msg(from(true, NULL, true) == behalf[_i].write, "writing, %s: %s", behalf[_i].name, behalf[_i].value);
	if (behalf[_i].write == 401)
		ck_assert_msg(strstr(ask_detail(&k), behalf[_i].name) != NULL, "%s", ask_detail(&k));
	ask_header(&k, behalf[_i].name, behalf[_i].value);
	ck_assert_int_eq(from(true, "ad", true), 200); /* a token is good from anywhere */
}
END_TEST

START_TEST(without_tokens_nobody_elsewhere_may_anything)
{
	ck_assert_int_eq(from(false, NULL, true), 401);
	ck_assert_int_eq(from(false, NULL, false), 401);
	ck_assert_int_eq(from(false, "any", false), 401);
}
END_TEST

START_TEST(without_tokens_anyone_may_read_where_that_is_meant)
{
	ck_assert_int_eq(from(false, NULL, false), 200);
	ck_assert_int_eq(from(false, NULL, true), 401);
}
END_TEST

START_TEST(tokens_can_be_replaced_while_requests_run)
{
	use_tokens();
	use_tokens();
	ck_assert_int_eq(from(false, "re", false), 200);
}
END_TEST

Suite *suite_api(void)
{
	Suite *s = suite_create("api/api");
	TCase *tc = tcase_create("api"), *open = tcase_create("anonymous reads");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, a_path_that_is_not_there_is_404);
	tcase_add_test(tc, another_method_is_405_with_what_is_allowed);
	tcase_add_test(tc, head_is_a_get);
	tcase_add_test(tc, a_wrong_parameter_is_named);
	tcase_add_test(tc, health_metrics_and_a_page_are_there);
	tcase_add_test(tc, tokens_say_who_may_write_and_read_from_elsewhere);
	tcase_add_test(tc, loopback_needs_no_token_but_a_bad_one_is_refused);
	tcase_add_loop_test(tc, loopback_without_a_token_is_only_who_asks_for_this_machine_by_itself, 0, COUNT(behalf));
	tcase_add_test(tc, without_tokens_nobody_elsewhere_may_anything);
	tcase_add_test(tc, tokens_can_be_replaced_while_requests_run);
	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(open, start_open, stop);
	tcase_add_test(open, without_tokens_anyone_may_read_where_that_is_meant);
	suite_add_tcase(s, open);
	return s;
}
