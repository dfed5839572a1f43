#include "trace/tar.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "tests/unit/trace/help.h"

Suite *suite_tar(void);

static struct buf tar;

static void up(void)
{
	buf_init(&tar, 16 << 20);
}

static void down(void)
{
	buf_fini(&tar);
}

static void put_header(const char *name, const char *prefix, char type, size_t size, const char *magic)
{
	help_tar_header(&tar, name, prefix, type, size, magic);
}

static void put_content(struct str content)
{
	help_tar_content(&tar, content);
}

static void put_file(const char *name, struct str content)
{
	help_tar_file(&tar, name, content);
}

static void put_end(void)
{
	help_tar_end(&tar);
}

/* "name size: content" a file, then the report. block: the archive's bytes come in gzip where it is true. */
static void tell(struct str bytes, struct buf *said)
{
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct input *in = NULL;
	struct trace_report report;
	struct tar_file f;
	struct tar *t;
	struct err e = { 0 };
	bool more;

	ck_assert_int_eq(input_open_memory(&in, bytes, "x", &limits, &e), OK);
	t = tar_new(in);
	for (;;) {
		struct input *member = NULL;
		struct str block;

		ck_assert_int_eq(tar_next(t, &f, &more, &e), OK);
		if (!more)
			break;
		buf_fmt(said, "%.*s %" PRIu64 ": ", STR_ARG(f.name), f.size);
		if (f.size != 666) { /* whose content nobody looks at */
			ck_assert_int_eq(input_open_pull(&member, tar_read, t, f.size, "m", &limits, &e), OK);
			do {
				ck_assert_int_eq(input_next(member, &block, &e), OK);
				buf_str(said, str_upto(block, 20));
			} while (block.n > 0);
			input_close(member);
		}
		buf_byte(said, '\n');
	}
	tar_report(t, &report);
	help_report(&report, said);
	tar_free(t);
	input_close(in);
}

static void expect_of(struct str bytes, const char *want)
{
	struct buf said;

	buf_init(&said, 1 << 20);
	tell(bytes, &said);
	ck_assert_str_eq(buf_view(&said).p, want);
	buf_fini(&said);
}

static void expect(const char *want)
{
	expect_of(buf_view(&tar), want);
}

START_TEST(files_come_one_behind_the_other)
{
	struct buf packed, ignored;

	put_header("folder/", "", '5', 0, "ustar\00000");
	put_file("folder/a.json", STR("[1]"));
	put_header("link", "", '2', 7, "ustar\00000"); /* a link has no content */
	buf_init(&ignored, 4096);
	buf_fill(&ignored, 'x', 666);
	put_file("ignored", buf_view(&ignored));
	put_file("empty", STR(""));
	put_file("b.json", STR("[2, 3]"));
	put_end();
	buf_init(&packed, 1 << 20);
	help_gzip(buf_view(&tar), &packed);
	expect("folder/a.json 3: [1]\nignored 666: \nempty 0: \nb.json 6: [2, 3]\n |");
	expect_of(buf_view(&packed), "folder/a.json 3: [1]\nignored 666: \nempty 0: \nb.json 6: [2, 3]\n |");
	ck_assert(tar_is(buf_view(&tar)));
	buf_fini(&packed);
	buf_fini(&ignored);
}
END_TEST

START_TEST(long_names_are_those_of_posix_gnu_and_pax)
{
	char text[400], name[300];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	put_header("a.json", "deep/folder", '0', 1, "ustar\00000");
	put_content(STR("1"));
	put_header("a.json", "not a prefix", '0', 1, "ustar  ");
	put_content(STR("2"));
	put_header("././@LongLink", "", 'L', strlen(name) + 1, "ustar  ");
	put_content(str_make(name, strlen(name) + 1));
	put_header("nnn", "", '0', 1, "ustar  ");
	put_content(STR("3"));
	snprintf(text, sizeof(text), "30 mtime=1694128201.554000000\n15 path=p/\xc3\xa4=1\n15 size=000003\n");
	put_header("x", "", 'x', strlen(text), "ustar\00000");
	put_content(str_of(text));
	put_header("short", "", '0', 0, "ustar\00000"); /* whose size is only in the record */
	put_content(STR("[4]"));
	put_file("plain", STR("5"));
	put_end();
	snprintf(text, sizeof(text), "deep/folder/a.json 1: 1\na.json 1: 2\n%s 1: 3\np/\xc3\xa4=1 3: [4]\nplain 1: 5\n |", name);
	expect(text);
}
END_TEST

