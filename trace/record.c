#include "trace/record.h"

#include "json/num.h"
#include "json/text.h"

void record_init(struct record *rec)
{
	*rec = (struct record){ .offset = 0 };
	arena_init(&rec->scratch, RECORD_BYTES_MAX);
}

void record_fini(struct record *rec)
{
	arena_fini(&rec->scratch);
}

static void clear(struct record *rec, uint64_t offset)
{
	for (size_t i = 0; i < RECORD_SLOTS; i++)
		rec->v[i] = (struct str){ NULL, 0 };
	rec->offset = offset;
	arena_reset(&rec->scratch);
}

static const struct record_field *find(const struct record_field *fields, size_t n, struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(fields[i].key, key))
			return &fields[i];
	return NULL;
}

static struct str text_of(struct record *rec, enum json_token tok, const struct json_value *v)
{
	if (tok == JSON_TRUE)
		return STR("1");
	if (tok == JSON_FALSE)
		return STR("0");
	if (tok == JSON_STRING && v->plain)
		return arena_str(&rec->scratch, v->raw);
	return json_unescape_to(&rec->scratch, v->raw); /* what stands for a number may be any bytes */
}

static bool is_scalar(enum json_token tok)
{
	return tok == JSON_STRING || tok == JSON_NUMBER || tok == JSON_TRUE || tok == JSON_FALSE;
}

/* The items of a list, joined. False where the list does not end. */
static bool read_list(struct tokens *t, struct record *rec, unsigned slot)
{
	struct json_value v;
	enum json_token tok;

	for (;;) {
		tok = tokens_next(t, &v);
		if (tok == JSON_ARRAY_END)
			return true;
		if (tok == JSON_DONE || tok == JSON_ERROR)
			return false;
		if (is_scalar(tok)) {
			struct str old = record_str(rec, slot), item = text_of(rec, tok, &v);

			rec->v[slot] = old.n == 0 ? item : arena_fmt(&rec->scratch, "%.*s%c%.*s", STR_ARG(old),
								   RECORD_JOIN, STR_ARG(item));
		} else if (tok == JSON_OBJECT || tok == JSON_ARRAY) {
			tokens_skip(t);
		}
	}
}

struct table {
	const struct record_field *fields;
	size_t n;
};

static bool read_members(struct tokens *t, const struct table *table, unsigned depth, struct record *rec);

/* The value of the key just read; members inside members are read one level deep. */
static bool read_value(struct tokens *t, const struct record_field *f, const struct table *table, unsigned depth,
	struct record *rec)
{
	struct json_value v;
	enum json_token tok;

	if (f == NULL) {
		tokens_skip(t);
		return true;
	}
	tok = tokens_next(t, &v);
	if (tok == JSON_DONE || tok == JSON_ERROR)
		return false;
	if (is_scalar(tok) && f->kind != RECORD_INSIDE)
		rec->v[f->slot] = text_of(rec, tok, &v);
	else if (tok == JSON_ARRAY && f->kind == RECORD_LIST)
		return read_list(t, rec, f->slot);
	else if (tok == JSON_OBJECT && f->kind == RECORD_INSIDE && depth == 0)
		return read_members(t, table, 1, rec);
	else if (tok == JSON_OBJECT || tok == JSON_ARRAY)
		tokens_skip(t);
	return true;
}

static bool read_members(struct tokens *t, const struct table *table, unsigned depth, struct record *rec)
{
	struct json_value v;
	enum json_token tok;

	while ((tok = tokens_next(t, &v)) == JSON_KEY)
		if (!read_value(t, find(table->fields, table->n, v.raw), table, depth, rec))
			return false;
	return tok == JSON_OBJECT_END;
}

bool record_members(struct tokens *t, const struct record_field *fields, size_t n, struct record *rec)
{
	const struct table table = { fields, n };

	clear(rec, 0);
	return read_members(t, &table, 0, rec);
}

enum record_step record_next(struct tokens *t, unsigned array_depth, const struct record_field *fields, size_t n,
	struct record *rec)
{
	for (;;) {
		struct json_value v;
		enum json_token tok = tokens_next(t, &v);

		switch (tok) {
		case JSON_OBJECT:
			if (!record_members(t, fields, n, rec))
				continue; /* the next token tells why */
			rec->offset = v.offset;
			if (!arena_full(&rec->scratch))
				return RECORD_READ;
			trace_report_add(t->report, TRACE_TOO_MANY, 1, v.offset);
			continue;
		case JSON_ARRAY_END: return RECORD_END;
		case JSON_DONE: return RECORD_STOP;
		case JSON_ERROR:
			if (!tokens_pass_bad(t, array_depth))
				return RECORD_STOP;
			continue;
		case JSON_ARRAY: tokens_skip(t); break;
		case JSON_MORE:
		case JSON_OBJECT_END:
		case JSON_KEY:
		case JSON_STRING:
		case JSON_NUMBER:
		case JSON_TRUE:
		case JSON_FALSE:
		case JSON_NULL:
		case JSON_TOKENS: break;
		}
		trace_report_add(t->report, TRACE_BAD_EVENT, 1, v.offset);
	}
}

int record_i64(const struct record *rec, unsigned slot, int64_t *out)
{
	if (record_str(rec, slot).n == 0)
		return E_NOT_FOUND;
	return json_fixed(rec->v[slot], 0, out);
}

int record_double(const struct record *rec, unsigned slot, double *out)
{
	if (record_str(rec, slot).n == 0)
		return E_NOT_FOUND;
	return json_double(rec->v[slot], out);
}
