/* input.h — the bytes of a trace in blocks of at most 256 KiB, decompressed.
 * What a file is, is told by its first bytes and never by its name: gzip (any number of members), zstd (any number of
 * frames), else plain text. Damaged compression is no error: everything before the damage is handed out, then the end
 * comes, and input_report says what it was. Memory: two blocks (with input_ahead six) and the decoder's window (gzip
 * 32 KiB, zstd up to 128 MiB as the file asks). Runs on: any thread but an event loop; one at a time. */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "trace/report.h"

enum { INPUT_BLOCK = 256 * 1024, INPUT_HASH = 16 };

struct input;

/* name stands in sentences. E_NOT_FOUND, E_DENIED, E_SYS; E_UNSUPPORTED for archives and compressions that are not read. */
int input_open(struct input **out, const char *path, const struct trace_limits *limits, struct err *e) MUST_USE;
/* The same of regular files only, without waiting for anything: E_UNSUPPORTED for a FIFO, a device, a folder. */
int input_open_regular(struct input **out, const char *path, const struct trace_limits *limits, struct err *e) MUST_USE;
int input_open_fd(struct input **out, int fd, const char *name, const struct trace_limits *limits, struct err *e)
	MUST_USE; /* the fd stays the caller's */
int input_open_memory(struct input **out, struct str bytes, const char *name, const struct trace_limits *limits,
	struct err *e) MUST_USE; /* borrows the bytes */
/* Bytes that somebody else brings: a member of an archive. Up to room bytes into dst, *n of 0 at the end. size: 0 where it
 * is not known. */
typedef int input_pull(void *arg, char *dst, size_t room, size_t *n, struct err *e);
int input_open_pull(struct input **out, input_pull *pull, void *arg, uint64_t size, const char *name,
	const struct trace_limits *limits, struct err *e) MUST_USE;
void input_close(struct input *in);

/* The next block, valid until the next call; an empty one at the end. E_LIMIT past max_output_bytes, max_ratio or max_plain_bytes. */
int input_next(struct input *in, struct str *block, struct err *e) MUST_USE;

/* The next block without taking it: input_next gives the same one. */
int input_peek(struct input *in, struct str *block, struct err *e) MUST_USE;

/* Called for each block that is given out, in the reader's thread: for whoever shows progress. */
struct trace_watcher {
	void (*block)(void *arg, const struct input *in);
	void *arg;
};
void input_watch(struct input *in, const struct trace_watcher *watcher); /* copies it */

/* At the end: adds bytes, raw_bytes and what was wrong with the compression. */
void input_report(const struct input *in, struct trace_report *r);
/* At the end: hash128 of the file's bytes as they stand there, to its last one even where reading stopped before. */
int input_hash(struct input *in, uint8_t out[INPUT_HASH], struct err *e) MUST_USE;

/* Nobody will ask for the hash: a fifth of the time on a fast disk. Not after input_ahead. */
void input_without_hash(struct input *in);

/* From now on a thread of its own decompresses, four blocks ahead at most; what comes out, and the report, is the same.
 * Nothing changes for plain files, and where no thread is to be had. Once at most. A reader that gives up half way waits, in
 * input_close, until the thread's read of a pipe returns. */
void input_ahead(struct input *in);

uint64_t input_raw_bytes(const struct input *in); /* read so far */
uint64_t input_raw_size(const struct input *in);  /* of the whole file, 0 where it is not known (a pipe) */
int64_t input_mtime_ns(const struct input *in);	  /* of the file, wall; 0 where there is none */

#endif
