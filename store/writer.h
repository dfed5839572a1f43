/* writer.h — the one thread that writes, and the queue in front of it.
 * What waits in the queue when the thread comes round is committed together: one fsync for all of them, an answer for
 * each. Where the commit fails, each is tried by itself, so that one's trouble is not another's. Inside store/ only.
 *
 * Crash points: store.before_commit (everything written, nothing durable), store.after_commit (durable, not answered). */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include <stdatomic.h>

#include "base/chan.h"
#include "base/metric.h"
#include "base/thread.h"
#include "store/reader.h"
#include "store/rollup.h"

struct writer {
	struct db *db;
	struct names *names;
	struct rollups *rollups;
	struct chan *jobs;
	struct thread *thread;
	int64_t next_row; /* of the next window */
	atomic_bool full; /* the last write failed for want of space */
	struct buf blob, rest, scratch;
	uint32_t *ids;
	size_t ids_room;
	char *log_path; /* of the write-ahead log */
	int64_t log_least, log_max; /* bytes from which on it has to begin anew: WRITER_LOG_MAX, and more after that failed */
	struct readers *_Atomic readers; /* NULL: there are none */
	bool gathers;			 /* readers, so that it can */
	struct metric *commits, *failures, *log_bytes, *log_anew;
};

enum { WRITER_LOG_MAX = 128 << 20 };

int writer_open(struct writer **out, const char *path, struct metrics *metrics, struct err *e) MUST_USE;
/* Those whose snapshots keep the log from beginning anew. writer_stop comes before they are closed. */
void writer_guard_log(struct writer *w, struct readers *rs);
void writer_stop(struct writer *w);  /* does what is in the queue first; NULL is fine */
void writer_close(struct writer *w); /* does what is in the queue first; NULL is fine */

/* A piece of work, inside the writer's transaction. It may run again from its start when the first try was undone. */
typedef int writer_work(struct writer *w, void *arg, struct err *e);

/* Runs work on the writer and returns when it is committed (OK) or undone. weight: how many windows it is about.
 * E_BUSY when the queue stays full, E_FULL, and whatever work returns. Runs on: any other thread. */
int writer_do(struct writer *w, writer_work *work, void *arg, size_t weight, struct err *e) MUST_USE;

/* As writer_do, but outside a transaction. */
int writer_do_bare(struct writer *w, writer_work *work, void *arg, struct err *e) MUST_USE;

#endif
