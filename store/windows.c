/* store_windows and store_window: windows as they came. */
#include "store/codec.h"
#include "store/cursor.h"
#include "store/filter.h"
#include "store/inside.h"
#include "store/scan.h"

static const char windows_head[] =
	"id, service, deploy, host, worker, source, start_ns, dur_ns, steps, steps_from,"
	" has_device, flags, launches, events, skipped";

struct windows_read {
	struct reader *reader;
	struct arena *arena;
	bool whole;
};

static int too_large(const struct arena *a, struct err *e)
{
	return err_set(e, E_LIMIT, "answer: larger than %zu bytes: ask for less at a time (limit)", a->cap);
}

static int read_name(struct windows_read *r, int64_t id, struct str *out, struct err *e)
{
	int rc = names_text(r->reader->names, (uint32_t)id, out, e);

	*out = rc == OK ? arena_str(r->arena, *out) : str_of(NULL);
	return rc;
}

static int read_names(struct windows_read *r, const struct stmt *s, struct window *w, struct err *e)
{
	struct str *const texts[] = { &w->service, &w->deploy, &w->host, &w->worker, &w->source };
	int rc = OK;

	for (int i = 0; i < (int)COUNT(texts) && rc == OK; i++)
		rc = read_name(r, stmt_get_i64(s, 1 + i), texts[i], e);
	return rc;
}

static int read_head(struct windows_read *r, const struct stmt *s, struct window *w, struct err *e)
{
	struct str id = stmt_get_str(s, 0);

	if (id.n != WINDOW_ID || steps_from_parse(stmt_get_str(s, 9), &w->steps_from) < 0)
		return err_set(e, E_CORRUPT, "store: a window's row cannot be understood");
	memcpy(w->id, id.p, WINDOW_ID);
	w->start_ns = stmt_get_i64(s, 6);
	w->dur_ns = stmt_get_i64(s, 7);
	w->steps = stmt_get_u64(s, 8);
	w->has_device = stmt_get_i64(s, 10) != 0;
	w->flags = (uint32_t)stmt_get_i64(s, 11);
	w->launches = stmt_get_u64(s, 12);
	w->events = stmt_get_u64(s, 13);
	w->skipped = stmt_get_u64(s, 14);
	return read_names(r, s, w, e);
}

static int read_op(
	struct windows_read *r, uint32_t id, struct str record, struct op_summary *op, struct err *e)
{
	int rc = names_op(r->reader->names, id, &op->kind, &op->name, e);

	if (rc < 0)
		return rc;
	op->name = arena_str(r->arena, op->name);
	return codec_get_op(record, op, e);
}

static int read_ops(struct windows_read *r, struct str blob, struct window *w, struct err *e)
{
	struct codec_ops ops;
	struct str record;
	uint32_t id;
	int rc = codec_ops_open(&ops, blob, e), more = 1;

	if (rc < 0)
		return rc;
	w->ops = arena_get_array(r->arena, ops.left, sizeof(*w->ops));
	if (w->ops == NULL)
		return too_large(r->arena, e);
	while (rc == OK && (more = codec_ops_next(&ops, &id, &record, e)) > 0)
		rc = read_op(r, id, record, &w->ops[w->n_ops++], e);
	return rc < 0 ? rc : more;
}

static int read_window(struct windows_read *r, const struct stmt *s, struct window *w, struct err *e)
{
	int rc = read_head(r, s, w, e);

	if (rc == OK && r->whole)
		rc = read_ops(r, stmt_get_str(s, 15), w, e);
	if (rc == OK && r->whole)
		rc = codec_get_rest(stmt_get_str(s, 16), r->arena, w, e);
	return rc == OK && arena_full(r->arena) ? too_large(r->arena, e) : rc;
}

/* ---- the list */

static int list_sql(const struct filter *f, const struct query *q, bool whole, struct buf *sql, struct err *e)
{
	buf_fmt(sql,
		"SELECT %s%s FROM window WHERE start_ns >= ? AND start_ns < ? AND (start_ns, id) %s (?, ?)",
		windows_head, whole ? ", ops, rest" : "", q->newest_first ? "<" : ">");
	filter_sql(f, sql);
	buf_text(sql, q->with_ops ? FILTER_WITH_OPS : "");
	buf_text(sql,
		q->newest_first ? " ORDER BY start_ns DESC, id DESC LIMIT ?"
				: " ORDER BY start_ns, id LIMIT ?");
	return buf_finish(sql, "query", e);
}

/* Fills out->v; one row more than the page is asked for to know whether another page follows. */
static int list_rows(struct windows_read *r, struct stmt *s, uint32_t limit, bool *more,
	struct window_list *out, struct err *e)
{
	int rc = OK, close_rc;

	*more = false;
	while (rc == OK && stmt_row(s)) {
		if (out->n == limit) {
			*more = true;
			break;
		}
		rc = read_window(r, s, &out->v[out->n++], e);
	}
	close_rc = stmt_close(s, rc == OK ? e : NULL);
	return rc < 0 ? rc : close_rc;
}

/* Pages deep in a list begin at the cursor and not at the range's end: the index is searched by these. */
static void narrow(struct filter *f, const struct query *q, const struct cursor *c)
{
	if (!q->newest_first && c->t_ns > f->from_ns)
		f->from_ns = c->t_ns;
	if (q->newest_first && c->t_ns < f->to_ns)
		f->to_ns = c->t_ns + 1;
}

