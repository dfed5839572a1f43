#include "net/http_server.h"

#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "json/write.h"
#include "tests/unit/net/raw.h"

Suite *suite_http_server(void);

static struct http_server *srv;

static void start(void)
{
	srv = raw_server(raw_settings());
}

static void stop(void)
{
	http_server_close(srv);
}

/* ---- what is refused, and how */
static const struct {
	const char *what, *bytes;
	int status;
} hostile[] = {
	{ "no HTTP at all", "hello\r\n\r\n", 400 },
	{ "a line of another protocol", "EHLO example.org\r\n\r\n", 400 },
	{ "HTTP/0.9", "GET /who\r\n\r\n", 400 },
	{ "HTTP/2.0", "GET /who HTTP/2.0\r\nHost: a\r\n\r\n", 505 },
	{ "two spaces", "GET  /who HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "a tab in the request line", "GET\t/who HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "lower case version", "GET /who http/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "no Host", "GET /who HTTP/1.1\r\n\r\n", 400 },
	{ "two Hosts", "GET /who HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400 },
	{ "an unknown method", "BREW /who HTTP/1.1\r\nHost: a\r\n\r\n", 501 },
	{ "a path without a slash", "GET who HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "a dot segment", "GET /a/../who HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "an encoded dot segment", "GET /a/%2e%2e/who HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "an encoded NUL", "GET /who%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "a bad escape", "GET /who%2 HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "a bad hex digit", "GET /who%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "a raw byte over 127 in the path", "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "a bare LF", "GET /who HTTP/1.1\nHost: a\n\n", 400 },
	{ "a bare LF in a header", "GET /who HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400 },
	{ "a bare CR in a header", "GET /who HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400 },
	{ "a folded header", "GET /who HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", 400 },
	{ "a space in front of the colon", "GET /who HTTP/1.1\r\nHost : a\r\n\r\n", 400 },
	{ "a header without a colon", "GET /who HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n", 400 },
	{ "a header without a name", "GET /who HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", 400 },
	{ "a control character in a value", "GET /who HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", 400 },
	{ "two different lengths", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400 },
	{ "the same length twice", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", 400 },
	{ "a list of lengths", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na", 400 },
	{ "a negative length", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400 },
	{ "a length with a sign", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na", 400 },
	{ "a length in hex", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\na", 400 },
	{ "an empty length", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400 },
	{ "a length beyond 64 bits", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 413 },
	{ "a length over the limit", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 413 },
	{ "length and chunked",
	  "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400 },
	{ "chunked and length",
	  "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400 },
	{ "another coding", "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501 },
	{ "chunked twice", "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
	  501 },
	{ "chunked in HTTP/1.0", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400 },
	{ "a chunk size with 0x", "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n", 400 },
	{ "an endless chunk size",
	  "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n000000001\r\na\r\n0\r\n\r\n", 400 },
	{ "a chunk size of 4 GiB", "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\na", 400 },
	{ "an empty chunk size", "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\na\r\n0\r\n\r\n", 400 },
	{ "a chunk that ends late", "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400 },
	{ "a bare LF behind a chunk size", "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\na\n0\n\n", 400 },
};

START_TEST(a_hostile_request_is_refused_with_a_problem_and_the_connection_closed)
{
	struct buf b = raw_exchange(srv, str_of(hostile[_i].bytes));

	ck_assert_msg(raw_status(&b) == hostile[_i].status, "%s: %.*s", hostile[_i].what, STR_ARG(buf_view(&b)));
	ck_assert_msg(str_contains(buf_view(&b), STR("Connection: close\r\n")), "%s", hostile[_i].what);
	ck_assert_msg(str_contains(buf_view(&b), STR("application/problem+json")), "%s", hostile[_i].what);
	ck_assert_msg(str_contains(buf_view(&b), STR("\"type\":\"urn:trainspotter:")), "%s", hostile[_i].what);
	/* one reply: nothing of the rest was taken for a second request */
	ck_assert_msg(!str_contains(raw_body(&b), STR("\nHTTP/1.1 ")), "%s", hostile[_i].what);
	buf_fini(&b);
}
END_TEST

/* ---- what is taken */
static const struct {
	const char *what, *bytes;
	const char *body;
} fine[] = {
	{ "a plain GET", "GET /path/a HTTP/1.1\r\nHost: a\r\n\r\n", "/path/a||" },
	{ "HTTP/1.0 without Host", "GET /path/a HTTP/1.0\r\n\r\n", "/path/a||" },
	{ "an empty line in front", "\r\nGET /path/a HTTP/1.1\r\nHost: a\r\n\r\n", "/path/a||" },
	{ "escapes and a query as it came", "GET /path/%41%20b?x=%41+1&y HTTP/1.1\r\nHost: a\r\n\r\n", "/path/A b|x=%41+1&y|" },
	{ "the absolute form", "GET http://a.example/path/x?q HTTP/1.1\r\nHost: a\r\n\r\n", "/path/x|q|" },
	{ "the absolute form in capitals", "GET HTTP://A.EXAMPLE/path/x HTTP/1.1\r\nHost: a\r\n\r\n", "/path/x||" },
	{ "a header of another case", "GET /path/a HTTP/1.1\r\nhOST: a\r\nX-TEST: \t v w \t\r\n\r\n", "/path/a||v w" },
	{ "a body", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "hello" },
	{ "no body", "POST /echo HTTP/1.1\r\nHost: a\r\n\r\n", "" },
	{ "chunks", "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n02;x=y\r\nlo\r\n0\r\nT: v\r\n\r\n",
	  "hello" },
};

START_TEST(a_good_request_gets_its_answer)
{
	struct buf b = raw_exchange(srv, str_of(fine[_i].bytes));

	ck_assert_msg(raw_status(&b) == 200, "%s: %.*s", fine[_i].what, STR_ARG(buf_view(&b)));
	ck_assert_msg(str_eq(raw_body(&b), str_of(fine[_i].body)), "%s: %.*s", fine[_i].what, STR_ARG(buf_view(&b)));
	buf_fini(&b);
}
END_TEST

START_TEST(a_request_cut_at_any_byte_is_the_same_request)
{
	struct str all = STR("\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
			     "GET /path/z?q HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

	for (size_t cut = 1; cut < all.n; cut++) {
		int fd = raw_connect(srv);
		struct buf b;

		buf_init(&b, 1 << 20);
		raw_send(fd, str_upto(all, cut));
		clock_sleep_ns(NS_PER_MS / 2);
		raw_send(fd, str_from(all, cut));
		ck_assert(raw_read(fd, 5000, &b));
		ck_assert_int_eq(raw_status(&b), 200);
		ck_assert_msg(str_has_prefix(raw_body(&b), STR("helloHTTP/1.1 200 OK\r\n")), "cut at %zu", cut);
		ck_assert_msg(str_has_suffix(buf_view(&b), STR("/path/z|q|")), "cut at %zu", cut);
		buf_fini(&b);
		close(fd);
	}
}
END_TEST

START_TEST(requests_behind_each_other_are_all_answered_when_the_client_shuts_its_side)
{
	struct buf b = raw_exchange(srv, STR("GET /path/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
					     "GET /path/3 HTTP/1.1\r\nHost: a\r\n\r\n"));

	ck_assert_int_eq(raw_status(&b), 200);
	ck_assert(str_contains(buf_view(&b), STR("/path/1||HTTP/1.1 200 OK\r\n")));
	ck_assert(str_contains(buf_view(&b), STR("slow\nHTTP/1.1 200 OK\r\n")));
	ck_assert(str_has_suffix(buf_view(&b), STR("/path/3||")));
	buf_fini(&b);
	b = raw_exchange(srv, STR("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /path/2 HTT")); /* and half a one is no reason to wait */
	ck_assert(str_has_suffix(buf_view(&b), STR("slow\n")));
	buf_fini(&b);
	b = raw_exchange(srv, STR("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /path/2 HTTP/1.1\r\n\r\n"));
	ck_assert(str_contains(buf_view(&b), STR("slow\nHTTP/1.1 400 Bad Request\r\n")));
	buf_fini(&b);
}
END_TEST

START_TEST(a_head_request_gets_the_length_and_no_body)
{
	int fd = raw_connect(srv);
	struct buf b;

	buf_init(&b, 1 << 20);
	raw_send(fd, STR("HEAD /big HTTP/1.1\r\nHost: a\r\n\r\n"
			 "GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
	ck_assert(raw_read(fd, 5000, &b));
	close(fd);
	ck_assert_int_eq(raw_status(&b), 200);
	ck_assert(str_contains(buf_view(&b), STR("Content-Length: 1048576\r\n")));
	ck_assert(str_has_prefix(raw_body(&b), STR("HTTP/1.1 200 OK\r\n")));
	ck_assert(str_has_suffix(buf_view(&b), STR(" GET")));
	buf_fini(&b);
}
END_TEST

START_TEST(a_204_has_neither_body_nor_length)
{
	struct buf b = raw_exchange(srv, STR("GET /empty HTTP/1.1\r\nHost: a\r\n\r\n"));

	ck_assert_int_eq(raw_status(&b), 204);
	ck_assert(!str_contains(buf_view(&b), STR("Content-Length")));
	ck_assert(str_empty(raw_body(&b)));
	buf_fini(&b);
}
END_TEST

START_TEST(a_large_answer_arrives_whole)
{
	struct buf b = raw_exchange(srv, STR("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));

	ck_assert_uint_eq(raw_body(&b).n, 1 << 20);
	buf_fini(&b);
}
END_TEST

START_TEST(a_value_with_a_line_break_makes_no_header_of_its_own)
{
	struct buf b = raw_exchange(srv, STR("GET /path/a HTTP/1.1\r\nHost: a\r\n\r\n"));

	ck_assert(str_contains(buf_view(&b), STR("X-Back: one  X-Evil: two\r\n")));
	buf_fini(&b);
}
END_TEST

START_TEST(a_handler_learns_who_asks)
{
	struct buf b = raw_exchange(srv, STR("GET /who HTTP/1.1\r\nHost: a\r\n\r\n"));

	ck_assert(str_has_prefix(raw_body(&b), STR("1 127.0.0.1:")));
	buf_fini(&b);
}
END_TEST

START_TEST(headers_over_the_limit_are_refused)
{
	struct buf rq, b;

	buf_init(&rq, 1 << 20);
	buf_text(&rq, "GET /who HTTP/1.1\r\nHost: a\r\nX: ");
	buf_fill(&rq, 'x', 100000);
	b = raw_exchange(srv, buf_view(&rq));
	ck_assert_int_eq(raw_status(&b), 431);
	buf_fini(&b);

	buf_reset(&rq);
	buf_text(&rq, "GET /who HTTP/1.1\r\nHost: a\r\n");
	for (int i = 0; i < 100; i++)
		buf_fmt(&rq, "X-%d: y\r\n", i);
	buf_text(&rq, "\r\n");
	b = raw_exchange(srv, buf_view(&rq));
	ck_assert_int_eq(raw_status(&b), 431);
	buf_fini(&b);
	buf_fini(&rq);
}
END_TEST

START_TEST(a_chunked_body_over_the_limit_is_refused)
{
	struct buf rq, b;

	buf_init(&rq, 1 << 20);
	buf_text(&rq, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 70; i++) {
		buf_text(&rq, "400\r\n");
		buf_fill(&rq, 'x', 1024);
		buf_text(&rq, "\r\n");
	}
	b = raw_exchange(srv, buf_view(&rq));
	ck_assert_int_eq(raw_status(&b), 413);
	buf_fini(&b);
	buf_fini(&rq);
}
END_TEST

START_TEST(a_body_of_exactly_the_limit_is_taken)
{
	struct buf rq, b;

	buf_init(&rq, 1 << 20);
	buf_text(&rq, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n");
	buf_fill(&rq, 'x', 65536);
	b = raw_exchange(srv, buf_view(&rq));
	ck_assert_int_eq(raw_status(&b), 200);
	ck_assert_uint_eq(raw_body(&b).n, 65536);
	buf_fini(&b);
	buf_fini(&rq);
}
END_TEST

START_TEST(a_client_that_expects_a_100_gets_it_before_it_sends_the_body)
{
	int fd = raw_connect(srv);
	struct buf b;

	buf_init(&b, 1 << 20);
	raw_send(fd, STR("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
	raw_read(fd, 200, &b);
	ck_assert(str_eq(buf_view(&b), STR("HTTP/1.1 100 Continue\r\n\r\n")));
	raw_send(fd, STR("ok"));
	buf_reset(&b);
	raw_read(fd, 200, &b);
	ck_assert(str_eq(raw_body(&b), STR("ok")));
	buf_fini(&b);
	close(fd);
}
END_TEST

START_TEST(bytes_that_trickle_in_do_not_extend_the_time_of_a_request)
{
	struct http_server_settings set = raw_settings();
	struct http_server *quick;
	int64_t began;
	struct buf b;
	int fd;

	set.request_ns = 400 * NS_PER_MS;
	quick = raw_server(set);
	fd = raw_connect(quick);
	buf_init(&b, 1 << 20);
	raw_send(fd, STR("GET /who HTTP/1.1\r\n"));
	began = clock_mono_ns();
	for (int i = 0; i < 40 && b.n == 0; i++) {
		raw_send(fd, STR("X: y\r\n"));
		raw_read(fd, 100, &b);
	}
	ck_assert_int_lt(clock_mono_ns() - began, 3 * NS_PER_S);
	ck_assert_int_eq(raw_status(&b), 408);
	close(fd);

	/* the same inside a body */
	buf_reset(&b);
	fd = raw_connect(quick);
	raw_send(fd, STR("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"));
	for (int i = 0; i < 40 && b.n == 0; i++) {
		raw_send(fd, STR("z"));
		raw_read(fd, 100, &b);
	}
	ck_assert_int_eq(raw_status(&b), 408);
	close(fd);
	buf_fini(&b);
	http_server_close(quick);
}
END_TEST

static size_t first_answered(const int fd[3])
{
	struct pollfd p[3] = { { fd[0], POLLIN, 0 }, { fd[1], POLLIN, 0 }, { fd[2], POLLIN, 0 } };
	size_t i = 0;

	ck_assert_int_gt(poll(p, 3, 10000), 0);
	while (p[i].revents == 0)
		i++;
	return i;
}

START_TEST(bodies_that_are_too_much_together_are_refused_and_there_is_room_again_later)
{
	struct http_server_settings set = raw_settings();
	struct str head = STR("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n");
	struct http_server *small;
	struct buf b, body;
	size_t refused;
	int fd[3];

	set.all_bodies_bytes = 100000;
	small = raw_server(set);
	buf_init(&b, 1 << 20);
	buf_init(&body, 1 << 20);
	buf_fill(&body, 'x', 39999);
	for (int i = 0; i < 3; i++) {
		fd[i] = raw_connect(small);
		raw_send(fd[i], head);
		raw_send(fd[i], buf_view(&body));
	}
	refused = first_answered(fd); /* whichever was read last */
	ck_assert(raw_read(fd[refused], 10000, &b));
	ck_assert_int_eq(raw_status(&b), 503);
	ck_assert(str_contains(buf_view(&b), STR("Retry-After: 1\r\n")));
	close(fd[refused]);
	fd[refused] = fd[2];
	for (int i = 0; i < 4; i++) { /* those that were there go on, and later ones find room */
		int at = i < 2 ? fd[i] : raw_connect(small);

		if (i >= 2) {
			raw_send(at, head);
			raw_send(at, buf_view(&body));
		}
		raw_send(at, STR("x"));
		shutdown(at, SHUT_WR);
		buf_reset(&b);
		ck_assert(raw_read(at, 10000, &b));
		ck_assert_msg(raw_status(&b) == 200, "request %d: %.*s", i, STR_ARG(str_upto(buf_view(&b), 300)));
		close(at);
	}
	buf_fini(&b);
	buf_fini(&body);
	http_server_close(small);
}
END_TEST

START_TEST(large_answers_that_nobody_reads_are_not_piled_up)
{
	struct str ask = STR("GET /huge HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	struct http_server_settings set = raw_settings();
	struct http_server *small;
	struct buf b;
	int lazy, other;

	set.all_replies_bytes = 24 << 20;
	small = raw_server(set);
	buf_init(&b, 20 << 20);
	lazy = raw_connect(small);
	raw_send(lazy, ask);
	raw_read_some(lazy, 10000, &b); /* its beginning: the rest does not fit into what lies between */
	ck_assert_int_eq(raw_status(&b), 200);
	other = raw_connect(small);
	raw_send(other, ask);
	buf_reset(&b);
	ck_assert(raw_read(other, 10000, &b));
	ck_assert_int_eq(raw_status(&b), 503);
	close(other);
	other = raw_connect(small); /* a small one goes through */
	raw_send(other, STR("GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
	buf_reset(&b);
	ck_assert(raw_read(other, 10000, &b));
	ck_assert_int_eq(raw_status(&b), 200);
	close(other);
	buf_reset(&b);
	ck_assert(raw_read(lazy, 10000, &b)); /* who reads makes room */
	close(lazy);
	other = raw_connect(small);
	raw_send(other, ask);
	buf_reset(&b);
	ck_assert(raw_read(other, 10000, &b));
	ck_assert_int_eq(raw_status(&b), 200);
	ck_assert_uint_eq(raw_body(&b).n, 16 << 20);
	close(other);
	buf_fini(&b);
	http_server_close(small);
}
END_TEST

START_TEST(over_the_cap_the_connection_that_was_idle_longest_makes_room)
{
	struct str ask = STR("GET /who HTTP/1.1\r\nHost: a\r\n\r\n");
	int fd[24];
	struct buf b;

	buf_init(&b, 1 << 20);
	for (int i = 0; i < 24; i++) { /* a fleet of agents that keep theirs */
		fd[i] = raw_connect(srv);
		raw_send(fd[i], ask);
		buf_reset(&b);
		raw_read_some(fd[i], 10000, &b);
		ck_assert_msg(raw_status(&b) == 200, "connection %d: %.*s", i, STR_ARG(buf_view(&b)));
	}
	for (int i = 0; i < 24; i++) {
		buf_reset(&b);
		raw_send(fd[i], i < 8 ? STR("") : ask);
		if (i < 8)
			ck_assert_msg(raw_read(fd[i], 10000, &b) && b.n == 0, "connection %d is still open", i);
		else
			raw_read_some(fd[i], 10000, &b);
		ck_assert_msg(i < 8 || raw_status(&b) == 200, "connection %d: %.*s", i, STR_ARG(buf_view(&b)));
		close(fd[i]);
	}
	buf_fini(&b);
}
END_TEST

/* What was sent is in the server's hands before the next one connects, read or not. */
START_TEST(a_burst_over_the_cap_cuts_nobody_off_who_has_asked)
{
	int fd[64];
	struct buf b;

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < COUNT(fd); i++) {
		fd[i] = raw_connect(srv);
		raw_send(fd[i], STR("GET /who HTTP/1.1\r\nHost: a\r\n\r\n"));
	}
	for (size_t i = 0; i < COUNT(fd); i++) {
		buf_reset(&b);
		raw_read_some(fd[i], 10000, &b);
		ck_assert_msg(raw_status(&b) == 200 || raw_status(&b) == 503, "connection %zu: %.*s", i, STR_ARG(buf_view(&b)));
		close(fd[i]);
	}
	buf_fini(&b);
}
END_TEST

START_TEST(connections_over_the_cap_are_turned_away_and_there_is_room_again_later)
{
	int fd[16], more;
	struct buf b;

	buf_init(&b, 1 << 20);
	for (int i = 0; i < 16; i++) {
		fd[i] = raw_connect(srv);
		raw_send(fd[i], STR("GET /who HTTP/1.1\r\nHost: a\r\n\r\nGET /who"));
		buf_reset(&b);
		raw_read_some(fd[i], 10000, &b);
		ck_assert_int_eq(raw_status(&b), 200);
	}
	clock_sleep_ns(100 * NS_PER_MS); /* until the server knows that all of them are in the middle of a request */
	more = raw_connect(srv);
	buf_reset(&b);
	ck_assert(raw_read(more, 10000, &b));
	ck_assert_int_eq(raw_status(&b), 503);
	close(more);

	close(fd[0]); /* which the server sees when it comes to it */
	for (int i = 0; i < 500 && raw_status(&b) != 200; i++) {
		clock_sleep_ns(10 * NS_PER_MS);
		more = raw_connect(srv);
		raw_send(more, STR("GET /who HTTP/1.1\r\nHost: a\r\n\r\n"));
		buf_reset(&b);
		raw_read_some(more, 10000, &b);
		close(more);
	}
	ck_assert_int_eq(raw_status(&b), 200);
	for (int i = 1; i < 16; i++)
		close(fd[i]);
	buf_fini(&b);
}
END_TEST

START_TEST(requests_over_the_queue_get_503_and_a_time_to_come_back)
{
	int fd[12], busy = 0, good = 0;
	struct buf b;

	buf_init(&b, 1 << 20);
	for (int i = 0; i < 12; i++) {
		fd[i] = raw_connect(srv);
		raw_send(fd[i], STR("GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
	}
	for (int i = 0; i < 12; i++) {
		buf_reset(&b);
		ck_assert(raw_read(fd[i], 5000, &b));
		good += raw_status(&b) == 200;
		if (raw_status(&b) == 503) {
			busy++;
			ck_assert(str_contains(buf_view(&b), STR("Retry-After: 1\r\n")));
		}
		close(fd[i]);
	}
	ck_assert_int_eq(good + busy, 12);
	ck_assert_int_ge(good, 4);
	ck_assert_int_ge(busy, 1);
	buf_fini(&b);
}
END_TEST

START_TEST(a_client_that_goes_away_harms_nobody)
{
	struct buf b;

	for (int i = 0; i < 3; i++) {
		int fd = raw_connect(srv);
		struct linger rst = { 1, 0 };

		raw_send(fd, STR("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"));
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &rst, sizeof(rst));
		close(fd);
	}
	clock_sleep_ns(700 * NS_PER_MS);
	b = raw_exchange(srv, STR("GET /who HTTP/1.1\r\nHost: a\r\n\r\n"));
	ck_assert_int_eq(raw_status(&b), 200);
	buf_fini(&b);
}
END_TEST

static void *close_it(void *arg)
{
	http_server_close(arg);
	return NULL;
}

START_TEST(closing_answers_what_is_being_handled_and_takes_nothing_new)
{
	struct http_server *other = raw_server(raw_settings());
	int fd = raw_connect(other), idle = raw_connect(other), slow = raw_slow;
	pthread_t t;
	struct buf b;

	buf_init(&b, 1 << 20);
	raw_send(fd, STR("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"));
	while (raw_slow == slow)
		clock_sleep_ns(NS_PER_MS);
	ck_assert_int_eq(pthread_create(&t, NULL, close_it, other), 0);
	ck_assert_msg(raw_read(idle, 10000, &b), "an idle connection was kept");
	ck_assert_uint_eq(b.n, 0);
	ck_assert(raw_read(fd, 5000, &b));
	ck_assert_int_eq(raw_status(&b), 200);
	ck_assert(str_contains(buf_view(&b), STR("Connection: close\r\n")));
	ck_assert(str_eq(raw_body(&b), STR("slow\n")));
	close(fd);
	close(idle);
	pthread_join(t, NULL);
	buf_fini(&b);
}
END_TEST

START_TEST(an_address_that_is_taken_or_wrong_is_an_error)
{
	struct http_server_settings set = raw_settings();
	struct http_server *none = NULL;
	struct err e = { 0 };

	set.port = http_server_port(srv);
	ck_assert_int_ne(http_server_open(&none, &set, NULL, NULL, &e), OK);
	ck_assert_ptr_null(none);
	ck_assert(str_contains(str_of(e.text), STR("127.0.0.1")));
	set.address = "no such address";
	ck_assert_int_eq(http_server_open(&none, &set, NULL, NULL, &e), E_USAGE);
}
END_TEST

Suite *suite_http_server(void)
{
	Suite *s = suite_create("net/http_server");
	TCase *tc = tcase_create("http_server");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_loop_test(tc, a_hostile_request_is_refused_with_a_problem_and_the_connection_closed, 0, COUNT(hostile));
	tcase_add_loop_test(tc, a_good_request_gets_its_answer, 0, COUNT(fine));
	tcase_add_test(tc, a_request_cut_at_any_byte_is_the_same_request);
	tcase_add_test(tc, requests_behind_each_other_are_all_answered_when_the_client_shuts_its_side);
	tcase_add_test(tc, a_head_request_gets_the_length_and_no_body);
	tcase_add_test(tc, a_204_has_neither_body_nor_length);
	tcase_add_test(tc, a_large_answer_arrives_whole);
	tcase_add_test(tc, a_value_with_a_line_break_makes_no_header_of_its_own);
	tcase_add_test(tc, a_handler_learns_who_asks);
	tcase_add_test(tc, headers_over_the_limit_are_refused);
	tcase_add_test(tc, a_chunked_body_over_the_limit_is_refused);
	tcase_add_test(tc, a_body_of_exactly_the_limit_is_taken);
	tcase_add_test(tc, a_client_that_expects_a_100_gets_it_before_it_sends_the_body);
	tcase_add_test(tc, bytes_that_trickle_in_do_not_extend_the_time_of_a_request);
	tcase_add_test(tc, bodies_that_are_too_much_together_are_refused_and_there_is_room_again_later);
	tcase_add_test(tc, large_answers_that_nobody_reads_are_not_piled_up);
	tcase_add_test(tc, over_the_cap_the_connection_that_was_idle_longest_makes_room);
	tcase_add_test(tc, a_burst_over_the_cap_cuts_nobody_off_who_has_asked);
	tcase_add_test(tc, connections_over_the_cap_are_turned_away_and_there_is_room_again_later);
	tcase_add_test(tc, requests_over_the_queue_get_503_and_a_time_to_come_back);
	tcase_add_test(tc, a_client_that_goes_away_harms_nobody);
	tcase_add_test(tc, closing_answers_what_is_being_handled_and_takes_nothing_new);
	tcase_add_test(tc, an_address_that_is_taken_or_wrong_is_an_error);
	suite_add_tcase(s, tc);
	return s;
}
