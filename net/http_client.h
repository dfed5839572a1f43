/* http_client.h — one blocking HTTP exchange at a time, by libcurl's easy interface with every limit set.
 * One client belongs to one thread at a time and keeps its connection. No redirects are followed, so that a token goes
 * nowhere else. */
#ifndef NET_HTTP_CLIENT_H
#define NET_HTTP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/thread.h"

struct http_client;

struct http_client_settings {
	const char *token;    /* bearer token, or NULL; never logged */
	const char *ca_file;  /* NULL: the system's */
	int64_t connect_ns, total_ns;
	size_t max_answer_bytes;
	const char *user_agent;
};

int http_client_open(struct http_client **out, const struct http_client_settings *s, struct err *e) MUST_USE;
void http_client_close(struct http_client *c);

struct http_ask {
	const char *method; /* "GET", "POST" */
	const char *url;
	struct str body;
	const char *content_type, *content_encoding; /* NULL for none */
	const char *header;			     /* one more "Name: value", or NULL */
	bool http2; /* HTTP/2 from the first byte on, without TLS: both sides know */
	int64_t total_ns;			     /* for this exchange; 0: the client's */
	const struct thread *thread; /* given up within a second when it is to stop, as E_STOPPED; NULL: goes on */
};

struct http_answer {
	int status;
	struct buf body; /* cleared and filled at each exchange; freed with the client */
	int64_t retry_after_ns; /* 0 where the header is missing; a date or seconds */
	char content_type[80];
	struct buf fields; /* header lines as they came, then trailers; 16 KiB at most, else with an error in it */
};

/* Why no answer came. */
enum http_failure {
	HTTP_ANSWERED,	  /* it did */
	HTTP_UNREACHABLE, /* nobody listens there */
	HTTP_TIMED_OUT,
	HTTP_BROKEN,	/* the connection ended before the answer did */
	HTTP_STRANGE,	/* what came is not of the protocol */
	HTTP_TOO_LARGE,
	HTTP_STOPPED,
	HTTP_MISUSED,	/* no such URL, header or protocol can be asked for */
	HTTP_FAILURES
};

/* OK whenever an answer came, whatever its status. E_NET with curl's reason and the host (never the token), E_LIMIT
 * when the answer is too large, E_STOPPED, E_UNSUPPORTED where this libcurl speaks no HTTP/2. *out is valid until the next
 * exchange. */
int http_exchange(struct http_client *c, const struct http_ask *ask, const struct http_answer **out, struct err *e)
	MUST_USE;
enum http_failure http_failure(const struct http_client *c); /* of the last exchange */

/* Percent-encodes s for a query string. */
void http_encode(struct str s, struct buf *out);

/* Waiting times between tries: full jitter (AWS Architecture Blog, 2015): uniform in 0 … min(cap, first x 2^attempt). */
int64_t http_backoff_ns(unsigned attempt, int64_t first_ns, int64_t cap_ns, double unit_random);

#endif
