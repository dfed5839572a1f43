/* progress.h — how far reading a file is, on a terminal, from the second second on.
 *
 *	trace.json.gz  [========            ]  41 %  1.2 GB of 2.9 GB  310 MB/s  5 s left
 *
 * Nothing is written where standard error is no terminal. The line goes away when it is over.
 * Runs on: the main thread. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "trace/input.h"

struct progress {
	const char *name;
	const struct input *whole; /* whose bytes count; NULL: those of the input that is watched */
	bool terminal, shown;
	int64_t start_ns, last_ns;
};

void progress_begin(struct progress *p, const char *name, const struct input *whole);
/* A trace_watcher's block; arg: a struct progress. */
void progress_block(void *arg, const struct input *in);
/* All is read; what goes on now has no measure. Only said where the line is there already. */
void progress_say(struct progress *p, const char *what);
void progress_over(struct progress *p);

/* The line, in at most so many columns. all: 0 where it is not known, then without bar, share and time left. */
void progress_line(struct buf *out, struct str name, uint64_t done_bytes, uint64_t all_bytes, int64_t elapsed_ns,
	size_t columns);

#endif
