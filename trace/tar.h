/* tar.h — the files of an archive (POSIX ustar and pax, GNU, and tar of 1979), one behind the other as they come.
 *
 *	header, 512 bytes:	  0 name 100	124 size 12	148 checksum 8	156 type 1	257 "ustar"	345 prefix 155
 *	content, filled up to a multiple of 512; then the next header; zeros at the end
 *
 * Numbers are octal text; a size may be binary, big-endian, with the first bit set. The checksum is the sum of all bytes of
 * the header with its own eight as blanks. Types: '0', NUL and '7' are files; 'L' holds the long name of the next one (GNU);
 * 'x' holds records "LENGTH key=value\n" for the next one, of which path and size count; everything else is passed over.
 * A damaged header costs what stands up to the next one that is whole. Runs on: one thread at a time. Memory: a header's
 * texts, at most 1 MiB. */
#ifndef TRACE_TAR_H
#define TRACE_TAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "trace/input.h"

enum { TAR_BLOCK = 512, TAR_FILES_MAX = 1 << 20 };

/* Does content that starts so look like an archive? */
bool tar_is(struct str head);

struct tar;
struct tar *tar_new(struct input *in); /* borrows */
void tar_free(struct tar *t);

struct tar_file {
	struct str name; /* until the next one */
	uint64_t size;
};
/* The next file; *more is false at the end. What is left of the one before is passed over. E_LIMIT past TAR_FILES_MAX,
 * or what the input says. */
int tar_next(struct tar *t, struct tar_file *f, bool *more, struct err *e) MUST_USE;
/* Its content: an input_pull for input_open_pull, arg: a struct tar. Ends early where the archive does. */
input_pull tar_read;

/* At the end: what was lost of the archive itself: truncated, bad_data for damaged headers. */
void tar_report(const struct tar *t, struct trace_report *r);

#endif
