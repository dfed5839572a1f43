#include "base/child.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

Suite *suite_child(void);

#define SOON (20 * NS_PER_S)

static char dir[64];

static void setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/trainspotter-child-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	const char *const argv[] = { "rm", "-rf", dir, NULL };
	struct child_end end;

	ck_assert_int_eq(child_run(&(struct child_settings){ .argv = argv }, SOON, NULL, NULL, NULL, &end, NULL), OK);
}

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void script(const char *name, const char *text, mode_t mode)
{
	ck_assert_int_eq(file_replace(in_dir(name), str_of(text), mode, NULL), OK);
	ck_assert_int_eq(chmod(in_dir(name), mode), 0);
}

/* One run of a line of sh; what it printed in out and said, both as text. */
struct ran {
	struct child_end end;
	struct buf out, said;
	int64_t took_ns;
};

static void ran_fini(struct ran *r)
{
	buf_fini(&r->out);
	buf_fini(&r->said);
}

static void run_with(struct ran *r, struct child_settings *s, const char *line, int64_t limit_ns, struct thread *t,
	size_t cap)
{
	const char *const argv[] = { "sh", "-c", line, NULL };
	int64_t start = clock_mono_ns();
	struct err e = { 0 };

	s->argv = argv;
	buf_init(&r->out, cap);
	buf_init(&r->said, cap);
	if (child_run(s, limit_ns, t, &r->out, &r->said, &r->end, &e) != OK)
		ck_abort_msg("%s", e.text);
	r->took_ns = clock_mono_ns() - start;
	buf_byte(&r->out, '\0');
	buf_byte(&r->said, '\0');
}

static void run(struct ran *r, const char *line)
{
	run_with(r, &(struct child_settings){ 0 }, line, SOON, NULL, 65536);
}

/* With the test's folder to work in. */
static void run_there(struct ran *r, const char *line, int64_t limit_ns)
{
	run_with(r, &(struct child_settings){ .dir = dir }, line, limit_ns, NULL, 4096);
}

static long number_in(const char *name)
{
	struct buf b;
	int64_t n = 0;

	buf_init(&b, 64);
	for (int tries = 0; tries < 1000; tries++) {
		buf_reset(&b);
		if (file_exists(in_dir(name)) && file_read_all(in_dir(name), &b, NULL) == OK &&
			str_to_i64(str_trim(buf_view(&b)), &n) == OK)
			break;
		clock_sleep_ns(5 * NS_PER_MS);
	}
	buf_fini(&b);
	ck_assert_int_gt(n, 1);
	return (long)n;
}

/* Zombies that init has not collected yet are gone, too. */
static bool is_alive(long pid)
{
	char path[64], text[512];
	const char *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	state = strrchr(text, ')');
	return state != NULL && state[2] != 'Z' && state[2] != 'X';
}

static void assert_gone_soon(long pid)
{
	for (int tries = 0; tries < 1000 && is_alive(pid); tries++)
		clock_sleep_ns(5 * NS_PER_MS);
	ck_assert_msg(!is_alive(pid), "process %ld still runs", pid);
}

