/* http_parse.h — requests of HTTP/1.1 (RFC 9112) from bytes, and strictly: where two readers could differ about what a
 * message is, this one refuses it. Lines end in CRLF only; names are tokens; no folded lines; one Content-Length of
 * digits, or "chunked", never both; one Host. Pure; any thread. */
#ifndef NET_HTTP_PARSE_H
#define NET_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "net/http_server.h"
#include "net/problem.h"

enum { HTTP_HEADERS_MAX = 100 }; /* lines */

struct http_head {
	enum http_method method;
	struct str path, query;
	struct http_header *headers;
	size_t n_headers;
	bool chunked;
	uint64_t length; /* Content-Length, 0 where there is none */
	bool keep_alive, expect_continue;
};

/* Where the head that starts at p ends: its size with the empty line, 0 when more bytes are needed, E_FORMAT when a line
 * ends in a bare LF or holds a NUL. *scanned: 0 at first, then what the last call left there; bytes are looked at once. */
int http_head_end(const char *p, size_t n, size_t *scanned);

/* The head (its empty line included). Texts are in the arena. On failure *why says which problem it is, *e the sentence. */
int http_head_parse(struct arena *a, struct str head, struct http_head *out, enum problem *why, struct err *e) MUST_USE;

/* "%41" to a byte and, in a query's values, '+' to a space. E_FORMAT for a bad escape or one of a NUL, E_LIMIT when the arena
 * is full. */
int http_decode(struct arena *a, struct str raw, bool plus, struct str *out) MUST_USE;

/* ---- a chunked body */
enum chunk_state {
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_TRAILER,	    /* at the start of a line behind the last chunk */
	CHUNK_TRAILER_LINE, /* inside one: read and dropped */
	CHUNK_TRAILER_LF,
	CHUNK_END_LF,
	CHUNK_DONE,
	CHUNK_STATES
};
struct http_chunks { /* all zero at first */
	enum chunk_state state;
	uint64_t left;
	unsigned digits;
	size_t extra; /* bytes of extensions and trailers so far */
};

/* Reads some of in (*used bytes), appends data to out. OK (look at state for CHUNK_DONE), E_FORMAT, E_LIMIT (out's ceiling,
 * or too many extensions and trailers). */
int http_chunks_feed(struct http_chunks *c, struct str in, size_t *used, struct buf *out, struct err *e) MUST_USE;

#endif
