#include "base/err.h"

#include <check.h>
#include <errno.h>
#include <string.h>

Suite *suite_err(void);

START_TEST(a_sentence_gets_contexts_in_front_and_keeps_its_code)
{
	struct err e = { 0 };

	ck_assert_int_eq(err_set(&e, E_FORMAT, "byte %d is wrong", 7), E_FORMAT);
	ck_assert_int_eq(err_add(&e, "segment %u", 3U), E_FORMAT);
	ck_assert_int_eq(err_add(&e, "spool"), E_FORMAT);
	ck_assert_str_eq(e.text, "spool: segment 3: byte 7 is wrong");
	err_clear(&e);
	ck_assert_int_eq(e.code, OK);
	ck_assert_str_eq(e.text, "");
}
END_TEST

static const struct {
	int sys, code;
} systems[] = {
	{ ENOSPC, E_FULL }, { EDQUOT, E_FULL }, { ENOENT, E_NOT_FOUND }, { EACCES, E_DENIED }, { EPERM, E_DENIED },
	{ EIO, E_SYS },
};

START_TEST(a_system_error_gets_the_code_that_callers_act_on)
{
	struct err e = { 0 };

	errno = systems[_i].sys;
	ck_assert_int_eq(err_sys(&e, "%s: write", "/x"), systems[_i].code);
	ck_assert_int_eq(errno, systems[_i].sys);
	ck_assert(strncmp(e.text, "/x: write: ", 11) == 0);
	ck_assert_str_eq(e.text + 11, strerror(systems[_i].sys));
	errno = systems[_i].sys;
	ck_assert_int_eq(err_sys(NULL, "x"), systems[_i].code);
}
END_TEST

START_TEST(a_long_sentence_is_cut_and_still_ends)
{
	struct err e = { 0 };
	char text[600];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(err_set(&e, E_LIMIT, "%s", text), E_LIMIT);
	ck_assert_uint_eq(strlen(e.text), sizeof(e.text) - 1);
	err_add(&e, "%s", text);
	ck_assert_uint_eq(strlen(e.text), sizeof(e.text) - 1);
	ck_assert_int_eq(e.code, E_LIMIT);
}
END_TEST

START_TEST(every_code_has_a_word)
{
	for (int code = E_STOPPED; code <= OK; code++)
		ck_assert_str_ne(code_name(code), "unknown");
	ck_assert_str_eq(code_name(OK), "ok");
	ck_assert_str_eq(code_name(-1000), "unknown");
}
END_TEST

START_TEST(a_sentence_is_one_line_whatever_is_in_it)
{
	struct err e = { 0 };

	err_set(&e, E_FORMAT, "a\033[2J\nb: bad");
	ck_assert_str_eq(e.text, "a?[2J?b: bad");
	err_add(&e, "in \r%s", "c");
	ck_assert_str_eq(e.text, "in ?c: a?[2J?b: bad");
	errno = ENOENT;
	err_sys(&e, "x\ty");
	ck_assert_str_eq(e.text, "x?y: No such file or directory");
}
END_TEST

Suite *suite_err(void)
{
	Suite *s = suite_create("base/err");
	TCase *tc = tcase_create("err");

	tcase_add_test(tc, a_sentence_gets_contexts_in_front_and_keeps_its_code);
	tcase_add_loop_test(tc, a_system_error_gets_the_code_that_callers_act_on, 0, COUNT(systems));
	tcase_add_test(tc, a_long_sentence_is_cut_and_still_ends);
	tcase_add_test(tc, every_code_has_a_word);
	tcase_add_test(tc, a_sentence_is_one_line_whatever_is_in_it);
	suite_add_tcase(s, tc);
	return s;
}
