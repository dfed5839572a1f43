#include "base/size.h"

#include <check.h>

#include "base/rand.h"

Suite *suite_size(void);

START_TEST(sizes_read_as_people_write_them)
{
	static const struct {
		const char *text;
		int rc;
		int64_t bytes;
	} rows[] = { { "0", OK, 0 }, { "512", OK, 512 }, { "512B", OK, 512 }, { "64KiB", OK, 65536 },
		{ "10MiB", OK, 10485760 }, { "2GiB", OK, INT64_C(2147483648) }, { "1TiB", OK, INT64_C(1099511627776) },
		{ "5kB", OK, 5000 }, { "5MB", OK, 5000000 }, { "5GB", OK, INT64_C(5000000000) }, { "", E_FORMAT, 0 },
		{ "KiB", E_FORMAT, 0 }, { "-1", E_FORMAT, 0 }, { "+1", E_FORMAT, 0 }, { "1.5GiB", E_FORMAT, 0 },
		{ "5K", E_FORMAT, 0 }, { "5 KiB", E_FORMAT, 0 }, { "9999999999TiB", E_LIMIT, 0 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t v = 0;

		ck_assert_msg(size_parse(str_of(rows[i].text), &v) == rows[i].rc, "%s", rows[i].text);
		if (rows[i].rc == OK)
			ck_assert_int_eq(v, rows[i].bytes);
	}
}
END_TEST

START_TEST(an_exact_size_reads_back)
{
	char text[SIZE_TEXT];
	struct rand_gen g;

	rand_seed(&g, 7);
	for (int i = 0; i < 10000; i++) {
		int64_t v = (int64_t)((rand_u64(&g) >> (1 + i % 60) << (i % 3 * 10)) & INT64_MAX), back;

		ck_assert_int_eq(size_parse(size_exact(v, text), &back), OK);
		ck_assert_int_eq(back, v);
	}
	ck_assert_str_eq(size_exact(65536, text).p, "64KiB");
	ck_assert_str_eq(size_exact(1000, text).p, "1000");
}
END_TEST

START_TEST(a_size_for_people_has_three_digits)
{
	char text[SIZE_TEXT];

	ck_assert_str_eq(size_human(512, text).p, "512 B");
	ck_assert_str_eq(size_human(65536, text).p, "64.0 KiB");
	ck_assert_str_eq(size_human(INT64_C(1610612736), text).p, "1.50 GiB");
}
END_TEST

Suite *suite_size(void)
{
	Suite *s = suite_create("base/size");
	TCase *tc = tcase_create("size");

	tcase_add_test(tc, sizes_read_as_people_write_them);
	tcase_add_test(tc, an_exact_size_reads_back);
	tcase_add_test(tc, a_size_for_people_has_three_digits);
	suite_add_tcase(s, tc);
	return s;
}
