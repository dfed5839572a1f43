#include "base/conf.h"

#include <check.h>
#include <stdbool.h>

#include "base/clock.h"

Suite *suite_conf(void);

struct source {
	char *dir;
	int64_t every_ns;
	struct conf_texts globs;
};

struct conf {
	int64_t port, cap, age_ns, engine;
	bool wait;
	char *address, *token_file;
	struct conf_texts labels;
	struct conf_sections sources;
};

static const char *const engines[] = { "sqlite", "memory", NULL };

static const struct conf_key source_keys[] = {
	{ "dir", CONF_PATH, offsetof(struct source, dir), 0, 0, NULL, "folder of traces", NULL },
	{ "scan.every", CONF_DURATION, offsetof(struct source, every_ns), NS_PER_S, NS_PER_DAY, "5m", "slow rescan",
		NULL },
	{ "globs", CONF_TEXTS, offsetof(struct source, globs), 1, 20, "", "names", NULL },
};
static const struct conf_schema source_schema = { source_keys, COUNT(source_keys), sizeof(struct source) };

static const struct conf_key keys[] = {
	{ "listen.port", CONF_INT, offsetof(struct conf, port), 1, 65535, "8940", "TCP port of the API", NULL },
	{ "store.cap", CONF_SIZE, offsetof(struct conf, cap), 1024, INT64_C(1) << 40, "10GiB", "size on disk", NULL },
	{ "listen.address", CONF_TEXT, offsetof(struct conf, address), 1, 40, "127.0.0.1", "address", NULL },
	{ "store.age", CONF_DURATION, offsetof(struct conf, age_ns), 0, 0, "90d", "kept that long", NULL },
	{ "store.engine", CONF_CHOICE, offsetof(struct conf, engine), 0, 0, "memory", "engine", engines },
	{ "wait", CONF_BOOL, offsetof(struct conf, wait), 0, 0, "yes", "wait or not", NULL },
	{ "token_file", CONF_PATH, offsetof(struct conf, token_file), 0, 0, "", "token", NULL },
	{ "labels", CONF_TEXTS, offsetof(struct conf, labels), 0, 0, "", "labels", NULL },
	{ "sources", CONF_SECTIONS, offsetof(struct conf, sources), 0, 0, "", "where windows come from",
		&source_schema },
};
static const struct conf_schema schema = { keys, COUNT(keys), sizeof(struct conf) };

static struct conf conf;
static struct err e;

static int parse(const char *text)
{
	err_clear(&e);
	return conf_parse(&schema, str_of(text), "f.yaml", &conf, &e);
}

START_TEST(an_empty_file_means_the_defaults)
{
	ck_assert_int_eq(parse(""), OK);
	ck_assert_int_eq(conf.port, 8940);
	ck_assert_int_eq(conf.cap, INT64_C(10) << 30);
	ck_assert_int_eq(conf.age_ns, 90 * NS_PER_DAY);
	ck_assert_int_eq(conf.engine, 1);
	ck_assert(conf.wait);
	ck_assert_str_eq(conf.address, "127.0.0.1");
	ck_assert_str_eq(conf.token_file, "");
	ck_assert_uint_eq(conf.labels.n + conf.sources.n, 0);
	conf_fini(&schema, &conf);
}
END_TEST

static const char full[] = "listen:\n  port: 9000\n  address: \"::1\"\n"
			   "store: {cap: 64KiB, age: 1h, engine: sqlite}\n"
			   "wait: off\ntoken_file: /etc/t\nlabels: [a, 'b \"c\" \\d', 12]\n"
			   "sources:\n"
			   "  - dir: /var/a\n    scan:\n      every: 10s\n"
			   "  - dir: /var/b\n    globs: [x*.json, y]\n";

static void check_full(void)
{
	const struct source *s = conf.sources.v;

	ck_assert_int_eq(conf.port, 9000);
	ck_assert_int_eq(conf.cap, 65536);
	ck_assert_int_eq(conf.age_ns, NS_PER_HOUR);
	ck_assert_int_eq(conf.engine, 0);
	ck_assert(!conf.wait);
	ck_assert_str_eq(conf.address, "::1");
	ck_assert_str_eq(conf.token_file, "/etc/t");
	ck_assert_uint_eq(conf.labels.n, 3);
	ck_assert_str_eq(conf.labels.v[1], "b \"c\" \\d");
	ck_assert_uint_eq(conf.sources.n, 2);
	ck_assert_str_eq(s[0].dir, "/var/a");
	ck_assert_int_eq(s[0].every_ns, 10 * NS_PER_S);
	ck_assert_int_eq(s[1].every_ns, 5 * NS_PER_MIN);
	ck_assert_str_eq(s[1].globs.v[0], "x*.json");
}

