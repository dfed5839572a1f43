#include "tests/unit/api/ask.h"

#include "wire/wire.h"

Suite *suite_ingest(void);

static struct ask k;

static void start(void)
{
	ask_open(&k, false);
}

static void stop(void)
{
	ask_close(&k);
}

static const char good[] =
	"{\"agent_id\":\"curl\",\"windows\":[{\"id\":\"00112233445566778899aabbccddeeff\",\"service\":\"llm\",\"deploy\":\"v1\","
	"\"host\":\"h1\",\"worker\":\"0\",\"source\":\"test\",\"start_ns\":1793491200000000000,\"dur_ns\":1000000000,\"steps\":10,"
	"\"steps_from\":\"marker\",\"ops\":[{\"kind\":\"cpu_op\",\"name\":\"aten::mul\",\"calls\":30,\"cpu_total_ns\":900,"
	"\"cpu_self_ns\":900}]}]}";

static size_t stored(void)
{
	ck_assert_int_eq(ask_get(&k, "/api/v1/windows"), 200);
	return ask_items(&k);
}

START_TEST(a_json_batch_is_stored_once)
{
	ck_assert_msg(ask_post_json(&k, "/api/v1/windows", good) == 200, "%s", k.rp.body.p);
	ck_assert_int_eq(json_get_i64(k.json, "accepted", -1), 1);
	ck_assert_int_eq(json_get_i64(k.json, "duplicates", -1), 0);
	ck_assert_int_eq(k.arrived, 1);
	ck_assert_int_eq(ask_post_json(&k, "/api/v1/windows", good), 200);
	ck_assert_int_eq(json_get_i64(k.json, "accepted", -1), 0);
	ck_assert_int_eq(json_get_i64(k.json, "duplicates", -1), 1);
	ck_assert_int_eq(k.arrived, 1);
	ck_assert_uint_eq(stored(), 1);
	ck_assert_double_eq(ask_metric(&k, "trainspotter_ingest_windows_total "), 1);
	ck_assert_double_eq(ask_metric(&k, "trainspotter_ingest_duplicates_total "), 1);
}
END_TEST

START_TEST(a_window_dated_ahead_of_the_clock_is_stored_and_counted)
{
	ask_later_ns = -(ask_now() - INT64_C(1793491200000000000) + 10 * NS_PER_MIN); /* ten minutes before it starts */
	ck_assert_int_eq(ask_post_json(&k, "/api/v1/windows", good), 200);
	ck_assert_uint_eq(stored(), 1);
	ck_assert_double_eq(ask_metric(&k, "trainspotter_ingest_ahead_windows_total "), 1);
	ask_later_ns++;
	ck_assert_int_eq(ask_post_json(&k, "/api/v1/windows", good), 200);
	ck_assert_double_eq(ask_metric(&k, "trainspotter_ingest_ahead_windows_total "), 1);
}
END_TEST

START_TEST(a_protobuf_batch_is_stored)
{
	struct op_summary ops[FLEET_OPS];
	struct window w = fleet_window(&k.fleet, "llm", "v1", "h1", FLEET_START, FLEET_FUSED, ops);
	struct wire_batch b = { .agent_id = STR("a"), .agent_version = STR("1"), .windows = &w, .n_windows = 1 };
	struct err e = { 0 };
	struct buf out;

	buf_init(&out, 1 << 20);
	ck_assert_msg(wire_encode(&b, &out, &e) == OK, "%s", e.text);
	ask_header(&k, "Content-Type", "application/x-protobuf");
	ask_header(&k, "Content-Encoding", "zstd");
	ck_assert_msg(ask_call(&k, HTTP_POST, "/api/v1/windows", buf_view(&out)) == 200, "%s", k.rp.body.p);
	ck_assert_int_eq(json_get_i64(k.json, "accepted", -1), 1);

	/* the same bytes, cut: refused, whatever the cut */
	for (size_t n = 0; n < out.n; n += 7) {
		ask_header(&k, "Content-Type", "application/x-protobuf");
		ask_header(&k, "Content-Encoding", "zstd");
		ck_assert_msg(ask_call(&k, HTTP_POST, "/api/v1/windows", str_upto(buf_view(&out), n)) == 400, "%zu bytes", n);
	}
	ck_assert_uint_eq(stored(), 1);
	buf_fini(&out);
	window_fini(&w);
}
END_TEST

