#include "daemon/tick.h"

#include "tests/support/fleet.h"

Suite *suite_tick(void);

static struct fleet f;
static struct api *api;
static struct notify *notify;
static struct tick *tick;
static struct arena arena;
static struct alert_list alerts;
static struct desk *desk; /* in the tests that have one */
static _Atomic int64_t now_ns = FLEET_START + 30 * NS_PER_DAY;

static const int64_t v42_start = FLEET_START + 10 * NS_PER_HOUR, v43_start = FLEET_START + 20 * NS_PER_HOUR;

static int64_t clock_of_test(void)
{
	return ++now_ns;
}

static void begin_tick(void)
{
	struct tick_settings set = { NS_PER_MIN, 0, 3, 2, 50, desk != NULL, NS_PER_HOUR };
	struct tick_parts parts = { f.store, api, notify, f.metrics, clock_of_test, desk };

	tick = tick_new(&parts, &set);
}

static void start(void)
{
	struct api_settings as = { .wall_ns = clock_of_test };
	struct notify_settings ns = { .url = "", .token_file = "", .ca_file = "", .tries = 1 };
	struct fusion_table *table = NULL;
	struct err e = { 0 };
	char path[100];

	fleet_open(&f);
	as.store = f.store;
	api = api_new(&as);
	ck_assert_int_eq(fusion_table_new(&table, &e), OK);
	ck_assert_int_eq(api_set_fusion(api, &table, &e), OK);
	snprintf(path, sizeof(path), "%s/notified", f.dir);
	ck_assert_msg(notify_open(&notify, &ns, path, f.metrics, &e) == OK, "%s", e.text);
	arena_init(&arena, 16 << 20);
	begin_tick();
}

static void start_desk(void)
{
	struct desk_settings ds = { .now_ns = clock_of_test, .limits = { 16, 100, 16, 10 * NS_PER_S, 10 * NS_PER_MIN } };
	struct err e = { 0 };

	start();
	ds.store = f.store;
	ck_assert_msg(desk_open(&desk, &ds, &e) == OK, "%s", e.text);
	tick_close(tick);
	begin_tick();
	now_ns += NS_PER_MIN; /* long enough for all agents to be known */
}

static void stop(void)
{
	tick_close(tick);
	desk_close(desk);
	desk = NULL;
	notify_close(notify);
	api_free(api);
	arena_fini(&arena);
	fleet_close(&f);
}

/* One round; then how many alerts there are, in whatever state. */
static size_t round_and_count(void)
{
	struct query q = { .to_ns = INT64_MAX, .limit = 100, .newest_first = true };
	struct err e = { 0 };

	ck_assert_msg(tick_round(tick, &e) == OK, "%s", e.text);
	memset(&alerts, 0, sizeof(alerts));
	ck_assert_int_eq(store_alerts(f.store, &q, true, ALERT_FIRING, &arena, &alerts, &e), OK);
	return alerts.n;
}

static double metric(const char *name)
{
	return metric_value(metric_counter(f.metrics, name, NULL, ""));
}

