#include "api/call.h"
#include "api/row.h"

/* The members that a list and a single window share; the object stays open. */
static void write_head(struct json_writer *w, const struct window *win)
{
	char id[WINDOW_ID_TEXT];

	window_id_text(win->id, id);
	jw_object(w);
	jw_key_text(w, "id", id);
	jw_key_str(w, "service", win->service);
	jw_key_str(w, "deploy", win->deploy);
	jw_key_str(w, "host", win->host);
	jw_key_str(w, "worker", win->worker);
	jw_key_str(w, "source", win->source);
	jw_key_i64(w, "start_ns", win->start_ns);
	jw_key_i64(w, "dur_ns", win->dur_ns);
	jw_key_u64(w, "steps", win->steps);
	jw_key_text(w, "steps_from", steps_from_name(win->steps_from));
	jw_key_bool(w, "has_device", win->has_device);
	jw_key_u64(w, "launches", win->launches);
	jw_key_u64(w, "events", win->events);
	jw_key_u64(w, "skipped", win->skipped);
	jw_key_bool(w, "truncated", (win->flags & WINDOW_TRUNCATED) != 0);
	jw_key_bool(w, "damaged", (win->flags & WINDOW_DAMAGED) != 0);
}

void windows_get(struct api_call *c)
{
	struct window_list list = { 0 };
	struct err e = { 0 };
	int rc = store_windows(c->api->set.store, &c->p.q, false, &c->arena, &list, &e);

	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	call_list_begin(c);
	for (size_t i = 0; i < list.n; i++) {
		write_head(&c->w, &list.v[i]);
		jw_end(&c->w);
	}
	call_list_end(c, list.next);
	call_end(c);
	window_list_fini(&list);
}

static void write_histogram(struct json_writer *w, const struct hist *h)
{
	int32_t index;
	uint64_t count;

	if (h->zero > 0)
		jw_key_u64(w, "zero", h->zero);
	jw_key_array(w, "histogram");
	for (size_t at = hist_next(h, 0, &index, &count); at != 0; at = hist_next(h, at, &index, &count)) {
		jw_array(w);
		jw_i64(w, index);
		jw_u64(w, count);
		jw_end(w);
	}
	jw_end(w);
}

static void write_ops(struct json_writer *w, const struct window *win)
{
	jw_key_array(w, "ops");
	for (size_t i = 0; i < win->n_ops; i++) {
		const struct op_summary *op = &win->ops[i];

		jw_object(w);
		row_write_names(w, op);
		row_write_sums(w, op);
		jw_key_u64(w, "orphan_calls", op->orphan_calls);
		jw_key_i64(w, "orphan_ns", op->orphan_ns);
		row_write_per_call(w, op);
		write_histogram(w, &op->hist);
		jw_end(w);
	}
	jw_end(w);
}

static void write_gauges(struct api_call *c, const struct window *win)
{
	jw_key_array(&c->w, "gauges");
	for (size_t i = 0; i < win->n_gauges; i++) {
		const struct gauge *g = &win->gauges[i];

		jw_object(&c->w);
		jw_key_str(&c->w, "name", g->name);
		jw_key_str(&c->w, "unit", g->unit);
		jw_key_double(&c->w, "value", g->value);
		call_write_labels(c, "labels", g->labels, g->n_labels);
		jw_end(&c->w);
	}
	jw_end(&c->w);
}

void window_get(struct api_call *c)
{
	uint8_t id[WINDOW_ID];
	struct window win = { 0 };
	struct err e = { 0 };
	int rc;

	if (window_id_parse(c->tail, id) != OK) {
		call_problem(c, PROBLEM_NOT_FOUND, NULL, "a window's id is 32 hex digits");
		return;
	}
	rc = store_window(c->api->set.store, id, &c->arena, &win, &e);
	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	write_head(&c->w, &win);
	call_write_labels(c, "labels", win.labels, win.n_labels);
	call_write_labels(c, "versions", win.versions, win.n_versions);
	write_ops(&c->w, &win);
	write_gauges(c, &win);
	call_end(c);
	window_fini(&win);
}
