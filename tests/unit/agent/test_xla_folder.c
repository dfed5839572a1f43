#include "agent/xla_folder.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/agent/folder.h"

Suite *suite_xla_folder(void);

enum { OTHER_UID = 4711 };

static struct xla_folder f;
static struct watch_file file;
static struct err e;
static struct stat st;

static void setup(void)
{
	folder_make();
	ck_assert_int_eq(chmod(folder_path(""), 0755), 0);
	err_clear(&e);
	f = XLA_FOLDER_NONE;
}

static void make(uid_t uid)
{
	ck_assert_msg(xla_folder_make(&f, "", folder, uid, &e) == OK, "%s", e.text);
}

static const char *in_session(const char *name)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s%s%s", f.path, f.session, name[0] == '\0' ? "" : "/", name);
	return path;
}

static int open_in_session(const char *name)
{
	return open(in_session(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
}

static void write_as(uid_t uid, const char *name, size_t bytes)
{
	int fd = open_in_session(name);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
	if (uid != geteuid())
		ck_assert_int_eq(fchown(fd, uid, (gid_t)-1), 0);
	close(fd);
}

START_TEST(nobody_else_can_list_it_and_the_job_can_write_into_it)
{
	umask(077);
	make(geteuid());
	ck_assert_int_eq(stat(f.path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0711);
	ck_assert_int_eq(stat(in_session(""), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_msg(xla_folder_remove(&f, &e) == OK, "%s", e.text);
	make(XLA_ANYBODY);
	ck_assert_int_eq(stat(in_session(""), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0777);
	ck_assert_int_eq(xla_folder_remove(&f, &e), OK);
}
END_TEST

START_TEST(root_gives_the_session_to_the_jobs_user)
{
	if (geteuid() != 0)
		return;
	make(OTHER_UID);
	ck_assert_int_eq(stat(in_session(""), &st), 0);
	ck_assert_uint_eq(st.st_uid, OTHER_UID);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(xla_folder_remove(&f, &e), OK);
}
END_TEST

/* The job's part of it, in a process of that user. */
static int write_in_child(uid_t uid)
{
	pid_t pid = fork();
	int status = -1, fd;

	if (pid == 0) {
		umask(022);
		fd = setresuid(uid, uid, uid) == 0 ? open_in_session("h.xplane.pb") : -1;
		_exit(fd >= 0 && write(fd, "abc", 3) == 3 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Without any right over others' files, as an agent may run, too. */
START_TEST(another_users_trace_is_taken_and_removed_without_being_root)
{
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chmod(folder, 01777), 0);
	ck_assert_int_eq(setresuid(OTHER_UID, OTHER_UID, 0), 0); /* and back, for the job's part */
	make(OTHER_UID + 1);
	ck_assert_int_eq(stat(in_session(""), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0777);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(write_in_child(OTHER_UID + 1), 0);
	ck_assert_int_eq(seteuid(OTHER_UID), 0);
	ck_assert_msg(xla_folder_take(&f, "h.xplane.pb", OTHER_UID + 1, 10, &file, &e) == OK, "%s", e.text);
	ck_assert_int_eq(file.size, 3);
	ck_assert_msg(xla_folder_remove(&f, &e) == OK, "%s", e.text);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_uint_eq(folder_count("", ""), 0);
}
END_TEST

START_TEST(the_file_is_taken_out_of_the_jobs_hands)
{
	struct buf b;

	make(geteuid());
	write_as(geteuid(), "h.xplane.pb", 10);
	ck_assert_msg(xla_folder_take(&f, "h.xplane.pb", geteuid(), 10, &file, &e) == OK, "%s", e.text);
	ck_assert_int_eq(file.size, 10);
	ck_assert(watch_same(&file));
	ck_assert_int_ne(access(in_session("h.xplane.pb"), F_OK), 0);
	/* the path holds wherever the folder goes */
	ck_assert_int_eq(rename(f.path, folder_path("elsewhere")), 0);
	buf_init(&b, 100);
	ck_assert_int_eq(file_read_regular(file.path, &b, &e), OK);
	ck_assert_uint_eq(b.n, 10);
	buf_fini(&b);
	ck_assert_int_eq(rename(folder_path("elsewhere"), f.path), 0);
	ck_assert_msg(xla_folder_remove(&f, &e) == OK, "%s", e.text);
	ck_assert_uint_eq(folder_count("", ""), 0);
}
END_TEST

START_TEST(what_is_no_trace_of_the_job_is_told)
{
	make(geteuid());
	ck_assert_int_eq(xla_folder_take(&f, "h.xplane.pb", geteuid(), 10, &file, &e), E_NOT_FOUND);
	write_as(geteuid(), "h.xplane.pb", 11);
	ck_assert_int_eq(xla_folder_take(&f, "h.xplane.pb", geteuid(), 10, &file, &e), E_LIMIT);
	ck_assert(str_contains(str_of(e.text), STR("11 bytes")));
	ck_assert_int_eq(symlink("/etc/passwd", in_session("h.xplane.pb")), 0);
	ck_assert_int_eq(xla_folder_take(&f, "h.xplane.pb", geteuid(), 1 << 20, &file, &e), E_DENIED);
	ck_assert_int_eq(mkfifo(in_session("h.xplane.pb"), 0600), 0);
	ck_assert_int_eq(xla_folder_take(&f, "h.xplane.pb", geteuid(), 1 << 20, &file, &e), E_DENIED);
	write_as(geteuid(), "one", 1);
	{
		char one[2 * PATH_MAX];

		snprintf(one, sizeof(one), "%s", in_session("one"));
		ck_assert_int_eq(link(one, in_session("h.xplane.pb")), 0); /* a second name of somebody's file */
	}
	ck_assert_int_eq(xla_folder_take(&f, "h.xplane.pb", geteuid(), 1 << 20, &file, &e), E_DENIED);
	if (geteuid() == 0) {
		write_as(OTHER_UID, "x.xplane.pb", 1);
		ck_assert_int_eq(xla_folder_take(&f, "x.xplane.pb", 0, 10, &file, &e), E_DENIED);
		write_as(OTHER_UID, "x.xplane.pb", 1);
		ck_assert_int_eq(xla_folder_take(&f, "x.xplane.pb", XLA_ANYBODY, 10, &file, &e), OK);
	}
	ck_assert_int_eq(xla_folder_remove(&f, &e), OK);
	ck_assert_uint_eq(folder_count("", ""), 0);
}
END_TEST

START_TEST(no_link_leads_out_of_anothers_root)
{
	char dir[PATH_MAX + 8];

	ck_assert_int_eq(mkdir(folder_path("root"), 0755), 0);
	ck_assert_int_eq(mkdir(folder_path("root/tmp"), 0755), 0);
	ck_assert_int_eq(mkdir(folder_path("outside"), 0755), 0);
	ck_assert_int_eq(symlink(folder_path("outside"), folder_path("root/link")), 0);
	ck_assert_msg(xla_folder_make(&f, folder_path("root"), "/tmp", geteuid(), &e) == OK, "%s", e.text);
	ck_assert(str_has_prefix(str_of(f.path), STR("/tmp/" XLA_FOLDER_STEM)));
	snprintf(dir, sizeof(dir), "root%s", f.path);
	ck_assert(folder_has(dir));
	ck_assert_int_eq(xla_folder_remove(&f, &e), OK);
	ck_assert(!folder_has(dir));
	ck_assert_int_lt(xla_folder_make(&f, folder_path("root"), "/link", geteuid(), &e), 0);
	ck_assert_int_lt(xla_folder_make(&f, folder_path("root"), "/tmp/../../outside", geteuid(), &e), 0);
	ck_assert_int_eq(xla_folder_make(&f, folder_path("root"), "/none", geteuid(), &e), E_NOT_FOUND);
	ck_assert(str_contains(str_of(e.text), STR("/root/none")));
	ck_assert_uint_eq(folder_count("outside", ""), 0);
}
END_TEST

START_TEST(a_sweep_removes_what_nobody_holds_and_nothing_else)
{
	struct xla_folder held = XLA_FOLDER_NONE;
	int64_t later = clock_wall_ns() + NS_PER_MIN;

	make(geteuid());
	write_as(geteuid(), "h.xplane.pb", 3);
	xla_folder_leave(&f);
	ck_assert_int_eq(xla_folder_make(&held, "", folder, geteuid(), &e), OK);
	folder_write(XLA_FOLDER_STEM "file", STR("x"));
	ck_assert_int_eq(mkdir(folder_path("other"), 0755), 0);
	ck_assert_uint_eq(xla_folder_sweep("", folder, NS_PER_HOUR, later), 0); /* too young */
	ck_assert_uint_eq(folder_count("", ""), 4);
	ck_assert_uint_eq(xla_folder_sweep("", folder, NS_PER_S, later), 1);
	ck_assert_uint_eq(folder_count("", ""), 3);
	ck_assert_int_eq(access(held.path, F_OK), 0);
	ck_assert_int_eq(xla_folder_remove(&held, &e), OK);
	ck_assert_uint_eq(xla_folder_sweep("", folder_path("none"), NS_PER_S, later), 0);
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(mkdir(folder_path(XLA_FOLDER_STEM "theirs"), 0755), 0);
	ck_assert_int_eq(chown(folder_path(XLA_FOLDER_STEM "theirs"), OTHER_UID, OTHER_UID), 0);
	ck_assert_uint_eq(xla_folder_sweep("", folder, NS_PER_S, later), 0);
}
END_TEST

Suite *suite_xla_folder(void)
{
	Suite *s = suite_create("agent/xla_folder");
	TCase *tc = tcase_create("xla_folder");

	tcase_add_checked_fixture(tc, setup, folder_remove);
	tcase_add_test(tc, nobody_else_can_list_it_and_the_job_can_write_into_it);
	tcase_add_test(tc, root_gives_the_session_to_the_jobs_user);
	tcase_add_test(tc, another_users_trace_is_taken_and_removed_without_being_root);
	tcase_add_test(tc, the_file_is_taken_out_of_the_jobs_hands);
	tcase_add_test(tc, what_is_no_trace_of_the_job_is_told);
	tcase_add_test(tc, no_link_leads_out_of_anothers_root);
	tcase_add_test(tc, a_sweep_removes_what_nobody_holds_and_nothing_else);
	suite_add_tcase(s, tc);
	return s;
}
