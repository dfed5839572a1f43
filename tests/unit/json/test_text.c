#include "json/text.h"

#include <check.h>

#include "tests/support/prop.h"

Suite *suite_text(void);

START_TEST(escapes_become_what_they_stand_for)
{
	static const struct {
		const char *raw, *text;
	} cases[] = {
		{ "plain", "plain" },
		{ "a\\\"b\\\\c\\/d", "a\"b\\c/d" },
		{ "\\b\\f\\n\\r\\t", "\b\f\n\r\t" },
		{ "\\u00e9\\u20AC", "\xc3\xa9\xe2\x82\xac" },
		{ "\\ud83d\\ude00!", "\xf0\x9f\x98\x80!" },
		{ "\\ud83d", "\xef\xbf\xbd" },
		{ "\\ude00\\ud83dx", "\xef\xbf\xbd\xef\xbf\xbdx" },
		{ "\\ud83d\\u0041",
			"\xef\xbf\xbd"
			"A" },
		{ "C:\\work\\path\\x", "C:\\work\\path\\x" },
		{ "\\u12g4\\u12", "\\u12g4\\u12" },
		{ "end\\", "end\\" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf b;

		buf_init(&b, 100);
		json_unescape(str_of(cases[i].raw), &b);
		ck_assert_str_eq(buf_view(&b).p, cases[i].text);
		buf_fini(&b);
	}
}
END_TEST

START_TEST(each_ill_formed_part_of_utf8_becomes_one_replacement)
{
	static const struct {
		const char *raw;
		int replaced;
	} cases[] = {
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 0 },
		{ "a\xff\xfe\xc3z", 3 },
		{ "\xe2\x82", 1 },
		{ "\xe2\x82z", 1 },
		{ "\xc0\xaf", 2 },
		{ "\xed\xa0\x80", 3 },
		{ "\xf4\x90\x80\x80", 4 },
		{ "\xf0\x80\x80\x41", 3 },
		{ "\x80", 1 },
		{ "\xf1\x80\x80\xe1\x80\xc2", 3 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf b;
		int found = 0;

		buf_init(&b, 100);
		json_unescape(str_of(cases[i].raw), &b);
		for (const char *p = buf_view(&b).p; (p = strstr(p, "\xef\xbf\xbd")) != NULL; p++)
			found++;
		ck_assert_msg(found == cases[i].replaced, "case %zu: %d", i, found);
		ck_assert(json_utf8_valid(buf_view(&b)));
		ck_assert_int_eq(json_utf8_valid(str_of(cases[i].raw)), cases[i].replaced == 0);
		buf_fini(&b);
	}
}
END_TEST

START_TEST(ill_formed_utf8_is_found_behind_plain_text_too)
{
	ck_assert(json_utf8_valid(STR("0123456789abcdef0123456789abcdef")));
	ck_assert(!json_utf8_valid(STR("0123456789abcdef0123456789abcde\xff")));
	ck_assert(!json_utf8_valid(STR("0123456\xc3")));
}
END_TEST

static bool escaped_text_comes_back(struct rand_gen *g, size_t size, void *arg)
{
	struct buf text, escaped, back;
	bool good;

	(void)arg;
	buf_init(&text, 4 * size);
	buf_init(&escaped, 8 * 4 * size);
	buf_init(&back, 8 * 4 * size);
	for (size_t i = 0; i < size; i++)
		buf_byte(&text, (int)rand_below(g, 128));
	json_escape(buf_view(&text), &escaped);
	json_unescape(buf_view(&escaped), &back);
	good = buf_finish(&back, "back", NULL) == OK && str_eq(buf_view(&text), buf_view(&back));
	for (size_t i = 0; i < escaped.n; i++)
		good = good && (unsigned char)escaped.p[i] >= 0x20;
	buf_fini(&text);
	buf_fini(&escaped);
	buf_fini(&back);
	return good;
}

START_TEST(what_is_escaped_comes_back_when_unescaped)
{
	prop_check("escape", 200, 500, escaped_text_comes_back, NULL);
}
END_TEST

START_TEST(what_a_terminal_or_a_reader_of_lines_may_obey_is_escaped)
{
	struct buf out;

	buf_init(&out, 1000);
	json_escape(STR("a\x7f" "b\xc2\x9b" "c\xc2\xa0\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xc2"), &out);
	ck_assert_str_eq(buf_view(&out).p,
		"a\\u007fb\\u009bc\xc2\xa0\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaa\xef\xbf\xbd");
	buf_fini(&out);
}
END_TEST

START_TEST(unescaping_into_an_arena_says_when_it_is_full)
{
	struct arena a;

	arena_init(&a, 4096);
	ck_assert(str_eq(json_unescape_to(&a, STR("a\\tb")), STR("a\tb")));
	ck_assert(str_eq(json_unescape_to(&a, str_of(NULL)), STR("")));
	ck_assert(!arena_full(&a));
	for (int i = 0; i < 10; i++)
		json_unescape_to(&a, str_make((char[1000]){ '\\' }, 1000));
	ck_assert(arena_full(&a));
	arena_fini(&a);
}
END_TEST

Suite *suite_text(void)
{
	Suite *s = suite_create("json/text");
	TCase *tc = tcase_create("text");

	tcase_add_test(tc, escapes_become_what_they_stand_for);
	tcase_add_test(tc, each_ill_formed_part_of_utf8_becomes_one_replacement);
	tcase_add_test(tc, ill_formed_utf8_is_found_behind_plain_text_too);
	tcase_add_test(tc, what_is_escaped_comes_back_when_unescaped);
	tcase_add_test(tc, what_a_terminal_or_a_reader_of_lines_may_obey_is_escaped);
	tcase_add_test(tc, unescaping_into_an_arena_says_when_it_is_full);
	suite_add_tcase(s, tc);
	return s;
}
