/* fake_kineto.h — a client that polls the way libkineto does: a datagram of a 40-byte header and pids, sent up to ten times
 * with waits of 10 ms that double, then nine waits of 10 ms for the answer, whose type it does not check; the trace is
 * written beside its name as .tmp and renamed. */
#ifndef TESTS_UNIT_AGENT_FAKE_KINETO_H
#define TESTS_UNIT_AGENT_FAKE_KINETO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/str.h"

struct fake_client {
	int fd;
	struct sockaddr_un daemon;
	socklen_t daemon_len;
	int32_t pid; /* that it knows itself by */
	uint32_t can;
	unsigned sends; /* of the last poll */
	int64_t waited_ns; /* of the last poll: from the datagram that got through to the answer */
	char text[4096]; /* of the last answer */
	size_t n_text;
};

enum fake_answer { FAKE_NO_DAEMON, FAKE_SILENCE, FAKE_NOTHING, FAKE_WINDOW };

/* daemon_dir, own_dir: "" for abstract ones. */
void fake_client_open(struct fake_client *c, const char *daemon_dir, const char *own_dir, const char *name);
void fake_client_close(struct fake_client *c);

enum fake_answer fake_client_poll(struct fake_client *c);
/* Any bytes, with nothing done about the answer; false when nobody listens. */
bool fake_client_send(struct fake_client *c, const void *p, size_t n);
bool fake_client_answered(struct fake_client *c); /* within 90 ms, into text */

/* Of the last answer, in a static buffer; NULL where it is not there. */
const char *fake_client_value(const struct fake_client *c, const char *key);
/* Where it would put its trace, in a static buffer. */
const char *fake_client_path(const struct fake_client *c);
void fake_client_write(const struct fake_client *c, struct str trace); /* .tmp, then rename */

#endif
