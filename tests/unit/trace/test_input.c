#include "trace/input.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/hash.h"
#include "tests/support/prop.h"
#include "tests/unit/trace/help.h"
#include "trace/crc32.h"

Suite *suite_input(void);

static const struct trace_limits limits = TRACE_LIMITS_DEFAULT;

static bool ahead; /* every test but the last runs without and with a thread that decompresses */

static void with_thread(void)
{
	ahead = true;
}

static int open_bytes(struct input **in, struct str raw, const char *name, const struct trace_limits *under, struct err *e)
{
	int rc = input_open_memory(in, raw, name, under, e);

	if (rc == OK && ahead)
		input_ahead(*in);
	return rc;
}

/* All that comes out, and what was wrong. */
static int read_all(struct input *in, struct buf *out, struct trace_report *report, struct err *e)
{
	struct str block;
	int rc;

	do {
		rc = input_next(in, &block, e);
		buf_str(out, block);
	} while (rc == OK && block.n > 0);
	*report = (struct trace_report){ 0 };
	input_report(in, report);
	return rc;
}

/* "N bytes: report" of reading raw; where expect is not NULL the bytes must be those it starts with. */
static void check_bytes(struct str raw, struct str expect, const char *want)
{
	struct input *in = NULL;
	struct trace_report report;
	struct err e = { 0 };
	struct buf out, said;

	buf_init(&out, 64 << 20);
	buf_init(&said, 4096);
	ck_assert_msg(open_bytes(&in, raw, "x", &limits, &e) == OK, "%s", e.text);
	ck_assert_int_eq(read_all(in, &out, &report, &e), OK);
	buf_fmt(&said, "%zu bytes: ", out.n);
	help_report(&report, &said);
	ck_assert_str_eq(buf_view(&said).p, want);
	ck_assert(str_has_prefix(expect, buf_view(&out)));
	ck_assert_uint_eq(report.bytes, out.n);
	ck_assert_uint_eq(report.raw_bytes, raw.n);
	input_close(in);
	buf_fini(&out);
	buf_fini(&said);
}

/* Text that does not compress to nothing: numbers from a small generator. */
static void make_text(struct buf *b, size_t n)
{
	uint32_t x = 1;

	while (b->n < n) {
		x = x * 1664525 + 1013904223;
		buf_fmt(b, "%u\n", x);
	}
	buf_trim(b, n);
}

START_TEST(text_is_handed_out_as_it_stands)
{
	check_bytes(STR("[]"), STR("[]"), "2 bytes:  |");
	check_bytes(STR(""), STR(""), "0 bytes:  |");
}
END_TEST

START_TEST(gzip_and_zstd_are_told_by_their_first_bytes)
{
	struct buf text, raw;

	buf_init(&text, 4 << 20);
	buf_init(&raw, 4 << 20);
	make_text(&text, 1000000);
	help_gzip(buf_view(&text), &raw);
	check_bytes(buf_view(&raw), buf_view(&text), "1000000 bytes:  |");
	buf_reset(&raw);
	help_zstd(buf_view(&text), &raw);
	check_bytes(buf_view(&raw), buf_view(&text), "1000000 bytes:  |");
	buf_fini(&text);
	buf_fini(&raw);
}
END_TEST

START_TEST(several_members_are_one_text)
{
	struct buf raw;

	buf_init(&raw, 1 << 20);
	help_gzip(STR("one "), &raw);
	help_gzip(STR(""), &raw);
	help_gzip(STR("two"), &raw);
	check_bytes(buf_view(&raw), STR("one two"), "7 bytes:  |");
	buf_fill(&raw, 0, 512); /* as tapes and some file systems leave it */
	check_bytes(buf_view(&raw), STR("one two"), "7 bytes:  |");
	buf_reset(&raw);
	help_zstd(STR("one "), &raw);
	help_zstd(STR("two"), &raw);
	check_bytes(buf_view(&raw), STR("one two"), "7 bytes:  |");
	buf_fini(&raw);
}
END_TEST

