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
	rec->some = rec->labelled = false;
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
	int under_label; /* the slot that a record under a label must have, or -1: there is none */
};

static bool read_members(struct tokens *t, const struct table *table, unsigned depth, struct record *rec);

/* The value of a key that is not in the table: a record under a label, or nothing. */
static bool read_stranger(struct tokens *t, const struct table *table, unsigned depth, struct record *rec)
{
	int slot = depth == 0 && !rec->some ? table->under_label : -1;
	struct json_value v;
	enum json_token tok;

	if (slot < 0) {
		tokens_skip(t);
		return true;
	}
	tok = tokens_next(t, &v);
	if (tok == JSON_ARRAY)
		tokens_skip(t);
	if (tok == JSON_OBJECT && !read_members(t, table, 1, rec))
		return false;
	if (record_has(rec, (unsigned)slot))
		rec->labelled = true;
	else
		clear(rec, rec->offset);
	return tok != JSON_DONE && tok != JSON_ERROR;
}

/* The value of the key just read; members inside members are read one level deep. */
static bool read_value(struct tokens *t, const struct record_field *f, const struct table *table, unsigned depth,
	struct record *rec)
{
	struct json_value v;
	enum json_token tok;

	if (f == NULL)
		return read_stranger(t, table, depth, rec);
	tok = tokens_next(t, &v);
	if (tok == JSON_DONE || tok == JSON_ERROR)
		return false;
	rec->some = true;
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
		else if (rec->labelled)
			return true; /* the object around it is still open */
	return tok == JSON_OBJECT_END;
}

bool record_members(struct tokens *t, const struct record_field *fields, size_t n, struct record *rec)
{
	const struct table table = { fields, n, -1 };

	clear(rec, 0);
	return read_members(t, &table, 0, rec);
}

/* Whether there is one to hand on. */
static bool take_record(struct tokens *t, unsigned array_depth, const struct table *table, uint64_t offset, struct record *rec)
{
	bool labelled = tokens_depth(t) > array_depth + 1;

	clear(rec, offset);
	if (!read_members(t, table, 0, rec))
		return false; /* the next token tells why */
	if (labelled && !record_has(rec, (unsigned)table->under_label))
		return false;
	if (!arena_full(&rec->scratch))
		return true;
	trace_report_add(t->report, TRACE_TOO_MANY, 1, offset);
	return false;
}

enum record_step record_next(struct tokens *t, unsigned array_depth, const struct record_field *fields, size_t n,
	struct record *rec)
{
	const struct record_field *last = &fields[n - 1];
	const struct table table = { fields, n, last->kind == RECORD_LABELS ? last->slot : -1 };

	for (;;) {
		struct json_value v;
		enum json_token tok = tokens_next(t, &v);
		bool in_list = tokens_depth(t) == array_depth + (tok == JSON_ARRAY);

		switch (tok) {
		case JSON_OBJECT:
			if (take_record(t, array_depth, &table, v.offset, rec))
				return RECORD_READ;
			continue;
		case JSON_ARRAY_END: return RECORD_END;
		case JSON_DONE: return RECORD_STOP;
		case JSON_ERROR:
			if (!tokens_pass_bad(t, array_depth))
				return RECORD_STOP;
			continue;
		case JSON_ARRAY: tokens_skip(t); break;
		case JSON_OBJECT_END:
		case JSON_KEY: continue; /* of an object of labels */
		case JSON_STRING:
			if (!in_list || last->kind != RECORD_TEXTS)
				break;
			clear(rec, v.offset);
			rec->v[last->slot] = text_of(rec, tok, &v);
			return RECORD_READ;
		case JSON_MORE:
		case JSON_NUMBER:
		case JSON_TRUE:
		case JSON_FALSE:
		case JSON_NULL:
		case JSON_TOKENS: break;
		}
		if (in_list)
			trace_report_add(t->report, TRACE_BAD_EVENT, 1, v.offset);
	}
}

int record_i64(const struct record *rec, unsigned slot, int64_t *out)
{
	struct str text = str_trim(record_str(rec, slot));

	return text.n == 0 ? E_NOT_FOUND : json_fixed(text, 0, out);
}

int record_double(const struct record *rec, unsigned slot, double *out)
{
	struct str text = str_trim(record_str(rec, slot));

	return text.n == 0 ? E_NOT_FOUND : json_double(text, out);
}
