#include "base/must.h"

#include <check.h>
#include <signal.h>
#include <unistd.h>

Suite *suite_must(void);

START_TEST(a_broken_promise_ends_the_program)
{
	int fds[2];

	if (pipe(fds) == 0)
		dup2(fds[1], STDERR_FILENO); /* keeps the message out of the report */
	must(1 + 1 == 3);
}
END_TEST

START_TEST(a_kept_promise_is_silent)
{
	must(1 + 1 == 2);
}
END_TEST

Suite *suite_must(void)
{
	Suite *s = suite_create("base/must");
	TCase *tc = tcase_create("must");

	tcase_add_test_raise_signal(tc, a_broken_promise_ends_the_program, SIGABRT);
	tcase_add_test(tc, a_kept_promise_is_silent);
	suite_add_tcase(s, tc);
	return s;
}
