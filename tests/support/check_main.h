/* check_main.h — main() of a Check program that runs several suites and reports TAP (see AM_TESTS_ENVIRONMENT).
 *
 *	TEST_MAIN(suite_buf, suite_str)
 *
 * Each suite is a function "Suite *suite_buf(void)" in the file that mirrors base/buf.c. A test that says nothing about its time has
 * as long when the program is run by hand as it has in make check: Check's own four seconds are too few on a busy machine. */
#ifndef TESTS_SUPPORT_CHECK_MAIN_H
#define TESTS_SUPPORT_CHECK_MAIN_H

#include <check.h>
#include <stddef.h>
#include <stdlib.h>

typedef Suite *suite_maker(void);

#define TEST_MAIN(...)                                                                                              \
	int main(void)                                                                                              \
	{                                                                                                           \
		suite_maker *const makers[] = { __VA_ARGS__ };                                                      \
		SRunner *runner;                                                                                    \
		int failed;                                                                                         \
                                                                                                                    \
		setenv("CK_DEFAULT_TIMEOUT", "60", 0); /* read when a case is made */                               \
		runner = srunner_create(makers[0]());                                                               \
		for (size_t i = 1; i < sizeof(makers) / sizeof(makers[0]); i++)                                     \
			srunner_add_suite(runner, makers[i]());                                                     \
		srunner_run_all(runner, CK_ENV);                                                                    \
		failed = srunner_ntests_failed(runner);                                                             \
		srunner_free(runner);                                                                               \
		return failed == 0 ? 0 : 1;                                                                         \
	}

#endif
