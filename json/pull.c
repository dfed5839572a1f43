/* The reader looks at its input through a window: base[0…n), the next unread byte at "at". The window is the caller's
 * block itself as long as no token straddles blocks. Where one does, its bytes move to the carry buffer, blocks are
 * added to that in pieces, and as soon as everything carried is used up the window is the block again:
 *
 *	block 1            block 2
 *	…{"name": "aten:   :mul", "ts": 1…
 *	           ^^^^^^^^^^^^^^^^^^^^^^^^^^  the carry: the token so far, and a piece of block 2
 *
 * A string under way remembers how far it was looked through, so that no byte is scanned twice however small the
 * blocks are. */
#include "json/pull.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/must.h"
#include "json/behind.h"
#include "json/num.h"
#include "json/scan.h"
#include "json/text.h"
#include "json/utf8.h"

enum {
	LOOK_MAX = 4096,  /* how far behind a quote tolerant mode looks for what makes it an end */
	PIECE_MIN = 4096, /* what is added to the carry at once, at least */
};

/* What the grammar wants next. */
enum expect {
	EXPECT_VALUE,	    /* at the start, and after a colon */
	EXPECT_FIRST_VALUE, /* after '[' */
	EXPECT_NEXT_VALUE,  /* after ',' in an array */
	EXPECT_FIRST_KEY,   /* after '{' */
	EXPECT_NEXT_KEY,    /* after ',' in an object */
	EXPECT_COLON,
	EXPECT_COMMA, /* after a value in an array or object */
	EXPECT_END,   /* after the outermost value */
	EXPECTS
};
static const char *const expect_text[] = {
	[EXPECT_VALUE] = "a value",
	[EXPECT_FIRST_VALUE] = "a value or ']'",
	[EXPECT_NEXT_VALUE] = "a value",
	[EXPECT_FIRST_KEY] = "a key or '}'",
	[EXPECT_NEXT_KEY] = "a key",
	[EXPECT_COLON] = "':'",
	[EXPECT_COMMA] = "',' or the end",
	[EXPECT_END] = "nothing more",
};
_Static_assert(COUNT(expect_text) == EXPECTS, "name everything that can be expected");

enum part { PART_NONE, PART_KEY, PART_STRING, PART_WORD };
enum skip { SKIP_OFF, SKIP_NEXT, SKIP_INSIDE };
struct json_reader {
	enum json_mode mode;
	struct json_limits limits;
	const struct json_scan *scan;

	const char *base; /* the window */
	size_t at, n;
	uint64_t base_offset; /* of base[0] in the document */
	bool carrying;	      /* the window is the carry buffer, not the block */
	bool ended;
	struct buf carry;
	const char *block;
	size_t block_n, block_taken; /* block_taken: its bytes that are in the carry */

	uint64_t lines;	     /* line feeds before base[lines_at] */
	uint64_t line_start; /* offset of the first byte of that line */
	size_t lines_at;

	enum expect expect;
	unsigned depth;
	uint64_t *kinds; /* a bit for each open level: set for objects */
	size_t kinds_room;

	/* The key, string or word under way: base[from…seen) has been looked through. */
	enum part part;
	size_t from, seen;
	uint64_t part_offset;
	bool high, escapes; /* of a string: bytes of 0x80 and more, back-slashes */
	bool raw_quote;	    /* and a quote that is part of it */
	bool odd_digits;    /* of a word: not all of it are digits */
	bool cut;	    /* longer than allowed: its head is kept in "head", the rest goes by */
	struct buf head;

	/* A key that was found whole while looking behind a quote: base[known_from…known_end); 0 for none. */
	size_t known_from, known_end;
	bool known_high;

	enum skip skip;
	unsigned skip_depth; /* depth at which the skipped value is over */

	bool recovering;
	struct str recover_key; /* where to, or empty: an array's element */
	unsigned recover_depth;
	int recover_nest;		 /* brackets open inside the array since, as far as can be told */
	unsigned char recover_before[2]; /* the last two bytes that were no white space, newest first */

	struct json_keys keys; /* may_follow is NULL: none are known */

	bool done, failed;
	struct err error;
	uint64_t error_offset;
	struct json_oddities odd;
};

static const bool is_space[256] = { [' '] = true, ['\t'] = true, ['\n'] = true, ['\r'] = true };

struct json_reader *json_reader_new(enum json_mode mode, struct json_limits limits)
{
	struct json_reader *r = mem_get(sizeof(*r));

	r->mode = mode;
	r->limits = limits;
	r->scan = json_scan_best();
	buf_init(&r->carry, 2 * limits.token_bytes + 16 * (size_t)(LOOK_MAX + PIECE_MIN));
	buf_init(&r->head, limits.token_bytes);
	json_reader_reset(r);
	return r;
}

void json_reader_free(struct json_reader *r)
{
	if (r == NULL)
		return;
	buf_fini(&r->carry);
	buf_fini(&r->head);
	mem_free(r->kinds);
	mem_free(r);
}

void json_reader_reset(struct json_reader *r)
{
	struct json_reader fresh = { .mode = r->mode,
		.limits = r->limits,
		.scan = r->scan,
		.keys = r->keys,
		.base = "",
		.carry = r->carry,
		.head = r->head,
		.kinds = r->kinds,
		.kinds_room = r->kinds_room };

	*r = fresh;
	r->carrying = true; /* nothing */
	buf_reset(&r->carry);
}

