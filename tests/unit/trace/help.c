#include "tests/unit/trace/help.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"
#include "trace/tar.h"

static struct trace *read_blocks(struct str text, size_t block, unsigned want, struct trace_report *report)
{
	struct trace_reader *r = trace_reader_new(1000000);
	struct trace_report unused = { 0 };
	struct trace *t = NULL;
	struct err e = { 0 };
	int rc = OK;

	trace_reader_want(r, want);
	report = report == NULL ? &unused : report;
	*report = (struct trace_report){ .bytes = text.n };
	for (size_t at = 0, n; rc == OK && at < text.n; at += n) {
		/* A copy of the exact size, so that a sanitizer sees a byte read too far. */
		char *copy;

		n = block == 0 || block > text.n - at ? text.n - at : block;
		copy = mem_dup(text.p + at, n);
		rc = trace_reader_feed(r, str_make(copy, n), &e);
		mem_free(copy);
	}
	if (rc == OK)
		rc = trace_reader_end(r, report, &t, &e);
	ck_assert_msg(rc == OK, "%s", e.text);
	trace_reader_free(r);
	return t;
}

struct trace *help_read(struct str text, size_t block, struct trace_report *report)
{
	return read_blocks(text, block, 0, report);
}

struct trace *help_read_more(struct str text, unsigned want)
{
	return read_blocks(text, 0, want, NULL);
}

void help_table(struct trace *t, struct buf *out)
{
	struct keyavg_table kt;
	struct err e = { 0 };

	ck_assert_int_eq(keyavg_table_make(&kt, t, &e), OK);
	for (size_t i = 0; i < kt.n; i++) {
		const struct keyavg_row *r = &kt.v[i];

		buf_str(out, r->name);
		buf_fmt(out, " %d %d %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, r->is_device,
			r->is_user_annotation, r->count, r->self_cpu_ns, r->cpu_total_ns, r->self_device_ns,
			r->device_total_ns);
		if (kt.want & TRACE_SHAPES)
			buf_fmt(out, " %.*s", STR_ARG(r->dims));
		if (kt.want & TRACE_MEMORY)
			buf_fmt(out, " %" PRId64 ",%" PRId64 " %" PRId64 ",%" PRId64, r->bytes[MEMORY_CPU],
				r->self_bytes[MEMORY_CPU], r->bytes[MEMORY_DEVICE], r->self_bytes[MEMORY_DEVICE]);
		buf_byte(out, '\n');
	}
	keyavg_table_fini(&kt);
}

void help_expect(const char *text, const char *table)
{
	help_expect_more(text, 0, table);
}

void help_expect_more(const char *text, unsigned want, const char *table)
{
	struct trace *t = help_read_more(str_of(text), want);
	struct buf b;

	buf_init(&b, 1 << 20);
	help_table(t, &b);
	ck_assert_str_eq(buf_view(&b).p, table);
	buf_fini(&b);
	trace_free(t);
}

void help_begin(struct buf *b)
{
	buf_text(b, "{\"traceEvents\":[");
}

void help_event(struct buf *b, const char *cat, const char *name, int tid, double ts, double dur, const char *args)
{
	if (b->n > 0 && b->p[b->n - 1] == '}')
		buf_text(b, ",");
	buf_fmt(b, "\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f", cat, name,
		tid, ts, dur);
	if (args != NULL)
		buf_fmt(b, ",\"args\":{%s}", args);
	buf_text(b, "}");
}

void help_alloc(struct buf *b, double ts, int device_type, int64_t bytes)
{
	if (b->n > 0 && b->p[b->n - 1] == '}')
		buf_text(b, ",");
	buf_fmt(b, "\n{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":9,\"tid\":9,\"ts\":%.3f,\"args\":{\"Total Allocated\":0,"
		   "\"Bytes\":%" PRId64 ",\"Device Type\":%d}}",
		ts, bytes, device_type);
}

