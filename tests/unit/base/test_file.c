#include "base/file.h"

#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *suite_file(void);

static char dir[64];

static const char *in_dir(const char *name)
{
	static char path[2][128];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void make_dir(void)
{
	snprintf(dir, sizeof(dir), "/tmp/test-file-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void drop_dir(void)
{
	static const char *const names[] = { "a", "a.tmp", "x/y/z", "x/y", "x", "lock", "" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (unlink(in_dir(names[i])) < 0)
			rmdir(in_dir(names[i]));
}

START_TEST(a_replaced_file_holds_the_new_content_and_leaves_nothing_beside)
{
	struct err e = { 0 };
	struct stat st;
	struct buf b;

	buf_init(&b, 1000);
	ck_assert_int_eq(file_replace(in_dir("a"), STR("old"), 0600, &e), OK);
	ck_assert_int_eq(file_replace(in_dir("a"), STR("new content"), 0600, &e), OK);
	ck_assert_int_eq(file_read_all(in_dir("a"), &b, &e), OK);
	ck_assert_str_eq(b.p, "new content");
	ck_assert(!file_exists(in_dir("a.tmp")));
	ck_assert_int_eq(stat(in_dir("a"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	buf_fini(&b);
}
END_TEST

START_TEST(a_file_over_the_ceiling_is_named_in_the_error)
{
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, 5);
	ck_assert_int_eq(file_replace(in_dir("a"), STR("123456"), 0600, &e), OK);
	ck_assert_int_eq(file_read_all(in_dir("a"), &b, &e), E_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "/a: larger than 5 bytes"));
	buf_fini(&b);
}
END_TEST

START_TEST(a_missing_file_is_not_found_by_name)
{
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, 5);
	ck_assert_int_eq(file_read_all(in_dir("a"), &b, &e), E_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(e.text, "/a: No such file"));
	ck_assert_int_eq(file_replace(in_dir("no/a"), STR(""), 0600, &e), E_NOT_FOUND);
	buf_fini(&b);
}
END_TEST

START_TEST(a_read_past_the_end_is_corruption_not_rubbish)
{
	struct err e = { 0 };
	char got[8];
	int fd;

	ck_assert_int_eq(file_replace(in_dir("a"), STR("12345"), 0600, &e), OK);
	fd = open(in_dir("a"), O_RDWR);
	ck_assert_int_eq(file_pread_all(fd, got, 3, 2, "a", &e), OK);
	ck_assert_mem_eq(got, "345", 3);
	ck_assert_int_eq(file_pread_all(fd, got, 4, 2, "a", &e), E_CORRUPT);
	ck_assert_str_eq(e.text, "a: ends at byte 5, 1 bytes early");
	ck_assert_int_eq(file_pwrite_all(fd, "xy", 2, 4, "a", &e), OK);
	ck_assert_int_eq(file_pread_all(fd, got, 6, 0, "a", &e), OK);
	ck_assert_mem_eq(got, "1234xy", 6);
	close(fd);
}
END_TEST

START_TEST(a_full_disk_has_its_own_code)
{
	struct err e = { 0 };
	int fd = open("/dev/full", O_WRONLY);

	if (fd < 0)
		return;
	ck_assert_int_eq(file_write_all(fd, "x", 1, "/dev/full", &e), E_FULL);
	close(fd);
}
END_TEST

START_TEST(folders_are_made_with_their_parents_and_twice)
{
	struct err e = { 0 };

	ck_assert_int_eq(file_make_dirs(in_dir("x/y/z"), 0700, &e), OK);
	ck_assert_int_eq(file_make_dirs(in_dir("x/y/z"), 0700, &e), OK);
	ck_assert(file_exists(in_dir("x/y/z")));
	ck_assert_int_eq(file_sync_dir(in_dir("x"), &e), OK);
	ck_assert_int_eq(file_replace(in_dir("a"), STR(""), 0600, &e), OK);
	ck_assert_int_lt(file_make_dirs(in_dir("a/b"), 0700, &e), 0);
}
END_TEST

START_TEST(no_link_inside_a_root_leads_out_of_it)
{
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, 100);
	ck_assert_int_eq(file_make_dirs(in_dir("x/y"), 0700, &e), OK);
	ck_assert_int_eq(file_replace(in_dir("a"), STR("outside"), 0600, &e), OK);
	ck_assert_int_eq(file_replace(in_dir("x/a"), STR("inside"), 0600, &e), OK);
	ck_assert_int_eq(symlink("../../a", in_dir("x/y/z")), 0);
	ck_assert_int_eq(file_read_all(in_dir("x/y/z"), &b, &e), OK);
	ck_assert_str_eq(b.p, "outside");
	buf_reset(&b);
	ck_assert_msg(file_read_inside(in_dir("x"), "/y/z", &b, &e) == OK, "%s", e.text); /* ".." of the root is the root */
	ck_assert_str_eq(b.p, "inside");
	buf_reset(&b);
	ck_assert_int_eq(file_read_inside(in_dir("x"), "/y", &b, &e), E_UNSUPPORTED);
	ck_assert_int_eq(file_read_inside(in_dir("x"), "/b", &b, &e), E_NOT_FOUND);
	ck_assert_int_eq(file_read_inside(in_dir("z"), "/b", &b, &e), E_NOT_FOUND);
	unlink(in_dir("x/a"));
	buf_fini(&b);
}
END_TEST

START_TEST(a_lock_is_held_once)
{
	struct err e = { 0 };
	int first, second;

	ck_assert_int_eq(file_lock(in_dir("lock"), &first, &e), OK);
	ck_assert_int_eq(file_lock(in_dir("lock"), &second, &e), E_BUSY);
	close(first);
	ck_assert_int_eq(file_lock(in_dir("lock"), &second, &e), OK);
	close(second);
}
END_TEST

START_TEST(free_space_is_told)
{
	struct err e = { 0 };
	uint64_t bytes = 0;

	ck_assert_int_eq(file_free_bytes(dir, &bytes, &e), OK);
	ck_assert_uint_gt(bytes, 0);
	ck_assert_int_eq(file_free_bytes(in_dir("none"), &bytes, &e), E_NOT_FOUND);
}
END_TEST

Suite *suite_file(void)
{
	Suite *s = suite_create("base/file");
	TCase *tc = tcase_create("file");

	tcase_add_checked_fixture(tc, make_dir, drop_dir);
	tcase_add_test(tc, a_replaced_file_holds_the_new_content_and_leaves_nothing_beside);
	tcase_add_test(tc, a_file_over_the_ceiling_is_named_in_the_error);
	tcase_add_test(tc, a_missing_file_is_not_found_by_name);
	tcase_add_test(tc, a_read_past_the_end_is_corruption_not_rubbish);
	tcase_add_test(tc, a_full_disk_has_its_own_code);
	tcase_add_test(tc, folders_are_made_with_their_parents_and_twice);
	tcase_add_test(tc, no_link_inside_a_root_leads_out_of_it);
	tcase_add_test(tc, a_lock_is_held_once);
	tcase_add_test(tc, free_space_is_told);
	suite_add_tcase(s, tc);
	return s;
}
