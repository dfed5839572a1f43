#include "cli/width.h"

#include <check.h>

Suite *suite_width(void);

static const struct {
	const char *text;
	size_t columns;
} texts[] = {
	{ "", 0 },	    { "aten::mul", 9 },	   { "403 µs", 6 },	 { "…", 1 },
	{ "漢字カーネル", 12 }, { "한국어", 6 },	   { "－ＦＵＬＬ", 10 },	 { "ｶｰﾈﾙ", 4 }, /* half-width */
	{ "🚀🔥", 4 },	    { "⚡", 2 },		   { "✓", 1 },		 { "→", 1 },
	{ "e\xcc\x81", 1 }, { "\xe2\x80\x8bzero", 4 }, { "👩\xe2\x80\x8d👧", 4 }, { "🇩🇪", 2 },
	{ "か\xe3\x82\x99", 2 }, { "𠀀", 2 },	   { "\xff\xfe", 2 },	 { "\xe6\xbc", 2 }, /* no UTF-8 */
	{ "\xe6\xbcx", 3 }, { "\xcc\x81", 0 },
};

START_TEST(a_text_is_as_wide_as_a_terminal_draws_it)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		ck_assert_msg(width_of(str_of(texts[i].text)) == texts[i].columns, "\"%s\": %zu columns, not %zu", texts[i].text,
			width_of(str_of(texts[i].text)), texts[i].columns);
}
END_TEST

START_TEST(ranges_are_wide_from_their_first_character_to_their_last)
{
	static const struct {
		const char *before, *first, *last, *after;
	} edges[] = {
		{ "\xe1\x83\xbf", "\xe1\x84\x80", "\xe1\x85\x9f", NULL },	      /* U+1100 to U+115F */
		{ "\xef\xbc\x80", "\xef\xbc\x81", "\xef\xbd\xa0", "\xef\xbd\xa1" }, /* U+FF01 to U+FF60 */
		{ "\xea\xaf\xbf", "\xea\xb0\x80", "\xed\x9e\xa3", "\xed\x9e\xa4" }, /* U+AC00 to U+D7A3 */
	};

	for (size_t i = 0; i < COUNT(edges); i++) {
		ck_assert_uint_eq(width_of(str_of(edges[i].before)), 1);
		ck_assert_uint_eq(width_of(str_of(edges[i].first)), 2);
		ck_assert_uint_eq(width_of(str_of(edges[i].last)), 2);
		ck_assert_uint_eq(edges[i].after == NULL ? 1 : width_of(str_of(edges[i].after)), 1);
	}
}
END_TEST

START_TEST(a_part_has_whole_characters_and_is_never_wider_than_asked)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct str all = str_of(texts[i].text);

		for (size_t columns = 0; columns < 14; columns++) {
			struct str head = width_upto(all, columns), tail = width_ending(all, columns);

			ck_assert_uint_le(width_of(head), columns);
			ck_assert_uint_le(width_of(tail), columns);
			ck_assert(str_has_prefix(all, head) && str_has_suffix(all, tail));
			ck_assert_uint_eq(width_of(head) + width_of(str_from(all, head.n)), texts[i].columns);
			ck_assert_uint_eq(width_of(tail) + width_of(str_upto(all, all.n - tail.n)), texts[i].columns);
			if (columns >= texts[i].columns)
				ck_assert(head.n == all.n && tail.n == all.n);
		}
	}
}
END_TEST

START_TEST(marks_stay_with_the_character_that_they_stand_on)
{
	ck_assert(str_eq(width_upto(STR("e\xcc\x81x"), 1), STR("e\xcc\x81")));
	ck_assert(str_eq(width_upto(STR("漢字"), 3), STR("漢")));
	ck_assert(str_eq(width_ending(STR("xe\xcc\x81"), 1), STR("e\xcc\x81")));
	ck_assert(str_eq(width_ending(STR("漢字"), 3), STR("字")));
}
END_TEST

Suite *suite_width(void)
{
	Suite *s = suite_create("cli/width");
	TCase *tc = tcase_create("width");

	tcase_add_test(tc, a_text_is_as_wide_as_a_terminal_draws_it);
	tcase_add_test(tc, ranges_are_wide_from_their_first_character_to_their_last);
	tcase_add_test(tc, a_part_has_whole_characters_and_is_never_wider_than_asked);
	tcase_add_test(tc, marks_stay_with_the_character_that_they_stand_on);
	suite_add_tcase(s, tc);
	return s;
}
