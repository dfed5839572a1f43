/* behind.h — what stands behind a quote in a string: may the string end there (json/pull.h, tolerant mode)?
 *
 *	"name": "{"op": "mm", "n": 2}", "pid": 1, …
 *	             ^    ^         ^
 *	             |    |         what follows is an object's next member: an end
 *	             |    "n" is no key that an event has, and the '}' behind its 2 is followed by '"': none
 *	             no comma, no bracket: none
 *
 * Behind a string stand commas, keys and closing brackets that fit what is open; that is all a sound document can have
 * there, so that in one the first quote always is an end. Where the text is known not to be sound (there was a raw quote,
 * or there are commas too many), more is asked of an object whose keys are known: see struct json_keys.
 *
 * Pure functions; they look at no byte outside p[0…end), and say so where that is too little. */
#ifndef JSON_BEHIND_H
#define JSON_BEHIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/pull.h"

enum answer { NO, YES, UNKNOWN };

struct json_behind {
	const char *p;
	size_t end;
	const uint64_t *kinds; /* a bit for each open level: set for objects */
	unsigned depth;	       /* so many are open */
	const struct json_keys *keys; /* or NULL */
	bool strict;		      /* the text is not sound, in this reading or any */
	bool whole;		      /* the document ends at p[end] */
};

static inline bool json_level_is_object(const uint64_t *kinds, unsigned depth)
{
	return depth > 0 && (kinds[(depth - 1) / 64] >> ((depth - 1) % 64) & 1);
}

/* Does p[i…] stand behind a value? */
enum answer json_behind_value(const struct json_behind *b, size_t i);

/* The same behind a quote that has a back-slash in front: only where no sound document can have it, for then it is the
 * end of a path ("C:\dir\") and no escape. */
enum answer json_behind_back_slash(const struct json_behind *b, size_t i);

#endif
