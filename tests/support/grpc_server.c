#include "tests/support/grpc_server.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { TYPE_DATA, TYPE_HEADERS, TYPE_RESET = 3, TYPE_SETTINGS = 4 };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };
enum { FRAME_HEAD = 9, FRAME_MAX = 16384, PREFACE = 24, MESSAGE_HEAD = 5 };

struct grpc_server {
	pthread_t thread;
	int listen_fd, port;
	atomic_bool stopping;
	atomic_uint calls;
	void (*answer)(void *env, struct str message, struct grpc_reply *r);
	void *env;
};

/* ---- bytes */

static bool read_all(struct grpc_server *s, int fd, void *p, size_t n)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char *to = p;

	while (n > 0) {
		ssize_t got = 0;

		if (poll(&wait, 1, 20) > 0)
			got = read(fd, to, n);
		else if (!s->stopping)
			continue;
		if (got <= 0)
			return false;
		to += got;
		n -= (size_t)got;
	}
	return true;
}

static void write_all(int fd, struct str bytes)
{
	while (bytes.n > 0) {
		ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);

		if (n <= 0)
			return; /* the client has seen enough */
		bytes = str_from(bytes, (size_t)n);
	}
}

static void put_frame(struct buf *out, int type, int flags, uint32_t stream, struct str payload)
{
	buf_byte(out, (int)(payload.n >> 16));
	buf_byte(out, (int)(payload.n >> 8 & 255));
	buf_byte(out, (int)(payload.n & 255));
	buf_byte(out, type);
	buf_byte(out, flags);
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_byte(out, (int)(stream >> shift & 255));
	buf_str(out, payload);
}

/* A length of HPACK, with 7 bits of its first byte. */
static void put_text(struct buf *out, struct str s)
{
	size_t rest = s.n < 127 ? 0 : s.n - 127;

	buf_byte(out, s.n < 127 ? (int)s.n : 127);
	for (; s.n >= 127; rest >>= 7) {
		buf_byte(out, (int)(rest & 127) | (rest > 127 ? 128 : 0));
		if (rest <= 127)
			break;
	}
	buf_str(out, s);
}

static void put_field(struct buf *out, const char *name, struct str value)
{
	buf_byte(out, 0);
	put_text(out, str_of(name));
	put_text(out, value);
}

/* ---- answers */

void grpc_reply_message(struct grpc_reply *r, struct str message)
{
	uint32_t n = htonl((uint32_t)message.n);

	buf_reset(&r->body);
	buf_byte(&r->body, 0);
	buf_add(&r->body, &n, sizeof(n));
	buf_str(&r->body, message);
}

static void put_filler(struct buf *fields, size_t n)
{
	char filler[1024];

	memset(filler, 'x', sizeof(filler));
	for (size_t i = 0; i < n; i++)
		put_field(fields, "x-filler", str_make(filler, sizeof(filler)));
}

static void put_status(struct buf *fields, const struct grpc_reply *r)
{
	put_filler(fields, r->extra_fields);
	if (r->status != NULL)
		put_field(fields, "grpc-status", str_of(r->status));
	if (r->text != NULL)
		put_field(fields, "grpc-message", str_of(r->text));
}

static void put_headers(struct buf *out, struct buf *fields, const struct grpc_reply *r, uint32_t stream)
{
	put_field(fields, ":status", str_of(r->http_status));
	put_field(fields, "content-type", str_of(r->content_type));
	put_filler(fields, r->extra_fields);
	if (r->trailers_only)
		put_status(fields, r);
	put_frame(out, TYPE_HEADERS, END_HEADERS | (r->trailers_only ? END_STREAM : 0), stream, buf_view(fields));
	buf_reset(fields);
}

static void put_answer(struct buf *out, const struct grpc_reply *r, uint32_t stream)
{
	struct buf fields;

	buf_init(&fields, 1 << 20);
	put_headers(out, &fields, r, stream);
	for (struct str rest = buf_view(&r->body); !r->trailers_only && rest.n > 0; rest = str_from(rest, FRAME_MAX))
		put_frame(out, TYPE_DATA, 0, stream, str_upto(rest, FRAME_MAX));
	if (!r->trailers_only && !r->hang_up) {
		put_status(&fields, r);
		if (fields.n > 0)
			put_frame(out, TYPE_HEADERS, END_HEADERS | END_STREAM, stream, buf_view(&fields));
		else
			put_frame(out, TYPE_DATA, END_STREAM, stream, STR(""));
	}
	buf_fini(&fields);
}

