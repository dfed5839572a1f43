#include "agent/fleet.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "tests/unit/agent/fake_http.h"
#include "tests/unit/agent/folder.h"

Suite *suite_fleet(void);

#define GOOD "{\"paused\":false,\"reason\":\"\",\"poll_ns\":1000000000,\"leases\":[]}"
#define PAUSED "{\"paused\":true,\"reason\":\"an incident\",\"poll_ns\":1000000000,\"leases\":[]}"

static struct fleet *f;
static struct plan *p;
static int64_t now; /* the fleet's clock is the test's; the exchanges are real threads' */
static struct err e;

static void open_fleet(void)
{
	const struct fleet_settings s = { .server = "http://d:1/", .token_file = folder_path("token"), .ca_file = "",
		.agent_id = "00112233445566778899aabbccddeeff", .host = "h1", .state_dir = folder, .interval_ns = 10 * NS_PER_S,
		.timeout_ns = 5 * NS_PER_S };

	ck_assert_msg(fleet_open(&f, &s, p, now, &e) == OK, "%s", e.text);
}

static void setup(void)
{
	struct plan_settings s = { .max_at_once = 1, .duration_ns = NS_PER_S };

	folder_make();
	folder_write("token", STR("first"));
	schedule_init(&s.schedule, NS_PER_MIN, STR("h1"));
	p = plan_new(&s);
	now = NS_PER_HOUR;
	fake_http = (struct fake_http){ .poll_status = 200, .poll_answer = GOOD };
	err_clear(&e);
	open_fleet();
}

static void teardown(void)
{
	fleet_close(f);
	plan_free(p);
	folder_remove();
}

static void look(void)
{
	fleet_look(f, now, now);
}

/* The next poll and its answer. */
static void poll_once(void)
{
	struct pollfd fd = { .fd = fleet_fd(f), .events = POLLIN };
	size_t before = fake_http.n_polls;

	now = fleet_wake_ns(f);
	look();
	ck_assert_int_eq(poll(&fd, 1, 5000), 1);
	look();
	ck_assert_uint_eq(fake_http.n_polls, before + 1);
}

START_TEST(the_daemon_is_asked_now_and_then)
{
	ck_assert_int_lt(fleet_wake_ns(f), now + 10 * NS_PER_S);
	poll_once();
	ck_assert_str_eq(fake_http.poll_url, "POST http://d:1/api/v1/agents/00112233445566778899aabbccddeeff/poll");
	ck_assert_ptr_nonnull(strstr(fake_http.poll_body, "\"host\":\"h1\""));
	ck_assert_int_eq(fleet_wake_ns(f), now + NS_PER_S); /* as the answer said */
	poll_once();
}
END_TEST

START_TEST(a_new_token_is_taken_where_the_old_one_is_not_good_enough)
{
	poll_once();
	ck_assert_str_eq(fake_http.poll_token, "first");
	folder_write("token", STR("second"));
	poll_once();
	ck_assert_str_eq(fake_http.poll_token, "first");
	fake_http.poll_status = 401;
	poll_once();
	fake_http.poll_status = 200;
	poll_once();
	ck_assert_str_eq(fake_http.poll_token, "second");
	ck_assert(plan_leads(p));
}
END_TEST

START_TEST(a_daemon_that_is_gone_for_three_polls_leads_no_more_until_it_is_back)
{
	static const int gone[] = { 0, 503, 404 };

	poll_once();
	for (size_t i = 0; i < COUNT(gone); i++) {
		ck_assert(plan_leads(p));
		fake_http.poll_status = gone[i];
		poll_once();
	}
	ck_assert(!plan_leads(p));
	fake_http.poll_status = 200;
	poll_once();
	ck_assert(plan_leads(p));
	fake_http.poll_answer = "{\"hello\":1}"; /* something else listens there */
	for (int i = 0; i < 3; i++)
		poll_once();
	ck_assert(!plan_leads(p));
}
END_TEST