static bool tolerant(const struct json_reader *r)
{
	return r->mode == JSON_TOLERANT;
}

void json_reader_keys(struct json_reader *r, const struct json_keys *keys)
{
	r->keys = *keys;
}

/* ---- lines, errors */

/* Counts the line feeds up to base[to]. */
static void count_lines(struct json_reader *r, size_t to)
{
	size_t lines;
	const char *last;

	if (to <= r->lines_at)
		return;
	lines = r->scan->lines(r->base + r->lines_at, to - r->lines_at);
	if (lines) {
		last = memrchr(r->base + r->lines_at, '\n', to - r->lines_at);
		r->line_start = r->base_offset + (uint64_t)(last - r->base) + 1;
		r->lines += lines;
	}
	r->lines_at = to;
}

static enum json_token fail(struct json_reader *r, int code, uint64_t offset, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* At that offset of the document: in the window, or before it in a word that was cut (no line ends in those). */
static enum json_token fail(struct json_reader *r, int code, uint64_t offset, const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (offset > r->base_offset)
		count_lines(r, (size_t)(offset - r->base_offset));
	r->error_offset = offset;
	r->failed = true;
	err_set(&r->error, code, "line %" PRIu64 ", column %" PRIu64 " (byte %" PRIu64 "): %s", r->lines + 1,
		r->error_offset - r->line_start + 1, r->error_offset, text);
	return JSON_ERROR;
}

static uint64_t offset_of(const struct json_reader *r, size_t at)
{
	return r->base_offset + at;
}

static enum json_token unexpected(struct json_reader *r)
{
	unsigned char c = (unsigned char)r->base[r->at];

	if (c > 0x20 && c < 0x7f)
		return fail(r, E_FORMAT, offset_of(r, r->at), "expected %s, found '%c'",
			expect_text[r->expect], c);
	return fail(r, E_FORMAT, offset_of(r, r->at), "expected %s, found byte 0x%02x",
		expect_text[r->expect], c);
}

int json_reader_error(const struct json_reader *r, struct err *e)
{
	if (!r->failed)
		return OK;
	return err_set(e, r->error.code, "%s", r->error.text);
}

uint64_t json_error_offset(const struct json_reader *r)
{
	return r->error_offset;
}

const struct json_oddities *json_oddities(const struct json_reader *r)
{
	return &r->odd;
}

unsigned json_depth(const struct json_reader *r)
{
	return r->depth;
}

/* ---- the window */

void json_feed(struct json_reader *r, const void *p, size_t n)
{
	must(r->block == NULL || r->failed); /* the last block was used up */
	must(!r->ended);
	r->block = p;
	r->block_n = n;
	r->block_taken = 0;
}

void json_feed_end(struct json_reader *r)
{
	r->ended = true;
}

static size_t less(size_t at, size_t by)
{
	return at > by ? at - by : 0;
}

/* base[keep] becomes the new base[0]; what was before is gone. */
static void forget_before(struct json_reader *r, size_t keep)
{
	count_lines(r, keep);
	r->base_offset += keep;
	r->at = less(r->at, keep);
	r->from = less(r->from, keep);
	r->seen = less(r->seen, keep);
	r->lines_at = less(r->lines_at, keep);
	r->known_from = r->known_end = 0;
}

static void show_carry(struct json_reader *r)
{
	r->base = buf_view(&r->carry).p;
	r->n = r->carry.n;
}

/* The block's rest from keep on moves to the carry: the caller may have the block back. */
static void carry_rest(struct json_reader *r, size_t keep)
{
	forget_before(r, keep);
	buf_reset(&r->carry);
	buf_add(&r->carry, r->base + keep, r->n - keep);
	r->carrying = true;
	r->block = NULL;
	show_carry(r);
}

static void carry_more(struct json_reader *r, size_t keep)
{
	size_t piece = r->block_n - r->block_taken, most;

	forget_before(r, keep);
	buf_cut(&r->carry, keep);
	most = r->carry.n > PIECE_MIN ? r->carry.n : PIECE_MIN;
	if (piece > most)
		piece = most;
	buf_add(&r->carry, r->block + r->block_taken, piece);
	r->block_taken += piece;
	show_carry(r);
}

/* The carry could not be made: nothing of the document is left. */
static void lose_window(struct json_reader *r)
{
	r->base = "";
	r->at = r->n = r->from = r->seen = r->lines_at = 0;
	r->block = NULL;
	fail(r, E_NOMEM, r->base_offset, "no memory for what straddles two blocks");
}

/* More bytes behind the window's; those from keep on stay. False where there are none just now. */
static bool refill(struct json_reader *r, size_t keep)
{
	bool more = false;

	if (!r->carrying) {
		carry_rest(r, keep);
	} else if (r->block != NULL && r->block_taken == r->block_n) {
		r->block = NULL;
	} else if (r->block != NULL) {
		carry_more(r, keep);
		more = true;
	}
	if (r->carry.rc == OK)
		return more;
	lose_window(r);
	return false;
}

/* Once all that is left of the carry came from the block, the block itself is the window. */
static void leave_carry(struct json_reader *r)
{
	size_t left = r->n - r->at;

	if (!r->carrying || r->block == NULL || left > r->block_taken)
		return;
	count_lines(r, r->at);
	r->base_offset += r->at;
	r->at = r->block_taken - left;
	r->base_offset -= r->at;
	r->lines_at = r->at;
	r->known_from = r->known_end = 0;
	r->base = r->block;
	r->n = r->block_n;
	r->carrying = false;
}

/* ---- levels */

static bool in_object(const struct json_reader *r)
{
	return json_level_is_object(r->kinds, r->depth);
}

static bool push(struct json_reader *r, bool object)
{
	uint64_t bit = UINT64_C(1) << (r->depth % 64);
	size_t word = r->depth / 64;

	if (r->depth >= r->limits.depth) {
		fail(r, E_LIMIT, offset_of(r, r->at), "more than %u objects and arrays in each other",
			r->limits.depth);
		return false;
	}
	if (word >= r->kinds_room) {
		r->kinds_room = r->kinds_room ? r->kinds_room * 2 : 4;
		r->kinds = mem_resize(r->kinds, r->kinds_room * sizeof(*r->kinds));
	}
	r->kinds[word] = object ? r->kinds[word] | bit : r->kinds[word] & ~bit;
	r->depth++;
	r->expect = object ? EXPECT_FIRST_KEY : EXPECT_FIRST_VALUE;
	return true;
}

static void value_over(struct json_reader *r)
{
	r->expect = r->depth ? EXPECT_COMMA : EXPECT_END;
}

static void pop(struct json_reader *r)
{
	r->depth--;
	value_over(r);
}

/* ---- the end of the document */

/* Tolerant: the document stopped in the middle. */
static enum json_token stop_open(struct json_reader *r, bool inside_token)
{
	r->odd.open_at_end = r->depth;
	r->odd.inside_token = inside_token;
	r->done = true;
	return JSON_DONE;
}

static enum json_token end_inside(struct json_reader *r, const char *what)
{
	if (tolerant(r))
		return stop_open(r, true);
	return fail(r, E_FORMAT, offset_of(r, r->n), "the document ends inside %s", what);
}

static enum json_token end_between(struct json_reader *r)
{
	if (r->expect == EXPECT_END) {
		r->done = true;
		return JSON_DONE;
	}
	if (r->depth == 0)
		return fail(r, E_FORMAT, offset_of(r, r->n), "the document is empty");
	if (tolerant(r))
		return stop_open(r, r->expect == EXPECT_COLON || r->expect == EXPECT_VALUE);
	return fail(r, E_FORMAT, offset_of(r, r->n), "expected %s, found the end of the document",
		expect_text[r->expect]);
}

/* ---- strings */

static size_t after_spaces(const struct json_reader *r, size_t i, size_t end)
{
	while (i < end && is_space[(unsigned char)r->base[i]])
		i++;
	return i;
}

/* Where looking ahead from base[i] stops. A fixed distance, so that it sees the same however the input is cut. */
static size_t look_end(const struct json_reader *r, size_t i)
{
	return r->n - i > LOOK_MAX ? i + LOOK_MAX : r->n;
}

/* To the next quote that no back-slash stands before; end or more where there is none. */
static size_t find_quote(const struct json_reader *r, size_t i, size_t end)
{
	while (i < end && r->base[i] != '"')
		i += r->base[i] == '\\' ? 2 : 1;
	return i;
}

/* Is base[i…], behind an opening quote, a key: text, '"', ':'? A whole and simple one is remembered. */
static enum answer key_at(struct json_reader *r, size_t i, size_t end)
{
	bool high = false, plain;
	size_t quote = i + r->scan->string(r->base + i, end - i, &high), next;

	plain = quote < end && r->base[quote] == '"';
	if (!plain)
		quote = find_quote(r, quote, end);
	if (quote >= end)
		return UNKNOWN;
	next = after_spaces(r, quote + 1, end);
	if (next == end)
		return UNKNOWN;
	if (r->base[next] != ':')
		return NO;
	if (plain) {
		r->known_from = i;
		r->known_end = quote;
		r->known_high = high;
	}
	return YES;
}

/* Is all that is left of the document in the window? */
static bool has_all(const struct json_reader *r)
{
	return r->ended && (r->block == NULL || !r->carrying || r->block_taken == r->block_n);
}

static struct json_behind behind(const struct json_reader *r, size_t end)
{
	return (struct json_behind){ .p = r->base,
		.end = end,
		.kinds = r->kinds,
		.depth = r->depth,
		.keys = r->keys.may_follow == NULL ? NULL : &r->keys,
		.strict = r->raw_quote,
		.whole = end == r->n && has_all(r) };
}

/* In an object behind a value, nearly always: a comma and a key. UNKNOWN: something else, or too little to see. */
static enum answer plain_member(struct json_reader *r, size_t i, size_t end)
{
	if (r->raw_quote || i == end || r->base[i] != ',' || !in_object(r))
		return UNKNOWN;
	i = after_spaces(r, i + 1, end);
	return i < end && r->base[i] == '"' ? key_at(r, i + 1, end) : UNKNOWN;
}

/* Is base[i…] what stands behind a string of the kind under way (json/pull.h)? */
static enum answer follows_string(struct json_reader *r, size_t i, size_t end)
{
	const struct json_behind b = behind(r, end);
	enum answer member;

	i = after_spaces(r, i, end);
	if (r->part == PART_KEY)
		return i == end ? UNKNOWN : r->base[i] == ':' ? YES : NO;
	member = plain_member(r, i, end);
	return member == UNKNOWN ? json_behind_value(&b, i) : member;
}

/* Does the quote at base[seen] end the string? Strict: always. Tolerant: where what follows says so, or nothing near. */
static enum answer quote_ends(struct json_reader *r)
{
	size_t end = look_end(r, r->seen);
	enum answer ends;

	if (!tolerant(r) || r->depth == 0)
		return YES;
	ends = follows_string(r, r->seen + 1, end);
	return ends == UNKNOWN && end < r->n ? YES : ends;
}

/* The document ends before it is clear whether the quote at base[seen] ends the string: it does unless one behind it
 * surely does. */
static bool later_quote_ends(struct json_reader *r)
{
	size_t end = look_end(r, r->seen);

	for (size_t i = find_quote(r, r->seen + 1, end); i < end; i = find_quote(r, i + 1, end))
		if (follows_string(r, i + 1, end) == YES)
			return true;
	return false;
}

/* Offset of the first thing in raw that is no escape though it has a back-slash; raw.n for none. Counts them all. */
static size_t bad_escapes(struct str raw, uint64_t *count)
{
	size_t first = raw.n;

	for (size_t i = str_find_byte(raw, '\\'); i < raw.n;) {
		size_t length = json_escape_length(raw.p + i, raw.n - i);

		if (length == 0) {
			first = i < first ? i : first;
			++*count;
			length = 1;
		}
		i += length;
		i += str_find_byte(str_from(raw, i), '\\');
	}
	return first;
}

/* What the text has that is not as it should be: counted, or in strict mode an error. */
static bool text_passes(struct json_reader *r, struct str raw, bool *plain)
{
	uint64_t escapes = 0, utf8 = r->high ? utf8_bad(raw) : 0;
	size_t first = r->escapes ? bad_escapes(raw, &escapes) : 0;

	*plain = !r->escapes && utf8 == 0;
	if (tolerant(r)) {
		r->odd.bad_escapes += escapes;
		r->odd.bad_utf8 += utf8;
		return true;
	}
	if (escapes)
		fail(r, E_FORMAT, offset_of(r, r->from + first), "a back-slash that starts no escape");
	else if (utf8)
		fail(r, E_FORMAT, offset_of(r, r->from), "a string that is not UTF-8");
	return escapes == 0 && utf8 == 0;
}

static bool keeps_text(const struct json_reader *r)
{
	return !r->cut && !(r->skip == SKIP_INSIDE && tolerant(r));
}

static enum json_token string_over(struct json_reader *r, size_t quote, struct json_value *v)
{
	enum json_token t = r->part == PART_KEY ? JSON_KEY : JSON_STRING;

	v->raw = r->cut ? buf_view(&r->head) : str_make(r->base + r->from, quote - r->from);
	v->offset = r->part_offset;
	v->plain = false;
	if ((keeps_text(r) || r->cut) && !text_passes(r, v->raw, &v->plain))
		return JSON_ERROR;
	if (t == JSON_KEY)
		r->expect = EXPECT_COLON;
	else
		value_over(r);
	r->part = PART_NONE;
	r->cut = false;
	r->at = quote + 1;
	return t;
}

/* Called when base[from…seen) is longer than a token may be. */
static bool cut_token(struct json_reader *r)
{
	if (!tolerant(r)) {
		fail(r, E_LIMIT, offset_of(r, r->from), "longer than %zu bytes", r->limits.token_bytes);
		return false;
	}
	buf_reset(&r->head);
	buf_add(&r->head, r->base + r->from, r->limits.token_bytes);
	if (buf_finish(&r->head, "token", NULL) != OK) {
		fail(r, E_NOMEM, offset_of(r, r->from), "no memory for a token of %zu bytes",
			r->limits.token_bytes);
		return false;
	}
	r->cut = true;
	r->odd.cut_tokens++;
	return true;
}

/* More bytes for the part under way: of a text that is kept from its start on, else from where it was seen to. */
static bool refill_part(struct json_reader *r)
{
	return refill(r, keeps_text(r) ? r->from : r->seen);
}

static bool too_long(const struct json_reader *r)
{
	return keeps_text(r) && r->seen - r->from > r->limits.token_bytes;
}

static void pass_quote(struct json_reader *r)
{
	r->odd.raw_quotes++;
	r->raw_quote = true;
	r->seen++;
}

static void pass_escape(struct json_reader *r)
{
	r->escapes = true;
	r->seen += 2;
}

/* Tolerant: is the back-slash at base[seen] the last byte of a string, though a quote follows? */
static enum answer back_slash_ends(struct json_reader *r)
{
	size_t end = look_end(r, r->seen);
	const struct json_behind b = behind(r, end);
	enum answer ends;

	if (!tolerant(r) || r->depth == 0 || r->part == PART_KEY || r->base[r->seen + 1] != '"')
		return NO;
	ends = json_behind_back_slash(&b, r->seen + 2);
	r->escapes |= ends == YES;
	return ends == UNKNOWN && end < r->n ? NO : ends;
}

/* One stop of the scan, at base[seen]: the quote, back-slash or control character there. UNKNOWN: more bytes are needed
 * to tell; YES: the string ends here. */
static enum answer string_stop(struct json_reader *r)
{
	enum answer ends;

	switch (r->base[r->seen]) {
	case '"':
		ends = quote_ends(r);
		if (ends == NO)
			pass_quote(r);
		return ends;
	case '\\':
		if (r->seen + 1 == r->n)
			return UNKNOWN;
		ends = back_slash_ends(r);
		if (ends == NO)
			pass_escape(r);
		r->seen += ends == YES; /* it is the string's last byte */
		return ends;
	default:
		r->odd.raw_controls++;
		r->seen++;
		return NO;
	}
}

static enum json_token string_go(struct json_reader *r, struct json_value *v)
{
	for (;;) {
		enum answer ends = UNKNOWN;

		r->seen += r->scan->string(r->base + r->seen, r->n - r->seen, &r->high);
		if (too_long(r) && !cut_token(r))
			return JSON_ERROR;
		if (r->seen < r->n) {
			if (!tolerant(r) && (unsigned char)r->base[r->seen] < 0x20)
				return fail(r, E_FORMAT, offset_of(r, r->seen),
					"a control character in a string");
			ends = string_stop(r);
		}
		if (ends == YES)
			return string_over(r, r->seen, v);
		if (ends == NO || refill_part(r))
			continue;
		if (!r->ended)
			return JSON_MORE;
		if (r->n - r->seen > 1 && r->base[r->seen] == '\\') {
			pass_escape(r);
			continue;
		}
		if (r->seen == r->n || r->base[r->seen] != '"')
			return end_inside(r, "a string");
		if (!tolerant(r) || !later_quote_ends(r))
			return string_over(r, r->seen, v);
		pass_quote(r);
	}
}

static enum json_token string_begin(struct json_reader *r, struct json_value *v)
{
	bool key = r->expect == EXPECT_FIRST_KEY || r->expect == EXPECT_NEXT_KEY ||
		(r->expect == EXPECT_COMMA && r->skip == SKIP_INSIDE && in_object(r));

	r->part = key ? PART_KEY : PART_STRING;
	r->part_offset = r->base_offset + r->at;
	r->from = r->seen = r->at + 1;
	r->high = r->escapes = r->raw_quote = r->cut = false;
	if (key && r->known_from == r->from && r->known_end - r->from <= r->limits.token_bytes) {
		r->high = r->known_high;
		return string_over(r, r->known_end, v);
	}
	return string_go(r, v);
}

/* ---- numbers and literals */

enum { WORD_OTHER, WORD_DIGIT, WORD_ENDS };

static const unsigned char word_class[256] = {
	['0' ... '9'] = WORD_DIGIT,
	[' '] = WORD_ENDS,
	['\t'] = WORD_ENDS,
	['\n'] = WORD_ENDS,
	['\r'] = WORD_ENDS,
	[','] = WORD_ENDS,
	[':'] = WORD_ENDS,
	['"'] = WORD_ENDS,
	['['] = WORD_ENDS,
	[']'] = WORD_ENDS,
	['{'] = WORD_ENDS,
	['}'] = WORD_ENDS,
};

/* What programs print where a number should be: "nan", "-inf", "1.#QNAN", "-nan(ind)", "01", ".5", "+1". */
static bool number_like(struct str word)
{
	static const char *const words[] = { "nan", "inf", "infinity" };

	if (word.p[0] == '-' || word.p[0] == '+' || word.p[0] == '.' ||
		word_class[(unsigned char)word.p[0]] == WORD_DIGIT)
		return true;
	for (size_t i = 0; i < COUNT(words); i++)
		if (word.n == strlen(words[i]) && strncasecmp(word.p, words[i], word.n) == 0)
			return true;
	return false;
}

static enum json_token literal(struct str word)
{
	static const struct {
		struct str text;
		enum json_token token;
	} literals[] = { { STR("true"), JSON_TRUE }, { STR("false"), JSON_FALSE },
		{ STR("null"), JSON_NULL } };

	for (size_t i = 0; i < COUNT(literals); i++)
		if (str_eq(word, literals[i].text))
			return literals[i].token;
	return JSON_ERROR;
}

static enum json_token word_token(struct json_reader *r, struct str word)
{
	char first = word.p[0];
	enum json_token t;

	if (first == '-' || (first >= '0' && first <= '9')) {
		if (!r->odd_digits && (first != '0' || word.n == 1))
			return JSON_NUMBER;
		t = json_number_valid(word) ? JSON_NUMBER : JSON_ERROR;
	} else {
		t = literal(word);
	}
	if (t == JSON_ERROR && tolerant(r) && (number_like(word) || r->skip == SKIP_NEXT)) {
		r->odd.non_numbers++;
		t = JSON_NUMBER;
	}
	return t;
}

static enum json_token word_over(struct json_reader *r, struct json_value *v)
{
	struct str word = r->cut ? buf_view(&r->head) : str_make(r->base + r->from, r->seen - r->from);
	enum json_token t = word_token(r, word);

	if (t == JSON_ERROR) {
		r->part = PART_NONE;
		r->cut = false;
		r->at = r->seen;
		return fail(r, E_FORMAT, r->part_offset, "expected %s, found \"%.*s\"",
			expect_text[r->expect], STR_ARG(str_upto(word, 20)));
	}
	*v = (struct json_value){ .raw = word, .plain = true, .offset = r->part_offset };
	value_over(r);
	r->part = PART_NONE;
	r->cut = false;
	r->at = r->seen;
	return t;
}

static enum json_token word_go(struct json_reader *r, struct json_value *v)
{
	for (;;) {
		size_t i = r->seen;
		unsigned class;

		for (; i < r->n && (class = word_class[(unsigned char)r->base[i]]) != WORD_ENDS; i++)
			r->odd_digits |= class == WORD_OTHER;
		r->seen = i;
		if (too_long(r) && !cut_token(r))
			return JSON_ERROR;
		if (i < r->n)
			return word_over(r, v);
		if (refill_part(r))
			continue;
		if (!r->ended)
			return JSON_MORE;
		return r->depth ? end_inside(r, "a number or word") : word_over(r, v);
	}
}

static enum json_token word_begin(struct json_reader *r, struct json_value *v)
{
	r->part = PART_WORD;
	r->part_offset = r->base_offset + r->at;
	r->from = r->seen = r->at;
	r->odd_digits = r->cut = false;
	return word_go(r, v);
}

/* ---- the grammar */

static bool wants_value(const struct json_reader *r)
{
	return r->expect == EXPECT_VALUE || r->expect == EXPECT_FIRST_VALUE || r->expect == EXPECT_NEXT_VALUE;
}

static bool wants_key(const struct json_reader *r)
{
	return r->expect == EXPECT_FIRST_KEY || r->expect == EXPECT_NEXT_KEY;
}

static enum json_token open_level(struct json_reader *r, bool object, struct json_value *v)
{
	if (!wants_value(r))
		return unexpected(r);
	v->offset = r->base_offset + r->at;
	if (!push(r, object))
		return JSON_ERROR;
	r->at++;
	return object ? JSON_OBJECT : JSON_ARRAY;
}

static enum json_token close_level(struct json_reader *r, bool object, struct json_value *v)
{
	bool after_comma = r->expect == EXPECT_NEXT_VALUE || r->expect == EXPECT_NEXT_KEY;

	if (r->depth == 0 || in_object(r) != object || r->expect == EXPECT_COLON || r->expect == EXPECT_VALUE)
		return unexpected(r);
	if (after_comma && !tolerant(r))
		return unexpected(r);
	r->odd.extra_commas += after_comma;
	v->offset = r->base_offset + r->at;
	r->at++;
	pop(r);
	return object ? JSON_OBJECT_END : JSON_ARRAY_END;
}

/* True where a comma may stand here; the grammar is moved on. */
static bool take_comma(struct json_reader *r)
{
	if (r->expect == EXPECT_COMMA) {
		r->expect = in_object(r) ? EXPECT_NEXT_KEY : EXPECT_NEXT_VALUE;
	} else {
		if (!tolerant(r) || r->expect == EXPECT_VALUE || r->expect == EXPECT_COLON ||
			r->expect == EXPECT_END)
			return false;
		r->odd.extra_commas++;
	}
	r->at++;
	return true;
}

static bool take_colon(struct json_reader *r)
{
	if (r->expect != EXPECT_COLON)
		return false;
	r->expect = EXPECT_VALUE;
	r->at++;
	return true;
}

/* Tolerant: U+FEFF before everything. UNKNOWN where too little of the document is there. */
static enum answer take_byte_order_mark(struct json_reader *r)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t have = r->n - r->at;

	if (!tolerant(r) || r->base_offset + r->at != 0 ||
		memcmp(r->base + r->at, mark, have < 3 ? have : 3) != 0)
		return NO;
	if (have < 3)
		return UNKNOWN;
	r->at += 3;
	r->odd.byte_order_mark = 1;
	return YES;
}

