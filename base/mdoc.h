/* mdoc.h — text for manual pages in mdoc(7), escaped. */
#ifndef BASE_MDOC_H
#define BASE_MDOC_H

#include "base/buf.h"
#include "base/str.h"

/* Running text without a newline in it: nothing in it is a request, its dashes can be copied into a shell, and a word with
 * '_' in it is not hyphenated. */
void mdoc_text(struct str text, struct buf *out);
void mdoc_line(struct str text, struct buf *out); /* the same and a newline */

#endif
