/* http_conn.h — one connection of the server: reads requests, has them handled, writes replies. Inside net/ only.
 *
 *	IDLE ──first byte──> HEAD ──> BODY ──whole──> HANDLED ──reply──> WRITING ──> IDLE      keep-alive
 *	                      └─────────┴──refused, too late──────────────> WRITING ──> LINGER ──> gone
 *
 * LINGER: our side is shut, what still comes is read and dropped for a moment, so that the reply is not lost to a reset.
 * Runs on: the loop thread only; a job's request and reply belong to a handler thread while the state is HANDLED. */
#ifndef NET_HTTP_CONN_H
#define NET_HTTP_CONN_H

#include <sys/socket.h>

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "base/arena.h"
#include "base/chan.h"
#include "base/thread.h"
#include "net/http_parse.h"
#include "net/http_server.h"

enum conn_state { CONN_IDLE, CONN_HEAD, CONN_BODY, CONN_HANDLED, CONN_WRITING, CONN_LINGER, CONN_STATES };

/* One request on its way through a handler, and the reply on its way back. */
struct http_job {
	uint32_t magic;
	struct http_conn *conn; /* the loop's; NULL once the connection is gone */
	struct http_server *srv;
	size_t counted; /* bytes of the body in srv's body_bytes */
	struct arena arena;	/* the head's texts */
	struct http_head head;
	struct http_chunks chunks;
	struct buf body;
	struct http_request request;
	struct http_reply reply;
};

struct http_conn {
	uint32_t magic;
	struct http_server *srv;
	struct http_conn *next, *prev;
	struct bufferevent *bev;
	struct event *timer;
	enum conn_state state;
	int64_t idle_from_ns; /* mono */
	size_t scanned; /* bytes of the head that were looked at */
	size_t reply_bytes; /* of the reply that is being written, in srv's */
	bool skipped_line, close_after, peer_shut;
	struct http_job *job;
	bool loopback;
	char peer[80];
};

enum http_count {
	HTTP_N_1XX, HTTP_N_2XX, HTTP_N_3XX, HTTP_N_4XX, HTTP_N_5XX,
	HTTP_N_REFUSED,	 /* before a handler saw them */
	HTTP_N_TURNED_AWAY, /* connections over the cap, with none idle */
	HTTP_N_MADE_ROOM,   /* idle ones closed for new ones */
	HTTP_N_ACCEPT_FAILED,
	HTTP_COUNTS
};

struct http_server {
	uint32_t magic;
	struct http_server_settings set;
	http_handler *handler;
	void *env;
	int port;
	struct event_base *base;
	struct evconnlistener *listener;
	struct event *done_event, *give_up;
	struct chan *work, *done; /* struct http_job *, to the handlers and back; done also gets the server itself: stop */
	struct thread *loop, **pool;
	struct http_conn *conns; /* any order */
	size_t body_bytes;	 /* of all jobs */
	size_t reply_bytes;	 /* of all replies that are being written */
	int n_conns;
	size_t in_hand; /* jobs that handlers have */
	bool draining;
	struct metric *count[HTTP_COUNTS], *open;
};

void conn_open(struct http_server *srv, evutil_socket_t fd, const struct sockaddr *peer);
void conn_free(struct http_conn *c);
bool conn_make_room(struct http_server *srv); /* closes the one that was idle longest; false where none is */
void conn_drain(struct http_conn *c);	  /* goes now if it is idle, else after its reply */
void conn_job_done(struct http_job *job); /* takes the job */

/* Where the last connection has gone while draining, or one place is free again. */
void server_conn_gone(struct http_server *srv);

#endif
