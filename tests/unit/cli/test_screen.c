#include "cli/screen.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/code.h"

Suite *suite_screen(void);

static void set(const char *name, const char *value)
{
	if (value == NULL)
		unsetenv(name);
	else
		setenv(name, value, 1);
}

START_TEST(the_locale_says_whether_a_terminal_speaks_utf8)
{
	static const struct {
		const char *lc_all, *lc_ctype, *lang;
		bool utf8;
	} cases[] = {
		{ NULL, NULL, NULL, false },
		{ "C", NULL, "en_US.UTF-8", false },
		{ "", "", "en_US.UTF-8", true },
		{ NULL, "C.utf8", "C", true },
		{ "de_DE.UTF-8@euro", "C", NULL, true },
		{ NULL, NULL, "de_DE.ISO-8859-1", false },
		{ NULL, NULL, "POSIX", false },
		{ "ja_JP.eucJP", NULL, "C.UTF-8", false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		set("LC_ALL", cases[i].lc_all);
		set("LC_CTYPE", cases[i].lc_ctype);
		set("LANG", cases[i].lang);
		ck_assert_msg(cli_utf8() == cases[i].utf8, "case %zu", i);
		ck_assert_str_eq(cli_cut_sign(), cases[i].utf8 ? "…" : "~");
	}
}
END_TEST

static const char *signs(const char *text)
{
	static char out[200];
	size_t n = cli_signs(text, strlen(text), out);

	out[n] = '\0';
	return out;
}

START_TEST(our_own_signs_are_ascii_where_it_does_not)
{
	setenv("LC_ALL", "C", 1);
	ck_assert_str_eq(signs("403 µs → 2.36 ms, ×3, – and so on, …"), "403 us -> 2.36 ms, x3, - and so on, ...");
	ck_assert_str_eq(signs("漢字 \xff é"), "漢字 \xff é"); /* a name is what it is */
	ck_assert_str_eq(signs("\xc2"), "\xc2");
	ck_assert_str_eq(signs(""), "");
	setenv("LC_ALL", "C.UTF-8", 1);
	ck_assert_str_eq(signs("403 µs → 2.36 ms"), "403 µs → 2.36 ms");
}
END_TEST

START_TEST(what_is_no_terminal_has_no_columns_and_no_colour)
{
	FILE *f = tmpfile();
	char *text;
	size_t n;
	FILE *memory = open_memstream(&text, &n);

	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	ck_assert(!cli_terminal(f) && !cli_colour(f) && !cli_terminal(memory));
	ck_assert_uint_eq(cli_columns(f), 0);
	ck_assert_uint_eq(cli_columns(memory), 0);
	fclose(f);
	fclose(memory);
	free(text);
}
END_TEST

Suite *suite_screen(void)
{
	Suite *s = suite_create("cli/screen");
	TCase *tc = tcase_create("screen");

	tcase_add_test(tc, the_locale_says_whether_a_terminal_speaks_utf8);
	tcase_add_test(tc, our_own_signs_are_ascii_where_it_does_not);
	tcase_add_test(tc, what_is_no_terminal_has_no_columns_and_no_colour);
	suite_add_tcase(s, tc);
	return s;
}
