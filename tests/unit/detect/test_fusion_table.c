#include "detect/fusion_table.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

Suite *suite_fusion_table(void);

static struct fusion_table *t;
static char path[] = "fusion-table-test.yaml";

static void up(void)
{
	struct err e = { 0 };

	ck_assert_msg(fusion_table_new(&t, &e) == OK, "%s", e.text);
}

static void down(void)
{
	fusion_table_free(t);
	unlink(path);
}

static int add(const char *yaml, struct err *e)
{
	err_clear(e);
	ck_assert(file_replace(path, str_of(yaml), 0600, NULL) == OK);
	return fusion_table_add(t, path, e);
}

START_TEST(the_compiled_in_table_has_every_section)
{
	size_t n;

	fusion_table_ops(t, &n);
	ck_assert_uint_ge(n, 15);
	ck_assert(fusion_table_op(t, STR("rms_norm")) != NULL);
	ck_assert(fusion_table_lists(t, LIST_VIEWS, STR("as_strided")));
	ck_assert(fusion_table_lists(t, LIST_WRAPPERS, STR("layer_norm")));
	ck_assert(fusion_table_lists(t, LIST_FUSIBLE, STR("native_layer_norm")));
	ck_assert(!fusion_table_lists(t, LIST_FUSIBLE, STR("mm")));
	ck_assert(fusion_table_listed(t, STR("prepare_softmax_online")));
	ck_assert(str_eq(fusion_table_same(t, STR("multiply")), STR("mul")));
	ck_assert(str_eq(fusion_table_same(t, STR("mul")), STR("mul")));
	ck_assert(fusion_table_matches(t, PATTERN_OUTER, "Torch-Compiled Region: 0/0"));
	ck_assert(!fusion_table_matches(t, PATTERN_OUTER, "not a Torch-Compiled Region"));
	fusion_table_anchors(t, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert(str_has_prefix(fusion_table_text(), STR("# fusion.yaml")));
}
END_TEST

START_TEST(parts_have_counts_and_alternatives)
{
	const struct fused_op *op = fusion_table_op(t, STR("matmul_bias_activation"));

	ck_assert_uint_eq(op->ways[0].n_parts, 3);
	ck_assert_double_eq(op->ways[0].calls, 3);
	ck_assert_uint_eq(op->ways[0].parts[2].n_names, 2);
	ck_assert(str_eq(op->ways[0].parts[2].names[1], STR("gelu")));
	op = fusion_table_op(t, STR("rms_norm"));
	ck_assert_double_eq(op->ways[0].parts[0].calls, 3);
	ck_assert_double_eq(op->ways[0].calls, 6);
}
END_TEST

START_TEST(a_file_adds_and_replaces)
{
	struct err e;

	ck_assert_msg(add("views: my_view another\nfusible: [my_op]\nsame:\n  my_mul: mul\nbookkeeping:\n  - 'mine: .*'\n"
			  "regions:\n  module: ['my_graph.*']\nfused:\n  rms_norm:\n    names: only_mine\n"
			  "    parts: ['mul 2, add']\n  my_block:\n    names: [my_block, 'blk*']\n    parts:\n      - mm 2, relu\n",
			  &e) == OK, "%s", e.text);
	ck_assert(fusion_table_lists(t, LIST_VIEWS, STR("my_view")));
	ck_assert(fusion_table_lists(t, LIST_VIEWS, STR("another")));
	ck_assert(fusion_table_lists(t, LIST_VIEWS, STR("view")));
	ck_assert(fusion_table_lists(t, LIST_FUSIBLE, STR("my_op")));
	ck_assert(str_eq(fusion_table_same(t, STR("my_mul")), STR("mul")));
	ck_assert(fusion_table_matches(t, PATTERN_BOOKKEEPING, "mine: x"));
	ck_assert(fusion_table_matches(t, PATTERN_BOOKKEEPING, "Pregraph bytecode"));
	ck_assert(fusion_table_matches(t, PATTERN_MODULE, "my_graph_1"));
	ck_assert_uint_eq(fusion_table_op(t, STR("rms_norm"))->n_ways, 1);
	ck_assert(!fused_op_has_name(fusion_table_op(t, STR("rms_norm")), STR("_fused_rms_norm")));
	ck_assert(fused_op_has_name(fusion_table_op(t, STR("my_block")), STR("blk_7")));
}
END_TEST

START_TEST(an_empty_file_adds_nothing)
{
	struct err e;

	ck_assert_int_eq(add("# nothing yet\n", &e), OK);
}
END_TEST

START_TEST(mistakes_are_told_with_file_and_line)
{
	static const struct {
		const char *yaml, *says;
	} cases[] = {
		{ "view:\n  - x\n", "line 1: \"view\" is no section; did you mean \"views\"?" },
		{ "views:\n  a: b\n", "line 2: names are wanted" },
		{ "views:\n  - [x]\n", "line 2: a name is wanted" },
		{ "bookkeeping: abc\n", "line 1: a list of patterns is wanted" },
		{ "bookkeeping:\n  - fine\n  - '(a'\n", "line 3: \"(a\" is no POSIX extended regular expression" },
		{ "regions:\n  outr: [x]\n", "line 2: \"outr\" is no section; did you mean \"outer\"?" },
		{ "regions: [x]\n", "line 1: lists named outer" },
		{ "same: [x]\n", "line 1: lines like" },
		{ "same:\n  x: [y]\n", "line 2: lines like" },
		{ "fused: [x]\n", "line 1: fused ops are wanted" },
		{ "fused:\n  x: y\n", "line 2: a fused op has \"names\" and \"parts\"" },
		{ "fused:\n  x:\n    names: a\n", "line 2: a fused op has \"names\" and \"parts\"" },
		{ "fused:\n  x:\n    names: a\n    parts: [mul]\n    part: b\n", "line 5: \"part\" is not known here" },
		{ "fused:\n  x:\n    names: ''\n    parts: [mul]\n", "line 3: names are wanted" },
		{ "fused:\n  x:\n    names: a\n    parts: []\n", "line 4: parts are a list" },
		{ "fused:\n  x:\n    names: a\n    parts: ['']\n", "line 4: parts are wanted as one text" },
		{ "fused:\n  x:\n    names: a\n    parts:\n      - mul 2,\n", "line 5: a part has no name" },
		{ "fused:\n  x:\n    names: a\n    parts:\n      - mul two\n", "line 5: \"two\" is no number of calls" },
		{ "fused:\n  x:\n    names: a\n    parts:\n      - mul 0\n", "line 5: \"0\" is no number of calls" },
		{ "- a\n", "line 1: sections are wanted" },
		{ "a: [\n", "line 2" },
	};
	struct err e;

	for (size_t i = 0; i < COUNT(cases); i++) {
		int rc = add(cases[i].yaml, &e);

		ck_assert_msg(rc == E_USAGE, "%s: %d", cases[i].yaml, rc);
		ck_assert_msg(str_contains(str_of(e.text), str_of(cases[i].says)), "%s: \"%s\"", cases[i].yaml, e.text);
		ck_assert_msg(str_has_prefix(str_of(e.text), str_of(path)), "%s", e.text);
	}
}
END_TEST

START_TEST(nothing_of_a_bad_file_is_used)
{
	struct err e;

	ck_assert_int_eq(add("views: [taken]\nfused:\n  x: y\n", &e), E_USAGE);
	ck_assert(!fusion_table_listed(t, STR("taken")));
}
END_TEST

START_TEST(a_missing_file_is_said_to_be_missing)
{
	struct err e = { 0 };

	ck_assert_int_eq(fusion_table_add(t, "no-such-file.yaml", &e), E_NOT_FOUND);
	ck_assert(str_contains(str_of(e.text), STR("no-such-file.yaml")));
}
END_TEST

Suite *suite_fusion_table(void)
{
	Suite *s = suite_create("fusion_table");
	TCase *c = tcase_create("fusion_table");

	tcase_add_checked_fixture(c, up, down);
	tcase_add_test(c, the_compiled_in_table_has_every_section);
	tcase_add_test(c, parts_have_counts_and_alternatives);
	tcase_add_test(c, a_file_adds_and_replaces);
	tcase_add_test(c, an_empty_file_adds_nothing);
	tcase_add_test(c, mistakes_are_told_with_file_and_line);
	tcase_add_test(c, nothing_of_a_bad_file_is_used);
	tcase_add_test(c, a_missing_file_is_said_to_be_missing);
	suite_add_tcase(s, c);
	return s;
}
