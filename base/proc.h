/* proc.h — what a program asks of the system about itself: signals, readiness for systemd, limits. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGUSR1 in this thread and all that it starts later, ignores SIGPIPE, and gives
 * a signalfd that proc_wait_signal reads. Call before any thread is started. */
int proc_signals_open(int *fd, struct err *e) MUST_USE;
/* Waits up to timeout_ns (negative: for ever) for one of them: its number, 0 on time-out. */
int proc_wait_signal(int fd, int64_t timeout_ns);

/* sd_notify(3) without libsystemd: a datagram to $NOTIFY_SOCKET, nothing where that is not set.
 * "READY=1", "STOPPING=1", "RELOADING=1", "STATUS=…". */
void proc_notify(const char *state);

int proc_limit_files(uint64_t want, struct err *e); /* raises RLIMIT_NOFILE towards want, as far as the hard limit */

/* The name of this host, up to the first NUL; "localhost" where there is none. */
void proc_host_name(char *out, size_t cap);

#endif
