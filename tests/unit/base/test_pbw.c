#include "base/pbw.h"

#include <check.h>

Suite *suite_pbw(void);

START_TEST(fields_are_written_as_protobuf_has_them)
{
	static const char wanted[] = "\x08\x96\x01" /* 1: 150, the documentation's own example */
				     "\x12\x07testing"
				     "\x1a\x00"
				     "\x82\x7d\x02\x08\x01" /* field 2000, a message */
				     "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
				     "\xac\x02";
	struct buf b;

	buf_init(&b, 100);
	pbw_number(&b, 1, 150);
	pbw_number(&b, 9, 0);
	pbw_bytes(&b, 2, STR("testing"));
	pbw_bytes(&b, 3, STR(""));
	pbw_bytes(&b, 2000, STR("\x08\x01"));
	pbw_number(&b, 4, (uint64_t)-1);
	pbw_varint(&b, 300);
	ck_assert(str_eq(buf_view(&b), str_make(wanted, sizeof(wanted) - 1)));
	buf_fini(&b);
}
END_TEST

Suite *suite_pbw(void)
{
	Suite *s = suite_create("base/pbw");
	TCase *tc = tcase_create("pbw");

	tcase_add_test(tc, fields_are_written_as_protobuf_has_them);
	suite_add_tcase(s, tc);
	return s;
}
