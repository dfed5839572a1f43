#include "trace/input.h"

#include "base/mem.h"
#include "base/must.h"
#include "trace/input_codec.h"

#define RATIO_FROM_BYTES (UINT64_C(1) << 20)

static const struct input_codec *const codecs[] = { &input_gzip, &input_zstd };

/* What people hand in by mistake, and what to do about it. */
static const struct {
	struct str magic;
	const char *what;
} strangers[] = {
	{ STR("PK\003\004"), "a zip archive: unpack it first" },
	{ STR("BZh"), "compressed by bzip2: unpack it first (gzip and zstd are read as they are)" },
	{ STR("\3757zXZ"), "compressed by xz: unpack it first (gzip and zstd are read as they are)" },
	{ STR("\177ELF"), "a program" },
	{ STR("SQLite format 3"), "an SQLite database" },
	{ STR("PAR1"), "a Parquet file" },
};

int input_refill(struct input *in, struct err *e)
{
	return in->pending.n > 0 ? OK : input_raw_next(&in->raw, &in->pending, e);
}

void input_blame(struct input *in, enum trace_reason reason, size_t n)
{
	trace_report_add(&in->report, reason, 1, in->bytes + n);
}

static int start(struct input *in, struct err *e)
{
	int rc = input_refill(in, e);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < COUNT(strangers); i++)
		if (str_has_prefix(in->pending, strangers[i].magic))
			return err_set(e, E_UNSUPPORTED, "%s: this is no trace but %s", in->raw.name, strangers[i].what);
	for (size_t i = 0; i < COUNT(codecs); i++)
		if (codecs[i]->matches(in->pending))
			in->codec = codecs[i];
	if (in->codec == NULL)
		return OK;
	in->out = mem_get(INPUT_BLOCK);
	return in->codec->open(&in->state, e);
}

static int finish_open(struct input **out, struct input *in, int rc, struct err *e)
{
	if (rc == OK)
		rc = start(in, e);
	if (rc < 0) {
		input_close(in);
		in = NULL;
	}
	*out = in;
	return rc;
}

static struct input *input_new(const struct trace_limits *limits)
{
	struct input *in = mem_get(sizeof(*in));

	in->limits = *limits;
	return in;
}

int input_open(struct input **out, const char *path, const struct trace_limits *limits, struct err *e)
{
	struct input *in = input_new(limits);

	return finish_open(out, in, input_raw_open(&in->raw, path, false, e), e);
}

int input_open_regular(struct input **out, const char *path, const struct trace_limits *limits, struct err *e)
{
	struct input *in = input_new(limits);

	return finish_open(out, in, input_raw_open(&in->raw, path, true, e), e);
}

int input_open_fd(struct input **out, int fd, const char *name, const struct trace_limits *limits, struct err *e)
{
	struct input *in = input_new(limits);

	input_raw_open_fd(&in->raw, fd, name);
	return finish_open(out, in, OK, e);
}

int input_open_memory(struct input **out, struct str bytes, const char *name, const struct trace_limits *limits,
	struct err *e)
{
	struct input *in = input_new(limits);

	input_raw_open_memory(&in->raw, bytes, name);
	return finish_open(out, in, OK, e);
}

int input_open_pull(struct input **out, input_pull *pull, void *arg, uint64_t size, const char *name,
	const struct trace_limits *limits, struct err *e)
{
	struct input *in = input_new(limits);

	input_raw_open_pull(&in->raw, pull, arg, size, name);
	return finish_open(out, in, OK, e);
}

void input_watch(struct input *in, const struct trace_watcher *watcher)
{
	in->watcher = *watcher;
}

void input_close(struct input *in)
{
	if (in == NULL)
		return;
	ahead_stop(in->ahead);
	if (in->codec != NULL)
		in->codec->close(in->state);
	input_raw_close(&in->raw);
	mem_free(in->out);
	mem_free(in);
}

