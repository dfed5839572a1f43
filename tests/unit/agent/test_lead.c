#include "agent/lead.h"

#include <check.h>
#include <stdio.h>

#include "base/clock.h"
#include "json/tree.h"

Suite *suite_lead(void);

static int64_t now, wall0;
static struct plan_settings settings;
static struct plan *p;
static struct plan_order order;
static struct lead l;
static struct err e;
static struct arena arena;
static struct buf body;

static void setup(void)
{
	settings = (struct plan_settings){ .max_at_once = 2, .duration_ns = 500 * NS_PER_MS };
	schedule_init(&settings.schedule, 5 * NS_PER_MIN, STR("h"));
	now = NS_PER_HOUR;
	wall0 = settings.schedule.offset_ns + 1000000 * settings.schedule.interval_ns - now;
	p = plan_new(&settings);
	lead_init(&l, &(struct lead_settings){ "h1", 12345, 10 * NS_PER_S }, p, false, "");
	err_clear(&e);
	arena_init(&arena, 64 << 20);
	buf_init(&body, LEAD_BODY_MAX);
}

static void teardown(void)
{
	plan_free(p);
	arena_fini(&arena);
	buf_fini(&body);
}

static void see(const char *worker, bool idle)
{
	struct plan_worker w = { .source = "kineto", .service = "llm", .deploy = "v1", .idle = idle };

	snprintf(w.key, sizeof(w.key), "w %s", worker);
	snprintf(w.worker, sizeof(w.worker), "%s", worker);
	plan_seen(p, &w, now, wall0 + now);
}

static bool next(void)
{
	return plan_next(p, "kineto", now, wall0 + now, &order);
}

static const struct json_node *report(void)
{
	const struct json_node *root;

	buf_reset(&body);
	lead_report(&l, now, wall0 + now, &body);
	ck_assert_int_eq(body.rc, OK);
	ck_assert_msg(json_parse(&arena, buf_view(&body), &root, &e) == OK, "%s", e.text);
	return root;
}

static void answer(const char *text)
{
	ck_assert_msg(lead_answer(&l, str_of(text), now, &e) == OK, "%s", e.text);
}

static int64_t last_of_first(void)
{
	return json_get_i64(&json_get(report(), "workers")->items[0], "last_ns", 0);
}

#define LEASE(id, capture, worker, more) \
	"{\"id\":\"" id "\",\"capture\":" capture ",\"source\":\"kineto\",\"service\":\"llm\",\"worker\":\"" worker \
	"\",\"ttl_ns\":60000000000" more "}"
#define ANSWER(leases) "{\"paused\":false,\"reason\":\"\",\"poll_ns\":10000000000,\"leases\":[" leases "]}"

static bool text_is(const struct json_node *n, const char *key, const char *want)
{
	return str_eq(json_get_str(n, key), str_of(want));
}

START_TEST(a_report_tells_of_every_worker)
{
	const struct json_node *root, *w;

	see("0", true);
	see("1", false);
	now += settings.schedule.interval_ns;
	see("0", true);
	see("1", false);
	ck_assert(!next()); /* the daemon leads, from the start */
	root = report();
	ck_assert(text_is(root, "host", "h1"));
	ck_assert(text_is(root, "version", PACKAGE_VERSION));
	ck_assert_int_eq(json_get_i64(root, "start_ns", 0), 12345);
	w = json_get(root, "workers");
	ck_assert_uint_eq(w->n, 2);
	ck_assert(text_is(&w->items[0], "source", "kineto"));
	ck_assert(text_is(&w->items[0], "worker", "0"));
	ck_assert(text_is(&w->items[0], "service", "llm"));
	ck_assert(text_is(&w->items[0], "deploy", "v1"));
	ck_assert(text_is(&w->items[0], "state", "idle"));
	ck_assert(text_is(&w->items[0], "why", "unleased"));
	ck_assert(json_get_bool(&w->items[0], "wants", false));
	ck_assert_int_eq(json_get_i64(&w->items[0], "last_ns", -1), 0);
	ck_assert_int_eq(json_get_i64(&w->items[0], "every_nth", -1), 1);
	ck_assert(text_is(&w->items[1], "state", "busy"));
	ck_assert(text_is(&w->items[1], "why", "busy"));
	ck_assert(!json_get_bool(&w->items[1], "wants", true));
	ck_assert_uint_eq(json_get(root, "ended")->n, 0);
	answer(ANSWER(LEASE("L", "null", "0", "")));
	ck_assert(next());
	ck_assert(text_is(&json_get(report(), "workers")->items[0], "state", "capturing"));
	now += NS_PER_MIN;
	plan_end(p, order.id, true, "taken", now);
	now += NS_PER_S;
	see("0", true);
	ck_assert_int_eq(last_of_first(), wall0 + now - NS_PER_S);
}
END_TEST