START_TEST(every_key_is_read_into_its_place)
{
	ck_assert_msg(parse(full) == OK, "%s", e.text);
	check_full();
	conf_fini(&schema, &conf);
}
END_TEST

START_TEST(what_is_printed_is_read_back_the_same)
{
	struct buf first, second;

	buf_init(&first, 1 << 16);
	buf_init(&second, 1 << 16);
	ck_assert_int_eq(parse(full), OK);
	conf_print(&schema, &conf, &first);
	conf_fini(&schema, &conf);
	ck_assert_msg(parse(first.p) == OK, "%s\n%s", e.text, first.p);
	check_full();
	conf_print(&schema, &conf, &second);
	ck_assert_str_eq(first.p, second.p);
	conf_fini(&schema, &conf);

	buf_reset(&first);
	conf_init(&schema, &conf);
	conf_print(&schema, &conf, &first);
	conf_fini(&schema, &conf);
	ck_assert_msg(parse(first.p) == OK, "%s\n%s", e.text, first.p);
	ck_assert_int_eq(conf.port, 8940);
	conf_fini(&schema, &conf);
	buf_fini(&first);
	buf_fini(&second);
}
END_TEST

static const struct {
	const char *text, *says;
} bad[] = {
	{ "listen:\n  prt: 1\n", "f.yaml: line 2: listen.prt: unknown key; did you mean listen.port?" },
	{ "nonsense: 1\n", "f.yaml: line 1: nonsense: unknown key; --print-config lists those there are" },
	{ "listen:\n  port: 70000\n", "f.yaml: line 2: listen.port: \"70000\" is not a whole number from 1 to 65535" },
	{ "listen:\n  port: x\n", "f.yaml: line 2: listen.port: \"x\" is not a whole number from 1 to 65535" },
	{ "listen:\n  port: [1]\n", "f.yaml: line 2: listen.port: must be a whole number from 1 to 65535, not a list" },
	{ "listen:\n  port:\n", "f.yaml: line 2: listen.port: has no value; leave the line out for the default, 8940" },
	{ "listen: 5\n", "f.yaml: line 1: listen: must be a mapping of further keys" },
	{ "\nwait: maybe\n", "f.yaml: line 2: wait: \"maybe\" is not true or false" },
	{ "store:\n  cap: 5K\n",
		"f.yaml: line 2: store.cap: \"5K\" is not a size such as 64KiB or 2GiB from 1KiB to 1TiB" },
	{ "store:\n  age: -5m\n", "f.yaml: line 2: store.age: \"-5m\" is not a duration such as 90s, 5m or 7d" },
	{ "store:\n  engine: oracle\n", "f.yaml: line 2: store.engine: \"oracle\" is not one of sqlite, memory" },
	{ "token_file: here\n", "f.yaml: line 1: token_file: \"here\" is not an absolute path or empty" },
	{ "listen:\n  address: \"\"\n", "f.yaml: line 2: listen.address: \"\" is not a text of 1 to 40 bytes" },
	{ "labels: x\n", "f.yaml: line 1: labels: must be a list of texts, not a single value" },
	{ "labels:\n  - a\n  - [b]\n", "f.yaml: line 3: labels: must be a list of texts, not a list" },
	{ "sources: {a: b}\n", "f.yaml: line 1: sources: must be a list of mappings, not a mapping" },
	{ "sources:\n  - x\n", "f.yaml: line 2: sources[0]: must be a mapping" },
	{ "sources:\n  - dir: /a\n  - scan: {every: 5m}\n",
		"f.yaml: line 3: sources[1].dir: is missing; it must be given and be an absolute path" },
	{ "sources:\n  - dir: /a\n    scan:\n      evry: 5m\n",
		"f.yaml: line 4: sources[0].scan.evry: unknown key; did you mean scan.every?" },
	{ "sources:\n  - dir: /a\n    globs: [\"\"]\n",
		"f.yaml: line 3: sources[0].globs: \"\" is not a list of texts of 1 to 20 bytes" },
	{ "- a\n", "f.yaml: line 1: must be a mapping: lines \"key: value\"" },
	{ "wait: \"a\\nb\"\n", "f.yaml: line 1: wait: \"a?b\" is not true or false" },
	{ "listen:\n  address: \"a\\nb\"\n", "f.yaml: line 2: listen.address: \"a?b\" is not a text of 1 to 40 bytes" },
};