START_TEST(lost_fusion_fires_on_the_second_window_of_a_host)
{
	fleet_deploy(&f, "v41", FLEET_START, 3, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 1, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 0); /* one window each of three hosts */
	fleet_put(&f, "llm-decode", "v42", "trn-1", v42_start + NS_PER_HOUR, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	ck_assert_int_eq(alerts.v[0].kind, VERDICT_FUSION_LOST);
	ck_assert(str_eq(alerts.v[0].service, STR("llm-decode")));
	ck_assert(str_eq(alerts.v[0].deploy, STR("v42")));
	ck_assert(str_eq(alerts.v[0].deploy_before, STR("v41")));
	ck_assert(str_eq(alerts.v[0].op, STR("aten::_fused_rms_norm")));
	ck_assert_int_eq(alerts.v[0].started_ns, v42_start);
	ck_assert_uint_eq(alerts.v[0].n_hosts, 3);
	ck_assert_uint_eq(alerts.v[0].windows_before, 9);
	ck_assert_uint_eq(alerts.v[0].windows_after, 4);
	ck_assert(str_contains(alerts.v[0].evidence, STR("\"verdict\":\"fusion_lost\"")));
	ck_assert(!str_empty(alerts.v[0].sentence));
}
END_TEST

START_TEST(too_little_of_either_deploy_is_not_judged)
{
	/* two windows before */
	fleet_put(&f, "llm-decode", "v41", "trn-1", FLEET_START, FLEET_FUSED);
	fleet_put(&f, "llm-decode", "v41", "trn-1", FLEET_START + NS_PER_HOUR, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 0);
	fleet_deploy(&f, "v42", v42_start, 3, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 0);
	/* the third, back-dated: it is enough now */
	fleet_put(&f, "llm-decode", "v41", "trn-2", FLEET_START + NS_PER_MIN, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
}
END_TEST

START_TEST(forty_steps_are_too_few)
{
	fleet_deploy(&f, "v41", FLEET_START, 3, FLEET_FUSED);
	fleet_put(&f, "llm-decode", "v42", "trn-1", v42_start, FLEET_EAGER);
	fleet_put(&f, "llm-decode", "v42", "trn-1", v42_start + NS_PER_HOUR, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 0);
	fleet_put(&f, "llm-decode", "v42", "trn-2", v42_start + NS_PER_HOUR, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
}
END_TEST

START_TEST(deploys_are_ordered_by_their_windows_and_not_by_arrival)
{
	fleet_deploy(&f, "v42", v42_start, 3, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 0);
	fleet_deploy(&f, "v41", FLEET_START, 3, FLEET_FUSED); /* arrives later, is older */
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert(str_eq(alerts.v[0].deploy, STR("v42")));
}
END_TEST

START_TEST(an_improvement_is_no_alert)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_EAGER);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 0);
	ck_assert_double_eq(metric("trainspotter_detect_judgements_total"), 1);
}
END_TEST

START_TEST(more_windows_update_the_alert_and_do_not_repeat_it)
{
	int64_t fired_ns;

	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 2, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	fired_ns = alerts.v[0].fired_ns;
	fleet_deploy(&f, "v42", v42_start + 2 * NS_PER_HOUR, 3, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_uint_eq(alerts.v[0].windows_after, 15);
	ck_assert_int_eq(alerts.v[0].fired_ns, fired_ns);
	ck_assert_int_gt(alerts.v[0].updated_ns, fired_ns);
	ck_assert_double_eq(metric("trainspotter_alerts_fired_total"), 1);
}
END_TEST

START_TEST(a_fleet_of_more_hosts_than_are_judged_fires_too_and_names_them_all)
{
	char host[16];

	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	for (int h = 0; h < 2; h++) {
		ck_assert_uint_eq(round_and_count(), 0);
		for (int i = 0; i < 100; i++) {
			snprintf(host, sizeof(host), "host-%d", i);
			fleet_put(&f, "llm-decode", "v42", host, v42_start + h * NS_PER_HOUR + i * NS_PER_S, FLEET_EAGER);
		}
	}
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_uint_eq(alerts.v[0].windows_after, 64);
	ck_assert_uint_eq(alerts.v[0].n_hosts, 100);
}
END_TEST

START_TEST(nothing_new_is_not_judged_again)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	for (int i = 0; i < 5; i++)
		ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_double_eq(metric("trainspotter_detect_judgements_total"), 1);
}
END_TEST

START_TEST(a_restart_keeps_the_alert_as_it_is)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	tick_close(tick);
	begin_tick();
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_double_eq(metric("trainspotter_alerts_fired_total"), 1);
}
END_TEST

START_TEST(a_later_deploy_that_is_fused_again_resolves_it)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	fleet_deploy(&f, "v43", v43_start, 1, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING); /* too early to say */
	fleet_deploy(&f, "v43", v43_start + NS_PER_HOUR, 2, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
	ck_assert_int_gt(alerts.v[0].resolved_ns, alerts.v[0].fired_ns);
}
END_TEST

START_TEST(a_later_deploy_that_has_it_too_does_not)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	fleet_deploy(&f, "v43", v43_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	ck_assert(str_eq(alerts.v[0].deploy, STR("v42")));
}
END_TEST

