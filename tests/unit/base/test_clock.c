#include "base/clock.h"

#include <check.h>

#include "base/rand.h"

Suite *suite_clock(void);

static const int64_t now = INT64_C(1795960800) * NS_PER_S; /* 2026-11-29T14:00:00Z */

START_TEST(a_moment_reads_back_from_its_rfc_3339_text)
{
	static const int64_t grain[] = { 1, NS_PER_US, NS_PER_MS, NS_PER_S };
	struct rand_gen g;
	char text[CLOCK_TEXT];

	rand_seed(&g, 1);
	for (int i = 0; i < 20000; i++) {
		int64_t unit = grain[i % COUNT(grain)], back;
		int64_t at = (int64_t)rand_below(&g, (uint64_t)INT64_MAX - 2 * NS_PER_S) / unit * unit;

		ck_assert_int_eq(clock_parse(clock_rfc3339(at, text), 0, &back), OK);
		ck_assert_int_eq(back, at);
	}
}
END_TEST

static const struct {
	const char *text;
	int64_t wall_ns;
} moments[] = {
	{ "2026-11-29T14:00:00Z", INT64_C(1795960800000000000) },
	{ "2028-02-29T00:00:00Z", INT64_C(1835395200000000000) },
	{ "2026-11-29 14:00:00Z", INT64_C(1795960800000000000) },
	{ "2026-11-29t14:00:00z", INT64_C(1795960800000000000) },
	{ "2026-11-29T15:30:00+01:30", INT64_C(1795960800000000000) },
	{ "2026-11-29T06:00:00.25-08:00", INT64_C(1795960800250000000) },
	{ "1970-01-01T00:00:00Z", 0 },
	{ "1970-01-01T00:00:00.000000001Z", 1 },
	{ "2024-02-29T00:00:00Z", INT64_C(1709164800000000000) },
	{ "1795960800", INT64_C(1795960800000000000) },
	{ "1795960800.5", INT64_C(1795960800500000000) },
	{ "0", 0 },
	{ "now", INT64_C(1795960800000000000) },
	{ "now-7d", INT64_C(1795356000000000000) },
	{ "now+90m", INT64_C(1795966200000000000) },
	{ "now-1h30m", INT64_C(1795955400000000000) },
};

START_TEST(a_moment_can_be_written_in_many_ways)
{
	int64_t at;

	ck_assert_msg(clock_parse(str_of(moments[_i].text), now, &at) == OK, "%s", moments[_i].text);
	ck_assert_int_eq(at, moments[_i].wall_ns);
}
END_TEST

static const struct {
	const char *text;
	int rc;
} no_moments[] = {
	{ "", E_FORMAT },
	{ "yesterday", E_FORMAT },
	{ "now-", E_FORMAT },
	{ "now7d", E_FORMAT },
	{ "now-7x", E_FORMAT },
	{ "-5", E_FORMAT },
	{ "1e9", E_FORMAT },
	{ "5.", E_FORMAT },
	{ "2026-11-29", E_FORMAT },
	{ "2026-11-29T14:00Z", E_FORMAT },
	{ "2026-11-29T14:00:00", E_FORMAT },
	{ "2026-13-29T14:00:00Z", E_FORMAT },
	{ "2026-00-29T14:00:00Z", E_FORMAT },
	{ "2026-02-29T14:00:00Z", E_FORMAT },
	{ "2100-02-29T14:00:00Z", E_FORMAT },
	{ "2026-11-31T14:00:00Z", E_FORMAT },
	{ "2026-11-00T14:00:00Z", E_FORMAT },
	{ "2026-11-29T24:00:00Z", E_FORMAT },
	{ "2026-11-29T14:00:00.Z", E_FORMAT },
	{ "2026-11-29T14:00:00+1:30", E_FORMAT },
	{ "2026-11-29T14:00:00Z ", E_FORMAT },
	{ "1969-12-31T23:59:59Z", E_LIMIT },
	{ "2300-01-01T00:00:00Z", E_LIMIT },
	{ "99999999999", E_LIMIT },
	{ "99999999999999999999", E_LIMIT },
	{ "now-90000w", E_LIMIT },
};

START_TEST(what_is_no_moment_is_refused)
{
	int64_t at = -7;

	ck_assert_msg(clock_parse(str_of(no_moments[_i].text), now, &at) == no_moments[_i].rc, "%s",
		no_moments[_i].text);
}
END_TEST

