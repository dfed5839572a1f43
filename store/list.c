#include "store/list.h"

int list_init(struct list_read *l, enum cursor_list list, const struct query *q, struct reader *r,
	struct arena *a, struct err *e)
{
	int rc;

	*l = (struct list_read){ .reader = r, .query = q, .arena = a, .limit = filter_limit(q) };
	l->after = (struct cursor){ .t_ns = INT64_MAX, .a = str_of(NULL), .b = str_of(NULL) };
	buf_init(&l->sql, FILTER_SQL_MAX);
	rc = cursor_read(list, q->cursor, &l->after, a, e);
	return rc == OK ? filter_of(&l->filter, q, r->names, e) : rc;
}

void list_fini(struct list_read *l)
{
	buf_fini(&l->sql);
}

int list_open(struct list_read *l, struct err *e)
{
	int rc = buf_finish(&l->sql, "query", e);

	if (rc == OK)
		stmt_open(&l->stmt, l->reader->db, l->sql.p);
	return rc;
}

int list_rows(struct list_read *l, list_row *row, size_t each, void **v, size_t *n, struct err *e)
{
	int rc = OK, close_rc;

	*n = 0;
	*v = arena_get_array(l->arena, l->limit, each);
	stmt_i64(&l->stmt, (int64_t)l->limit + 1);
	while (rc == OK && !arena_full(l->arena) && stmt_row(&l->stmt)) {
		if (*n == l->limit) {
			l->more = true;
			break;
		}
		rc = row(l, &l->stmt, (char *)*v + (*n)++ * each, e);
	}
	close_rc = stmt_close(&l->stmt, rc == OK ? e : NULL);
	if (rc == OK)
		rc = close_rc;
	if (rc == OK && arena_full(l->arena))
		rc = err_set(e, E_LIMIT, "answer: larger than %zu bytes: ask for less at a time (limit)",
			l->arena->cap);
	if (rc < 0)
		*n = 0;
	return rc;
}
