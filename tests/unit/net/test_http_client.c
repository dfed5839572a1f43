#include "net/http_client.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/net/raw.h"

Suite *suite_http_client(void);

static struct http_server *srv;
static struct http_client *client;

static struct http_client_settings settings(void)
{
	return (struct http_client_settings){ .token = "secret-token", .total_ns = 5 * NS_PER_S, .max_answer_bytes = 2 << 20,
		.user_agent = "test/1" };
}

static void start(void)
{
	struct http_client_settings set = settings();
	struct err e = { 0 };

	srv = raw_server(raw_settings());
	ck_assert_int_eq(http_client_open(&client, &set, &e), OK);
}

static void stop(void)
{
	http_client_close(client);
	http_server_close(srv);
}

static char *url(const char *path)
{
	static char text[200];

	snprintf(text, sizeof(text), "http://127.0.0.1:%d%s", http_server_port(srv), path);
	return text;
}

START_TEST(a_body_goes_there_and_back)
{
	const struct http_answer *an = NULL;
	struct err e = { 0 };
	struct http_ask post = { .method = "POST", .url = url("/echo"), .body = str_make("a\0b", 3),
		.content_type = "application/x-protobuf", .content_encoding = "zstd" };

	for (int i = 0; i < 3; i++) {
		ck_assert_msg(http_exchange(client, &post, &an, &e) == OK, "%s", e.text);
		ck_assert_int_eq(an->status, 200);
		ck_assert(str_eq(buf_view(&an->body), post.body));
		ck_assert_str_eq(an->content_type, "application/octet-stream");
	}
}
END_TEST

START_TEST(any_status_is_an_answer)
{
	const struct http_answer *an = NULL;
	struct err e = { 0 };
	struct http_ask ask = { .method = "GET", .url = url("/nowhere") };

	ck_assert_int_eq(http_exchange(client, &ask, &an, &e), OK);
	ck_assert_int_eq(an->status, 404);
	ask.url = url("/path/x");
	ask.header = "X-Test: more";
	ck_assert_int_eq(http_exchange(client, &ask, &an, &e), OK);
	ck_assert(str_eq(buf_view(&an->body), STR("/path/x||more")));
	ask.method = "HEAD";
	ask.url = url("/big");
	ck_assert_int_eq(http_exchange(client, &ask, &an, &e), OK);
	ck_assert_uint_eq(an->body.n, 0);
}
END_TEST

START_TEST(an_answer_over_the_limit_is_refused)
{
	struct http_client_settings set = settings();
	const struct http_answer *an = NULL;
	struct http_client *small;
	struct err e = { 0 };
	struct http_ask ask = { .method = "GET", .url = url("/big") };

	set.max_answer_bytes = 1000;
	ck_assert_int_eq(http_client_open(&small, &set, &e), OK);
	ck_assert_int_eq(http_exchange(small, &ask, &an, &e), E_LIMIT);
	ck_assert_ptr_null(an);
	http_client_close(small);
}
END_TEST

START_TEST(no_answer_is_a_failure_that_names_the_host_and_never_the_token)
{
	const struct http_answer *an = NULL;
	struct err e = { 0 };
	struct http_ask ask = { .method = "GET", .url = "http://127.0.0.1:1/" };

	ck_assert_int_eq(http_exchange(client, &ask, &an, &e), E_NET);
	ck_assert(str_has_prefix(str_of(e.text), STR("127.0.0.1: ")));
	ck_assert(!str_contains(str_of(e.text), STR("secret")));
	ask.url = "file:///etc/passwd";
	ck_assert_int_eq(http_exchange(client, &ask, &an, &e), E_USAGE);
	ask.url = "";
	ck_assert_int_eq(http_exchange(client, &ask, &an, &e), E_USAGE);
}
END_TEST

/* Listens, and never says a word; the URL in text. */
static int deaf_server(char *text, size_t cap)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	snprintf(text, cap, "http://127.0.0.1:%d/", ntohs(sa.sin_port));
	return fd;
}

