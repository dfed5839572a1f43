#include "notify/notify.h"

#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "json/tree.h"
#include "net/http_server.h"

Suite *suite_notify(void);

/* ---- a receiver that fails as often as it is told */
static struct http_server *srv;
static atomic_int posts, failures_left, failure_status;
static struct buf last_body;
static char last_key[200], last_token[200];
static char seen_path[64], token_path[64], url[100];
static struct metrics *metrics;

static void receive(void *env, const struct http_request *rq, struct http_reply *rp)
{
	(void)env;
	str_copy_to(http_header_get(rq, "Idempotency-Key"), last_key, sizeof(last_key));
	str_copy_to(http_header_get(rq, "Authorization"), last_token, sizeof(last_token));
	buf_reset(&last_body);
	buf_str(&last_body, rq->body);
	if (atomic_fetch_sub(&failures_left, 1) > 0)
		rp->status = atomic_load(&failure_status);
	atomic_fetch_add(&posts, 1);
}

static void start(void)
{
	struct http_server_settings s = { .address = "127.0.0.1", .max_header_bytes = 8192, .max_body_bytes = 1 << 20, .threads = 1,
		.queue = 4, .connections = 8, .request_ns = NS_PER_S };
	struct err e = { 0 };

	atomic_store(&failure_status, 500);
	signal(SIGPIPE, SIG_IGN);
	snprintf(seen_path, sizeof(seen_path), "/tmp/notified-%d", (int)getpid());
	snprintf(token_path, sizeof(token_path), "/tmp/token-%d", (int)getpid());
	buf_init(&last_body, 1 << 20);
	metrics = metrics_new();
	ck_assert_msg(http_server_open(&srv, &s, receive, NULL, &e) == OK, "%s", e.text);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/hook", http_server_port(srv));
}

static void stop(void)
{
	http_server_close(srv);
	metrics_free(metrics);
	buf_fini(&last_body);
	unlink(seen_path);
	unlink(token_path);
}

static struct notify_settings settings(void)
{
	return (struct notify_settings){ .url = url, .token_file = "", .ca_file = "", .timeout_ns = NS_PER_S,
		.first_wait_ns = NS_PER_MS, .max_wait_ns = 20 * NS_PER_MS, .tries = 5 };
}

static struct notify *begin(struct notify_settings s)
{
	struct notify *n = NULL;
	struct err e = { 0 };

	ck_assert_msg(notify_open(&n, &s, seen_path, metrics, &e) == OK, "%s", e.text);
	return n;
}

static struct alert an_alert(enum alert_state state)
{
	return (struct alert){ .id = STR("0123456789abcdef0123456789abcdef"), .state = state, .kind = VERDICT_FUSION_LOST,
		.service = STR("llm"), .deploy = STR("v42"), .deploy_before = STR("v41"), .op = STR("aten::x"),
		.sentence = STR("it got slower"), .started_ns = 1, .fired_ns = 7, .resolved_ns = state == ALERT_RESOLVED ? 9 : 0,
		.updated_ns = 7 };
}

static void push(struct notify *n, enum alert_state state)
{
	struct alert al = an_alert(state);
	struct err e = { 0 };

	ck_assert_msg(notify_push(n, &al, &e) == OK, "%s", e.text);
}

static void wait_for(const char *name, double want)
{
	for (int i = 0; i < 500 && metric_value(metric_counter(metrics, name, NULL, "")) < want; i++)
		clock_sleep_ns(10 * NS_PER_MS);
	ck_assert_double_eq(metric_value(metric_counter(metrics, name, NULL, "")), want);
	ck_assert_int_ge(atomic_load(&posts), 1); /* and so what the receiver wrote down can be read here */
}

#define DELIVERED "trainspotter_notify_delivered_total"
#define FAILED "trainspotter_notify_failed_total"

START_TEST(the_body_is_the_alert_and_the_key_names_its_turn)
{
	struct notify *n = begin(settings());
	const struct json_node *json = NULL;
	struct arena a;

	push(n, ALERT_FIRING);
	wait_for(DELIVERED, 1);
	notify_close(n);
	ck_assert_str_eq(last_key, "0123456789abcdef0123456789abcdef-firing-7");
	ck_assert_str_eq(last_token, "");
	arena_init(&a, 1 << 20);
	ck_assert_int_eq(json_parse(&a, buf_view(&last_body), &json, NULL), OK);
	ck_assert(str_eq(json_get_str(json, "state"), STR("firing")));
	ck_assert(str_eq(json_get_str(json, "deploy"), STR("v42")));
	arena_fini(&a);
}
END_TEST