START_TEST(a_size_may_be_binary)
{
	char *h;

	put_file("a", STR("12345"));
	h = tar.p;
	memset(h + 124, 0, 12);
	h[124] = (char)0x80;
	h[135] = 5;
	help_tar_sum(h);
	put_end();
	expect("a 5: 12345\n |");
	h = tar.p;
	h[126] = 1; /* 2^72 bytes */
	help_tar_sum(h);
	ck_assert(!tar_is(buf_view(&tar)));
}
END_TEST

START_TEST(an_archive_cut_anywhere_gives_what_is_before_and_says_so)
{
	size_t whole;

	put_file("a", STR("12345"));
	put_file("b", STR("678"));
	whole = tar.n;
	put_end();
	for (size_t n = 0; n < tar.n; n++) {
		struct buf said;
		bool clean = n >= whole || n == 2 * TAR_BLOCK || n == 0; /* between files, or in the zeros */

		if (n > whole && n < whole + TAR_BLOCK)
			continue; /* part of a header of zeros */
		buf_init(&said, 4096);
		tell(str_upto(buf_view(&tar), n), &said);
		ck_assert_msg(clean == !str_contains(buf_view(&said), STR("1 truncated@")), "cut at %zu: %s", n, said.p);
		ck_assert(n < TAR_BLOCK + 5 || str_has_prefix(buf_view(&said), STR("a 5: 12345\n")));
		buf_fini(&said);
	}
}
END_TEST

START_TEST(a_damaged_header_costs_up_to_the_next_whole_one)
{
	put_file("a", STR("1"));
	put_file("b", STR("2"));
	put_file("c", STR("3"));
	put_end();
	tar.p[2 * TAR_BLOCK] = 'X';
	expect("a 1: 1\nc 1: 3\n1 bad_data@1024 |");
	memset(tar.p + 2 * TAR_BLOCK, 'x', tar.n - 2 * TAR_BLOCK);
	expect("a 1: 1\n1 bad_data@1024 |");
}
END_TEST

START_TEST(a_truncated_compression_is_told_once)
{
	struct buf packed;

	put_file("a", STR("12345"));
	put_file("b", STR("678"));
	put_end();
	buf_init(&packed, 1 << 20);
	help_gzip(buf_view(&tar), &packed);
	buf_trim(&packed, packed.n / 2);
	for (size_t n = 1; n <= 2; n++) {
		struct buf said;

		buf_init(&said, 4096);
		tell(buf_view(&packed), &said);
		ck_assert(str_has_suffix(str_upto(buf_view(&said), said.n), STR(" |")));
		ck_assert_uint_eq(str_contains(buf_view(&said), STR("1 truncated@")), true);
		ck_assert(!str_contains(buf_view(&said), STR("2 truncated")));
		buf_fini(&said);
	}
	buf_fini(&packed);
}
END_TEST

START_TEST(what_is_no_archive_is_told_apart)
{
	char block[TAR_BLOCK] = { 0 };

	ck_assert(!tar_is(STR("")));
	ck_assert(!tar_is(STR("{\"traceEvents\":[]}")));
	ck_assert(!tar_is(str_make(block, sizeof(block))));
	memset(block, '[', sizeof(block));
	ck_assert(!tar_is(str_make(block, sizeof(block))));
}
END_TEST

Suite *suite_tar(void)
{
	Suite *s = suite_create("trace/tar");
	TCase *tc = tcase_create("tar");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, files_come_one_behind_the_other);
	tcase_add_test(tc, long_names_are_those_of_posix_gnu_and_pax);
	tcase_add_test(tc, a_size_may_be_binary);
	tcase_add_test(tc, an_archive_cut_anywhere_gives_what_is_before_and_says_so);
	tcase_add_test(tc, a_damaged_header_costs_up_to_the_next_whole_one);
	tcase_add_test(tc, a_truncated_compression_is_told_once);
	tcase_add_test(tc, what_is_no_archive_is_told_apart);
	suite_add_tcase(s, tc);
	return s;
}