/* A byte that starts a number or literal, or nothing at all. JSON_TOKENS: go on. */
static enum json_token other_byte(struct json_reader *r, struct json_value *v)
{
	if (!wants_value(r))
		return unexpected(r);
	switch (take_byte_order_mark(r)) {
	case NO: return word_begin(r, v);
	case YES: return JSON_TOKENS;
	case UNKNOWN: break;
	}
	if (refill(r, r->at))
		return JSON_TOKENS;
	return r->ended ? word_begin(r, v) : JSON_MORE;
}

/* Tolerant: no value stands behind a colon, and nobody wants it. */
static bool lacks_value(struct json_reader *r)
{
	char c = r->base[r->at];

	if (!tolerant(r) || r->skip != SKIP_NEXT || r->expect != EXPECT_VALUE || !in_object(r) || (c != ',' && c != '}'))
		return false;
	r->odd.non_numbers++;
	value_over(r);
	return true;
}

/* What the byte at base[at] brings. JSON_TOKENS: nothing to tell, go on. */
static enum json_token take(struct json_reader *r, struct json_value *v)
{
	if (lacks_value(r))
		return JSON_NULL;
	switch (r->base[r->at]) {
	case '"': return wants_value(r) || wants_key(r) ? string_begin(r, v) : unexpected(r);
	case ',': return take_comma(r) ? JSON_TOKENS : unexpected(r);
	case ':': return take_colon(r) ? JSON_TOKENS : unexpected(r);
	case '{': return open_level(r, true, v);
	case '[': return open_level(r, false, v);
	case '}': return close_level(r, true, v);
	case ']': return close_level(r, false, v);
	default: return other_byte(r, v);
	}
}

