/* capture.h — one capture on the command line: followed until it ends, and shown. Runs on: the main thread. */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include "cli/remote.h"

struct capture_state_count {
	size_t targets, taken, failed, expired, leased;
	bool over;
};
struct capture_state_count capture_count(const struct json_node *capture);

/* Asks for it every pause_ns until it has ended, or for at most most_ns (0: however long); on a terminal a line
 * on standard error tells how far it is. A server that does not answer for half a minute is an error, a shorter
 * gap is not. *r is the last answer, in any case the caller's to close. E_NET; E_BUSY when the time is over
 * first. */
int capture_follow(const struct ask *a, struct str id, int64_t pause_ns, int64_t most_ns, struct reply *r,
	struct err *e) MUST_USE;

void capture_show(const struct json_node *capture);

#endif
