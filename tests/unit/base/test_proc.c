#include "base/proc.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

Suite *suite_proc(void);

START_TEST(a_signal_comes_by_the_fd_and_kills_nobody)
{
	struct err e = { 0 };
	int fd;

	ck_assert_int_eq(proc_signals_open(&fd, &e), OK);
	ck_assert_int_eq(proc_wait_signal(fd, 0), 0);
	ck_assert_int_eq(proc_wait_signal(fd, 5 * NS_PER_MS), 0);
	kill(getpid(), SIGHUP);
	ck_assert_int_eq(proc_wait_signal(fd, -1), SIGHUP);
	kill(getpid(), SIGTERM);
	ck_assert_int_eq(proc_wait_signal(fd, NS_PER_S), SIGTERM);
	kill(getpid(), SIGPIPE); /* ignored */
	close(fd);
}
END_TEST

START_TEST(systemd_is_told_where_it_listens)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int n, fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	char name[64], got[64];

	n = snprintf(name, sizeof(name), "@trainspotter-test-%d", (int)getpid());
	memcpy(at.sun_path, name, (size_t)n);
	at.sun_path[0] = '\0';
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, (socklen_t)(sizeof(sa_family_t) + (size_t)n)), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	proc_notify("READY=1");
	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), 7);
	ck_assert_mem_eq(got, "READY=1", 7);
	close(fd);
	proc_notify("STOPPING=1"); /* nobody there: no harm */
	unsetenv("NOTIFY_SOCKET");
	proc_notify("STOPPING=1");
}
END_TEST

START_TEST(a_host_has_a_name_and_a_limit_can_be_asked_for)
{
	char name[256] = "";
	struct err e = { 0 };

	proc_host_name(name, sizeof(name));
	ck_assert_uint_gt(strlen(name), 0);
	proc_host_name(name, 2);
	ck_assert_uint_le(strlen(name), 1);
	ck_assert_int_eq(proc_limit_files(64, &e), OK);
	ck_assert_int_eq(proc_limit_files(UINT64_C(1) << 40, &e), OK);
}
END_TEST

Suite *suite_proc(void)
{
	Suite *s = suite_create("base/proc");
	TCase *tc = tcase_create("proc");

	tcase_add_test(tc, a_signal_comes_by_the_fd_and_kills_nobody);
	tcase_add_test(tc, systemd_is_told_where_it_listens);
	tcase_add_test(tc, a_host_has_a_name_and_a_limit_can_be_asked_for);
	suite_add_tcase(s, tc);
	return s;
}
