/* quick.h — the usual events of a trace, read from mark to mark (json/mask.h) instead of token by token.
 *
 * It knows one form, the one that every writer writes nearly always: an object of plain strings, numbers, literals, arrays,
 * and args one level down. Whatever else there is, it leaves to json/pull, event by event, and goes on behind it: raw
 * quotes, escapes, control characters, bytes outside ASCII, numbers that are none, objects in args, commas too many, an event
 * that the block's end cuts. So both ways give the same events and the same report, whatever is in the file; the
 * tests read every trace both ways. It is two to three times as fast.
 * Runs on: one thread at a time. Memory: marks of 8 KiB of text, and a table of what the
 * writer repeats between the values (at most 512 phrases). */
#ifndef TRACE_QUICK_H
#define TRACE_QUICK_H

#include <stddef.h>

#include "json/mask.h"
#include "json/pull.h"
#include "trace/intake.h"

struct quick;

struct quick *quick_new(const struct json_mask_kernel *kernel); /* borrows it */
void quick_free(struct quick *q);

/* Hands whole events to in, from where the reader stands. How many bytes they take: the last one's end, 0 for none. */
size_t quick_events(struct quick *q, struct intake *in, const struct json_unread *unread);

#endif