/* The part under way goes on, or the next begins. JSON_TOKENS: nothing to tell yet. */
static enum json_token part_go(struct json_reader *r, struct json_value *v)
{
	return r->part == PART_WORD ? word_go(r, v) : string_go(r, v);
}

static enum json_token step(struct json_reader *r, struct json_value *v)
{
	if (r->part != PART_NONE)
		return part_go(r, v);
	for (;;) {
		enum json_token t;

		leave_carry(r);
		r->at = after_spaces(r, r->at, r->n);
		if (r->at < r->n) {
			t = take(r, v);
			if (t != JSON_TOKENS)
				return t;
		} else if (!refill(r, r->at)) {
			if (r->block != NULL)
				continue;
			return r->ended ? end_between(r) : JSON_MORE;
		}
	}
}

/* ---- leaping */

bool json_unread(const struct json_reader *r, struct json_unread *out)
{
	bool between = r->expect == EXPECT_COMMA || r->expect == EXPECT_FIRST_VALUE || r->expect == EXPECT_NEXT_VALUE;

	if (r->carrying || r->block == NULL || !between || r->depth == 0 || in_object(r) || r->part != PART_NONE ||
		r->skip != SKIP_OFF || r->recovering || r->failed)
		return false;
	out->text = str_make(r->base + r->at, r->n - r->at);
	out->offset = r->base_offset + r->at;
	out->after_value = r->expect == EXPECT_COMMA;
	return true;
}

