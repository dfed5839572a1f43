#include "net/http_conn.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <event2/buffer.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/must.h"

#define CONN_MAGIC UINT32_C(0x636f6e6e)
#define JOB_MAGIC UINT32_C(0x6a6f6220)
#define CONN(arg) MAGIC_CHECK((struct http_conn *)(arg), CONN_MAGIC)

enum {
	READ_AHEAD_BYTES = 256 << 10, /* what a connection may hold beside the body: a head, or pipelined requests */
	REPLY_BODY_MAX = 64 << 20,
	REPLY_HEADERS_MAX = 16 << 10,
	REPLY_SMALL = 64 << 10,
};
static const int64_t conn_idle_ns = 60 * NS_PER_S;
static const int64_t conn_write_ns = 120 * NS_PER_S;
static const int64_t conn_linger_ns = 2 * NS_PER_S;

static void conn_feed(struct http_conn *c);

/* ---- jobs */

static struct http_job *job_new(struct http_conn *c)
{
	struct http_job *job = mem_get(sizeof(*job));
	const struct http_server_settings *set = &c->srv->set;

	job->magic = JOB_MAGIC;
	job->conn = c;
	job->srv = c->srv;
	arena_init(&job->arena, 2 * set->max_header_bytes + HTTP_HEADERS_MAX * sizeof(struct http_header) + 4096);
	buf_init(&job->body, set->max_body_bytes);
	buf_init(&job->reply.body, REPLY_BODY_MAX);
	buf_init(&job->reply.headers, REPLY_HEADERS_MAX);
	job->reply.status = 200;
	job->reply.content_type = "application/json";
	return job;
}

static void job_free(struct http_job *job)
{
	if (job == NULL)
		return;
	must(job->magic == JOB_MAGIC);
	job->srv->body_bytes -= job->counted;
	arena_fini(&job->arena);
	buf_fini(&job->body);
	buf_fini(&job->reply.body);
	buf_fini(&job->reply.headers);
	job->magic = MAGIC_DEAD;
	mem_free(job);
}

void http_reply_header(struct http_reply *rp, const char *name, const char *fmt, ...)
{
	char value[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	/* a line break in a value would begin a header of somebody else's choosing */
	for (char *p = value; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = ' ';
	buf_fmt(&rp->headers, "%s: %s\r\n", name, value);
}

/* ---- life */

static void conn_arm(struct http_conn *c, int64_t ns)
{
	struct timeval tv = { .tv_sec = ns / NS_PER_S, .tv_usec = ns % NS_PER_S / NS_PER_US };

	evtimer_add(c->timer, &tv);
}

static void conn_name_peer(struct http_conn *c, const struct sockaddr *sa)
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)sa;

		inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
		c->loopback = ntohl(in->sin_addr.s_addr) >> 24 == 127;
		snprintf(c->peer, sizeof(c->peer), "%s:%u", text, ntohs(in->sin_port));
	} else if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)sa;
		const struct in6_addr *ip = &in6->sin6_addr;

		inet_ntop(AF_INET6, ip, text, sizeof(text));
		c->loopback = IN6_IS_ADDR_LOOPBACK(ip) || (IN6_IS_ADDR_V4MAPPED(ip) && ip->s6_addr[12] == 127);
		snprintf(c->peer, sizeof(c->peer), "[%s]:%u", text, ntohs(in6->sin6_port));
	}
}

void conn_free(struct http_conn *c)
{
	struct http_server *srv = c->srv;

	must(c->magic == CONN_MAGIC);
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		srv->conns = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	srv->n_conns--;
	metric_set(srv->open, srv->n_conns);

	srv->reply_bytes -= c->reply_bytes;
	if (c->state == CONN_HANDLED)
		c->job->conn = NULL; /* conn_job_done frees it */
	else
		job_free(c->job);
	event_free(c->timer);
	bufferevent_free(c->bev);
	c->magic = MAGIC_DEAD;
	mem_free(c);
	server_conn_gone(srv);
}

