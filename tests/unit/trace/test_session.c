#include "trace/session.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"

Suite *suite_session(void);

static char root[64];
static struct session session;

static const char *path_of(const char *name)
{
	static char path[4][512];
	static unsigned turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", root, name);
	return path[turn];
}

static void put(const char *name, const char *text)
{
	char dir[512];

	snprintf(dir, sizeof(dir), "%s", path_of(name));
	*strrchr(dir, '/') = '\0';
	ck_assert_int_eq(file_make_dirs(dir, 0700, NULL), OK);
	ck_assert_int_eq(file_replace(path_of(name), str_of(text), 0600, NULL), OK);
}

static void setup(void)
{
	snprintf(root, sizeof(root), "/tmp/trainspotter-session-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void teardown(void)
{
	ck_assert_int_eq(tree_remove(root, NULL), OK);
}

START_TEST(a_session_tells_what_it_holds_and_whose_it_is)
{
	const struct utimbuf then = { 1600000000, 1600000000 }, later = { 1700000000, 1700000000 };

	put("i-0123_pid_99/x_pid_4711/1790/trace_info.pb", "info");
	put("i-0123_pid_99/x_pid_4711/1790/ntrace.pb", "trace");
	put("i-0123_pid_99/x_pid_4711/1790/cpu_util.pb", "");
	put("i-0123_pid_99/x_pid_4711/1790/neff_42_vnc_0.neff", "a model");
	put("i-0123_pid_99/x_pid_4711/1790/profile_nc_0_session_0.ntff", "a profile");
	put("i-0123_pid_99/x_pid_4711/1790/profile_nc_1_session_0.ntff", ""); /* an idle core's */
	put("i-0123_pid_99/x_pid_4711/1790/trace.json", "{}");
	ck_assert_int_eq(utime(path_of("i-0123_pid_99/x_pid_4711/1790/neff_42_vnc_0.neff"), &then), 0);
	ck_assert_int_eq(utime(path_of("i-0123_pid_99/x_pid_4711/1790/ntrace.pb"), &later), 0);
	ck_assert(session_read(path_of("i-0123_pid_99/x_pid_4711/1790"), &session));
	ck_assert(session.has_info && session.has_system && session.has_trace_json);
	ck_assert_uint_eq(session.n_neff, 1);
	ck_assert_uint_eq(session.n_ntff, 1);
	ck_assert_int_eq(session.pid, 4711);
	ck_assert_uint_eq(session.device_bytes, 16);
	ck_assert_uint_eq(session.bytes, 16 + 4 + 5 + 2);
	ck_assert_int_eq(session.first_ns, 1700000000 * NS_PER_S); /* a model comes out of a cache, and is older */
	ck_assert_int_gt(session.last_ns, session.first_ns);
}
END_TEST

START_TEST(a_folder_without_profiles_is_no_session)
{
	put("a/neff_42_vnc_0.neff", "a model");
	put("a/ntrace.pb", "");
	put("a/notes.txt", "hello");
	ck_assert(!session_read(path_of("a"), &session));
	ck_assert(!session_read(path_of("nowhere"), &session));
	ck_assert(!session_read(path_of("a/notes.txt"), &session));
	put("a_pid_x/ntrace.pb", "t");
	ck_assert(session_read(path_of("a_pid_x"), &session));
	ck_assert_int_eq(session.pid, 0);
}
END_TEST

START_TEST(a_session_that_changes_has_another_print)
{
	struct session later;

	put("a/ntrace.pb", "trace");
	put("a/cpu_util.pb", "");
	ck_assert(session_read(path_of("a"), &session));
	ck_assert(session_read(path_of("a"), &later));
	ck_assert_uint_eq(session.print, later.print);
	put("a/host_mem.pb", "");
	ck_assert(session_read(path_of("a"), &later));
	ck_assert_uint_ne(session.print, later.print);
	session = later;
	put("a/cpu_util.pb", "x");
	ck_assert(session_read(path_of("a"), &later));
	ck_assert_uint_ne(session.print, later.print);
}
END_TEST

START_TEST(sessions_are_found_wherever_the_documents_have_them)
{
	struct sessions all = { .v = NULL };

	put("i-1_pid_1/ntrace.pb", "t"); /* as older captures have it */
	put("i-1_pid_2/200/ntrace.pb", "t");
	put("i-1_pid_2/100/ntrace.pb", "t");
	put("i-1_pid_2/neffs/graph_1.neff", "m");
	put(".hidden/ntrace.pb", "t");
	put("a/b/c/d/ntrace.pb", "t"); /* too deep */
	ck_assert_int_eq(symlink(path_of("i-1_pid_1"), path_of("link")), 0);
	sessions_find(root, &all);
	ck_assert_uint_eq(all.n, 3);
	ck_assert_str_eq(all.v[0].dir, path_of("i-1_pid_1"));
	ck_assert_str_eq(all.v[1].dir, path_of("i-1_pid_2/100"));
	ck_assert_int_eq(all.v[2].pid, 2);
	vec_fini(&all);
	sessions_find(path_of("i-1_pid_1"), &all);
	ck_assert_uint_eq(all.n, 1);
	vec_fini(&all);
	sessions_find(path_of("nowhere"), &all);
	ck_assert_uint_eq(all.n, 0);
	vec_fini(&all);
}
END_TEST

static void expect_refusal(const char *name, int code, const char *says)
{
	struct err e = { 0 };

	ck_assert_int_eq(session_refuse(path_of(name), &e), code);
	ck_assert_msg(strstr(e.text, says) != NULL, "%s", e.text);
}

START_TEST(whoever_wants_to_read_one_is_told_which_command_decodes_it)
{
	char want[1024];

	put("i_pid_1/9/ntrace.pb", "t");
	expect_refusal("i_pid_1", E_FORMAT, "without trace_info.pb: it is still being written");
	put("i_pid_1/9/trace_info.pb", "i");
	snprintf(want, sizeof(want), "decode it: neuron-explorer view -d %s --output-format json --output-file profile.json "
		"--ignore-device-profile", path_of("i_pid_1/9"));
	expect_refusal("i_pid_1", E_FORMAT, want);
	put("d/a.ntff", "t");
	put("d/trace_info.pb", "t");
	expect_refusal("d", E_FORMAT, "--ignore-system-profile");
	put("empty/trace_info.pb", "t");
	expect_refusal("empty", E_FORMAT, "nothing was captured");
	put("plain/a.txt", "t");
	expect_refusal("plain", E_UNSUPPORTED, "a folder; want a trace in it");
	expect_refusal("plain/a.txt", OK, "");
	expect_refusal("nowhere", OK, "");
}
END_TEST

Suite *suite_session(void)
{
	Suite *s = suite_create("trace/session");
	TCase *tc = tcase_create("session");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_session_tells_what_it_holds_and_whose_it_is);
	tcase_add_test(tc, a_folder_without_profiles_is_no_session);
	tcase_add_test(tc, a_session_that_changes_has_another_print);
	tcase_add_test(tc, sessions_are_found_wherever_the_documents_have_them);
	tcase_add_test(tc, whoever_wants_to_read_one_is_told_which_command_decodes_it);
	suite_add_tcase(s, tc);
	return s;
}