START_TEST(a_mistake_names_file_line_and_key_and_what_would_be_right)
{
	ck_assert_int_eq(parse(bad[_i].text), E_USAGE);
	ck_assert_str_eq(e.text, bad[_i].says);
	ck_assert_int_eq(conf.port, 8940); /* the defaults are there after a mistake */
	ck_assert_uint_eq(conf.sources.n, 0);
	conf_fini(&schema, &conf);
}
END_TEST

START_TEST(a_file_that_is_no_yaml_is_the_person_s_mistake_too)
{
	ck_assert_int_eq(parse("a: [\n"), E_USAGE);
	ck_assert_int_eq(e.code, E_USAGE);
	conf_fini(&schema, &conf);
	ck_assert_int_eq(conf_load(&schema, "/nonexistent/c.yaml", &conf, &e), E_NOT_FOUND);
	ck_assert_int_eq(conf.port, 8940);
	conf_fini(&schema, &conf);
}
END_TEST

START_TEST(a_key_can_be_set_from_the_command_line)
{
	conf_init(&schema, &conf);
	ck_assert_int_eq(conf_set(&schema, &conf, STR("listen.port"), STR("1"), &e), OK);
	ck_assert_int_eq(conf.port, 1);
	ck_assert_int_eq(conf_set(&schema, &conf, STR("labels"), STR("a,b"), &e), OK);
	ck_assert_uint_eq(conf.labels.n, 2);
	ck_assert_str_eq(conf.labels.v[1], "b");
	ck_assert_int_eq(conf_set(&schema, &conf, STR("listen.port"), STR("0"), &e), E_USAGE);
	ck_assert_str_eq(e.text, "--set listen.port: \"0\" is not a whole number from 1 to 65535");
	ck_assert_int_eq(conf.port, 1);
	ck_assert_int_eq(conf_set(&schema, &conf, STR("listen.prot"), STR("0"), &e), E_USAGE);
	ck_assert_str_eq(e.text, "--set listen.prot: unknown key; did you mean listen.port?");
	ck_assert_int_eq(conf_set(&schema, &conf, STR("labels"), STR("a,\x01"), &e), E_USAGE);
	ck_assert_int_eq(conf_set(&schema, &conf, STR("sources"), STR("x"), &e), E_USAGE);
	ck_assert_int_eq(conf_set(&schema, &conf, STR("token_file"), STR(""), &e), OK);
	conf_fini(&schema, &conf);
	conf_fini(&schema, &conf); /* twice is fine, and so is NULL */
	conf_fini(&schema, NULL);
}
END_TEST

START_TEST(the_manual_s_list_has_every_key)
{
	struct buf out;

	buf_init(&out, 1 << 16);
	conf_mdoc(&schema, &out);
	for (size_t i = 0; i < COUNT(keys); i++) {
		char item[80];

		snprintf(item, sizeof(item), ".It Cm %s\n", keys[i].name);
		ck_assert_ptr_nonnull(strstr(out.p, item));
	}
	ck_assert_ptr_nonnull(strstr(out.p, ".It Cm scan.every\n"));
	buf_fini(&out);
}
END_TEST

Suite *suite_conf(void)
{
	Suite *s = suite_create("base/conf");
	TCase *tc = tcase_create("conf");

	tcase_add_test(tc, an_empty_file_means_the_defaults);
	tcase_add_test(tc, every_key_is_read_into_its_place);
	tcase_add_test(tc, what_is_printed_is_read_back_the_same);
	tcase_add_loop_test(tc, a_mistake_names_file_line_and_key_and_what_would_be_right, 0, COUNT(bad));
	tcase_add_test(tc, a_file_that_is_no_yaml_is_the_person_s_mistake_too);
	tcase_add_test(tc, a_key_can_be_set_from_the_command_line);
	tcase_add_test(tc, the_manual_s_list_has_every_key);
	suite_add_tcase(s, tc);
	return s;
}