void json_leap(struct json_reader *r, size_t n)
{
	must(!r->carrying && n <= r->n - r->at);
	r->at += n;
	r->expect = EXPECT_COMMA;
	r->known_from = r->known_end = 0;
}

/* ---- skipping */

void json_skip(struct json_reader *r)
{
	if (r->failed || r->done)
		return;
	if (r->expect == EXPECT_FIRST_VALUE || r->expect == EXPECT_FIRST_KEY) {
		r->skip = SKIP_INSIDE;
		r->skip_depth = r->depth - 1;
		return;
	}
	must(wants_value(r) || r->expect == EXPECT_COLON || r->expect == EXPECT_END ||
		(r->expect == EXPECT_COMMA && !in_object(r)));
	r->skip = SKIP_NEXT;
}

/* Between a key and its value: a number or literal is passed by with what follows it, the rest is for skip_take. */
static void skip_colon(struct json_reader *r)
{
	while (r->at < r->n && (r->base[r->at] == ':' || is_space[(unsigned char)r->base[r->at]]))
		r->at++;
	if (r->at == r->n)
		return;
	if (r->base[r->at] == '"' || r->base[r->at] == '{' || r->base[r->at] == '[')
		r->expect = EXPECT_VALUE;
	else
		r->expect = EXPECT_COMMA;
}