START_TEST(a_rollback_resolves_it_and_it_stays_resolved)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	fleet_deploy(&f, "v41", v43_start, 1, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	fleet_deploy(&f, "v41", v43_start + NS_PER_HOUR, 1, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
	fleet_deploy(&f, "v41", v43_start + 2 * NS_PER_HOUR, 2, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
	ck_assert_double_eq(metric("trainspotter_alerts_fired_total"), 1);
}
END_TEST

/* v42 on one host of ten, hour by hour; the others go on with v41. Half a minute lies between hosts. */
static void put_canary_hour(int hour, bool canary_came, int others)
{
	char host[16];

	for (int i = 0; i < others; i++) {
		snprintf(host, sizeof(host), "trn-%d", i + 2);
		fleet_put(&f, "llm-decode", "v41", host, v42_start + hour * NS_PER_HOUR + (i + 1) * NS_PER_MIN / 2, FLEET_FUSED);
	}
	if (canary_came)
		fleet_put(&f, "llm-decode", "v42", "trn-1", v42_start + hour * NS_PER_HOUR, FLEET_EAGER);
}

START_TEST(a_canary_whose_window_is_late_is_not_rolled_back)
{
	fleet_put(&f, "llm-decode", "v41", "trn-1", v42_start - NS_PER_HOUR, FLEET_FUSED);
	for (int hour = 0; hour < 3; hour++)
		put_canary_hour(hour, true, 9);
	ck_assert_uint_eq(round_and_count(), 1);
	for (int hour = 3; hour < 6; hour++) {
		put_canary_hour(hour, false, 4); /* these were quicker: each has two behind the canary's last */
		ck_assert_uint_eq(round_and_count(), 1);
		ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
		fleet_put(&f, "llm-decode", "v42", "trn-1", v42_start + hour * NS_PER_HOUR, FLEET_EAGER);
		ck_assert_uint_eq(round_and_count(), 1);
	}
	ck_assert_double_eq(metric("trainspotter_alerts_fired_total"), 1);
	ck_assert_double_eq(metric("trainspotter_alerts_resolved_total"), 0);
}
END_TEST

START_TEST(a_canary_that_is_silent_for_long_is_over)
{
	fleet_put(&f, "llm-decode", "v41", "trn-1", v42_start - NS_PER_HOUR, FLEET_FUSED);
	for (int hour = 0; hour < 3; hour++)
		put_canary_hour(hour, true, 9);
	ck_assert_uint_eq(round_and_count(), 1);
	for (int hour = 3; hour < 5; hour++)
		put_canary_hour(hour, false, 9);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
}
END_TEST

START_TEST(a_canary_that_is_back_on_the_deploy_before_is_over_at_once)
{
	fleet_put(&f, "llm-decode", "v41", "trn-1", v42_start - NS_PER_HOUR, FLEET_FUSED);
	for (int hour = 0; hour < 3; hour++)
		put_canary_hour(hour, true, 9);
	ck_assert_uint_eq(round_and_count(), 1);
	fleet_put(&f, "llm-decode", "v41", "trn-1", v42_start + 3 * NS_PER_HOUR, FLEET_FUSED);
	put_canary_hour(3, false, 9);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
}
END_TEST

START_TEST(a_canary_that_has_had_one_round_only_is_not_rolled_back)
{
	fleet_put(&f, "llm-decode", "v41", "trn-1", v42_start - NS_PER_HOUR, FLEET_FUSED);
	put_canary_hour(-1, false, 9);
	fleet_put_worker(&f, "llm-decode", "v42", "trn-1", "0", v42_start, FLEET_EAGER);
	fleet_put_worker(&f, "llm-decode", "v42", "trn-1", "1", v42_start + NS_PER_S, FLEET_EAGER);
	fleet_put_worker(&f, "llm-decode", "v42", "trn-1", "2", v42_start + 2 * NS_PER_S, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	put_canary_hour(0, false, 9);
	put_canary_hour(1, false, 4); /* these were quicker */
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	for (int hour = 2; hour < 5; hour++)
		put_canary_hour(hour, false, 9);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
}
END_TEST

START_TEST(a_window_of_long_ago_makes_no_spacing_that_wraps)
{
	static const char *const hosts[] = { "a", "b", "c", "d", "e", "g", "h", "i", "j", "k" };

	fleet_put(&f, "llm-decode", "v41", "trn-1", v42_start - NS_PER_HOUR, FLEET_FUSED);
	put_canary_hour(-1, false, 9);
	for (size_t i = 0; i < COUNT(hosts); i++)
		fleet_put(&f, "llm-decode", "v42", hosts[i], v42_start, FLEET_EAGER);
	fleet_put(&f, "llm-decode", "v42", "a", v42_start + NS_PER_MIN, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	fleet_put(&f, "llm-decode", "v41", "trn-2", NS_PER_DAY, FLEET_FUSED); /* clocks that were never set */
	fleet_put(&f, "llm-decode", "v42", "b", 2 * NS_PER_DAY, FLEET_EAGER);
	put_canary_hour(1, false, 9);
	put_canary_hour(2, false, 9);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
}
END_TEST

/* ---- a verdict that comes and goes */

static void put_many(int from_minute, enum fleet_code code)
{
	for (int i = 0; i < 70; i++) /* more than are judged */
		fleet_put(&f, "llm-decode", "v42", "trn-1", v42_start + (from_minute + i) * NS_PER_MIN, code);
}

START_TEST(what_did_not_hold_does_not_fire_again_for_an_hour)
{
	double judgements;

	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	put_many(0, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	put_many(100, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
	for (int i = 2; i < 6; i++) {
		put_many(i * 100, i % 2 == 0 ? FLEET_EAGER : FLEET_FUSED);
		ck_assert_uint_eq(round_and_count(), 1);
		ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
	}
	ck_assert_double_eq(metric("trainspotter_alerts_fired_total"), 1);
	put_many(600, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
	judgements = metric("trainspotter_detect_judgements_total");
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_double_eq(metric("trainspotter_detect_judgements_total"), judgements); /* rounds may come every second */
	now_ns += NS_PER_HOUR; /* nothing new is needed: it was only put off */
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	ck_assert_double_eq(metric("trainspotter_alerts_fired_total"), 2);
}
END_TEST

START_TEST(a_clock_that_is_set_back_does_not_make_the_hour_longer)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	put_many(0, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	put_many(100, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
	now_ns -= 3 * NS_PER_DAY;
	put_many(200, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	now_ns += 3 * NS_PER_DAY;
}
END_TEST

START_TEST(an_alert_of_a_service_that_is_gone_expires)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	now_ns += 13 * NS_PER_DAY;
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	now_ns += 2 * NS_PER_DAY;
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_EXPIRED);
	ck_assert_int_gt(alerts.v[0].resolved_ns, alerts.v[0].fired_ns);
	tick_close(tick);
	begin_tick();
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_EXPIRED); /* a restart does not raise it */
	fleet_deploy(&f, "v42", now_ns - NS_PER_DAY, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING); /* it was not gone after all */
}
END_TEST

START_TEST(many_alerts_of_services_that_are_gone_all_expire)
{
	struct query q = { .to_ns = INT64_MAX, .limit = 1000 };
	struct alert al = { .state = ALERT_FIRING, .kind = VERDICT_FUSION_LOST, .deploy = STR("v2"), .deploy_before = STR("v1"),
		.started_ns = FLEET_START, .fired_ns = FLEET_START, .updated_ns = FLEET_START };
	struct err e = { 0 };

	for (unsigned i = 0; i < 250; i++) {
		al.service = arena_fmt(&arena, "gone-%u", i);
		alert_id(al.kind, al.service, al.deploy, al.op, &arena, &al.id);
		ck_assert_msg(store_put_alert(f.store, &al, &e) == OK, "%s", e.text);
	}
	round_and_count();
	ck_assert_int_eq(store_alerts(f.store, &q, false, ALERT_FIRING, &arena, &alerts, &e), OK);
	ck_assert_uint_eq(alerts.n, 0);
	ck_assert_double_eq(metric("trainspotter_alerts_expired_total"), 250);
}
END_TEST

START_TEST(an_alert_that_nothing_can_resolve_any_more_expires)
{
	struct store_settings s = { .dir = f.dir, .metrics = f.metrics, .retention_raw_ns = NS_PER_DAY };
	struct err e = { 0 };

	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	now_ns += 15 * NS_PER_DAY;
	fleet_deploy(&f, "v43", now_ns - NS_PER_DAY, 4, FLEET_EAGER); /* it has it, too: the alert is not judged itself */
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	tick_close(tick);
	store_close(f.store);
	ck_assert_msg(store_open_sqlite(&f.store, &s, &e) == OK, "%s", e.text);
	begin_tick();
	ck_assert_int_eq(store_housekeep(f.store, v42_start + NS_PER_DAY, &e), OK); /* which takes v41 */
	now_ns += 2 * NS_PER_HOUR;
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_EXPIRED);
}
END_TEST

START_TEST(an_alert_that_windows_still_come_for_does_not_expire)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	for (int week = 0; week < 5; week++) { /* back-dated ones, which is all the same */
		now_ns += 7 * NS_PER_DAY;
		fleet_deploy(&f, "v42", v42_start + (5 + week) * NS_PER_HOUR, 1, FLEET_EAGER);
		ck_assert_uint_eq(round_and_count(), 1);
		ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	}
}
END_TEST

/* Every minute, with the name of a deploy that no window with ops has, and of those that there are. */
static void put_reports(int64_t from_ns, int64_t to_ns)
{
	static const char *const deploys[] = { "v41", "v42", "v99", "" };

	fleet_reports(&f, deploys, COUNT(deploys), "trn-1", from_ns, to_ns);
}

START_TEST(reports_of_gauges_neither_hide_a_regression_nor_bring_one_forward)
{
	fleet_deploy(&f, "v41", FLEET_START, 3, FLEET_FUSED);
	put_reports(FLEET_START, FLEET_START + 12 * NS_PER_HOUR);
	fleet_deploy(&f, "v42", v42_start, 1, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 0); /* one window each of three hosts, whatever the reports */
	fleet_put(&f, "llm-decode", "v42", "trn-1", v42_start + NS_PER_HOUR, FLEET_EAGER);
	put_reports(v42_start + 2 * NS_PER_HOUR, v43_start);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert(str_eq(alerts.v[0].deploy, STR("v42")));
	ck_assert(str_eq(alerts.v[0].deploy_before, STR("v41")));
	ck_assert_int_eq(alerts.v[0].started_ns, v42_start);
	ck_assert_uint_eq(alerts.v[0].windows_before, 9);
	ck_assert_uint_eq(alerts.v[0].windows_after, 4);
	ck_assert_uint_eq(alerts.v[0].n_hosts, 3);
	put_reports(v43_start, v43_start + NS_PER_HOUR); /* of v41, too: no rollback */
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	ck_assert_double_eq(metric("trainspotter_detect_judgements_total"), 1);
}
END_TEST

START_TEST(a_window_dated_ahead_of_the_clock_waits_for_its_time)
{
	int64_t ahead_ns = now_ns + 365 * NS_PER_DAY;

	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_put(&f, "llm-decode", "v0", "trn-9", ahead_ns, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	/* nor do windows of the judged deploys that are ahead count, or keep a rollback from being seen */
	fleet_put(&f, "llm-decode", "v42", "trn-1", ahead_ns, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert(str_eq(alerts.v[0].deploy, STR("v42")));
	ck_assert_uint_eq(alerts.v[0].windows_after, 12);
	fleet_deploy(&f, "v41", v43_start, 4, FLEET_FUSED);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_RESOLVED);
	/* when the time has come v0 is the newest */
	now_ns = ahead_ns + NS_PER_DAY;
	for (int i = 0; i < 4; i++)
		fleet_put(&f, "llm-decode", "v0", "trn-9", ahead_ns + i * NS_PER_HOUR, FLEET_EAGER);
	round_and_count();
	ck_assert(metric("trainspotter_detect_judgements_total") >= 2);
}
END_TEST

START_TEST(one_service_does_not_stand_for_another)
{
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	for (int i = 0; i < 4; i++) {
		fleet_put(&f, "other", "a", "trn-9", FLEET_START + i * NS_PER_HOUR, FLEET_EAGER);
		fleet_put(&f, "other", "b", "trn-9", v42_start + i * NS_PER_HOUR, FLEET_EAGER);
	}
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert(str_eq(alerts.v[0].service, STR("llm-decode")));
	ck_assert_double_eq(metric("trainspotter_detect_judgements_total"), 2);
}
END_TEST

static void poll_from(const char *agent, const char *host)
{
	struct lease_worker w = { .source = STR("kineto"), .service = STR("llm-decode"), .worker = STR("0") };
	struct lease_poll p = { .agent = str_of(agent), .host = str_of(host), .workers = &w, .n_workers = 1 };
	struct desk_answer answer;
	struct err e = { 0 };

	ck_assert_msg(desk_poll(desk, &p, &arena, &answer, &e) == OK, "%s", e.text);
}

static size_t captures(struct capture_list *list)
{
	struct query q = { .limit = 100 };
	struct err e = { 0 };

	ck_assert_msg(store_captures(f.store, &q, false, &arena, list, &e) == OK, "%s", e.text);
	return list->n;
}

/* The evidence of the firing alert names its capture, or none. */
static bool names_capture(struct str id)
{
	for (size_t i = 0; i < alerts.n; i++)
		if (alerts.v[i].state == ALERT_FIRING)
			return str_empty(id) ? !str_contains(alerts.v[i].evidence, STR("\"capture\"")) :
					       str_contains(alerts.v[i].evidence, arena_fmt(&arena, "\"capture\":\"%.*s\"", STR_ARG(id)));
	ck_abort_msg("nothing fires");
}

START_TEST(an_alert_that_fires_asks_for_a_capture_of_its_hosts_now_and_then)
{
	struct capture_list list;

	poll_from("00000000000000000000000000000001", "trn-1");
	poll_from("00000000000000000000000000000002", "trn-2");
	poll_from("00000000000000000000000000000009", "trn-9"); /* runs another deploy */
	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_uint_eq(captures(&list), 1);
	ck_assert(str_eq(list.v[0].alert, alerts.v[0].id));
	ck_assert(str_eq(list.v[0].service, STR("llm-decode")));
	ck_assert_uint_eq(list.v[0].n_hosts, 3);
	ck_assert_uint_eq(list.v[0].n_targets, 2);
	ck_assert(str_has_prefix(list.v[0].reason, STR("alert: aten::_fused_rms_norm")));
	ck_assert(names_capture(list.v[0].id));

	/* more evidence for the same alert keeps it and asks for no other */
	fleet_put(&f, "llm-decode", "v42", "trn-1", v42_start + 5 * NS_PER_HOUR, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_uint_eq(captures(&list), 1);
	ck_assert(names_capture(list.v[0].id));

	/* another alert of the service within the hour does without */
	fleet_deploy(&f, "v43", v43_start, 4, FLEET_FUSED);
	round_and_count();
	fleet_deploy(&f, "v44", v43_start + 10 * NS_PER_HOUR, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 2);
	ck_assert_uint_eq(captures(&list), 1);
	ck_assert(names_capture(STR("")));

	/* and one after it does not */
	fleet_deploy(&f, "v45", v43_start + 20 * NS_PER_HOUR, 4, FLEET_FUSED);
	round_and_count();
	now_ns += NS_PER_HOUR;
	poll_from("00000000000000000000000000000001", "trn-1");
	fleet_deploy(&f, "v46", v43_start + 30 * NS_PER_HOUR, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 3);
	ck_assert_uint_eq(captures(&list), 2);
	ck_assert(names_capture(list.v[0].id));
}
END_TEST

START_TEST(an_alert_of_hosts_without_agents_fires_all_the_same)
{
	struct capture_list list;

	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	ck_assert_uint_eq(round_and_count(), 1);
	ck_assert_uint_eq(captures(&list), 0);
	ck_assert(names_capture(STR("")));
}
END_TEST

START_TEST(other_settings_judge_everything_anew)
{
	struct tick_settings strict = { NS_PER_MIN, 0, 3, 10, 50, false, 0 };
	struct tick_settings loose = { 100 * NS_PER_MS, 0, 3, 2, 50, false, 0 };
	struct tick_parts parts = { f.store, api, notify, f.metrics, clock_of_test, desk };
	struct err e = { 0 };

	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);
	fleet_deploy(&f, "v42", v42_start, 4, FLEET_EAGER);
	tick_close(tick);
	ck_assert_int_eq(tick_open(&tick, &parts, &strict, &e), OK);
	for (int i = 0; i < 300 && metric("trainspotter_detect_rounds_total") < 1; i++)
		clock_sleep_ns(10 * NS_PER_MS);
	ck_assert_double_eq(metric("trainspotter_alerts_fired_total"), 0);
	tick_set(tick, &loose);
	for (int i = 0; i < 300 && metric("trainspotter_alerts_fired_total") < 1; i++)
		clock_sleep_ns(10 * NS_PER_MS);
	ck_assert_double_eq(metric("trainspotter_alerts_fired_total"), 1);
}
END_TEST

Suite *suite_tick(void)
{
	Suite *s = suite_create("daemon/tick");
	TCase *tc = tcase_create("tick"), *with_desk = tcase_create("captures");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, lost_fusion_fires_on_the_second_window_of_a_host);
	tcase_add_test(tc, too_little_of_either_deploy_is_not_judged);
	tcase_add_test(tc, forty_steps_are_too_few);
	tcase_add_test(tc, deploys_are_ordered_by_their_windows_and_not_by_arrival);
	tcase_add_test(tc, an_improvement_is_no_alert);
	tcase_add_test(tc, more_windows_update_the_alert_and_do_not_repeat_it);
	tcase_add_test(tc, a_fleet_of_more_hosts_than_are_judged_fires_too_and_names_them_all);
	tcase_add_test(tc, nothing_new_is_not_judged_again);
	tcase_add_test(tc, a_restart_keeps_the_alert_as_it_is);
	tcase_add_test(tc, a_later_deploy_that_is_fused_again_resolves_it);
	tcase_add_test(tc, a_later_deploy_that_has_it_too_does_not);
	tcase_add_test(tc, a_rollback_resolves_it_and_it_stays_resolved);
	tcase_add_test(tc, a_canary_whose_window_is_late_is_not_rolled_back);
	tcase_add_test(tc, a_canary_that_is_silent_for_long_is_over);
	tcase_add_test(tc, a_canary_that_is_back_on_the_deploy_before_is_over_at_once);
	tcase_add_test(tc, a_canary_that_has_had_one_round_only_is_not_rolled_back);
	tcase_add_test(tc, a_window_of_long_ago_makes_no_spacing_that_wraps);
	tcase_add_test(tc, a_clock_that_is_set_back_does_not_make_the_hour_longer);
	tcase_add_test(tc, what_did_not_hold_does_not_fire_again_for_an_hour);
	tcase_add_test(tc, an_alert_of_a_service_that_is_gone_expires);
	tcase_add_test(tc, many_alerts_of_services_that_are_gone_all_expire);
	tcase_add_test(tc, an_alert_that_nothing_can_resolve_any_more_expires);
	tcase_add_test(tc, an_alert_that_windows_still_come_for_does_not_expire);
	tcase_add_test(tc, reports_of_gauges_neither_hide_a_regression_nor_bring_one_forward);
	tcase_add_test(tc, a_window_dated_ahead_of_the_clock_waits_for_its_time);
	tcase_add_test(tc, one_service_does_not_stand_for_another);
	tcase_add_test(tc, other_settings_judge_everything_anew);
	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(with_desk, start_desk, stop);
	tcase_add_test(with_desk, an_alert_that_fires_asks_for_a_capture_of_its_hosts_now_and_then);
	tcase_add_test(with_desk, an_alert_of_hosts_without_agents_fires_all_the_same);
	suite_add_tcase(s, with_desk);
	return s;
}
