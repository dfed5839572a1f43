/* A batch to bytes. Everything that protobuf-c wants to point at lives in one arena that goes with the call. */
#include "wire/wire.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "wire/form.h"
#include "wire/pack.h"
#include "wire/pb.h"
#include "wire/pb_columns.h"
#include "wire/scan.h"

/* A batch at every limit at once would not fit; one that the reader takes does. */
enum { ENCODE_ARENA_MAX = 512 << 20, ENCODE_PLAIN_MAX = 64 << 20 };

struct encoder {
	struct arena a;
	struct intern strings;
	bool refused; /* a text that cannot stand in the table */
};

static uint32_t text_id(struct encoder *en, struct str s)
{
	uint32_t id;

	if (str_find_byte(s, '\0') < s.n) {
		en->refused = true;
		return 0;
	}
	id = intern_id(&en->strings, s);
	if (id == INTERN_NONE)
		en->a.full = true;
	return id;
}

/* n pointers to n structs, both fresh; NULL when the arena is full (or n is 0). */
static void *make_rows(struct encoder *en, size_t n, size_t each, void ***rows)
{
	char *all = n == 0 ? NULL : arena_get_array(&en->a, n, each);

	*rows = n == 0 ? NULL : arena_get_array(&en->a, n, sizeof(**rows));
	if (all == NULL || *rows == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++)
		(*rows)[i] = all + i * each;
	return all;
}

static pb_label **encode_labels(struct encoder *en, const struct label *labels, size_t n, size_t *n_out)
{
	void **rows;
	pb_label *all = make_rows(en, n, sizeof(*all), &rows);

	if (all == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		trainspotter__v1__label__init(&all[i]);
		all[i].key = text_id(en, labels[i].key);
		all[i].value = text_id(en, labels[i].value);
	}
	*n_out = n;
	return (pb_label **)rows;
}

static pb_gauge **encode_gauges(struct encoder *en, const struct window *w, size_t *n_out)
{
	void **rows;
	pb_gauge *all = make_rows(en, w->n_gauges, sizeof(*all), &rows);

	if (all == NULL)
		return NULL;
	for (size_t i = 0; i < w->n_gauges; i++) {
		const struct gauge *g = &w->gauges[i];

		trainspotter__v1__gauge__init(&all[i]);
		all[i].name = text_id(en, g->name);
		all[i].unit = text_id(en, g->unit);
		all[i].value = g->value;
		all[i].labels = encode_labels(en, g->labels, g->n_labels, &all[i].n_labels);
	}
	*n_out = w->n_gauges;
	return (pb_gauge **)rows;
}

/* A column of zeros only stays away. */
static void encode_column(struct encoder *en, pb_ops *ops, const struct window *w, size_t c)
{
	uint64_t *column = arena_get_array(&en->a, w->n_ops, sizeof(*column)), any = 0;

	if (column == NULL)
		return;
	for (size_t i = 0; i < w->n_ops; i++) {
		memcpy(&column[i], (const char *)&w->ops[i] + form_columns[c].at, sizeof(*column));
		any |= column[i];
	}
	if (any != 0)
		pb_column_set(ops, c, column, w->n_ops);
}

static void encode_op_words(struct encoder *en, pb_ops *ops, const struct window *w)
{
	ops->name = arena_get_array(&en->a, w->n_ops, sizeof(*ops->name));
	ops->kind = arena_get_array(&en->a, w->n_ops, sizeof(*ops->kind));
	ops->basis = arena_get_array(&en->a, w->n_ops, sizeof(*ops->basis));
	if (ops->name == NULL || ops->kind == NULL || ops->basis == NULL)
		return;
	ops->n_name = ops->n_kind = ops->n_basis = w->n_ops;
	for (size_t i = 0; i < w->n_ops; i++) {
		ops->name[i] = text_id(en, w->ops[i].name);
		ops->kind[i] = pb_kind(w->ops[i].kind);
		ops->basis[i] = pb_basis(w->ops[i].basis);
	}
}

static size_t count_buckets(const struct window *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_ops; i++)
		n += hist_used(&w->ops[i].hist);
	return n;
}

static void encode_hists(struct encoder *en, pb_ops *ops, const struct window *w)
{
	size_t all = count_buckets(w), n = 0;

	if (all == 0)
		return;
	ops->hist_buckets = arena_get_array(&en->a, w->n_ops, sizeof(*ops->hist_buckets));
	ops->hist_delta = arena_get_array(&en->a, all, sizeof(*ops->hist_delta));
	ops->hist_count = arena_get_array(&en->a, all, sizeof(*ops->hist_count));
	if (ops->hist_buckets == NULL || ops->hist_delta == NULL || ops->hist_count == NULL)
		return;
	for (size_t i = 0; i < w->n_ops; i++) {
		int32_t index, before = HIST_INDEX_MIN;
		size_t at = 0, first = n;

		while ((at = hist_next(&w->ops[i].hist, at, &index, &ops->hist_count[n])) != 0) {
			ops->hist_delta[n++] = (uint32_t)(index - before);
			before = index;
			if (n == all)
				break;
		}
		ops->hist_buckets[i] = (uint32_t)(n - first);
	}
	ops->n_hist_buckets = w->n_ops;
	ops->n_hist_delta = ops->n_hist_count = all;
}

