#include "json/num.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/prop.h"

Suite *suite_num(void);

START_TEST(whole_numbers_are_read_in_every_notation)
{
	static const struct {
		const char *text;
		int rc;
		int64_t v;
	} cases[] = {
		{ "0", OK, 0 },
		{ "-0", OK, 0 },
		{ "7", OK, 7 },
		{ "-12", OK, -12 },
		{ "1e3", OK, 1000 },
		{ "2.0", OK, 2 },
		{ "12.5e1", OK, 125 },
		{ "1200e-2", OK, 12 },
		{ "1.5E+1", OK, 15 },
		{ "0e99999999999999999999", OK, 0 },
		{ "0.000", OK, 0 },
		{ "9223372036854775807", OK, INT64_MAX },
		{ "-9223372036854775808", OK, INT64_MIN },
		{ "9.223372036854775807e18", OK, INT64_MAX },
		{ "9223372036854775808", E_LIMIT, 0 },
		{ "-9223372036854775809", E_LIMIT, 0 },
		{ "1e19", E_LIMIT, 0 },
		{ "1e999999999999999999999", E_LIMIT, 0 },
		{ "1.5", E_FORMAT, 0 },
		{ "1e-1", E_FORMAT, 0 },
		{ "1e-999999999999999", E_FORMAT, 0 },
		{ "", E_FORMAT, 0 },
		{ "-", E_FORMAT, 0 },
		{ "+1", E_FORMAT, 0 },
		{ "01", E_FORMAT, 0 },
		{ "1.", E_FORMAT, 0 },
		{ ".5", E_FORMAT, 0 },
		{ "1e", E_FORMAT, 0 },
		{ "1e+", E_FORMAT, 0 },
		{ "NaN", E_FORMAT, 0 },
		{ "1 ", E_FORMAT, 0 },
		{ "0x10", E_FORMAT, 0 },
		{ "1e5x", E_FORMAT, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t v = 0;

		ck_assert_msg(json_i64(str_of(cases[i].text), &v) == cases[i].rc, "%s", cases[i].text);
		ck_assert_msg(v == cases[i].v, "%s", cases[i].text);
	}
}
END_TEST

START_TEST(unsigned_numbers_reach_two_to_the_64)
{
	uint64_t v = 0;

	ck_assert_int_eq(json_u64(STR("18446744073709551615"), &v), OK);
	ck_assert(v == UINT64_MAX);
	ck_assert_int_eq(json_u64(STR("-0"), &v), OK);
	ck_assert(v == 0);
	ck_assert_int_eq(json_u64(STR("18446744073709551616"), &v), E_LIMIT);
	ck_assert_int_eq(json_u64(STR("-1"), &v), E_LIMIT);
	ck_assert_int_eq(json_u64(STR("0.5"), &v), E_FORMAT);
}
END_TEST

START_TEST(a_fixed_point_number_is_cut_towards_zero)
{
	static const struct {
		const char *text;
		int shift, rc;
		int64_t v;
	} cases[] = {
		{ "1767225600000110.100", 3, OK, INT64_C(1767225600000110100) },
		{ "5555724361379.5419", 3, OK, INT64_C(5555724361379541) },
		{ "10", 3, OK, 10000 },
		{ "0.0009", 3, OK, 0 },
		{ "-0.0019", 3, OK, -1 },
		{ "1e-06", 6, OK, 1 },
		{ "1e-06", 3, OK, 0 },
		{ "2.5e2", 3, OK, 250000 },
		{ "123456", -3, OK, 123 },
		{ "-3", 3, OK, -3000 },
		{ "9223372036854775.807", 3, OK, INT64_MAX },
		{ "9223372036854775.808", 3, E_LIMIT, 0 },
		{ "0.00000000000000000000000000000000000001e41", 3, OK, 1000000 },
		{ "NaN", 3, E_FORMAT, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t v = 0;

		ck_assert_msg(json_fixed(str_of(cases[i].text), cases[i].shift, &v) == cases[i].rc, "%s",
			cases[i].text);
		ck_assert_msg(v == cases[i].v, "%s: %" PRId64, cases[i].text, v);
	}
}
END_TEST

START_TEST(the_nearest_number_is_the_even_one_of_two)
{
	static const struct {
		const char *text;
		int shift, rc;
		int64_t v;
	} cases[] = {
		{ "5.4059999999999997", 3, OK, 5406 },
		{ "0.30000000000000004", 3, OK, 300 },
		{ "0.0004", 3, OK, 0 },
		{ "0.0005", 3, OK, 0 },
		{ "0.00050", 3, OK, 0 },
		{ "0.000500000000000000000001", 3, OK, 1 },
		{ "0.0015", 3, OK, 2 },
		{ "-0.0015", 3, OK, -2 },
		{ "-0.0025", 3, OK, -2 },
		{ "0.00051", 3, OK, 1 },
		{ "1767225600000110.1006", 3, OK, INT64_C(1767225600000110101) },
		{ "1e-4", 3, OK, 0 },
		{ "9e-4", 3, OK, 1 },
		{ "9e-40", 3, OK, 0 },
		{ "1234567", -3, OK, 1235 },
		{ "9223372036854775.8074", 3, OK, INT64_MAX },
		{ "9223372036854775.8075", 3, E_LIMIT, 0 },
		{ "18446744073709551.6155", 3, E_LIMIT, 0 },
		{ "0.5.5", 3, E_FORMAT, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t v = 0;

		ck_assert_msg(json_nearest(str_of(cases[i].text), cases[i].shift, &v) == cases[i].rc, "%s",
			cases[i].text);
		ck_assert_msg(v == cases[i].v, "%s: %" PRId64, cases[i].text, v);
	}
}
END_TEST

START_TEST(a_double_is_read_however_long_its_text)
{
	double v = 0;
	char text[400] = "0.1";

	ck_assert_int_eq(json_double(STR("-2.5e-3"), &v), OK);
	ck_assert_double_eq(v, -0.0025);
	memset(text + 3, '0', 300);
	text[303] = '1';
	ck_assert_int_eq(json_double(str_of(text), &v), OK);
	ck_assert_double_eq(v, 0.1);
	memset(text, '9', 300);
	text[300] = '\0';
	ck_assert_int_eq(json_double(str_of(text), &v), OK);
	ck_assert_double_eq(v, 1e300);
	ck_assert_int_eq(json_double(STR("1e999"), &v), E_LIMIT);
	ck_assert_int_eq(json_double(STR("nan"), &v), E_FORMAT);
}
END_TEST

static bool printed_numbers_come_back(struct rand_gen *g, size_t size, void *arg)
{
	char text[64];

	(void)arg;
	for (size_t i = 0; i < size; i++) {
		int64_t v = (int64_t)(rand_u64(g) >> rand_below(g, 64)), back, us;

		snprintf(text, sizeof(text), "%" PRId64, v);
		if (json_i64(str_of(text), &back) != OK || back != v)
			return false;
		us = v / 1000;
		snprintf(text, sizeof(text), "%s%" PRId64 ".%03d", v < 0 && us == 0 ? "-" : "", us,
			(int)(v < 0 ? -(v % 1000) : v % 1000));
		if (json_fixed(str_of(text), 3, &back) != OK || back != v)
			return false;
	}
	return true;
}

START_TEST(microseconds_with_three_decimals_are_nanoseconds_exactly)
{
	prop_check("numbers", 100, 1000, printed_numbers_come_back, NULL);
}
END_TEST

Suite *suite_num(void)
{
	Suite *s = suite_create("json/num");
	TCase *tc = tcase_create("num");

	tcase_add_test(tc, whole_numbers_are_read_in_every_notation);
	tcase_add_test(tc, unsigned_numbers_reach_two_to_the_64);
	tcase_add_test(tc, a_fixed_point_number_is_cut_towards_zero);
	tcase_add_test(tc, the_nearest_number_is_the_even_one_of_two);
	tcase_add_test(tc, a_double_is_read_however_long_its_text);
	tcase_add_test(tc, microseconds_with_three_decimals_are_nanoseconds_exactly);
	suite_add_tcase(s, tc);
	return s;
}
