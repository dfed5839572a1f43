#include "json/write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "json/text.h"

void jw_init(struct json_writer *w, struct buf *out)
{
	*w = (struct json_writer){ .out = out };
}

static bool in_object(const struct json_writer *w)
{
	return w->depth && w->kind[w->depth - 1] == '{';
}

/* What stands before a value: nothing after a key, a comma between elements. */
static void before_value(struct json_writer *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	must(!in_object(w)); /* a member needs a key */
	if (w->depth == 0)
		return;
	if (w->filled[w->depth - 1])
		buf_byte(w->out, ',');
	w->filled[w->depth - 1] = true;
}

static void begin(struct json_writer *w, unsigned char kind)
{
	before_value(w);
	must(w->depth < JW_DEPTH);
	w->kind[w->depth] = kind;
	w->filled[w->depth] = false;
	w->depth++;
	buf_byte(w->out, kind);
}

void jw_object(struct json_writer *w)
{
	begin(w, '{');
}

void jw_array(struct json_writer *w)
{
	begin(w, '[');
}

void jw_end(struct json_writer *w)
{
	must(w->depth > 0 && !w->after_key);
	w->depth--;
	buf_byte(w->out, w->kind[w->depth] == '{' ? '}' : ']');
}

static void quoted(struct json_writer *w, struct str s)
{
	buf_byte(w->out, '"');
	json_escape(s, w->out);
	buf_byte(w->out, '"');
}

void jw_key_of(struct json_writer *w, struct str key)
{
	must(in_object(w) && !w->after_key);
	if (w->filled[w->depth - 1])
		buf_byte(w->out, ',');
	w->filled[w->depth - 1] = true;
	quoted(w, key);
	buf_byte(w->out, ':');
	w->after_key = true;
}

void jw_key(struct json_writer *w, const char *key)
{
	jw_key_of(w, str_of(key));
}

void jw_raw(struct json_writer *w, struct str json)
{
	before_value(w);
	buf_str(w->out, json);
}

void jw_str(struct json_writer *w, struct str s)
{
	before_value(w);
	quoted(w, s);
}

void jw_text(struct json_writer *w, const char *s)
{
	if (s == NULL)
		jw_null(w);
	else
		jw_str(w, str_of(s));
}

void jw_i64(struct json_writer *w, int64_t v)
{
	before_value(w);
	buf_fmt(w->out, "%" PRId64, v);
}

void jw_u64(struct json_writer *w, uint64_t v)
{
	before_value(w);
	buf_fmt(w->out, "%" PRIu64, v);
}

void jw_bool(struct json_writer *w, bool v)
{
	jw_raw(w, v ? STR("true") : STR("false"));
}

void jw_null(struct json_writer *w)
{
	jw_raw(w, STR("null"));
}

void jw_double(struct json_writer *w, double v)
{
	char text[40];
	double back = 0;

	if (!isfinite(v)) {
		jw_null(w);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		for (char *p = text; *p != '\0'; p++) /* whatever the locale has for a point */
			if (strchr("+-0123456789e", *p) == NULL)
				*p = '.';
		if (str_to_double(str_of(text), &back) == OK && memcmp(&back, &v, sizeof(v)) == 0)
			break;
	}
	jw_raw(w, str_of(text));
}

void jw_key_str(struct json_writer *w, const char *key, struct str s)
{
	jw_key(w, key);
	jw_str(w, s);
}

void jw_key_text(struct json_writer *w, const char *key, const char *s)
{
	jw_key(w, key);
	jw_text(w, s);
}

void jw_key_i64(struct json_writer *w, const char *key, int64_t v)
{
	jw_key(w, key);
	jw_i64(w, v);
}

void jw_key_u64(struct json_writer *w, const char *key, uint64_t v)
{
	jw_key(w, key);
	jw_u64(w, v);
}

void jw_key_double(struct json_writer *w, const char *key, double v)
{
	jw_key(w, key);
	jw_double(w, v);
}

void jw_key_bool(struct json_writer *w, const char *key, bool v)
{
	jw_key(w, key);
	jw_bool(w, v);
}

void jw_key_null(struct json_writer *w, const char *key)
{
	jw_key(w, key);
	jw_null(w);
}

void jw_key_object(struct json_writer *w, const char *key)
{
	jw_key(w, key);
	jw_object(w);
}

void jw_key_array(struct json_writer *w, const char *key)
{
	jw_key(w, key);
	jw_array(w);
}

int jw_finish(struct json_writer *w, struct err *e)
{
	must(w->depth == 0 && !w->after_key);
	if (w->rc == OK)
		w->rc = buf_finish(w->out, "JSON", e);
	return w->rc;
}