static pb_ops *encode_ops(struct encoder *en, const struct window *w)
{
	pb_ops *ops = arena_get(&en->a, sizeof(*ops));

	if (ops == NULL)
		return NULL;
	trainspotter__v1__ops__init(ops);
	if (w->n_ops == 0)
		return ops;
	encode_op_words(en, ops, w);
	for (size_t c = 0; c < FORM_COLUMNS; c++)
		encode_column(en, ops, w, c);
	encode_hists(en, ops, w);
	return ops;
}

static void encode_window(struct encoder *en, pb_window *pb, const struct window *w)
{
	trainspotter__v1__window__init(pb);
	pb->id = (ProtobufCBinaryData){ sizeof(w->id), arena_get(&en->a, sizeof(w->id)) };
	if (pb->id.data != NULL)
		memcpy(pb->id.data, w->id, sizeof(w->id));
	pb->service = text_id(en, w->service);
	pb->deploy = text_id(en, w->deploy);
	pb->host = text_id(en, w->host);
	pb->worker = text_id(en, w->worker);
	pb->source = text_id(en, w->source);
	pb->start_ns = w->start_ns;
	pb->dur_ns = w->dur_ns;
	pb->steps = w->steps;
	pb->steps_from = pb_steps_from(w->steps_from);
	pb->has_device = w->has_device;
	pb->flags = w->flags;
	pb->launches = w->launches;
	pb->events = w->events;
	pb->skipped = w->skipped;
	pb->labels = encode_labels(en, w->labels, w->n_labels, &pb->n_labels);
	pb->versions = encode_labels(en, w->versions, w->n_versions, &pb->n_versions);
	pb->gauges = encode_gauges(en, w, &pb->n_gauges);
	pb->ops = encode_ops(en, w);
}

static char *text_of(struct encoder *en, struct str s)
{
	char *p = arena_get(&en->a, s.n + 1);

	if (p != NULL)
		str_copy_to(s, p, s.n + 1);
	return p;
}

static void encode_batch(struct encoder *en, pb_batch *pb, const struct wire_batch *b)
{
	void **rows;
	pb_window *all = make_rows(en, b->n_windows, sizeof(*all), &rows);

	trainspotter__v1__window_batch__init(pb);
	text_id(en, STR("")); /* the table's first entry */
	for (size_t i = 0; all != NULL && i < b->n_windows; i++)
		encode_window(en, &all[i], &b->windows[i]);
	pb->windows = (pb_window **)rows;
	pb->n_windows = all == NULL ? 0 : b->n_windows;
	pb->agent_id = text_of(en, b->agent_id);
	pb->agent_version = text_of(en, b->agent_version);
	pb->n_strings = intern_count(&en->strings);
	pb->strings = arena_get_array(&en->a, pb->n_strings, sizeof(*pb->strings));
	for (size_t i = 0; pb->strings != NULL && i < pb->n_strings; i++)
		pb->strings[i] = text_of(en, intern_name(&en->strings, (uint32_t)i));
}

static int pack_batch(const pb_batch *pb, struct buf *out, struct err *e)
{
	size_t n = trainspotter__v1__window_batch__get_packed_size(pb);
	char *plain;
	int rc;

	if (n > ENCODE_PLAIN_MAX)
		return err_set(e, E_LIMIT, "batch: %zu bytes, at most %d", n, ENCODE_PLAIN_MAX);
	plain = mem_try(n + 1);
	if (plain == NULL)
		return err_set(e, E_NOMEM, "batch: no memory for %zu bytes", n);
	trainspotter__v1__window_batch__pack(pb, (uint8_t *)plain);
	rc = pack_zstd(str_make(plain, n), out, e);
	mem_free(plain);
	return rc;
}

int wire_encode(const struct wire_batch *b, struct buf *out, struct err *e)
{
	struct encoder en = { .refused = false };
	pb_batch pb;
	int rc;

	arena_init(&en.a, ENCODE_ARENA_MAX);
	intern_init(&en.strings, &en.a, SCAN_STRINGS_MAX);
	encode_batch(&en, &pb, b);
	if (arena_full(&en.a))
		rc = err_set(e, E_LIMIT, "batch: too large to encode");
	else if (en.refused || str_find_byte(b->agent_id, '\0') < b->agent_id.n ||
		 str_find_byte(b->agent_version, '\0') < b->agent_version.n)
		rc = err_set(e, E_FORMAT, "batch: a text holds a NUL");
	else
		rc = pack_batch(&pb, out, e);
	intern_fini(&en.strings);
	arena_fini(&en.a);
	return rc;
}
