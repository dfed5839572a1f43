#include "trace/walk.h"

#include "json/text.h"

struct str walk_key(const struct walk *w, unsigned i)
{
	size_t from = i == 0 ? 0 : w->end[i - 1];

	return w->list[i] ? STR("[]") : str_make(buf_view(&w->text).p + from, w->end[i] - from);
}

bool walk_matches(const struct walk *w, const char *pattern)
{
	struct str rest = str_of(pattern);
	unsigned i = 0;

	while (rest.p != NULL) {
		struct str part = str_split(&rest, '/');

		if (i == w->depth || (str_eq(part, STR("*")) ? w->list[i] : !str_eq(part, walk_key(w, i))))
			return false;
		i++;
	}
	return i == w->depth;
}

static void push(struct walk *w, bool list)
{
	w->list[w->depth] = list;
	w->end[w->depth] = w->text.n;
	w->depth++;
}

static void pop(struct walk *w)
{
	w->depth--;
	buf_trim(&w->text, w->depth == 0 ? 0 : w->end[w->depth - 1]);
}

static void set_key(struct walk *w, struct str raw)
{
	unsigned top = w->depth - 1;

	buf_trim(&w->text, top == 0 ? 0 : w->end[top - 1]);
	if (w->text.n + 3 * raw.n <= WALK_KEY_BYTES_MAX)
		json_unescape(raw, &w->text);
	w->end[top] = w->text.n;
}

static void take_leaf(struct walk *w, enum json_token tok, const struct json_value *v, const struct walk_visitor *visitor)
{
	struct str text = v->raw;

	if (tok == JSON_TRUE || tok == JSON_FALSE)
		text = tok == JSON_TRUE ? STR("1") : STR("0");
	if (tok == JSON_NUMBER || (tok == JSON_STRING && !v->plain)) { /* what stands for a number may be any bytes */
		buf_reset(&w->value);
		json_unescape(v->raw, &w->value);
		text = buf_view(&w->value);
		if (w->value.rc != OK)
			return;
	}
	visitor->leaf(visitor->arg, w, text, v->offset);
}

/* One token. False at the end of it all, *whole tells which. */
static bool take(struct tokens *t, struct walk *w, const struct walk_visitor *visitor, bool *whole)
{
	struct json_value v;
	enum json_token tok = tokens_next(t, &v);

	switch (tok) {
	case JSON_KEY: set_key(w, v.raw); return true; /* the caller looks whether there was room */
	case JSON_OBJECT:
	case JSON_ARRAY:
		if (w->depth == WALK_DEPTH_MAX)
			tokens_skip(t);
		else
			push(w, tok == JSON_ARRAY);
		return true;
	case JSON_OBJECT_END:
	case JSON_ARRAY_END:
		pop(w);
		if (visitor->end != NULL)
			visitor->end(visitor->arg, w);
		*whole = w->depth == 0;
		return w->depth > 0;
	case JSON_STRING:
	case JSON_NUMBER:
	case JSON_TRUE:
	case JSON_FALSE: take_leaf(w, tok, &v, visitor); return true;
	case JSON_NULL: return true;
	case JSON_ERROR: tokens_count_bad(t); return false;
	case JSON_DONE:
	case JSON_MORE:
	case JSON_TOKENS: return false;
	}
	return false;
}

bool walk_inside(struct tokens *t, bool list, const struct walk_visitor *visitor)
{
	struct walk w = { .depth = 0 };
	bool whole = false;

	buf_init(&w.text, WALK_KEY_BYTES_MAX);
	buf_init(&w.value, 8 << 20);
	push(&w, list);
	while (take(t, &w, visitor, &whole) && w.text.rc == OK && w.value.rc == OK)
		;
	if (w.text.rc != OK || w.value.rc != OK) {
		trace_report_add(t->report, TRACE_TOO_MANY, 1, t->fed);
		whole = false;
	}
	buf_fini(&w.text);
	buf_fini(&w.value);
	return whole;
}
