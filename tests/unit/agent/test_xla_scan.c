#include "agent/xla_scan.h"

#include <check.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/agent/folder.h"

Suite *suite_xla_scan(void);

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define LINE(local, state, uid, inode)                                                                              \
	"   0: " local " 00000000:0000 " state " 00000000:00000000 00:00000000 00000000 " uid "        0 " inode          \
	" 1 000000001ab4d241 100 0 0 10 0\n"
#define SIX(local) "000000000000000000000000" local

static struct xla_listeners ls;
static struct xla_scan *scan;

static void setup(void)
{
	folder_make();
	ls = (struct xla_listeners)VEC_INIT(100);
	ck_assert_int_eq(mkdir(folder_path("self"), 0755), 0);
	ck_assert_int_eq(mkdir(folder_path("self/net"), 0755), 0);
	ck_assert_int_eq(mkdir(folder_path("self/ns"), 0755), 0);
	ck_assert_int_eq(symlink("net:[1]", folder_path("self/ns/net")), 0);
}

static void teardown(void)
{
	vec_fini(&ls);
	xla_scan_free(scan);
	scan = NULL;
	folder_remove();
}

/* A process with that environment, and these sockets at its descriptors. */
static void process(int pid, struct str environ_text, const char *const *fds, size_t n)
{
	char path[100], stat_text[200];

	snprintf(path, sizeof(path), "%d", pid);
	ck_assert_int_eq(mkdir(folder_path(path), 0755), 0);
	snprintf(path, sizeof(path), "%d/environ", pid);
	folder_write(path, environ_text);
	snprintf(path, sizeof(path), "%d/stat", pid);
	snprintf(stat_text, sizeof(stat_text), "%d (python) S 1 7 7 0 -1 4194304 1 0 0 0 5 1 0 0 20 0 9 0 4242 1 2 3\n", pid);
	folder_write(path, str_of(stat_text));
	snprintf(path, sizeof(path), "%d/fd", pid);
	ck_assert_int_eq(mkdir(folder_path(path), 0755), 0);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%d/fd/%zu", pid, i);
		ck_assert_int_eq(symlink(fds[i], folder_path(path)), 0);
	}
}

static void listens(const char *four, const char *six)
{
	folder_write("self/net/tcp", str_of(four));
	folder_write("self/net/tcp6", str_of(six));
}

static const struct xla_job *job(size_t i)
{
	ck_assert_uint_lt(i, xla_scan_jobs(scan)->n);
	return &xla_scan_jobs(scan)->v[i];
}

START_TEST(what_listens_on_this_machine_is_told)
{
	xla_listeners_parse(STR(HEAD LINE("0100007F:2334", "0A", "1000", "11") LINE("00000000:2335", "0A", "0", "12")
		LINE("0A00000A:2336", "0A", "0", "13") LINE("0100007F:2337", "01", "0", "14")
		LINE("0200007F:2338", "0A", "0", "15") LINE(SIX("00000000") ":2339", "0A", "0", "16")
		LINE(SIX("01000000") ":233A", "0A", "0", "17") LINE("0000000000000000FFFF00000100007F:233B", "0A", "0", "18")
		LINE("0000000000000000FFFF00000A00000A:233C", "0A", "0", "19") "garbage\n\n" LINE("0100007F:233D", "0A", "x", "20")
		LINE("0100007F:2333D", "0A", "0", "21") LINE("0100007F:233D", "0A", "0", "0") "  1: 0100007F:2334 00000000:0000 0A"),
		&ls);
	ck_assert_uint_eq(ls.n, 6);
	ck_assert(ls.v[0].port == 9012 && ls.v[0].uid == 1000 && ls.v[0].inode == 11 && ls.v[0].four && !ls.v[0].six);
	ck_assert(ls.v[1].port == 9013 && ls.v[1].four && ls.v[1].loopback == 0);
	ck_assert(ls.v[2].port == 9016 && ls.v[2].four && ls.v[2].loopback != 0);
	ck_assert(ls.v[3].port == 9017 && ls.v[3].four && ls.v[3].six);
	ck_assert(ls.v[4].port == 9018 && !ls.v[4].four && ls.v[4].six);
	ck_assert(ls.v[5].port == 9019 && ls.v[5].four && !ls.v[5].six);
}
END_TEST

