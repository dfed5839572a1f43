/* must.h — assertions that stay on in release.
 * must() guards promises of our own (a legal state, a lock held, a right magic number). Whatever a file, a peer, a
 * person or a disk can cause is never asserted: it is returned as an error. */
#ifndef BASE_MUST_H
#define BASE_MUST_H

#include <stdint.h>

#define must(cond) ((cond) ? (void)0 : must_fail(__FILE__, __LINE__, #cond))

/* Prints file, line and the broken promise, then aborts. */
void must_fail(const char *file, int line, const char *cond) __attribute__((noreturn, cold));

/* Called before the abort, for instance to print the last log lines. NULL for nothing. Set it once, at start. */
void must_on_fail(void (*hook)(void));

/* Objects that cross a void pointer begin with a magic number, which the callback checks. */
#define MAGIC_CHECK(obj, value) (must((obj) != NULL), must((obj)->magic == (value)), (obj))
#define MAGIC_DEAD UINT32_C(0xdeadbee5)

#endif
