#include "base/tree.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

Suite *suite_tree(void);

static char dir[64];

static void setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/trainspotter-tree-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	ck_assert_int_eq(tree_remove(dir, NULL), OK);
	ck_assert(!file_exists(dir));
}

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, size_t bytes)
{
	static char zeros[100000];

	memset(zeros, 'z', sizeof(zeros));
	ck_assert_int_eq(file_replace(path_of(name), str_make(zeros, bytes), 0600, NULL), OK);
}

START_TEST(a_tree_is_as_large_as_all_that_is_in_it)
{
	uint64_t empty, bytes;

	ck_assert_int_eq(tree_bytes(dir, &empty, NULL), OK);
	ck_assert_int_eq(file_make_dirs(path_of("a/b/c"), 0700, NULL), OK);
	put("one", 50000);
	put("a/b/c/two", 100000);
	ck_assert_int_eq(tree_bytes(dir, &bytes, NULL), OK);
	ck_assert_uint_ge(bytes, 150000);
	ck_assert_uint_lt(bytes, 200000 + empty);
	ck_assert_int_eq(tree_bytes(path_of("one"), &bytes, NULL), OK);
	ck_assert_uint_ge(bytes, 50000);
	ck_assert_int_eq(tree_bytes(path_of("nothing"), &bytes, NULL), OK);
	ck_assert_uint_eq(bytes, 0);
}
END_TEST

START_TEST(what_links_lead_to_is_neither_counted_nor_removed)
{
	uint64_t bytes;

	ck_assert_int_eq(file_make_dirs(path_of("away/inside"), 0700, NULL), OK);
	ck_assert_int_eq(file_make_dirs(path_of("stays"), 0700, NULL), OK);
	put("stays/file", 100000);
	ck_assert_int_eq(symlink("../../stays", path_of("away/inside/link")), 0);
	ck_assert_int_eq(tree_bytes(path_of("away"), &bytes, NULL), OK);
	ck_assert_uint_lt(bytes, 50000);
	ck_assert_int_eq(tree_remove(path_of("away"), NULL), OK);
	ck_assert(!file_exists(path_of("away")));
	ck_assert(file_exists(path_of("stays/file")));
	ck_assert_int_eq(symlink("stays", path_of("top")), 0);
	ck_assert_int_eq(tree_remove(path_of("top"), NULL), OK);
	ck_assert(file_exists(path_of("stays/file")));
	ck_assert_int_eq(tree_remove(path_of("top"), NULL), OK); /* gone already */
}
END_TEST

static void expect_held(const char *top, const char *name, int want)
{
	char from[512], held[PATH_MAX];
	struct err e = { 0 };
	int fd;

	snprintf(from, sizeof(from), "%s", top);
	fd = tree_hold(from, path_of(name), held, &e);
	if (want == OK) {
		ck_assert_msg(fd >= 0, "%s", e.text);
		ck_assert(file_exists(held));
		close(fd);
	} else {
		ck_assert_int_eq(fd, want);
	}
}

START_TEST(the_way_to_what_is_held_leads_over_no_link)
{
	char slash[80];

	ck_assert_int_eq(file_make_dirs(path_of("a/b"), 0700, NULL), OK);
	put("a/b/file", 10);
	ck_assert_int_eq(symlink("b", path_of("a/link")), 0);
	expect_held(dir, "a/b/file", OK);
	expect_held(dir, "a//b", OK);
	expect_held(dir, "a/link", OK); /* it itself, which is not followed */
	snprintf(slash, sizeof(slash), "%s/", dir);
	expect_held(slash, "a", OK);
	expect_held(dir, "a/none/file", E_NOT_FOUND);
	expect_held(dir, "a/link/file", E_SYS);
	expect_held(dir, "a/b/../b/file", E_SYS);
	expect_held(dir, "a/..", E_USAGE);
	expect_held(dir, "a/", E_USAGE);
	expect_held("/somewhere/else", "a", E_USAGE);
}
END_TEST

