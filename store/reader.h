/* reader.h — the reading connections: taken for one question, given back after it.
 * One question sees one moment of the store: everything between take and give reads the same snapshot. Answers are copied
 * out, so that no snapshot outlives its question. Inside store/ only. */
#ifndef STORE_READER_H
#define STORE_READER_H

#include <stdatomic.h>

#include "base/chan.h"
#include "store/names.h"

struct reader {
	struct db *db;
	struct names *names;
};

struct readers {
	struct chan *idle;
	struct chan *held;   /* while the writer gathers them */
	atomic_bool gathers; /* those given back go there */
	size_t n;
};

int readers_open(struct readers *rs, const char *path, size_t n, struct err *e) MUST_USE;
void readers_close(struct readers *rs); /* none may be taken */

/* Waits for an idle one; E_BUSY when there is none for long. */
int reader_take(struct readers *rs, struct reader **out, struct err *e) MUST_USE;
void reader_give(struct readers *rs, struct reader *r); /* NULL is fine */

/* The log can begin anew only at a moment in which nobody reads. With questions that overlap for ever there is none: then the
 * writer keeps each connection that comes back, until it has all of them, and lets them go again. No question is cut
 * short, and those that wait meanwhile wait for the longest of those under way. Runs on: the writer only. */
bool readers_gather(struct readers *rs); /* true: it has all of them; else to be called again soon */
void readers_let_go(struct readers *rs);

#endif
