/* mask.h — where the quotes and brackets of a JSON text are, a bit a byte, 64 bytes at a time.
 *
 * The first of two passes that read big documents quickly: this one looks at every byte and branches on none, the
 * second (trace/quick.h) goes from mark to mark and looks only at what it wants.
 *
 *	bytes    {"name": "a\"[b]", "ts": [1]}
 *	quote    .1....1..1.......1...1..1......		no escaped ones
 *	bracket  1........................1.11			outside strings only
 *	odd      ...........1....................		back-slash; in strings control character, byte of 0x80 and more
 *
 * A raw quote in a string (a dialect: json/pull.h) turns inside out what follows in these marks; whoever walks them
 * checks what stands behind each quote and falls back to json/pull where it does not fit.
 *
 * One kernel for each kind of processor, all with the same answers. Pure functions; any thread. */
#ifndef JSON_MASK_H
#define JSON_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_mask { /* of 64 bytes, the first in the lowest bit */
	uint64_t quote, bracket, odd;
};

struct json_mask_state { /* between two calls; all zero at the start of a document */
	uint64_t in_string; /* all ones inside a string, else 0 */
	uint64_t escaped;   /* 1 where a back-slash stands before the next byte */
};

struct json_mask_kernel {
	const char *name;
	bool (*runs_here)(void);
	/* p: 64 x blocks bytes. */
	void (*run)(const char *p, size_t blocks, struct json_mask_state *s, struct json_mask *out);
};

/* All that were built for this kind of processor, the slowest (scalar) first; NULL at the end. */
extern const struct json_mask_kernel *const json_mask_kernels[];

/* The fastest that runs here. */
const struct json_mask_kernel *json_mask_best(void);

#endif
