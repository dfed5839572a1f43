#include "daemon/options.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

Suite *suite_options(void);

static char path[64];

static void start(void)
{
	snprintf(path, sizeof(path), "/tmp/conf-%d.yaml", (int)getpid());
}

static void stop(void)
{
	unlink(path);
}

static int read_with(const char *yaml, const char *set, const char *flag, struct options *o, struct err *e)
{
	static char *argv[8];
	int argc = 0;

	ck_assert_int_eq(file_replace(path, str_of(yaml), 0600, e), OK);
	argv[argc++] = (char *)(uintptr_t)"trainspotterd";
	argv[argc++] = (char *)(uintptr_t)"--config";
	argv[argc++] = path;
	if (set != NULL) {
		argv[argc++] = (char *)(uintptr_t)"--set";
		argv[argc++] = (char *)(uintptr_t)set;
	}
	if (flag != NULL)
		argv[argc++] = (char *)(uintptr_t)flag;
	argv[argc] = NULL;
	return options_read(o, argc, argv, e);
}

static int read_it(const char *yaml, const char *set, struct options *o, struct err *e)
{
	return read_with(yaml, set, NULL, o, e);
}

START_TEST(the_file_is_over_the_defaults_and_the_command_line_over_the_file)
{
	struct options o;
	struct daemon_conf again;
	struct err e = { 0 };

	ck_assert_msg(read_it("listen:\n  port: 9000\nstore:\n  retention: 30d\n", "listen.port=9001", &o, &e) == OK, "%s", e.text);
	ck_assert_int_eq(o.conf.listen_port, 9001);
	ck_assert_int_eq(o.conf.store_retention_ns, 30 * INT64_C(86400000000000));
	ck_assert_str_eq(o.conf.listen_address, "127.0.0.1");
	ck_assert_int_eq(o.conf.limit_body_bytes, 4 << 20);

	ck_assert_int_eq(file_replace(path, STR("log:\n  level: debug\n"), 0600, &e), OK);
	ck_assert_msg(options_reread(&o, &again, &e) == OK, "%s", e.text);
	ck_assert_int_eq(again.listen_port, 9001);
	ck_assert_int_eq(again.log_level, 3);
	conf_fini(&daemon_schema, &again);
	options_fini(&o);
}
END_TEST

static const struct {
	const char *yaml, *set, *says;
} wrong[] = {
	{ "listen:\n  prt: 1\n", NULL, "line 2" },
	{ "listen:\n  port: 70000\n", NULL, "listen.port" },
	{ "store:\n  dir: relative/path\n", NULL, "store.dir" },
	{ "limits:\n  body: 1GiB\n", NULL, "limits.body" },
	{ "", "listen.port", "KEY=VALUE" },
	{ "", "listen.prt=1", "listen.prt" },
	{ "listen:\n  address: 0.0.0.0\n", NULL, "auth.tokens_file" },
	{ "", "listen.address=::", "auth.tokens_file" },
	{ "", "notify.webhook.url=ftp://x", "notify.webhook.url" },
};

START_TEST(a_mistake_says_what_would_be_right)
{
	struct options o;
	struct err e = { 0 };

	ck_assert_msg(read_it(wrong[_i].yaml, wrong[_i].set, &o, &e) == E_USAGE, "%s %s", wrong[_i].yaml, e.text);
	ck_assert_msg(str_contains(str_of(e.text), str_of(wrong[_i].says)), "%s", e.text);
	options_fini(&o);
}
END_TEST

START_TEST(a_check_looks_into_the_files_that_are_named)
{
	static const char *const keys[] = { "auth.tokens_file", "detect.fusion_table", "notify.webhook.token_file" };
	struct options o;
	struct err e = { 0 };
	char set[100];

	for (size_t i = 0; i < COUNT(keys); i++) {
		snprintf(set, sizeof(set), "%s=/nowhere/to/be/found", keys[i]);
		ck_assert_msg(read_it("", set, &o, &e) == OK, "%s", e.text);
		options_fini(&o);
		ck_assert_int_lt(read_with("", set, "--check", &o, &e), 0);
		ck_assert_msg(strstr(e.text, "/nowhere/to/be/found") != NULL, "%s", e.text);
		options_fini(&o);
	}
}
END_TEST

START_TEST(other_addresses_than_loopback_need_tokens_or_a_word)
{
	struct options o;
	struct err e = { 0 };

	ck_assert_int_eq(read_it("listen:\n  address: 0.0.0.0\nauth:\n  tokens_file: /etc/tokens.yaml\n", NULL, &o, &e), OK);
	options_fini(&o);
	ck_assert_int_eq(read_it("listen:\n  address: 0.0.0.0\n", "auth.allow_anonymous_reads=yes", &o, &e), OK);
	options_fini(&o);
	ck_assert_int_eq(read_it("listen:\n  address: \"::1\"\n", NULL, &o, &e), OK);
	options_fini(&o);
}
END_TEST

Suite *suite_options(void)
{
	Suite *s = suite_create("daemon/options");
	TCase *tc = tcase_create("options");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, the_file_is_over_the_defaults_and_the_command_line_over_the_file);
	tcase_add_loop_test(tc, a_mistake_says_what_would_be_right, 0, COUNT(wrong));
	tcase_add_test(tc, a_check_looks_into_the_files_that_are_named);
	tcase_add_test(tc, other_addresses_than_loopback_need_tokens_or_a_word);
	suite_add_tcase(s, tc);
	return s;
}
