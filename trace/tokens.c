#include "trace/tokens.h"

enum { PIECE = INPUT_BLOCK };

void tokens_init(struct tokens *t, struct input *in, struct trace_report *report, struct err *e)
{
	*t = (struct tokens){ .in = in, .report = report, .e = e, .piece = PIECE };
	t->json = json_reader_new(JSON_TOLERANT, JSON_LIMITS_TRACE);
	buf_init(&t->key, JSON_LIMITS_TRACE.token_bytes * 4);
}

void tokens_fini(struct tokens *t)
{
	json_reader_free(t->json);
	buf_fini(&t->key);
	t->json = NULL;
}

/* A block to feed, or the end. */
static void fetch(struct tokens *t)
{
	if (t->rest.n > 0 || t->ended)
		return;
	t->rc = input_next(t->in, &t->rest, t->e);
	if (t->rc < 0)
		t->rest = str_make("", 0);
	t->ended = t->rest.n == 0;
}

/* Where in the next bytes another document starts; their length where none does. */
static size_t document_end(const struct tokens *t, struct str next)
{
	bool line_begins = t->after_newline, first = t->fed == t->document_at;

	if (!t->lines)
		return next.n;
	if (!t->spread)
		return str_find_byte(next, '\n');
	for (size_t i = 0; i < next.n; i++) {
		if (next.p[i] == '{' && line_begins && !(first && i == 0))
			return i;
		line_begins = next.p[i] == '\n';
	}
	return next.n;
}

static void feed(struct tokens *t)
{
	struct str next;
	size_t n;

	fetch(t);
	if (t->ended) {
		json_feed_end(t->json);
		t->document_ended = true;
		return;
	}
	next = str_upto(t->rest, t->rest.n < t->piece ? t->rest.n : t->piece);
	n = document_end(t, next);
	if (n > 0)
		json_feed(t->json, next.p, n);
	t->document_ended = n < next.n;
	if (t->document_ended)
		json_feed_end(t->json);
	n += t->document_ended && !t->spread; /* the newline */
	t->after_newline = n > 0 ? next.p[n - 1] == '\n' : t->after_newline;
	t->fed += n;
	t->rest = str_from(t->rest, n);
}

enum json_token tokens_next(struct tokens *t, struct json_value *v)
{
	enum json_token tok;

	while ((tok = json_next(t->json, v)) == JSON_MORE) {
		if (t->document_ended)
			return JSON_DONE;
		feed(t);
	}
	v->offset += t->document_at;
	if (tok == JSON_KEY)
		v->raw = json_meaning(v, &t->key); /* nobody writes keys with escapes, but JSON allows them */
	return t->rc < 0 ? JSON_ERROR : tok;
}

void tokens_skip(struct tokens *t)
{
	json_skip(t->json);
}

void tokens_count_bad(struct tokens *t)
{
	if (t->rc == OK)
		trace_report_add(t->report, TRACE_BAD_JSON, 1, t->document_at + json_error_offset(t->json));
}

bool tokens_pass_bad(struct tokens *t, unsigned array_depth)
{
	uint64_t at = t->document_at + json_error_offset(t->json);

	tokens_count_bad(t);
	if (t->rc < 0 || (t->has_bad && at == t->bad_at))
		return false;
	t->has_bad = true;
	t->bad_at = at;
	json_recover(t->json, array_depth);
	return true;
}

void tokens_as_lines(struct tokens *t)
{
	t->lines = true;
}

static bool is_open(const struct tokens *t)
{
	const struct json_oddities *o = json_oddities(t->json);

	return o->open_at_end > 0 || o->inside_token;
}

/* To the end of the document, without looking. */
static void run_out(struct tokens *t)
{
	struct json_value v;
	enum json_token tok;

	do {
		tok = tokens_next(t, &v);
	} while (tok != JSON_DONE && tok != JSON_ERROR);
	while (!t->document_ended)
		feed(t);
	trace_report_oddities(t->report, json_oddities(t->json));
}

static bool is_space(char c)
{
	return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

/* Up to the first byte of a line that is not empty. */
static bool find_line(struct tokens *t)
{
	for (;;) {
		size_t n = 0;

		fetch(t);
		if (t->ended)
			return false;
		while (n < t->rest.n && is_space(t->rest.p[n]))
			n++;
		t->fed += n;
		t->rest = str_from(t->rest, n);
		if (t->rest.n > 0)
			return true;
	}
}

/* Does the first document take more than its line? */
static bool is_spread(const struct tokens *t)
{
	size_t line_end = str_find_byte(t->rest, '\n');
	struct str line = str_trim(str_upto(t->rest, line_end));

	return line_end < t->rest.n && !str_has_suffix(line, str_has_prefix(line, STR("[")) ? STR("]") : STR("}"));
}

bool tokens_next_line(struct tokens *t)
{
	if (t->started) {
		run_out(t);
		t->line_open = is_open(t);
	}
	if (!find_line(t))
		return false;
	if (!t->started)
		t->spread = is_spread(t);
	t->started = true;
	if (t->line_open)
		trace_report_add(t->report, TRACE_BAD_JSON, 1, t->document_at);
	json_reader_reset(t->json);
	t->document_ended = t->line_open = false;
	t->document_at = t->fed;
	return true;
}

static bool known_to_be_cut(const struct tokens *t)
{
	return trace_report_find(t->report, TRACE_TRUNCATED) != NULL || trace_report_find(t->report, TRACE_BAD_DATA) != NULL;
}

int tokens_finish(struct tokens *t)
{
	while (t->lines && tokens_next_line(t))
		;
	if (!t->lines) {
		run_out(t);
		t->line_open = is_open(t);
	}
	input_report(t->in, t->report);
	if (t->rc == OK && t->line_open && !known_to_be_cut(t))
		trace_report_add(t->report, TRACE_TRUNCATED, 1, t->fed);
	return t->rc;
}