/* A deploy that ended long ago is looked for where it was, and not behind all that came since. Reports have no part in a
 * deploy's life. */
static int narrow_to_life(struct filter *f, const struct query *q, struct reader *r, bool *nothing, struct err *e)
{
	struct life life;
	int rc;

	*nothing = false;
	if (!q->with_ops || f->deploy == NAMES_NONE)
		return OK;
	rc = life_of(&life, f, r, e);
	*nothing = rc == OK && life.empty;
	if (rc < 0 || life.empty)
		return rc;
	f->from_ns = life.first_ns > f->from_ns ? life.first_ns : f->from_ns;
	f->to_ns = life.last_ns < f->to_ns ? life.last_ns + 1 : f->to_ns;
	return OK;
}

static struct str next_of(const struct query *q, const struct window *last, struct arena *a)
{
	struct cursor c = { .t_ns = last->start_ns, .a = str_make(last->id, WINDOW_ID) };

	return cursor_write(q->newest_first ? CURSOR_WINDOWS_NEWEST : CURSOR_WINDOWS_OLDEST, &c, a);
}

static int list_read(struct windows_read *r, const struct query *q, struct window_list *out, struct err *e)
{
	struct cursor c = { .t_ns = q->newest_first ? INT64_MAX : -1 };
	uint32_t limit = filter_limit(q);
	struct filter f;
	struct buf sql;
	struct stmt s;
	bool more, nothing;
	int rc = cursor_read(
		q->newest_first ? CURSOR_WINDOWS_NEWEST : CURSOR_WINDOWS_OLDEST, q->cursor, &c, r->arena, e);

	if (rc == OK)
		rc = filter_of(&f, q, r->reader->names, e);
	if (rc < 0 || f.nothing)
		return rc;
	rc = narrow_to_life(&f, q, r->reader, &nothing, e);
	if (rc < 0 || nothing)
		return rc;
	narrow(&f, q, &c);
	out->v = arena_get_array(r->arena, limit, sizeof(*out->v));
	if (out->v == NULL)
		return too_large(r->arena, e);
	buf_init(&sql, FILTER_SQL_MAX);
	rc = list_sql(&f, q, r->whole, &sql, e);
	if (rc == OK) {
		stmt_open(&s, r->reader->db, sql.p);
		stmt_i64(&s, f.from_ns);
		stmt_i64(&s, f.to_ns);
		stmt_i64(&s, c.t_ns);
		stmt_blob(&s, c.a.p, c.a.n);
		filter_bind(&f, &s);
		stmt_i64(&s, (int64_t)limit + 1);
		rc = list_rows(r, &s, limit, &more, out, e);
	}
	buf_fini(&sql);
	if (rc == OK && more)
		out->next = next_of(q, &out->v[out->n - 1], r->arena);
	return rc == OK && arena_full(r->arena) ? too_large(r->arena, e) : rc;
}

int store_windows(struct store *st, const struct query *q, bool whole, struct arena *a,
	struct window_list *out, struct err *e)
{
	struct windows_read r = { .arena = a, .whole = whole };
	int rc = reader_take(&st->readers, &r.reader, e);

	*out = (struct window_list){ .next = str_of(NULL) };
	if (rc < 0)
		return rc;
	rc = list_read(&r, q, out, e);
	reader_give(&st->readers, r.reader);
	metric_add(st->queries, 1);
	if (rc < 0)
		window_list_fini(out);
	return rc;
}

void window_list_fini(struct window_list *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->n; i++)
		window_fini(&l->v[i]);
	*l = (struct window_list){ 0 };
}

/* ---- one */

static int one_read(struct windows_read *r, const uint8_t id[WINDOW_ID], struct window *out, struct err *e)
{
	char text[WINDOW_ID_TEXT];
	struct buf sql;
	struct stmt s;
	int rc, close_rc;
	bool found;

	buf_init(&sql, FILTER_SQL_MAX);
	buf_fmt(&sql, "SELECT %s, ops, rest FROM window WHERE row = (SELECT row FROM window_id WHERE id = ?)",
		windows_head);
	rc = buf_finish(&sql, "query", e);
	if (rc < 0)
		goto out;
	stmt_open(&s, r->reader->db, sql.p);
	stmt_blob(&s, id, WINDOW_ID);
	found = stmt_row(&s);
	if (found)
		rc = read_window(r, &s, out, e);
	close_rc = stmt_close(&s, rc == OK ? e : NULL);
	if (rc == OK)
		rc = close_rc;
	window_id_text(id, text);
	if (rc == OK && !found)
		rc = err_set(e, E_NOT_FOUND, "window %s: not here", text);
out:
	buf_fini(&sql);
	return rc;
}

int store_window(
	struct store *st, const uint8_t id[WINDOW_ID], struct arena *a, struct window *out, struct err *e)
{
	struct windows_read r = { .arena = a, .whole = true };
	int rc = reader_take(&st->readers, &r.reader, e);

	*out = (struct window){ 0 };
	if (rc < 0)
		return rc;
	rc = one_read(&r, id, out, e);
	reader_give(&st->readers, r.reader);
	metric_add(st->queries, 1);
	if (rc < 0)
		window_fini(out);
	return rc;
}
