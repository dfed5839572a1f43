#include "json/tree.h"

#include <check.h>
#include <stdio.h>

Suite *suite_tree(void);

static struct arena arena;

static void setup(void)
{
	arena_init(&arena, 1 << 20);
}

static void teardown(void)
{
	arena_fini(&arena);
}

static const struct json_node *parse(const char *text)
{
	const struct json_node *root = NULL;
	struct err e = { 0 };

	ck_assert_msg(json_parse(&arena, str_of(text), &root, &e) == OK, "%s", e.text);
	return root;
}

static void refused(const char *text, int code, const char *sentence)
{
	const struct json_node *root = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(json_parse(&arena, str_of(text), &root, &e), code);
	ck_assert_str_eq(e.text, sentence);
}

START_TEST(a_document_becomes_a_tree)
{
	const struct json_node *root = parse(
		"{\"a\\n\":[1,\"x\\ty\",{\"b\":null,\"c\":[]}],\"d\":true,\"\":-1.50}");
	const struct json_node *list = json_get(root, "a\n");

	ck_assert_int_eq(root->kind, JSON_K_OBJECT);
	ck_assert_uint_eq(root->n, 3);
	ck_assert_int_eq(list->kind, JSON_K_ARRAY);
	ck_assert_uint_eq(list->n, 3);
	ck_assert_uint_eq(list->offset, 7);
	ck_assert(str_eq(list->items[0].text, STR("1")));
	ck_assert(str_eq(list->items[1].text, STR("x\ty")));
	ck_assert_int_eq(list->items[2].kind, JSON_K_OBJECT);
	ck_assert_int_eq(json_get(&list->items[2], "b")->kind, JSON_K_NULL);
	ck_assert_uint_eq(json_get(&list->items[2], "c")->n, 0);
	ck_assert(json_get(root, "d")->truth);
	ck_assert(str_eq(json_get(root, "")->text, STR("-1.50")));
	ck_assert_int_eq(parse(" 7 ")->kind, JSON_K_NUMBER);
}
END_TEST

START_TEST(missing_or_different_members_give_the_fallback)
{
	const struct json_node *root = parse("{\"s\":\"text\",\"i\":12,\"f\":1.5,\"t\":true}");

	ck_assert(str_eq(json_get_str(root, "s"), STR("text")));
	ck_assert(str_eq(json_get_str(root, "i"), STR("")));
	ck_assert_int_eq(json_get_i64(root, "i", -1), 12);
	ck_assert_int_eq(json_get_i64(root, "f", -1), -1);
	ck_assert_int_eq(json_get_i64(root, "none", -1), -1);
	ck_assert_double_eq(json_get_double(root, "f", 0), 1.5);
	ck_assert_double_eq(json_get_double(root, "s", 0), 0);
	ck_assert(json_get_bool(root, "t", false));
	ck_assert(json_get_bool(root, "s", true));
	ck_assert_ptr_null(json_get(NULL, "x"));
	ck_assert_ptr_null(json_get(json_get(root, "s"), "x"));
}
END_TEST

START_TEST(a_key_twice_is_refused_with_its_place)
{
	char many[400];
	size_t n = 0;

	refused("{\"a\":1,\n \"b\":2,\"\\u0061\":3}", E_FORMAT,
		"line 2, column 17 (byte 24): a second value of key \"a\"");
	many[n++] = '{';
	for (int i = 0; i < 20; i++)
		n += (size_t)snprintf(many + n, sizeof(many) - n, "\"k%d\":%d,", i, i);
	snprintf(many + n, sizeof(many) - n, "\"k7\":0}");
	refused(many, E_FORMAT, "line 1, column 167 (byte 166): a second value of key \"k7\"");
	parse("[{\"a\":1},{\"a\":2},{\"b\":{\"b\":3}}]");
}
END_TEST

START_TEST(damage_is_refused_with_its_place)
{
	refused("{\"a\":\n[1,}", E_FORMAT, "line 2, column 4 (byte 9): expected a value, found '}'");
	refused("", E_FORMAT, "line 1, column 1 (byte 0): the document is empty");
	refused("[1] 2", E_FORMAT, "line 1, column 5 (byte 4): expected nothing more, found '2'");
}
END_TEST

START_TEST(depth_over_64_is_refused)
{
	char text[200];

	memset(text, '[', 64);
	memset(text + 64, ']', 64);
	text[128] = '\0';
	parse(text);
	memset(text, '[', 65);
	memset(text + 65, ']', 65);
	text[130] = '\0';
	refused(text, E_LIMIT, "line 1, column 65 (byte 64): more than 64 objects and arrays in each other");
}
END_TEST

START_TEST(a_document_larger_than_the_arena_is_refused)
{
	char text[4001];

	arena_fini(&arena);
	arena_init(&arena, 8192);
	memset(text, 0, sizeof(text));
	for (int i = 0; i < 4000; i += 2)
		memcpy(text + i, i ? ",1" : "[1", 2);
	text[3999] = ']';
	text[3998] = ' ';
	refused(text, E_LIMIT, "a document that takes more than 8192 bytes of memory");
}
END_TEST

Suite *suite_tree(void)
{
	Suite *s = suite_create("json/tree");
	TCase *tc = tcase_create("tree");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_document_becomes_a_tree);
	tcase_add_test(tc, missing_or_different_members_give_the_fallback);
	tcase_add_test(tc, a_key_twice_is_refused_with_its_place);
	tcase_add_test(tc, damage_is_refused_with_its_place);
	tcase_add_test(tc, depth_over_64_is_refused);
	tcase_add_test(tc, a_document_larger_than_the_arena_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