START_TEST(bytes_behind_the_last_member_are_told)
{
	struct buf raw;

	buf_init(&raw, 1 << 20);
	help_gzip(STR("text"), &raw);
	buf_text(&raw, "x");
	check_bytes(buf_view(&raw), STR("text"), "4 bytes:  | 1 trailing_garbage");
	buf_text(&raw, "yz and more");
	check_bytes(buf_view(&raw), STR("text"), "4 bytes:  | 1 trailing_garbage");
	buf_reset(&raw);
	help_zstd(STR("text"), &raw);
	buf_text(&raw, "and something that is no frame at all");
	check_bytes(buf_view(&raw), STR("text"), "4 bytes:  | 1 trailing_garbage");
	buf_fini(&raw);
}
END_TEST

START_TEST(a_wrong_checksum_is_told_and_reading_goes_on)
{
	struct buf raw;
	size_t end;

	buf_init(&raw, 1 << 20);
	help_gzip(STR("one "), &raw);
	end = raw.n;
	help_gzip(STR("two"), &raw);
	raw.p[end - 8] ^= 1; /* CRC of the first */
	check_bytes(buf_view(&raw), STR("one two"), "7 bytes: 1 bad_checksum@4 |");
	raw.p[end - 8] ^= 1;
	raw.p[raw.n - 1] ^= 1; /* length of the second */
	check_bytes(buf_view(&raw), STR("one two"), "7 bytes: 1 bad_checksum@7 |");
	buf_reset(&raw);
	help_zstd(STR("some text that is read before its checksum is"), &raw);
	raw.p[raw.n - 1] ^= 1;
	check_bytes(buf_view(&raw), STR("some text that is read before its checksum is"),
		"45 bytes: 1 bad_checksum@45 |");
	buf_fini(&raw);
}
END_TEST

/* A member with every optional part of a header (RFC 1952, 2.3.1), the first of them of extra bytes. */
static void gzip_in_full(struct str text, size_t extra, struct buf *raw)
{
	static const size_t plain_header = 10;
	struct buf plain;
	size_t from = raw->n;
	uint32_t crc;

	buf_init(&plain, 4 << 20);
	help_gzip(text, &plain);
	plain.p[3] = 2 | 4 | 8 | 16; /* FHCRC, FEXTRA, FNAME, FCOMMENT */
	buf_add(raw, plain.p, plain_header);
	buf_byte(raw, (uint8_t)extra);
	buf_byte(raw, (uint8_t)(extra >> 8));
	buf_fill(raw, 'e', extra);
	buf_add(raw, "trace.json", 11);
	buf_add(raw, "of one rank", 12);
	crc = crc32_add(0, raw->p + from, raw->n - from);
	buf_byte(raw, (uint8_t)crc);
	buf_byte(raw, (uint8_t)(crc >> 8));
	buf_str(raw, str_from(buf_view(&plain), plain_header));
	buf_fini(&plain);
}

/* The first member ends so that each byte of its trailer and of the second one's header in turn is the last of a block. */
START_TEST(trailers_and_headers_may_be_cut_by_the_end_of_a_block)
{
	struct buf text, both, raw;
	size_t bare;

	buf_init(&text, 4 << 20);
	buf_init(&both, 4 << 20);
	buf_init(&raw, 4 << 20);
	make_text(&text, 500000);
	buf_str(&both, buf_view(&text));
	buf_text(&both, "and the second");
	gzip_in_full(buf_view(&text), 0, &raw);
	bare = raw.n;
	ck_assert_uint_lt(bare, INPUT_BLOCK);
	ck_assert_uint_gt(bare + 65535, INPUT_BLOCK);
	for (size_t end = INPUT_BLOCK - 50; end < INPUT_BLOCK + 10; end++) {
		buf_reset(&raw);
		gzip_in_full(buf_view(&text), end - bare, &raw);
		ck_assert_uint_eq(raw.n, end);
		gzip_in_full(STR("and the second"), 3, &raw);
		check_bytes(buf_view(&raw), buf_view(&both), "500014 bytes:  |");
	}
	buf_trim(&text, INPUT_BLOCK);
	buf_reset(&raw);
	help_gzip(buf_view(&text), &raw);
	check_bytes(buf_view(&raw), buf_view(&text), "262144 bytes:  |");
	for (size_t less = 1; less <= 8; less++)
		check_bytes(str_upto(buf_view(&raw), raw.n - less), buf_view(&text), "262144 bytes: 1 truncated@262144 |");
	buf_fini(&text);
	buf_fini(&both);
	buf_fini(&raw);
}
END_TEST