void help_end(struct buf *b)
{
	buf_text(b, "\n]}\n");
}

void help_report(const struct trace_report *r, struct buf *out)
{
	for (size_t i = 0; i < r->n_skips; i++)
		buf_fmt(out, "%s%" PRIu64 " %s@%" PRIu64, i == 0 ? "" : ", ", r->skips[i].count, r->skips[i].reason,
			r->skips[i].offset);
	buf_text(out, " |");
	for (size_t i = 0; i < r->n_notes; i++)
		buf_fmt(out, " %" PRIu64 " %s", r->notes[i].count, r->notes[i].reason);
}

/* ---- files */
static char dir[64];
static char paths[32][128];
static size_t n_paths;

const char *help_dir(void)
{
	if (dir[0] == '\0') {
		snprintf(dir, sizeof(dir), "/tmp/test-trace-XXXXXX");
		ck_assert_ptr_nonnull(mkdtemp(dir));
	}
	return dir;
}

const char *help_write(const char *name, struct str content)
{
	struct err e = { 0 };
	char *path = paths[n_paths];

	ck_assert_uint_lt(n_paths, COUNT(paths));
	n_paths++;
	snprintf(path, sizeof(paths[0]), "%s/%s", help_dir(), name);
	ck_assert_msg(file_replace(path, content, 0600, &e) == OK, "%s", e.text);
	return path;
}

void help_dir_drop(void)
{
	while (n_paths > 0)
		unlink(paths[--n_paths]);
	if (dir[0] != '\0')
		rmdir(dir);
	dir[0] = '\0';
}

/* ---- compression */
void help_gzip(struct str text, struct buf *out)
{
	z_stream z = { 0 };
	size_t room = compressBound(text.n) + 32;
	Bytef *p = buf_room(out, room);

	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (z_const Bytef *)(uintptr_t)text.p;
	z.avail_in = (uInt)text.n;
	z.next_out = p;
	z.avail_out = (uInt)room;
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	buf_used(out, room - z.avail_out);
	deflateEnd(&z);
}

void help_zstd(struct str text, struct buf *out)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(text.n), n;
	void *p = buf_room(out, room);

	ck_assert_ptr_nonnull(p);
	ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(ctx, p, room, text.p, text.n);
	ck_assert(!ZSTD_isError(n));
	buf_used(out, n);
	ZSTD_freeCCtx(ctx);
}

/* Did nobody take the failure? Then one of the next allocations is it. */
bool help_fails_still(void)
{
	for (int i = 0; i < 1000; i++) {
		void *p = mem_try(1);

		if (p == NULL)
			return true;
		mem_free(p);
	}
	return false;
}

/* ---- archives */

void help_tar_sum(char *header)
{
	unsigned sum = 0;

	memset(header + 148, ' ', 8);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
}

void help_tar_header(struct buf *tar, const char *name, const char *prefix, char type, size_t size, const char *magic)
{
	char h[TAR_BLOCK] = { 0 };

	memcpy(h, name, strlen(name) < 100 ? strlen(name) : 100);
	snprintf(h + 100, 8, "%07o", 0644u);
	snprintf(h + 124, 12, "%011zo", size);
	h[156] = type;
	memcpy(h + 257, magic, 8);
	memcpy(h + 345, prefix, strlen(prefix));
	help_tar_sum(h);
	buf_add(tar, h, sizeof(h));
}

void help_tar_content(struct buf *tar, struct str content)
{
	buf_str(tar, content);
	buf_fill(tar, '\0', (TAR_BLOCK - content.n % TAR_BLOCK) % TAR_BLOCK);
}

void help_tar_file(struct buf *tar, const char *name, struct str content)
{
	help_tar_header(tar, name, "", '0', content.n, "ustar\00000");
	help_tar_content(tar, content);
}

void help_tar_end(struct buf *tar)
{
	buf_fill(tar, '\0', 2 * TAR_BLOCK);
}
