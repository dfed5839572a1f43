#include "net/token.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

Suite *suite_token(void);

static char path[] = "/tmp/test-token-XXXXXX";
static char *token;
static struct err e;

static void up(void)
{
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	unsetenv("TRAINSPOTTER_TOKEN");
}

static void down(void)
{
	unlink(path);
	mem_free(token);
}

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(without_file_and_variable_there_is_no_token)
{
	ck_assert_int_eq(token_load(NULL, &token, &e), OK);
	ck_assert_ptr_null(token);
	ck_assert_int_eq(token_load("", &token, &e), OK);
	ck_assert_ptr_null(token);
	setenv("TRAINSPOTTER_TOKEN", "", 1);
	ck_assert_int_eq(token_load(NULL, &token, &e), OK);
	ck_assert_ptr_null(token);
}
END_TEST

START_TEST(the_file_goes_before_the_variable)
{
	setenv("TRAINSPOTTER_TOKEN", "from-variable", 1);
	write_file("\n  from-file \r\n");
	ck_assert_int_eq(token_load(path, &token, &e), OK);
	ck_assert_str_eq(token, "from-file");
	mem_free(token);
	ck_assert_int_eq(token_load(NULL, &token, &e), OK);
	ck_assert_str_eq(token, "from-variable");
}
END_TEST

START_TEST(a_file_without_a_token_is_an_error_and_not_no_token)
{
	setenv("TRAINSPOTTER_TOKEN", "from-variable", 1);
	write_file(" \n");
	ck_assert_int_eq(token_load(path, &token, &e), E_USAGE);
	ck_assert_ptr_null(token);
	ck_assert(str_has_suffix(str_of(e.text), STR(": is empty, want a token")));
	ck_assert_int_eq(token_load("/nonexistent/token", &token, &e), E_NOT_FOUND);
}
END_TEST

START_TEST(a_file_that_is_too_large_is_no_token)
{
	char *large = mem_get(TOKEN_MAX + 2);

	memset(large, 'x', TOKEN_MAX + 1);
	write_file(large);
	ck_assert_int_eq(token_load(path, &token, &e), E_LIMIT);
	ck_assert_ptr_null(token);
	mem_free(large);
}
END_TEST

Suite *suite_token(void)
{
	Suite *s = suite_create("net/token");
	TCase *tc = tcase_create("token");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, without_file_and_variable_there_is_no_token);
	tcase_add_test(tc, the_file_goes_before_the_variable);
	tcase_add_test(tc, a_file_without_a_token_is_an_error_and_not_no_token);
	tcase_add_test(tc, a_file_that_is_too_large_is_no_token);
	suite_add_tcase(s, tc);
	return s;
}
