/* Bytes to a batch. Order of the checks: size as sent, size after zstd while it streams, a scan of the bytes, unpacking
 * in an arena with a ceiling, then every number against what it points at, then window_check. */
#include "wire/wire.h"

#include <string.h>

#include "wire/form.h"
#include "wire/pack.h"
#include "wire/pb.h"
#include "wire/pb_columns.h"
#include "wire/scan.h"

struct decoder {
	struct arena *a; /* the caller's: what the windows are made of */
	struct str *strings;
	size_t n_strings;
	size_t hist_bytes; /* left for histograms */
	struct err *e;
};

static int decode_full(struct decoder *d)
{
	return err_set(d->e, E_LIMIT, "the batch needs more than %zu bytes of memory", d->a->cap);
}

static int decode_text(struct decoder *d, uint32_t id, const char *field, struct str *out)
{
	if (id >= d->n_strings && !(id == 0 && d->n_strings == 0))
		return err_set(d->e, E_FORMAT, "%s: string %u of a table of %zu", field, id, d->n_strings);
	*out = d->n_strings == 0 ? STR("") : d->strings[id];
	return OK;
}

static int decode_labels(struct decoder *d, pb_label **rows, size_t n, struct label **out, size_t *n_out)
{
	int rc = OK;

	if (n == 0)
		return OK;
	*out = arena_get_array(d->a, n, sizeof(**out));
	if (*out == NULL)
		return decode_full(d);
	*n_out = n;
	for (size_t i = 0; i < n && rc == OK; i++) {
		rc = decode_text(d, rows[i]->key, "key", &(*out)[i].key);
		if (rc == OK)
			rc = decode_text(d, rows[i]->value, "value", &(*out)[i].value);
		if (rc < 0)
			rc = err_add(d->e, "labels[%zu]", i);
	}
	return rc;
}

static int decode_gauge(struct decoder *d, const pb_gauge *pb, struct gauge *g)
{
	int rc = decode_text(d, pb->name, "name", &g->name);

	if (rc == OK)
		rc = decode_text(d, pb->unit, "unit", &g->unit);
	g->value = pb->value;
	return rc < 0 ? rc : decode_labels(d, pb->labels, pb->n_labels, &g->labels, &g->n_labels);
}

static int decode_gauges(struct decoder *d, const pb_window *pb, struct window *w)
{
	if (pb->n_gauges == 0)
		return OK;
	w->gauges = arena_get_array(d->a, pb->n_gauges, sizeof(*w->gauges));
	if (w->gauges == NULL)
		return decode_full(d);
	w->n_gauges = pb->n_gauges;
	for (size_t i = 0; i < pb->n_gauges; i++)
		if (decode_gauge(d, pb->gauges[i], &w->gauges[i]) < 0)
			return err_add(d->e, "gauges[%zu]", i);
	return OK;
}

static int check_length(struct decoder *d, const char *column, size_t n, size_t n_ops)
{
	if (n == 0 || n == n_ops)
		return OK;
	return err_set(d->e, E_FORMAT, "%s: %zu values for %zu ops", column, n, n_ops);
}

static int decode_column(struct decoder *d, const pb_ops *pb, struct window *w, size_t c)
{
	size_t n;
	const uint64_t *column = pb_column_get(pb, c, &n);
	int rc = check_length(d, form_columns[c].name, n, w->n_ops);

	for (size_t i = 0; i < n && rc == OK; i++)
		memcpy((char *)&w->ops[i] + form_columns[c].at, &column[i], sizeof(*column));
	return rc;
}

static int decode_op_words(struct decoder *d, const pb_ops *pb, struct window *w)
{
	int rc;

	if (pb->n_kind != w->n_ops)
		return err_set(d->e, E_FORMAT, "kind: %zu values for %zu ops", pb->n_kind, w->n_ops);
	rc = check_length(d, "basis", pb->n_basis, w->n_ops);
	for (size_t i = 0; i < w->n_ops && rc == OK; i++) {
		int kind = (int)pb->kind[i], basis = pb->n_basis == 0 ? OP_BASIS_NONE : (int)pb->basis[i];

		if (kind < 1 || kind > OP_KINDS)
			return err_set(d->e, E_FORMAT, "kind[%zu]: %d, want 1 to %d", i, kind, OP_KINDS);
		if (basis < 0 || basis >= OP_BASES)
			return err_set(d->e, E_FORMAT, "basis[%zu]: %d, want 0 to %d", i, basis, OP_BASES - 1);
		w->ops[i].kind = (enum op_kind)(kind - 1);
		w->ops[i].basis = (enum op_basis)basis;
		rc = decode_text(d, pb->name[i], "name", &w->ops[i].name);
	}
	return rc;
}

