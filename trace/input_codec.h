/* input_codec.h — between input.c and the decoders; nobody else includes it.
 * A decoder turns in->pending (refilled by input_refill) into blocks. */
#ifndef TRACE_INPUT_CODEC_H
#define TRACE_INPUT_CODEC_H

#include <stdbool.h>

#include "base/hash.h"
#include "trace/input.h"

struct input_raw { /* the bytes of the file itself */
	int fd;	   /* -1: memory */
	bool own_fd;
	const char *name;
	struct str memory;
	input_pull *pull; /* NULL: file or memory */
	void *pull_arg;
	char *block; /* of INPUT_BLOCK */
	struct hash128 *hash;
	uint64_t bytes, size;
	int64_t mtime_ns;
	bool end;
};
int input_raw_open(struct input_raw *raw, const char *path, bool regular, struct err *e) MUST_USE;
void input_raw_open_fd(struct input_raw *raw, int fd, const char *name);
void input_raw_open_memory(struct input_raw *raw, struct str bytes, const char *name);
void input_raw_open_pull(struct input_raw *raw, input_pull *pull, void *arg, uint64_t size, const char *name);
void input_raw_close(struct input_raw *raw);
/* A full block, less only at the end of the file, none behind it. */
int input_raw_next(struct input_raw *raw, struct str *block, struct err *e) MUST_USE;

struct input_codec {
	const char *name;
	bool (*matches)(struct str head);
	int (*open)(void **state, struct err *e);
	/* The next block into out (room for INPUT_BLOCK), *n of 0 at the end. */
	int (*next)(struct input *in, void *state, char *out, size_t *n, struct err *e);
	void (*close)(void *state);
};
extern const struct input_codec input_gzip, input_zstd;

struct ahead;

struct input {
	struct input_raw raw;
	struct trace_limits limits;
	struct str pending; /* raw bytes that nobody took yet */
	const struct input_codec *codec; /* NULL: plain */
	void *state;
	char *out; /* of INPUT_BLOCK; NULL for plain */
	uint64_t bytes;
	struct trace_report report; /* what was wrong */
	struct str peeked; /* a block that input_next has still to give */
	bool end;
	struct trace_watcher watcher;
	struct ahead *ahead; /* NULL: all in the caller's thread */
};

/* Refills pending when it is empty; it stays empty at the end of the file. */
int input_refill(struct input *in, struct err *e) MUST_USE;
/* What is wrong here, at the bytes handed out so far plus n. */
void input_blame(struct input *in, enum trace_reason reason, size_t n);
/* The next block, for codecs into out; what input_next is without a thread ahead of it. */
int input_decode(struct input *in, char *out, struct str *block, struct err *e) MUST_USE;
/* What was read and met so far. */
struct trace_report input_snapshot(const struct input *in);

/* ---- input_ahead.c */
struct ahead *ahead_new(struct input *in); /* NULL where there is no thread to be had */
void ahead_stop(struct ahead *a);	   /* in is the caller's again */
int ahead_next(struct ahead *a, struct str *block, struct err *e) MUST_USE; /* as input_next */
const struct trace_report *ahead_report(const struct ahead *a); /* input_snapshot at the last block given out */

#endif
