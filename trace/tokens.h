/* tokens.h — the JSON tokens of an input: blocks are fetched and fed by themselves, so JSON_MORE is never seen.
 * Tolerant (json/pull.h). A file of JSON lines is a document a line: tokens_next_line moves on to the next one.
 * Runs on: one thread at a time. Memory: the reader's. */
#ifndef TRACE_TOKENS_H
#define TRACE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "json/pull.h"
#include "trace/input.h"
#include "trace/report.h"

struct tokens {
	struct input *in;	     /* borrowed */
	struct trace_report *report; /* borrowed: what is lost goes here at once */
	struct err *e;
	int rc; /* OK, or why the input gave no more: then only JSON_ERROR comes */

	struct json_reader *json;
	struct str rest;      /* of the block: not fed yet */
	uint64_t fed;	      /* bytes of the input that were handed to the reader */
	uint64_t document_at; /* offset of the document's first byte in the input */
	uint64_t bad_at;      /* of the last error that was passed by */
	bool has_bad, ended, document_ended, lines, line_open;
	bool started, spread, after_newline; /* the first line was found; documents take many lines; the last byte fed was the end of one */
	struct buf key; /* without its escapes */
	size_t piece; /* at most so many bytes are fed at once; tests set it */
};

void tokens_init(struct tokens *t, struct input *in, struct trace_report *report, struct err *e);
void tokens_fini(struct tokens *t);

/* Offsets in v are those of the input; keys come without their escapes. JSON_ERROR: what stands there is no JSON (tokens_pass_bad), or rc says why. */
enum json_token tokens_next(struct tokens *t, struct json_value *v);
void tokens_skip(struct tokens *t);
static inline unsigned tokens_depth(const struct tokens *t)
{
	return json_depth(t->json);
}

/* After JSON_ERROR: counts the damage. True where reading can go on in the array that was at the given depth. */
bool tokens_pass_bad(struct tokens *t, unsigned array_depth);
/* After JSON_ERROR with nowhere to go on: counts the damage. */
void tokens_count_bad(struct tokens *t);

/* From now on every line is a document of its own, or, where the first one is not whole, every piece that starts with a line
 * whose first character is '{'. Call it before the first token. */
void tokens_as_lines(struct tokens *t);
/* Drops what is left of this line. False at the input's end. */
bool tokens_next_line(struct tokens *t);

/* Reads to the input's end whatever is there, and reports what it met: the end that is missing, the reader's oddities,
 * what the compression lost. rc. */
int tokens_finish(struct tokens *t) MUST_USE;

#endif
