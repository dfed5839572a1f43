/* grpc_server.h — a stand-in for a gRPC server, for tests: HTTP/2 as far as one call at a time needs it (RFC 9113), written frame by
 * frame, so that a test can have every answer that is wrong.
 *
 *	frame		0  3  length of the payload, big endian
 *			3  1  type: DATA 0, HEADERS 1, RST_STREAM 3, SETTINGS 4
 *			4  1  flags: END_STREAM 1 (ACK 1), END_HEADERS 4
 *			5  4  stream
 *			9     payload; of HEADERS: fields as literals without indexing (RFC 7541, 6.2.2), nothing compressed
 *
 * What the client sends in HEADERS is not read. One connection at a time, on a thread of its own. */
#ifndef TESTS_SUPPORT_GRPC_SERVER_H
#define TESTS_SUPPORT_GRPC_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* What the server says to a call; begun as a good answer with an empty message. */
struct grpc_reply {
	const char *http_status, *content_type;
	struct buf body;	 /* as it stands in DATA; grpc_reply_message puts one there with its head */
	const char *status;	 /* grpc-status; NULL: the field is missing */
	const char *text;	 /* grpc-message; NULL: none */
	bool trailers_only;	 /* no body, one HEADERS */
	int64_t delay_ns;
	const char *raw;	 /* instead of all this: these bytes, and the connection is closed */
	bool reset;		 /* instead of all this: RST_STREAM */
	bool hang_up;		 /* closed behind the body, without trailers */
	size_t extra_fields;	 /* so many more of 1 KiB each, before the body and behind */
};
void grpc_reply_message(struct grpc_reply *r, struct str message);

struct grpc_server;

/* answer runs on the server's thread; message: what was asked, without its head. */
struct grpc_server *grpc_server_start(void (*answer)(void *env, struct str message, struct grpc_reply *r), void *env);
void grpc_server_stop(struct grpc_server *s); /* NULL is fine */
int grpc_server_port(const struct grpc_server *s);
unsigned grpc_server_calls(const struct grpc_server *s);

#endif
