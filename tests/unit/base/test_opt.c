#include "base/opt.h"

#include <check.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"

Suite *suite_opt(void);

struct answers {
	bool all, quiet;
	const char *file;
	int64_t limit, every_ns, cap, format;
	struct opt_texts tags;
};

static const char *const formats[] = { "table", "json", NULL };

static const struct opt opts[] = {
	{ "all", 'a', OPT_FLAG, offsetof(struct answers, all), 0, 0, NULL, "Everything.", NULL },
	{ "quiet", 'q', OPT_FLAG, offsetof(struct answers, quiet), 0, 0, NULL, "Nothing.", NULL },
	{ "file", 'f', OPT_TEXT, offsetof(struct answers, file), 0, 0, "FILE", "A file.", NULL },
	{ "limit", 'n', OPT_INT, offsetof(struct answers, limit), 1, 1000, "N", "How many.", NULL },
	{ "every", 0, OPT_DURATION, offsetof(struct answers, every_ns), 0, 0, "TIME", "How often.", NULL },
	{ "max-output", 0, OPT_SIZE, offsetof(struct answers, cap), 1, 1 << 20, "SIZE", "How large.", NULL },
	{ "format", 0, OPT_CHOICE, offsetof(struct answers, format), 0, 0, "FORMAT", "table or json.", formats },
	{ "tag", 't', OPT_TEXTS, offsetof(struct answers, tags), 0, 0, "TAG", "Tags of tag_lists.", NULL },
};

static const struct opt_exit exits[] = { { 0, "all files were read" }, { 2, "nothing was" } };

static int run_work(int argc, char **argv)
{
	return argc == 1 && strcmp(argv[0], "x") == 0 ? 7 : 8;
}

static const struct opt_command work = {
	.name = "work", .operands = "FILE…", .summary = "does the work",
	.detail = "It does what is said here, at such a length that the line has to be broken where it is filled.\n"
		  "\n"
		  "  verbatim \\ .line\n"
		  ".starts with a period",
	.examples = "prog work -n 5 x    five of x",
	.environment = "PROG_FILE    a file",
	.opts = opts, .n_opts = COUNT(opts), .exits = exits, .n_exits = COUNT(exits), .run = run_work,
};

static const struct opt_command *const commands[] = { &work };
static const struct opt_program program = { .name = "prog", .summary = "works", .commands = commands,
	.n_commands = COUNT(commands) };

static struct answers a;
static struct err e;
static char *words[64];
static int n_operands;

/* Splits at blanks into words that live as long as the test. */
static int parse(const char *line)
{
	static char text[1000];
	int n = 0;

	a = (struct answers){ .limit = 100 };
	err_clear(&e);
	snprintf(text, sizeof(text), "%s", line);
	for (char *p = text, *word; (word = strsep(&p, " ")) != NULL;)
		words[n++] = word;
	return opt_parse(&work, "prog", line[0] == '\0' ? 0 : n, words, &a, &n_operands, &e);
}

START_TEST(no_words_leave_the_presets)
{
	ck_assert_int_eq(parse(""), OK);
	ck_assert_int_eq(n_operands, 0);
	ck_assert_int_eq(a.limit, 100);
}
END_TEST

START_TEST(options_and_operands_come_in_any_order)
{
	ck_assert_int_eq(parse("one --limit 5 two -aq --format=json - --every 5m -f x --max-output=64KiB three"), OK);
	ck_assert_int_eq(n_operands, 4);
	ck_assert_str_eq(words[0], "one");
	ck_assert_str_eq(words[1], "two");
	ck_assert_str_eq(words[2], "-");
	ck_assert_str_eq(words[3], "three");
	ck_assert(a.all && a.quiet);
	ck_assert_int_eq(a.limit, 5);
	ck_assert_int_eq(a.format, 1);
	ck_assert_int_eq(a.every_ns, 5 * NS_PER_MIN);
	ck_assert_int_eq(a.cap, 65536);
	ck_assert_str_eq(a.file, "x");
}
END_TEST

