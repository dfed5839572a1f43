/* store_services and store_hosts: who has sent windows. */
#include "store/inside.h"
#include "store/list.h"
#include "store/scan.h"

enum { SERVICE_NAMES_MAX = 100000 };

/* A deploy without a name is newest only where there is no other, and before it one of the future; count() passes over NULLs. */
#define NAMELESS "(SELECT id FROM name WHERE text = '')"

static int64_t until_of(const struct query *q)
{
	return q->until_ns > 0 ? q->until_ns : INT64_MAX;
}

static void services_sql(struct list_read *l)
{
	buf_text(&l->sql,
		"SELECT n.text,"
		" (SELECT v.text FROM seen d JOIN name v ON v.id = d.deploy WHERE d.service = seen.service "
		"GROUP BY d.deploy"
		"  ORDER BY v.text = '', min(d.first_ns) >= ?, min(d.first_ns) DESC, v.text DESC LIMIT 1),"
		" count(DISTINCT host), count(DISTINCT nullif(deploy, ifnull(" NAMELESS
		", 0))), sum(windows),"
		" min(first_ns), max(last_ns)"
		" FROM seen JOIN name n ON n.id = seen.service WHERE n.text > ?");
	filter_sql(&l->filter, &l->sql);
	buf_text(&l->sql,
		" GROUP BY seen.service HAVING max(last_ns) >= ? AND min(first_ns) < ? ORDER BY n.text LIMIT "
		"?");
}

static int service_row(struct list_read *l, const struct stmt *s, void *item, struct err *e)
{
	struct service_item *it = item;

	(void)e;
	it->service = list_text(l, s, 0);
	it->deploy = list_text(l, s, 1);
	it->hosts = stmt_get_u64(s, 2);
	it->deploys = stmt_get_u64(s, 3);
	it->windows = stmt_get_u64(s, 4);
	it->first_ns = stmt_get_i64(s, 5);
	it->last_ns = stmt_get_i64(s, 6);
	return OK;
}

static int services_read(struct list_read *l, struct service_list *out, struct err *e)
{
	void *v;
	int rc;

	services_sql(l);
	rc = list_open(l, e);
	if (rc < 0)
		return rc;
	stmt_i64(&l->stmt, until_of(l->query));
	stmt_str(&l->stmt, l->after.a);
	filter_bind(&l->filter, &l->stmt);
	stmt_i64(&l->stmt, l->filter.from_ns);
	stmt_i64(&l->stmt, l->filter.to_ns);
	rc = list_rows(l, service_row, sizeof(*out->v), &v, &out->n, e);
	out->v = v;
	if (l->more && out->n > 0)
		out->next = cursor_write(
			CURSOR_SERVICES, &(struct cursor){ .a = out->v[out->n - 1].service }, l->arena);
	return rc;
}

int store_services(
	struct store *st, const struct query *q, struct arena *a, struct service_list *out, struct err *e)
{
	struct list_read l;
	struct reader *r;
	int rc = reader_take(&st->readers, &r, e);

	*out = (struct service_list){ .next = str_of(NULL) };
	if (rc < 0)
		return rc;
	rc = list_init(&l, CURSOR_SERVICES, q, r, a, e);
	if (rc == OK && !l.filter.nothing)
		rc = services_read(&l, out, e);
	list_fini(&l);
	reader_give(&st->readers, r);
	metric_add(st->queries, 1);
	return rc;
}

/* ---- names and lives */

static int name_row(struct list_read *l, const struct stmt *s, void *item, struct err *e)
{
	(void)e;
	*(struct str *)item = list_text(l, s, 0);
	return OK;
}

/* seen is ordered by service, and one service has a great many rows: it is stepped from each to the next. */
int store_service_names(struct store *st, struct arena *a, struct name_list *out, struct err *e)
{
	struct list_read l = { .arena = a, .limit = SERVICE_NAMES_MAX };
	void *v;
	int rc = reader_take(&st->readers, &l.reader, e);

	*out = (struct name_list){ .n = 0 };
	if (rc < 0)
		return rc;
	stmt_open(&l.stmt, l.reader->db,
		"WITH RECURSIVE s (id) AS (SELECT min(service) FROM seen UNION ALL"
		" SELECT (SELECT min(service) FROM seen WHERE service > s.id) FROM s WHERE s.id IS NOT NULL)"
		" SELECT text FROM s JOIN name ON name.id = s.id ORDER BY text LIMIT ?");
	rc = list_rows(&l, name_row, sizeof(*out->v), &v, &out->n, e);
	out->v = v;
	if (rc == OK && l.more)
		rc = err_set(e, E_LIMIT, "store: more than %d services", SERVICE_NAMES_MAX);
	reader_give(&st->readers, l.reader);
	metric_add(st->queries, 1);
	return rc;
}

