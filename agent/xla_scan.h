/* xla_scan.h — where profiler servers of JAX and PyTorch/XLA listen on this machine, and whose they are:
 *
 *	self/net/tcp, tcp6	what listens on loopback or on everything: port, inode of the socket, uid
 *	PID/environ		TRAINSPOTTER_XLA_PORT=9012, or 9012-9019: it listens on one of these; children inherit it, so
 *	PID/fd/			only who has the listening socket counts
 *
 * A port of the configuration is looked for in all processes of the socket's user. The walk over all processes is done only
 * when what listens has changed, or a process that was found is gone; else a look costs two files.
 * Reading another user's needs root or CAP_SYS_PTRACE: without it a port of the configuration is found, its process is not.
 * Runs on: one thread at a time. */
#ifndef AGENT_XLA_SCAN_H
#define AGENT_XLA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/worker.h"
#include "base/str.h"
#include "base/vec.h"

#define XLA_PORT_VARIABLE "TRAINSPOTTER_XLA_PORT"

enum { XLA_ADDRESS = 64, XLA_JOBS_MAX = 1024, XLA_PORTS_MAX = 64 /* in one variable */ };
#define XLA_NO_SECTION SIZE_MAX

struct xla_job {
	char address[XLA_ADDRESS]; /* as grpc_address_check wants it */
	size_t section;		   /* of the configuration, or XLA_NO_SECTION */
	bool listens;
	uid_t uid;		   /* with listens */
	bool known;		   /* who was read */
	struct worker who;
};
VEC(xla_jobs, struct xla_job);

struct xla_scan;

/* sections: the configured addresses; borrowed. with_environ: look into environments, too. proc: "/proc", or a test's. */
struct xla_scan *xla_scan_new(const char *proc, const char *const *sections, size_t n_sections, bool with_environ);
void xla_scan_free(struct xla_scan *s);

/* True when the jobs are other ones than before. */
bool xla_scan_look(struct xla_scan *s);
const struct xla_jobs *xla_scan_jobs(const struct xla_scan *s);
/* A process that has the variable and is in another network namespace, which no connection reaches; 0 for none. */
pid_t xla_scan_elsewhere(const struct xla_scan *s);

struct xla_ports {
	uint16_t first, last;
};
int xla_ports_parse(struct str s, struct xla_ports *out) MUST_USE; /* "9012", "9012-9019"; E_FORMAT */

/* What listens, out of the text of net/tcp or net/tcp6. */
struct xla_listener {
	uint16_t port;
	bool four, six;	     /* 127.0.0.1, [::1] get there */
	uint32_t loopback;   /* where it is another address of 127/8, that one; else 0 */
	uid_t uid;
	uint64_t inode;
};
VEC(xla_listeners, struct xla_listener);
void xla_listeners_parse(struct str text, struct xla_listeners *out);

#endif
