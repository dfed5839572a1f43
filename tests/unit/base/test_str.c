#include "base/str.h"

#include <check.h>
#include <locale.h>

#include "base/rand.h"

Suite *suite_str(void);

/* The definition of a pattern, by trying everything. */
static bool naive_glob(const char *p, const char *s)
{
	if (*p == '\0')
		return *s == '\0';
	if (*p == '*')
		return naive_glob(p + 1, s) || (*s != '\0' && naive_glob(p, s + 1));
	return *s != '\0' && (*p == '?' || *p == *s) && naive_glob(p + 1, s + 1);
}

static void random_text(struct rand_gen *g, const char *alphabet, size_t letters, char *out, size_t cap)
{
	size_t n = rand_below(g, cap);

	for (size_t i = 0; i < n; i++)
		out[i] = alphabet[rand_below(g, letters)];
	out[n] = '\0';
}

START_TEST(a_pattern_matches_what_its_definition_says)
{
	char pattern[9], text[13];
	struct rand_gen g;

	rand_seed(&g, 4);
	for (int i = 0; i < 200000; i++) {
		random_text(&g, "ab*?", 4, pattern, sizeof(pattern));
		random_text(&g, "ab", 2, text, sizeof(text));
		ck_assert_msg(str_glob(str_of(pattern), str_of(text)) == naive_glob(pattern, text), "%s %s", pattern,
			text);
	}
}
END_TEST

START_TEST(a_hostile_pattern_takes_no_long_time)
{
	char text[20001], pattern[2001];

	memset(text, 'a', 20000);
	for (int i = 0; i < 2000; i += 2) {
		pattern[i] = '*';
		pattern[i + 1] = 'a';
	}
	pattern[1999] = 'b';
	ck_assert(!str_glob(str_make(pattern, 2000), str_make(text, 20000)));
}
END_TEST

