#include "trace/name_rules.h"

#include "base/file.h"
#include "tests/unit/trace/help.h"
#include "trace/window.h"

Suite *suite_name_rules(void);

static struct name_rules *rules;
static struct buf scratch;
static struct err e;

static void begin(void)
{
	rules = NULL;
	e = (struct err){ 0 };
	buf_init(&scratch, 1 << 20);
}

static void over(void)
{
	name_rules_free(rules);
	buf_fini(&scratch);
	help_dir_drop();
}

static void take(const char *text)
{
	name_rules_free(rules);
	rules = NULL;
	ck_assert_msg(name_rules_parse(&rules, str_of(text), "rules.yaml", &e) == OK, "%s", e.text);
}

static void expect(const char *name, const char *series)
{
	struct str got = name_rules_name(rules, str_of(name), &scratch);

	ck_assert_msg(str_eq(got, str_of(series)), "%s: %.*s instead of %s", name, STR_ARG(got), series);
}

START_TEST(a_glob_takes_the_whole_name)
{
	take("rules:\n  - glob: 'request-*'\n  - glob: 'tenant_?_*'\n    with: tenant\n");
	expect("request-12-of-7", "request-*");
	expect("tenant_a_load", "tenant");
	expect("tenant_ab_load", "tenant_ab_load");
	expect("a request-12", "a request-12");
	expect("", "");
}
END_TEST

START_TEST(a_regex_takes_every_part_that_matches)
{
	take("rules:\n  - regex: '[0-9]+'\n");
	expect("shard12of7", "shard*of*");
	expect("shard", "shard");
	take("rules:\n  - regex: '^x'\n    with: ''\n");
	expect("xxa", "xa");
	expect("x", "x"); /* no name would be left */
	take("rules:\n  - regex: 'a|b$|(x|\\b)$'\n    with: '*'\n"); /* an empty match at the end is none */
	expect("ab", "**");
}
END_TEST

START_TEST(groups_of_a_regex_come_back)
{
	take("rules:\n  - regex: '^(load|save)_([0-9]+)_(rows)?'\n    with: '\\0|\\1|\\3|\\\\'\n");
	expect("save_12_rows of x", "save_12_rows|save|rows|\\ of x");
	expect("load_1_", "load_1_|load||\\");
}
END_TEST

START_TEST(rules_apply_in_order_each_to_what_the_last_one_left)
{
	take("rules:\n  - regex: 'a'\n    with: b\n  - regex: 'b+'\n    with: c\n  - glob: c\n    with: done\n");
	expect("ab", "done");
	expect("abx", "cx");
}
END_TEST

START_TEST(what_would_be_no_name_is_not_taken)
{
	take("rules:\n  - regex: '^.'\n    with: '*'\n");
	expect("\303\274x", "\303\274x"); /* half a character */
	expect("ax", "*x");
}
END_TEST

START_TEST(a_result_that_is_too_long_is_cut_and_stays_different)
{
	struct buf name;
	struct str got;

	take("rules:\n  - regex: 'x'\n    with: 'yyyyyyyy'\n");
	buf_init(&name, 1 << 20);
	buf_fill(&name, 'x', 1000);
	got = name_rules_name(rules, buf_view(&name), &scratch);
	ck_assert_uint_eq(got.n, WINDOW_NAME_MAX);
	ck_assert_uint_eq((unsigned char)got.p[WINDOW_NAME_MAX - 17], '~');
	buf_fini(&name);
}
END_TEST

START_TEST(no_rules_change_nothing)
{
	take("rules: []\n");
	expect("a", "a");
}
END_TEST

