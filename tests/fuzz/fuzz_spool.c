/* What a crash may have left in a spool's folder. The first byte says what is mended, as the fuzzer cannot guess a checksum:
 * 1 those of records, 2 that of the position; then 28 bytes of position; then segments, which "TSSPOOL1" starts. The spool
 * opens, hands out what is whole, takes a new record behind all that, and has it after it is opened again. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool.h"
#include "base/enc.h"
#include "base/file.h"
#include "base/must.h"
#include "tests/fuzz/fuzz.h"

enum { POSITION_BYTES = 28, SEGMENTS_MAX = 8, RECORDS_MAX = 100000, PATH_ROOM = 256, RECORD_HEAD = 12 };
enum { MEND_RECORDS = 1, MEND_POSITION = 2 };

static char folder[PATH_ROOM];

static void remove_folder(void)
{
	rmdir(folder);
}

/* Memory where there is a file system of it: every record is synced. */
static void make_folder(void)
{
	struct stat st;

	if (folder[0] != '\0')
		return;
	snprintf(folder, sizeof(folder), "%s/trainspotter-fuzz.XXXXXX", stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp");
	must(mkdtemp(folder) != NULL);
	atexit(remove_folder);
}

static void path_of(const char *name, char out[PATH_ROOM + 64])
{
	snprintf(out, PATH_ROOM + 64, "%s/%s", folder, name);
}

static void write_file(const char *name, struct str bytes)
{
	char path[PATH_ROOM + 64];
	int fd;

	path_of(name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && file_write_all(fd, bytes.p, bytes.n, path, NULL) == OK);
	close(fd);
}

static void clear(void)
{
	char path[PATH_ROOM + 64], name[32];

	path_of("lock", path);
	unlink(path);
	path_of("position", path);
	unlink(path);
	for (int i = 0; i <= SEGMENTS_MAX + 2; i++) {
		snprintf(name, sizeof(name), "%016x.seg", i);
		path_of(name, path);
		unlink(path);
	}
}

static void mend_records(struct buf *b)
{
	uint8_t *p = (uint8_t *)b->p;

	for (size_t i = 0; i + RECORD_HEAD <= b->n; i++) {
		size_t n;

		if (memcmp(p + i, "TSr1", 4) != 0)
			continue;
		n = enc_get32(p + i + 4);
		if (n <= b->n - i - RECORD_HEAD)
			enc_put32(p + i + 8, enc_crc32c(enc_crc32c(0, p + i + 4, 4), p + i + RECORD_HEAD, n));
	}
}

static void put_position(struct str *in, bool mend)
{
	uint8_t p[POSITION_BYTES] = { 0 };
	struct str bytes = str_upto(*in, POSITION_BYTES);

	*in = str_from(*in, bytes.n);
	if (bytes.n > 0)
		memcpy(p, bytes.p, bytes.n);
	if (mend) {
		memcpy(p, "TSSPOS_1", 8);
		enc_put64(p + 8, enc_get64(p + 8) % (SEGMENTS_MAX + 2)); /* a number that clear() knows */
		enc_put32(p + 24, enc_crc32c(0, p, 24));
	}
	write_file("position", str_make(p, mend ? sizeof(p) : bytes.n));
}

static void put_segments(struct str in, bool mend)
{
	struct str magic = STR("TSSPOOL1");
	struct buf b;
	char name[32];

	buf_init(&b, 1 << 20);
	for (int i = 1; i < SEGMENTS_MAX && in.n > 0; i++) {
		size_t n = 1 + str_find(str_from(in, 1), magic);

		buf_reset(&b);
		buf_str(&b, str_upto(in, n));
		if (mend)
			mend_records(&b);
		snprintf(name, sizeof(name), "%016x.seg", i);
		write_file(name, buf_view(&b));
		in = str_from(in, n);
	}
	buf_fini(&b);
}

/* How many records there are to read; the last one's content is left in body. */
static uint64_t read_all(struct spool *sp, struct buf *body)
{
	struct spool_place at = spool_first(sp);
	struct err e = { 0 };
	uint64_t n = 0;
	int rc;

	while ((rc = spool_read(sp, &at, body, &e)) == OK)
		must(++n < RECORDS_MAX);
	must(rc == E_NOT_FOUND);
	return n;
}

static struct spool *open_spool(void)
{
	const struct spool_settings settings = { .cap_bytes = 16 << 20, .segment_bytes = 4096 };
	struct spool *sp = NULL;
	struct err e = { 0 };

	if (spool_open(&sp, folder, &settings, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		must(false);
	}
	return sp;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = str_make(data, size), last = STR("the last one");
	unsigned mend = size > 0 ? data[0] : 0;
	struct spool *sp;
	struct buf body;
	uint64_t before, left;

	buf_init(&body, SPOOL_RECORD_MAX);
	make_folder();
	in = str_from(in, 1);
	put_position(&in, mend & MEND_POSITION);
	put_segments(in, mend & MEND_RECORDS);
	sp = open_spool();
	before = read_all(sp, &body);
	must(spool_append(sp, last, NULL) == OK);
	must(read_all(sp, &body) == before + 1 && str_eq(buf_view(&body), last));
	spool_close(sp);
	sp = open_spool();
	must(spool_state(sp)->torn == 0);
	must(read_all(sp, &body) == before + 1 && str_eq(buf_view(&body), last));
	spool_forget(sp, spool_end(sp));
	left = read_all(sp, &body);
	must(left == 0 && spool_state(sp)->records == 0);
	spool_close(sp);
	buf_fini(&body);
	clear();
	return 0;
}