START_TEST(a_wrong_checksum_of_the_header_is_damage)
{
	struct buf raw;

	buf_init(&raw, 1 << 20);
	gzip_in_full(STR("text"), 3, &raw);
	check_bytes(buf_view(&raw), STR("text"), "4 bytes:  |");
	raw.p[14] ^= 1;
	check_bytes(buf_view(&raw), STR(""), "0 bytes: 1 bad_data@0 |");
	buf_fini(&raw);
}
END_TEST

/* What can be read of a file cut at n sixteenths: a beginning of the text, and the word "truncated". */
START_TEST(a_file_cut_anywhere_gives_what_stands_before_the_cut)
{
	struct buf text, raw;
	size_t before = 0;

	buf_init(&text, 4 << 20);
	buf_init(&raw, 4 << 20);
	make_text(&text, 700000);
	if (_i == 0)
		help_gzip(buf_view(&text), &raw);
	else
		help_zstd(buf_view(&text), &raw);
	for (size_t part = 1; part < 16; part++) {
		struct input *in = NULL;
		struct trace_report report;
		struct err e = { 0 };
		struct buf out;

		buf_init(&out, 4 << 20);
		ck_assert_int_eq(open_bytes(&in, str_upto(buf_view(&raw), raw.n * part / 16), "x", &limits, &e), OK);
		ck_assert_int_eq(read_all(in, &out, &report, &e), OK);
		ck_assert(str_has_prefix(buf_view(&text), buf_view(&out)));
		ck_assert_ptr_nonnull(trace_report_find(&report, TRACE_TRUNCATED));
		ck_assert_uint_eq(trace_report_find(&report, TRACE_TRUNCATED)->offset, out.n);
		ck_assert_uint_ge(out.n, before);
		before = out.n;
		input_close(in);
		buf_fini(&out);
	}
	ck_assert_uint_gt(before, 300000);
	buf_fini(&text);
	buf_fini(&raw);
}
END_TEST

/* All that zlib makes of raw where it has room for it at once. */
static size_t inflated_at_once(struct str raw, char *out, size_t room)
{
	z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)raw.p, .avail_in = (uInt)raw.n };

	ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)room;
	(void)inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	return room - z.avail_out;
}

/* The last bytes of a cut file may fill a block and stand for more than it has room for: copies are of up to 258 bytes. */
START_TEST(what_the_last_bytes_of_a_cut_file_stand_for_is_not_lost)
{
	enum { ROOM = 4 << 20 };
	struct buf numbers, text, raw;
	char *all = mem_get(ROOM);

	buf_init(&numbers, ROOM);
	buf_init(&text, ROOM);
	buf_init(&raw, ROOM);
	make_text(&numbers, INPUT_BLOCK - 150);
	buf_str(&text, buf_view(&numbers));
	for (size_t i = 0; i < 40; i++)
		buf_str(&text, str_upto(str_from(buf_view(&numbers), numbers.n - 30000 + i * 500), 250));
	help_gzip(buf_view(&text), &raw);
	for (size_t n = raw.n - 200; n < raw.n; n++) {
		struct str cut = str_upto(buf_view(&raw), n);
		size_t want = inflated_at_once(cut, all, ROOM);
		struct input *in = NULL;
		struct trace_report report;
		struct err e = { 0 };
		struct buf out;

		buf_init(&out, ROOM);
		ck_assert_int_eq(open_bytes(&in, cut, "x", &limits, &e), OK);
		ck_assert_int_eq(read_all(in, &out, &report, &e), OK);
		ck_assert(str_has_prefix(buf_view(&text), buf_view(&out)));
		ck_assert_uint_le(out.n, want);
		ck_assert_uint_gt(out.n + 4, want); /* ISA-L keeps the last letters to itself */
		ck_assert_ptr_nonnull(trace_report_find(&report, TRACE_TRUNCATED));
		input_close(in);
		buf_fini(&out);
	}
	mem_free(all);
	buf_fini(&numbers);
	buf_fini(&text);
	buf_fini(&raw);
}
END_TEST

