#include "store/rollup.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "store/codec.h"
#include "store/scan.h"

enum {
	ROLLUPS_MAX = 512,	     /* in memory at once; more are written before the transaction's end */
	ROLLUP_OPS_MAX = 200000,     /* different ops in one row */
	ROLLUP_BLOB_MAX = 512 << 20, /* bytes; SQLite's own limit is 1e9 */
};

/* Compared bytewise: no padding. */
struct rollup_key {
	int64_t hour;
	struct who who;
};
_Static_assert(sizeof(struct rollup_key) == 24, "no padding");

struct rollup {
	struct rollup_key key;
	struct profile_merge *merge;
};

VEC(rollup_vec, struct rollup);

struct rollups {
	struct db *db;
	struct names *names;
	struct metric *dropped;
	struct rollup_vec v;
	struct buf blob, scratch;
	uint32_t *ids;
	size_t ids_room;
};

struct rollups *rollups_new(struct db *db, struct names *names, struct metric *dropped)
{
	struct rollups *r = mem_get(sizeof(*r));

	r->db = db;
	r->names = names;
	r->dropped = dropped;
	r->v = (struct rollup_vec)VEC_INIT(ROLLUPS_MAX);
	buf_init(&r->blob, ROLLUP_BLOB_MAX);
	buf_init(&r->scratch, ROLLUP_BLOB_MAX);
	return r;
}

void rollups_free(struct rollups *r)
{
	if (r == NULL)
		return;
	rollups_drop(r);
	vec_fini(&r->v);
	buf_fini(&r->blob);
	buf_fini(&r->scratch);
	mem_free(r->ids);
	mem_free(r);
}

void rollups_drop(struct rollups *r)
{
	vec_each(one, &r->v)
		profile_merge_free(one->merge);
	r->v.n = 0;
}

/* A transaction touches few different rows and batches come in runs of the same ones: newest first is quick. */
static struct rollup *find(struct rollups *r, const struct rollup_key *key)
{
	for (size_t i = r->v.n; i > 0; i--)
		if (memcmp(&r->v.v[i - 1].key, key, sizeof(*key)) == 0)
			return &r->v.v[i - 1];
	return NULL;
}

static int add_op(struct rollups *r, struct profile_merge *m, const struct op_summary *op, struct err *e)
{
	int rc = profile_merge_add_op(m, op);

	if (rc == E_LIMIT) { /* a whole window is worth more than its rarest ops: go on without this one */
		metric_add(r->dropped, 1);
		return OK;
	}
	return rc < 0 ? err_set(e, rc, "rollup: no memory for an op") : OK;
}

/* ---- from the database */

static int add_stored_ops(struct rollups *r, struct profile_merge *m, struct str blob, struct err *e)
{
	struct op_summary op = { 0 };
	struct codec_ops ops;
	struct str record;
	uint32_t id;
	int rc = codec_ops_open(&ops, blob, e);

	while (rc == OK) {
		rc = codec_ops_next(&ops, &id, &record, e);
		if (rc <= 0)
			break;
		rc = names_op(r->names, id, &op.kind, &op.name, e);
		if (rc == OK)
			rc = codec_get_op(record, &op, e);
		if (rc == OK)
			rc = add_op(r, m, &op, e);
	}
	op_summary_fini(&op);
	return rc;
}

static void bind_key(struct stmt *s, const struct rollup_key *key)
{
	stmt_i64(s, key->who.service);
	stmt_i64(s, key->who.host);
	stmt_i64(s, key->hour);
	stmt_i64(s, key->who.deploy);
	stmt_i64(s, key->who.worker);
}

/* Adds the row that is there already, if any: before anything new, so that the first basis of an op stays its basis
 * (op_summary_merge). */
