/* http_server.c — the loop thread with the listener, the pool of handler threads, and how both end.
 *
 *	loop ── work ──> handler threads ── done ──> loop
 *
 * Jobs go through two bounded channels; done has room for every job that can exist, so a handler never waits to hand
 * its reply back. The server itself, as a pointer in done, is the word to stop: no new connections, idle ones are closed, the
 * others after their reply; when all are gone, or after 10 s, the loop ends. */
#include "net/http_server.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/must.h"
#include "net/http_conn.h"

#define SERVER_MAGIC UINT32_C(0x68747473)
#define SERVER(arg) MAGIC_CHECK((struct http_server *)(arg), SERVER_MAGIC)

enum {
	SERVER_BACKLOG = 512,
	SERVER_DRAIN_S = 10,
	SERVER_BODIES = 64,
	SERVER_REPLIES_BYTES = 512 << 20,
};

static const struct {
	const char *name, *labels, *help;
} server_metrics[] = {
	[HTTP_N_1XX] = { "trainspotter_http_replies_total", "code=\"1xx\"", "Replies by class of status." },
	[HTTP_N_2XX] = { "trainspotter_http_replies_total", "code=\"2xx\"", "Replies by class of status." },
	[HTTP_N_3XX] = { "trainspotter_http_replies_total", "code=\"3xx\"", "Replies by class of status." },
	[HTTP_N_4XX] = { "trainspotter_http_replies_total", "code=\"4xx\"", "Replies by class of status." },
	[HTTP_N_5XX] = { "trainspotter_http_replies_total", "code=\"5xx\"", "Replies by class of status." },
	[HTTP_N_REFUSED] = { "trainspotter_http_refused_total", NULL,
		"Requests refused before a handler saw them: malformed, too large, too slow, queue full." },
	[HTTP_N_TURNED_AWAY] = { "trainspotter_http_turned_away_total", NULL,
		"Connections over the cap, closed at once, since no other one was idle." },
	[HTTP_N_MADE_ROOM] = { "trainspotter_http_made_room_total", NULL, "Idle connections closed at the cap for new ones." },
	[HTTP_N_ACCEPT_FAILED] = { "trainspotter_http_accept_failed_total", NULL, "Connections that could not be accepted." },
};
_Static_assert(COUNT(server_metrics) == HTTP_COUNTS, "describe every count");

