/* reader.h — the reading connections: taken for one question, given back after it.
 * One question sees one moment of the store: everything between take and give reads the same snapshot. Answers are copied
 * out, so that no snapshot outlives its question. Inside store/ only. */
#ifndef STORE_READER_H
#define STORE_READER_H

#include "base/chan.h"
#include "store/names.h"

struct reader {
	struct db *db;
	struct names *names;
};

struct readers {
	struct chan *idle;
	size_t n;
};

int readers_open(struct readers *rs, const char *path, size_t n, struct err *e) MUST_USE;
void readers_close(struct readers *rs); /* none may be taken */

/* Waits for an idle one; E_BUSY when there is none for long. */
int reader_take(struct readers *rs, struct reader **out, struct err *e) MUST_USE;
void reader_give(struct readers *rs, struct reader *r); /* NULL is fine */

#endif
