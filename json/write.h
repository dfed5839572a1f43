/* write.h — JSON out: commas, quotes and ends by themselves, first error sticky, into a struct buf.
 *
 *	jw_object(&w);
 *	jw_key_str(&w, "op", row->op);
 *	jw_key_i64(&w, "p50_ns", row->p50_ns);
 *	jw_end(&w);
 *	return jw_finish(&w, e);
 *
 * Runs on: one thread at a time. */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { JW_DEPTH = 32 };

struct json_writer {
	struct buf *out;
	unsigned depth;
	unsigned char kind[JW_DEPTH]; /* '{' or '[' of each open container */
	bool filled[JW_DEPTH];
	bool after_key;
	int rc;
};

void jw_init(struct json_writer *w, struct buf *out); /* borrows out */

void jw_object(struct json_writer *w);
void jw_array(struct json_writer *w);
void jw_end(struct json_writer *w); /* the innermost object or array */
void jw_key(struct json_writer *w, const char *key);
void jw_key_of(struct json_writer *w, struct str key);

void jw_str(struct json_writer *w, struct str s);
void jw_text(struct json_writer *w, const char *s); /* NULL writes null */
void jw_i64(struct json_writer *w, int64_t v);
void jw_u64(struct json_writer *w, uint64_t v);
void jw_double(struct json_writer *w, double v); /* shortest text that reads back the same; NaN and infinity: null */
void jw_bool(struct json_writer *w, bool v);
void jw_null(struct json_writer *w);
void jw_raw(struct json_writer *w, struct str json); /* a value that is JSON already */

void jw_key_str(struct json_writer *w, const char *key, struct str s);
void jw_key_text(struct json_writer *w, const char *key, const char *s);
void jw_key_i64(struct json_writer *w, const char *key, int64_t v);
void jw_key_u64(struct json_writer *w, const char *key, uint64_t v);
void jw_key_double(struct json_writer *w, const char *key, double v);
void jw_key_bool(struct json_writer *w, const char *key, bool v);
void jw_key_null(struct json_writer *w, const char *key);
void jw_key_object(struct json_writer *w, const char *key);
void jw_key_array(struct json_writer *w, const char *key);

/* OK, or the first error: nesting broken (a bug of ours: must), the buffer's ceiling, no memory. */
int jw_finish(struct json_writer *w, struct err *e) MUST_USE;

#endif
