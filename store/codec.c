#include "store/codec.h"

#include <string.h>

#include <zstd.h>

#include "base/enc.h"
#include "base/mem.h"

enum { CODEC_VERSION = 1, CODEC_PACKED = 2 };
enum { PACK_FROM = 1 << 10, PACK_LEVEL = 3, UNPACKED_MAX = 64 << 20 };

_Static_assert(OP_BASIS_NONE == 0 && OP_BASIS_DEVICE == 1 && OP_BASIS_CPU == 2, "these numbers are on disk");

/* ---- out */

static void put_varint(struct buf *b, uint64_t v)
{
	uint8_t *p = buf_room(b, ENC_VARINT_MAX);

	if (p != NULL)
		buf_used(b, enc_put_varint(p, v));
}

static void put_zigzag(struct buf *b, int64_t v)
{
	put_varint(b, enc_zigzag(v));
}

static void put_str(struct buf *b, struct str s)
{
	put_varint(b, s.n);
	buf_str(b, s);
}

static void put_hist(struct buf *b, const struct hist *h)
{
	int32_t index, before = 0;
	uint64_t count;

	put_varint(b, h->zero);
	put_varint(b, hist_used(h));
	for (size_t at = hist_next(h, 0, &index, &count); at != 0; at = hist_next(h, at, &index, &count)) {
		put_zigzag(b, index - before);
		put_varint(b, count);
		before = index;
	}
}

static void put_record(struct buf *b, const struct op_summary *op)
{
	put_varint(b, op->calls);
	put_zigzag(b, op->device_total_ns);
	put_zigzag(b, op->device_self_ns);
	put_zigzag(b, op->cpu_total_ns);
	put_zigzag(b, op->cpu_self_ns);
	put_varint(b, op->orphan_calls);
	put_zigzag(b, op->orphan_ns);
	buf_byte(b, (int)op->basis);
	if (op->basis == OP_BASIS_NONE)
		return;
	put_zigzag(b, op->min_ns);
	put_varint(b, (uint64_t)op->max_ns - (uint64_t)op->min_ns);
	put_hist(b, &op->hist);
}

void codec_put_ops(
	struct buf *out, struct buf *scratch, const struct op_summary *ops, const uint32_t *ids, size_t n)
{
	int64_t before = 0;

	buf_reset(scratch);
	buf_byte(out, CODEC_VERSION);
	put_varint(out, n);
	for (size_t i = 0; i < n; i++) {
		size_t start = scratch->n;

		put_record(scratch, &ops[i]);
		put_zigzag(out, ids[i] - before);
		put_varint(out, scratch->n - start);
		before = ids[i];
	}
	buf_str(out, buf_view(scratch));
	if (scratch->rc != OK && out->rc == OK)
		out->rc = scratch->rc;
}

static void put_labels(struct buf *b, const struct label *labels, size_t n)
{
	put_varint(b, n);
	for (size_t i = 0; i < n; i++) {
		put_str(b, labels[i].key);
		put_str(b, labels[i].value);
	}
}

static void put_gauge(struct buf *b, const struct gauge *g)
{
	uint64_t bits;
	uint8_t bytes[8];

	memcpy(&bits, &g->value, sizeof(bits));
	enc_put64(bytes, bits);
	put_str(b, g->name);
	put_str(b, g->unit);
	buf_add(b, bytes, sizeof(bytes));
	put_labels(b, g->labels, g->n_labels);
}

/* What stands behind start, compressed; as it is where there is no memory for that. */
static void pack(struct buf *out, size_t start)
{
	size_t n = out->n - start, bound = ZSTD_compressBound(n), packed;
	char *room = out->rc == OK && n > PACK_FROM && n <= UNPACKED_MAX ? mem_try(bound) : NULL;

	if (room == NULL)
		return;
	packed = ZSTD_compress(room, bound, out->p + start, n, PACK_LEVEL);
	if (!ZSTD_isError(packed)) {
		buf_trim(out, start);
		buf_byte(out, CODEC_PACKED);
		put_varint(out, n);
		buf_add(out, room, packed);
	}
	mem_free(room);
}

void codec_put_rest(struct buf *out, const struct window *w)
{
	size_t start = out->n;

	buf_byte(out, CODEC_VERSION);
	put_labels(out, w->labels, w->n_labels);
	put_labels(out, w->versions, w->n_versions);
	put_varint(out, w->n_gauges);
	for (size_t i = 0; i < w->n_gauges; i++)
		put_gauge(out, &w->gauges[i]);
	pack(out, start);
}

