/* pprof_read.h — a profile as text, for tests. */
#ifndef TESTS_UNIT_CLI_PPROF_READ_H
#define TESTS_UNIT_CLI_PPROF_READ_H

#include "base/buf.h"
#include "base/str.h"

void pprof_unpack(struct str packed, struct buf *message); /* through the reader of gzip */
void pprof_tell(struct str message, struct buf *out);	    /* "field=number" and "field{…}" */

#endif
