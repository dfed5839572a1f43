#include "agent/schedule.h"

#include <check.h>
#include <stdio.h>

#include "base/clock.h"

Suite *suite_schedule(void);

static const int64_t noon = INT64_C(1790000000000000000) / NS_PER_DAY * NS_PER_DAY + 12 * NS_PER_HOUR;

START_TEST(a_slot_lasts_an_interval_and_begins_at_the_hosts_own_offset)
{
	struct schedule s;
	int64_t first, start;

	schedule_init(&s, 5 * NS_PER_MIN, STR("trn1-07"));
	ck_assert_int_ge(s.offset_ns, 0);
	ck_assert_int_lt(s.offset_ns, s.interval_ns);
	first = schedule_slot(&s, noon);
	start = first * s.interval_ns + s.offset_ns;
	ck_assert_int_eq(schedule_slot(&s, start - 1), first - 1);
	ck_assert_int_eq(schedule_slot(&s, start), first);
	ck_assert_int_eq(schedule_slot(&s, start + s.interval_ns - 1), first);
	ck_assert_int_eq(schedule_slot(&s, start + s.interval_ns), first + 1);
	ck_assert_int_eq(schedule_slot(&s, s.offset_ns - 1), -1);
}
END_TEST

START_TEST(a_fleet_spreads_itself_the_same_way_every_time)
{
	enum { HOSTS = 1000, PARTS = 10 };
	unsigned in[PARTS] = { 0 };

	for (int i = 0; i < HOSTS; i++) {
		struct schedule s, again;
		char host[32];

		snprintf(host, sizeof(host), "host-%d", i);
		schedule_init(&s, 5 * NS_PER_MIN, str_of(host));
		schedule_init(&again, 5 * NS_PER_MIN, str_of(host));
		ck_assert_int_eq(s.offset_ns, again.offset_ns);
		in[s.offset_ns * PARTS / s.interval_ns]++;
	}
	for (int i = 0; i < PARTS; i++) {
		ck_assert_uint_gt(in[i], HOSTS / PARTS / 2);
		ck_assert_uint_lt(in[i], HOSTS / PARTS * 2);
	}
}
END_TEST

START_TEST(quiet_hours_may_go_past_midnight)
{
	static const struct {
		const char *hours;
		int64_t at;
		bool quiet;
	} cases[] = {
		{ "22:00-06:00", 23 * 60, true },    { "22:00-06:00", 0, true },	    { "22:00-06:00", 359, true },
		{ "22:00-06:00", 360, false },	     { "22:00-06:00", 22 * 60 - 1, false }, { "22:00-06:00", 22 * 60, true },
		{ "09:30-17:00", 9 * 60 + 29, false }, { "09:30-17:00", 9 * 60 + 30, true },  { "09:30-17:00", 17 * 60, false },
		{ "00:00-24:00", 0, true },	     { "00:00-24:00", 24 * 60 - 1, true },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct schedule s;

		schedule_init(&s, NS_PER_MIN, STR("h"));
		ck_assert_int_eq(schedule_add_quiet(&s, str_of(cases[i].hours), NULL), OK);
		ck_assert_msg(schedule_is_quiet(&s, noon - 12 * NS_PER_HOUR + cases[i].at * NS_PER_MIN) == cases[i].quiet,
			"%s", cases[i].hours);
	}
}
END_TEST

START_TEST(hours_that_are_none_say_what_would_be_right)
{
	static const char *const bad[] = { "", "22", "22:00", "22:00-", "22:00-6:00", "25:00-06:00", "22:60-23:00",
		"24:01-02:00", "a:b-c:d", "22:00-22:00", "-1:00-02:00", "22:00-23:00-24:00" };

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct schedule s;
		struct err e = { 0 };

		schedule_init(&s, NS_PER_MIN, STR("h"));
		ck_assert_msg(schedule_add_quiet(&s, str_of(bad[i]), &e) == E_USAGE, "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(e.text, "HH:MM-HH:MM"));
	}
}
END_TEST

START_TEST(there_is_a_ceiling_to_quiet_hours)
{
	struct schedule s;

	schedule_init(&s, NS_PER_MIN, STR("h"));
	ck_assert(!schedule_is_quiet(&s, noon));
	for (int i = 0; i < SCHEDULE_QUIET_MAX; i++)
		ck_assert_int_eq(schedule_add_quiet(&s, STR("01:00-02:00"), NULL), OK);
	ck_assert_int_eq(schedule_add_quiet(&s, STR("01:00-02:00"), NULL), E_LIMIT);
}
END_TEST

Suite *suite_schedule(void)
{
	Suite *s = suite_create("agent/schedule");
	TCase *tc = tcase_create("schedule");

	tcase_add_test(tc, a_slot_lasts_an_interval_and_begins_at_the_hosts_own_offset);
	tcase_add_test(tc, a_fleet_spreads_itself_the_same_way_every_time);
	tcase_add_test(tc, quiet_hours_may_go_past_midnight);
	tcase_add_test(tc, hours_that_are_none_say_what_would_be_right);
	tcase_add_test(tc, there_is_a_ceiling_to_quiet_hours);
	suite_add_tcase(s, tc);
	return s;
}
