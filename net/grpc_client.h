/* grpc_client.h — one unary gRPC call over libcurl: gRPC is one HTTP/2 POST (grpc/grpc, doc/PROTOCOL-HTTP2.md).
 *
 *	body, both ways		0  1  1: the message is compressed; 0, or it is refused
 *				1  4  length of the message, big endian
 *				5     the message
 *	fields of the answer	:status 200, content-type application/grpc…, and behind the body (or, where there is none,
 *				in its place) grpc-status, a number, and grpc-message, percent-encoded
 *
 * Without TLS, and only to this machine: whoever may call a server of this kind may do with it what it can.
 * Runs on: any thread but an event loop. */
#ifndef NET_GRPC_CLIENT_H
#define NET_GRPC_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "net/http_client.h"

/* Of the statuses there are (grpc/grpc, doc/statuscodes.md) those that somebody here asks for. */
enum { GRPC_OK = 0, GRPC_NOT_FOUND = 5, GRPC_UNIMPLEMENTED = 12, GRPC_INTERNAL = 13 };

struct grpc_ask {
	const char *address; /* as grpc_address_check wants it */
	const char *path;    /* "/package.Service/Method" */
	struct str message;
	int64_t connect_ns, total_ns;
	size_t max_answer_bytes;
	const struct thread *thread; /* as in struct http_ask; may be NULL */
};

struct grpc_answer {
	enum http_failure failure; /* HTTP_STRANGE also where it was HTTP but no gRPC, HTTP_BROKEN where no status came */
	int status;		   /* with HTTP_ANSWERED */
	char text[400];		   /* grpc-message, decoded, without control characters */
	struct buf message;	   /* empty unless the status is GRPC_OK */
};

/* OK whenever a status came, whatever it is; else a sentence, and out->failure. Always grpc_answer_fini it. */
int grpc_call(const struct grpc_ask *ask, struct grpc_answer *out, struct err *e) MUST_USE;
void grpc_answer_fini(struct grpc_answer *a);

/* "127.0.0.1:9012" or "[::1]:9012": numbers, of the loopback network; E_USAGE says what would be right. */
int grpc_address_check(struct str address, struct err *e) MUST_USE;

#endif
