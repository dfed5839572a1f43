/* daemon.h — the parts of trainspotterd, opened in order of their floors, run, and closed in reverse.
 * Runs on: the main thread. */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "base/err.h"
#include "daemon/options.h"

struct daemon;

int daemon_open(struct daemon **out, const struct options *o, struct err *e) MUST_USE;
int daemon_run(struct daemon *d, struct err *e) MUST_USE; /* returns OK on SIGTERM or SIGINT */
void daemon_close(struct daemon *d);

#endif
