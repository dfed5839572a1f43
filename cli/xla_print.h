/* xla_print.h — the HLO ops of traces of JAX and PyTorch/XLA by module, under the file's own names. */
#ifndef CLI_XLA_PRINT_H
#define CLI_XLA_PRINT_H

#include "base/buf.h"
#include "json/write.h"
#include "trace/xla.h"

/* hlo_module, hlo_op, count, total_ns: by module and op bytewise. */
void xla_print_tsv(const struct xla_table *xt, size_t limit, struct buf *out);
void xla_print_json(const struct xla_table *xt, size_t limit, struct json_writer *w); /* "rows":[…] */
/* Most time first. screen: its columns, 0 for as many as there are. Reorders the rows. */
void xla_print_table(struct xla_table *xt, size_t limit, size_t screen, struct buf *out);

#endif
