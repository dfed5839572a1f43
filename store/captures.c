/* store_put_captures, store_captures, store_leases: what was asked for, and who may take windows now. */
#include "store/codec.h"
#include "store/inside.h"
#include "store/list.h"

enum { CAPTURE_LIST_BYTES = 1 << 20, CAPTURE_ALL = 10000 };

struct capture_job {
	const struct capture_changes *changes;
	struct buf hosts, workers; /* of the capture at hand */
};

/* ---- writing */

static int put_lease(struct writer *w, const struct lease *l, struct err *e)
{
	struct stmt s;

	stmt_open(&s, w->db,
		"INSERT OR REPLACE INTO lease (id, agent, capture, host, service, source, worker, duration_ns, iterations,"
		" granted_ns, begin_ns, until_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	stmt_str(&s, l->id);
	stmt_str(&s, l->agent);
	stmt_str(&s, l->capture);
	stmt_str(&s, l->host);
	stmt_str(&s, l->service);
	stmt_str(&s, l->source);
	stmt_str(&s, l->worker);
	stmt_i64(&s, l->duration_ns);
	stmt_i64(&s, l->iterations);
	stmt_i64(&s, l->granted_ns);
	stmt_i64(&s, l->begin_ns);
	stmt_i64(&s, l->until_ns);
	return stmt_run(&s, e);
}

static int end_lease(struct writer *w, struct str id, struct err *e)
{
	struct stmt s;

	stmt_open(&s, w->db, "DELETE FROM lease WHERE id = ?");
	stmt_str(&s, id);
	return stmt_run(&s, e);
}

static int put_target(struct writer *w, struct str capture, const struct capture_target *t, struct err *e)
{
	struct stmt s;

	stmt_open(&s, w->db,
		"INSERT INTO capture_target (capture, host, service, source, worker, state, lease, end, window)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (capture, host, service, source, worker) DO UPDATE SET"
		" state = excluded.state, lease = excluded.lease, end = excluded.end, window = excluded.window"
		" WHERE state IN ('waiting', 'leased')");
	stmt_str(&s, capture);
	stmt_str(&s, t->host);
	stmt_str(&s, t->service);
	stmt_str(&s, t->source);
	stmt_str(&s, t->worker);
	stmt_text(&s, target_state_name(t->state));
	stmt_str(&s, t->lease);
	stmt_str(&s, t->end);
	stmt_str(&s, t->window);
	return stmt_run(&s, e);
}

static int put_capture(struct writer *w, struct capture_job *job, const struct capture *c, struct err *e)
{
	struct stmt s;
	int rc;

	buf_reset(&job->hosts);
	buf_reset(&job->workers);
	codec_put_texts(&job->hosts, c->hosts, c->n_hosts);
	codec_put_texts(&job->workers, c->workers, c->n_workers);
	rc = buf_finish(&job->hosts, "hosts", e);
	if (rc == OK)
		rc = buf_finish(&job->workers, "workers", e);
	if (rc < 0)
		return rc;
	stmt_open(&s, w->db,
		"INSERT OR REPLACE INTO capture (id, created_ns, expires_ns, join_ns, ended_ns, service, source, hosts, workers,"
		" duration_ns, iterations, reason, alert) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	stmt_str(&s, c->id);
	stmt_i64(&s, c->created_ns);
	stmt_i64(&s, c->expires_ns);
	stmt_i64(&s, c->join_ns);
	stmt_i64(&s, c->ended_ns);
	stmt_str(&s, c->service);
	stmt_str(&s, c->source);
	stmt_blob(&s, job->hosts.p, job->hosts.n);
	stmt_blob(&s, job->workers.p, job->workers.n);
	stmt_i64(&s, c->duration_ns);
	stmt_i64(&s, c->iterations);
	stmt_str(&s, c->reason);
	stmt_str(&s, c->alert);
	rc = stmt_run(&s, e);
	for (size_t i = 0; i < c->n_targets && rc == OK; i++)
		rc = put_target(w, c->id, &c->targets[i], e);
	return rc;
}

static int end_capture(struct writer *w, const struct capture_end *end, struct err *e)
{
	struct stmt s;

	stmt_open(&s, w->db, "UPDATE capture SET ended_ns = ? WHERE id = ? AND ended_ns = 0");
	stmt_i64(&s, end->ended_ns);
	stmt_str(&s, end->capture);
	return stmt_run(&s, e);
}

static int put_policy(struct writer *w, const struct capture_policy *p, struct err *e)
{
	struct stmt s;

	stmt_open(&s, w->db, "UPDATE capture_policy SET paused = ?, reason = ?, changed_ns = ?");
	stmt_i64(&s, p->paused);
	stmt_str(&s, p->reason);
	stmt_i64(&s, p->changed_ns);
	return stmt_run(&s, e);
}

/* In the order in which they happened: a lease granted may have ended at once, a capture made may have ended. */
static int put_rows(struct writer *w, void *arg, struct err *e)
{
	struct capture_job *job = arg;
	const struct capture_changes *c = job->changes;
	int rc = c->policy == NULL ? OK : put_policy(w, c->policy, e);

	for (size_t i = 0; i < c->granted.n && rc == OK; i++)
		rc = put_lease(w, &c->granted.v[i], e);
	for (size_t i = 0; i < c->ended.n && rc == OK; i++)
		rc = end_lease(w, c->ended.v[i], e);
	for (size_t i = 0; i < c->captures.n && rc == OK; i++)
		rc = put_capture(w, job, &c->captures.v[i], e);
	for (size_t i = 0; i < c->targets.n && rc == OK; i++)
		rc = put_target(w, c->targets.v[i].capture, &c->targets.v[i].target, e);
	for (size_t i = 0; i < c->ends.n && rc == OK; i++)
		rc = end_capture(w, &c->ends.v[i], e);
	return rc;
}

int store_put_captures(struct store *st, const struct capture_changes *c, struct err *e)
{
	struct capture_job job = { .changes = c };
	int rc;

	buf_init(&job.hosts, CAPTURE_LIST_BYTES);
	buf_init(&job.workers, CAPTURE_LIST_BYTES);
	rc = writer_do(st->writer, put_rows, &job, 1, e);
	buf_fini(&job.hosts);
	buf_fini(&job.workers);
	return rc;
}

/* ---- reading */

static int target_row(struct list_read *l, const struct stmt *s, void *item, struct err *e)
{
	struct capture_target *it = item;

	it->host = list_text(l, s, 0);
	it->service = list_text(l, s, 1);
	it->source = list_text(l, s, 2);
	it->worker = list_text(l, s, 3);
	it->lease = list_text(l, s, 5);
	it->end = list_text(l, s, 6);
	it->window = list_text(l, s, 7);
	if (target_state_parse(stmt_get_str(s, 4), &it->state) == OK)
		return OK;
	return err_set(e, E_CORRUPT, "store: a capture's target has a state that this program does not know");
}

static int read_targets(struct reader *r, struct arena *a, struct capture *c, struct err *e)
{
	struct list_read l = { .reader = r, .arena = a, .limit = CAPTURE_TARGETS_MAX };
	int64_t n = 0;
	void *v;
	int rc;

	stmt_open(&l.stmt, r->db, "SELECT count(*) FROM capture_target WHERE capture = ?");
	stmt_str(&l.stmt, c->id);
	if (stmt_row(&l.stmt))
		n = stmt_get_i64(&l.stmt, 0);
	rc = stmt_close(&l.stmt, e);
	if (rc < 0)
		return rc;
	l.limit = n < CAPTURE_TARGETS_MAX ? (uint32_t)n : CAPTURE_TARGETS_MAX;
	stmt_open(&l.stmt, r->db,
		"SELECT host, service, source, worker, state, lease, end, window FROM capture_target WHERE capture = ?"
		" ORDER BY host, service, source, worker LIMIT ?");
	stmt_str(&l.stmt, c->id);
	rc = list_rows(&l, target_row, sizeof(struct capture_target), &v, &c->n_targets, e);
	c->targets = v;
	return rc;
}

static const char capture_columns[] =
	"SELECT id, created_ns, expires_ns, join_ns, ended_ns, service, source, hosts, workers, duration_ns, iterations,"
	" reason, alert FROM capture";

static int capture_row(struct list_read *l, const struct stmt *s, void *item, struct err *e)
{
	struct capture *it = item;
	int rc;

	it->id = list_text(l, s, 0);
	it->created_ns = stmt_get_i64(s, 1);
	it->expires_ns = stmt_get_i64(s, 2);
	it->join_ns = stmt_get_i64(s, 3);
	it->ended_ns = stmt_get_i64(s, 4);
	it->service = list_text(l, s, 5);
	it->source = list_text(l, s, 6);
	it->duration_ns = stmt_get_i64(s, 9);
	it->iterations = stmt_get_i64(s, 10);
	it->reason = list_text(l, s, 11);
	it->alert = list_text(l, s, 12);
	rc = codec_get_texts(stmt_get_str(s, 7), l->arena, &it->hosts, &it->n_hosts, e);
	return rc == OK ? codec_get_texts(stmt_get_str(s, 8), l->arena, &it->workers, &it->n_workers, e) : rc;
}

static int captures_read(struct list_read *l, bool open_only, struct capture_list *out, struct err *e)
{
	struct str service = l->query->service;
	void *v;
	int rc;

	buf_text(&l->sql, capture_columns);
	buf_text(&l->sql, open_only ? " WHERE ended_ns = 0" : " WHERE 1");
	buf_text(&l->sql, " AND (? = '' OR service = ? OR EXISTS (SELECT 1 FROM capture_target t WHERE t.capture = id"
			  " AND t.service = ?)) AND (-created_ns, id) > (-?, ?) ORDER BY -created_ns, id LIMIT ?");
	rc = list_open(l, e);
	if (rc < 0)
		return rc;
	stmt_str(&l->stmt, service);
	stmt_str(&l->stmt, service);
	stmt_str(&l->stmt, service);
	stmt_i64(&l->stmt, l->after.t_ns);
	stmt_str(&l->stmt, l->after.a);
	rc = list_rows(l, capture_row, sizeof(*out->v), &v, &out->n, e);
	out->v = v;
	for (size_t i = 0; i < out->n && rc == OK; i++)
		rc = read_targets(l->reader, l->arena, &out->v[i], e);
	if (rc == OK && l->more && out->n > 0) {
		struct cursor c = { .t_ns = out->v[out->n - 1].created_ns, .a = out->v[out->n - 1].id };

		out->next = cursor_write(CURSOR_CAPTURES, &c, l->arena);
	}
	return rc;
}

int store_captures(struct store *st, const struct query *q, bool open_only, struct arena *a, struct capture_list *out,
	struct err *e)
{
	struct query all = { .limit = CAPTURE_ALL };
	struct list_read l;
	struct reader *r;
	int rc = reader_take(&st->readers, &r, e);

	*out = (struct capture_list){ .next = str_of(NULL) };
	if (rc < 0)
		return rc;
	rc = list_init(&l, CURSOR_CAPTURES, open_only ? &all : q, r, a, e);
	if (rc == OK)
		rc = captures_read(&l, open_only, out, e);
	list_fini(&l);
	reader_give(&st->readers, r);
	metric_add(st->queries, 1);
	return rc;
}

static int capture_read(struct list_read *l, struct str id, struct capture *out, struct err *e)
{
	size_t n = 0;
	void *v;
	int rc;

	buf_text(&l->sql, capture_columns);
	buf_text(&l->sql, " WHERE id = ? LIMIT ?");
	rc = list_open(l, e);
	if (rc < 0)
		return rc;
	stmt_str(&l->stmt, id);
	rc = list_rows(l, capture_row, sizeof(*out), &v, &n, e);
	if (rc == OK && n == 0)
		return err_set(e, E_NOT_FOUND, "capture %.*s: not here", STR_ARG(str_upto(id, CAPTURE_ID)));
	if (rc == OK) {
		*out = *(struct capture *)v;
		rc = read_targets(l->reader, l->arena, out, e);
	}
	return rc;
}

int store_capture(struct store *st, struct str id, struct arena *a, struct capture *out, struct err *e)
{
	struct query q = { .limit = 1 };
	struct list_read l;
	struct reader *r;
	int rc = reader_take(&st->readers, &r, e);

	*out = (struct capture){ .id = str_of(NULL) };
	if (rc < 0)
		return rc;
	rc = list_init(&l, CURSOR_CAPTURES, &q, r, a, e);
	if (rc == OK)
		rc = capture_read(&l, id, out, e);
	list_fini(&l);
	reader_give(&st->readers, r);
	metric_add(st->queries, 1);
	return rc;
}

/* ---- leases and the policy */

static int lease_row(struct list_read *l, const struct stmt *s, void *item, struct err *e)
{
	struct lease *it = item;

	(void)e;
	it->id = list_text(l, s, 0);
	it->agent = list_text(l, s, 1);
	it->capture = list_text(l, s, 2);
	it->host = list_text(l, s, 3);
	it->service = list_text(l, s, 4);
	it->source = list_text(l, s, 5);
	it->worker = list_text(l, s, 6);
	it->duration_ns = stmt_get_i64(s, 7);
	it->iterations = stmt_get_i64(s, 8);
	it->granted_ns = stmt_get_i64(s, 9);
	it->begin_ns = stmt_get_i64(s, 10);
	it->until_ns = stmt_get_i64(s, 11);
	return OK;
}

int store_leases(struct store *st, struct arena *a, struct lease_list *out, struct err *e)
{
	struct list_read l = { .arena = a, .limit = CAPTURE_ALL };
	void *v;
	int rc = reader_take(&st->readers, &l.reader, e);

	*out = (struct lease_list){ .n = 0 };
	if (rc < 0)
		return rc;
	stmt_open(&l.stmt, l.reader->db,
		"SELECT id, agent, capture, host, service, source, worker, duration_ns, iterations, granted_ns, begin_ns,"
		" until_ns FROM lease ORDER BY granted_ns, id LIMIT ?");
	rc = list_rows(&l, lease_row, sizeof(*out->v), &v, &out->n, e);
	out->v = v;
	reader_give(&st->readers, l.reader);
	return rc;
}

int store_capture_policy(struct store *st, struct arena *a, struct capture_policy *out, struct err *e)
{
	struct reader *r;
	struct stmt s;
	int rc = reader_take(&st->readers, &r, e);

	*out = (struct capture_policy){ .reason = str_of(NULL) };
	if (rc < 0)
		return rc;
	stmt_open(&s, r->db, "SELECT paused, reason, changed_ns FROM capture_policy");
	if (stmt_row(&s)) {
		out->paused = stmt_get_i64(&s, 0) != 0;
		out->reason = arena_str(a, stmt_get_str(&s, 1));
		out->changed_ns = stmt_get_i64(&s, 2);
	}
	rc = stmt_close(&s, e);
	reader_give(&st->readers, r);
	return rc;
}