static enum json_token skip_open(struct json_reader *r, bool object)
{
	if (in_object(r) && r->expect != EXPECT_VALUE)
		return unexpected(r);
	if (!push(r, object))
		return JSON_ERROR;
	r->at++;
	return JSON_TOKENS;
}

static enum json_token skip_close(struct json_reader *r, bool object)
{
	if (in_object(r) != object)
		return unexpected(r);
	r->at++;
	pop(r);
	if (r->depth == r->skip_depth)
		r->skip = SKIP_OFF;
	return JSON_TOKENS;
}

static enum json_token skip_take(struct json_reader *r, struct json_value *v)
{
	switch (r->base[r->at]) {
	case '"': return string_begin(r, v);
	case '{': return skip_open(r, true);
	case '[': return skip_open(r, false);
	case '}': return skip_close(r, true);
	case ']': return skip_close(r, false);
	default: return unexpected(r);
	}
}

/* Tolerant: only quotes and brackets are looked at. JSON_TOKENS when the value is over. */
static enum json_token skip_inside(struct json_reader *r, struct json_value *v)
{
	while (r->skip == SKIP_INSIDE) {
		enum json_token t = JSON_TOKENS;

		if (r->part != PART_NONE) {
			t = part_go(r, v);
		} else {
			leave_carry(r);
			if (r->expect == EXPECT_COLON)
				skip_colon(r);
			if (r->expect != EXPECT_COLON && r->expect != EXPECT_VALUE)
				r->at += r->scan->structure(r->base + r->at, r->n - r->at);
			if (r->at < r->n)
				t = skip_take(r, v);
			else if (!refill(r, r->at) && r->block == NULL)
				return r->ended ? end_between(r) : JSON_MORE;
		}
		if (t == JSON_MORE || t == JSON_ERROR || t == JSON_DONE)
			return t;
	}
	return JSON_TOKENS;
}