void conn_drain(struct http_conn *c)
{
	c->close_after = true;
	if (c->state == CONN_IDLE)
		conn_free(c);
}

/* ---- replies */

static const char *status_phrase(int status)
{
	static const struct {
		int status;
		const char *phrase;
	} phrases[] = {
		{ 200, "OK" },			  { 204, "No Content" },	     { 304, "Not Modified" },
		{ 400, "Bad Request" },		  { 401, "Unauthorized" },	     { 403, "Forbidden" },
		{ 404, "Not Found" },		  { 405, "Method Not Allowed" },     { 408, "Request Timeout" },
		{ 413, "Content Too Large" },	  { 415, "Unsupported Media Type" }, { 422, "Unprocessable Content" },
		{ 429, "Too Many Requests" },	  { 431, "Header Fields Too Large" }, { 500, "Internal Server Error" },
		{ 501, "Not Implemented" },	  { 503, "Service Unavailable" },    { 505, "HTTP Version Not Supported" },
		{ 507, "Insufficient Storage" },
	};

	for (size_t i = 0; i < COUNT(phrases); i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Status";
}

static void put_date(struct evbuffer *out)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[64];

	/* RFC 9110 5.6.7 names days and months in English, so no strftime of the locale's */
	static const char days[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

	if (gmtime_r(&now, &tm) == NULL)
		return;
	snprintf(text, sizeof(text), "Date: %s, %02d %s %d %02d:%02d:%02d GMT\r\n", days[tm.tm_wday], tm.tm_mday,
		months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
	evbuffer_add(out, text, strlen(text));
}

static void on_body_sent(const void *data, size_t n, void *extra)
{
	(void)n;
	(void)extra;
	mem_free((void *)(uintptr_t)data);
}

/* The only place that knows which replies have a body: all but those to HEAD, 204 and 304. */
static void put_reply(struct http_conn *c, struct http_reply *rp, bool head_only)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	bool bodyless = rp->status == 204 || rp->status == 304;

	evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\n", rp->status, status_phrase(rp->status));
	put_date(out);
	if (!bodyless)
		evbuffer_add_printf(out, "Content-Type: %s\r\nContent-Length: %zu\r\n", rp->content_type, rp->body.n);
	evbuffer_add_printf(out, "X-Content-Type-Options: nosniff\r\nConnection: %s\r\n",
		c->close_after ? "close" : "keep-alive");
	evbuffer_add(out, rp->headers.p, rp->headers.n);
	evbuffer_add(out, "\r\n", 2);
	if (bodyless || head_only || rp->body.n == 0)
		return;
	if (evbuffer_add_reference(out, rp->body.p, rp->body.n, on_body_sent, NULL) == 0)
		memset(&rp->body, 0, sizeof(rp->body)); /* the event buffer owns the bytes now */
}

static bool has_input(const struct http_conn *c)
{
	return evbuffer_get_length(bufferevent_get_input(c->bev)) > 0;
}

/* Who asks for much and does not read it must not make the others' memory go. Word of what was done is always given. */
static bool reply_fits(const struct http_conn *c, size_t n)
{
	size_t others = c->srv->reply_bytes;

	return n <= REPLY_SMALL || others == 0 || others + n <= c->srv->set.all_replies_bytes;
}

static void count_reply(struct http_conn *c, size_t n)
{
	c->srv->reply_bytes += n - c->reply_bytes;
	c->reply_bytes = n;
}

static void conn_reply(struct http_conn *c)
{
	struct http_job *job = c->job;
	struct http_reply *rp = &job->reply;
	int class;

	if (rp->body.rc != OK || rp->headers.rc != OK) {
		buf_reset(&rp->headers);
		problem_reply(rp, PROBLEM_INTERNAL, NULL, "the answer is larger than %d MiB; ask for less at once",
			REPLY_BODY_MAX >> 20);
	}
	if (!reply_fits(c, rp->body.n)) {
		buf_reset(&rp->headers);
		problem_reply(rp, PROBLEM_BUSY, NULL, "too many large answers are being read");
	}
	count_reply(c, rp->body.n);
	if (!job->head.keep_alive || c->srv->draining || (c->peer_shut && !has_input(c)))
		c->close_after = true;
	put_reply(c, rp, job->head.method == HTTP_HEAD);
	class = rp->status / 100;
	if (class >= 1 && class <= 5)
		metric_add(c->srv->count[HTTP_N_1XX + class - 1], 1);

	job_free(job);
	c->job = NULL;
	c->state = CONN_WRITING;
	conn_arm(c, conn_write_ns);
}

/* An answer without a handler; the rest of what the peer sends cannot be trusted to begin with a request. */
static void conn_refuse(struct http_conn *c, enum problem p, const char *sentence)
{
	metric_add(c->srv->count[HTTP_N_REFUSED], 1);
	c->job->head.keep_alive = false;
	problem_reply(&c->job->reply, p, NULL, "%s", sentence);
	conn_reply(c);
}

/* ---- reading */

enum feed { FEED_MORE, FEED_ON, FEED_STOP }; /* needs bytes; next state, go on; answered or handed over */

static enum feed conn_begin(struct http_conn *c, struct evbuffer *in)
{
	char two[2];
	ev_ssize_t n = evbuffer_copyout(in, two, 2);

	if (n <= 0 || (n == 1 && two[0] == '\r'))
		return FEED_MORE;
	/* RFC 9112 2.2: an empty line in front of a request is some clients' habit */
	if (!c->skipped_line && n == 2 && memcmp(two, "\r\n", 2) == 0) {
		evbuffer_drain(in, 2);
		c->skipped_line = true;
		return FEED_ON;
	}
	c->job = job_new(c);
	c->scanned = 0;
	c->state = CONN_HEAD;
	conn_arm(c, c->srv->set.request_ns);
	return FEED_ON;
}

static enum feed conn_check_head(struct http_conn *c)
{
	struct http_job *job = c->job;

	if (job->head.length > c->srv->set.max_body_bytes) {
		char text[120];

		snprintf(text, sizeof(text), "the body is larger than %zu bytes", c->srv->set.max_body_bytes);
		conn_refuse(c, PROBLEM_TOO_LARGE, text);
		return FEED_STOP;
	}
	if (job->head.expect_continue && (job->head.chunked || job->head.length > 0))
		bufferevent_write(c->bev, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	c->state = CONN_BODY;
	return FEED_ON;
}

static enum feed conn_read_head(struct http_conn *c, struct evbuffer *in)
{
	size_t limit = c->srv->set.max_header_bytes, have = evbuffer_get_length(in);
	size_t n = have < limit ? have : limit;
	const char *p = (const char *)evbuffer_pullup(in, (ev_ssize_t)n);
	enum problem why = PROBLEM_REQUEST;
	struct err e = { 0 };
	int end = http_head_end(p, n, &c->scanned), rc;

	if (end < 0) {
		conn_refuse(c, PROBLEM_REQUEST, "a line ends in a bare LF, or there is a NUL byte");
		return FEED_STOP;
	}
	if (end == 0 && have < limit)
		return FEED_MORE;
	if (end == 0) {
		conn_refuse(c, PROBLEM_HEADERS_TOO_LARGE, "the request line and headers are larger than the limit");
		return FEED_STOP;
	}
	rc = http_head_parse(&c->job->arena, str_make(p, (size_t)end), &c->job->head, &why, &e);
	evbuffer_drain(in, (size_t)end);
	if (rc != OK) {
		conn_refuse(c, why, e.text);
		return FEED_STOP;
	}
	return conn_check_head(c);
}

static void conn_dispatch(struct http_conn *c)
{
	struct http_job *job = c->job;

	job->request = (struct http_request){
		.method = job->head.method,
		.path = job->head.path,
		.query = job->head.query,
		.headers = job->head.headers,
		.n_headers = job->head.n_headers,
		.body = buf_view(&job->body),
		.loopback = c->loopback,
		.peer = arena_text(&job->arena, c->peer),
	};
	evtimer_del(c->timer);
	c->state = CONN_HANDLED;
	/* the second half keeps the promise that a handler always finds room in done */
	if (c->srv->in_hand < (size_t)(c->srv->set.queue + c->srv->set.threads) &&
		chan_try_push(c->srv->work, job) == OK) {
		c->srv->in_hand++;
		return;
	}
	metric_add(c->srv->count[HTTP_N_REFUSED], 1);
	problem_reply(&job->reply, PROBLEM_BUSY, NULL, "%d requests are waiting already", c->srv->set.queue);
	conn_reply(c);
}

static enum feed conn_read_chunks(struct http_conn *c, struct evbuffer *in)
{
	struct http_job *job = c->job;
	struct err e = { 0 };

	while (evbuffer_get_length(in) > 0 && job->chunks.state != CHUNK_DONE) {
		size_t n = evbuffer_get_contiguous_space(in), used;
		const char *p = (const char *)evbuffer_pullup(in, (ev_ssize_t)n);
		int rc = http_chunks_feed(&job->chunks, str_make(p, n), &used, &job->body, &e);

		evbuffer_drain(in, used);
		if (rc != OK) {
			conn_refuse(c, rc == E_FORMAT ? PROBLEM_REQUEST : PROBLEM_TOO_LARGE, e.text);
			return FEED_STOP;
		}
	}
	return job->chunks.state == CHUNK_DONE ? FEED_ON : FEED_MORE;
}

static enum feed conn_read_length(struct http_conn *c, struct evbuffer *in)
{
	struct http_job *job = c->job;
	size_t want = (size_t)job->head.length - job->body.n, have = evbuffer_get_length(in);
	size_t n = have < want ? have : want;
	void *room;

	if (n == 0)
		return want == 0 ? FEED_ON : FEED_MORE;
	room = buf_room(&job->body, n); /* grows with what came, not with what was announced */
	if (room == NULL) {
		conn_refuse(c, PROBLEM_BUSY, "no memory for the body");
		return FEED_STOP;
	}
	evbuffer_remove(in, room, n);
	buf_used(&job->body, n);
	return n == want ? FEED_ON : FEED_MORE;
}

/* What is read before anybody knows who sends it must have a ceiling for all of them together, too. */
static bool bodies_fit(struct http_job *job)
{
	job->srv->body_bytes += job->body.n - job->counted;
	job->counted = job->body.n;
	return job->srv->body_bytes <= job->srv->set.all_bodies_bytes;
}

static enum feed conn_read_body(struct http_conn *c, struct evbuffer *in)
{
	enum feed f = c->job->head.chunked ? conn_read_chunks(c, in) : conn_read_length(c, in);

	if (f == FEED_STOP)
		return f;
	if (!bodies_fit(c->job)) {
		conn_refuse(c, PROBLEM_BUSY, "too many request bodies at once");
		return FEED_STOP;
	}
	if (f != FEED_ON)
		return f;
	conn_dispatch(c);
	return FEED_STOP;
}

static enum feed conn_step(struct http_conn *c, struct evbuffer *in)
{
	switch (c->state) {
	case CONN_IDLE: return conn_begin(c, in);
	case CONN_HEAD: return conn_read_head(c, in);
	case CONN_BODY: return conn_read_body(c, in);
	case CONN_LINGER: evbuffer_drain(in, evbuffer_get_length(in)); return FEED_MORE;
	case CONN_HANDLED:
	case CONN_WRITING:
	case CONN_STATES: break;
	}
	return FEED_STOP; /* pipelined requests wait, up to the read watermark */
}

static void conn_feed(struct http_conn *c)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);

	while (conn_step(c, in) == FEED_ON)
		;
}

