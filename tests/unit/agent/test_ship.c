#include "agent/ship.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tests/unit/agent/fake_http.h"
#include "tests/unit/agent/folder.h"

Suite *suite_ship(void);

static struct ship *sh;
static struct ship_settings settings;

static void setup(void)
{
	folder_make();
	fake_http = (struct fake_http){ .backoff_ns = NS_PER_MS };
	settings = (struct ship_settings){ .server = "http://daemon:8940/", .token_file = "", .ca_file = "",
		.timeout_ns = NS_PER_S, .retry_first_ns = NS_PER_S, .retry_max_ns = NS_PER_MIN };
}

static void teardown(void)
{
	ship_stop(sh);
	sh = NULL;
	folder_remove();
}

static void add_part(struct shipment *s, uint8_t first_byte)
{
	struct op_summary op = { .kind = OP_CPU_OP, .name = STR("aten::mul"), .calls = 3 };
	struct window w = { .id = { first_byte, (uint8_t)s->n_parts }, .service = STR("llm"), .host = STR("h1"), .ops = &op,
		.n_ops = 1 };
	struct wire_batch b = { .agent_id = STR("agent"), .agent_version = STR("1"), .windows = &w, .n_windows = 1 };

	ck_assert_int_eq(wire_encode(&b, shipment_part(s), NULL), OK);
	s->n_parts++;
}

static struct shipment *make(size_t n)
{
	struct shipment *s = shipment_new();

	for (size_t i = 0; i < n; i++)
		add_part(s, 'a');
	return s;
}

static struct shipment *send_it(struct shipment *s)
{
	struct pollfd p;
	struct err e = { 0 };

	if (sh == NULL)
		ck_assert_msg(ship_start(&sh, &settings, &e) == OK, "%s", e.text);
	ship_give(sh, &s);
	p = (struct pollfd){ .fd = ship_fd(sh), .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, 20000), 1);
	s = ship_fetch(sh);
	ck_assert_ptr_nonnull(s);
	return s;
}

START_TEST(a_batch_is_posted_as_the_api_wants_it)
{
	struct shipment *s = send_it(make(1));

	ck_assert_int_eq(s->outcome, SHIP_ACCEPTED);
	ck_assert_uint_eq(s->accepted, 1);
	ck_assert_uint_eq(fake_http.n_asks, 1);
	ck_assert_str_eq(fake_http.asks[0].url, "POST http://daemon:8940/api/v1/windows");
	ck_assert_str_eq(fake_http.asks[0].content_type, "application/x-protobuf");
	ck_assert_str_eq(fake_http.asks[0].content_encoding, "zstd");
	shipment_free(s);
}
END_TEST

START_TEST(many_windows_travel_as_one_batch)
{
	struct shipment *s = send_it(make(SHIP_PARTS_MAX));

	ck_assert_int_eq(s->outcome, SHIP_ACCEPTED);
	ck_assert_uint_eq(s->accepted, SHIP_PARTS_MAX);
	ck_assert_uint_eq(fake_http.n_asks, 1);
	shipment_free(s);
}
END_TEST

static const int again[] = { 0, 301, 401, 403, 404, 405, 408, 429, 500, 502, 503, 504, 507, 599 };

START_TEST(everything_that_may_pass_is_tried_again)
{
	struct shipment *s;

	fake_http.script = again;
	fake_http.n_script = COUNT(again);
	s = send_it(make(1));
	ck_assert_int_eq(s->outcome, SHIP_ACCEPTED);
	ck_assert_uint_eq(fake_http.n_asks, COUNT(again) + 1);
	ck_assert_uint_eq(fake_http.attempts_max, COUNT(again) - 1);
	shipment_free(s);
}
END_TEST

static const int never[] = { 400, 413, 415, 422 };

START_TEST(what_is_wrong_for_good_is_not_tried_again)
{
	struct shipment *s;
	char text[64];

	fake_http.script = &never[_i];
	fake_http.n_script = 1;
	s = send_it(make(1));
	ck_assert_int_eq(s->outcome, SHIP_REFUSED);
	ck_assert_int_eq(s->status, never[_i]);
	snprintf(text, sizeof(text), "status %d: because of %d", never[_i], never[_i]);
	ck_assert_str_eq(s->err.text, text);
	ck_assert_uint_eq(fake_http.n_asks, 1);
	shipment_free(s);
}
END_TEST

/* Two windows are sent. */
static const char *const not_believed[] = {
	"<html>Welcome to our network</html>",
	"",
	"{}",
	"[]",
	"{\"accepted\":null}",
	"{\"accepted\":\"yes\",\"duplicates\":2}",
	"{\"accepted\":true}",
	"{\"accepted\":-2,\"duplicates\":4}",
	"{\"accepted\":2,\"duplicates\":-1}",
	"{\"accepted\":2,\"duplicates\":\"0\"}",
	"{\"accepted\":0,\"duplicates\":0}",
	"{\"accepted\":1,\"duplicates\":0}",
	"{\"accepted\":18446744073709551615,\"duplicates\":3}",
};

