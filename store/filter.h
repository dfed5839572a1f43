/* filter.h — the part of a question that says which windows: texts as ids, and the SQL for them. Inside store/ only. */
#ifndef STORE_FILTER_H
#define STORE_FILTER_H

#include "base/buf.h"
#include "profile/query.h"
#include "store/names.h"

struct filter {
	bool nothing;				/* it names something that has never been seen */
	uint32_t service, deploy, host, worker; /* NAMES_NONE: any */
	int64_t from_ns, to_ns;			/* from <= start < to; never open */
};

int filter_of(struct filter *f, const struct query *q, struct names *names, struct err *e) MUST_USE;

/* SQL of one question, built from literals; every ? is bound in the order in which it was added. */
enum { FILTER_SQL_MAX = 4096 };
void filter_sql(const struct filter *f, struct buf *sql); /* " AND service = ?" … for what is named */
void filter_bind(const struct filter *f, struct stmt *s);

uint32_t filter_limit(const struct query *q); /* items in a page */

/* Of the table window: only those with ops. Without them the blob is two bytes, its version and a 0 (codec.h); SQLite
 * knows its length without reading it. */
#define FILTER_WITH_OPS " AND length(ops) > 2"

#endif
