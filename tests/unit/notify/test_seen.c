#include "notify/seen.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

Suite *suite_seen(void);

static char path[64];

static void start(void)
{
	snprintf(path, sizeof(path), "/tmp/seen-%d", (int)getpid());
}

static void stop(void)
{
	unlink(path);
}

START_TEST(what_was_added_is_there_after_a_restart)
{
	struct seen *s = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(seen_open(&s, path, 10, &e), OK);
	ck_assert(!seen_has(s, "a firing 1"));
	ck_assert_int_eq(seen_add(s, "a firing 1", &e), OK);
	ck_assert_int_eq(seen_add(s, "b resolved 2", &e), OK);
	seen_close(s);
	ck_assert_int_eq(seen_open(&s, path, 10, &e), OK);
	ck_assert(seen_has(s, "a firing 1") && seen_has(s, "b resolved 2") && !seen_has(s, "a firing 2"));
	seen_close(s);
}
END_TEST

START_TEST(the_oldest_go_first)
{
	struct seen *s = NULL;
	struct err e = { 0 };
	char key[SEEN_KEY];

	ck_assert_int_eq(seen_open(&s, path, 3, &e), OK);
	for (int i = 0; i < 8; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		ck_assert_int_eq(seen_add(s, key, &e), OK);
	}
	for (int round = 0; round < 2; round++) {
		ck_assert(!seen_has(s, "k4") && seen_has(s, "k5") && seen_has(s, "k6") && seen_has(s, "k7"));
		seen_close(s);
		ck_assert_int_eq(seen_open(&s, path, 3, &e), OK);
	}
	seen_close(s);
}
END_TEST

START_TEST(rubbish_in_the_file_does_no_harm)
{
	struct seen *s = NULL;
	struct err e = { 0 };
	char text[2000];

	memset(text, 'x', sizeof(text));
	memcpy(text, "good\n\n", 6);
	text[1000] = '\n';
	ck_assert_int_eq(file_replace(path, str_make(text, sizeof(text)), 0600, &e), OK);
	ck_assert_int_eq(seen_open(&s, path, 10, &e), OK);
	ck_assert(seen_has(s, "good"));
	seen_close(s);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_an_error_when_it_matters)
{
	struct seen *s = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(seen_open(&s, "/nonexistent/seen", 10, &e), OK);
	ck_assert_int_ne(seen_add(s, "a", &e), OK);
	seen_close(s);
}
END_TEST

Suite *suite_seen(void)
{
	Suite *s = suite_create("notify/seen");
	TCase *tc = tcase_create("seen");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, what_was_added_is_there_after_a_restart);
	tcase_add_test(tc, the_oldest_go_first);
	tcase_add_test(tc, rubbish_in_the_file_does_no_harm);
	tcase_add_test(tc, a_folder_that_is_not_there_is_an_error_when_it_matters);
	suite_add_tcase(s, tc);
	return s;
}
