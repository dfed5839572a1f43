#include "store/filter.h"

static int text_id(struct filter *f, struct str text, struct names *names, uint32_t *id, struct err *e)
{
	int rc;

	if (str_empty(text))
		return OK;
	rc = names_find(names, text, id, e);
	if (rc == OK && *id == NAMES_NONE)
		f->nothing = true;
	return rc;
}

int filter_of(struct filter *f, const struct query *q, struct names *names, struct err *e)
{
	int rc;

	*f = (struct filter){ .from_ns = q->from_ns, .to_ns = q->to_ns == 0 ? INT64_MAX : q->to_ns };
	rc = text_id(f, q->service, names, &f->service, e);
	if (rc == OK)
		rc = text_id(f, q->deploy, names, &f->deploy, e);
	if (rc == OK)
		rc = text_id(f, q->host, names, &f->host, e);
	if (rc == OK)
		rc = text_id(f, q->worker, names, &f->worker, e);
	return rc;
}

void filter_sql(const struct filter *f, struct buf *sql)
{
	if (f->service != NAMES_NONE)
		buf_text(sql, " AND service = ?");
	if (f->deploy != NAMES_NONE)
		buf_text(sql, " AND deploy = ?");
	if (f->host != NAMES_NONE)
		buf_text(sql, " AND host = ?");
	if (f->worker != NAMES_NONE)
		buf_text(sql, " AND worker = ?");
}

void filter_bind(const struct filter *f, struct stmt *s)
{
	if (f->service != NAMES_NONE)
		stmt_i64(s, f->service);
	if (f->deploy != NAMES_NONE)
		stmt_i64(s, f->deploy);
	if (f->host != NAMES_NONE)
		stmt_i64(s, f->host);
	if (f->worker != NAMES_NONE)
		stmt_i64(s, f->worker);
}

uint32_t filter_limit(const struct query *q)
{
	if (q->limit == 0)
		return QUERY_LIMIT_DEFAULT;
	return q->limit < QUERY_LIMIT_MAX ? q->limit : QUERY_LIMIT_MAX;
}
