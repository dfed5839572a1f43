/* pull.h — the one JSON reader: streaming, constant memory, resumable at any byte.
 * Bytes are handed in as blocks; tokens come out. A token that straddles blocks is carried over in a small buffer, so a
 * document cut at any byte gives the same tokens. It serves traces of gigabytes, API bodies and op tables alike.
 *
 *	json_feed(r, block, n);
 *	while ((t = json_next(r, &v)) != JSON_MORE) ...
 *	json_feed_end(r);			nothing comes any more
 *
 * Strict mode is RFC 8259. Tolerant mode reads in addition what real traces hold (names with quotes and control
 * characters written raw, stray back-slashes, NaN and Infinity, a comma too many, a byte-order mark, an array or
 * object that never ends, bytes that are no UTF-8) and says what it did in the counters below.
 *
 * The rule for a raw quote in a string (tolerant): inside an object a '"' ends a string value only where what follows,
 * after white space, is ',' and then a key: '"', no quote, '"', ':'; or '}', and behind that what may stand behind the
 * object. It ends a key where ':' follows, and a string in an array where ',' follows, or ']' and what may stand behind
 * the array. Any other '"' and any control character belongs to the string. Where the document ends before that is clear,
 * or nothing is clear for 4 KiB, the quote is an end, unless at the document's end a later one surely is.
 * So a sound document is read as it is. A string that itself holds what looks like its end cannot be told, unless the
 * reader knows the keys (json_reader_keys): then names that are JSON themselves are read whole, too.
 *
 * A back-slash before a quote is an escape, but in tolerant mode the end of a path ("C:\dir\") where a comma and a key of
 * letters, digits and the like follow, which no sound document can have there.
 *
 * Depth is bounded (no recursion), token length is bounded. Runs on: one thread at a time. */
#ifndef JSON_PULL_H
#define JSON_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum json_token {
	JSON_MORE, /* the block is used up: feed another, or end */
	JSON_OBJECT,
	JSON_OBJECT_END,
	JSON_ARRAY,
	JSON_ARRAY_END,
	JSON_KEY,
	JSON_STRING,
	JSON_NUMBER,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
	JSON_DONE,  /* the document is complete and only white space followed */
	JSON_ERROR, /* not JSON: json_reader_error tells; json_recover may go on in tolerant mode */
	JSON_TOKENS
};

struct json_value {
	struct str raw;	 /* of a key, string or number as it stands in the document, without its quotes; valid until
			    the next json_next */
	bool plain;	 /* raw is the text itself: no back-slash in it and nothing to mend */
	uint64_t offset; /* of its first byte in the document (the quote of a string) */
};

enum json_mode { JSON_STRICT, JSON_TOLERANT, JSON_MODES };

struct json_limits {
	unsigned depth;	   /* objects and arrays in each other; deeper is JSON_ERROR with E_LIMIT */
	size_t token_bytes; /* longest key, string or number; longer is JSON_ERROR with E_LIMIT (tolerant: the token is
			       cut there, mended is counted) */
};

/* What traces and bodies get unless a caller knows better: depth 100,000 for traces (one bit a level), 64 for bodies. */
#define JSON_LIMITS_TRACE ((struct json_limits){ 100000, 1 << 20 })
#define JSON_LIMITS_BODY ((struct json_limits){ 64, 1 << 20 })

/* Which keys the objects at some depth have (json_depth inside them), for who knows. They count in tolerant mode behind a
 * string that had a raw quote already, so that this is no sound document: the string ends before one of these keys; before
 * another only where members go on from there up to one of these, or to the object's end and what may stand behind it. */
struct json_keys {
	unsigned depth;
	bool (*may_follow)(const void *arg, struct str key); /* in the object under way, behind the string under way */
	bool (*may_begin)(struct str key);		     /* an object */
	const void *arg;
};

struct json_reader;

struct json_reader *json_reader_new(enum json_mode mode, struct json_limits limits);
void json_reader_free(struct json_reader *r);
void json_reader_reset(struct json_reader *r); /* ready for another document */
void json_reader_keys(struct json_reader *r, const struct json_keys *keys); /* copies *keys, borrows its arg */

/* The block is borrowed until json_next answers JSON_MORE. */
void json_feed(struct json_reader *r, const void *p, size_t n);
void json_feed_end(struct json_reader *r);

enum json_token json_next(struct json_reader *r, struct json_value *v);

/* Right after JSON_KEY, or where a value could come: the next value is passed over whole, without tokens (fast). Right
 * after JSON_OBJECT or JSON_ARRAY: the rest of it, its end included. The next json_next goes on behind it. Tolerant mode
 * looks only at strings and brackets then: damage between them is passed over and not counted. A member's value may be
 * any word then, or missing ("x": None, "y":, …): counted as non_numbers. */
void json_skip(struct json_reader *r);

/* For who has a quicker way through an array's elements. Where the reader stands between two of them, and its unread bytes
 * are the caller's block: true, and what they are. json_leap passes over the first n of them, which must be whole
 * elements, with the commas before and between them, that tolerant mode would find nothing odd in. */
struct json_unread {
	struct str text;
	uint64_t offset;  /* of its first byte in the document */
	bool after_value; /* a comma comes before the next element */
};
bool json_unread(const struct json_reader *r, struct json_unread *out);
void json_leap(struct json_reader *r, size_t n);

unsigned json_depth(const struct json_reader *r); /* objects and arrays open now */

/* After JSON_ERROR: code, sentence with line, column and byte offset. */
int json_reader_error(const struct json_reader *r, struct err *e);
uint64_t json_error_offset(const struct json_reader *r);

/* Tolerant, after JSON_ERROR inside an array that was at the given depth (json_depth right after its JSON_ARRAY): drops
 * bytes up to something that looks like the array's next object ("{" followed by white space and a key or "}", not
 * behind ':' nor deep in another value, as far as brackets can tell) or like the array's end ("]" behind an object, all
 * brackets since closed), and goes on there. Without effect where json_depth is less than array_depth: the array is
 * over then, and the error stays. */
void json_recover(struct json_reader *r, unsigned array_depth);
/* The same inside an object at the given depth: up to this key and its colon, wherever they stand; key is borrowed. */
void json_recover_at_key(struct json_reader *r, unsigned object_depth, struct str key);

struct json_oddities { /* what tolerant mode met, so far */
	uint64_t raw_quotes, raw_controls, bad_escapes, bad_utf8, non_numbers, extra_commas, byte_order_mark;
	uint64_t cut_tokens, recovered;
	uint64_t open_at_end; /* arrays and objects that the end of the document left open */
	bool inside_token;    /* the document ended inside a token or between a key and its value */
};
const struct json_oddities *json_oddities(const struct json_reader *r);

/* What a key or a string means: as it stands where that is plain, else without its escapes, in scratch. */
struct str json_meaning(const struct json_value *v, struct buf *scratch);

#endif
