/* What can be asked, over a fleet that lost fusion with v42. */
#include "tests/unit/api/ask.h"

#include <math.h>

Suite *suite_ask(void);

static struct ask k;
static const int64_t v42_start = FLEET_START + 10 * NS_PER_HOUR;

static void start(void)
{
	ask_open(&k, false);
	fleet_deploy(&k.fleet, "v41", FLEET_START, 10, FLEET_FUSED);
	fleet_deploy(&k.fleet, "v42", v42_start, 4, FLEET_EAGER);
}

static void stop(void)
{
	ask_close(&k);
}

static struct str text(const struct json_node *n, const char *key)
{
	return json_get_str(n, key);
}

static double before(const struct json_node *n, const char *key)
{
	return json_get_double(json_get(n, key), "before", NAN);
}

static double after(const struct json_node *n, const char *key)
{
	return json_get_double(json_get(n, key), "after", NAN);
}

START_TEST(services_hosts_and_deploys_are_listed)
{
	ck_assert_int_eq(ask_get(&k, "/api/v1/services"), 200);
	ck_assert_uint_eq(ask_items(&k), 1);
	ck_assert(str_eq(text(ask_item(&k, 0), "service"), STR("llm-decode")));
	ck_assert(str_eq(text(ask_item(&k, 0), "deploy"), STR("v42")));
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "windows", 0), 42);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "hosts", 0), 3);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "first_ns", 0), FLEET_START);
	ck_assert_int_eq(json_get(k.json, "next")->kind, JSON_K_NULL);

	ck_assert_int_eq(ask_get(&k, "/api/v1/hosts?service=llm-decode"), 200);
	ck_assert_uint_eq(ask_items(&k), 3);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "windows", 0), 14);

	ck_assert_int_eq(ask_get(&k, "/api/v1/deploys?service=llm-decode"), 200);
	ck_assert_uint_eq(ask_items(&k), 2);
	ck_assert(str_eq(text(ask_item(&k, 0), "deploy"), STR("v42")));
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "first_ns", 0), v42_start);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 1), "windows", 0), 30);
}
END_TEST

