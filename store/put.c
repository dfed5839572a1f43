#include "store/put.h"

#include "base/mem.h"
#include "store/codec.h"

/* True in *fresh when the id was not known; it is now. */
static int put_id(struct writer *w, const struct window *win, bool *fresh, struct err *e)
{
	struct stmt s;
	int rc;

	stmt_open(&s, w->db, "INSERT OR IGNORE INTO window_id (id, row, start_ns) VALUES (?, ?, ?)");
	stmt_blob(&s, win->id, WINDOW_ID);
	stmt_i64(&s, w->next_row);
	stmt_i64(&s, win->start_ns);
	rc = stmt_run(&s, e);
	*fresh = rc == OK && db_changes(w->db) > 0;
	return rc;
}

static int put_who(
	struct writer *w, const struct window *win, struct who *who, uint32_t *source, struct err *e)
{
	int rc = names_make(w->names, win->service, &who->service, e);

	if (rc == OK)
		rc = names_make(w->names, win->deploy, &who->deploy, e);
	if (rc == OK)
		rc = names_make(w->names, win->host, &who->host, e);
	if (rc == OK)
		rc = names_make(w->names, win->worker, &who->worker, e);
	if (rc == OK)
		rc = names_make(w->names, win->source, source, e);
	return rc;
}

/* The window's blobs into w->blob and w->rest. */
static int put_blobs(struct writer *w, const struct window *win, struct err *e)
{
	int rc = OK;

	if (win->n_ops > w->ids_room) {
		w->ids = mem_resize(w->ids, win->n_ops * sizeof(*w->ids));
		w->ids_room = win->n_ops;
	}
	for (size_t i = 0; i < win->n_ops && rc == OK; i++)
		rc = names_make_op(w->names, win->ops[i].kind, win->ops[i].name, &w->ids[i], e);
	if (rc < 0)
		return rc;
	buf_reset(&w->blob);
	buf_reset(&w->rest);
	codec_put_ops(&w->blob, &w->scratch, win->ops, w->ids, win->n_ops);
	codec_put_rest(&w->rest, win);
	rc = buf_finish(&w->blob, "window's ops", e);
	return rc == OK ? buf_finish(&w->rest, "window's labels and gauges", e) : rc;
}

static int put_row(
	struct writer *w, const struct window *win, const struct who *who, uint32_t source, struct err *e)
{
	struct stmt s;

	stmt_open(&s, w->db,
		"INSERT INTO window (row, id, service, deploy, host, worker, source, start_ns, dur_ns, "
		"steps, steps_from,"
		" has_device, flags, launches, events, skipped, ops, rest)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	stmt_i64(&s, w->next_row);
	stmt_blob(&s, win->id, WINDOW_ID);
	stmt_i64(&s, who->service);
	stmt_i64(&s, who->deploy);
	stmt_i64(&s, who->host);
	stmt_i64(&s, who->worker);
	stmt_i64(&s, source);
	stmt_i64(&s, win->start_ns);
	stmt_i64(&s, win->dur_ns);
	stmt_u64(&s, win->steps);
	stmt_text(&s, steps_from_name(win->steps_from));
	stmt_i64(&s, win->has_device);
	stmt_i64(&s, win->flags);
	stmt_u64(&s, win->launches);
	stmt_u64(&s, win->events);
	stmt_u64(&s, win->skipped);
	stmt_blob(&s, w->blob.p, w->blob.n);
	stmt_blob(&s, w->rest.p, w->rest.n);
	return stmt_run(&s, e);
}

static int put_seen(struct writer *w, const struct window *win, const struct who *who, struct err *e)
{
	struct stmt s;

	stmt_open(&s, w->db,
		"INSERT INTO seen (service, deploy, host, worker, windows, first_ns, last_ns)"
		" VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT (service, deploy, host, worker) DO UPDATE SET"
		" windows = windows + 1, first_ns = min(first_ns, excluded.first_ns), last_ns = max(last_ns, "
		"excluded.last_ns)");
	stmt_i64(&s, who->service);
	stmt_i64(&s, who->deploy);
	stmt_i64(&s, who->host);
	stmt_i64(&s, who->worker);
	stmt_i64(&s, win->start_ns);
	stmt_i64(&s, win->start_ns);
	return stmt_run(&s, e);
}

static int put_window(struct writer *w, const struct window *win, bool *fresh, struct err *e)
{
	struct who who;
	uint32_t source;
	int rc = put_id(w, win, fresh, e);

	if (rc < 0 || !*fresh)
		return rc;
	rc = put_who(w, win, &who, &source, e);
	if (rc == OK)
		rc = put_blobs(w, win, e);
	if (rc == OK)
		rc = put_row(w, win, &who, source, e);
	if (rc == OK && win->n_ops > 0) /* a report of gauges says nothing about ops, and must not look like none of them ran */
		rc = put_seen(w, win, &who, e);
	if (rc == OK && win->n_ops > 0)
		rc = rollups_add(w->rollups, win, &who, e);
	w->next_row++;
	return rc;
}

int put_batch(struct writer *w, void *arg, struct err *e)
{
	struct put_batch *b = arg;
	int rc = OK;

	b->result = (struct put_result){ 0 };
	for (size_t i = 0; i < b->n && rc == OK; i++) {
		bool fresh = false;

		rc = put_window(w, &b->windows[i], &fresh, e);
		if (fresh)
			b->result.accepted++;
		else
			b->result.duplicates++;
	}
	return rc;
}
