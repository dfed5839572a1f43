/* gzip.h — bytes into one gzip member (RFC 1952), for outputs that are read by others. Runs on: any thread. */
#ifndef TRACE_GZIP_H
#define TRACE_GZIP_H

#include "base/buf.h"
#include "base/err.h"

/* Appends to out. E_NOMEM; out's own ceiling shows in out. */
int gzip_pack(struct str bytes, struct buf *out, struct err *e) MUST_USE;

#endif
