/* http_server.h — HTTP/1.1 in front of plain functions. The loop thread reads requests and writes replies; handlers run
 * on a pool of threads and may block. libevent's loop, listener and buffers are hidden here; requests are read by
 * net/http_parse (why not by evhttp: doc/decisions/0003). The process must ignore SIGPIPE (base/proc.h).
 *
 * Limits: header and body sizes, connections (at the cap the one that was idle longest makes room for the next), time for
 * a request to arrive, requests waiting for a handler, the bytes of all bodies and of all large replies (503 with Retry-After
 * beyond). HEAD, 204 and 304 replies never carry a body. Stopping drains: no new connections, what is being handled gets
 * its answer. */
#ifndef NET_HTTP_SERVER_H
#define NET_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/metric.h"
#include "base/str.h"

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_DELETE, HTTP_PATCH, HTTP_OPTIONS, HTTP_METHODS };
const char *http_method_name(enum http_method m);

struct http_header {
	struct str name, value;
};

struct http_request { /* borrowed for the time of the handler */
	enum http_method method;
	struct str path;  /* before '?', percent-decoded; never with NUL or dot segments */
	struct str query; /* behind '?', as it came */
	const struct http_header *headers;
	size_t n_headers;
	struct str body;
	bool loopback; /* the peer is 127.0.0.0/8 or ::1 */
	struct str peer; /* "127.0.0.1:52344" */
};
struct str http_header_get(const struct http_request *rq, const char *name); /* case-blind; empty where it is not */

struct http_reply {
	int status; /* 200 at first */
	const char *content_type; /* "application/json" at first; static text */
	struct buf body;	  /* initialised with a ceiling of 64 MiB */
	struct buf headers;	  /* further lines "Name: value\r\n" */
};
void http_reply_header(struct http_reply *rp, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);

typedef void http_handler(void *env, const struct http_request *rq, struct http_reply *rp);

struct http_server_settings {
	const char *address; /* "127.0.0.1" */
	int port;	     /* 0: any free one */
	size_t max_header_bytes, max_body_bytes;
	size_t all_bodies_bytes; /* of all requests that arrive, wait or are handled; 0: 64 times max_body_bytes */
	size_t all_replies_bytes; /* of those that are still being read, beyond which large ones are 503; 0: 512 MiB */
	int threads;	  /* handlers at once */
	int queue;	  /* requests waiting for one */
	int connections;  /* at once */
	int64_t request_ns; /* from the first byte of a request to its last */
	struct metrics *metrics;
};

struct http_server;
int http_server_open(struct http_server **out, const struct http_server_settings *s, http_handler *handler, void *env,
	struct err *e) MUST_USE;
int http_server_port(const struct http_server *srv);
void http_server_close(struct http_server *srv); /* drains (up to 10 s), then ends; NULL is fine */

#endif