START_TEST(whole_numbers_read_exactly_or_not_at_all)
{
	static const struct {
		const char *text;
		int rc;
		int64_t v;
	} rows[] = {
		{ "0", OK, 0 }, { "-0", OK, 0 }, { "+7", OK, 7 }, { "007", OK, 7 },
		{ "9223372036854775807", OK, INT64_MAX }, { "-9223372036854775808", OK, INT64_MIN },
		{ "9223372036854775808", E_LIMIT, 0 }, { "-9223372036854775809", E_LIMIT, 0 },
		{ "99999999999999999999999", E_LIMIT, 0 }, { "", E_FORMAT, 0 }, { "-", E_FORMAT, 0 },
		{ "+-1", E_FORMAT, 0 }, { " 1", E_FORMAT, 0 }, { "1 ", E_FORMAT, 0 }, { "1.0", E_FORMAT, 0 },
		{ "0x1", E_FORMAT, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t v = 0;

		ck_assert_msg(str_to_i64(str_of(rows[i].text), &v) == rows[i].rc, "%s", rows[i].text);
		ck_assert_int_eq(v, rows[i].v);
	}
}
END_TEST

START_TEST(a_fraction_reads_the_same_under_any_locale)
{
	static const char *const bad[] = { "", "1,5", "nan", "inf", "1e", " 1", "1x" };
	double v;

	setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed */
	ck_assert_int_eq(str_to_double(STR("-1.5e3"), &v), OK);
	ck_assert(v == -1500.0);
	for (size_t i = 0; i < COUNT(bad); i++)
		ck_assert_msg(str_to_double(str_of(bad[i]), &v) != OK, "%s", bad[i]);
	setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(splitting_gives_every_part_and_empty_ones_too)
{
	static const char *const parts[] = { "a", "", "bc", "" };
	struct str rest = STR("a,,bc,");
	size_t n = 0;

	while (rest.p != NULL) {
		struct str part = str_split(&rest, ',');

		ck_assert_uint_lt(n, COUNT(parts));
		ck_assert(str_eq(part, str_of(parts[n++])));
	}
	ck_assert_uint_eq(n, COUNT(parts));
}
END_TEST

START_TEST(pieces_are_found_trimmed_and_dropped)
{
	struct str s = STR("  aten::mul\t\n");

	s = str_trim(s);
	ck_assert(str_eq(s, STR("aten::mul")));
	ck_assert_uint_eq(str_find(s, STR("::")), 4);
	ck_assert_uint_eq(str_find(s, STR("add")), s.n);
	ck_assert(str_contains(s, STR("")));
	ck_assert(str_drop_prefix(&s, STR("aten::")));
	ck_assert(!str_drop_prefix(&s, STR("aten::")));
	ck_assert(str_drop_suffix(&s, STR("l")));
	ck_assert(str_eq(s, STR("mu")));
	ck_assert(str_empty(str_from(s, 9)));
	ck_assert(str_eq(str_upto(s, 9), s));
	ck_assert_int_lt(str_cmp(STR("a"), STR("aa")), 0);
	ck_assert_int_gt(str_cmp(STR("\xff"), STR("a")), 0);
	ck_assert(str_empty(str_trim(STR(" \n"))));
}
END_TEST

START_TEST(a_copy_says_whether_it_is_whole)
{
	char out[4];

	ck_assert(str_copy_to(STR("abc"), out, sizeof(out)));
	ck_assert_str_eq(out, "abc");
	ck_assert(!str_copy_to(STR("abcd"), out, sizeof(out)));
	ck_assert_str_eq(out, "abc");
	ck_assert(!str_copy_to(str_make("a\0b", 3), out, sizeof(out)));
}
END_TEST

START_TEST(characters_are_counted_not_bytes)
{
	ck_assert_uint_eq(str_chars(STR("403 µs")), 6);
	ck_assert_uint_eq(str_chars(STR("")), 0);
	ck_assert(str_eq(str_upto_chars(STR("µµs"), 2), STR("µµ")));
	ck_assert(str_eq(str_upto_chars(STR("µµs"), 0), STR("")));
	ck_assert(str_eq(str_upto_chars(STR("µ"), 9), STR("µ")));
}
END_TEST

START_TEST(what_a_terminal_would_obey_is_shown_as_a_question_mark)
{
	const struct str raw = STR("a\033[31m\r\n\tb\177c\302\2331m\302\240\303\251\302");
	char out[64];

	ck_assert(str_eq(str_make(out, str_tame(raw.p, raw.n, out)), STR("a?[31m???b?c?1m\302\240\303\251\302")));
	memcpy(out, raw.p, raw.n);
	ck_assert(str_eq(str_make(out, str_tame(out, raw.n, out)), STR("a?[31m???b?c?1m\302\240\303\251\302")));
	ck_assert_uint_eq(str_tame("", 0, out), 0);
}
END_TEST

START_TEST(the_last_line_is_the_last_with_something_in_it)
{
	ck_assert(str_eq(str_last_line(STR("a\n b \n\n  \n")), STR("b")));
	ck_assert(str_eq(str_last_line(STR("only")), STR("only")));
	ck_assert(str_empty(str_last_line(STR("\n\n"))));
	ck_assert(str_empty(str_last_line(STR(""))));
}
END_TEST

Suite *suite_str(void)
{
	Suite *s = suite_create("base/str");
	TCase *tc = tcase_create("str");

	tcase_add_test(tc, the_last_line_is_the_last_with_something_in_it);
	tcase_add_test(tc, a_pattern_matches_what_its_definition_says);
	tcase_add_test(tc, a_hostile_pattern_takes_no_long_time);
	tcase_add_test(tc, whole_numbers_read_exactly_or_not_at_all);
	tcase_add_test(tc, a_fraction_reads_the_same_under_any_locale);
	tcase_add_test(tc, splitting_gives_every_part_and_empty_ones_too);
	tcase_add_test(tc, pieces_are_found_trimmed_and_dropped);
	tcase_add_test(tc, a_copy_says_whether_it_is_whole);
	tcase_add_test(tc, characters_are_counted_not_bytes);
	tcase_add_test(tc, what_a_terminal_would_obey_is_shown_as_a_question_mark);
	suite_add_tcase(s, tc);
	return s;
}