static int decode_hists(struct decoder *d, const pb_ops *pb, struct window *w)
{
	size_t at = 0;
	int rc = check_length(d, "hist_buckets", pb->n_hist_buckets, w->n_ops);

	if (rc == OK && pb->n_hist_delta != pb->n_hist_count)
		rc = err_set(d->e, E_FORMAT, "hist_delta: %zu values, hist_count: %zu", pb->n_hist_delta,
			pb->n_hist_count);
	for (size_t i = 0; i < pb->n_hist_buckets && rc == OK; i++) {
		size_t n = pb->hist_buckets[i];

		if (n > pb->n_hist_delta - at)
			return err_set(d->e, E_FORMAT, "hist_buckets: more than the %zu of hist_delta",
				pb->n_hist_delta);
		rc = form_hist(&w->ops[i].hist, pb->hist_delta + at, pb->hist_count + at, n, &d->hist_bytes, d->e);
		if (rc < 0)
			return err_add(d->e, "op %zu", i);
		at += n;
	}
	if (rc == OK && at != pb->n_hist_delta)
		rc = err_set(d->e, E_FORMAT, "hist_delta: %zu values, hist_buckets say %zu", pb->n_hist_delta, at);
	return rc;
}

static int decode_ops(struct decoder *d, const pb_ops *pb, struct window *w)
{
	int rc;

	if (pb == NULL)
		return OK;
	w->ops = arena_get_array(d->a, pb->n_name, sizeof(*w->ops));
	if (w->ops == NULL)
		return decode_full(d);
	w->n_ops = pb->n_name;
	rc = decode_op_words(d, pb, w);
	for (size_t c = 0; c < FORM_COLUMNS && rc == OK; c++)
		rc = decode_column(d, pb, w, c);
	if (rc == OK)
		rc = decode_hists(d, pb, w);
	return rc < 0 ? err_add(d->e, "ops") : OK;
}

static int decode_window_texts(struct decoder *d, const pb_window *pb, struct window *w)
{
	int rc = decode_text(d, pb->service, "service", &w->service);

	if (rc == OK)
		rc = decode_text(d, pb->deploy, "deploy", &w->deploy);
	if (rc == OK)
		rc = decode_text(d, pb->host, "host", &w->host);
	if (rc == OK)
		rc = decode_text(d, pb->worker, "worker", &w->worker);
	if (rc == OK)
		rc = decode_text(d, pb->source, "source", &w->source);
	return rc;
}

static int decode_window_numbers(struct decoder *d, const pb_window *pb, struct window *w)
{
	int steps_from = (int)pb->steps_from;

	if (pb->id.len != sizeof(w->id))
		return err_set(d->e, E_FORMAT, "id: %zu bytes, want %zu", pb->id.len, sizeof(w->id));
	if (steps_from < 0 || steps_from >= STEPS_FROMS)
		return err_set(d->e, E_FORMAT, "steps_from: %d, want 0 to %d", steps_from, STEPS_FROMS - 1);
	memcpy(w->id, pb->id.data, sizeof(w->id));
	w->steps_from = (enum steps_from)steps_from;
	w->start_ns = pb->start_ns;
	w->dur_ns = pb->dur_ns;
	w->steps = pb->steps;
	w->has_device = pb->has_device != 0;
	w->flags = pb->flags;
	w->launches = pb->launches;
	w->events = pb->events;
	w->skipped = pb->skipped;
	return OK;
}

static int decode_window(struct decoder *d, const pb_window *pb, struct window *w)
{
	int rc = decode_window_numbers(d, pb, w);

	if (rc == OK)
		rc = decode_window_texts(d, pb, w);
	if (rc == OK)
		rc = decode_labels(d, pb->labels, pb->n_labels, &w->labels, &w->n_labels);
	if (rc == OK)
		rc = decode_labels(d, pb->versions, pb->n_versions, &w->versions, &w->n_versions);
	if (rc == OK)
		rc = decode_gauges(d, pb, w);
	if (rc == OK)
		rc = decode_ops(d, pb->ops, w);
	return rc < 0 ? rc : form_finish_window(w, d->e);
}

