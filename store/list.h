/* list.h — what the lists of services, hosts, deploys, alerts and captures have in common: SQL built from a filter, a page of rows,
 * the cursor of the next. Inside store/ only. Runs on: a reader's thread. */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include "base/buf.h"
#include "store/cursor.h"
#include "store/filter.h"
#include "store/reader.h"

struct list_read {
	struct reader *reader;
	const struct query *query;
	struct arena *arena;
	struct filter filter;
	struct cursor after; /* key of the last item of the page before */
	struct buf sql;
	struct stmt stmt;
	uint32_t limit;
	bool more; /* another page follows */
};

/* Reads cursor and filter. The statement is then built in l->sql, opened with list_open and bound; its LIMIT ? is the
 * last parameter and bound by list_rows. list_fini frees, whatever happened. */
int list_init(struct list_read *l, enum cursor_list list, const struct query *q, struct reader *r,
	struct arena *a, struct err *e) MUST_USE;
void list_fini(struct list_read *l);
int list_open(struct list_read *l, struct err *e) MUST_USE;

/* Calls row for each row of the page with the item to fill; items are each bytes large, in the arena, *v and *n. */
typedef int list_row(struct list_read *l, const struct stmt *s, void *item, struct err *e);
int list_rows(struct list_read *l, list_row *row, size_t each, void **v, size_t *n, struct err *e) MUST_USE;

static inline struct str list_text(struct list_read *l, const struct stmt *s, int column)
{
	return arena_str(l->arena, stmt_get_str(s, column));
}

#endif