/* Strict: what is passed over is read like everything else. JSON_TOKENS when the value is over. */
static enum json_token skip_checked(struct json_reader *r, struct json_value *v)
{
	while (r->depth != r->skip_depth) {
		enum json_token t = step(r, v);

		if (t == JSON_MORE || t == JSON_ERROR || t == JSON_DONE)
			return t;
	}
	r->skip = SKIP_OFF;
	return JSON_TOKENS;
}

/* The first token of the value to skip: the whole of it, or the start of something to go through, or no value came. */
static enum json_token skip_first(struct json_reader *r, enum json_token t)
{
	if (t == JSON_MORE)
		return t;
	r->skip = SKIP_OFF;
	if (t == JSON_OBJECT || t == JSON_ARRAY) {
		r->skip = SKIP_INSIDE;
		r->skip_depth = r->depth - 1;
		return JSON_TOKENS;
	}
	return t == JSON_STRING || t == JSON_NUMBER || t == JSON_TRUE || t == JSON_FALSE || t == JSON_NULL
		? JSON_TOKENS
		: t;
}

static enum json_token skip_go(struct json_reader *r, struct json_value *v)
{
	if (r->skip == SKIP_NEXT)
		return skip_first(r, step(r, v));
	return tolerant(r) ? skip_inside(r, v) : skip_checked(r, v);
}

/* ---- going on behind damage */