START_TEST(a_good_status_of_something_that_is_no_daemon_is_not_believed)
{
	struct shipment *s;

	fake_http.good_body = not_believed[_i];
	settings.tries = 2;
	s = send_it(make(2));
	ck_assert_int_eq(s->outcome, SHIP_GAVE_UP);
	ck_assert_uint_eq(s->accepted + s->duplicates, 0);
	ck_assert_uint_eq(fake_http.n_asks, 2);
	shipment_free(s);
}
END_TEST

START_TEST(windows_that_the_daemon_has_already_are_done_with)
{
	struct shipment *s;

	fake_http.good_body = "{\"accepted\":1,\"duplicates\":2}";
	s = send_it(make(3));
	ck_assert_int_eq(s->outcome, SHIP_ACCEPTED);
	ck_assert_uint_eq(s->accepted, 1);
	ck_assert_uint_eq(s->duplicates, 2);
	shipment_free(s);
}
END_TEST

START_TEST(retry_after_is_honoured)
{
	static const int busy[] = { 503 };
	int64_t start = clock_mono_ns();
	struct shipment *s;

	fake_http.script = busy;
	fake_http.n_script = 1;
	fake_http.retry_after_ns = 300 * NS_PER_MS;
	s = send_it(make(1));
	ck_assert_int_eq(s->outcome, SHIP_ACCEPTED);
	ck_assert_int_ge(clock_mono_ns() - start, 300 * NS_PER_MS);
	shipment_free(s);
}
END_TEST

START_TEST(the_token_is_read_again_when_it_was_not_good_enough)
{
	static const int denied[] = { 401 };
	struct shipment *s;

	folder_write("token", STR("  old-token\n"));
	settings.token_file = folder_path("token");
	fake_http.script = denied;
	fake_http.n_script = 1;
	fake_http.backoff_ns = 500 * NS_PER_MS;
	ck_assert_int_eq(ship_start(&sh, &settings, NULL), OK);
	s = make(1);
	ship_give(sh, &s);
	while (fake_http.n_asks == 0)
		clock_sleep_ns(NS_PER_MS);
	folder_write("token", STR("new-token\n"));
	poll(&(struct pollfd){ .fd = ship_fd(sh), .events = POLLIN }, 1, 20000);
	s = ship_fetch(sh);
	ck_assert_int_eq(s->outcome, SHIP_ACCEPTED);
	ck_assert_str_eq(fake_http.asks[0].token, "old-token");
	ck_assert_str_eq(fake_http.asks[1].token, "new-token");
	shipment_free(s);
}
END_TEST

START_TEST(stopping_does_not_wait_for_the_next_try)
{
	static const int down[] = { 0 };
	int64_t start = clock_mono_ns();
	struct shipment *s = make(1);

	fake_http.script = down;
	fake_http.n_script = 1;
	fake_http.backoff_ns = NS_PER_HOUR;
	ck_assert_int_eq(ship_start(&sh, &settings, NULL), OK);
	ship_give(sh, &s);
	while (fake_http.n_asks == 0)
		clock_sleep_ns(NS_PER_MS);
	ship_stop(sh);
	sh = NULL;
	ck_assert_int_lt(clock_mono_ns() - start, 10 * NS_PER_S);
}
END_TEST

START_TEST(a_part_that_is_no_batch_refuses_the_joined_one)
{
	struct shipment *s = make(2);

	buf_text(shipment_part(s), "not a batch");
	s->n_parts++;
	s = send_it(s);
	ck_assert_int_eq(s->outcome, SHIP_REFUSED);
	ck_assert_int_eq(s->status, 0);
	ck_assert_uint_eq(fake_http.n_asks, 0);
	shipment_free(s);
}
END_TEST

Suite *suite_ship(void)
{
	Suite *s = suite_create("agent/ship");
	TCase *tc = tcase_create("ship");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_batch_is_posted_as_the_api_wants_it);
	tcase_add_test(tc, many_windows_travel_as_one_batch);
	tcase_add_test(tc, everything_that_may_pass_is_tried_again);
	tcase_add_loop_test(tc, what_is_wrong_for_good_is_not_tried_again, 0, COUNT(never));
	tcase_add_loop_test(tc, a_good_status_of_something_that_is_no_daemon_is_not_believed, 0, COUNT(not_believed));
	tcase_add_test(tc, windows_that_the_daemon_has_already_are_done_with);
	tcase_add_test(tc, retry_after_is_honoured);
	tcase_add_test(tc, the_token_is_read_again_when_it_was_not_good_enough);
	tcase_add_test(tc, stopping_does_not_wait_for_the_next_try);
	tcase_add_test(tc, a_part_that_is_no_batch_refuses_the_joined_one);
	suite_add_tcase(s, tc);
	return s;
}