START_TEST(letters_take_values_beside_or_behind_them)
{
	ck_assert_int_eq(parse("-n5 -t a -tb --tag c -an 7"), OK);
	ck_assert_int_eq(a.limit, 7);
	ck_assert(a.all);
	ck_assert_uint_eq(a.tags.n, 3);
	ck_assert_str_eq(a.tags.v[0], "a");
	ck_assert_str_eq(a.tags.v[1], "b");
	ck_assert_str_eq(a.tags.v[2], "c");
}
END_TEST

START_TEST(two_dashes_end_the_options)
{
	ck_assert_int_eq(parse("-a -- --limit -x"), OK);
	ck_assert_int_eq(n_operands, 2);
	ck_assert_str_eq(words[0], "--limit");
	ck_assert_str_eq(words[1], "-x");
}
END_TEST

static const struct {
	const char *line, *says;
} bad[] = {
	{ "--limti 5", "unknown option --limti; did you mean --limit?" },
	{ "--hepl", "unknown option --hepl; did you mean --help?" },
	{ "--nonsense", "unknown option --nonsense; --help lists those there are" },
	{ "-x", "unknown option -x; --help lists those there are" },
	{ "-ax", "unknown option -x; --help lists those there are" },
	{ "--limit", "--limit needs a value: --limit N" },
	{ "-f", "--file needs a value: --file FILE" },
	{ "--all=yes", "--all takes no value, but \"yes\" was given" },
	{ "--limit x", "--limit: \"x\" is not a whole number from 1 to 1000" },
	{ "--limit 0", "--limit: \"0\" is not a whole number from 1 to 1000" },
	{ "--limit=", "--limit: \"\" is not a whole number from 1 to 1000" },
	{ "--every -5m", "--every: \"-5m\" is not a duration such as 90s, 5m or 7d" },
	{ "--max-output 2MiB",
		"--max-output: \"2MiB\" is not a size such as 64KiB or 2GiB from 1 to 1MiB" },
	{ "--format xml", "--format: \"xml\" is not one of table, json" },
	{ "--format tabel", "--format: \"tabel\" is not one of table, json; did you mean table?" },
};

START_TEST(a_wrong_word_is_named_with_what_would_be_right)
{
	ck_assert_int_eq(parse(bad[_i].line), E_USAGE);
	ck_assert_str_eq(e.text, bad[_i].says);
}
END_TEST

START_TEST(an_option_is_not_taken_without_end)
{
	char line[1000] = "";

	for (int i = 0; i < 33; i++)
		memcpy(line + strlen(line), " -tx", 5);
	ck_assert_int_eq(parse(line + 1), E_USAGE);
	ck_assert_str_eq(e.text, "--tag may be given 32 times at most");
}
END_TEST

START_TEST(the_help_teaches)
{
	struct buf out;

	buf_init(&out, 1 << 16);
	opt_help(&work, "prog", &out);
	ck_assert_str_eq(out.p,
		"Usage: prog work [OPTION]... FILE…\n\nDoes the work.\n\n"
		"It does what is said here, at such a length that the line has to be broken where\n"
		"it is filled.\n\n"
		"  verbatim \\ .line\n"
		".starts with a period\n\n"
		"Options:\n"
		"  -a, --all              Everything.\n"
		"  -q, --quiet            Nothing.\n"
		"  -f, --file FILE        A file.\n"
		"  -n, --limit N          How many.\n"
		"      --every TIME       How often.\n"
		"      --max-output SIZE  How large.\n"
		"      --format FORMAT    table or json.\n"
		"  -t, --tag TAG          Tags of tag_lists.\n"
		"      --help             Print this and exit.\n"
		"      --version          Print the version and exit.\n\n"
		"Examples:\n  prog work -n 5 x\n      five of x\n\n"
		"Environment:\n  PROG_FILE             a file\n\n"
		"Exit status:\n  0   all files were read\n  2   nothing was\n");
	buf_fini(&out);
}
END_TEST