START_TEST(a_deploy_dated_ahead_of_the_clock_is_listed_and_not_the_newest)
{
	int64_t ahead_ns = ask_now() + NS_PER_HOUR;

	fleet_put(&k.fleet, "llm-decode", "v99", "trn-1", ahead_ns, FLEET_FUSED);
	fleet_put(&k.fleet, "ranker", "r1", "trn-1", ahead_ns, FLEET_FUSED);
	ck_assert_int_eq(ask_get(&k, "/api/v1/services"), 200);
	ck_assert_uint_eq(ask_items(&k), 2);
	ck_assert(str_eq(text(ask_item(&k, 0), "deploy"), STR("v42")));
	ck_assert(str_eq(text(ask_item(&k, 1), "deploy"), STR("r1"))); /* there is no other */
	ck_assert_int_eq(ask_get(&k, "/api/v1/hosts?service=llm-decode"), 200);
	ck_assert(str_eq(text(ask_item(&k, 0), "deploy"), STR("v42")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/deploys?service=llm-decode"), 200);
	ck_assert(str_eq(text(ask_item(&k, 0), "deploy"), STR("v99")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/compare?service=llm-decode"), 200);
	ck_assert(str_eq(text(json_get(k.json, "after"), "deploy"), STR("v42")));
	ck_assert(str_eq(text(json_get(k.json, "before"), "deploy"), STR("v41")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/compare?service=llm-decode&after=v99"), 200);
	ck_assert(str_eq(text(json_get(k.json, "after"), "deploy"), STR("v99")));
	ck_assert_int_eq(json_get_i64(json_get(k.json, "after"), "windows", 0), 1);
	fleet_put(&k.fleet, "llm-decode", "v99", "trn-1", ask_now() + 3650 * NS_PER_DAY, FLEET_FUSED);
	ck_assert_int_eq(ask_get(&k, "/api/v1/trend?op=aten::mm"), 200); /* the range is not ten years */
	ck_assert_int_eq(json_get_i64(k.json, "to_ns", 0), ask_now() + 10 * NS_PER_MIN);
	ck_assert_int_eq(ask_get(&k, "/api/v1/trend?op=aten::mm&to=2100-01-01T00:00:00Z&resolution=1d"), 200);
	ck_assert_uint_ge(ask_items(&k), 2);
	ask_later_ns += 2 * NS_PER_HOUR;
	ck_assert_int_eq(ask_get(&k, "/api/v1/services"), 200);
	ck_assert(str_eq(text(ask_item(&k, 0), "deploy"), STR("v99")));
}
END_TEST

START_TEST(windows_come_in_pages_that_hold_each_once)
{
	char path[400] = "/api/v1/windows?limit=10&order=oldest";
	size_t seen = 0;
	int64_t last_ns = 0;

	for (int page = 0; page < 10; page++) {
		struct str next;

		ck_assert_msg(ask_get(&k, path) == 200, "%s", k.rp.body.p);
		for (size_t i = 0; i < ask_items(&k); i++) {
			int64_t at = json_get_i64(ask_item(&k, i), "start_ns", 0);

			ck_assert_int_gt(at, last_ns);
			last_ns = at;
			seen++;
		}
		next = text(k.json, "next");
		if (str_empty(next))
			break;
		snprintf(path, sizeof(path), "/api/v1/windows?limit=10&order=oldest&cursor=%.*s", STR_ARG(next));
	}
	ck_assert_uint_eq(seen, 42);
}
END_TEST

START_TEST(windows_can_be_narrowed)
{
	ck_assert_int_eq(ask_get(&k, "/api/v1/windows?host=trn-2&deploy=v42"), 200);
	ck_assert_uint_eq(ask_items(&k), 4);
	ck_assert_int_gt(json_get_i64(ask_item(&k, 0), "start_ns", 0), json_get_i64(ask_item(&k, 1), "start_ns", 0));
	ck_assert_int_eq(ask_get(&k, "/api/v1/windows?from=2026-11-01T10:00:00Z&to=2026-11-01T11:00:00Z"), 200);
	ck_assert_uint_eq(ask_items(&k), 3);
}
END_TEST

START_TEST(one_window_is_shown_whole)
{
	char path[100];
	const struct json_node *ops, *step;

	ck_assert_int_eq(ask_get(&k, "/api/v1/windows?limit=1"), 200);
	snprintf(path, sizeof(path), "/api/v1/windows/%.*s", STR_ARG(text(ask_item(&k, 0), "id")));
	ck_assert_int_eq(ask_get(&k, path), 200);
	ck_assert(str_eq(text(k.json, "deploy"), STR("v42")));
	ck_assert(json_get_bool(k.json, "has_device", false));
	ops = json_get(k.json, "ops");
	ck_assert_uint_eq(ops->n, 8);
	step = &ops->items[0];
	ck_assert(str_eq(text(step, "kind"), STR("step")));
	ck_assert(str_eq(text(step, "basis"), STR("cpu")));
	ck_assert_int_eq(json_get_i64(step, "calls", 0), FLEET_STEPS);
	ck_assert_uint_eq(json_get(step, "histogram")->n, 1);
	ck_assert_int_eq(json_get_i64(&json_get(step, "histogram")->items[0].items[1], "", -1), -1);

	ck_assert_int_eq(ask_get(&k, "/api/v1/windows/00000000000000000000000000000000"), 404);
	ck_assert_int_eq(ask_get(&k, "/api/v1/windows/hello"), 404);
}
END_TEST

START_TEST(top_orders_ops_by_time_and_shares_add_up)
{
	double shares = 0;
	const struct json_node *totals;

	ck_assert_int_eq(ask_get(&k, "/api/v1/top?deploy=v42&limit=100"), 200);
	ck_assert_uint_eq(ask_items(&k), 6);
	ck_assert(str_eq(text(ask_item(&k, 0), "op"), STR("aten::mm")));
	ck_assert(str_eq(text(ask_item(&k, 1), "op"), STR("aten::mul")));
	ck_assert_double_eq_tol(json_get_double(ask_item(&k, 1), "calls_per_step", 0), 3, 1e-9);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 1), "time_per_step_ns", 0), 1164498); /* 3 calls of 388166 ns */
	for (size_t i = 0; i < ask_items(&k); i++)
		shares += json_get_double(ask_item(&k, i), "share", 0);
	ck_assert_double_eq_tol(shares, 1, 1e-9);
	totals = json_get(k.json, "totals");
	ck_assert_int_eq(json_get_i64(totals, "windows", 0), 12);
	ck_assert_int_eq(json_get_i64(totals, "steps", 0), 12 * FLEET_STEPS);

	ck_assert_int_eq(ask_get(&k, "/api/v1/top?deploy=v42&limit=2"), 200);
	ck_assert(str_eq(text(k.json, "next"), STR("2")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/top?deploy=v42&limit=2&cursor=4"), 200);
	ck_assert_uint_eq(ask_items(&k), 2);
	ck_assert_int_eq(json_get(k.json, "next")->kind, JSON_K_NULL);
	ck_assert_int_eq(ask_get(&k, "/api/v1/top?deploy=v42&cursor=400"), 200);
	ck_assert_uint_eq(ask_items(&k), 0);
}
END_TEST

START_TEST(top_can_ask_for_one_op_or_kind_and_keeps_its_share_of_all)
{
	ck_assert_int_eq(ask_get(&k, "/api/v1/top?deploy=v42&op=aten%3A%3Amul"), 200);
	ck_assert_uint_eq(ask_items(&k), 1);
	ck_assert_double_lt(json_get_double(ask_item(&k, 0), "share", 1), 0.2);
	ck_assert_int_eq(ask_get(&k, "/api/v1/top?deploy=v42&kind=step"), 200);
	ck_assert_uint_eq(ask_items(&k), 1);
	ck_assert_int_eq(json_get(ask_item(&k, 0), "share")->kind, JSON_K_NULL);
	ck_assert_int_eq(ask_get(&k, "/api/v1/top?service=nobody"), 200);
	ck_assert_uint_eq(ask_items(&k), 0);
}
END_TEST

/* Both have no self time that counts: a step is all of its host time, a gap all of the device's. */
static void same_time_everywhere(const char *kind, int64_t least_ns, int64_t most_ns)
{
	char path[200];
	const struct json_node *row;
	int64_t ns;

	snprintf(path, sizeof(path), "/api/v1/top?deploy=v42&kind=%s", kind);
	ck_assert_int_eq(ask_get(&k, path), 200);
	row = ask_item(&k, 0);
	ns = json_get_i64(row, "time_per_step_ns", -1);
	ck_assert_msg(ns >= least_ns && ns <= most_ns, "%s: %lld", kind, (long long)ns);
	ck_assert_int_eq(json_get_i64(row, "time_ns", -1), ns * json_get_i64(row, "calls", 0));
	ck_assert_int_eq(json_get_i64(row, "max_ns", -1), ns);
	snprintf(path, sizeof(path), "/api/v1/trend?deploy=v42&kind=%s&op=%s", kind,
		str_eq(str_of(kind), STR("gap")) ? "device" : "ProfilerStep%23*");
	ck_assert_int_eq(ask_get(&k, path), 200);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "time_per_step_ns", -1), ns);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "mean_ns", -1), ns);
}

START_TEST(a_step_and_a_gap_count_with_all_their_time)
{
	same_time_everywhere("gap", FLEET_GAP_NS, FLEET_GAP_NS);
	same_time_everywhere("step", 5000000, 9000000);
}
END_TEST

START_TEST(a_trend_has_points_and_the_deploys_that_began_in_it)
{
	const struct json_node *deploys;

	ck_assert_int_eq(ask_get(&k, "/api/v1/trend?op=aten%3A%3A_fused_rms_norm&service=llm-decode&resolution=1h"), 200);
	ck_assert_int_eq(json_get_i64(k.json, "resolution_ns", 0), NS_PER_HOUR);
	ck_assert_uint_eq(ask_items(&k), 14);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "t_ns", 0), FLEET_START);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "windows", 0), 3);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "mean_ns", 0), 403300);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "time_per_step_ns", 0), 403300);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 13), "calls", -1), 0);
	deploys = json_get(k.json, "deploys");
	ck_assert_uint_eq(deploys->n, 2);
	ck_assert(str_eq(text(&deploys->items[0], "deploy"), STR("v41")));
	ck_assert_int_eq(json_get_i64(&deploys->items[1], "first_ns", 0), v42_start);

	ck_assert_int_eq(ask_get(&k, "/api/v1/trend?op=aten%3A%3Amm&from=2026-11-01T05:00:00Z&to=2026-11-01T08:00:00Z&resolution=1h"),
		200);
	ck_assert_uint_eq(ask_items(&k), 3);
	ck_assert_uint_eq(json_get(k.json, "deploys")->n, 0);
	/* as many points as the range has nanoseconds would never end */
	ck_assert_int_eq(ask_get(&k, "/api/v1/trend?op=aten%3A%3Amm&resolution=1ns"), 200);
	ck_assert_int_eq(ask_get(&k, "/api/v1/trend?op=nothing&service=nobody"), 200);
	ck_assert_uint_eq(ask_items(&k), 0);
}
END_TEST