void conn_job_done(struct http_job *job)
{
	must(job->magic == JOB_MAGIC);
	if (job->conn == NULL) {
		job_free(job);
		return;
	}
	must(job->conn->state == CONN_HANDLED);
	conn_reply(job->conn);
}

/* ---- callbacks */

static void on_read(struct bufferevent *bev, void *arg)
{
	(void)bev;
	conn_feed(CONN(arg));
}

static void conn_linger(struct http_conn *c)
{
	c->state = CONN_LINGER;
	shutdown(bufferevent_getfd(c->bev), SHUT_WR);
	conn_arm(c, conn_linger_ns);
	conn_feed(c);
}

static void conn_become_idle(struct http_conn *c)
{
	c->state = CONN_IDLE;
	c->idle_from_ns = clock_mono_ns();
	c->skipped_line = false;
	conn_arm(c, conn_idle_ns);
}

/* For bytes that a peer which has shut its side cannot send any more. */
static bool conn_waits_for_bytes(const struct http_conn *c)
{
	return c->state == CONN_IDLE || c->state == CONN_HEAD || c->state == CONN_BODY;
}

static void on_written(struct bufferevent *bev, void *arg)
{
	struct http_conn *c = CONN(arg);

	(void)bev;
	if (c->state != CONN_WRITING)
		return; /* "100 Continue" went out */
	count_reply(c, 0);
	if (c->close_after && c->peer_shut) {
		conn_free(c);
	} else if (c->close_after) {
		conn_linger(c);
	} else {
		conn_become_idle(c);
		conn_feed(c);
		if (c->peer_shut && conn_waits_for_bytes(c))
			conn_free(c);
	}
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct http_conn *c = CONN(arg);

	(void)bev;
	/* a client may shut its side and still wait for the answer to what it sent */
	if ((what & BEV_EVENT_EOF) != 0 && (c->state == CONN_HANDLED || c->state == CONN_WRITING))
		c->peer_shut = true;
	else
		conn_free(c);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct http_conn *c = CONN(arg);

	(void)fd;
	(void)what;
	if (c->state == CONN_HEAD || c->state == CONN_BODY)
		conn_refuse(c, PROBLEM_TIMEOUT, "the request did not arrive in time");
	else
		conn_free(c);
}