static int add_stored(struct rollups *r, struct rollup *one, struct err *e)
{
	struct stmt s;
	int rc = OK, close_rc;

	stmt_open(&s, r->db,
		"SELECT windows, steps, has_device, first_ns, last_ns, ops FROM rollup"
		" WHERE service = ? AND host = ? AND hour = ? AND deploy = ? AND worker = ?");
	bind_key(&s, &one->key);
	if (stmt_row(&s)) {
		profile_merge_add_steps(one->merge, stmt_get_u64(&s, 0), stmt_get_u64(&s, 1),
			stmt_get_i64(&s, 2) != 0, stmt_get_i64(&s, 3), stmt_get_i64(&s, 4));
		rc = add_stored_ops(r, one->merge, stmt_get_str(&s, 5), e);
	}
	close_rc = stmt_close(&s, rc == OK ? e : NULL);
	return rc < 0 ? rc : close_rc;
}

/* ---- adding */

/* The row in memory, with what the database has of it. */
static int open_row(struct rollups *r, const struct rollup_key *key, struct rollup **out, struct err *e)
{
	*out = find(r, key);
	if (*out != NULL)
		return OK;
	*out = vec_push(&r->v);
	if (*out == NULL)
		return err_set(e, E_NOMEM, "rollup: no memory for an hour");
	(*out)->key = *key;
	(*out)->merge = profile_merge_new(ROLLUP_OPS_MAX);
	return add_stored(r, *out, e);
}

static int add_window(struct rollups *r, const struct rollup_key *key, const struct window *w, struct err *e)
{
	struct rollup *one;
	int rc = open_row(r, key, &one, e);

	if (rc < 0)
		return rc;
	profile_merge_add_steps(one->merge, 1, w->steps, w->has_device, w->start_ns, w->start_ns);
	for (size_t i = 0; i < w->n_ops && rc == OK; i++)
		rc = add_op(r, one->merge, &w->ops[i], e);
	return rc;
}

int rollups_add(struct rollups *r, const struct window *w, const struct who *who, struct err *e)
{
	struct rollup_key key = { .hour = hour_of(w->start_ns), .who = *who };
	int rc = r->v.n + 2 > ROLLUPS_MAX ? rollups_flush(r, e) : OK;

	if (rc == OK)
		rc = add_window(r, &key, w, e);
	key.who.host = key.who.worker = NAMES_NONE;
	if (rc == OK)
		rc = add_window(r, &key, w, e);
	return rc;
}

/* ---- to the database */

static int ids_of(struct rollups *r, const struct merged *m, struct err *e)
{
	int rc = OK;

	if (m->n_ops > r->ids_room) {
		r->ids = mem_resize(r->ids, m->n_ops * sizeof(*r->ids));
		r->ids_room = m->n_ops;
	}
	for (size_t i = 0; i < m->n_ops && rc == OK; i++)
		rc = names_make_op(r->names, m->ops[i].kind, m->ops[i].name, &r->ids[i], e);
	return rc;
}

static int store_one(struct rollups *r, const struct rollup_key *key, const struct merged *m, struct err *e)
{
	struct stmt s;
	int rc = ids_of(r, m, e);

	if (rc < 0)
		return rc;
	buf_reset(&r->blob);
	codec_put_ops(&r->blob, &r->scratch, m->ops, r->ids, m->n_ops);
	rc = buf_finish(&r->blob, "rollup", e);
	if (rc < 0)
		return rc;
	stmt_open(&s, r->db,
		"INSERT INTO rollup (service, host, hour, deploy, worker, windows, steps, has_device, "
		"first_ns, last_ns, ops)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (service, host, hour, deploy, worker) "
		"DO UPDATE SET"
		" windows = excluded.windows, steps = excluded.steps, has_device = excluded.has_device,"
		" first_ns = excluded.first_ns, last_ns = excluded.last_ns, ops = excluded.ops");
	bind_key(&s, key);
	stmt_u64(&s, m->windows);
	stmt_u64(&s, m->steps);
	stmt_i64(&s, m->has_device);
	stmt_i64(&s, m->first_ns);
	stmt_i64(&s, m->last_ns);
	stmt_blob(&s, r->blob.p, r->blob.n);
	return stmt_run(&s, e);
}

int rollups_flush(struct rollups *r, struct err *e)
{
	int rc = OK;

	vec_each(one, &r->v) {
		if (rc == OK)
			rc = store_one(r, &one->key, profile_merge_get(one->merge), e);
	}
	rollups_drop(r);
	return rc;
}
