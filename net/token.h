/* token.h — the bearer token that a client sends: from a file, else from TRAINSPOTTER_TOKEN. Never logged. */
#ifndef NET_TOKEN_H
#define NET_TOKEN_H

#include "base/err.h"

enum { TOKEN_MAX = 4096 };

/* file: NULL or "" for none; white space around the token is dropped. *out is NUL-terminated heap memory of the caller
 * (mem_free), or NULL where neither file nor variable is there. E_USAGE for an empty file. */
int token_load(const char *file, char **out, struct err *e) MUST_USE;

#endif