START_TEST(compare_tells_that_the_newest_deploy_lost_fusion)
{
	const struct json_node *finding, *row;

	ck_assert_msg(ask_get(&k, "/api/v1/compare?service=llm-decode") == 200, "%s", k.rp.body.p);
	ck_assert(str_eq(text(k.json, "verdict"), STR("fusion_lost")));
	ck_assert(json_get_bool(k.json, "regression", false));
	ck_assert(str_eq(text(json_get(k.json, "before"), "deploy"), STR("v41")));
	ck_assert_int_eq(json_get_i64(json_get(k.json, "before"), "windows", 0), 30);
	ck_assert_int_eq(json_get_i64(json_get(k.json, "after"), "hosts", 0), 3);
	finding = &json_get(k.json, "findings")->items[0];
	ck_assert(str_eq(text(finding, "op"), STR("aten::_fused_rms_norm")));
	ck_assert_double_eq_tol(after(finding, "calls_per_step"), 0, 1e-9);
	row = &json_get(k.json, "rows")->items[0];
	ck_assert(str_eq(text(row, "op"), STR("aten::mul")));
	ck_assert_double_eq_tol(before(row, "calls_per_step"), 0, 1e-9);
	ck_assert_double_eq_tol(after(row, "calls_per_step"), 3, 1e-9);
	ck_assert_double_eq_tol(after(row, "time_per_step_ns"), 1164498, 0.5);

	/* the other way round it is a gain */
	ck_assert_int_eq(ask_get(&k, "/api/v1/compare?service=llm-decode&before=v42&after=v41"), 200);
	ck_assert(!json_get_bool(k.json, "regression", true));
	ck_assert_int_eq(ask_get(&k, "/api/v1/compare?service=llm-decode&limit=1"), 200);
	ck_assert_uint_eq(json_get(k.json, "rows")->n, 1);
}
END_TEST