START_TEST(a_server_that_says_nothing_is_given_up)
{
	struct http_client_settings set = settings();
	const struct http_answer *an = NULL;
	struct http_client *quick;
	struct err e = { 0 };
	struct http_ask ask = { .method = "GET" };
	char text[100];
	int fd = deaf_server(text, sizeof(text));
	int64_t began = clock_mono_ns();

	ask.url = text;
	set.total_ns = 300 * NS_PER_MS;
	ck_assert_int_eq(http_client_open(&quick, &set, &e), OK);
	ck_assert_int_eq(http_exchange(quick, &ask, &an, &e), E_NET);
	ck_assert_int_lt(clock_mono_ns() - began, 3 * NS_PER_S);
	http_client_close(quick);
	close(fd);
}
END_TEST

START_TEST(one_exchange_may_have_less_time_than_the_others)
{
	const struct http_answer *an = NULL;
	struct err e = { 0 };
	struct http_ask ask = { .method = "GET", .total_ns = 200 * NS_PER_MS };
	char text[100];
	int fd = deaf_server(text, sizeof(text));
	int64_t began = clock_mono_ns();

	ask.url = text;
	ck_assert_int_eq(http_exchange(client, &ask, &an, &e), E_NET);
	ck_assert_int_lt(clock_mono_ns() - began, 3 * NS_PER_S);
	close(fd);
}
END_TEST

static void ask_deaf(struct thread *thread, void *arg)
{
	struct http_ask *ask = arg;
	const struct http_answer *an = NULL;
	struct err e = { 0 };

	ask->thread = thread;
	ck_assert_int_eq(http_exchange(client, ask, &an, &e), E_STOPPED);
	ck_assert_str_eq(e.text, "127.0.0.1: given up, since the program stops");
}

START_TEST(an_exchange_ends_when_its_thread_is_to_stop)
{
	struct http_ask ask = { .method = "GET" };
	char text[100];
	int fd = deaf_server(text, sizeof(text));
	int64_t began = clock_mono_ns();
	struct thread *thread;

	ask.url = text;
	ck_assert_int_eq(thread_start(&thread, "ask", ask_deaf, &ask, NULL), OK);
	clock_sleep_ns(100 * NS_PER_MS);
	thread_join(thread);
	ck_assert_int_lt(clock_mono_ns() - began, 3 * NS_PER_S);
	close(fd);
}
END_TEST

struct canned {
	int fd;
	const char *answer;
	char request[4096];
};

static void *serve_once(void *arg)
{
	struct canned *c = arg;
	int fd = accept(c->fd, NULL, NULL);
	ssize_t n = read(fd, c->request, sizeof(c->request) - 1);

	if (n > 0)
		raw_send(fd, str_of(c->answer));
	close(fd);
	return NULL;
}

/* One exchange with a server that gives c's answer. */
static int ask_canned(struct canned *c, const struct http_answer **an, struct err *e)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);
	struct http_ask ask = { .method = "POST", .body = STR("x") };
	char text[100];
	pthread_t t;
	int rc;

	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(c->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(c->fd, 1), 0);
	ck_assert_int_eq(getsockname(c->fd, (struct sockaddr *)&sa, &len), 0);
	ck_assert_int_eq(pthread_create(&t, NULL, serve_once, c), 0);
	snprintf(text, sizeof(text), "http://127.0.0.1:%d/", ntohs(sa.sin_port));
	ask.url = text;
	rc = http_exchange(client, &ask, an, e);
	pthread_join(t, NULL);
	close(c->fd);
	return rc;
}

static const char *const no_http[] = { "", "\n", "SSH-2.0-OpenSSH_9.2\r\n", "\x15\x03\x01\x00\x02\x02", "220 mail ready\r\n" };