int store_life(struct store *st, const struct query *q, bool *any, int64_t *first_ns, int64_t *last_ns, struct err *e)
{
	struct life life = { .empty = true };
	struct reader *r;
	struct filter f;
	int rc = reader_take(&st->readers, &r, e);

	if (rc < 0)
		return rc;
	rc = filter_of(&f, q, r->names, e);
	if (rc == OK && !f.nothing)
		rc = life_of(&life, &f, r, e);
	reader_give(&st->readers, r);
	metric_add(st->queries, 1);
	*any = !life.empty;
	*first_ns = life.first_ns;
	*last_ns = life.last_ns;
	return rc;
}

/* ---- hosts */

/* The service or deploy of the host's newest window of those that match; bound with until once for each. */
static void newest_sql(struct list_read *l, const char *column)
{
	buf_fmt(&l->sql, "(SELECT %s FROM seen WHERE host = h.host", column);
	filter_sql(&l->filter, &l->sql);
	buf_text(&l->sql, " ORDER BY first_ns >= ?, last_ns DESC, first_ns DESC, service, deploy LIMIT 1)");
}

static void hosts_sql(struct list_read *l)
{
	buf_text(&l->sql, "SELECT h.text, (SELECT text FROM name WHERE id = ");
	newest_sql(l, "service");
	buf_text(&l->sql, "), (SELECT text FROM name WHERE id = ");
	newest_sql(l, "deploy");
	buf_text(&l->sql,
		"), h.workers, h.windows, h.first_ns, h.last_ns FROM ("
		"SELECT host, text, count(DISTINCT service << 32 | worker) AS workers, sum(windows) AS "
		"windows,"
		" min(first_ns) AS first_ns, max(last_ns) AS last_ns"
		" FROM seen JOIN name ON name.id = seen.host WHERE text > ?");
	filter_sql(&l->filter, &l->sql);
	buf_text(&l->sql,
		" GROUP BY host HAVING max(last_ns) >= ? AND min(first_ns) < ? ORDER BY text LIMIT ?) h"
		" ORDER BY h.text");
}

static int host_row(struct list_read *l, const struct stmt *s, void *item, struct err *e)
{
	struct host_item *it = item;

	(void)e;
	it->host = list_text(l, s, 0);
	it->service = list_text(l, s, 1);
	it->deploy = list_text(l, s, 2);
	it->workers = stmt_get_u64(s, 3);
	it->windows = stmt_get_u64(s, 4);
	it->first_ns = stmt_get_i64(s, 5);
	it->last_ns = stmt_get_i64(s, 6);
	return OK;
}

static int hosts_read(struct list_read *l, struct host_list *out, struct err *e)
{
	void *v;
	int rc;

	hosts_sql(l);
	rc = list_open(l, e);
	if (rc < 0)
		return rc;
	for (int column = 0; column < 2; column++) { /* service and deploy */
		filter_bind(&l->filter, &l->stmt);
		stmt_i64(&l->stmt, until_of(l->query));
	}
	stmt_str(&l->stmt, l->after.a);
	filter_bind(&l->filter, &l->stmt);
	stmt_i64(&l->stmt, l->filter.from_ns);
	stmt_i64(&l->stmt, l->filter.to_ns);
	rc = list_rows(l, host_row, sizeof(*out->v), &v, &out->n, e);
	out->v = v;
	if (l->more && out->n > 0)
		out->next = cursor_write(
			CURSOR_HOSTS, &(struct cursor){ .a = out->v[out->n - 1].host }, l->arena);
	return rc;
}

int store_hosts(
	struct store *st, const struct query *q, struct arena *a, struct host_list *out, struct err *e)
{
	struct list_read l;
	struct reader *r;
	int rc = reader_take(&st->readers, &r, e);

	*out = (struct host_list){ .next = str_of(NULL) };
	if (rc < 0)
		return rc;
	rc = list_init(&l, CURSOR_HOSTS, q, r, a, e);
	if (rc == OK && !l.filter.nothing)
		rc = hosts_read(&l, out, e);
	list_fini(&l);
	reader_give(&st->readers, r);
	metric_add(st->queries, 1);
	return rc;
}