START_TEST(what_is_behind_a_link_on_the_way_is_not_removed)
{
	struct err e = { 0 };

	ck_assert_int_eq(file_make_dirs(path_of("job/session"), 0700, NULL), OK);
	ck_assert_int_eq(file_make_dirs(path_of("other/session"), 0700, NULL), OK);
	put("other/session/file", 10);
	ck_assert_int_eq(tree_remove_below(dir, path_of("job/session"), &e), OK);
	ck_assert(!file_exists(path_of("job/session")));
	ck_assert_int_eq(tree_remove_below(dir, path_of("job/session"), &e), OK); /* gone already */
	ck_assert_int_eq(rmdir(path_of("job")), 0);
	ck_assert_int_eq(symlink("other", path_of("job")), 0);
	ck_assert_int_ne(tree_remove_below(dir, path_of("job/session"), &e), OK);
	ck_assert_ptr_nonnull(strstr(e.text, "/job"));
	ck_assert(file_exists(path_of("other/session/file")));
}
END_TEST

START_TEST(folders_too_deep_are_an_error_and_no_crash)
{
	struct err e = { 0 };
	char deep[256];
	size_t n = 0;
	uint64_t bytes;

	for (int i = 0; i < 40; i++)
		n += (size_t)snprintf(deep + n, sizeof(deep) - n, "d/");
	ck_assert_int_eq(file_make_dirs(path_of(deep), 0700, NULL), OK);
	ck_assert_int_eq(tree_bytes(dir, &bytes, &e), E_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "more than 32 levels"));
	ck_assert_int_eq(tree_remove(dir, &e), E_LIMIT);
	for (int i = 0; i < 40; i++) { /* from the bottom, for the teardown */
		deep[n] = '\0';
		rmdir(path_of(deep));
		n -= 2;
	}
}
END_TEST

START_TEST(what_may_not_be_removed_is_said)
{
	struct err e = { 0 };

	if (getuid() == 0)
		return; /* root may */
	ck_assert_int_eq(file_make_dirs(path_of("closed"), 0700, NULL), OK);
	put("closed/file", 10);
	chmod(path_of("closed"), 0500);
	ck_assert_int_eq(tree_remove(path_of("closed"), &e), E_DENIED);
	ck_assert_ptr_nonnull(strstr(e.text, "file: remove"));
	chmod(path_of("closed"), 0700);
}
END_TEST

static bool is_wanted(const char *name)
{
	return name[0] != '.';
}

START_TEST(names_come_sorted_and_never_more_than_asked_for)
{
	struct tree_names names;
	char name[16];

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "%03d", 299 - i);
		put(name, 0);
	}
	put(".hidden", 0);
	ck_assert(tree_list(dir, is_wanted, 1000, &names));
	ck_assert_uint_eq(names.n, 300);
	for (size_t i = 0; i < names.n; i++)
		ck_assert_int_eq(strtol(names.v[i], NULL, 10), (long)i);
	tree_names_fini(&names);
	ck_assert(tree_list(dir, is_wanted, 100, &names));
	ck_assert_uint_eq(names.n, 100);
	for (size_t i = 1; i < names.n; i++)
		ck_assert_int_lt(strcmp(names.v[i - 1], names.v[i]), 0);
	tree_names_fini(&names);
	ck_assert(!tree_list(path_of("no such"), is_wanted, 100, &names));
	ck_assert_uint_eq(names.n, 0);
	tree_names_fini(&names);
}
END_TEST

Suite *suite_tree(void)
{
	Suite *s = suite_create("base/tree");
	TCase *tc = tcase_create("tree");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_tree_is_as_large_as_all_that_is_in_it);
	tcase_add_test(tc, what_links_lead_to_is_neither_counted_nor_removed);
	tcase_add_test(tc, the_way_to_what_is_held_leads_over_no_link);
	tcase_add_test(tc, what_is_behind_a_link_on_the_way_is_not_removed);
	tcase_add_test(tc, folders_too_deep_are_an_error_and_no_crash);
	tcase_add_test(tc, what_may_not_be_removed_is_said);
	tcase_add_test(tc, names_come_sorted_and_never_more_than_asked_for);
	suite_add_tcase(s, tc);
	return s;
}
