/* err.h — a failure as a code and one sentence for people.
 * The sentence is written once, where the facts are known, without a final period or newline. Callers hand it on
 * untouched or prepend where they were. It is one line: control characters out of names and texts are shown as '?'.
 * A NULL struct err is allowed everywhere: the code alone is returned then. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/code.h"

struct err {
	int code;
	char text[480];
};

/* Both return the code, so that "return err_set(e, E_FORMAT, ...)" reads as one step. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Prepends "context: " to the sentence there is; the code stays (and is returned). */
int err_add(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* E_SYS (E_FULL for ENOSPC and EDQUOT, E_NOT_FOUND for ENOENT, E_DENIED for EACCES and EPERM) with
 * "<what>: <strerror(errno)>" */
int err_sys(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

void err_clear(struct err *e);

#endif