static const struct {
	const char *text, *sentence;
} wrong[] = {
	{ "", "rules.yaml: line 1: \"rules:\" and a list of rules are wanted" },
	{ "- glob: a\n", "rules.yaml: line 1: \"rules:\" and a list of rules are wanted" },
	{ "rules: yes\n", "rules.yaml: line 1: \"rules:\" and a list of rules are wanted" },
	{ "rule:\n  - glob: a\n", "rules.yaml: line 1: \"rule\" is not known here; did you mean \"rules\"?" },
	{ "rules:\n  - glob: a\n  - with: b\n",
		"rules.yaml: line 3: a rule has either \"glob\" or \"regex\", and \"with\" where it says what becomes of it" },
	{ "rules:\n  - glob: a\n    regex: b\n", "rules.yaml: line 2: a rule has either" },
	{ "rules:\n  - a\n", "rules.yaml: line 2: a rule has either" },
	{ "rules:\n  - glob: a\n    wiht: b\n", "rules.yaml: line 3: \"wiht\" is not known here; did you mean \"with\"?" },
	{ "rules:\n  - glob: [a]\n", "rules.yaml: line 2: a text is wanted here" },
	{ "rules:\n  - glob: ''\n", "rules.yaml: line 2: a text is wanted here" },
	{ "rules:\n  - glob: a\n    with: ''\n", "rules.yaml: line 3: a name cannot be empty" },
	{ "rules:\n  - regex: 'a('\n", "rules.yaml: line 2: \"a(\" is no POSIX extended regular expression: " },
	{ "rules:\n  - regex: 'a*'\n", "rules.yaml: line 2: the pattern matches the empty text, so it would match everywhere" },
	{ "rules:\n  - regex: '(a)\\1'\n", "rules.yaml: line 2: back-references are not allowed in a pattern" },
	{ "rules:\n  - regex: '((x{1,99}){1,99}){1,99}'\n",
		"rules.yaml: line 2: too large once its repetitions are written out" },
	{ "rules:\n  - regex: '(((((((((((((x+)+)+)+)+)+)+)+)+)+)+)+)+)'\n",
		"rules.yaml: line 2: too large once its repetitions are written out" },
	{ "rules:\n  - regex: '((((((((((((((((((((((((((((((((x'\n", "rules.yaml: line 2: groups stand more than 31 deep" },
	{ "rules:\n  - regex: 'a'\n    with: '\\1'\n", "rules.yaml: line 3: \\1: the pattern has only 0 groups" },
	{ "rules:\n  - regex: 'a'\n    with: '\\n'\n",
		"rules.yaml: line 3: a back-slash stands before a digit or another back-slash: \\0, \\1, \\\\" },
	{ "rules:\n  - regex: 'a'\n    with: 'b\\'\n", "rules.yaml: line 3: a back-slash stands before" },
	{ "rules: [\n", "rules.yaml: line " },
};

START_TEST(a_mistake_is_told_with_file_and_line)
{
	ck_assert_int_eq(name_rules_parse(&rules, str_of(wrong[_i].text), "rules.yaml", &e), e.code);
	ck_assert_int_lt(e.code, 0);
	ck_assert_msg(str_has_prefix(str_of(e.text), str_of(wrong[_i].sentence)), "%s", e.text);
	ck_assert_ptr_null(rules);
}
END_TEST

/* What people write for hashes and numbers is far below the bounds. */
static const char *const fine[] = {
	"[0-9a-f]{16,64}",
	"^(prefill|decode)_[0-9]{1,8}x[0-9]{1,8}$",
	"[[:digit:]]+[]x+{9999}]a",
	"\\{9999\\}",
	"(ab|cd){2,30}e+",
	"[^]]]+x",
};

START_TEST(patterns_as_people_write_them_are_taken)
{
	buf_fmt(&scratch, "rules:\n  - regex: '%s'\n", fine[_i]);
	take(scratch.p);
}
END_TEST

START_TEST(texts_and_lists_have_a_ceiling)
{
	buf_text(&scratch, "rules:\n  - glob: '");
	buf_fill(&scratch, 'x', NAME_RULE_BYTES_MAX + 1);
	buf_text(&scratch, "'\n");
	ck_assert_int_eq(name_rules_parse(&rules, buf_view(&scratch), "r", &e), E_USAGE);
	ck_assert_str_eq(e.text, "r: line 2: the text is longer than 512 bytes");
	buf_reset(&scratch);
	buf_text(&scratch, "rules:\n");
	for (int i = 0; i <= NAME_RULES_MAX; i++)
		buf_text(&scratch, "  - glob: x\n");
	ck_assert_int_eq(name_rules_parse(&rules, buf_view(&scratch), "r", &e), E_USAGE);
	ck_assert_str_eq(e.text, "r: line 2: more than 256 rules");
}
END_TEST

START_TEST(a_file_that_is_not_there_is_named)
{
	ck_assert_int_eq(name_rules_load(&rules, "/nowhere/rules.yaml", &e), E_NOT_FOUND);
	ck_assert(str_contains(str_of(e.text), STR("/nowhere/rules.yaml")));
}
END_TEST

/* etc/name-rules.yaml, as it is installed. */
START_TEST(the_sample_does_what_it_says)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/etc/name-rules.yaml", getenv("srcdir") == NULL ? ".." : getenv("srcdir"));
	ck_assert_msg(name_rules_load(&rules, path, &e) == OK, "%s", e.text);
	expect("request-7f", "request-*");
	expect("tenant_acme_prefill", "tenant prefill");
	expect("load_shard12", "load_shard*");
	expect("my_fwd_128x64_k", "my_fwd_*_k");
	expect("my_bwd_128x64_k", "my_bwd_*_k");
	expect("aten::mm", "aten::mm");
}
END_TEST

