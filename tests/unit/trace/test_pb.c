#include "trace/pb.h"

#include <check.h>
#include <inttypes.h>

#include "base/mem.h"
#include "tests/unit/trace/help_xla.h"

Suite *suite_pb(void);

static struct buf b, said;

static void begin(void)
{
	buf_init(&b, 1 << 20);
	buf_init(&said, 1 << 20);
}

static void over(void)
{
	buf_fini(&b);
	buf_fini(&said);
}

/* Fields 1 to 9 are numbers, 10 to 19 texts, from 20 on messages. */
static void say(struct pb *p)
{
	struct pb_field f;
	enum pb_token token;

	while ((token = pb_next(p, &f)) != PB_MORE) {
		switch (token) {
		case PB_NUMBER: buf_fmt(&said, "%" PRIu64 "=%" PRIu64 " ", f.number, f.value); break;
		case PB_BYTES:
			if (f.number >= 20)
				buf_text(&said, pb_enter(p) ? "{ " : "too deep ");
			else if (f.number >= 10)
				pb_text(p);
			break;
		case PB_TEXT:
			buf_fmt(&said, "%" PRIu64 "=", f.number);
			buf_str(&said, str_upto(f.text, 20));
			buf_text(&said, f.cut ? "… " : " ");
			break;
		case PB_END: buf_text(&said, "} "); break;
		case PB_ERROR:
			buf_fmt(&said, "error@%" PRIu64 " ", f.offset);
			if (!pb_recover(p))
				return;
			break;
		case PB_MORE: break;
		}
	}
}

/* Blocks of n bytes, each a copy of the exact size. */
static void read_in(struct str bytes, size_t block)
{
	struct pb *p = pb_new();

	buf_reset(&said);
	for (size_t at = 0, n; at < bytes.n; at += n) {
		char *copy;

		n = block == 0 || block > bytes.n - at ? bytes.n - at : block;
		copy = mem_dup(bytes.p + at, n);
		pb_feed(p, str_make(copy, n));
		say(p);
		mem_free(copy);
	}
	buf_text(&said, pb_is_complete(p) ? "." : "cut");
	pb_free(p);
}

static void expect(struct str bytes, const char *want)
{
	for (size_t block = 0; block <= bytes.n; block++) {
		read_in(bytes, block);
		ck_assert_msg(
			str_eq(buf_view(&said), str_of(want)), "blocks of %zu: %s", block, buf_view(&said).p);
	}
}

START_TEST(fields_come_out_whatever_their_type)
{
	struct buf inner;

	buf_init(&inner, 1000);
	help_pb_number(&inner, 2, 5);
	help_pb_text(&inner, 11, "");
	help_pb_number(&b, 1, UINT64_MAX);
	help_pb_text(&b, 10, "hello");
	help_pb_bytes(&b, 20, buf_view(&inner));
	help_pb_bytes(&b, 21, STR(""));
	buf_add(&b, "\x19\1\0\0\0\0\0\0\x80", 9); /* field 3, 8 bytes */
	buf_add(&b, "\x25\2\0\0\x80", 5);	  /* field 4, 4 bytes */
	help_pb_number(&b, 5, 0);
	expect(buf_view(&b),
		"1=18446744073709551615 10=hello { 2=5 11= } { } 3=9223372036854775809 4=2147483650 5=0 .");
	buf_fini(&inner);
}
END_TEST

START_TEST(bytes_that_nobody_asks_for_are_passed_over)
{
	help_pb_text(&b, 9, "not looked at");
	help_pb_text(&b, 9, "");
	help_pb_number(&b, 1, 7);
	expect(buf_view(&b), "1=7 .");
}
END_TEST

static const struct {
	struct str bytes;
	const char *said;
} bad[] = {
	{ STR("\x00\x01"), "error@0 cut" },					    /* field 0 */
	{ STR("\x0b"), "error@0 cut" },						    /* a group */
	{ STR("\x0f"), "error@0 cut" },						    /* type 7 */
	{ STR("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "error@0 cut" },	    /* more than 64 bits */
	{ STR("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "error@0 cut" }, /* more than ten bytes */
	{ STR("\x52\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "error@0 cut" },	    /* a length of 2^64 - 1 */
	{ STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "error@0 cut" },	    /* field 2^61 - 1 */
	{ STR("\xa2\x01\x03\x08\x01\x0b\x08\x02"), "{ 1=1 error@5 } 1=2 ." },	    /* a group in a message */
	{ STR("\xa2\x01\x03\x52\x05z\x08\x02"), "{ error@3 } 1=2 ." }, /* a text longer than its message */
	{ STR("\xa2\x01\x02\x08\x80\x08\x02"), "{ error@3 } 1=2 ." },  /* a number longer than its message */
	{ STR("\xa2\x01\x03\x19\x01\x01\x08\x02"), "{ error@3 } 1=2 ." }, /* 8 bytes where 2 are left */
	{ STR("\x08"), "cut" },
	{ STR("\x08\x80"), "cut" },
	{ STR("\x52\x05hi"), "cut" },
	{ STR("\x4a\x05hi"), "cut" },
	{ STR("\xa2\x01\x05\x08\x01"), "{ 1=1 cut" },
	{ STR(""), "." },
};

START_TEST(what_cannot_be_costs_the_message_that_it_is_in)
{
	expect(bad[_i].bytes, bad[_i].said);
}
END_TEST

START_TEST(messages_in_each_other_are_bounded)
{
	struct buf other;

	buf_init(&other, 1 << 20);
	for (int i = 0; i < 100; i++) {
		buf_reset(&other);
		help_pb_bytes(&other, 20, buf_view(&b));
		buf_reset(&b);
		buf_str(&b, buf_view(&other));
	}
	read_in(buf_view(&b), 0);
	ck_assert_str_eq(
		buf_view(&said).p, "{ { { { { { { { { { { { { { { too deep } } } } } } } } } } } } } } } .");
	buf_fini(&other);
}
END_TEST

START_TEST(a_text_past_the_ceiling_is_cut)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	buf_fill(&text, 'x', PB_TEXT_MAX + 1);
	help_pb_bytes(&b, 10, buf_view(&text));
	help_pb_number(&b, 1, 3);
	read_in(buf_view(&b), 1000);
	ck_assert_str_eq(buf_view(&said).p, "10=xxxxxxxxxxxxxxxxxxxx… 1=3 .");
	buf_fini(&text);
}
END_TEST

Suite *suite_pb(void)
{
	Suite *s = suite_create("pb");
	TCase *t = tcase_create("pb");

	tcase_add_checked_fixture(t, begin, over);
	tcase_add_test(t, fields_come_out_whatever_their_type);
	tcase_add_test(t, bytes_that_nobody_asks_for_are_passed_over);
	tcase_add_loop_test(t, what_cannot_be_costs_the_message_that_it_is_in, 0, (int)COUNT(bad));
	tcase_add_test(t, messages_in_each_other_are_bounded);
	tcase_add_test(t, a_text_past_the_ceiling_is_cut);
	suite_add_tcase(s, t);
	return s;
}