/* ---- the loop */

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *peer, int len, void *arg)
{
	static const char full[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\n"
				   "Connection: close\r\n\r\n";
	struct http_server *srv = SERVER(arg);

	(void)l;
	(void)len;
	if (srv->n_conns >= srv->set.connections && conn_make_room(srv))
		metric_add(srv->count[HTTP_N_MADE_ROOM], 1);
	if (srv->n_conns < srv->set.connections) {
		conn_open(srv, fd, peer);
		return;
	}
	metric_add(srv->count[HTTP_N_TURNED_AWAY], 1);
	if (send(fd, full, sizeof(full) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		metric_add(srv->count[HTTP_N_ACCEPT_FAILED], 1);
	evutil_closesocket(fd);
}

/* Out of file descriptors, mostly: the listener would spin, so it rests until a connection has gone. */
static void on_accept_failed(struct evconnlistener *l, void *arg)
{
	struct http_server *srv = SERVER(arg);

	metric_add(srv->count[HTTP_N_ACCEPT_FAILED], 1);
	if (srv->n_conns > 0)
		evconnlistener_disable(l);
}

void server_conn_gone(struct http_server *srv)
{
	if (srv->draining && srv->n_conns == 0)
		event_base_loopbreak(srv->base);
	else if (!srv->draining)
		evconnlistener_enable(srv->listener);
}

static void on_give_up(evutil_socket_t fd, short what, void *arg)
{
	struct http_server *srv = SERVER(arg);

	(void)fd;
	(void)what;
	event_base_loopbreak(srv->base);
}

static void server_drain(struct http_server *srv)
{
	struct timeval tv = { .tv_sec = SERVER_DRAIN_S };
	struct http_conn *next;

	srv->draining = true;
	evconnlistener_free(srv->listener);
	srv->listener = NULL;
	evtimer_add(srv->give_up, &tv);
	if (srv->n_conns == 0)
		event_base_loopbreak(srv->base);
	for (struct http_conn *c = srv->conns; c != NULL; c = next) {
		next = c->next;
		conn_drain(c);
	}
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
	struct http_server *srv = SERVER(arg);
	void *p;

	(void)fd;
	(void)what;
	while (chan_pop(srv->done, &p, 0) == OK) {
		if (p == srv) {
			server_drain(srv);
			continue;
		}
		srv->in_hand--;
		conn_job_done(p);
	}
}

static void loop_main(struct thread *t, void *arg)
{
	struct http_server *srv = SERVER(arg);

	(void)t;
	event_base_loop(srv->base, EVLOOP_NO_EXIT_ON_EMPTY);
}

/* ---- the pool */

static void pool_main(struct thread *t, void *arg)
{
	struct http_server *srv = SERVER(arg);
	void *p;

	(void)t;
	while (chan_pop(srv->work, &p, -1) == OK) {
		struct http_job *job = p;

		srv->handler(srv->env, &job->request, &job->reply);
		must(chan_try_push(srv->done, job) == OK);
	}
}

/* ---- life */

static int server_resolve(const struct http_server_settings *s, struct addrinfo **out, struct err *e)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	char port[16];
	int rc;

	snprintf(port, sizeof(port), "%d", s->port);
	rc = getaddrinfo(s->address, port, &hints, out);
	if (rc != 0)
		return err_set(e, E_USAGE, "listen on %s: %s", s->address, gai_strerror(rc));
	return OK;
}

static int server_listen(struct http_server *srv, struct err *e)
{
	unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof(ss);
	struct addrinfo *ai = NULL;
	int rc;

	rc = server_resolve(&srv->set, &ai, e);
	if (rc != OK)
		return rc;
	srv->listener = evconnlistener_new_bind(srv->base, on_accept, srv, flags, SERVER_BACKLOG, ai->ai_addr,
		(int)ai->ai_addrlen);
	rc = srv->listener != NULL ? OK : err_sys(e, "listen on %s port %d", srv->set.address, srv->set.port);
	freeaddrinfo(ai);
	if (rc != OK)
		return rc;
	evconnlistener_set_error_cb(srv->listener, on_accept_failed);
	if (getsockname(evconnlistener_get_fd(srv->listener), (struct sockaddr *)&ss, &len) != 0)
		return err_sys(e, "listen on %s", srv->set.address);
	srv->port = ntohs(ss.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&ss)->sin6_port :
						     ((struct sockaddr_in *)&ss)->sin_port);
	return OK;
}

static void server_count(struct http_server *srv)
{
	for (size_t i = 0; i < HTTP_COUNTS; i++)
		srv->count[i] = metric_counter(srv->set.metrics, server_metrics[i].name, server_metrics[i].labels,
			server_metrics[i].help);
	srv->open = metric_gauge(srv->set.metrics, "trainspotter_http_connections", NULL, "Connections that are open.");
}

static int server_start(struct http_server *srv, struct err *e)
{
	char name[16];
	int rc = OK;

	srv->pool = mem_get_array((size_t)srv->set.threads, sizeof(*srv->pool));
	for (int i = 0; i < srv->set.threads && rc == OK; i++) {
		snprintf(name, sizeof(name), "http-%d", i);
		rc = thread_start(&srv->pool[i], name, pool_main, srv, e);
	}
	if (rc == OK)
		rc = thread_start(&srv->loop, "http-loop", loop_main, srv, e);
	return rc;
}

int http_server_open(struct http_server **out, const struct http_server_settings *s, http_handler *handler, void *env,
	struct err *e)
{
	struct http_server *srv = mem_get(sizeof(*srv));
	int rc = OK;

	*out = NULL;
	must(s->threads > 0 && s->queue > 0 && s->connections > 0 && s->request_ns > 0);
	srv->magic = SERVER_MAGIC;
	srv->set = *s;
	if (srv->set.all_bodies_bytes == 0)
		srv->set.all_bodies_bytes = SERVER_BODIES * s->max_body_bytes;
	if (srv->set.all_replies_bytes == 0)
		srv->set.all_replies_bytes = SERVER_REPLIES_BYTES;
	srv->handler = handler;
	srv->env = env;
	srv->work = chan_new((size_t)s->queue);
	srv->done = chan_new((size_t)s->queue + (size_t)s->threads + 1);
	srv->base = event_base_new();
	if (srv->base == NULL)
		rc = err_set(e, E_SYS, "libevent: no event base");
	if (rc == OK)
		rc = server_listen(srv, e);
	if (rc == OK) {
		srv->done_event = event_new(srv->base, chan_fd(srv->done), EV_READ | EV_PERSIST, on_done, srv);
		srv->give_up = evtimer_new(srv->base, on_give_up, srv);
		must(srv->done_event != NULL && srv->give_up != NULL);
		event_add(srv->done_event, NULL);
		server_count(srv);
		rc = server_start(srv, e);
	}
	if (rc != OK) {
		http_server_close(srv);
		return rc;
	}
	*out = srv;
	return OK;
}

int http_server_port(const struct http_server *srv)
{
	return srv->port;
}

/* After the drain: handlers that are still at work finish, and nobody waits for their replies. */
static void server_join(struct http_server *srv)
{
	void *p;

	if (srv->loop != NULL) {
		must(chan_push(srv->done, srv, -1) == OK);
		thread_join(srv->loop);
	}
	while (srv->conns != NULL) {
		srv->draining = true;
		conn_free(srv->conns);
	}
	chan_close(srv->work);
	for (int i = 0; srv->pool != NULL && i < srv->set.threads; i++)
		thread_join(srv->pool[i]);
	while (chan_pop(srv->work, &p, 0) == OK)
		conn_job_done(p);
	while (chan_pop(srv->done, &p, 0) == OK)
		if (p != srv)
			conn_job_done(p);
}

void http_server_close(struct http_server *srv)
{
	if (srv == NULL)
		return;
	must(srv->magic == SERVER_MAGIC);
	server_join(srv);
	if (srv->listener != NULL)
		evconnlistener_free(srv->listener);
	if (srv->done_event != NULL)
		event_free(srv->done_event);
	if (srv->give_up != NULL)
		event_free(srv->give_up);
	if (srv->base != NULL)
		event_base_free(srv->base);
	chan_free(srv->work);
	chan_free(srv->done);
	mem_free(srv->pool);
	srv->magic = MAGIC_DEAD;
	mem_free(srv);
}
