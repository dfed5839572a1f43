#include "net/grpc_client.h"

#include <check.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/thread.h"
#include "tests/support/grpc_server.h"

Suite *suite_grpc_client(void);

enum { ANSWER_MAX = 1000 };

static struct grpc_server *srv;
static struct grpc_answer answer;
static struct grpc_reply script; /* what the server does */
static struct str body;		 /* with has_body, of its DATA */
static struct buf asked;
static bool has_body;
static struct err e;

static void reply(void *env, struct str message, struct grpc_reply *r)
{
	struct buf mine = r->body;

	(void)env;
	buf_str(&asked, message);
	*r = script;
	r->body = mine;
	if (has_body) {
		buf_reset(&r->body);
		buf_str(&r->body, body);
	}
}

static void start(void)
{
	script = (struct grpc_reply){ .http_status = "200", .content_type = "application/grpc", .status = "0" };
	has_body = false;
	buf_init(&asked, 1 << 20);
	srv = grpc_server_start(reply, NULL);
}

static void stop(void)
{
	grpc_server_stop(srv);
	buf_fini(&asked);
}

static int call_with(int64_t total_ns, const struct thread *thread)
{
	char address[40];
	const struct grpc_ask ask = { .address = address, .path = "/x.Y/Z", .message = str_make("a\0b", 3), .connect_ns = NS_PER_S,
		.total_ns = total_ns, .max_answer_bytes = ANSWER_MAX, .thread = thread };

	err_clear(&e);
	snprintf(address, sizeof(address), "127.0.0.1:%d", grpc_server_port(srv));
	return grpc_call(&ask, &answer, &e);
}

static int call(void)
{
	return call_with(5 * NS_PER_S, NULL);
}

START_TEST(a_message_goes_there_and_one_comes_back)
{
	body = str_make("\0\0\0\0\4back", 9);
	has_body = true;
	script.text = "";
	ck_assert_msg(call() == OK, "%s", e.text);
	ck_assert(str_eq(buf_view(&asked), str_make("a\0b", 3)));
	ck_assert_int_eq(answer.failure, HTTP_ANSWERED);
	ck_assert_int_eq(answer.status, GRPC_OK);
	ck_assert(str_eq(buf_view(&answer.message), STR("back")));
	grpc_answer_fini(&answer);
}
END_TEST

START_TEST(an_empty_message_is_an_answer)
{
	ck_assert_msg(call() == OK, "%s", e.text);
	ck_assert_uint_eq(answer.message.n, 0);
	grpc_answer_fini(&answer);
}
END_TEST

START_TEST(a_status_is_an_answer_and_its_text_is_decoded)
{
	script.trailers_only = _i == 0;
	script.status = "13";
	script.text = "Another%20session: 100%, 5%zz \xc3\xa4 %C3%A4%0Aline%1b[0m%";
	ck_assert_msg(call() == OK, "%s", e.text);
	ck_assert_int_eq(answer.status, GRPC_INTERNAL);
	ck_assert_str_eq(answer.text, "Another session: 100%, 5%zz \xc3\xa4 \xc3\xa4?line?[0m%");
	ck_assert_uint_eq(answer.message.n, 0);
	grpc_answer_fini(&answer);
}
END_TEST

