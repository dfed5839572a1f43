/* problem.h — what went wrong with a request, as RFC 9457 documents: the table of doc/api.md, "Problems".
 * Pure; any thread. */
#ifndef NET_PROBLEM_H
#define NET_PROBLEM_H

#include "base/code.h"
#include "net/http_server.h"

enum problem {
	PROBLEM_PARAMETER,
	PROBLEM_REQUEST,	/* not HTTP as this server reads it */
	PROBLEM_NOT_IMPLEMENTED, /* a method or transfer coding nobody here knows */
	PROBLEM_VERSION,
	PROBLEM_BODY,
	PROBLEM_UNAUTHORIZED,
	PROBLEM_FORBIDDEN,
	PROBLEM_NOT_FOUND,
	PROBLEM_METHOD,
	PROBLEM_TIMEOUT,
	PROBLEM_TOO_LARGE,
	PROBLEM_MEDIA_TYPE,
	PROBLEM_UNPROCESSABLE,
	PROBLEM_HEADERS_TOO_LARGE,
	PROBLEM_INTERNAL,
	PROBLEM_BUSY,
	PROBLEM_NOT_READY,
	PROBLEM_FULL,
	PROBLEMS
};

int problem_status(enum problem p);
const char *problem_word(enum problem p); /* "too-large": the end of the type, and the reason in metrics */

/* Makes rp that problem: status, content type and body; what the body held before is gone. parameter: the member of
 * that name, NULL for none. 401 gets its WWW-Authenticate, 503 a Retry-After. */
void problem_reply(struct http_reply *rp, enum problem p, const char *parameter, const char *fmt, ...) PRINTF_LIKE(4, 5);

#endif