static int decode_strings(struct decoder *d, const pb_batch *pb)
{
	d->strings = arena_get_array(d->a, pb->n_strings, sizeof(*d->strings));
	d->n_strings = pb->n_strings;
	for (size_t i = 0; d->strings != NULL && i < pb->n_strings; i++)
		d->strings[i] = arena_text(d->a, pb->strings[i]);
	if (arena_full(d->a))
		return decode_full(d);
	if (d->n_strings > 0 && !str_empty(d->strings[0]))
		return err_set(d->e, E_FORMAT, "strings[0]: %zu bytes, want the empty text", d->strings[0].n);
	return OK;
}

static int decode_batch(struct decoder *d, const pb_batch *pb, struct wire_batch *out)
{
	int rc = decode_strings(d, pb);

	if (rc < 0)
		return rc;
	out->agent_id = arena_text(d->a, pb->agent_id);
	out->agent_version = arena_text(d->a, pb->agent_version);
	out->windows = arena_get_array(d->a, pb->n_windows, sizeof(*out->windows));
	if (arena_full(d->a))
		return decode_full(d);
	out->n_windows = pb->n_windows;
	for (size_t i = 0; i < pb->n_windows; i++)
		if (decode_window(d, pb->windows[i], &out->windows[i]) < 0)
			return err_add(d->e, "windows[%zu]", i);
	return form_check_agent(out, d->e);
}

static void *scratch_get(void *arena, size_t bytes)
{
	return arena_get(arena, bytes);
}

static void scratch_free(void *arena, void *p)
{
	(void)arena; /* all at once, with the arena */
	(void)p;
}

int form_read_protobuf(struct arena *a, struct str bytes, const struct wire_limits *limits, struct wire_batch *out,
	struct err *e)
{
	struct err none;
	struct decoder d = { .a = a, .hist_bytes = limits->decoded_bytes, .e = e != NULL ? e : &none };
	struct arena scratch;
	ProtobufCAllocator allocator = { scratch_get, scratch_free, &scratch };
	pb_batch *pb;
	int rc = scan_batch(bytes, limits->windows, d.e);

	if (rc < 0)
		return rc;
	arena_init(&scratch, limits->decoded_bytes);
	pb = trainspotter__v1__window_batch__unpack(&allocator, bytes.n, (const uint8_t *)bytes.p);
	if (pb != NULL)
		rc = decode_batch(&d, pb, out);
	else if (arena_full(&scratch))
		rc = err_set(d.e, E_LIMIT, "batch: takes more than %zu bytes unpacked", limits->decoded_bytes);
	else
		rc = err_set(d.e, E_FORMAT, "batch: no WindowBatch");
	arena_fini(&scratch);
	return rc;
}

typedef int form_reader(struct arena *a, struct str bytes, const struct wire_limits *limits, struct wire_batch *out,
	struct err *e);

static form_reader *const readers[] = {
	[WIRE_PROTOBUF] = form_read_protobuf,
	[WIRE_JSON] = form_read_json,
};

int wire_decode(struct arena *a, struct str bytes, enum wire_form form, bool zstd, const struct wire_limits *limits,
	struct wire_batch *out, struct err *e)
{
	struct buf plain;
	int rc = OK;

	*out = (struct wire_batch){ .windows = NULL };
	if (bytes.n > limits->encoded_bytes)
		return err_set(e, E_LIMIT, "batch: %zu bytes, at most %zu", bytes.n, limits->encoded_bytes);
	buf_init(&plain, limits->decoded_bytes);
	if (zstd) {
		rc = pack_open(bytes, &plain, e);
		bytes = buf_view(&plain);
	}
	if (rc == OK)
		rc = readers[form](a, bytes, limits, out, e);
	if (rc < 0)
		wire_batch_fini(out);
	buf_fini(&plain);
	return rc;
}

void wire_batch_fini(struct wire_batch *b)
{
	if (b == NULL)
		return;
	for (size_t i = 0; i < b->n_windows; i++)
		window_fini(&b->windows[i]);
	*b = (struct wire_batch){ .windows = NULL };
}
