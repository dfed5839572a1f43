/* kineto_poll.h — the thread that answers polls. A client waits 90 ms for its answer, and takes one that comes later for
 * the answer to its next poll; so this thread reads no file, waits for nobody, empties the whole queue whenever it wakes,
 * and leaves a question that has grown old unanswered.
 *
 *	sockets ═ poll thread ─ NEW, SEEN, GIVEN, UNSENT, STRANGE ─→ main
 *	                      ←─ KNOWN, GRANT, REVOKE, OVER, SOCKET ─
 *
 * Runs on: start and stop, give and fetch on the main thread. */
#ifndef AGENT_KINETO_POLL_H
#define AGENT_KINETO_POLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/kineto_sock.h"
#include "agent/kineto_table.h"
#include "base/err.h"
#include "base/metric.h"

enum { KINETO_SOCKETS_MAX = 17, KINETO_UIDS_MAX = 64 }; /* the abstract one and 16 folders */

enum kineto_note_kind {
	KINETO_NOTE_NEW,     /* to main: who is pid? */
	KINETO_NOTE_SEEN,    /* to main: pid polls, and is idle or not; when that changes, and every now and then */
	KINETO_NOTE_GIVEN,   /* to main: pid was asked for the window of grant.order; expect path */
	KINETO_NOTE_UNSENT,  /* to main: grant.order did not get through */
	KINETO_NOTE_STRANGE, /* to main: pid was left without an answer; path is its folder, dir the socket's */
	KINETO_NOTE_KNOWN,   /* from main: dir */
	KINETO_NOTE_GRANT,   /* from main: grant */
	KINETO_NOTE_REVOKE,  /* from main: no grant counts any more; each comes back as UNSENT */
	KINETO_NOTE_OVER,    /* from main: the window of pid */
	KINETO_NOTE_SOCKET,  /* from main: fd and dir at place index, the old fd there is closed */
};

struct kineto_note {
	enum kineto_note_kind kind;
	pid_t pid;
	uid_t uid;
	uint64_t address;
	int64_t job;
	int32_t self; /* the pid that the process knows itself by */
	bool idle;
	int64_t mono_ns;
	struct kineto_grant grant;
	char dir[KINETO_DIR_MAX + 1];
	char path[KINETO_DIR_MAX + KINETO_STEM_MAX + 32];
	size_t index;
	int fd;
};

struct kineto_shape { /* of the windows asked for; texts are borrowed for as long as the thread runs */
	const char *activities, *custom;
	int64_t roundup;
};

struct kineto_poll_settings {
	struct kineto_shape shape;
	uid_t uids[KINETO_UIDS_MAX]; /* none: all */
	size_t n_uids;
};

/* What the thread counts; any thread reads them. */
struct kineto_poll_counts {
	struct metric *polls, *answers_late, *answers_lost, *bad, *strange, *refused, *no_pid, *full;
	struct metric *given, *procs, *out;
	struct metric *slow, *slowest_ns; /* from coming in to the answer, of those that were answered; slow: above 50 ms */
};

struct kineto_poll;

int kineto_poll_start(struct kineto_poll **out, const struct kineto_poll_settings *s, struct metrics *ms,
	struct err *e) MUST_USE;
void kineto_poll_stop(struct kineto_poll *p); /* closes what sockets it was given */

void kineto_poll_tell(struct kineto_poll *p, const struct kineto_note *n);
int kineto_poll_fd(struct kineto_poll *p); /* readable: a note is there */
bool kineto_poll_fetch(struct kineto_poll *p, struct kineto_note *out);
const struct kineto_poll_counts *kineto_poll_counts(const struct kineto_poll *p);

#endif