START_TEST(a_kill_switch_is_in_force_within_one_poll_and_outlives_the_agents_restart)
{
	poll_once();
	ck_assert(!plan_paused(p));
	fake_http.poll_answer = PAUSED;
	poll_once();
	ck_assert(plan_paused(p));
	ck_assert(folder_has("paused"));
	fake_http.poll_status = 0; /* the daemon dies, and the agent is started anew */
	fleet_close(f);
	plan_pause(p, false);
	open_fleet();
	ck_assert(plan_paused(p));
	for (int i = 0; i < 5; i++)
		poll_once();
	ck_assert(plan_paused(p));
	fake_http.poll_status = 200;
	fake_http.poll_answer = GOOD;
	poll_once();
	ck_assert(!plan_paused(p));
	ck_assert(!folder_has("paused"));
	fleet_close(f);
	open_fleet();
	ck_assert(!plan_paused(p));
}
END_TEST

START_TEST(a_pause_that_cannot_be_kept_is_in_force_all_the_same_and_tried_again)
{
	ck_assert_int_eq(mkdir(folder_path("paused.tmp"), 0700), 0); /* in the way of the new file */
	fake_http.poll_answer = PAUSED;
	poll_once();
	ck_assert(plan_paused(p));
	ck_assert(!folder_has("paused"));
	fleet_close(f);
	open_fleet(); /* as with a new configuration */
	ck_assert(plan_paused(p));
	ck_assert_int_eq(remove(folder_path("paused.tmp")), 0);
	poll_once();
	ck_assert(folder_has("paused"));
}
END_TEST

#define LEASED "{\"paused\":false,\"poll_ns\":10000000000,\"leases\":[{\"id\":\"L\",\"capture\":\"C\",\"source\":\"kineto\"," \
	"\"service\":\"s\",\"worker\":\"\",\"ttl_ns\":60000000000}]}"

START_TEST(a_lease_that_ended_is_told_soon_unless_nobody_answers)
{
	const struct plan_worker w = { .source = "kineto", .key = "k", .service = "s", .idle = true };
	struct plan_order o;

	plan_seen(p, &w, now, now);
	fake_http.poll_answer = LEASED;
	poll_once();
	ck_assert_int_eq(fleet_wake_ns(f), now + 10 * NS_PER_S);
	plan_seen(p, &w, now, now);
	ck_assert(plan_next(p, "kineto", now, now, &o));
	plan_end(p, o.id, true, "taken", now);
	ck_assert_int_eq(fleet_wake_ns(f), now + NS_PER_S);
	fake_http.poll_status = 503;
	poll_once();
	ck_assert_int_eq(fleet_wake_ns(f), now + 10 * NS_PER_S);
	fake_http.poll_status = 200;
	fake_http.poll_answer = "{\"paused\":false,\"poll_ns\":10000000000,\"leases\":[]}";
	poll_once();
	ck_assert_ptr_nonnull(strstr(fake_http.poll_body, "\"lease\":\"L\""));
	ck_assert_int_eq(fleet_wake_ns(f), now + 10 * NS_PER_S);
}
END_TEST

START_TEST(closing_does_not_wait_for_an_answer)
{
	now = fleet_wake_ns(f);
	look();
	fleet_close(f); /* the report is out */
	f = NULL;
}
END_TEST

START_TEST(a_servers_name_that_is_too_long_is_told)
{
	static char name[5000];
	const struct fleet_settings s = { .server = name, .token_file = "", .ca_file = "", .agent_id = "a", .host = "h",
		.state_dir = folder, .interval_ns = NS_PER_S, .timeout_ns = NS_PER_S };
	struct fleet *other;

	memset(name, 'x', sizeof(name) - 1);
	ck_assert_int_eq(fleet_open(&other, &s, p, now, &e), E_USAGE);
}
END_TEST

Suite *suite_fleet(void)
{
	Suite *s = suite_create("agent/fleet");
	TCase *tc = tcase_create("fleet");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_daemon_is_asked_now_and_then);
	tcase_add_test(tc, a_new_token_is_taken_where_the_old_one_is_not_good_enough);
	tcase_add_test(tc, a_daemon_that_is_gone_for_three_polls_leads_no_more_until_it_is_back);
	tcase_add_test(tc, a_kill_switch_is_in_force_within_one_poll_and_outlives_the_agents_restart);
	tcase_add_test(tc, a_pause_that_cannot_be_kept_is_in_force_all_the_same_and_tried_again);
	tcase_add_test(tc, a_lease_that_ended_is_told_soon_unless_nobody_answers);
	tcase_add_test(tc, closing_does_not_wait_for_an_answer);
	tcase_add_test(tc, a_servers_name_that_is_too_long_is_told);
	suite_add_tcase(s, tc);
	return s;
}
