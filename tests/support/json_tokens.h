/* json_tokens.h — a document's tokens as text, one a line, so that two ways of reading it can be compared.
 *
 *	struct json_read how = { .mode = JSON_STRICT, .limits = JSON_LIMITS_BODY, .cut = every_byte };
 *	json_tokens(&how, text, &out);
 *
 * Each block is handed in as memory of its own that is freed when the reader says it is used up, so that a reader that
 * holds on to it is found by ASan, and mostly without it. */
#ifndef TESTS_SUPPORT_JSON_TOKENS_H
#define TESTS_SUPPORT_JSON_TOKENS_H

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "json/pull.h"

struct json_read {
	enum json_mode mode;
	struct json_limits limits;
	/* Length of the block that starts at offset: NULL for the whole document at once. */
	size_t (*cut)(size_t offset, void *arg);
	void *arg;
	/* Whether to skip after a key, object, array or at the start of an array's element; NULL for never. */
	bool (*skips)(enum json_token after, struct str raw, void *arg);
	unsigned recover_depth; /* json_recover to it after errors, where it is not 0 */
	bool quiet;		/* no line for each token: the counters and the last answer only */
};

static const char *const json_token_names[] = {
	[JSON_MORE] = "more",	[JSON_OBJECT] = "{",	[JSON_OBJECT_END] = "}", [JSON_ARRAY] = "[",
	[JSON_ARRAY_END] = "]", [JSON_KEY] = "key",	[JSON_STRING] = "str",	 [JSON_NUMBER] = "num",
	[JSON_TRUE] = "true",	[JSON_FALSE] = "false", [JSON_NULL] = "null",	 [JSON_DONE] = "done",
	[JSON_ERROR] = "error",
};

static inline void json_tokens_line(struct json_reader *r, enum json_token t, const struct json_value *v, struct buf *out)
{
	buf_fmt(out, "%" PRIu64 " %s", v->offset, json_token_names[t]);
	if (t == JSON_KEY || t == JSON_STRING || t == JSON_NUMBER) {
		buf_text(out, v->plain ? " =" : " ~");
		buf_str(out, v->raw);
	}
	buf_fmt(out, " @%u\n", json_depth(r));
}

static inline void json_tokens_end(struct json_reader *r, struct buf *out)
{
	const struct json_oddities *o = json_oddities(r);
	struct err e = { 0 };

	if (json_reader_error(r, &e) != OK)
		buf_fmt(out, "%d %s\n", e.code, e.text);
	buf_fmt(out,
		"quotes %" PRIu64 " controls %" PRIu64 " escapes %" PRIu64 " utf8 %" PRIu64 " numbers %" PRIu64
		" commas %" PRIu64 " mark %" PRIu64 " cut %" PRIu64 " recovered %" PRIu64 " open %" PRIu64 " inside %d\n",
		o->raw_quotes, o->raw_controls, o->bad_escapes, o->bad_utf8, o->non_numbers, o->extra_commas,
		o->byte_order_mark, o->cut_tokens, o->recovered, o->open_at_end, o->inside_token);
}

/* Everything that the block at hand gives; true when the reader wants more. */
static inline bool json_tokens_block(struct json_reader *r, const struct json_read *how, struct buf *out)
{
	struct json_value v;
	enum json_token t;

	while ((t = json_next(r, &v)) != JSON_MORE) {
		if (t == JSON_ERROR && how->recover_depth && json_depth(r) >= how->recover_depth) {
			buf_fmt(out, "error at %" PRIu64 "\n", json_error_offset(r));
			json_recover(r, how->recover_depth);
			continue;
		}
		if (t == JSON_DONE || t == JSON_ERROR)
			return false;
		if (!how->quiet)
			json_tokens_line(r, t, &v, out);
		if (how->skips != NULL && how->skips(t, v.raw, how->arg))
			json_skip(r);
	}
	return true;
}

static inline void json_tokens_with(struct json_reader *r, const struct json_read *how, struct str text, struct buf *out)
{
	bool more = true;

	for (size_t at = 0; more && at < text.n;) {
		size_t n = how->cut ? how->cut(at, how->arg) : text.n;
		char *block;

		n = n == 0 ? 1 : n > text.n - at ? text.n - at : n;
		block = mem_dup(text.p + at, n);
		json_feed(r, block, n);
		more = json_tokens_block(r, how, out);
		if (more) { /* else the last tokens may stand in it */
			memset(block, '"', n);
			mem_free(block);
			block = NULL;
		}
		at += n;
		if (!more) {
			json_tokens_end(r, out);
			mem_free(block);
			return;
		}
	}
	json_feed_end(r);
	json_tokens_block(r, how, out);
	json_tokens_end(r, out);
}

static inline void json_tokens(const struct json_read *how, struct str text, struct buf *out)
{
	struct json_reader *r = json_reader_new(how->mode, how->limits);

	buf_reset(out);
	json_tokens_with(r, how, text, out);
	json_reader_free(r);
}

#endif