void codec_put_labels(struct buf *out, const struct label *labels, size_t n)
{
	buf_byte(out, CODEC_VERSION);
	put_labels(out, labels, n);
}

void codec_put_texts(struct buf *out, const struct str *texts, size_t n)
{
	buf_byte(out, CODEC_VERSION);
	put_varint(out, n);
	for (size_t i = 0; i < n; i++)
		put_str(out, texts[i]);
}

/* ---- in: a cursor that remembers that it ran over the end */

struct take {
	const uint8_t *p, *end;
	bool bad;
};

static struct take take_of(struct str blob)
{
	return (struct take){ .p = (const uint8_t *)blob.p, .end = (const uint8_t *)blob.p + blob.n };
}

static uint64_t take_varint(struct take *t)
{
	uint64_t v = 0;
	size_t n = t->bad ? 0 : enc_get_varint(t->p, (size_t)(t->end - t->p), &v);

	if (n == 0) {
		t->bad = true;
		return 0;
	}
	t->p += n;
	return v;
}

static int64_t take_zigzag(struct take *t)
{
	return enc_unzigzag(take_varint(t));
}

static const uint8_t *take_bytes(struct take *t, size_t n)
{
	const uint8_t *p = t->p;

	if (t->bad || n > (size_t)(t->end - t->p)) {
		t->bad = true;
		return NULL;
	}
	t->p += n;
	return p;
}

static unsigned take_byte(struct take *t)
{
	const uint8_t *p = take_bytes(t, 1);

	return p == NULL ? 0 : *p;
}

static struct str take_str(struct take *t, struct arena *a)
{
	uint64_t n = take_varint(t);
	const uint8_t *p = take_bytes(t, n > SIZE_MAX ? SIZE_MAX : (size_t)n);

	return p == NULL ? str_of(NULL) : arena_str(a, str_make(p, (size_t)n));
}

/* A count of things of which each takes at least min_bytes: more than fit cannot be true. */
static size_t take_count(struct take *t, size_t min_bytes)
{
	uint64_t n = take_varint(t);

	if (!t->bad && n > (size_t)(t->end - t->p) / min_bytes)
		t->bad = true;
	return t->bad ? 0 : (size_t)n;
}

static int damaged(const char *what, struct err *e)
{
	return err_set(e, E_CORRUPT, "store: the %s of a row cannot be decoded", what);
}

static int take_end(const struct take *t, const struct arena *a, const char *what, struct err *e)
{
	if (a != NULL && arena_full(a))
		return err_set(e, E_LIMIT, "answer: larger than %zu bytes", a->cap);
	return t->bad || t->p != t->end ? damaged(what, e) : OK;
}

int codec_ops_open(struct codec_ops *c, struct str blob, struct err *e)
{
	struct take t = take_of(blob), over;
	unsigned version = take_byte(&t);
	size_t n = take_count(&t, 2);

	over = t;
	for (size_t i = 0; i < 2 * n; i++)
		take_varint(&over);
	if (version != CODEC_VERSION || over.bad)
		return damaged("ops", e);
	*c = (struct codec_ops){ .at = t.p, .record = over.p, .end = t.end, .left = (uint32_t)n };
	return OK;
}

int codec_ops_next(struct codec_ops *c, uint32_t *id, struct str *record, struct err *e)
{
	struct take t = { .p = c->at, .end = c->end };
	uint64_t n;

	if (c->left == 0)
		return 0;
	c->id += (uint64_t)take_zigzag(&t);
	n = take_varint(&t);
	if (t.bad || c->id > UINT32_MAX || n > (size_t)(c->end - c->record))
		return damaged("ops", e);
	*id = (uint32_t)c->id;
	*record = str_make(c->record, (size_t)n);
	c->at = t.p;
	c->record += n;
	c->left--;
	return 1;
}

static void take_hist(struct take *t, struct hist *h)
{
	size_t n;
	int64_t index = 0;

	hist_reset(h);
	h->zero = take_varint(t);
	n = take_count(t, 2);
	for (size_t i = 0; i < n && !t->bad; i++) {
		uint64_t count;

		if (__builtin_add_overflow(index, take_zigzag(t), &index) || !hist_index_valid(index)) {
			t->bad = true;
			return;
		}
		count = take_varint(t);
		if (!t->bad)
			hist_add_bucket(h, (int32_t)index, count);
	}
}

