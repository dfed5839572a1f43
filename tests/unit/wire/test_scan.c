#include "wire/scan.h"

#include <check.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/enc.h"
#include "profile/window.h"

Suite *suite_scan(void);

static struct buf b;
static struct err e;

static void setup(void)
{
	buf_init(&b, 64u << 20);
	err_clear(&e);
}

static void teardown(void)
{
	buf_fini(&b);
}

static void put_varint(struct buf *to, uint64_t v)
{
	uint8_t bytes[ENC_VARINT_MAX];

	buf_add(to, bytes, enc_put_varint(bytes, v));
}

static void put_bytes(struct buf *to, unsigned field, const struct buf *body)
{
	put_varint(to, field << 3 | 2);
	put_varint(to, body->n);
	buf_str(to, buf_view(body));
}

/* WindowBatch { windows { ops { FIELD: n numbers of one byte, packed or not } } } */
static void put_ops_column(unsigned field, size_t n, bool packed)
{
	struct buf column, ops, window;

	buf_init(&column, 64u << 20);
	buf_init(&ops, 64u << 20);
	buf_init(&window, 64u << 20);
	if (packed) {
		buf_fill(&column, 1, n);
		put_bytes(&ops, field, &column);
	}
	for (size_t i = 0; i < n && !packed; i++) {
		put_varint(&ops, field << 3);
		put_varint(&ops, 1);
	}
	put_bytes(&window, 18, &ops);
	put_bytes(&b, 4, &window);
	buf_fini(&window);
	buf_fini(&ops);
	buf_fini(&column);
}

START_TEST(more_ops_than_allowed_are_refused_packed_or_not)
{
	for (unsigned field = 1; field <= 14; field++) {
		for (int packed = 0; packed < 2; packed++) {
			buf_reset(&b);
			put_ops_column(field, WINDOW_OPS_MAX, packed);
			ck_assert_msg(scan_batch(buf_view(&b), 1, &e) == OK, "%s", e.text);
			buf_reset(&b);
			put_ops_column(field, WINDOW_OPS_MAX + 1, packed);
			ck_assert_int_eq(scan_batch(buf_view(&b), 1, &e), E_LIMIT);
		}
	}
	ck_assert_str_eq(e.text, "windows[0]: ops: hist_buckets: 100001 values, at most 100000");
}
END_TEST

START_TEST(more_buckets_than_allowed_are_refused)
{
	put_ops_column(15, WINDOW_BUCKETS_MAX, true);
	ck_assert_int_eq(scan_batch(buf_view(&b), 1, &e), OK);
	buf_reset(&b);
	put_ops_column(16, WINDOW_BUCKETS_MAX + 1, true);
	ck_assert_int_eq(scan_batch(buf_view(&b), 1, &e), E_LIMIT);
}
END_TEST

START_TEST(windows_of_two_bytes_each_are_counted_before_they_become_structs)
{
	for (int i = 0; i < 1001; i++)
		buf_add(&b, "\x22\x00", 2);
	ck_assert_int_eq(scan_batch(buf_view(&b), 1001, &e), OK);
	ck_assert_int_eq(scan_batch(buf_view(&b), 1000, &e), E_LIMIT);
	ck_assert_str_eq(e.text, "windows[1000]: 1001 values, at most 1000");
}
END_TEST

START_TEST(a_field_that_is_not_repeated_may_stand_once)
{
	buf_add(&b, "\x0a\x01x\x0a\x01y", 6);
	ck_assert_int_eq(scan_batch(buf_view(&b), 1, &e), E_LIMIT);
	ck_assert_str_eq(e.text, "agent_id: 2 values, at most 1");
}
END_TEST

START_TEST(fields_that_nobody_knows_are_passed_over)
{
	buf_add(&b, "\xf8\x07\x05" /* 127, varint */ "\xfa\x07\x02xx" /* 127, bytes */, 8);
	buf_add(&b, "\xfd\x07""abcd" /* 127, 4 bytes */ "\xf9\x07""abcdefgh" /* 127, 8 bytes */, 16);
	ck_assert_msg(scan_batch(buf_view(&b), 1, &e) == OK, "%s", e.text);
}
END_TEST

START_TEST(bytes_that_are_no_protobuf_are_refused_with_their_place)
{
	static const struct {
		struct str bytes;
		const char *text;
	} cases[] = {
		{ { "\x0a", 1 }, "byte 0: no protobuf field, or one that ends early" },
		{ { "\x0a\x05xy", 4 }, "byte 0: no protobuf field, or one that ends early" },
		{ { "\x0a\x01x\x0b", 4 }, "byte 3: no protobuf field, or one that ends early" },
		{ { "\x02\x00", 2 }, "byte 0: no protobuf field, or one that ends early" },
		{ { "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11 },
			"byte 0: no protobuf field, or one that ends early" },
		{ { "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
			"byte 0: no protobuf field, or one that ends early" },
		{ { "\x08\x01", 2 }, "agent_id: wire type 0 where 2 belongs" },
		{ { "\x22\x02\x12\x00", 4 }, "windows[0]: service: wire type 2 where 0 belongs" },
		{ { "\x22\x05\x92\x01\x03\x1a\x00", 7 }, "windows[0]: byte 0: no protobuf field, or one that ends early" },
		{ { "\x22\x06\x92\x01\x03\x1a\x01\x80", 8 },
			"windows[0]: ops: calls: packed numbers end in the middle of one" },
		{ { "\x1a\x00\x1a\x02\xc3\x28", 6 }, "strings[1]: is not UTF-8" },
		{ { "\x1a\x00\x1a\x02y\x00", 6 }, "strings[1]: holds a NUL" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		ck_assert_int_eq(scan_batch(cases[i].bytes, 10, &e), E_FORMAT);
		ck_assert_str_eq(e.text, cases[i].text);
	}
}
END_TEST

Suite *suite_scan(void)
{
	Suite *s = suite_create("wire/scan");
	TCase *tc = tcase_create("scan");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, more_ops_than_allowed_are_refused_packed_or_not);
	tcase_add_test(tc, more_buckets_than_allowed_are_refused);
	tcase_add_test(tc, windows_of_two_bytes_each_are_counted_before_they_become_structs);
	tcase_add_test(tc, a_field_that_is_not_repeated_may_stand_once);
	tcase_add_test(tc, fields_that_nobody_knows_are_passed_over);
	tcase_add_test(tc, bytes_that_are_no_protobuf_are_refused_with_their_place);
	suite_add_tcase(s, tc);
	return s;
}