START_TEST(damage_inside_ends_the_text_there)
{
	struct buf text, raw, said;
	struct input *in = NULL;
	struct trace_report report;
	struct err e = { 0 };

	buf_init(&text, 4 << 20);
	buf_init(&raw, 4 << 20);
	buf_init(&said, 4 << 20);
	make_text(&text, 700000);
	help_gzip(buf_view(&text), &raw);
	memset(raw.p + raw.n / 2, 0xff, 64);
	ck_assert_int_eq(open_bytes(&in, buf_view(&raw), "x", &limits, &e), OK);
	ck_assert_int_eq(read_all(in, &said, &report, &e), OK);
	ck_assert_uint_gt(said.n, 100000);
	ck_assert_uint_eq(report.n_skips, 1);
	ck_assert(str_eq(str_of(report.skips[0].reason), STR("bad_data")) ||
		  str_eq(str_of(report.skips[0].reason), STR("bad_checksum")));
	input_close(in);
	buf_fini(&said);
	buf_fini(&text);
	buf_fini(&raw);
}
END_TEST

/* 64 MiB of zeros in 64 KiB. */
START_TEST(a_bomb_is_refused_by_its_ratio)
{
	struct buf zeros, raw, out;
	struct input *in = NULL;
	struct trace_report report;
	struct trace_limits strict = limits;
	struct err e = { 0 };

	buf_init(&zeros, 65 << 20);
	buf_init(&raw, 80 << 20);
	buf_init(&out, 65 << 20);
	buf_fill(&zeros, 0, 64 << 20);
	help_gzip(buf_view(&zeros), &raw);
	ck_assert_int_eq(open_bytes(&in, buf_view(&raw), "bomb.gz", &strict, &e), OK);
	ck_assert_int_eq(read_all(in, &out, &report, &e), E_LIMIT);
	ck_assert(str_has_prefix(str_of(e.text), STR("bomb.gz: ")));
	ck_assert_uint_lt(out.n, 4 << 20);
	input_close(in);
	buf_fini(&zeros);
	buf_fini(&raw);
	buf_fini(&out);
}
END_TEST

/* How many bytes of a plain text of 100,000 are allowed, and whether that is enough. */
static const struct {
	uint64_t max;
	int rc;
} plain_limits[] = { { 0, OK }, { 99999, E_LIMIT }, { 100000, OK }, { 200000, OK } };

START_TEST(a_plain_file_may_be_of_any_length_unless_somebody_minds)
{
	struct buf text, out;
	struct input *in = NULL;
	struct trace_report report;
	struct trace_limits strict = limits;
	struct err e = { 0 };

	strict.max_output_bytes = 1;
	strict.max_plain_bytes = plain_limits[_i].max;
	buf_init(&text, 4 << 20);
	buf_init(&out, 4 << 20);
	make_text(&text, 100000);
	buf_trim(&text, 100000);
	ck_assert_int_eq(open_bytes(&in, buf_view(&text), "x.json", &strict, &e), OK);
	ck_assert_int_eq(read_all(in, &out, &report, &e), plain_limits[_i].rc);
	ck_assert_str_eq(e.text, plain_limits[_i].rc == OK ? "" : "x.json: has more than 99999 bytes");
	input_close(in);
	buf_fini(&text);
	buf_fini(&out);
}
END_TEST