static void recover_begin(struct json_reader *r, unsigned depth, struct str key)
{
	if (!r->failed || !tolerant(r) || r->depth < depth || depth == 0 || r->error.code == E_NOMEM)
		return;
	r->recover_key = key;
	r->recover_nest = (int)(r->depth - depth);
	r->recover_depth = depth;
	r->recover_before[0] = r->recover_before[1] = '\0';
	r->recovering = true;
	r->failed = false;
	r->part = PART_NONE;
	r->cut = false;
	r->skip = SKIP_OFF;
}

void json_recover(struct json_reader *r, unsigned array_depth)
{
	recover_begin(r, array_depth, STR(""));
}

void json_recover_at_key(struct json_reader *r, unsigned object_depth, struct str key)
{
	recover_begin(r, object_depth, key);
}

/* At '"': is this the key that is looked for? */
static enum answer key_here(const struct json_reader *r, size_t end)
{
	struct str rest = str_make(r->base + r->at + 1, end - r->at - 1), key = r->recover_key;
	size_t i = r->at + key.n + 1;

	if (r->recover_before[0] == '\\' || !str_has_prefix(rest, str_upto(key, rest.n)))
		return NO;
	if (i >= end)
		return UNKNOWN;
	if (r->base[i] != '"')
		return NO;
	i = after_spaces(r, i + 1, end);
	return i == end ? UNKNOWN : r->base[i] == ':' ? YES : NO;
}

/* May an element of the array start here? By what stands before: never behind a colon. While brackets are open, as far
 * as can be told, only behind another object and a comma: damage may have hidden the closing ones. */
static bool element_fits(const struct json_reader *r)
{
	const unsigned char *before = r->recover_before;

	if (r->recover_nest == 0)
		return before[0] == '\0' || strchr(",[}]", before[0]) != NULL;
	return before[0] == ',' && before[1] == '}';
}

/* '{' at base[at], and then a key or the end. */
static enum answer object_here(struct json_reader *r, size_t end)
{
	size_t i = after_spaces(r, r->at + 1, end);
	enum answer key;

	if (!element_fits(r))
		return NO;
	if (i == end)
		return UNKNOWN;
	if (r->base[i] == '}')
		return YES;
	if (r->base[i] != '"')
		return NO;
	key = key_at(r, i + 1, end);
	r->known_from = r->known_end = 0;
	return key;
}

/* ']' at base[at] behind an object, with all brackets since the damage closed: the array's end, if what follows agrees. */
static enum answer array_end_here(struct json_reader *r, size_t end)
{
	size_t i = after_spaces(r, r->at + 1, end);

	if (r->recover_before[0] != '}' || r->recover_nest != 0)
		return NO;
	if (i == end)
		return UNKNOWN;
	return r->base[i] == '}' || r->base[i] == ']' || r->base[i] == ',' ? YES : NO;
}

static enum answer recover_point(struct json_reader *r)
{
	size_t end = look_end(r, r->at);
	enum answer here = NO;

	if (r->recover_key.n > 0)
		here = r->base[r->at] == '"' ? key_here(r, end) : NO;
	else if (r->base[r->at] == '{')
		here = object_here(r, end);
	else if (r->base[r->at] == ']')
		here = array_end_here(r, end);
	return here == UNKNOWN && end < r->n ? NO : here;
}

static void recover_pass(struct json_reader *r)
{
	unsigned char c = (unsigned char)r->base[r->at++];

	if (c == '{' || c == '[')
		r->recover_nest++;
	else if ((c == '}' || c == ']') && r->recover_nest > 0)
		r->recover_nest--;
	if (!is_space[c]) {
		r->recover_before[1] = r->recover_before[0];
		r->recover_before[0] = c;
	}
}

static void recover_over(struct json_reader *r)
{
	r->expect = r->recover_key.n > 0 ? EXPECT_NEXT_KEY : r->base[r->at] == '{' ? EXPECT_NEXT_VALUE : EXPECT_COMMA;
	r->depth = r->recover_depth;
	r->recovering = false;
	r->odd.recovered++;
}

/* JSON_TOKENS when there is a place to go on. */
static enum json_token recover_go(struct json_reader *r)
{
	for (;;) {
		enum answer here = UNKNOWN;

		leave_carry(r);
		if (r->at < r->n)
			here = recover_point(r);
		if (here == UNKNOWN && !refill(r, r->at) && r->block == NULL) {
			if (!r->ended)
				return JSON_MORE;
			if (r->at == r->n) {
				r->depth = r->recover_depth;
				return stop_open(r, false);
			}
			here = r->base[r->at] == ']' ? YES : NO;
		}
		if (here == YES) {
			recover_over(r);
			return JSON_TOKENS;
		}
		if (here == NO)
			recover_pass(r);
	}
}

enum json_token json_next(struct json_reader *r, struct json_value *v)
{
	enum json_token t;

	for (;;) {
		if (r->failed)
			return JSON_ERROR;
		if (r->done)
			return JSON_DONE;
		*v = (struct json_value){ .raw = { "", 0 } };
		if (r->recovering)
			t = recover_go(r);
		else if (r->skip != SKIP_OFF)
			t = skip_go(r, v);
		else
			t = step(r, v);
		if (r->failed)
			return JSON_ERROR;
		if (t != JSON_TOKENS)
			return t;
	}
}

struct str json_meaning(const struct json_value *v, struct buf *scratch)
{
	if (v->plain)
		return v->raw;
	buf_reset(scratch);
	json_unescape(v->raw, scratch);
	return scratch->rc == OK ? buf_view(scratch) : v->raw;
}
