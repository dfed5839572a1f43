#include "base/yaml.h"

#include <check.h>

#include "base/buf.h"
#include "base/mem.h"

Suite *suite_yaml(void);

static struct arena arena;
static struct err e;

static void up(void)
{
	arena_init(&arena, 64 << 20);
	err_clear(&e);
}

static void down(void)
{
	arena_fini(&arena);
}

START_TEST(a_document_becomes_a_tree_with_lines)
{
	const struct yaml_node *root, *list;

	ck_assert_int_eq(yaml_parse(&arena, STR("# comment\na: 1\nlist:\n  - x\n  - \"2\"\nsub: {k: v, empty: }\n"), "f",
				 &root, &e), OK);
	ck_assert_int_eq(root->kind, YAML_MAP);
	ck_assert_uint_eq(root->n, 3);
	ck_assert(str_eq(yaml_get(root, STR("a"))->text, STR("1")));
	ck_assert(!yaml_get(root, STR("a"))->quoted);
	ck_assert_uint_eq(yaml_get(root, STR("a"))->key_line, 2);
	list = yaml_get(root, STR("list"));
	ck_assert_int_eq(list->kind, YAML_LIST);
	ck_assert_uint_eq(list->n, 2);
	ck_assert_uint_eq(list->items[1].line, 5);
	ck_assert(list->items[1].quoted);
	ck_assert(str_eq(yaml_get(yaml_get(root, STR("sub")), STR("k"))->text, STR("v")));
	ck_assert(str_empty(yaml_get(yaml_get(root, STR("sub")), STR("empty"))->text));
	ck_assert_ptr_null(yaml_get(root, STR("b")));
	ck_assert_ptr_null(yaml_get(list, STR("b")));
	ck_assert_ptr_null(yaml_get(NULL, STR("b")));
}
END_TEST

static const char *const empties[] = { "", "\n\n", "# only a comment\n", "---\n", "---\n...\n" };

START_TEST(an_empty_document_is_an_empty_mapping)
{
	const struct yaml_node *root;

	ck_assert_int_eq(yaml_parse(&arena, str_of(empties[_i]), "f", &root, &e), OK);
	ck_assert_int_eq(root->kind, YAML_MAP);
	ck_assert_uint_eq(root->n, 0);
}
END_TEST

static const struct {
	const char *text, *says;
} bad[] = {
	{ "a: 1\nb: &x 2\n", "f: line 2: anchors (&name) are not supported" },
	{ "a: 1\nb: *x\n", "f: line 2: aliases (*name) are not supported" },
	{ "a: 1\nb: !!int 2\n", "f: line 2: tags (!name) are not supported" },
	{ "&x a: 1\n", "f: line 1: anchors" },
	{ "a: &x\n  b: 1\n", "f: line 1: anchors" },
	{ "a: !t [1]\n", "f: line 1: tags" },
	{ "a: 1\nb: 2\na: 3\n", "f: line 3: key \"a\" stands twice; first on line 1" },
	{ "? [1]\n: 2\n", "f: line 1: a key must be a plain text" },
	{ "a:\n\tb: 1\n", "f: line 2: not YAML: " },
	{ "a: [1, 2\n", "f: line 2: not YAML: " },
	{ "a: 1\n b: 2\n", "f: line 2: not YAML: " },
	{ "a: \"x\n", "f: line 2: not YAML: " },
	{ "a: 1\n---\nb: 2\n", "f: line 3: a second document" },
	{ "a: \xff\n", "f: byte 3: " },
};

START_TEST(a_mistake_is_told_with_its_line)
{
	const struct yaml_node *root;

	ck_assert_int_eq(yaml_parse(&arena, str_of(bad[_i].text), "f", &root, &e), E_FORMAT);
	ck_assert_msg(strncmp(e.text, bad[_i].says, strlen(bad[_i].says)) == 0, "%s", e.text);
	ck_assert_ptr_null(root);
}
END_TEST

static int parse_repeated(const char *piece, size_t times, const char *end)
{
	const struct yaml_node *root;
	struct buf b;
	int rc;

	buf_init(&b, 4 << 20);
	for (size_t i = 0; i < times; i++)
		buf_text(&b, piece);
	buf_text(&b, end);
	rc = yaml_parse(&arena, buf_view(&b), "f", &root, &e);
	buf_fini(&b);
	return rc;
}

START_TEST(depth_size_and_number_of_values_have_ceilings)
{
	ck_assert_int_eq(parse_repeated("[", 64, "1"), E_FORMAT); /* depth is fine, the brackets are not closed */
	ck_assert_int_eq(parse_repeated("[", 65, "1"), E_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "more than 64 levels"));
	ck_assert_int_eq(parse_repeated("- 1\n", 90000, ""), OK);
	ck_assert_int_eq(parse_repeated("- 1\n", 100001, ""), E_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "more than 100000 values"));
	ck_assert_int_eq(parse_repeated("# 345678901234567890\n", 60000, ""), E_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "larger than 1048576 bytes"));
}
END_TEST

START_TEST(a_small_arena_is_a_limit_not_a_crash)
{
	const struct yaml_node *root;
	struct arena small;

	arena_init(&small, 300);
	ck_assert_int_eq(yaml_parse(&small, STR("a: 1\nb: 2\nc: 3\nd: 4\n"), "f", &root, &e), E_LIMIT);
	arena_fini(&small);
	arena_init(&small, 10);
	ck_assert_int_eq(yaml_parse(&small, STR("a: 1"), "f", &root, &e), E_LIMIT);
	arena_fini(&small);
}
END_TEST

START_TEST(a_missing_file_is_not_found)
{
	const struct yaml_node *root;

	ck_assert_int_eq(yaml_load(&arena, "/nonexistent/f.yaml", &root, &e), E_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(e.text, "/nonexistent/f.yaml"));
}
END_TEST

Suite *suite_yaml(void)
{
	Suite *s = suite_create("base/yaml");
	TCase *tc = tcase_create("yaml");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, a_document_becomes_a_tree_with_lines);
	tcase_add_loop_test(tc, an_empty_document_is_an_empty_mapping, 0, COUNT(empties));
	tcase_add_loop_test(tc, a_mistake_is_told_with_its_line, 0, COUNT(bad));
	tcase_add_test(tc, depth_size_and_number_of_values_have_ceilings);
	tcase_add_test(tc, a_small_arena_is_a_limit_not_a_crash);
	tcase_add_test(tc, a_missing_file_is_not_found);
	suite_add_tcase(s, tc);
	return s;
}