static int check_output(const struct input *in, struct err *e)
{
	uint64_t taken = in->raw.bytes - in->pending.n;

	if (in->bytes > in->limits.max_output_bytes)
		return err_set(e, E_LIMIT, "%s: more than %llu bytes come out of it (--max-output)", in->raw.name,
			(unsigned long long)in->limits.max_output_bytes);
	if (in->limits.max_ratio > 0 && in->bytes > RATIO_FROM_BYTES && in->bytes / in->limits.max_ratio >= taken)
		return err_set(e, E_LIMIT,
			"%s: %llu bytes came out of %llu, more than %llu for each: this looks like a bomb", in->raw.name,
			(unsigned long long)in->bytes, (unsigned long long)taken,
			(unsigned long long)in->limits.max_ratio);
	return OK;
}

static int check_plain(const struct input *in, struct err *e)
{
	if (in->limits.max_plain_bytes == 0 || in->bytes <= in->limits.max_plain_bytes)
		return OK;
	return err_set(e, E_LIMIT, "%s: has more than %llu bytes", in->raw.name, (unsigned long long)in->limits.max_plain_bytes);
}

int input_peek(struct input *in, struct str *block, struct err *e)
{
	int rc = in->peeked.n > 0 ? OK : input_next(in, &in->peeked, e);

	*block = in->peeked;
	return rc;
}

int input_decode(struct input *in, char *out, struct str *block, struct err *e)
{
	size_t n = 0;
	int rc;

	*block = STR("");
	if (in->end)
		return OK;
	if (in->codec == NULL) {
		rc = input_refill(in, e);
		*block = in->pending;
		in->pending.n = 0;
	} else {
		rc = in->codec->next(in, in->state, out, &n, e);
		*block = str_make(out, n);
	}
	if (rc < 0)
		return rc;
	in->end = block->n == 0;
	in->bytes += block->n;
	rc = in->codec == NULL ? check_plain(in, e) : check_output(in, e);
	if (rc < 0)
		*block = STR("");
	return rc;
}

int input_next(struct input *in, struct str *block, struct err *e)
{
	int rc = OK;

	*block = in->peeked;
	in->peeked = STR("");
	if (block->n == 0)
		rc = in->ahead != NULL ? ahead_next(in->ahead, block, e) : input_decode(in, in->out, block, e);
	if (in->watcher.block != NULL && rc == OK && block->n > 0)
		in->watcher.block(in->watcher.arg, in);
	return rc;
}

void input_ahead(struct input *in)
{
	must(in->ahead == NULL);
	if (in->codec != NULL && !in->end)
		in->ahead = ahead_new(in);
}

struct trace_report input_snapshot(const struct input *in)
{
	struct trace_report r = in->report;

	r.bytes = in->bytes;
	r.raw_bytes = in->raw.bytes;
	return r;
}

/* As far as the caller has seen it. */
static struct trace_report seen(const struct input *in)
{
	return in->ahead != NULL ? *ahead_report(in->ahead) : input_snapshot(in);
}

void input_report(const struct input *in, struct trace_report *r)
{
	const struct trace_report now = seen(in);

	r->bytes = now.bytes;
	r->raw_bytes = now.raw_bytes;
	for (int reason = 0; reason < TRACE_REASONS; reason++) {
		const struct trace_skip *s = trace_report_find(&now, (enum trace_reason)reason);

		if (s != NULL)
			trace_report_add(r, (enum trace_reason)reason, s->count, s->offset);
	}
}

void input_without_hash(struct input *in)
{
	must(in->ahead == NULL);
	hash128_free(in->raw.hash);
	in->raw.hash = NULL;
}

int input_hash(struct input *in, uint8_t out[INPUT_HASH], struct err *e)
{
	struct str block;
	int rc;

	ahead_stop(in->ahead);
	in->ahead = NULL;
	do
		rc = input_raw_next(&in->raw, &block, e);
	while (rc == OK && block.n > 0);
	hash128_get(in->raw.hash, out);
	return rc;
}

uint64_t input_raw_bytes(const struct input *in)
{
	return seen(in).raw_bytes;
}

uint64_t input_raw_size(const struct input *in)
{
	return in->raw.size;
}

int64_t input_mtime_ns(const struct input *in)
{
	return in->raw.mtime_ns;
}
