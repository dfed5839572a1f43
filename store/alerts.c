/* store_put_alert, store_alerts, store_alert: alerts and their evidence, by fingerprint. */
#include "store/codec.h"
#include "store/inside.h"
#include "store/list.h"

enum { ALERT_ID_MAX = 128, ALERT_HOSTS_BYTES = 16 << 20 };

struct alert_job {
	const struct alert *alert;
	struct buf hosts;
};

static int put_row(struct writer *w, void *arg, struct err *e)
{
	const struct alert_job *job = arg;
	const struct alert *al = job->alert;
	struct stmt s;

	stmt_open(&s, w->db,
		"INSERT OR REPLACE INTO alert (id, state, kind, service, deploy, deploy_before, op, "
		"sentence, started_ns,"
		" fired_ns, resolved_ns, updated_ns, windows_before, windows_after, hosts, evidence)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	stmt_str(&s, al->id);
	stmt_text(&s, alert_state_name(al->state));
	stmt_text(&s, verdict_name(al->kind));
	stmt_str(&s, al->service);
	stmt_str(&s, al->deploy);
	stmt_str(&s, al->deploy_before);
	stmt_str(&s, al->op);
	stmt_str(&s, al->sentence);
	stmt_i64(&s, al->started_ns);
	stmt_i64(&s, al->fired_ns);
	stmt_i64(&s, al->resolved_ns);
	stmt_i64(&s, al->updated_ns);
	stmt_u64(&s, al->windows_before);
	stmt_u64(&s, al->windows_after);
	stmt_blob(&s, job->hosts.p, job->hosts.n);
	stmt_str(&s, al->evidence);
	return stmt_run(&s, e);
}

int store_put_alert(struct store *st, const struct alert *a, struct err *e)
{
	struct alert_job job = { .alert = a };
	int rc;

	if (str_empty(a->id) || a->id.n > ALERT_ID_MAX)
		return err_set(e, E_FORMAT, "alert: its id has %zu bytes, it must have 1 to %d", a->id.n,
			ALERT_ID_MAX);
	buf_init(&job.hosts, ALERT_HOSTS_BYTES);
	codec_put_texts(&job.hosts, a->hosts, a->n_hosts);
	rc = buf_finish(&job.hosts, "alert's hosts", e);
	if (rc == OK)
		rc = writer_do(st->writer, put_row, &job, 1, e);
	buf_fini(&job.hosts);
	return rc;
}

/* ---- reading */

static const char alert_columns[] =
	"SELECT id, state, kind, service, deploy, deploy_before, op, sentence, started_ns,"
	" fired_ns, resolved_ns, updated_ns, windows_before, windows_after, hosts, evidence"
	" FROM alert";

static int alert_row(struct list_read *l, const struct stmt *s, void *item, struct err *e)
{
	struct alert *it = item;

	if (alert_state_parse(stmt_get_str(s, 1), &it->state) < 0 ||
		verdict_parse(stmt_get_str(s, 2), &it->kind) < 0)
		return err_set(
			e, E_CORRUPT, "store: an alert has a state or kind that this program does not know");
	it->id = list_text(l, s, 0);
	it->service = list_text(l, s, 3);
	it->deploy = list_text(l, s, 4);
	it->deploy_before = list_text(l, s, 5);
	it->op = list_text(l, s, 6);
	it->sentence = list_text(l, s, 7);
	it->started_ns = stmt_get_i64(s, 8);
	it->fired_ns = stmt_get_i64(s, 9);
	it->resolved_ns = stmt_get_i64(s, 10);
	it->updated_ns = stmt_get_i64(s, 11);
	it->windows_before = stmt_get_u64(s, 12);
	it->windows_after = stmt_get_u64(s, 13);
	it->evidence = list_text(l, s, 15);
	return codec_get_texts(stmt_get_str(s, 14), l->arena, &it->hosts, &it->n_hosts, e);
}

/* Alerts name services by text: one may be of a service that has no windows any more. */
static int alerts_read(struct list_read *l, const char *state, struct alert_list *out, struct err *e)
{
	const struct query *q = l->query;
	void *v;
	int rc;

	buf_text(&l->sql, alert_columns);
	buf_text(&l->sql,
		" WHERE (? = '' OR state = ?) AND (? = '' OR service = ?) AND (? = '' OR deploy = ?)"
		" AND (-started_ns, id) > (-?, ?) ORDER BY -started_ns, id LIMIT ?");
	rc = list_open(l, e);
	if (rc < 0)
		return rc;
	stmt_text(&l->stmt, state);
	stmt_text(&l->stmt, state);
	stmt_str(&l->stmt, q->service);
	stmt_str(&l->stmt, q->service);
	stmt_str(&l->stmt, q->deploy);
	stmt_str(&l->stmt, q->deploy);
	stmt_i64(&l->stmt, l->after.t_ns);
	stmt_str(&l->stmt, l->after.a);
	rc = list_rows(l, alert_row, sizeof(*out->v), &v, &out->n, e);
	out->v = v;
	if (l->more && out->n > 0) {
		struct cursor c = { .t_ns = out->v[out->n - 1].started_ns, .a = out->v[out->n - 1].id };

		out->next = cursor_write(CURSOR_ALERTS, &c, l->arena);
	}
	return rc;
}

int store_alerts(struct store *st, const struct query *q, bool any_state, enum alert_state state,
	struct arena *a, struct alert_list *out, struct err *e)
{
	struct list_read l;
	struct reader *r;
	int rc = reader_take(&st->readers, &r, e);

	*out = (struct alert_list){ .next = str_of(NULL) };
	if (rc < 0)
		return rc;
	rc = list_init(&l, CURSOR_ALERTS, q, r, a, e);
	if (rc == OK)
		rc = alerts_read(&l, any_state ? "" : alert_state_name(state), out, e);
	list_fini(&l);
	reader_give(&st->readers, r);
	metric_add(st->queries, 1);
	return rc;
}

static int alert_read(struct list_read *l, struct str id, struct alert *out, struct err *e)
{
	size_t n = 0;
	void *v;
	int rc;

	buf_text(&l->sql, alert_columns);
	buf_text(&l->sql, " WHERE id = ? LIMIT ?");
	rc = list_open(l, e);
	if (rc < 0)
		return rc;
	stmt_str(&l->stmt, id);
	rc = list_rows(l, alert_row, sizeof(*out), &v, &n, e);
	if (rc == OK && n == 0)
		return err_set(e, E_NOT_FOUND, "alert %.*s: not here", STR_ARG(str_upto(id, ALERT_ID_MAX)));
	if (rc == OK)
		*out = *(struct alert *)v;
	return rc;
}

int store_alert(struct store *st, struct str id, struct arena *a, struct alert *out, struct err *e)
{
	struct query q = { .limit = 1 };
	struct list_read l;
	struct reader *r;
	int rc = reader_take(&st->readers, &r, e);

	*out = (struct alert){ .id = str_of(NULL) };
	if (rc < 0)
		return rc;
	rc = list_init(&l, CURSOR_ALERTS, &q, r, a, e);
	if (rc == OK)
		rc = alert_read(&l, id, out, e);
	list_fini(&l);
	reader_give(&st->readers, r);
	metric_add(st->queries, 1);
	return rc;
}