static const struct {
	const char *what, *type, *coding, *body;
	int status;
	const char *reason;
} wrong[] = {
	{ "no content type", NULL, NULL, good, 415, "media-type" },
	{ "text", "text/plain", NULL, good, 415, "media-type" },
	{ "gzip", "application/json", "gzip", good, 415, "media-type" },
	{ "an empty body", "application/json", NULL, "", 400, "body" },
	{ "not JSON", "application/json", NULL, "windows please", 400, "body" },
	{ "half of it", "application/json", NULL, "{\"windows\":[{\"id\":", 400, "body" },
	{ "a member that nobody knows", "application/json", NULL, "{\"windoes\":[]}", 400, "body" },
	{ "no id", "application/json", NULL, "{\"agent_id\":\"a\",\"windows\":[{\"service\":\"s\",\"host\":\"h\"}]}", 400, "body" },
	{ "JSON that says it is zstd", "application/json", "zstd", good, 400, "body" },
	{ "JSON that says it is protobuf", "application/x-protobuf", NULL, good, 400, "body" },
	{ "a window without a service", "application/json", NULL,
	  "{\"agent_id\":\"a\",\"windows\":[{\"id\":\"00112233445566778899aabbccddeeff\",\"host\":\"h\",\"start_ns\":1,\"dur_ns\":1}]}", 422,
	  "unprocessable" },
	{ "a negative time", "application/json", NULL,
	  "{\"agent_id\":\"a\",\"windows\":[{\"id\":\"00112233445566778899aabbccddeeff\",\"service\":\"s\",\"host\":\"h\",\"start_ns\":-1,"
	  "\"dur_ns\":1}]}", 422, "unprocessable" },
	{ "a time whose hour ends beyond 64 bits", "application/json", NULL,
	  "{\"agent_id\":\"a\",\"windows\":[{\"id\":\"00112233445566778899aabbccddeeff\",\"service\":\"s\",\"host\":\"h\","
	  "\"start_ns\":9223372036854775800,\"dur_ns\":1}]}", 422, "unprocessable" },
	{ "one good window and one bad", "application/json", NULL,
	  "{\"agent_id\":\"a\",\"windows\":[{\"id\":\"00112233445566778899aabbccddeeff\",\"service\":\"s\",\"host\":\"h\",\"start_ns\":1,"
	  "\"dur_ns\":1},{\"id\":\"00112233445566778899aabbccddee00\"}]}", 422, "unprocessable" },
};

START_TEST(a_bad_body_is_refused_with_a_reason_counted_and_changes_nothing)
{
	char line[100];

	if (wrong[_i].type != NULL)
		ask_header(&k, "Content-Type", wrong[_i].type);
	if (wrong[_i].coding != NULL)
		ask_header(&k, "Content-Encoding", wrong[_i].coding);
	ck_assert_msg(ask_call(&k, HTTP_POST, "/api/v1/windows", str_of(wrong[_i].body)) == wrong[_i].status, "%s: %s",
		wrong[_i].what, k.rp.body.p);
	ck_assert_msg(strlen(ask_detail(&k)) > 10, "%s", wrong[_i].what);
	snprintf(line, sizeof(line), "trainspotter_ingest_refused_total{reason=\"%s\"} ", wrong[_i].reason);
	ck_assert_double_eq(ask_metric(&k, line), 1);
	ck_assert_int_eq(k.arrived, 0);
	ck_assert_uint_eq(stored(), 0);
}
END_TEST

START_TEST(more_windows_than_a_batch_may_have_are_too_large)
{
	struct buf b;

	buf_init(&b, 4 << 20);
	buf_text(&b, "{\"agent_id\":\"a\",\"windows\":[");
	for (int i = 0; i < 1001; i++)
		buf_fmt(&b, "%s{\"id\":\"%032x\",\"service\":\"s\",\"host\":\"h\",\"start_ns\":1,\"dur_ns\":1}", i > 0 ? "," : "", i);
	buf_text(&b, "]}");
	ck_assert_msg(ask_post_json(&k, "/api/v1/windows", b.p) == 413, "%s", k.rp.body.p);
	ck_assert_uint_eq(stored(), 0);
	buf_fini(&b);
}
END_TEST

