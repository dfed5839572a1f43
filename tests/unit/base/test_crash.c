#include "base/crash.h"

#include <check.h>
#include <signal.h>

Suite *suite_crash(void);

START_TEST(a_crash_point_that_nobody_asked_for_does_nothing)
{
	ck_assert(!crash_armed);
	for (int i = 0; i < 1000; i++)
		crash_point("test.first");
}
END_TEST

START_TEST(only_the_named_point_kills_and_only_at_its_pass)
{
	crash_arm("test.first:3");
	for (int i = 0; i < 10; i++)
		crash_point("test.second");
	crash_point("test.first");
	crash_point("test.first");
}
END_TEST

START_TEST(the_nth_pass_of_the_named_point_kills_the_process)
{
	crash_arm("test.first:3");
	for (int i = 0; i < 3; i++)
		crash_point("test.first");
}
END_TEST

START_TEST(a_name_alone_means_the_first_pass)
{
	crash_arm("test.first");
	crash_point("test.first");
}
END_TEST

START_TEST(a_value_that_makes_no_sense_is_ignored)
{
	static const char *const values[] = { "", "test.first:", "test.first:x", "test.first:0", "test.first:1:2" };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		crash_arm(values[i]);
	ck_assert(!crash_armed);
	crash_point("test.first");
}
END_TEST

Suite *suite_crash(void)
{
	Suite *s = suite_create("base/crash");
	TCase *tc = tcase_create("crash");

	tcase_add_test(tc, a_crash_point_that_nobody_asked_for_does_nothing);
	tcase_add_test(tc, only_the_named_point_kills_and_only_at_its_pass);
	tcase_add_test_raise_signal(tc, the_nth_pass_of_the_named_point_kills_the_process, SIGKILL);
	tcase_add_test_raise_signal(tc, a_name_alone_means_the_first_pass, SIGKILL);
	tcase_add_test(tc, a_value_that_makes_no_sense_is_ignored);
	suite_add_tcase(s, tc);
	return s;
}
