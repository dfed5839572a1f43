/* courier.h — goes to the daemon and comes back with its answer: URL, token and certificates in one place.
 *
 * The token is read again whenever it was not good enough (401, 403), since the file may hold a new one by then; it is never
 * logged. Runs on: one thread at a time, which may wait. */
#ifndef AGENT_COURIER_H
#define AGENT_COURIER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/thread.h"
#include "net/http_client.h"

struct courier_settings { /* texts are copied */
	const char *server; /* "http://host:8940" */
	const char *path;   /* "/api/v1/windows" */
	const char *token_file, *ca_file; /* "" for none */
	int64_t timeout_ns; /* of one exchange */
	size_t answer_max;
};

struct courier;

/* E_USAGE for a server's name that is too long. */
int courier_new(struct courier **out, const struct courier_settings *s, struct err *e) MUST_USE;
void courier_free(struct courier *c);

/* POST. OK whenever an answer came, whatever its status; *out is valid until the next one. thread: as in struct http_ask. */
int courier_post(struct courier *c, struct str body, const char *content_type, const char *content_encoding,
	const struct thread *thread, const struct http_answer **out, struct err *e) MUST_USE;

/* A sentence for an answer that is no 2xx: the problem document's "detail", else the status alone. E_NET. */
int courier_problem(const struct http_answer *a, struct err *e);

#endif