static const struct {
	const char *what, *says;
	struct grpc_reply reply;
	struct str body; /* p is NULL: as it is */
	enum http_failure failure;
	int rc;
} bad[] = {
	{ "no trailers", "without a grpc-status", { .http_status = "200", .content_type = "application/grpc" }, { NULL, 0 },
		HTTP_BROKEN, E_NET },
	{ "HTTP status", "HTTP status 404", { .http_status = "404", .content_type = "application/grpc", .status = "0" }, { NULL, 0 },
		HTTP_STRANGE, E_FORMAT },
	{ "a web page", "content-type \"text/html\"", { .http_status = "200", .content_type = "text/html", .status = "0" },
		{ NULL, 0 }, HTTP_STRANGE, E_FORMAT },
	{ "status no number", "grpc-status \"-1\"", { .http_status = "200", .content_type = "application/grpc", .status = "-1" },
		{ NULL, 0 }, HTTP_STRANGE, E_FORMAT },
	{ "status too large", "grpc-status \"99999999999999999999\"", { .http_status = "200",
		.content_type = "application/grpc", .status = "99999999999999999999" }, { NULL, 0 }, HTTP_STRANGE, E_FORMAT },
	{ "compressed", "is compressed", { .http_status = "200", .content_type = "application/grpc", .status = "0" },
		{ "\1\0\0\0\1x", 6 }, HTTP_STRANGE, E_FORMAT },
	{ "no message", "without a message", { .http_status = "200", .content_type = "application/grpc", .status = "0" },
		{ "\0\0\0\0", 4 }, HTTP_STRANGE, E_FORMAT },
	{ "message short", "should have 2 bytes, and 1 came", { .http_status = "200", .content_type = "application/grpc",
		.status = "0" }, { "\0\0\0\0\2x", 6 }, HTTP_STRANGE, E_FORMAT },
	{ "message long", "should have 0 bytes, and 1 came", { .http_status = "200", .content_type = "application/grpc",
		.status = "0" }, { "\0\0\0\0\0x", 6 }, HTTP_STRANGE, E_FORMAT },
	{ "status 0 alone", "without a message", { .http_status = "200", .content_type = "application/grpc", .status = "0",
		.trailers_only = true }, { NULL, 0 }, HTTP_STRANGE, E_FORMAT },
	{ "many fields", "header fields: larger than", { .http_status = "200", .content_type = "application/grpc", .status = "0",
		.extra_fields = 10 }, { NULL, 0 }, HTTP_STRANGE, E_LIMIT },
	{ "reset", "", { .reset = true }, { NULL, 0 }, HTTP_STRANGE, E_NET },
	{ "garbage", "", { .raw = "220 mail.example.net ready, and some more bytes\r\n" }, { NULL, 0 }, HTTP_FAILURES, E_NET },
	{ "nothing, and closed", "", { .raw = "" }, { NULL, 0 }, HTTP_FAILURES, E_NET },
};

START_TEST(what_is_no_grpc_is_refused_and_named)
{
	script = bad[_i].reply;
	if (script.http_status == NULL)
		script.http_status = "200";
	has_body = bad[_i].body.p != NULL;
	body = bad[_i].body;
	ck_assert_msg(call() == bad[_i].rc, "%s: %s", bad[_i].what, e.text);
	ck_assert_msg(str_contains(str_of(e.text), str_of(bad[_i].says)), "%s: %s", bad[_i].what, e.text);
	if (bad[_i].failure != HTTP_FAILURES)
		ck_assert_msg(answer.failure == bad[_i].failure, "%s: %d", bad[_i].what, answer.failure);
	else
		ck_assert(answer.failure == HTTP_STRANGE || answer.failure == HTTP_BROKEN);
	ck_assert_uint_eq(answer.message.n, 0);
	grpc_answer_fini(&answer);
}
END_TEST

START_TEST(an_answer_that_is_cut_is_none)
{
	script.hang_up = true;
	ck_assert_int_lt(call(), 0);
	ck_assert_int_ne(answer.failure, HTTP_ANSWERED);
	grpc_answer_fini(&answer);
}
END_TEST

START_TEST(an_answer_over_the_limit_is_refused_at_once)
{
	static char large[40 << 20];

	body = str_make(large, sizeof(large));
	has_body = true;
	ck_assert_int_eq(call(), E_LIMIT);
	ck_assert_int_eq(answer.failure, HTTP_TOO_LARGE);
	grpc_answer_fini(&answer);
	body = str_make(large, 5 + ANSWER_MAX + 1);
	ck_assert_int_eq(call(), E_LIMIT);
	grpc_answer_fini(&answer);
}
END_TEST

