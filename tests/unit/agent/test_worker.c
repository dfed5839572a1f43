#include "agent/worker.h"

#include <check.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/agent/folder.h"

Suite *suite_worker(void);

#define STAT_OF(ticks) "7 (py (thon) 3) S 1 7 7 0 -1 4194304 1 0 0 0 5 1 0 0 20 0 9 0 " ticks " 1 2 3\n"

static struct worker w;
static struct err e;

static void setup(void)
{
	folder_make();
	ck_assert_int_eq(mkdir(folder_path("7"), 0700), 0);
	folder_write("7/stat", STR(STAT_OF("4242")));
	err_clear(&e);
}

static void read_environ_of(struct str environ_text)
{
	folder_write("7/environ", environ_text);
	ck_assert_msg(worker_read(&w, folder, 7, &e) == OK, "%s", e.text);
	ck_assert(w.env_read);
}

START_TEST(service_and_deploy_come_from_the_environment)
{
	read_environ_of(STR("PATH=/bin\0TRAINSPOTTER_SERVICE=llm-decode\0TRAINSPOTTER_DEPLOY=v42=b\0RANK=3\0"
			    "KINETO_ONDEMAND_TRACE_DIR=/traces\0"));
	ck_assert_str_eq(w.service, "llm-decode");
	ck_assert_str_eq(w.deploy, "v42=b");
	ck_assert_str_eq(w.worker, "3");
	ck_assert_str_eq(w.trace_dir, "/traces");
	ck_assert_uint_eq(w.born_ticks, 4242);
	ck_assert_int_gt(w.age_ns, 0);
}
END_TEST

START_TEST(the_tag_of_neuron_is_second_best_wherever_it_stands)
{
	read_environ_of(STR("NEURON_PROCESS_TAG=tag\0NEURON_RT_VISIBLE_CORES=0-3\0"));
	ck_assert_str_eq(w.service, "tag");
	ck_assert_str_eq(w.worker, "0-3");
	read_environ_of(STR("NEURON_PROCESS_TAG=tag\0NEURON_RT_VISIBLE_CORES=0-3\0RANK=1\0TRAINSPOTTER_SERVICE=llm\0"));
	ck_assert_str_eq(w.service, "llm");
	ck_assert_str_eq(w.worker, "1");
	read_environ_of(STR("XTRAINSPOTTER_SERVICE=no\0TRAINSPOTTER_SERVICEX=no\0TRAINSPOTTER_SERVICE=\0=\0\0"));
	ck_assert_str_eq(w.service, "");
}
END_TEST

START_TEST(a_value_that_is_no_name_is_none)
{
	static char longer[400];

	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "TRAINSPOTTER_SERVICE=", 21);
	read_environ_of(str_make(longer, sizeof(longer)));
	ck_assert_str_eq(w.service, "");
	read_environ_of(STR("TRAINSPOTTER_SERVICE=a\nb\0NEURON_PROCESS_TAG=tag\0"));
	ck_assert_str_eq(w.service, "tag");
	read_environ_of(STR("TRAINSPOTTER_SERVICE=\xff\xfe\0NEURON_PROCESS_TAG=t\303\251\0"));
	ck_assert_str_eq(w.service, "t\303\251");
}
END_TEST

START_TEST(an_environment_that_cannot_be_read_is_told)
{
	ck_assert_int_eq(worker_read(&w, folder, 7, &e), OK);
	ck_assert(!w.env_read);
	ck_assert_str_eq(w.root, "");
	ck_assert(!w.owns_device);
}
END_TEST

START_TEST(a_process_that_is_gone_or_another_one_does_not_live)
{
	ck_assert_int_eq(worker_read(&w, folder, 7, &e), OK);
	ck_assert(worker_lives(&w, folder));
	folder_write("7/stat", STR(STAT_OF("4243")));
	ck_assert(!worker_lives(&w, folder));
	folder_write("7/stat", STR("7 (x"));
	ck_assert(!worker_lives(&w, folder));
	ck_assert_int_eq(worker_read(&w, folder, 7, &e), E_FORMAT);
	unlink(folder_path("7/stat"));
	ck_assert(!worker_lives(&w, folder));
	ck_assert_int_eq(worker_read(&w, folder, 7, &e), E_NOT_FOUND);
}
END_TEST

