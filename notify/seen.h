/* seen.h — what was delivered already, kept over restarts (the file's picture: notify.h). Inside notify/ only.
 * Runs on: the notify thread. */
#ifndef NOTIFY_SEEN_H
#define NOTIFY_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum { SEEN_KEY = 96 }; /* "<id> <state> <ns>" and NUL */

struct seen;

/* A missing file is an empty one. Lines that are none of ours are dropped. */
int seen_open(struct seen **out, const char *path, size_t cap, struct err *e) MUST_USE;
void seen_close(struct seen *s);
bool seen_has(const struct seen *s, const char *key);
int seen_add(struct seen *s, const char *key, struct err *e) MUST_USE; /* durable when it returns OK */

#endif