void conn_open(struct http_server *srv, evutil_socket_t fd, const struct sockaddr *peer)
{
	struct http_conn *c = mem_get(sizeof(*c));
	int one = 1;

	c->magic = CONN_MAGIC;
	c->srv = srv;
	c->bev = bufferevent_socket_new(srv->base, fd, BEV_OPT_CLOSE_ON_FREE);
	c->timer = evtimer_new(srv->base, on_deadline, c);
	must(c->bev != NULL && c->timer != NULL);
	conn_name_peer(c, peer);
	c->next = srv->conns;
	if (c->next != NULL)
		c->next->prev = c;
	srv->conns = c;
	srv->n_conns++;
	metric_set(srv->open, srv->n_conns);

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	bufferevent_setwatermark(c->bev, EV_READ, 0, READ_AHEAD_BYTES);
	bufferevent_setcb(c->bev, on_read, on_written, on_event, c);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	conn_become_idle(c);
}

/* Many are accepted in one go, before any of them is read: what they ask may still be the kernel's. */
static bool has_asked(const struct http_conn *c)
{
	int n = 0;

	return has_input(c) || (ioctl(bufferevent_getfd(c->bev), FIONREAD, &n) == 0 && n > 0);
}

bool conn_make_room(struct http_server *srv)
{
	struct http_conn *longest = NULL;

	for (struct http_conn *c = srv->conns; c != NULL; c = c->next)
		if (c->state == CONN_IDLE && (longest == NULL || c->idle_from_ns < longest->idle_from_ns) && !has_asked(c))
			longest = c;
	if (longest != NULL)
		conn_free(longest);
	return longest != NULL;
}