START_TEST(a_port_or_a_range_is_read)
{
	static const char *const wrong[] = { "", "x", "0", "65536", "9012-", "-9012", "9019-9012", "9012-9999", "9012 ", "9012-9013-9014" };
	struct xla_ports p;

	ck_assert_int_eq(xla_ports_parse(STR("9012"), &p), OK);
	ck_assert(p.first == 9012 && p.last == 9012);
	ck_assert_int_eq(xla_ports_parse(STR("9012-9075"), &p), OK);
	ck_assert(p.first == 9012 && p.last == 9075);
	for (size_t i = 0; i < COUNT(wrong); i++)
		ck_assert_msg(xla_ports_parse(str_of(wrong[i]), &p) == E_FORMAT, "%s", wrong[i]);
}
END_TEST

START_TEST(a_process_that_says_its_port_is_found_and_its_children_are_not)
{
	static const char *const mine[] = { "/dev/null", "socket:[99]", "socket:[11]" };

	listens(HEAD LINE("0100007F:2334", "0A", "1000", "11") LINE("0100007F:2335", "0A", "1000", "12"), HEAD);
	process(100, STR("A=b\0TRAINSPOTTER_XLA_PORT=9012\0TRAINSPOTTER_SERVICE=llm\0"), mine, COUNT(mine));
	process(101, STR("TRAINSPOTTER_XLA_PORT=9012\0"), mine, 2);
	process(102, STR("OTHER=9013\0"), mine, 0);
	scan = xla_scan_new(folder, NULL, 0, true);
	ck_assert(xla_scan_look(scan));
	ck_assert_uint_eq(xla_scan_jobs(scan)->n, 1);
	ck_assert_str_eq(job(0)->address, "127.0.0.1:9012");
	ck_assert(job(0)->known && job(0)->listens && job(0)->section == XLA_NO_SECTION);
	ck_assert_int_eq(job(0)->who.pid, 100);
	ck_assert_uint_eq(job(0)->uid, 1000);
	ck_assert_str_eq(job(0)->who.service, "llm");
	ck_assert_int_eq(xla_scan_elsewhere(scan), 0);
}
END_TEST

START_TEST(each_process_of_a_range_is_found_at_its_own_port)
{
	static const char *const first[] = { "socket:[11]" }, *const second[] = { "socket:[12]", "socket:[13]" };

	listens(HEAD LINE("0100007F:2334", "0A", "0", "11"), HEAD LINE(SIX("00000000") ":2335", "0A", "0", "12")
		LINE(SIX("01000000") ":270F", "0A", "0", "13"));
	process(100, STR("TRAINSPOTTER_XLA_PORT=9012-9019\0"), first, 1);
	process(101, STR("TRAINSPOTTER_XLA_PORT=9012-9019\0"), second, 2);
	scan = xla_scan_new(folder, NULL, 0, true);
	ck_assert(xla_scan_look(scan));
	ck_assert_uint_eq(xla_scan_jobs(scan)->n, 2); /* port 9999 is none of the range */
	for (size_t i = 0; i < 2; i++)
		ck_assert_str_eq(job(i)->address, job(i)->who.pid == 100 ? "127.0.0.1:9012" : "127.0.0.1:9013");
}
END_TEST

START_TEST(a_section_is_there_whether_it_listens_or_not)
{
	static const char *const sections[] = { "127.0.0.1:9012", "[::1]:9013", "127.0.0.1:9014" };
	static const char *const fds[] = { "socket:[12]" };

	listens(HEAD LINE("00000000:2334", "0A", "0", "11"), HEAD LINE(SIX("00000000") ":2335", "0A", "0", "12"));
	process(100, STR("TRAINSPOTTER_SERVICE=llm\0"), fds, 1);
	scan = xla_scan_new(folder, sections, 3, false);
	ck_assert(xla_scan_look(scan));
	ck_assert_uint_eq(xla_scan_jobs(scan)->n, 3);
	ck_assert(job(0)->listens && !job(0)->known && job(0)->section == 0);
	ck_assert(job(1)->listens && !job(2)->listens);
	ck_assert_str_eq(job(1)->address, "[::1]:9013");
	/* the process belongs to whoever runs the test: it is only seen where that is the socket's user, or root */
	ck_assert(job(1)->known == (geteuid() == 0));
}
END_TEST

