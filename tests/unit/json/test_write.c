#include "json/write.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "tests/support/prop.h"

Suite *suite_write(void);

START_TEST(commas_and_ends_are_set_by_the_writer)
{
	struct buf b;
	struct json_writer w;

	buf_init(&b, 1000);
	jw_init(&w, &b);
	jw_object(&w);
	jw_key_str(&w, "op", STR("aten::mul \"x\"\n"));
	jw_key_i64(&w, "min", INT64_MIN);
	jw_key_u64(&w, "max", UINT64_MAX);
	jw_key_array(&w, "rows");
	jw_bool(&w, true);
	jw_null(&w);
	jw_object(&w);
	jw_end(&w);
	jw_array(&w);
	jw_end(&w);
	jw_raw(&w, STR("[1]"));
	jw_text(&w, NULL);
	jw_end(&w);
	jw_key_object(&w, "in");
	jw_key_bool(&w, "no", false);
	jw_key_null(&w, "none");
	jw_key_text(&w, "text", "t");
	jw_end(&w);
	jw_key_double(&w, "d", 0.5);
	jw_end(&w);
	ck_assert_int_eq(jw_finish(&w, NULL), OK);
	ck_assert_str_eq(b.p,
		"{\"op\":\"aten::mul \\\"x\\\"\\n\",\"min\":-9223372036854775808,"
		"\"max\":18446744073709551615,\"rows\":[true,null,{},[],[1],null],"
		"\"in\":{\"no\":false,\"none\":null,\"text\":\"t\"},\"d\":0.5}");
	buf_fini(&b);
}
END_TEST

START_TEST(a_double_is_the_shortest_text_that_reads_back)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 0.1, "0.1" },
		{ 1e6, "1000000" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 1e300, "1e+300" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ 5e-324, "4.94065645841247e-324" },
		{ NAN, "null" },
		{ INFINITY, "null" },
		{ -INFINITY, "null" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf b;
		struct json_writer w;

		buf_init(&b, 100);
		jw_init(&w, &b);
		jw_double(&w, cases[i].v);
		ck_assert_int_eq(jw_finish(&w, NULL), OK);
		ck_assert_str_eq(b.p, cases[i].text);
		buf_fini(&b);
	}
}
END_TEST

static bool doubles_come_back(struct rand_gen *g, size_t size, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < size; i++) {
		struct buf b;
		struct json_writer w;
		uint64_t bits = rand_u64(g);
		double v, back = 0;
		bool good;

		memcpy(&v, &bits, sizeof(v));
		if (!isfinite(v))
			continue;
		buf_init(&b, 100);
		jw_init(&w, &b);
		jw_double(&w, v);
		good = jw_finish(&w, NULL) == OK && str_to_double(buf_view(&b), &back) == OK && back == v;
		buf_fini(&b);
		if (!good)
			return false;
	}
	return true;
}

START_TEST(every_double_reads_back_the_same)
{
	prop_check("doubles", 50, 400, doubles_come_back, NULL);
}
END_TEST

START_TEST(a_full_buffer_is_told_at_the_end)
{
	struct buf b;
	struct json_writer w;
	struct err e = { 0 };

	buf_init(&b, 10);
	jw_init(&w, &b);
	jw_array(&w);
	for (int i = 0; i < 10; i++)
		jw_i64(&w, i);
	jw_end(&w);
	ck_assert_int_eq(jw_finish(&w, &e), E_LIMIT);
	ck_assert_str_eq(e.text, "JSON: larger than 10 bytes");
	buf_fini(&b);
}
END_TEST

START_TEST(a_member_without_a_key_is_a_bug_of_ours)
{
	struct buf b;
	struct json_writer w;

	buf_init(&b, 10);
	jw_init(&w, &b);
	jw_object(&w);
	jw_i64(&w, 1);
}
END_TEST

Suite *suite_write(void)
{
	Suite *s = suite_create("json/write");
	TCase *tc = tcase_create("write");

	tcase_add_test(tc, commas_and_ends_are_set_by_the_writer);
	tcase_add_test(tc, a_double_is_the_shortest_text_that_reads_back);
	tcase_add_test(tc, every_double_reads_back_the_same);
	tcase_add_test(tc, a_full_buffer_is_told_at_the_end);
	tcase_add_test_raise_signal(tc, a_member_without_a_key_is_a_bug_of_ours, SIGABRT);
	suite_add_tcase(s, tc);
	return s;
}