START_TEST(a_device_and_another_view_of_files_are_seen)
{
	ck_assert_int_eq(mkdir(folder_path("7/fd"), 0700), 0);
	ck_assert_int_eq(mkdir(folder_path("7/ns"), 0700), 0);
	ck_assert_int_eq(mkdir(folder_path("self"), 0700), 0);
	ck_assert_int_eq(mkdir(folder_path("self/ns"), 0700), 0);
	ck_assert_int_eq(symlink("/dev/null", folder_path("7/fd/0")), 0);
	ck_assert_int_eq(symlink("mnt:[1]", folder_path("self/ns/mnt")), 0);
	ck_assert_int_eq(symlink("mnt:[1]", folder_path("7/ns/mnt")), 0);
	ck_assert_int_eq(worker_read(&w, folder, 7, &e), OK);
	ck_assert(!w.owns_device);
	ck_assert_str_eq(w.root, "");
	ck_assert_int_eq(symlink("/dev/neuron0", folder_path("7/fd/9")), 0);
	unlink(folder_path("7/ns/mnt"));
	ck_assert_int_eq(symlink("mnt:[2]", folder_path("7/ns/mnt")), 0);
	ck_assert_int_eq(worker_read(&w, folder, 7, &e), OK);
	ck_assert(w.owns_device);
	ck_assert_str_eq(w.root, folder_path("7/root"));
}
END_TEST

START_TEST(a_process_in_a_container_is_known_by_both_its_pids)
{
	read_environ_of(STR("POD_NAME=llm-0\0POD_NAMESPACE=inference\0"));
	ck_assert_str_eq(w.pod, "llm-0");
	ck_assert_str_eq(w.pod_namespace, "inference");
	ck_assert_int_eq(w.own_pid, 7);
	ck_assert_str_eq(w.cgroup.container, "");
	folder_write("7/status", STR("Name:\tpython3\nNSpid:\t7\t12\t1\nNSpgid:\t7\n"));
	folder_write("7/cgroup", STR("0::/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"));
	ck_assert_int_eq(worker_read(&w, folder, 7, &e), OK);
	ck_assert_int_eq(w.own_pid, 1);
	ck_assert_int_eq(w.cgroup.runtime, CGROUP_DOCKER);
	folder_write("7/status", STR("NSpid:\t7\n"));
	ck_assert_int_eq(worker_read(&w, folder, 7, &e), OK);
	ck_assert_int_eq(w.own_pid, 7);
	folder_write("7/status", STR("NSpid:\t7\tx\n"));
	ck_assert_int_eq(worker_read(&w, folder, 7, &e), OK);
	ck_assert_int_eq(w.own_pid, 7);
}
END_TEST

START_TEST(the_process_of_this_test_is_young_and_alive)
{
	ck_assert_msg(worker_read(&w, "/proc", getpid(), &e) == OK, "%s", e.text);
	ck_assert(w.env_read);
	ck_assert_int_lt(w.age_ns, 10 * NS_PER_MIN);
	ck_assert(worker_lives(&w, "/proc"));
}
END_TEST

Suite *suite_worker(void)
{
	Suite *s = suite_create("agent/worker");
	TCase *tc = tcase_create("worker");

	tcase_add_checked_fixture(tc, setup, folder_remove);
	tcase_add_test(tc, service_and_deploy_come_from_the_environment);
	tcase_add_test(tc, the_tag_of_neuron_is_second_best_wherever_it_stands);
	tcase_add_test(tc, a_value_that_is_no_name_is_none);
	tcase_add_test(tc, an_environment_that_cannot_be_read_is_told);
	tcase_add_test(tc, a_process_that_is_gone_or_another_one_does_not_live);
	tcase_add_test(tc, a_device_and_another_view_of_files_are_seen);
	tcase_add_test(tc, a_process_in_a_container_is_known_by_both_its_pids);
	tcase_add_test(tc, the_process_of_this_test_is_young_and_alive);
	suite_add_tcase(s, tc);
	return s;
}