static const struct {
	const char *text;
	int64_t ns;
} durations[] = {
	{ "90s", 90 * NS_PER_S }, { "90", 90 * NS_PER_S }, { "5m", 5 * NS_PER_MIN }, { "1h30m", 90 * NS_PER_MIN },
	{ "7d", 7 * NS_PER_DAY }, { "2w", 14 * NS_PER_DAY }, { "250ms", 250 * NS_PER_MS }, { "10us", 10 * NS_PER_US },
	{ "7ns", 7 }, { "0s", 0 }, { "0", 0 },
};

START_TEST(a_duration_reads_as_people_write_it)
{
	char text[CLOCK_TEXT];
	int64_t ns, back;

	ck_assert_int_eq(clock_parse_duration(str_of(durations[_i].text), &ns), OK);
	ck_assert_int_eq(ns, durations[_i].ns);
	ck_assert_int_eq(clock_parse_duration(clock_duration(ns, text), &back), OK);
	ck_assert_int_eq(back, ns);
}
END_TEST

static const char *const no_durations[] = { "", "-5m", "5x", "m", "5m3", "1.5h", " 5m", "5 m" };

START_TEST(what_is_no_duration_is_refused)
{
	int64_t ns;

	ck_assert_int_eq(clock_parse_duration(str_of(no_durations[_i]), &ns), E_FORMAT);
}
END_TEST

START_TEST(a_duration_that_is_too_long_is_refused)
{
	int64_t ns;

	ck_assert_int_eq(clock_parse_duration(STR("99999999999999999w"), &ns), E_LIMIT);
	ck_assert_int_eq(clock_parse_duration(STR("15250w15250w"), &ns), E_LIMIT);
}
END_TEST

START_TEST(an_exact_duration_uses_the_largest_unit_that_divides_it)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = { { 0, "0s" }, { 1, "1ns" }, { 1500, "1500ns" }, { 90 * NS_PER_S, "90s" },
		{ 300 * NS_PER_S, "5m" }, { 7 * NS_PER_DAY, "1w" }, { 90 * NS_PER_DAY, "90d" },
		{ 250 * NS_PER_MS, "250ms" } };
	char text[CLOCK_TEXT];

	for (size_t i = 0; i < COUNT(rows); i++)
		ck_assert_str_eq(clock_duration(rows[i].ns, text).p, rows[i].text);
}
END_TEST

START_TEST(a_duration_for_people_has_three_digits)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = { { 403, "403 ns" }, { 403300, "403 µs" }, { 2355000, "2.35 ms" }, { 1164500, "1.16 ms" },
		{ 47900, "47.9 µs" }, { 999960, "1000 µs" }, { 1200 * NS_PER_MS, "1.20 s" },
		{ 300 * NS_PER_S, "5.00 min" }, { 3 * NS_PER_HOUR, "3.00 h" }, { 21 * NS_PER_DAY, "21.0 d" },
		{ -403300, "-403 µs" }, { 0, "0 ns" } };
	char text[CLOCK_TEXT];

	for (size_t i = 0; i < COUNT(rows); i++)
		ck_assert_str_eq(clock_human(rows[i].ns, text).p, rows[i].text);
}
END_TEST

Suite *suite_clock(void)
{
	Suite *s = suite_create("base/clock");
	TCase *tc = tcase_create("clock");

	tcase_add_test(tc, a_moment_reads_back_from_its_rfc_3339_text);
	tcase_add_loop_test(tc, a_moment_can_be_written_in_many_ways, 0, COUNT(moments));
	tcase_add_loop_test(tc, what_is_no_moment_is_refused, 0, COUNT(no_moments));
	tcase_add_loop_test(tc, a_duration_reads_as_people_write_it, 0, COUNT(durations));
	tcase_add_loop_test(tc, what_is_no_duration_is_refused, 0, COUNT(no_durations));
	tcase_add_test(tc, a_duration_that_is_too_long_is_refused);
	tcase_add_test(tc, an_exact_duration_uses_the_largest_unit_that_divides_it);
	tcase_add_test(tc, a_duration_for_people_has_three_digits);
	suite_add_tcase(s, tc);
	return s;
}