START_TEST(what_answers_and_is_no_http_is_told_as_that)
{
	struct canned c = { .answer = no_http[_i] };
	const struct http_answer *an = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(ask_canned(&c, &an, &e), E_NET);
	ck_assert_int_eq(http_failure(client), _i == 0 ? HTTP_BROKEN : HTTP_STRANGE);
	ck_assert(!str_contains(str_of(e.text), STR("URL")));
}
END_TEST

START_TEST(a_redirect_is_not_followed_and_retry_after_is_read)
{
	struct canned c = {
		.answer = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n" };
	const struct http_answer *an = NULL;
	struct err e = { 0 };

	setenv("http_proxy", "http://127.0.0.1:1", 1); /* not for this machine */
	ck_assert_msg(ask_canned(&c, &an, &e) == OK, "%s", e.text);
	ck_assert_int_eq(an->status, 302);
	ck_assert_int_eq(an->retry_after_ns, 7 * NS_PER_S);
	ck_assert(str_contains(str_of(c.request), STR("Authorization: Bearer secret-token\r\n")));
	ck_assert(!str_contains(str_of(c.request), STR("Expect:")));
	ck_assert(!str_contains(str_of(c.request), STR("Content-Type:")));
}
END_TEST

START_TEST(a_token_with_a_line_break_is_refused)
{
	struct http_client_settings set = settings();
	struct http_client *none = NULL;

	set.token = "abc\r\nX-Evil: 1";
	ck_assert_int_eq(http_client_open(&none, &set, NULL), E_USAGE);
	ck_assert_ptr_null(none);
}
END_TEST

START_TEST(a_query_is_percent_encoded)
{
	struct buf b;

	buf_init(&b, 100);
	http_encode(STR("aten::mul_ ~é&=+/"), &b);
	ck_assert(str_eq(buf_view(&b), STR("aten%3A%3Amul_%20~%C3%A9%26%3D%2B%2F")));
	buf_fini(&b);
}
END_TEST

START_TEST(waiting_times_grow_to_the_cap_and_are_spread)
{
	ck_assert_int_eq(http_backoff_ns(0, NS_PER_S, NS_PER_MIN, 1.0), NS_PER_S);
	ck_assert_int_eq(http_backoff_ns(3, NS_PER_S, NS_PER_MIN, 1.0), 8 * NS_PER_S);
	ck_assert_int_eq(http_backoff_ns(3, NS_PER_S, NS_PER_MIN, 0.5), 4 * NS_PER_S);
	ck_assert_int_eq(http_backoff_ns(3, NS_PER_S, NS_PER_MIN, 0.0), 0);
	ck_assert_int_eq(http_backoff_ns(4000000000u, NS_PER_S, NS_PER_MIN, 1.0), NS_PER_MIN);
	ck_assert_int_eq(http_backoff_ns(200, NS_PER_S, INT64_MAX, 0.0), 0);
}
END_TEST

Suite *suite_http_client(void)
{
	Suite *s = suite_create("net/http_client");
	TCase *tc = tcase_create("http_client");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, a_body_goes_there_and_back);
	tcase_add_test(tc, any_status_is_an_answer);
	tcase_add_test(tc, an_answer_over_the_limit_is_refused);
	tcase_add_test(tc, no_answer_is_a_failure_that_names_the_host_and_never_the_token);
	tcase_add_test(tc, a_server_that_says_nothing_is_given_up);
	tcase_add_test(tc, one_exchange_may_have_less_time_than_the_others);
	tcase_add_test(tc, an_exchange_ends_when_its_thread_is_to_stop);
	tcase_add_loop_test(tc, what_answers_and_is_no_http_is_told_as_that, 0, COUNT(no_http));
	tcase_add_test(tc, a_redirect_is_not_followed_and_retry_after_is_read);
	tcase_add_test(tc, a_token_with_a_line_break_is_refused);
	tcase_add_test(tc, a_query_is_percent_encoded);
	tcase_add_test(tc, waiting_times_grow_to_the_cap_and_are_spread);
	suite_add_tcase(s, tc);
	return s;
}
