/* sequence.h — ids for windows that are of no file: made of the agent's id, its start and a number that grows by one a window
 * and is durable before it is used, so that no two windows ever have the same id, whatever is killed when.
 *
 *	STATE_DIR/sequence	the first number that nobody has reserved, in decimal, and a line feed
 *
 * Numbers are reserved SEQUENCE_BLOCK at a time: one fsync for so many windows; a kill loses at most so many numbers.
 * Runs on: the agent's main thread. */
#ifndef AGENT_SEQUENCE_H
#define AGENT_SEQUENCE_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "profile/window.h"

enum { SEQUENCE_BLOCK = 1000 };

struct sequence;

/* start_ns: wall, of the agent. Nothing is read or written before the first id. */
struct sequence *sequence_new(const char *state_dir, struct str agent_id, int64_t start_ns);
void sequence_free(struct sequence *s); /* NULL is fine */
/* The recipe: wire/trainspotter.proto. E_CORRUPT where the file is no number, E_SYS, E_FULL; the next call tries again. */
int sequence_next(struct sequence *s, uint8_t id[WINDOW_ID], struct err *e) MUST_USE;

#endif