START_TEST(each_turn_is_told_once_over_restarts)
{
	struct notify *n = begin(settings());

	push(n, ALERT_FIRING);
	push(n, ALERT_FIRING);
	push(n, ALERT_RESOLVED);
	wait_for(DELIVERED, 2);
	notify_close(n);
	n = begin(settings());
	push(n, ALERT_FIRING);
	push(n, ALERT_RESOLVED);
	clock_sleep_ns(100 * NS_PER_MS);
	notify_close(n);
	ck_assert_int_eq(atomic_load(&posts), 2);
	ck_assert_str_eq(last_key, "0123456789abcdef0123456789abcdef-resolved-9");
}
END_TEST

START_TEST(a_resolution_is_told_to_whom_the_firing_was_told)
{
	struct notify *n = begin(settings());

	push(n, ALERT_RESOLVED);
	push(n, ALERT_FIRING);
	wait_for(DELIVERED, 1);
	ck_assert_str_eq(last_key, "0123456789abcdef0123456789abcdef-firing-7");
	push(n, ALERT_RESOLVED);
	wait_for(DELIVERED, 2);
	notify_close(n);
}
END_TEST

START_TEST(what_fires_again_has_another_key)
{
	struct notify *n = begin(settings());
	struct alert again = an_alert(ALERT_FIRING);

	push(n, ALERT_FIRING);
	push(n, ALERT_RESOLVED);
	again.fired_ns = 11;
	ck_assert_int_eq(notify_push(n, &again, NULL), OK);
	wait_for(DELIVERED, 3);
	notify_close(n);
	ck_assert_str_eq(last_key, "0123456789abcdef0123456789abcdef-firing-11");
}
END_TEST

static const int final_statuses[] = { 400, 413, 415, 422 };

START_TEST(what_the_receiver_refuses_for_good_does_not_hold_up_the_others)
{
	struct notify_settings s = settings();
	struct alert other = an_alert(ALERT_FIRING);
	struct notify *n;

	other.id = STR("fedcba9876543210fedcba9876543210");
	s.first_wait_ns = s.max_wait_ns = 600 * NS_PER_S;
	atomic_store(&failure_status, final_statuses[_i]);
	atomic_store(&failures_left, 1);
	n = begin(s);
	push(n, ALERT_FIRING);
	ck_assert_int_eq(notify_push(n, &other, NULL), OK);
	wait_for(DELIVERED, 1);
	wait_for(FAILED, 1);
	ck_assert_int_eq(atomic_load(&posts), 2);
	ck_assert_str_eq(last_key, "fedcba9876543210fedcba9876543210-firing-7");
	notify_close(n);
}
END_TEST

START_TEST(an_expiry_is_told_as_a_resolution_is)
{
	struct notify *n = begin(settings());
	struct alert al = an_alert(ALERT_EXPIRED);

	al.resolved_ns = 9;
	ck_assert_int_eq(notify_push(n, &al, NULL), OK); /* nobody heard of it */
	push(n, ALERT_FIRING);
	ck_assert_int_eq(notify_push(n, &al, NULL), OK);
	wait_for(DELIVERED, 2);
	notify_close(n);
	ck_assert_str_eq(last_key, "0123456789abcdef0123456789abcdef-expired-9");
}
END_TEST

START_TEST(a_receiver_that_fails_is_tried_again)
{
	struct notify *n;

	atomic_store(&failures_left, 3);
	n = begin(settings());
	push(n, ALERT_FIRING);
	wait_for(DELIVERED, 1);
	ck_assert_int_eq(atomic_load(&posts), 4);
	notify_close(n);
}
END_TEST

START_TEST(what_is_told_again_leaves_room_for_what_is_new)
{
	struct notify_settings s = settings();
	struct notify *n;
	int again = 0;

	s.first_wait_ns = s.max_wait_ns = 600 * NS_PER_S;
	atomic_store(&failures_left, 1);
	n = begin(s);
	for (; notify_has_room(n) && again < NOTIFY_QUEUE; again++)
		push(n, ALERT_FIRING);
	ck_assert_int_ge(again, NOTIFY_QUEUE / 2);
	for (int i = 0; i < NOTIFY_QUEUE / 4; i++)
		push(n, ALERT_FIRING);
	notify_close(n);
}
END_TEST