/* ---- numbers at the edge of 64 bits, which a window may have */

static void put_huge(const char *deploy, int64_t start_ns)
{
	struct op_summary ops[2] = {
		{ .kind = OP_CPU_OP, .name = STR("aten::mm"), .calls = 4, .device_total_ns = INT64_MAX / 2, .device_self_ns = INT64_MAX / 2 },
		{ .kind = OP_CPU_OP, .name = STR("aten::mul"), .calls = 4, .device_total_ns = INT64_MAX / 2, .device_self_ns = INT64_MAX / 2 },
	};
	struct window w = { .service = STR("huge"), .deploy = str_of(deploy), .host = STR("h"), .source = STR("watch"), .has_device = true,
		.start_ns = start_ns, .dur_ns = 1, .steps = 1, .steps_from = STEPS_MARKER, .launches = UINT64_MAX, .ops = ops, .n_ops = 2 };
	struct put_result put = { 0 };
	struct err e = { 0 };

	for (uint8_t i = 0; i < 4; i++) {
		uint64_t id = ++k.fleet.windows;

		memcpy(w.id, &id, sizeof(id));
		w.start_ns += NS_PER_MIN;
		ck_assert_msg(store_put(k.fleet.store, &w, 1, &put, &e) == OK, "%s", e.text);
	}
}

static void no_negative(const struct json_node *n)
{
	double v = 0;

	if (n->kind == JSON_K_NUMBER)
		ck_assert_msg(str_to_double(n->text, &v) == OK && v >= 0, "%.*s: %.*s", STR_ARG(n->key), STR_ARG(n->text));
	for (size_t i = 0; i < n->n; i++)
		if (n->kind == JSON_K_ARRAY || n->kind == JSON_K_OBJECT)
			no_negative(&n->items[i]);
}