static struct window read_events(struct arena *a, struct buf *text)
{
	struct window_origin origin = { .source = STR("test"), .rules = rules };
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct trace_report report;
	struct window w = { 0 };
	const char *path;

	help_end(text);
	path = help_write("a.json", buf_view(text));
	ck_assert_msg(window_from_file(a, path, &origin, &limits, &w, &report, &e) == OK, "%s", e.text);
	return w;
}

START_TEST(ops_whose_names_become_one_are_merged)
{
	const struct op_summary *op;
	struct window w;
	struct arena a;

	arena_init(&a, 16 << 20);
	take("rules:\n  - regex: 'shard[0-9]+'\n    with: 'shard*'\n");
	help_begin(&scratch);
	help_event(&scratch, "cpu_op", "shard1", 1, 100, 10, NULL);
	help_event(&scratch, "cpu_op", "aten::mm", 1, 200, 5, NULL);
	help_event(&scratch, "cpu_op", "shard2", 1, 300, 30, NULL);
	help_event(&scratch, "user_annotation", "shard3", 1, 400, 7, NULL);
	w = read_events(&a, &scratch);
	ck_assert_uint_eq(w.n_ops, 3);
	op = window_op(&w, OP_CPU_OP, STR("shard*"));
	ck_assert_ptr_nonnull(op);
	ck_assert_uint_eq(op->calls, 2);
	ck_assert_int_eq(op->cpu_total_ns, 40000);
	ck_assert_int_eq(op->min_ns, 10000);
	ck_assert_int_eq(op->max_ns, 30000);
	ck_assert_uint_eq(hist_count(&op->hist), 2);
	ck_assert_ptr_nonnull(window_op(&w, OP_ANNOTATION, STR("shard*")));
	ck_assert_int_eq(window_check(&w, &e), OK);
	window_fini(&w);
	arena_fini(&a);
}
END_TEST

/* An asynchronous collective's times are of the host, a kernel's of the device: both are of kind collective. */
START_TEST(times_of_two_sorts_do_not_mix_in_one_histogram)
{
	const struct op_summary *op;
	struct window w;
	struct arena a;

	arena_init(&a, 16 << 20);
	take("rules:\n  - glob: 'nccl*'\n    with: collective\n");
	help_begin(&scratch);
	help_event(&scratch, "user_annotation", "nccl:all_reduce", 1, 100, 10, NULL);
	help_event(&scratch, "kernel", "ncclDevKernel_AllReduce", 7, 105, 5, NULL);
	w = read_events(&a, &scratch);
	op = window_op(&w, OP_COLLECTIVE, STR("collective"));
	ck_assert_ptr_nonnull(op);
	ck_assert_uint_eq(op->calls, 2);
	ck_assert_int_eq(op->basis, OP_BASIS_NONE);
	ck_assert_int_eq(op->device_total_ns, 5000);
	ck_assert_int_eq(window_check(&w, &e), OK);
	window_fini(&w);
	arena_fini(&a);
}
END_TEST

Suite *suite_name_rules(void)
{
	Suite *s = suite_create("trace/name_rules");
	TCase *tc = tcase_create("name_rules");

	tcase_add_checked_fixture(tc, begin, over);
	tcase_add_test(tc, a_glob_takes_the_whole_name);
	tcase_add_test(tc, a_regex_takes_every_part_that_matches);
	tcase_add_test(tc, groups_of_a_regex_come_back);
	tcase_add_test(tc, rules_apply_in_order_each_to_what_the_last_one_left);
	tcase_add_test(tc, what_would_be_no_name_is_not_taken);
	tcase_add_test(tc, a_result_that_is_too_long_is_cut_and_stays_different);
	tcase_add_test(tc, no_rules_change_nothing);
	tcase_add_loop_test(tc, a_mistake_is_told_with_file_and_line, 0, (int)COUNT(wrong));
	tcase_add_loop_test(tc, patterns_as_people_write_them_are_taken, 0, (int)COUNT(fine));
	tcase_add_test(tc, texts_and_lists_have_a_ceiling);
	tcase_add_test(tc, a_file_that_is_not_there_is_named);
	tcase_add_test(tc, the_sample_does_what_it_says);
	tcase_add_test(tc, ops_whose_names_become_one_are_merged);
	tcase_add_test(tc, times_of_two_sorts_do_not_mix_in_one_histogram);
	suite_add_tcase(s, tc);
	return s;
}
