#include "agent/keep.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/agent/folder.h"

Suite *suite_keep(void);

#define SIDE ".meta.json"

static char from[PATH_MAX], dir[PATH_MAX];
static struct err e;

static void setup(void)
{
	folder_make();
	snprintf(from, sizeof(from), "%s", folder_path("a.json"));
	snprintf(dir, sizeof(dir), "%s", folder_path("raw/last"));
	folder_write("a.json", STR("a trace"));
	err_clear(&e);
}

static void expect(const char *name, const char *text)
{
	struct buf b;

	buf_init(&b, 100);
	folder_read(name, &b);
	ck_assert_str_eq(b.p, text);
	buf_fini(&b);
}

START_TEST(a_file_stays_under_a_second_name_with_its_side_file)
{
	folder_write("a.json.meta.json", STR("{}"));
	ck_assert_msg(keep_copy(from, dir, "w-a.json", SIDE, 100, &e) == OK, "%s", e.text);
	unlink(from);
	expect("raw/last/w-a.json", "a trace");
	expect("raw/last/w-a.json.meta.json", "{}");
	folder_write("a.json", STR("another"));
	ck_assert_int_eq(keep_copy(from, dir, "w-a.json", SIDE, 100, &e), OK);
	expect("raw/last/w-a.json", "a trace"); /* what is there stays */
}
END_TEST

/* /dev/shm is another file system than /tmp wherever both are there. */
START_TEST(from_another_file_system_it_is_copied)
{
	char other[] = "/dev/shm/trainspotter-keep-XXXXXX";
	struct stat st;
	int fd = mkstemp(other);

	if (fd < 0)
		return;
	ck_assert_int_eq(write(fd, "far away", 8), 8);
	close(fd);
	ck_assert_msg(keep_copy(other, dir, "w", SIDE, 8, &e) == OK, "%s", e.text);
	expect("raw/last/w", "far away");
	ck_assert_int_eq(stat(folder_path("raw/last/w"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07, 0);
	ck_assert(!folder_has("raw/last/w.tmp"));
	ck_assert_int_eq(keep_copy(other, dir, "v", SIDE, 7, &e), E_LIMIT);
	ck_assert(!folder_has("raw/last/v"));
	unlink(other);
}
END_TEST

START_TEST(what_is_no_regular_file_or_too_large_is_refused)
{
	ck_assert_int_eq(keep_copy(from, dir, "w", SIDE, 6, &e), E_LIMIT);
	unlink(from);
	ck_assert_int_eq(keep_copy(from, dir, "w", SIDE, 100, &e), E_NOT_FOUND);
	ck_assert_int_eq(symlink("/etc/hostname", from), 0);
	ck_assert_int_ne(keep_copy(from, dir, "w", SIDE, 100, &e), OK);
	unlink(from);
	ck_assert_int_eq(mkfifo(from, 0600), 0);
	ck_assert_int_eq(keep_copy(from, dir, "w", SIDE, 100, &e), E_UNSUPPORTED);
	ck_assert_uint_eq(folder_count("raw/last", ""), 0);
}
END_TEST

static void put(const char *name, const char *text, int age)
{
	const struct timespec times[2] = { { 1000000 - age, 0 }, { 1000000 - age, 0 } };

	folder_write(name, str_of(text));
	ck_assert_int_eq(utimensat(AT_FDCWD, folder_path(name), times, 0), 0);
}

START_TEST(the_oldest_go_first_by_number_and_by_bytes)
{
	ck_assert_int_eq(mkdir(folder_path("raw"), 0700), 0);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	put("raw/last/1", "four", 4);
	put("raw/last/1.meta.json", "{}", 0);
	put("raw/last/2", "four", 3);
	put("raw/last/3", "four", 2);
	put("raw/last/3.meta.json", "{}", 9);
	put("raw/last/4", "four", 1);
	ck_assert_uint_eq(keep_trim_bytes(dir, SIDE, 4, 16), 0);
	ck_assert_uint_eq(keep_trim_bytes(dir, SIDE, 3, 16), 1);
	ck_assert(!folder_has("raw/last/1") && !folder_has("raw/last/1.meta.json") && folder_has("raw/last/2"));
	ck_assert_uint_eq(keep_trim_bytes(dir, SIDE, 3, 9), 1);
	ck_assert(!folder_has("raw/last/2") && folder_has("raw/last/3") && folder_has("raw/last/3.meta.json"));
	ck_assert_uint_eq(keep_trim_bytes(dir, SIDE, 3, 3), 2);
	ck_assert_uint_eq(folder_count("raw/last", ""), 0);
	ck_assert_uint_eq(keep_trim_bytes(folder_path("nowhere"), SIDE, 3, 3), 0);
}
END_TEST

Suite *suite_keep(void)
{
	Suite *s = suite_create("agent/keep");
	TCase *tc = tcase_create("keep");

	tcase_add_checked_fixture(tc, setup, folder_remove);
	tcase_add_test(tc, a_file_stays_under_a_second_name_with_its_side_file);
	tcase_add_test(tc, from_another_file_system_it_is_copied);
	tcase_add_test(tc, what_is_no_regular_file_or_too_large_is_refused);
	tcase_add_test(tc, the_oldest_go_first_by_number_and_by_bytes);
	suite_add_tcase(s, tc);
	return s;
}