/* False when the connection is to be closed. */
static bool say(struct grpc_server *s, int fd, uint32_t stream, struct str message)
{
	struct grpc_reply r = { .http_status = "200", .content_type = "application/grpc", .status = "0" };
	struct buf out;
	bool stay;

	buf_init(&r.body, 64 << 20);
	buf_init(&out, 65 << 20);
	grpc_reply_message(&r, STR(""));
	s->calls++;
	s->answer(s->env, message, &r);
	for (int64_t until = clock_mono_ns() + r.delay_ns; clock_mono_ns() < until && !s->stopping;)
		clock_sleep_ns(5 * NS_PER_MS);
	stay = r.raw == NULL && !r.hang_up;
	if (r.raw != NULL)
		buf_text(&out, r.raw);
	else if (r.reset)
		put_frame(&out, TYPE_RESET, 0, stream, str_make("\0\0\0", 4));
	else
		put_answer(&out, &r, stream);
	write_all(fd, buf_view(&out));
	buf_fini(&r.body);
	buf_fini(&out);
	return stay;
}

/* ---- questions */

static bool take_frame(struct grpc_server *s, int fd, struct buf *asked)
{
	uint8_t head[FRAME_HEAD], payload[FRAME_MAX];
	size_t n;
	bool more = true;

	if (!read_all(s, fd, head, sizeof(head)))
		return false;
	n = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
	if (n > sizeof(payload) || !read_all(s, fd, payload, n))
		return false;
	if (head[3] == TYPE_SETTINGS && (head[4] & ACK) == 0) {
		struct buf ack;

		buf_init(&ack, 64);
		put_frame(&ack, TYPE_SETTINGS, ACK, 0, STR(""));
		write_all(fd, buf_view(&ack));
		buf_fini(&ack);
	} else if (head[3] == TYPE_DATA) {
		buf_add(asked, payload, n);
		if (head[4] & END_STREAM) {
			more = say(s, fd, head[8], str_from(buf_view(asked), MESSAGE_HEAD));
			buf_reset(asked);
		}
	}
	return more;
}

static void serve(struct grpc_server *s, int fd)
{
	static const char settings[FRAME_HEAD] = { 0, 0, 0, TYPE_SETTINGS };
	char preface[PREFACE];
	struct buf asked;

	buf_init(&asked, 1 << 20);
	if (read_all(s, fd, preface, sizeof(preface)) && memcmp(preface, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", PREFACE) == 0) {
		write_all(fd, str_make(settings, sizeof(settings)));
		while (take_frame(s, fd, &asked))
			;
	}
	buf_fini(&asked);
}

static void *run(void *arg)
{
	struct grpc_server *s = arg;
	struct pollfd wait = { .fd = s->listen_fd, .events = POLLIN };

	while (!s->stopping) {
		int fd = poll(&wait, 1, 20) > 0 ? accept(s->listen_fd, NULL, NULL) : -1;

		if (fd < 0)
			continue;
		serve(s, fd);
		close(fd);
	}
	return NULL;
}

struct grpc_server *grpc_server_start(void (*answer)(void *env, struct str message, struct grpc_reply *r), void *env)
{
	struct grpc_server *s = mem_get(sizeof(*s));
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);

	s->answer = answer;
	s->env = env;
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(s->listen_fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(s->listen_fd, 4), 0);
	ck_assert_int_eq(getsockname(s->listen_fd, (struct sockaddr *)&sa, &len), 0);
	s->port = ntohs(sa.sin_port);
	ck_assert_int_eq(pthread_create(&s->thread, NULL, run, s), 0);
	return s;
}

void grpc_server_stop(struct grpc_server *s)
{
	if (s == NULL)
		return;
	s->stopping = true;
	pthread_join(s->thread, NULL);
	close(s->listen_fd);
	mem_free(s);
}

int grpc_server_port(const struct grpc_server *s)
{
	return s->port;
}

unsigned grpc_server_calls(const struct grpc_server *s)
{
	return s->calls;
}