/* Runs opt_main with standard output and error into a file and gives the exit status and the text. */
static int run_program(char **argv, int argc, char *out, size_t cap)
{
	char path[] = "/tmp/test-opt-XXXXXX";
	int fd = mkstemp(path), saved_out = dup(1), saved_err = dup(2), status;
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	fflush(stdout);
	dup2(fd, 1);
	dup2(fd, 2);
	status = opt_main(&program, argc, argv);
	fflush(stdout);
	dup2(saved_out, 1);
	dup2(saved_err, 2);
	n = pread(fd, out, cap - 1, 0);
	out[n < 0 ? 0 : n] = '\0';
	close(fd);
	close(saved_out);
	close(saved_err);
	unlink(path);
	return status;
}

#define RUN(out, ...) \
	run_program((char *[]){ __VA_ARGS__ }, (int)(sizeof((char *[]){ __VA_ARGS__ }) / sizeof(char *)), out, sizeof(out))

static char p_prog[] = "prog", p_work[] = "work", p_x[] = "x", p_wrk[] = "wrk", p_help[] = "help", p_dhelp[] = "--help",
	    p_version[] = "--version", p_mdoc[] = "--help=mdoc", p_other[] = "zzz";

START_TEST(a_program_finds_its_commands)
{
	char out[10000];

	ck_assert_int_eq(RUN(out, p_prog, p_work, p_x), 7);
	ck_assert_int_eq(RUN(out, p_prog, p_wrk), 2);
	ck_assert_str_eq(out, "prog: no command \"wrk\"; did you mean \"work\"?\n");
	ck_assert_int_eq(RUN(out, p_prog, p_other), 2);
	ck_assert_str_eq(out, "prog: no command \"zzz\"; \"prog --help\" lists those there are\n");
	ck_assert_int_eq(RUN(out, p_prog), 2);
	ck_assert_ptr_nonnull(strstr(out, "  work  does the work\n"));
	ck_assert_int_eq(RUN(out, p_prog, p_dhelp), 0);
	ck_assert_ptr_nonnull(strstr(out, "  work  does the work\n"));
	ck_assert_int_eq(RUN(out, p_prog, p_help, p_work), 0);
	ck_assert_ptr_nonnull(strstr(out, "Usage: prog work"));
	ck_assert_int_eq(RUN(out, p_prog, p_version), 0);
	ck_assert_str_eq(out, "prog " PACKAGE_VERSION "\n");
}
END_TEST

START_TEST(the_manual_page_comes_from_the_same_tables)
{
	static const char *const parts[] = { ".Dt PROG 1\n", ".Nd works\n", ".Ss work\n", "\nDoes the work.\n",
		".It Fl n , Fl \\-limit Ar N\nHow many.\n", ".It Fl \\-max\\-output Ar SIZE\n",
		".It Fl t , Fl \\-tag Ar TAG\nTags of \\%tag_lists.\n", "  verbatim \\e .line\n",
		"\n\\&.starts with a period\n", ".It Li prog work \\-n 5 x\nfive of x\n", ".It 2\nnothing was\n" };
	char out[20000];

	ck_assert_int_eq(RUN(out, p_prog, p_mdoc), 0);
	for (size_t i = 0; i < COUNT(parts); i++)
		ck_assert_msg(strstr(out, parts[i]) != NULL, "%s in %s", parts[i], out);
}
END_TEST

Suite *suite_opt(void)
{
	Suite *s = suite_create("base/opt");
	TCase *tc = tcase_create("opt");

	tcase_add_test(tc, no_words_leave_the_presets);
	tcase_add_test(tc, options_and_operands_come_in_any_order);
	tcase_add_test(tc, letters_take_values_beside_or_behind_them);
	tcase_add_test(tc, two_dashes_end_the_options);
	tcase_add_loop_test(tc, a_wrong_word_is_named_with_what_would_be_right, 0, COUNT(bad));
	tcase_add_test(tc, an_option_is_not_taken_without_end);
	tcase_add_test(tc, the_help_teaches);
	tcase_add_test(tc, a_program_finds_its_commands);
	tcase_add_test(tc, the_manual_page_comes_from_the_same_tables);
	suite_add_tcase(s, tc);
	return s;
}