START_TEST(no_more_comes_out_than_allowed)
{
	struct buf text, raw, out;
	struct input *in = NULL;
	struct trace_report report;
	struct trace_limits strict = limits;
	struct err e = { 0 };

	strict.max_output_bytes = 500000;
	buf_init(&text, 4 << 20);
	buf_init(&raw, 4 << 20);
	buf_init(&out, 4 << 20);
	make_text(&text, 2000000);
	help_zstd(buf_view(&text), &raw);
	ck_assert_int_eq(open_bytes(&in, buf_view(&raw), "x.zst", &strict, &e), OK);
	ck_assert_int_eq(read_all(in, &out, &report, &e), E_LIMIT);
	ck_assert_str_eq(e.text, "x.zst: more than 500000 bytes come out of it (--max-output)");
	ck_assert_uint_le(out.n, 500000);
	input_close(in);
	buf_fini(&text);
	buf_fini(&raw);
	buf_fini(&out);
}
END_TEST

START_TEST(archives_and_missing_files_are_refused_with_a_reason)
{
	struct input *in = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(open_bytes(&in, STR("PK\003\004 and so on"), "t.zip", &limits, &e), E_UNSUPPORTED);
	ck_assert_str_eq(e.text, "t.zip: this is no trace but a zip archive: unpack it first");
	ck_assert_ptr_null(in);
	ck_assert_int_eq(input_open(&in, "/nonexistent/trace.json", &limits, &e), E_NOT_FOUND);
	ck_assert(str_has_prefix(str_of(e.text), STR("/nonexistent/trace.json: ")));
	ck_assert_int_eq(input_open(&in, "/tmp", &limits, &e), E_SYS);
	ck_assert_ptr_null(in);
	input_close(NULL);
}
END_TEST

/* The hash is of the file as it stands, compressed and to its last byte, whoever stops reading before. */
START_TEST(the_hash_is_of_all_raw_bytes)
{
	struct hash128 *h = hash128_new();
	uint8_t want[16], got[INPUT_HASH];
	struct input *in = NULL;
	struct err e = { 0 };
	struct buf text, raw;
	const char *path;

	buf_init(&text, 4 << 20);
	buf_init(&raw, 4 << 20);
	make_text(&text, 900000);
	help_gzip(buf_view(&text), &raw);
	buf_text(&raw, "behind");
	hash128_add(h, raw.p, raw.n);
	hash128_get(h, want);
	path = help_write("t.gz", buf_view(&raw));
	ck_assert_int_eq(input_open(&in, path, &limits, &e), OK);
	if (ahead)
		input_ahead(in);
	ck_assert_uint_eq(input_raw_size(in), raw.n);
	ck_assert_int_gt(input_mtime_ns(in), 0);
	ck_assert_int_eq(input_hash(in, got, &e), OK);
	ck_assert_mem_eq(got, want, 16);
	input_close(in);
	hash128_free(h);
	help_dir_drop();
	buf_fini(&text);
	buf_fini(&raw);
}
END_TEST

START_TEST(a_pipe_is_read_to_its_end)
{
	struct input *in = NULL;
	struct trace_report report;
	struct err e = { 0 };
	struct buf out;
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(write(fd[1], "[1,", 3), 3);
	ck_assert_int_eq(write(fd[1], "2]", 2), 2);
	close(fd[1]);
	buf_init(&out, 4096);
	ck_assert_int_eq(input_open_fd(&in, fd[0], "standard input", &limits, &e), OK);
	ck_assert_int_eq(read_all(in, &out, &report, &e), OK);
	ck_assert_str_eq(buf_view(&out).p, "[1,2]");
	ck_assert_uint_eq(input_raw_size(in), 0);
	input_close(in);
	close(fd[0]);
	buf_fini(&out);
}
END_TEST

/* Random text, compressed, in several members, damaged: block for block the same, and the same report, both ways. */
static void make_raw(struct rand_gen *g, size_t size, struct buf *raw)
{
	bool gzip = rand_below(g, 2);
	struct buf text;

	buf_init(&text, 8 << 20);
	for (uint64_t members = 1 + rand_below(g, 3); members > 0; members--) {
		buf_reset(&text);
		make_text(&text, rand_below(g, size * 50000 + 1));
		if (gzip)
			help_gzip(buf_view(&text), raw);
		else
			help_zstd(buf_view(&text), raw);
	}
	buf_fini(&text);
	for (uint64_t n = rand_below(g, 3); n > 0; n--)
		raw->p[4 + rand_below(g, raw->n - 4)] ^= (char)(1 + rand_below(g, 255));
	if (rand_below(g, 3) == 0)
		buf_trim(raw, 4 + rand_below(g, raw->n - 4));
	if (rand_below(g, 3) == 0)
		buf_text(raw, "behind");
}