START_TEST(the_time_of_a_window_is_the_same_in_every_report_until_the_clock_is_set)
{
	int64_t first;

	see("0", true);
	now += settings.schedule.interval_ns;
	see("0", true);
	answer(ANSWER(LEASE("L", "null", "0", "")));
	ck_assert(next());
	plan_end(p, order.id, true, "taken", now);
	first = last_of_first();
	wall0 += NS_PER_MS; /* the two clocks are never read at quite the same moment */
	ck_assert_int_eq(last_of_first(), first);
	wall0 += NS_PER_HOUR;
	ck_assert_int_eq(last_of_first(), first + NS_PER_HOUR + NS_PER_MS);
}
END_TEST

START_TEST(what_became_of_a_lease_is_told_until_an_answer_came)
{
	const struct json_node *d;

	see("0", true);
	answer(ANSWER(LEASE("L", "\"C\"", "0", ",\"duration_ns\":2000000000")));
	ck_assert(next());
	ck_assert_int_eq(order.reason, PLAN_ASKED);
	ck_assert_int_eq(order.duration_ns, 2 * NS_PER_S);
	plan_made(p, order.id, "00112233445566778899aabbccddeeff");
	plan_end(p, order.id, true, "taken", now);
	for (int i = 0; i < 3; i++) {
		d = json_get(report(), "ended");
		ck_assert_uint_eq(d->n, 1);
		ck_assert(text_is(&d->items[0], "lease", "L"));
		ck_assert(text_is(&d->items[0], "capture", "C"));
		ck_assert(text_is(&d->items[0], "end", "taken"));
		ck_assert(text_is(&d->items[0], "window", "00112233445566778899aabbccddeeff"));
		ck_assert(json_get_bool(&d->items[0], "taken", false));
		lead_failed(&l); /* the answer is lost */
	}
	report();
	answer(ANSWER(""));
	ck_assert_uint_eq(json_get(report(), "ended")->n, 0);
}
END_TEST

START_TEST(what_the_daemon_could_not_keep_is_told_again)
{
	see("0", true);
	answer(ANSWER(LEASE("L", "\"C\"", "0", "")));
	ck_assert(next());
	plan_end(p, order.id, false, "empty", now);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(json_get(report(), "ended")->n, 1);
		answer("{\"paused\":false,\"reason\":\"\",\"poll_ns\":1000000000,\"leases\":[],\"heard\":false}");
	}
	ck_assert_uint_eq(json_get(report(), "ended")->n, 1);
	answer(ANSWER(""));
	ck_assert_uint_eq(json_get(report(), "ended")->n, 0);
}
END_TEST

START_TEST(what_ended_after_the_report_is_told_by_the_next_one)
{
	see("0", true);
	see("1", true);
	answer(ANSWER(LEASE("L0", "\"C\"", "0", "") "," LEASE("L1", "\"C\"", "1", "")));
	ck_assert(next());
	plan_end(p, order.id, false, "empty", now);
	ck_assert_uint_eq(json_get(report(), "ended")->n, 1);
	ck_assert(next());
	plan_end(p, order.id, true, "taken", now);
	answer(ANSWER(LEASE("L1", "\"C\"", "1", ""))); /* of the report before */
	ck_assert(!next());
	ck_assert_uint_eq(json_get(report(), "ended")->n, 1);
	ck_assert(text_is(&json_get(report(), "ended")->items[0], "lease", "L1"));
	ck_assert_int_eq(json_get(&json_get(report(), "ended")->items[0], "window")->kind, JSON_K_NULL);
}
END_TEST