static void assert_no_children(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(what_it_prints_and_how_it_ends_is_told)
{
	struct ran r;

	run(&r, "echo out; echo said >&2; exit 3");
	ck_assert_str_eq(r.out.p, "out\n");
	ck_assert_str_eq(r.said.p, "said\n");
	ck_assert(r.end.exited && !r.end.timed_out && !r.end.stopped && !r.end.cut);
	ck_assert_int_eq(r.end.status, 3);
	ck_assert_uint_eq(r.end.dropped_bytes, 0);
	ran_fini(&r);
	run(&r, "kill -SEGV $$");
	ck_assert(!r.end.exited);
	ck_assert_int_eq(r.end.signal, SIGSEGV);
	ran_fini(&r);
	assert_no_children();
}
END_TEST

START_TEST(more_output_than_there_is_room_for_is_dropped_and_counted_and_blocks_nothing)
{
	struct ran r;

	run_with(&r, &(struct child_settings){ 0 },
		"head -c 3000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/zero >&2", SOON, NULL, 1000);
	ck_assert(r.end.exited);
	ck_assert_int_eq(r.end.status, 0);
	ck_assert_uint_eq(r.out.n, 1000);
	ck_assert_int_eq(r.out.p[999], 'x');
	ck_assert_uint_eq(r.end.dropped_bytes, 3000000 - 1000 + 1000000 - 1000);
	ran_fini(&r);
}
END_TEST

START_TEST(output_nobody_wants_blocks_nothing)
{
	const char *const argv[] = { "sh", "-c", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2", NULL };
	struct child_end end;

	ck_assert_int_eq(child_run(&(struct child_settings){ .argv = argv }, SOON, NULL, NULL, NULL, &end, NULL), OK);
	ck_assert(end.exited);
	ck_assert_int_eq(end.status, 0);
	ck_assert_uint_eq(end.dropped_bytes, 0);
}
END_TEST

static int64_t cpu_us(const struct rusage *u)
{
	return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * INT64_C(1000000) + u->ru_utime.tv_usec + u->ru_stime.tv_usec;
}

START_TEST(a_child_that_closes_its_output_is_still_waited_for_without_spinning)
{
	struct ran r;
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	run(&r, "exec >&- 2>&-; sleep 0.6; exit 4");
	getrusage(RUSAGE_SELF, &after);
	ck_assert_int_eq(r.end.status, 4);
	ck_assert_int_lt(cpu_us(&after) - cpu_us(&before), 300000);
	ran_fini(&r);
}
END_TEST

static const struct wrong {
	const char *program, *says;
	int code;
} wrongs[] = {
	{ "trainspotter-no-such-program", "trainspotter-no-such-program: no such program in PATH", E_NOT_FOUND },
	{ "/nowhere/program", "/nowhere/program: No such file or directory", E_NOT_FOUND },
	{ "%/not-executable", "may not be run", E_DENIED },
	{ "%/no-interpreter", "its interpreter is not there", E_NOT_FOUND },
	{ "%/no-program", "not a program of this machine", E_FORMAT },
	{ "%", "a folder, not a program", E_DENIED },
	{ "not-executable", "in PATH, but not a program that may be run", E_DENIED },
};

START_TEST(a_program_that_cannot_be_run_is_told_at_once_and_by_a_sentence)
{
	const struct wrong *w = &wrongs[_i];
	char path[128];
	const char *const argv[] = { path, NULL };
	struct child *c = (struct child *)&path;
	struct err e = { 0 };

	script("not-executable", "#!/bin/sh\n", 0644);
	script("no-interpreter", "#!/nowhere/sh\n", 0755);
	script("no-program", "echo hello\n", 0755);
	setenv("PATH", dir, 1);
	snprintf(path, sizeof(path), "%s%s", w->program[0] == '%' ? dir : "", w->program + (w->program[0] == '%'));
	ck_assert_int_eq(child_start(&c, &(struct child_settings){ .argv = argv }, &e), w->code);
	ck_assert_ptr_null(c);
	ck_assert_msg(strstr(e.text, w->says) != NULL, "%s", e.text);
	setenv("PATH", "/bin:/usr/bin", 1);
	assert_no_children();
}
END_TEST

START_TEST(a_working_folder_that_is_not_there_is_told_too)
{
	const char *const argv[] = { "true", NULL };
	struct child *c;
	struct err e = { 0 };

	ck_assert_int_eq(child_start(&c, &(struct child_settings){ .argv = argv, .dir = "/nowhere" }, &e), E_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(e.text, "working folder /nowhere: No such file"));
	assert_no_children();
}
END_TEST

START_TEST(a_child_has_the_folder_and_the_environment_it_was_given)
{
	const char *const env[] = { "ONE=1", "PATH=/nowhere", NULL };
	struct ran r;
	char want[128];

	run_with(&r, &(struct child_settings){ .dir = dir, .env = env }, "pwd; /usr/bin/env | /bin/grep -c .; echo $ONE", SOON, NULL,
		4096);
	snprintf(want, sizeof(want), "%s\n3\n1\n", dir); /* PWD is sh's own */
	ck_assert_str_eq(r.out.p, want);
	ran_fini(&r);
}
END_TEST

START_TEST(a_child_has_no_descriptor_of_ours_and_an_empty_input)
{
	struct ran r;
	int left_open = open("/dev/null", O_RDONLY), high = fcntl(left_open, F_DUPFD, 500);

	run(&r, "ls /proc/self/fd | tr '\\n' ' '; cat; echo .");
	ck_assert_str_eq(r.out.p, "0 1 2 3 .\n"); /* 3: the folder that ls reads */
	ran_fini(&r);
	close(left_open);
	close(high);
}
END_TEST

START_TEST(a_child_works_where_our_own_standard_descriptors_are_closed)
{
	const char *const argv[] = { "sh", "-c", "echo out; echo said >&2; cat", NULL };
	int saved[3];
	struct buf out, said;
	struct child_end end;
	int rc;

	buf_init(&out, 100);
	buf_init(&said, 100);
	for (int i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	rc = child_run(&(struct child_settings){ .argv = argv }, SOON, NULL, &out, &said, &end, NULL);
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	ck_assert_int_eq(rc, OK);
	ck_assert(str_eq(buf_view(&out), STR("out\n")));
	ck_assert(str_eq(buf_view(&said), STR("said\n")));
	buf_fini(&out);
	buf_fini(&said);
}
END_TEST

START_TEST(signals_in_a_child_are_as_at_login)
{
	struct ran r;
	unsigned long long blocked, ignored;
	sigset_t all, before;
	char *next;

	sigfillset(&all);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	run(&r, "sed -n 's/^Sig\\(Blk\\|Ign\\):[^0-9a-f]*/0x/p' /proc/self/status");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	blocked = strtoull(r.out.p, &next, 16);
	ignored = strtoull(next, &next, 16);
	ck_assert_str_eq(next, "\n");
	ck_assert_uint_eq(blocked, 0);
	ck_assert_uint_eq(ignored & 0x7fffffff, 0); /* 32 and 33 are libc's own, and as we found them */
	ran_fini(&r);
}
END_TEST

START_TEST(a_child_is_nice_and_limited)
{
	struct ran r;
	struct child_settings s = { .nice = 7, .io_idle = true, .memory_bytes = 512 << 20, .file_bytes = 1 << 20 };
	int niceness = getpriority(PRIO_PROCESS, 0) + 7;
	char want[128];

	run_with(&r, &s, "cut -d' ' -f19 /proc/self/stat; ulimit -v; ulimit -f; ulimit -c; cat /proc/self/oom_score_adj", SOON, NULL, 4096);
	snprintf(want, sizeof(want), "%d\n%d\n%d\n0\n900\n", niceness < 19 ? niceness : 19, 512 << 10, (1 << 20) / 512);
	ck_assert_str_eq(r.out.p, want);
	ran_fini(&r);
}
END_TEST

START_TEST(a_file_larger_than_allowed_ends_the_child)
{
	struct ran r;

	run_with(&r, &(struct child_settings){ .dir = dir, .file_bytes = 1000 }, "exec head -c 5000 /dev/zero > large", SOON, NULL, 4096);
	ck_assert(!r.end.exited);
	ck_assert_int_eq(r.end.signal, SIGXFSZ);
	ran_fini(&r);
}
END_TEST

START_TEST(a_child_that_takes_too_long_is_ended_with_all_it_started)
{
	struct ran r;

	run_there(&r, "sleep 1000 & echo $! > grandchild; echo begun; wait", 300 * NS_PER_MS);
	ck_assert(r.end.timed_out && !r.end.exited);
	ck_assert_int_eq(r.end.signal, SIGTERM);
	ck_assert_str_eq(r.out.p, "begun\n");
	ck_assert_int_lt(r.took_ns, SOON);
	assert_gone_soon(number_in("grandchild"));
	assert_no_children();
	ran_fini(&r);
}
END_TEST

START_TEST(a_child_that_ignores_sigterm_is_killed)
{
	struct ran r;

	run_there(&r, "trap '' TERM; sh -c 'echo $$ > grandchild; while :; do sleep 1; done' & while :; do sleep 1; done", 200 * NS_PER_MS);
	ck_assert(r.end.timed_out && !r.end.exited);
	ck_assert_int_eq(r.end.signal, SIGKILL);
	ck_assert_int_ge(r.took_ns, 2 * NS_PER_S);
	ck_assert_int_lt(r.took_ns, SOON);
	assert_gone_soon(number_in("grandchild"));
	assert_no_children();
	ran_fini(&r);
}
END_TEST

START_TEST(a_child_may_tidy_up_and_say_so_after_sigterm)
{
	struct ran r;

	run_with(&r, &(struct child_settings){ 0 },
		"trap 'head -c 200000 /dev/zero | tr \"\\0\" y; exit 9' TERM; while :; do sleep 0.05; done", 200 * NS_PER_MS, NULL, 300000);
	ck_assert(r.end.timed_out && r.end.exited);
	ck_assert_int_eq(r.end.status, 9);
	ck_assert_uint_eq(r.out.n, 200001);
	ran_fini(&r);
}
END_TEST

START_TEST(a_grandchild_that_keeps_the_pipe_open_holds_nobody_up)
{
	struct ran r;

	run_there(&r, "sleep 1000 & echo $! > grandchild; echo done", SOON);
	ck_assert(r.end.exited);
	ck_assert_str_eq(r.out.p, "done\n");
	ck_assert_int_lt(r.took_ns, SOON);
	assert_gone_soon(number_in("grandchild"));
	ran_fini(&r);
}
END_TEST

START_TEST(who_left_the_group_and_prints_for_ever_holds_nobody_up)
{
	struct ran r;

	run_there(&r, "setsid sh -c 'echo $$ > escaped; exec yes' & sleep 0.3; exit 5", SOON);
	ck_assert_int_eq(r.end.status, 5);
	ck_assert_int_lt(r.took_ns, SOON);
	ck_assert_uint_gt(r.end.dropped_bytes, 0);
	assert_gone_soon(number_in("escaped")); /* by SIGPIPE */
	ran_fini(&r);
}
END_TEST

struct stopped {
	struct ran r;
};

static void run_until_stopped(struct thread *t, void *arg)
{
	struct stopped *s = arg;

	run_with(&s->r, &(struct child_settings){ .dir = dir }, "echo $$ > pid; sleep 1000", 3600 * NS_PER_S, t, 4096);
}

START_TEST(a_thread_that_is_stopped_ends_its_child_at_once)
{
	struct stopped s;
	struct thread *t;
	int64_t start;
	long pid;

	ck_assert_int_eq(thread_start(&t, "runner", run_until_stopped, &s, NULL), OK);
	pid = number_in("pid");
	start = clock_mono_ns();
	thread_join(t);
	ck_assert_int_lt(clock_mono_ns() - start, 2 * NS_PER_S);
	ck_assert(s.r.end.stopped && !s.r.end.timed_out);
	ck_assert(!is_alive(pid));
	ran_fini(&s.r);
}
END_TEST

static bool three_times(void *arg)
{
	return ++*(int *)arg < 3;
}

START_TEST(what_is_watched_while_it_runs_can_end_it)
{
	int asked = 0;
	struct child_settings s = { .go_on = three_times, .go_on_arg = &asked, .go_on_ns = 20 * NS_PER_MS };
	struct ran r;

	run_with(&r, &s, "while echo line; do :; done", SOON, NULL, 4096);
	ck_assert(r.end.cut && !r.end.timed_out && !r.end.stopped);
	ck_assert_int_eq(r.end.signal, SIGTERM);
	ck_assert_int_eq(asked, 3);
	ran_fini(&r);
}
END_TEST

START_TEST(a_child_that_runs_on_is_read_and_closed_by_its_owner)
{
	const char *const argv[] = { "sh", "-c", "echo first; while read line; do :; done; sleep 1000", NULL };
	struct child_end end;
	struct pollfd p = { .events = POLLIN };
	struct child *c;
	char line[16];
	pid_t pid;

	ck_assert_int_eq(child_start(&c, &(struct child_settings){ .argv = argv }, NULL), OK);
	pid = child_pid(c);
	ck_assert_int_eq(getpgid(pid), pid);
	p.fd = child_out_fd(c);
	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	ck_assert_int_eq(read(p.fd, line, sizeof(line)), 6);
	ck_assert_int_eq(read(p.fd, line, sizeof(line)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(read(child_err_fd(c), line, sizeof(line)), -1);
	ck_assert(!child_ended(c, &end));
	child_close(c, NS_PER_S);
	ck_assert_int_eq(kill(pid, 0), -1);
	assert_no_children();
	child_close(NULL, 0);
}
END_TEST

/* The process runs this program now. */
static void wait_for_program(long pid, const char *program)
{
	struct buf b;
	char path[64];
	bool there = false;

	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	buf_init(&b, 64);
	for (int tries = 0; tries < 1000 && !there; tries++) {
		buf_reset(&b);
		there = file_read_all(path, &b, NULL) == OK && str_eq(str_trim(buf_view(&b)), str_of(program));
		if (!there)
			clock_sleep_ns(5 * NS_PER_MS);
	}
	buf_fini(&b);
	ck_assert_msg(there, "process %ld never became %s", pid, program);
}

/* A shell that is about to start a command may lose a SIGINT: it is sent when there is no shell any more. */
START_TEST(a_signal_reaches_the_whole_group_and_the_end_is_told_as_often_as_asked)
{
	const char *const argv[] = { "sh", "-c", "sleep 1000 & echo $! > grandchild; echo $$ > pid; exec sleep 1001", NULL };
	struct child_end end = { 0 };
	struct child *c;
	long grandchild;

	ck_assert_int_eq(child_start(&c, &(struct child_settings){ .argv = argv, .dir = dir }, NULL), OK);
	grandchild = number_in("grandchild");
	wait_for_program(number_in("pid"), "sleep");
	child_signal(c, SIGINT);
	for (int tries = 0; tries < 2000 && !child_ended(c, &end); tries++)
		clock_sleep_ns(5 * NS_PER_MS);
	ck_assert(child_ended(c, NULL));
	ck_assert(child_ended(c, &end));
	ck_assert(!end.exited);
	ck_assert_int_eq(end.signal, SIGINT);
	assert_gone_soon(grandchild);
	child_signal(c, SIGTERM); /* to nobody */
	child_close(c, NS_PER_S);
}
END_TEST

/* What is left of a parent that was killed: its child dies, too. */
START_TEST(a_child_dies_with_us)
{
	const char *const argv[] = { "sh", "-c", "echo $$ > pid; exec sleep 1000", NULL };
	pid_t parent = fork();
	struct child *c;
	long pid;

	if (parent == 0) {
		if (child_start(&c, &(struct child_settings){ .argv = argv, .dir = dir }, NULL) == OK)
			pause();
		_exit(1);
	}
	pid = number_in("pid");
	ck_assert(is_alive(pid));
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	assert_gone_soon(pid);
}
END_TEST

static void busy_with_the_heap(struct thread *t, void *arg)
{
	(void)arg;
	while (!thread_stopping(t))
		mem_free(mem_get(100));
}

struct starter {
	unsigned good;
	atomic_bool over;
};

static void start_many(struct thread *t, void *arg)
{
	struct starter *s = arg;

	(void)t;
	for (int i = 0; i < 40; i++) {
		struct ran r;

		run(&r, "echo $PPID");
		s->good += r.end.exited && r.end.status == 0 && r.out.n > 2;
		ran_fini(&r);
	}
	atomic_store(&s->over, true);
}

START_TEST(several_threads_start_children_at_once)
{
	struct thread *busy[2], *t[3];
	struct starter starters[COUNT(t)] = { 0 };
	int fd = open("/dev/null", O_RDONLY), after;

	close(fd);
	for (size_t i = 0; i < COUNT(busy); i++)
		ck_assert_int_eq(thread_start(&busy[i], "busy", busy_with_the_heap, NULL, NULL), OK);
	for (size_t i = 0; i < COUNT(t); i++)
		ck_assert_int_eq(thread_start(&t[i], "starter", start_many, &starters[i], NULL), OK);
	for (size_t i = 0; i < COUNT(t); i++) {
		while (!atomic_load(&starters[i].over))
			clock_sleep_ns(5 * NS_PER_MS);
		thread_join(t[i]);
		ck_assert_uint_eq(starters[i].good, 40);
	}
	for (size_t i = 0; i < COUNT(busy); i++)
		thread_join(busy[i]);
	assert_no_children();
	after = open("/dev/null", O_RDONLY); /* the lowest free number: nothing was left open */
	ck_assert_int_eq(after, fd);
	close(after);
}
END_TEST

Suite *suite_child(void)
{
	Suite *s = suite_create("base/child");
	TCase *tc = tcase_create("child");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_it_prints_and_how_it_ends_is_told);
	tcase_add_test(tc, more_output_than_there_is_room_for_is_dropped_and_counted_and_blocks_nothing);
	tcase_add_test(tc, output_nobody_wants_blocks_nothing);
	tcase_add_test(tc, a_child_that_closes_its_output_is_still_waited_for_without_spinning);
	tcase_add_loop_test(tc, a_program_that_cannot_be_run_is_told_at_once_and_by_a_sentence, 0, COUNT(wrongs));
	tcase_add_test(tc, a_working_folder_that_is_not_there_is_told_too);
	tcase_add_test(tc, a_child_has_the_folder_and_the_environment_it_was_given);
	tcase_add_test(tc, a_child_has_no_descriptor_of_ours_and_an_empty_input);
	tcase_add_test(tc, a_child_works_where_our_own_standard_descriptors_are_closed);
	tcase_add_test(tc, signals_in_a_child_are_as_at_login);
	tcase_add_test(tc, a_child_is_nice_and_limited);
	tcase_add_test(tc, a_file_larger_than_allowed_ends_the_child);
	tcase_add_test(tc, a_child_that_takes_too_long_is_ended_with_all_it_started);
	tcase_add_test(tc, a_child_that_ignores_sigterm_is_killed);
	tcase_add_test(tc, a_child_may_tidy_up_and_say_so_after_sigterm);
	tcase_add_test(tc, a_grandchild_that_keeps_the_pipe_open_holds_nobody_up);
	tcase_add_test(tc, who_left_the_group_and_prints_for_ever_holds_nobody_up);
	tcase_add_test(tc, a_thread_that_is_stopped_ends_its_child_at_once);
	tcase_add_test(tc, what_is_watched_while_it_runs_can_end_it);
	tcase_add_test(tc, a_child_that_runs_on_is_read_and_closed_by_its_owner);
	tcase_add_test(tc, a_signal_reaches_the_whole_group_and_the_end_is_told_as_often_as_asked);
	tcase_add_test(tc, a_child_dies_with_us);
	tcase_add_test(tc, several_threads_start_children_at_once);
	suite_add_tcase(s, tc);
	return s;
}