START_TEST(sums_that_do_not_fit_are_shown_as_the_largest)
{
	static const char *const paths[] = { "/api/v1/top?service=huge", "/api/v1/trend?service=huge&op=aten::mm&resolution=1h",
		"/api/v1/compare?service=huge", "/api/v1/services", "/api/v1/windows?service=huge" };

	put_huge("v1", FLEET_START);
	put_huge("v2", FLEET_START + NS_PER_HOUR);
	for (size_t i = 0; i < COUNT(paths); i++) {
		ck_assert_msg(ask_get(&k, paths[i]) == 200, "%s: %s", paths[i], ask_detail(&k));
		no_negative(k.json);
	}
	ck_assert_int_eq(ask_get(&k, "/api/v1/top?service=huge"), 200);
	ck_assert(json_get_i64(json_get(k.json, "totals"), "time_ns", 0) == INT64_MAX);
}
END_TEST

START_TEST(compare_says_what_is_missing)
{
	ck_assert_int_eq(ask_get(&k, "/api/v1/compare?service=nobody"), 404);
	ck_assert_int_eq(ask_get(&k, "/api/v1/compare?service=llm-decode&after=v99"), 404);
	ck_assert(str_contains(str_of(ask_detail(&k)), STR("v99")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/compare?service=llm-decode&after=v41"), 404);
	ck_assert(str_contains(str_of(ask_detail(&k)), STR("before v41")));
}
END_TEST

START_TEST(alerts_are_listed_and_shown)
{
	struct alert al = { .state = ALERT_FIRING, .kind = VERDICT_FUSION_LOST, .service = STR("llm-decode"), .deploy = STR("v42"),
		.deploy_before = STR("v41"), .op = STR("aten::_fused_rms_norm"), .sentence = STR("it was one call"),
		.started_ns = v42_start, .fired_ns = ask_now(), .updated_ns = ask_now(), .evidence = STR("{\"verdict\":\"fusion_lost\"}") };
	struct err e = { 0 };
	char path[100];

	alert_id(al.kind, al.service, al.deploy, al.op, &k.arena, &al.id);
	snprintf(path, sizeof(path), "/api/v1/alerts/%.*s", STR_ARG(al.id));
	ck_assert_msg(store_put_alert(k.fleet.store, &al, &e) == OK, "%s", e.text);
	ck_assert_int_eq(ask_get(&k, "/api/v1/alerts"), 200);
	ck_assert_uint_eq(ask_items(&k), 1);
	ck_assert_int_eq(ask_get(&k, "/api/v1/alerts?state=resolved"), 200);
	ck_assert_uint_eq(ask_items(&k), 0);
	ck_assert_int_eq(ask_get(&k, "/api/v1/alerts?state=firing&service=llm-decode&deploy=v42"), 200);
	ck_assert_uint_eq(ask_items(&k), 1);
	ck_assert_int_eq(ask_get(&k, path), 200);
	ck_assert(str_eq(text(k.json, "state"), STR("firing")));
	ck_assert(str_eq(text(json_get(k.json, "evidence"), "verdict"), STR("fusion_lost")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/alerts/none"), 404);
}
END_TEST

Suite *suite_ask(void)
{
	Suite *s = suite_create("api/ask");
	TCase *tc = tcase_create("ask");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, services_hosts_and_deploys_are_listed);
	tcase_add_test(tc, a_deploy_dated_ahead_of_the_clock_is_listed_and_not_the_newest);
	tcase_add_test(tc, windows_come_in_pages_that_hold_each_once);
	tcase_add_test(tc, windows_can_be_narrowed);
	tcase_add_test(tc, one_window_is_shown_whole);
	tcase_add_test(tc, top_orders_ops_by_time_and_shares_add_up);
	tcase_add_test(tc, top_can_ask_for_one_op_or_kind_and_keeps_its_share_of_all);
	tcase_add_test(tc, a_step_and_a_gap_count_with_all_their_time);
	tcase_add_test(tc, a_trend_has_points_and_the_deploys_that_began_in_it);
	tcase_add_test(tc, compare_tells_that_the_newest_deploy_lost_fusion);
	tcase_add_test(tc, sums_that_do_not_fit_are_shown_as_the_largest);
	tcase_add_test(tc, compare_says_what_is_missing);
	tcase_add_test(tc, alerts_are_listed_and_shown);
	suite_add_tcase(s, tc);
	return s;
}