START_TEST(a_section_and_a_variable_of_one_socket_are_one_job)
{
	static const char *const sections[] = { "127.0.0.1:9012" };
	static const char *const fds[] = { "socket:[11]" };

	listens(HEAD LINE("0100007F:2334", "0A", "0", "11"), HEAD);
	process(100, STR("TRAINSPOTTER_XLA_PORT=9012\0"), fds, 1);
	scan = xla_scan_new(folder, sections, 1, true);
	ck_assert(xla_scan_look(scan));
	ck_assert_uint_eq(xla_scan_jobs(scan)->n, 1);
	ck_assert(job(0)->section == 0 && job(0)->known);
}
END_TEST

START_TEST(processes_are_walked_only_when_something_has_changed)
{
	static const char *const fds[] = { "socket:[11]" };

	listens(HEAD LINE("0100007F:2334", "0A", "0", "11"), HEAD);
	process(100, STR("TRAINSPOTTER_XLA_PORT=9012\0"), fds, 1);
	scan = xla_scan_new(folder, NULL, 0, true);
	ck_assert(xla_scan_look(scan));
	ck_assert(!xla_scan_look(scan));
	folder_write("self/net/tcp", STR(HEAD LINE("0200007F:0016", "01", "0", "77") LINE("0100007F:2334", "0A", "0", "11")));
	ck_assert(!xla_scan_look(scan)); /* a connection is nothing that listens */
	ck_assert_int_eq(unlink(folder_path("100/stat")), 0);
	ck_assert(xla_scan_look(scan)); /* gone */
	ck_assert(!job(0)->known);
	listens(HEAD, HEAD);
	ck_assert(xla_scan_look(scan));
	ck_assert_uint_eq(xla_scan_jobs(scan)->n, 0);
	ck_assert(!xla_scan_look(scan));
}
END_TEST

START_TEST(a_process_in_another_network_is_told)
{
	listens(HEAD, HEAD);
	process(100, STR("TRAINSPOTTER_XLA_PORT=9012\0"), NULL, 0);
	ck_assert_int_eq(mkdir(folder_path("100/ns"), 0755), 0);
	ck_assert_int_eq(symlink("net:[2]", folder_path("100/ns/net")), 0);
	scan = xla_scan_new(folder, NULL, 0, true);
	ck_assert(xla_scan_look(scan));
	ck_assert_int_eq(xla_scan_elsewhere(scan), 100);
	ck_assert_uint_eq(xla_scan_jobs(scan)->n, 0);
}
END_TEST

START_TEST(without_the_kernels_tables_there_is_nothing)
{
	scan = xla_scan_new(folder_path("none"), NULL, 0, true);
	ck_assert(xla_scan_look(scan));
	ck_assert_uint_eq(xla_scan_jobs(scan)->n, 0);
}
END_TEST

Suite *suite_xla_scan(void)
{
	Suite *s = suite_create("agent/xla_scan");
	TCase *tc = tcase_create("xla_scan");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_listens_on_this_machine_is_told);
	tcase_add_test(tc, a_port_or_a_range_is_read);
	tcase_add_test(tc, a_process_that_says_its_port_is_found_and_its_children_are_not);
	tcase_add_test(tc, each_process_of_a_range_is_found_at_its_own_port);
	tcase_add_test(tc, a_section_is_there_whether_it_listens_or_not);
	tcase_add_test(tc, a_section_and_a_variable_of_one_socket_are_one_job);
	tcase_add_test(tc, processes_are_walked_only_when_something_has_changed);
	tcase_add_test(tc, a_process_in_another_network_is_told);
	tcase_add_test(tc, without_the_kernels_tables_there_is_nothing);
	suite_add_tcase(s, tc);
	return s;
}