START_TEST(after_all_tries_it_is_given_up_and_told_after_a_restart)
{
	struct notify *n;

	atomic_store(&failures_left, 5);
	n = begin(settings());
	push(n, ALERT_FIRING);
	wait_for(FAILED, 1);
	notify_close(n);
	n = begin(settings());
	push(n, ALERT_FIRING);
	wait_for(DELIVERED, 1);
	notify_close(n);
}
END_TEST

START_TEST(a_token_is_sent_and_a_missing_one_is_a_mistake)
{
	struct notify_settings s = settings();
	struct notify *n = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(file_replace(token_path, STR("  secret\n"), 0600, &e), OK);
	s.token_file = token_path;
	n = begin(s);
	push(n, ALERT_FIRING);
	wait_for(DELIVERED, 1);
	ck_assert_str_eq(last_token, "Bearer secret");
	s.token_file = "/nonexistent/token";
	ck_assert_int_ne(notify_set(n, &s, &e), OK);
	ck_assert(str_has_prefix(str_of(e.text), STR("notify.webhook: ")));
	notify_close(n);
}
END_TEST

START_TEST(new_settings_reach_an_alert_that_waits)
{
	struct notify_settings s = settings();
	struct notify *n;
	struct err e = { 0 };

	s.url = "http://127.0.0.1:1/";
	s.tries = 1000;
	s.first_wait_ns = s.max_wait_ns = 60 * NS_PER_S;
	n = begin(s);
	push(n, ALERT_FIRING);
	clock_sleep_ns(50 * NS_PER_MS);
	s = settings();
	ck_assert_int_eq(notify_set(n, &s, &e), OK);
	wait_for(DELIVERED, 1);
	notify_close(n);
}
END_TEST

START_TEST(without_a_url_nobody_is_told_and_nothing_is_remembered)
{
	struct notify_settings s = settings();
	struct notify *n;

	s.url = "";
	n = begin(s);
	push(n, ALERT_FIRING);
	clock_sleep_ns(50 * NS_PER_MS);
	notify_close(n);
	ck_assert(!file_exists(seen_path));
}
END_TEST

START_TEST(closing_does_not_wait_for_a_dead_receiver)
{
	struct notify_settings s = settings();
	int64_t began;
	struct notify *n;

	s.url = "http://127.0.0.1:1/";
	s.first_wait_ns = s.max_wait_ns = 60 * NS_PER_S;
	n = begin(s);
	for (int i = 0; i < 10; i++)
		push(n, ALERT_FIRING);
	clock_sleep_ns(50 * NS_PER_MS);
	began = clock_mono_ns();
	notify_close(n);
	ck_assert_int_lt(clock_mono_ns() - began, 2 * NS_PER_S);
}
END_TEST

START_TEST(a_full_queue_is_told)
{
	struct notify_settings s = settings();
	struct alert al = an_alert(ALERT_FIRING);
	struct notify *n;
	struct err e = { 0 };
	int rc = OK;

	s.url = "http://127.0.0.1:1/";
	s.first_wait_ns = s.max_wait_ns = 60 * NS_PER_S;
	n = begin(s);
	for (int i = 0; i < NOTIFY_QUEUE + 2 && rc == OK; i++)
		rc = notify_push(n, &al, &e);
	ck_assert_int_eq(rc, E_BUSY);
	notify_close(n);
}
END_TEST

Suite *suite_notify(void)
{
	Suite *s = suite_create("notify/notify");
	TCase *tc = tcase_create("notify");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, the_body_is_the_alert_and_the_key_names_its_turn);
	tcase_add_test(tc, each_turn_is_told_once_over_restarts);
	tcase_add_test(tc, a_resolution_is_told_to_whom_the_firing_was_told);
	tcase_add_test(tc, what_fires_again_has_another_key);
	tcase_add_loop_test(tc, what_the_receiver_refuses_for_good_does_not_hold_up_the_others, 0, COUNT(final_statuses));
	tcase_add_test(tc, an_expiry_is_told_as_a_resolution_is);
	tcase_add_test(tc, a_receiver_that_fails_is_tried_again);
	tcase_add_test(tc, what_is_told_again_leaves_room_for_what_is_new);
	tcase_add_test(tc, after_all_tries_it_is_given_up_and_told_after_a_restart);
	tcase_add_test(tc, a_token_is_sent_and_a_missing_one_is_a_mistake);
	tcase_add_test(tc, new_settings_reach_an_alert_that_waits);
	tcase_add_test(tc, without_a_url_nobody_is_told_and_nothing_is_remembered);
	tcase_add_test(tc, closing_does_not_wait_for_a_dead_receiver);
	tcase_add_test(tc, a_full_queue_is_told);
	suite_add_tcase(s, tc);
	return s;
}
