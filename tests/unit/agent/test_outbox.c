#include "agent/outbox.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "tests/unit/agent/fake_http.h"
#include "tests/unit/agent/folder.h"

Suite *suite_outbox(void);

static struct outbox *ob;
static struct err e;

static void setup(void)
{
	folder_make();
	err_clear(&e);
	fake_http = (struct fake_http){ .backoff_ns = NS_PER_MS };
	ck_assert_msg(outbox_open(&ob, folder_path("state"), 1 << 20, &e) == OK, "%s", e.text);
}

static void teardown(void)
{
	outbox_close(ob);
	folder_remove();
}

static void begin(unsigned tries)
{
	const struct ship_settings s = { .server = "http://daemon:8940", .token_file = "", .ca_file = "", .timeout_ns = NS_PER_S,
		.retry_first_ns = NS_PER_S, .retry_max_ns = NS_PER_MIN, .tries = tries };

	ck_assert_msg(outbox_ship(ob, &s, 1 << 20, 10, &e) == OK, "%s", e.text);
}

static void put(uint8_t first_byte)
{
	struct op_summary op = { .kind = OP_CPU_OP, .name = STR("aten::mul"), .calls = 3 };
	struct window w = { .id = { first_byte }, .service = STR("llm"), .host = STR("h1"), .ops = &op, .n_ops = 1 };
	struct wire_batch b = { .agent_id = STR("agent"), .agent_version = STR("1"), .windows = &w, .n_windows = 1 };
	struct buf batch;

	buf_init(&batch, 1 << 20);
	ck_assert_int_eq(wire_encode(&b, &batch, &e), OK);
	ck_assert_msg(outbox_put(ob, buf_view(&batch), &e) == OK, "%s", e.text);
	buf_fini(&batch);
}

/* Sends until all is sent, or patience ends. */
static void send_all(void)
{
	for (int i = 0; i < 100 && outbox_state(ob)->records > 0; i++) {
		struct pollfd p = { .fd = outbox_fd(ob), .events = POLLIN };

		outbox_send(ob);
		if (!outbox_idle(ob))
			ck_assert_int_eq(poll(&p, 1, 20000), 1);
		outbox_take(ob);
	}
}

START_TEST(what_was_put_in_goes_out_and_is_counted)
{
	begin(0);
	put('a');
	put('b');
	send_all();
	ck_assert_uint_eq(outbox_state(ob)->records, 0);
	ck_assert_uint_eq(outbox_counts(ob)->shipped, 2);
}
END_TEST

static void send_without_descriptors(int times)
{
	struct rlimit all, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = (struct rlimit){ 0, all.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < times; i++)
		outbox_send(ob);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
}

/* A process that has no descriptor left cannot read its spool: that is no damage. */
START_TEST(windows_that_cannot_be_read_now_are_not_forgotten)
{
	begin(0);
	put('a');
	put('b');
	send_without_descriptors(3);
	ck_assert_uint_eq(outbox_state(ob)->records, 2);
	ck_assert_uint_eq(fake_http.n_asks, 0);
	ck_assert(!outbox_gave_up(ob));
	send_all();
	ck_assert_uint_eq(outbox_counts(ob)->shipped, 2);
}
END_TEST

START_TEST(where_tries_are_limited_those_of_reading_are)
{
	begin(3);
	put('a');
	send_without_descriptors(2);
	ck_assert(!outbox_gave_up(ob));
	send_all();
	ck_assert_uint_eq(outbox_counts(ob)->shipped, 1);
	put('b');
	send_without_descriptors(2); /* it was read in between: counted anew */
	ck_assert(!outbox_gave_up(ob));
	send_without_descriptors(1);
	ck_assert(outbox_gave_up(ob));
	ck_assert_uint_eq(outbox_state(ob)->records, 1);
}
END_TEST

START_TEST(a_bad_window_does_not_take_the_others_with_it)
{
	begin(0);
	fake_http.never_first_byte = 'x';
	for (int i = 0; i < 10; i++)
		put(i == 6 ? 'x' : 'a');
	send_all();
	ck_assert_uint_eq(outbox_counts(ob)->shipped, 9);
	ck_assert_uint_eq(outbox_counts(ob)->quarantined, 1);
	ck_assert_uint_eq(folder_count("state/quarantine", ".batch"), 1);
	ck_assert_uint_eq(outbox_state(ob)->records, 0);
}
END_TEST

Suite *suite_outbox(void)
{
	Suite *s = suite_create("agent/outbox");
	TCase *tc = tcase_create("outbox");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_was_put_in_goes_out_and_is_counted);
	tcase_add_test(tc, windows_that_cannot_be_read_now_are_not_forgotten);
	tcase_add_test(tc, where_tries_are_limited_those_of_reading_are);
	tcase_add_test(tc, a_bad_window_does_not_take_the_others_with_it);
	suite_add_tcase(s, tc);
	return s;
}
