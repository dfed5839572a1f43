#include "base/quantity.h"

#include <check.h>

#include "base/clock.h"

Suite *suite_quantity(void);

static const struct {
	enum quantity q;
	const char *text;
	int64_t min, max;
	int rc;
	int64_t v;
} rows[] = {
	{ QUANTITY_NUMBER, "-5", 0, 0, OK, -5 },
	{ QUANTITY_NUMBER, "-5", 0, 10, E_LIMIT, 77 },
	{ QUANTITY_NUMBER, "10", 0, 10, OK, 10 },
	{ QUANTITY_NUMBER, "11", 0, 10, E_LIMIT, 77 },
	{ QUANTITY_NUMBER, "5m", 0, 0, E_FORMAT, 77 },
	{ QUANTITY_DURATION, "5m", 0, 0, OK, 5 * NS_PER_MIN },
	{ QUANTITY_DURATION, "5m", NS_PER_S, NS_PER_MIN, E_LIMIT, 77 },
	{ QUANTITY_SIZE, "1KiB", 1, 1024, OK, 1024 },
	{ QUANTITY_SIZE, "0", 1, 1024, E_LIMIT, 77 },
	{ QUANTITY_SIZE, "x", 1, 1024, E_FORMAT, 77 },
};

START_TEST(a_quantity_is_read_within_its_range_or_left)
{
	int64_t v = 77;

	ck_assert_int_eq(quantity_parse(rows[_i].q, str_of(rows[_i].text), rows[_i].min, rows[_i].max, &v),
		rows[_i].rc);
	ck_assert_int_eq(v, rows[_i].v);
}
END_TEST

static const struct {
	enum quantity q;
	int64_t min, max;
	const char *words;
} words[] = {
	{ QUANTITY_NUMBER, 0, 0, "a whole number" },
	{ QUANTITY_NUMBER, 1, 65535, "a whole number from 1 to 65535" },
	{ QUANTITY_NUMBER, 0, INT64_MAX, "a whole number of at least 0" },
	{ QUANTITY_DURATION, NS_PER_S, NS_PER_DAY, "a duration such as 90s, 5m or 7d from 1s to 1d" },
	{ QUANTITY_SIZE, 0, INT64_MAX, "a size such as 64KiB or 2GiB" },
	{ QUANTITY_SIZE, 1 << 20, INT64_MAX, "a size such as 64KiB or 2GiB of at least 1MiB" },
};

START_TEST(a_quantity_tells_what_would_be_right)
{
	struct buf out;

	buf_init(&out, 1000);
	quantity_words(words[_i].q, words[_i].min, words[_i].max, &out);
	ck_assert_str_eq(out.p, words[_i].words);
	buf_fini(&out);
}
END_TEST

START_TEST(a_choice_is_found_by_its_whole_word)
{
	static const char *const list[] = { "table", "json", NULL };
	struct buf out;
	int64_t v = 7;

	ck_assert_int_eq(choice_parse(list, STR("jso"), &v), E_FORMAT);
	ck_assert_int_eq(v, 7);
	ck_assert_int_eq(choice_parse(list, STR("json"), &v), OK);
	ck_assert_int_eq(v, 1);
	buf_init(&out, 100);
	choice_words(list, &out);
	ck_assert_str_eq(out.p, "one of table, json");
	buf_fini(&out);
}
END_TEST

Suite *suite_quantity(void)
{
	Suite *s = suite_create("base/quantity");
	TCase *tc = tcase_create("quantity");

	tcase_add_loop_test(tc, a_quantity_is_read_within_its_range_or_left, 0, COUNT(rows));
	tcase_add_loop_test(tc, a_quantity_tells_what_would_be_right, 0, COUNT(words));
	tcase_add_test(tc, a_choice_is_found_by_its_whole_word);
	suite_add_tcase(s, tc);
	return s;
}
