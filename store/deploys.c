/* store_put_deploy and store_deploys: deploys as windows show them, joined with those announced. */
#include "json/text.h"
#include "store/codec.h"
#include "store/inside.h"
#include "store/list.h"

enum { DEPLOY_LABELS_BYTES = 1 << 20 };

struct deploy_job {
	const struct deploy *deploy;
	struct buf labels;
};

static int put_row(struct writer *w, void *arg, struct err *e)
{
	const struct deploy_job *job = arg;
	uint32_t service = NAMES_NONE, deploy = NAMES_NONE;
	struct stmt s;
	int rc = names_make(w->names, job->deploy->service, &service, e);

	if (rc == OK)
		rc = names_make(w->names, job->deploy->deploy, &deploy, e);
	if (rc < 0)
		return rc;
	stmt_open(&s, w->db,
		"INSERT INTO deploy (service, deploy, announced_ns, labels) VALUES (?, ?, ?, ?)"
		" ON CONFLICT (service, deploy) DO UPDATE SET announced_ns = min(announced_ns, "
		"excluded.announced_ns),"
		" labels = excluded.labels");
	stmt_i64(&s, service);
	stmt_i64(&s, deploy);
	stmt_i64(&s, job->deploy->first_ns);
	stmt_blob(&s, job->labels.p, job->labels.n);
	return stmt_run(&s, e);
}

static int check_text(struct str s, bool may_be_empty, const char *what, struct err *e)
{
	if (s.n > WINDOW_TEXT_MAX)
		return err_set(e, E_LIMIT, "%s: %zu bytes, at most %d", what, s.n, WINDOW_TEXT_MAX);
	if (s.n == 0 && !may_be_empty)
		return err_set(e, E_FORMAT, "%s: empty", what);
	if (str_find_byte(s, '\0') < s.n)
		return err_set(e, E_FORMAT, "%s: holds a NUL", what);
	return json_utf8_valid(s) ? OK : err_set(e, E_FORMAT, "%s: not UTF-8", what);
}

static int check_deploy(const struct deploy *d, struct err *e)
{
	int rc = check_text(d->service, false, "service", e);

	if (rc == OK)
		rc = check_text(d->deploy, false, "deploy", e);
	if (rc == OK && d->first_ns < 0)
		rc = err_set(e, E_FORMAT, "first_ns: before 1970");
	if (rc == OK && d->n_labels > WINDOW_LABELS_MAX)
		rc = err_set(e, E_LIMIT, "labels: %zu of them, at most %d", d->n_labels, WINDOW_LABELS_MAX);
	for (size_t i = 0; i < d->n_labels && rc == OK; i++) {
		rc = check_text(d->labels[i].key, false, "label's key", e);
		if (rc == OK)
			rc = check_text(d->labels[i].value, true, "label's value", e);
	}
	return rc;
}

int store_put_deploy(struct store *st, const struct deploy *d, struct err *e)
{
	struct deploy_job job = { .deploy = d };
	int rc = check_deploy(d, e);

	if (rc < 0)
		return rc;
	buf_init(&job.labels, DEPLOY_LABELS_BYTES);
	codec_put_labels(&job.labels, d->labels, d->n_labels);
	rc = buf_finish(&job.labels, "labels", e);
	if (rc == OK)
		rc = writer_do(st->writer, put_row, &job, 1, e);
	buf_fini(&job.labels);
	return rc;
}

/* ---- the list */

/* Those with windows, and those announced that have none yet (for any host). Windows without a deploy's name are no
 * deploy. Order and cursor: -first_ns, service, deploy. */
static void deploys_sql(struct list_read *l)
{
	buf_text(&l->sql,
		"SELECT s.text, v.text, d.first_ns, d.last_ns, d.windows, d.hosts, a.labels FROM ("
		"SELECT service, deploy, min(first_ns) AS first_ns, max(last_ns) AS last_ns,"
		" sum(windows) AS windows, count(DISTINCT host) AS hosts FROM seen WHERE 1");
	filter_sql(&l->filter, &l->sql);
	buf_text(&l->sql,
		" GROUP BY service, deploy UNION ALL "
		"SELECT service, deploy, announced_ns, announced_ns, 0, 0 FROM"
		" (SELECT *, 0 AS host, 0 AS worker FROM deploy) a WHERE NOT EXISTS"
		" (SELECT 1 FROM seen w WHERE w.service = a.service AND w.deploy = a.deploy)");
	filter_sql(&l->filter, &l->sql);
	buf_text(&l->sql,
		") d JOIN name s ON s.id = d.service JOIN name v ON v.id = d.deploy"
		" LEFT JOIN deploy a ON a.service = d.service AND a.deploy = d.deploy"
		" WHERE v.text <> '' AND d.last_ns >= ? AND d.first_ns < ?"
		" AND (-d.first_ns, s.text, v.text) > (-?, ?, ?)"
		" ORDER BY -d.first_ns, s.text, v.text LIMIT ?");
}

static int deploy_row(struct list_read *l, const struct stmt *s, void *item, struct err *e)
{
	struct deploy *it = item;
	struct str labels = stmt_get_str(s, 6);

	it->service = list_text(l, s, 0);
	it->deploy = list_text(l, s, 1);
	it->first_ns = stmt_get_i64(s, 2);
	it->last_ns = stmt_get_i64(s, 3);
	it->windows = stmt_get_u64(s, 4);
	it->hosts = stmt_get_u64(s, 5);
	return labels.n == 0 ? OK : codec_get_labels(labels, l->arena, &it->labels, &it->n_labels, e);
}

static int deploys_read(struct list_read *l, struct deploy_list *out, struct err *e)
{
	void *v;
	int rc;

	deploys_sql(l);
	rc = list_open(l, e);
	if (rc < 0)
		return rc;
	filter_bind(&l->filter, &l->stmt);
	filter_bind(&l->filter, &l->stmt);
	stmt_i64(&l->stmt, l->filter.from_ns);
	stmt_i64(&l->stmt, l->filter.to_ns);
	stmt_i64(&l->stmt, l->after.t_ns);
	stmt_str(&l->stmt, l->after.a);
	stmt_str(&l->stmt, l->after.b);
	rc = list_rows(l, deploy_row, sizeof(*out->v), &v, &out->n, e);
	out->v = v;
	if (l->more && out->n > 0) {
		const struct deploy *last = &out->v[out->n - 1];
		struct cursor c = { .t_ns = last->first_ns, .a = last->service, .b = last->deploy };

		out->next = cursor_write(CURSOR_DEPLOYS, &c, l->arena);
	}
	return rc;
}

int store_deploys(
	struct store *st, const struct query *q, struct arena *a, struct deploy_list *out, struct err *e)
{
	struct list_read l;
	struct reader *r;
	int rc = reader_take(&st->readers, &r, e);

	*out = (struct deploy_list){ .next = str_of(NULL) };
	if (rc < 0)
		return rc;
	rc = list_init(&l, CURSOR_DEPLOYS, q, r, a, e);
	if (rc == OK && !l.filter.nothing)
		rc = deploys_read(&l, out, e);
	list_fini(&l);
	reader_give(&st->readers, r);
	metric_add(st->queries, 1);
	return rc;
}
