/* json_random.h — sound JSON documents made up from a seed: all kinds of values, escapes, and white space wherever it may
 * stand. Strings hold brackets, quotes and commas, so that whoever looks at bytes alone is led astray. */
#ifndef TESTS_SUPPORT_JSON_RANDOM_H
#define TESTS_SUPPORT_JSON_RANDOM_H

#include "base/buf.h"
#include "base/code.h"
#include "base/rand.h"

static inline void json_random_text(struct rand_gen *g, struct buf *b)
{
	static const char *const bits[] = { "a", "name", " ", "\\\"", "\\\\", "\\u0041", "}", "]", "{", "[",
		":", ",", "\xc3\xa9", "\\n", "0123456789abcdef" };

	buf_byte(b, '"');
	for (uint64_t n = rand_below(g, 5); n > 0; n--)
		buf_text(b, bits[rand_below(g, COUNT(bits))]);
	buf_byte(b, '"');
}

static inline void json_random_space(struct rand_gen *g, struct buf *b)
{
	if (rand_below(g, 4) == 0)
		buf_byte(b, " \n\t\r"[rand_below(g, 4)]);
}

static inline void json_random(struct rand_gen *g, size_t size, unsigned depth, struct buf *b)
{
	static const char *const scalars[] = { "0", "-1.5e3", "1234567", "true", "false", "null" };
	uint64_t kind = depth < 12 && size > 0 ? rand_below(g, 5) : rand_below(g, 2);

	json_random_space(g, b);
	if (kind == 0) {
		buf_text(b, scalars[rand_below(g, COUNT(scalars))]);
	} else if (kind == 1) {
		json_random_text(g, b);
	} else {
		bool object = kind < 4;

		buf_byte(b, object ? '{' : '[');
		for (uint64_t i = 0, n = rand_below(g, 1 + size); i < n; i++) {
			if (i)
				buf_byte(b, ',');
			json_random_space(g, b);
			if (object) {
				json_random_text(g, b);
				json_random_space(g, b);
				buf_byte(b, ':');
			}
			json_random(g, size / 2, depth + 1, b);
		}
		json_random_space(g, b);
		buf_byte(b, object ? '}' : ']');
	}
	json_random_space(g, b);
}

#endif
