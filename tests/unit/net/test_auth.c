#include "net/auth.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

Suite *suite_auth(void);

static char path[64];

static void start(void)
{
	snprintf(path, sizeof(path), "/tmp/tokens-%d.yaml", (int)getpid());
}

static void stop(void)
{
	unlink(path);
}

static int load(const char *text, struct auth **out, struct err *e)
{
	ck_assert_int_eq(file_replace(path, str_of(text), 0600, e), OK);
	return auth_load(out, path, e);
}

START_TEST(a_token_may_what_its_role_may)
{
	struct auth *a = NULL;
	struct err e = { 0 };

	/* SHA-256 of "test", "reader", "boss" */
	ck_assert_msg(load("- role: ingest\n"
			   "  name: fleet-a\n"
			   "  sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n"
			   "- role: read\n"
			   "  sha256: \"3D0941964AA3EBDCB00CCEF58B1BB399F9F898465E9886D5AEC7F31090A0FB30\"\n",
			   &a, &e) == OK, "%s", e.text);
	ck_assert_uint_eq(auth_count(a), 2);
	ck_assert_int_eq(auth_check(a, STR("Bearer test"), AUTH_INGEST), AUTH_GOOD);
	ck_assert_int_eq(auth_check(a, STR("bearer  test "), AUTH_INGEST), AUTH_GOOD);
	ck_assert_int_eq(auth_check(a, STR("Bearer test"), AUTH_READ), AUTH_WRONG);
	ck_assert_int_eq(auth_check(a, STR("Bearer tesT"), AUTH_INGEST), AUTH_UNKNOWN);
	ck_assert_int_eq(auth_check(a, STR("Bearer "), AUTH_INGEST), AUTH_MISSING);
	ck_assert_int_eq(auth_check(a, STR("Basic test"), AUTH_INGEST), AUTH_MISSING);
	ck_assert_int_eq(auth_check(a, STR(""), AUTH_INGEST), AUTH_MISSING);
	ck_assert_int_eq(auth_check(NULL, STR("Bearer test"), AUTH_INGEST), AUTH_UNKNOWN);
	auth_free(a);
}
END_TEST

START_TEST(an_admin_may_all)
{
	struct auth *a = NULL;
	struct err e = { 0 };
	char hash[65], text[300];

	auth_hash(STR("boss"), hash);
	snprintf(text, sizeof(text), "- role: admin\n  sha256: %s\n", hash);
	ck_assert_int_eq(load(text, &a, &e), OK);
	ck_assert_int_eq(auth_check(a, STR("Bearer boss"), AUTH_INGEST), AUTH_GOOD);
	ck_assert_int_eq(auth_check(a, STR("Bearer boss"), AUTH_READ), AUTH_GOOD);
	auth_free(a);
}
END_TEST

START_TEST(a_hash_is_sha_256)
{
	char hash[65];

	auth_hash(STR("abc"), hash); /* FIPS 180-4's own example */
	ck_assert_str_eq(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
END_TEST

static const struct {
	const char *text, *says;
} wrong[] = {
	{ "- role: boss\n  sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n", "line 1: role" },
	{ "- role: read\n  sha256: abc\n", "line 2: sha256" },
	{ "- role: read\n", "sha256 is missing" },
	{ "- sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n", "role is missing" },
	{ "- role: read\n  token: plain\n  sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
	  "line 2: token" },
	{ "role: read\n", "must be a list" },
	{ "- just text\n", "must be a mapping" },
};

START_TEST(a_mistake_names_file_line_and_key)
{
	struct auth *a = NULL;
	struct err e = { 0 };

	ck_assert_int_ne(load(wrong[_i].text, &a, &e), OK);
	ck_assert_ptr_null(a);
	ck_assert_msg(str_contains(str_of(e.text), str_of(wrong[_i].says)), "%s", e.text);
	ck_assert_msg(str_contains(str_of(e.text), str_of(path)), "%s", e.text);
}
END_TEST

START_TEST(a_missing_file_is_an_error)
{
	struct auth *a = NULL;
	struct err e = { 0 };

	ck_assert_int_ne(auth_load(&a, "/nonexistent/tokens.yaml", &e), OK);
	ck_assert(str_contains(str_of(e.text), STR("/nonexistent/tokens.yaml")));
}
END_TEST

Suite *suite_auth(void)
{
	Suite *s = suite_create("net/auth");
	TCase *tc = tcase_create("auth");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, a_token_may_what_its_role_may);
	tcase_add_test(tc, an_admin_may_all);
	tcase_add_test(tc, a_hash_is_sha_256);
	tcase_add_loop_test(tc, a_mistake_names_file_line_and_key, 0, COUNT(wrong));
	tcase_add_test(tc, a_missing_file_is_an_error);
	suite_add_tcase(s, tc);
	return s;
}