START_TEST(a_server_that_takes_too_long_is_given_up)
{
	int64_t began = clock_mono_ns();

	script.delay_ns = 30 * NS_PER_S;
	ck_assert_int_eq(call_with(300 * NS_PER_MS, NULL), E_NET);
	ck_assert_int_eq(answer.failure, HTTP_TIMED_OUT);
	ck_assert_int_lt(clock_mono_ns() - began, 3 * NS_PER_S);
	grpc_answer_fini(&answer);
}
END_TEST

static void call_on_thread(struct thread *t, void *arg)
{
	*(int *)arg = call_with(20 * NS_PER_S, t);
}

START_TEST(a_call_ends_when_its_thread_is_to_stop)
{
	int64_t began = clock_mono_ns();
	struct thread *t = NULL;
	int rc = OK;

	script.delay_ns = 30 * NS_PER_S;
	ck_assert_int_eq(thread_start(&t, "caller", call_on_thread, &rc, &e), OK);
	while (grpc_server_calls(srv) == 0)
		clock_sleep_ns(NS_PER_MS);
	thread_stop(t);
	thread_join(t);
	ck_assert_int_eq(rc, E_STOPPED);
	ck_assert_int_eq(answer.failure, HTTP_STOPPED);
	ck_assert_int_lt(clock_mono_ns() - began, 5 * NS_PER_S);
	grpc_answer_fini(&answer);
}
END_TEST

START_TEST(where_nobody_listens_it_says_so)
{
	char address[40];
	const struct grpc_ask ask = { .address = address, .path = "/x", .connect_ns = NS_PER_S, .total_ns = NS_PER_S,
		.max_answer_bytes = 10 };

	snprintf(address, sizeof(address), "127.0.0.1:%d", grpc_server_port(srv));
	grpc_server_stop(srv);
	srv = NULL;
	ck_assert_int_eq(grpc_call(&ask, &answer, &e), E_NET);
	ck_assert_int_eq(answer.failure, HTTP_UNREACHABLE);
	grpc_answer_fini(&answer);
}
END_TEST

START_TEST(addresses_are_of_this_machine)
{
	static const char *const good[] = { "127.0.0.1:1", "127.8.9.10:65535", "[::1]:9012" };
	static const char *const wrong[] = { "", "9012", ":9012", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
		"10.0.0.1:9012", "0.0.0.0:9012", "localhost:9012", "127.example.net:9012", "[::]:9012", "::1:9012", "[::1:9012",
		"[fe80::1]:9012", "127.0.0.1:9012/x", "x@127.0.0.1:9012", "127.0.0.1 :9012", "127.1:9012" };

	for (size_t i = 0; i < COUNT(good); i++)
		ck_assert_msg(grpc_address_check(str_of(good[i]), &e) == OK, "%s: %s", good[i], e.text);
	for (size_t i = 0; i < COUNT(wrong); i++)
		ck_assert_msg(grpc_address_check(str_of(wrong[i]), &e) == E_USAGE, "%s", wrong[i]);
}
END_TEST

Suite *suite_grpc_client(void)
{
	Suite *s = suite_create("net/grpc_client");
	TCase *tc = tcase_create("grpc_client");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, a_message_goes_there_and_one_comes_back);
	tcase_add_test(tc, an_empty_message_is_an_answer);
	tcase_add_loop_test(tc, a_status_is_an_answer_and_its_text_is_decoded, 0, 2);
	tcase_add_loop_test(tc, what_is_no_grpc_is_refused_and_named, 0, COUNT(bad));
	tcase_add_test(tc, an_answer_that_is_cut_is_none);
	tcase_add_test(tc, an_answer_over_the_limit_is_refused_at_once);
	tcase_add_test(tc, a_server_that_takes_too_long_is_given_up);
	tcase_add_test(tc, a_call_ends_when_its_thread_is_to_stop);
	tcase_add_test(tc, where_nobody_listens_it_says_so);
	tcase_add_test(tc, addresses_are_of_this_machine);
	suite_add_tcase(s, tc);
	return s;
}