START_TEST(a_bomb_is_too_large)
{
	/* zstd of RLE blocks: 64 KiB of body would be many GiB */
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_add(&b, "\x28\xb5\x2f\xfd\x00\x58", 6);
	for (int i = 0; i < 1000; i++)
		buf_add(&b, "\x02\x00\x10" "A", 4);
	ask_header(&k, "Content-Type", "application/x-protobuf");
	ask_header(&k, "Content-Encoding", "zstd");
	ck_assert_msg(ask_call(&k, HTTP_POST, "/api/v1/windows", buf_view(&b)) == 413, "%s", k.rp.body.p);
	buf_fini(&b);
}
END_TEST

START_TEST(a_deploy_is_announced_and_announced_again)
{
	ck_assert_msg(ask_post_json(&k, "/api/v1/deploys",
		"{\"service\":\"llm\",\"deploy\":\"v2\",\"first_ns\":1793491200000000000,\"labels\":{\"sdk\":\"2.26\"}}") == 200, "%s",
		k.rp.body.p);
	ck_assert_int_eq(json_get_i64(k.json, "first_ns", 0), FLEET_START);
	ck_assert_int_eq(ask_post_json(&k, "/api/v1/deploys", "{\"service\":\"llm\",\"deploy\":\"v3\"}"), 200);
	ck_assert_int_eq(json_get_i64(k.json, "first_ns", 0), ask_now());
	ck_assert_int_eq(ask_get(&k, "/api/v1/deploys?service=llm"), 200);
	ck_assert_uint_eq(ask_items(&k), 2);
	ck_assert(str_eq(json_get_str(ask_item(&k, 0), "deploy"), STR("v3")));
	ck_assert(str_eq(json_get_str(json_get(ask_item(&k, 1), "labels"), "sdk"), STR("2.26")));
}
END_TEST

static const struct {
	const char *body, *says;
	int status;
} bad_deploys[] = {
	{ "", "", 400 },
	{ "[]", "object", 422 },
	{ "{\"service\":\"s\"}", "deploy", 422 },
	{ "{\"service\":\"\",\"deploy\":\"d\"}", "service", 422 },
	{ "{\"service\":7,\"deploy\":\"d\"}", "service", 422 },
	{ "{\"service\":\"s\",\"deploy\":\"d\",\"first_ns\":\"now\"}", "first_ns", 422 },
	{ "{\"service\":\"s\",\"deploy\":\"d\",\"first_ns\":-1}", "first_ns", 422 },
	{ "{\"service\":\"s\",\"deploy\":\"d\",\"first_ns\":9223372036854775807}", "first_ns", 422 },
	{ "{\"service\":\"s\",\"deploy\":\"d\",\"label\":{}}", "label", 422 },
	{ "{\"service\":\"s\",\"deploy\":\"d\",\"labels\":{\"a\":1}}", "\"a\"", 422 },
	{ "{\"service\":\"s\",\"deploy\":\"d\",\"labels\":[]}", "labels", 422 },
	{ "{\"service\":\"s\",\"service\":\"s\",\"deploy\":\"d\"}", "", 400 },
};

START_TEST(a_bad_announcement_is_refused_by_name)
{
	ck_assert_msg(ask_post_json(&k, "/api/v1/deploys", bad_deploys[_i].body) == bad_deploys[_i].status, "%s: %s",
		bad_deploys[_i].body, k.rp.body.p);
	ck_assert(str_contains(str_of(ask_detail(&k)), str_of(bad_deploys[_i].says)));
	ck_assert_int_eq(ask_get(&k, "/api/v1/deploys"), 200);
	ck_assert_uint_eq(ask_items(&k), 0);
}
END_TEST

Suite *suite_ingest(void)
{
	Suite *s = suite_create("api/ingest");
	TCase *tc = tcase_create("ingest");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, a_json_batch_is_stored_once);
	tcase_add_test(tc, a_window_dated_ahead_of_the_clock_is_stored_and_counted);
	tcase_add_test(tc, a_protobuf_batch_is_stored);
	tcase_add_loop_test(tc, a_bad_body_is_refused_with_a_reason_counted_and_changes_nothing, 0, COUNT(wrong));
	tcase_add_test(tc, more_windows_than_a_batch_may_have_are_too_large);
	tcase_add_test(tc, a_bomb_is_too_large);
	tcase_add_test(tc, a_deploy_is_announced_and_announced_again);
	tcase_add_loop_test(tc, a_bad_announcement_is_refused_by_name, 0, COUNT(bad_deploys));
	suite_add_tcase(s, tc);
	return s;
}