int codec_get_op(struct str record, struct op_summary *out, struct err *e)
{
	struct take t = take_of(record);
	unsigned basis;

	out->calls = take_varint(&t);
	out->device_total_ns = take_zigzag(&t);
	out->device_self_ns = take_zigzag(&t);
	out->cpu_total_ns = take_zigzag(&t);
	out->cpu_self_ns = take_zigzag(&t);
	out->orphan_calls = take_varint(&t);
	out->orphan_ns = take_zigzag(&t);
	basis = take_byte(&t);
	out->min_ns = out->max_ns = 0;
	hist_reset(&out->hist);
	if (basis >= OP_BASES)
		return damaged("ops", e);
	out->basis = (enum op_basis)basis;
	if (out->basis != OP_BASIS_NONE) {
		out->min_ns = take_zigzag(&t);
		out->max_ns = (int64_t)((uint64_t)out->min_ns + take_varint(&t));
		take_hist(&t, &out->hist);
	}
	return take_end(&t, NULL, "ops", e);
}

static void take_labels(struct take *t, struct arena *a, struct label **labels, size_t *n)
{
	size_t many = take_count(t, 2);
	struct label *l = arena_get_array(a, many, sizeof(*l));

	*labels = l;
	*n = l == NULL ? 0 : many;
	for (size_t i = 0; i < *n; i++) {
		l[i].key = take_str(t, a);
		l[i].value = take_str(t, a);
	}
}

static void take_gauge(struct take *t, struct arena *a, struct gauge *g)
{
	const uint8_t *bytes;
	uint64_t bits;

	g->name = take_str(t, a);
	g->unit = take_str(t, a);
	bytes = take_bytes(t, 8);
	if (bytes != NULL) {
		bits = enc_get64(bytes);
		memcpy(&g->value, &bits, sizeof(bits));
	}
	take_labels(t, a, &g->labels, &g->n_labels);
}

/* blob, or what is in it, which lives in the arena then. */
static int unpack(struct str *blob, struct arena *a, struct err *e)
{
	struct take t = take_of(*blob);
	uint64_t n;
	char *room;

	if (take_byte(&t) != CODEC_PACKED)
		return OK;
	n = take_varint(&t);
	if (t.bad || n == 0 || n > UNPACKED_MAX)
		return damaged("labels and gauges", e);
	room = arena_get(a, (size_t)n);
	if (room == NULL)
		return err_set(e, E_LIMIT, "answer: larger than %zu bytes", a->cap);
	if (ZSTD_decompress(room, (size_t)n, t.p, (size_t)(t.end - t.p)) != n)
		return damaged("labels and gauges", e);
	*blob = str_make(room, (size_t)n);
	return OK;
}

int codec_get_rest(struct str blob, struct arena *a, struct window *w, struct err *e)
{
	int rc = unpack(&blob, a, e);
	struct take t = take_of(blob);

	if (rc < 0)
		return rc;
	if (take_byte(&t) != CODEC_VERSION)
		return damaged("labels", e);
	take_labels(&t, a, &w->labels, &w->n_labels);
	take_labels(&t, a, &w->versions, &w->n_versions);
	w->n_gauges = take_count(&t, 11);
	w->gauges = arena_get_array(a, w->n_gauges, sizeof(*w->gauges));
	if (w->gauges == NULL)
		w->n_gauges = 0;
	for (size_t i = 0; i < w->n_gauges; i++)
		take_gauge(&t, a, &w->gauges[i]);
	return take_end(&t, a, "labels and gauges", e);
}

int codec_get_labels(struct str blob, struct arena *a, struct label **labels, size_t *n, struct err *e)
{
	struct take t = take_of(blob);

	if (take_byte(&t) != CODEC_VERSION)
		return damaged("labels", e);
	take_labels(&t, a, labels, n);
	return take_end(&t, a, "labels", e);
}

int codec_get_texts(struct str blob, struct arena *a, struct str **texts, size_t *n, struct err *e)
{
	struct take t = take_of(blob);
	size_t many;

	if (take_byte(&t) != CODEC_VERSION)
		return damaged("hosts", e);
	many = take_count(&t, 1);
	*texts = arena_get_array(a, many, sizeof(**texts));
	*n = *texts == NULL ? 0 : many;
	for (size_t i = 0; i < *n; i++)
		(*texts)[i] = take_str(&t, a);
	return take_end(&t, a, "hosts", e);
}