START_TEST(after_three_polls_without_an_answer_the_local_limits_count_until_there_is_one)
{
	see("0", true);
	now += settings.schedule.interval_ns;
	see("0", true);
	lead_failed(&l);
	ck_assert_int_lt(lead_answer(&l, STR("<html>"), now, &e), 0);
	ck_assert(!next());
	ck_assert_int_eq(lead_answer(&l, STR("{\"accepted\":0}"), now, &e), E_FORMAT);
	ck_assert_ptr_nonnull(strstr(e.text, "Trainspotter"));
	ck_assert(next());
	plan_end(p, order.id, true, "taken", now);
	answer(ANSWER(""));
	now += settings.schedule.interval_ns;
	see("0", true);
	ck_assert(!next());
	lead_failed(&l);
	lead_failed(&l);
	answer(ANSWER("")); /* two are not three */
	lead_failed(&l);
	lead_failed(&l);
	ck_assert(!next());
}
END_TEST

START_TEST(a_pause_stays_in_force_until_an_answer_lifts_it)
{
	see("0", true);
	answer("{\"paused\":true,\"reason\":\"an incident\",\"leases\":[]}");
	ck_assert_str_eq(l.reason, "an incident");
	for (int i = 0; i < 5; i++)
		lead_failed(&l);
	now += settings.schedule.interval_ns;
	see("0", true);
	ck_assert(!next());
	lead_init(&l, &l.settings, p, l.paused, "an incident"); /* the agent starts anew */
	for (int i = 0; i < 5; i++)
		lead_failed(&l);
	ck_assert(!next());
	ck_assert_int_eq(plan_at(p, 0).why, PLAN_PAUSED);
	answer(ANSWER(LEASE("L", "null", "0", "")));
	ck_assert(next());
}
END_TEST

START_TEST(numbers_that_make_no_sense_are_brought_into_bounds)
{
	see("0", true);
	answer("{\"paused\":false,\"poll_ns\":1,\"leases\":[" LEASE("L", "\"C\"", "0",
		",\"duration_ns\":9000000000000,\"iterations\":-4") ",{},7]}");
	ck_assert_int_eq(l.poll_ns, NS_PER_S);
	ck_assert(next());
	ck_assert_int_eq(order.duration_ns, NS_PER_MIN);
	ck_assert_int_eq(order.iterations, 0);
	answer("{\"paused\":false,\"poll_ns\":9000000000000000000,\"leases\":null}");
	ck_assert_int_eq(l.poll_ns, 10 * NS_PER_MIN);
}
END_TEST

START_TEST(a_report_has_a_ceiling)
{
	for (int i = 0; i < PLAN_WORKERS_MAX; i++) {
		char worker[16];

		snprintf(worker, sizeof(worker), "%d", i);
		see(worker, true);
	}
	ck_assert_uint_eq(json_get(report(), "workers")->n, LEAD_WORKERS_MAX);
	ck_assert_uint_lt(body.n, 1 << 20);
}
END_TEST

Suite *suite_lead(void)
{
	Suite *s = suite_create("agent/lead");
	TCase *tc = tcase_create("lead");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_report_tells_of_every_worker);
	tcase_add_test(tc, the_time_of_a_window_is_the_same_in_every_report_until_the_clock_is_set);
	tcase_add_test(tc, what_became_of_a_lease_is_told_until_an_answer_came);
	tcase_add_test(tc, what_the_daemon_could_not_keep_is_told_again);
	tcase_add_test(tc, what_ended_after_the_report_is_told_by_the_next_one);
	tcase_add_test(tc, after_three_polls_without_an_answer_the_local_limits_count_until_there_is_one);
	tcase_add_test(tc, a_pause_stays_in_force_until_an_answer_lifts_it);
	tcase_add_test(tc, numbers_that_make_no_sense_are_brought_into_bounds);
	tcase_add_test(tc, a_report_has_a_ceiling);
	suite_add_tcase(s, tc);
	return s;
}