static bool same_reports(const struct trace_report *a, const struct trace_report *b)
{
	struct buf one, two;
	bool same;

	buf_init(&one, 4096);
	buf_init(&two, 4096);
	help_report(a, &one);
	help_report(b, &two);
	same = str_eq(buf_view(&one), buf_view(&two)) && a->bytes == b->bytes && a->raw_bytes == b->raw_bytes;
	buf_fini(&one);
	buf_fini(&two);
	return same;
}

static bool thread_changes_nothing(struct rand_gen *g, size_t size, void *arg)
{
	struct input *in[2] = { NULL };
	struct err e[2] = { { 0 } };
	struct buf raw;
	bool same = true, more = true;

	(void)arg;
	buf_init(&raw, 8 << 20);
	make_raw(g, size, &raw);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(input_open_memory(&in[i], buf_view(&raw), "x", &limits, &e[i]), OK);
	input_ahead(in[1]);
	while (same && more) {
		struct trace_report report[2] = { { 0 } };
		struct str block[2];
		int rc[2];

		for (int i = 0; i < 2; i++) {
			rc[i] = input_next(in[i], &block[i], &e[i]);
			input_report(in[i], &report[i]);
		}
		same = rc[0] == rc[1] && str_eq(block[0], block[1]) && same_reports(&report[0], &report[1]);
		more = rc[0] == OK && block[0].n > 0;
	}
	input_close(in[0]);
	input_close(in[1]);
	buf_fini(&raw);
	return same;
}

START_TEST(a_thread_ahead_gives_the_same_blocks_and_reports)
{
	prop_check("a thread ahead changes nothing", 150, 30, thread_changes_nothing, NULL);
}
END_TEST

START_TEST(whoever_stops_half_way_stops_the_thread)
{
	struct buf text, raw;
	uint8_t hash[2][INPUT_HASH];

	buf_init(&text, 9 << 20);
	buf_init(&raw, 9 << 20);
	make_text(&text, 8 << 20); /* more blocks than the thread may be ahead */
	help_gzip(buf_view(&text), &raw);
	for (int blocks = 0; blocks < 4; blocks++) {
		for (int i = 0; i < 2; i++) {
			struct input *in = NULL;
			struct str block;
			struct err e = { 0 };

			ck_assert_int_eq(input_open_memory(&in, buf_view(&raw), "x", &limits, &e), OK);
			ck_assert_int_eq(input_peek(in, &block, &e), OK);
			if (i == 1)
				input_ahead(in);
			for (int n = 0; n < blocks; n++)
				ck_assert_int_eq(input_next(in, &block, &e), OK);
			ck_assert(blocks == 0 || str_has_prefix(str_from(buf_view(&text), (size_t)(blocks - 1) * INPUT_BLOCK), block));
			if (blocks != 2) /* else closed without a hash */
				ck_assert_int_eq(input_hash(in, hash[i], &e), OK);
			input_close(in);
		}
		ck_assert(blocks == 2 || memcmp(hash[0], hash[1], INPUT_HASH) == 0);
	}
	buf_fini(&text);
	buf_fini(&raw);
}
END_TEST

/* ---- bytes that somebody else brings */
struct giver {
	struct str rest;
	size_t piece;
	unsigned seen; /* blocks that the watcher saw */
};

static int give(void *arg, char *dst, size_t room, size_t *n, struct err *e)
{
	struct giver *g = arg;
	struct str part = str_upto(g->rest, g->piece < room ? g->piece : room);

	if (g->piece == 0)
		return err_set(e, E_SYS, "nothing more to give");
	if (part.n > 0)
		memcpy(dst, part.p, part.n);
	*n = part.n;
	g->rest = str_from(g->rest, part.n);
	return OK;
}

