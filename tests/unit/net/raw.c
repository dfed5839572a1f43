#include "tests/unit/net/raw.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

atomic_int raw_slow;

static void handle(void *env, const struct http_request *rq, struct http_reply *rp)
{
	(void)env;
	if (str_eq(rq->path, STR("/echo"))) {
		rp->content_type = "application/octet-stream";
		buf_str(&rp->body, rq->body);
	} else if (str_eq(rq->path, STR("/slow"))) {
		raw_slow++;
		clock_sleep_ns(300 * NS_PER_MS);
		buf_text(&rp->body, "slow\n");
	} else if (str_eq(rq->path, STR("/big"))) {
		buf_fill(&rp->body, 'b', 1 << 20);
	} else if (str_eq(rq->path, STR("/huge"))) {
		buf_fill(&rp->body, 'h', 16 << 20);
	} else if (str_eq(rq->path, STR("/empty"))) {
		rp->status = 204;
		buf_text(&rp->body, "never sent");
	} else if (str_eq(rq->path, STR("/who"))) {
		buf_fmt(&rp->body, "%d %.*s %s", rq->loopback, STR_ARG(rq->peer), http_method_name(rq->method));
	} else if (str_has_prefix(rq->path, STR("/path/"))) {
		buf_fmt(&rp->body, "%.*s|%.*s|%.*s", STR_ARG(rq->path), STR_ARG(rq->query),
			STR_ARG(http_header_get(rq, "x-test")));
		http_reply_header(rp, "X-Back", "%s", "one\r\nX-Evil: two");
	} else {
		rp->status = 404;
	}
}

struct http_server_settings raw_settings(void)
{
	return (struct http_server_settings){
		.address = "127.0.0.1",
		.max_header_bytes = 4096,
		.max_body_bytes = 64 << 10,
		.threads = 2,
		.queue = 4,
		.connections = 16,
		.request_ns = 10 * NS_PER_S,
	};
}

struct http_server *raw_server(struct http_server_settings set)
{
	struct http_server *srv = NULL;
	struct err e = { 0 };

	signal(SIGPIPE, SIG_IGN);
	ck_assert_msg(http_server_open(&srv, &set, handle, NULL, &e) == OK, "%s", e.text);
	return srv;
}

int raw_connect(const struct http_server *srv)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)http_server_port(srv)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

void raw_send(int fd, struct str bytes)
{
	while (bytes.n > 0) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n <= 0)
			return; /* the server has closed: the reply tells */
		bytes = str_from(bytes, (size_t)n);
	}
}

bool raw_read(int fd, int ms, struct buf *out)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char block[65536];

	while (poll(&p, 1, ms) > 0) {
		ssize_t n = read(fd, block, sizeof(block));

		if (n <= 0)
			return true;
		buf_add(out, block, (size_t)n);
	}
	return false;
}

void raw_read_some(int fd, int ms, struct buf *out)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char block[65536];
	ssize_t n;

	if (poll(&p, 1, ms) > 0 && (n = read(fd, block, sizeof(block))) > 0)
		buf_add(out, block, (size_t)n);
}

struct buf raw_exchange(const struct http_server *srv, struct str bytes)
{
	int fd = raw_connect(srv);
	struct buf b;

	buf_init(&b, 8 << 20);
	raw_send(fd, bytes);
	shutdown(fd, SHUT_WR);
	ck_assert_msg(raw_read(fd, 5000, &b), "the server kept the connection open");
	close(fd);
	return b;
}

int raw_status(const struct buf *b)
{
	struct str s = buf_view(b);
	int64_t status = 0;

	if (!str_drop_prefix(&s, STR("HTTP/1.1 ")) || str_to_i64(str_upto(s, 3), &status) != OK)
		return 0;
	return (int)status;
}

struct str raw_body(const struct buf *b)
{
	struct str s = buf_view(b);

	return str_from(s, str_find(s, STR("\r\n\r\n")) + 4);
}