static void see(void *arg, const struct input *in)
{
	struct giver *g = arg;

	ck_assert_uint_gt(input_raw_bytes(in), 0);
	g->seen++;
}

START_TEST(bytes_that_are_brought_in_pieces_are_read_as_a_file_is)
{
	static const size_t pieces[] = { 7, 4096, 1 << 20 };
	struct buf text, packed, out;
	struct trace_report report;
	struct err e = { 0 };

	buf_init(&text, 4 << 20);
	buf_init(&packed, 4 << 20);
	buf_init(&out, 4 << 20);
	make_text(&text, 700000);
	help_gzip(buf_view(&text), &packed);
	for (size_t i = 0; i < COUNT(pieces); i++) {
		struct giver g = { buf_view(&packed), pieces[i], 0 };
		const struct trace_watcher watcher = { see, &g };
		struct input *in = NULL;

		buf_reset(&out);
		ck_assert_int_eq(input_open_pull(&in, give, &g, packed.n, "member", &limits, &e), OK);
		ck_assert_uint_eq(input_raw_size(in), packed.n);
		input_watch(in, &watcher);
		ck_assert_int_eq(read_all(in, &out, &report, &e), OK);
		ck_assert(str_eq(buf_view(&out), buf_view(&text)));
		ck_assert_uint_eq(report.raw_bytes, packed.n);
		ck_assert_uint_eq(g.seen, 3); /* blocks of 256 KiB */
		input_close(in);
	}
	buf_fini(&text);
	buf_fini(&packed);
	buf_fini(&out);
}
END_TEST

START_TEST(who_brings_bytes_may_fail)
{
	struct giver g = { STR("x"), 0, 0 };
	struct input *in = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(input_open_pull(&in, give, &g, 0, "member", &limits, &e), E_SYS);
	ck_assert_str_eq(e.text, "nothing more to give");
	ck_assert_ptr_null(in);
}
END_TEST

static TCase *case_of_all(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_test(tc, text_is_handed_out_as_it_stands);
	tcase_add_test(tc, bytes_that_are_brought_in_pieces_are_read_as_a_file_is);
	tcase_add_test(tc, who_brings_bytes_may_fail);
	tcase_add_test(tc, gzip_and_zstd_are_told_by_their_first_bytes);
	tcase_add_test(tc, several_members_are_one_text);
	tcase_add_test(tc, bytes_behind_the_last_member_are_told);
	tcase_add_test(tc, a_wrong_checksum_is_told_and_reading_goes_on);
	tcase_add_test(tc, trailers_and_headers_may_be_cut_by_the_end_of_a_block);
	tcase_add_test(tc, a_wrong_checksum_of_the_header_is_damage);
	tcase_add_loop_test(tc, a_file_cut_anywhere_gives_what_stands_before_the_cut, 0, 2);
	tcase_add_test(tc, what_the_last_bytes_of_a_cut_file_stand_for_is_not_lost);
	tcase_add_test(tc, damage_inside_ends_the_text_there);
	tcase_add_test(tc, a_bomb_is_refused_by_its_ratio);
	tcase_add_loop_test(tc, a_plain_file_may_be_of_any_length_unless_somebody_minds, 0, COUNT(plain_limits));
	tcase_add_test(tc, no_more_comes_out_than_allowed);
	tcase_add_test(tc, archives_and_missing_files_are_refused_with_a_reason);
	tcase_add_test(tc, the_hash_is_of_all_raw_bytes);
	tcase_add_test(tc, a_pipe_is_read_to_its_end);
	return tc;
}

Suite *suite_input(void)
{
	Suite *s = suite_create("trace/input");
	TCase *alone = case_of_all("alone"), *thread = case_of_all("with a thread"), *both = tcase_create("both");

	tcase_add_checked_fixture(thread, with_thread, NULL);
	tcase_set_timeout(both, 240);
	tcase_add_test(both, a_thread_ahead_gives_the_same_blocks_and_reports);
	tcase_add_test(both, whoever_stops_half_way_stops_the_thread);
	suite_add_tcase(s, alone);
	suite_add_tcase(s, thread);
	suite_add_tcase(s, both);
	return s;
}
