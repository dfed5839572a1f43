/* The agent as a whole, with a folder of its own, a daemon that is made up and traces that are. */
#include "agent/agent.h"

#include <check.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/host.h"
#include "agent/job.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "tests/unit/agent/fake_http.h"
#include "tests/unit/agent/fake_kineto.h"
#include "tests/unit/agent/folder.h"

Suite *suite_agent(void);

static struct agent_options options;
static struct buf text;
static struct err e;

static void write_config(const char *more)
{
	struct buf b;

	buf_init(&b, 8192);
	buf_fmt(&b, "state_dir: %s/state\n", folder);
	buf_fmt(&b, "host: h1\nwatch:\n  - dir: %s/in\n    service: llm\n    stable: 0s\n%s", folder, more);
	folder_write("agent.yaml", buf_view(&b));
	buf_fini(&b);
}

static void setup(void)
{
	folder_make();
	ck_assert_int_eq(mkdir(folder_path("in"), 0700), 0);
	write_config("");
	buf_init(&text, 1 << 20);
	fake_http = (struct fake_http){ .backoff_ns = NS_PER_MS };
	options = (struct agent_options){ .config = folder_path("agent.yaml"), .once = true };
	err_clear(&e);
}

static void teardown(void)
{
	buf_fini(&text);
	folder_remove();
}

static int run_once(void)
{
	struct agent_conf cf;
	struct agent *a = NULL;
	int status;

	ck_assert_msg(agent_conf_load(&cf, &options, &e) == OK, "%s", e.text);
	ck_assert_msg(agent_open(&a, &cf, &options, &e) == OK, "%s", e.text);
	status = agent_run(a);
	agent_close(a);
	agent_conf_fini(&cf);
	return status;
}

static void write_traces(int n)
{
	for (int i = 0; i < n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "in/%d.json", i);
		folder_write(name, str_of(name));
		snprintf(name, sizeof(name), "in/%d.json.meta.json", i);
		folder_write(name, STR("{}"));
	}
}

static size_t windows_sent(void)
{
	size_t n = 0;

	for (size_t i = 0; i < fake_http.n_asks; i++)
		n += fake_http.asks[i].windows;
	return n;
}

START_TEST(every_trace_is_shipped_and_its_file_removed)
{
	write_traces(20);
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(folder_count("in", ""), 0);
	ck_assert_uint_eq(windows_sent(), 20);
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(windows_sent(), 20);
}
END_TEST

START_TEST(the_last_traces_stay_where_that_is_wanted)
{
	write_config("keep:\n  last: 3\n");
	write_traces(5);
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(folder_count("in", ""), 0);
	ck_assert_uint_eq(windows_sent(), 5);
	ck_assert_uint_eq(folder_count("state/raw/last", ".meta.json"), 3);
	ck_assert_uint_eq(folder_count("state/raw/last", ""), 6);
	write_config("keep:\n  last: 3\n  max: 1\n");
	write_traces(1);
	ck_assert_int_eq(run_once(), 0); /* too large, which is no reason to lose the window */
	ck_assert_uint_eq(windows_sent(), 6);
}
END_TEST

START_TEST(a_file_that_is_no_trace_is_put_aside_and_told_by_the_exit_status)
{
	write_traces(2);
	folder_write("in/x.json", STR("bad"));
	folder_write("in/x.json.meta.json", STR("{}"));
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert(folder_has("in/bad/x.json"));
	ck_assert(folder_has("in/bad/x.json.meta.json"));
	ck_assert_uint_eq(windows_sent(), 2);
	ck_assert_int_eq(run_once(), 0);
}
END_TEST

/* Each text is another trace (fake_window.c). */
static void write_archive(const char *name, const char *head, int n)
{
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_text(&b, head);
	for (int i = 0; i < n; i++)
		buf_fmt(&b, "%srank %d", i == 0 ? "" : "|", i);
	folder_write(name, buf_view(&b));
	buf_fini(&b);
}

START_TEST(every_trace_of_an_archive_is_shipped_and_its_file_removed)
{
	write_archive("in/a.tar.gz", "tar bad|", 5);
	folder_write("in/a.tar.gz.meta.json", STR("{}"));
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(folder_count("in", ""), 0);
	ck_assert_uint_eq(windows_sent(), 5);
	write_archive("in/b.tar", "tar ", 100); /* more than go to the spool at once */
	fake_http.n_asks = 0;
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(folder_count("in", ""), 0);
	ck_assert_uint_eq(windows_sent(), 100);
}
END_TEST

START_TEST(an_archive_without_a_trace_is_put_aside_with_its_sidecar)
{
	folder_write("in/a.tar", STR("tar bad|empty|bad"));
	folder_write("in/a.tar.meta.json", STR("{}"));
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert_uint_eq(windows_sent(), 0);
	ck_assert(folder_has("in/bad/a.tar"));
	ck_assert(folder_has("in/bad/a.tar.meta.json"));
}
END_TEST

/* A trace that is one and cannot be taken must not go with the others. */
START_TEST(of_an_archive_that_cannot_be_taken_whole_nothing_is_shipped)
{
	write_archive("in/limit.tar", "tar rank 7|big|", 3);
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert(folder_has("in/bad/limit.tar"));
	write_archive("in/now.tar", "tar rank 8|later|", 3);
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert(folder_has("in/now.tar"));
	write_archive("in/many.tar", "tar ", JOB_WINDOWS_MAX + 1);
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert(folder_has("in/bad/many.tar"));
	ck_assert_uint_eq(windows_sent(), 0);
}
END_TEST

/* Its own windows would push each other out. */
START_TEST(an_archive_that_the_spool_cannot_hold_is_put_aside)
{
	write_config("spool:\n  max: 64KiB\n");
	write_archive("in/a.tar", "tar ", 100);
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(windows_sent(), 100);
	fake_http.n_asks = 0;
	write_archive("in/b.tar", "tar ", 2000);
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert_uint_eq(windows_sent(), 0);
	ck_assert(folder_has("in/bad/b.tar"));
}
END_TEST

START_TEST(of_a_damaged_archive_what_can_be_read_is_shipped)
{
	write_archive("in/a.tar", "cut bad|", 2);
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(folder_count("in", ""), 0);
	ck_assert_uint_eq(windows_sent(), 2);
	folder_write("in/b.tar", STR("cut bad"));
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert(folder_has("in/bad/b.tar"));
}
END_TEST

START_TEST(a_file_that_cannot_be_read_now_stays)
{
	folder_write("in/x.json", STR("later"));
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert(folder_has("in/x.json"));
}
END_TEST

START_TEST(windows_wait_in_the_spool_while_the_daemon_is_away)
{
	static const int down[] = { 0, 0, 503, 0, 0, 0, 0, 0, 0, 0 };

	fake_http.script = down;
	fake_http.n_script = 5;
	write_traces(5);
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert_uint_eq(folder_count("in", ""), 0);
	fake_http.n_script = 0;
	fake_http.n_asks = 0;
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(windows_sent(), 5);
}
END_TEST

START_TEST(one_bad_window_takes_no_other_with_it)
{
	static const int down[] = { 0, 0, 0, 0, 0 };

	fake_http.script = down; /* all of them are in the spool before the first one goes */
	fake_http.n_script = 5;
	write_traces(4);
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	folder_write("in/x.json", STR("never"));
	fake_http.n_script = 5;
	fake_http.n_asks = 0;
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	write_traces(4);
	fake_http.n_script = 0;
	fake_http.n_asks = 0;
	fake_http.never_first_byte = 'n';
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert_uint_eq(folder_count("state/quarantine", ".batch"), 1);
	ck_assert_uint_eq(folder_count("state/quarantine", ".txt"), 1);
	buf_reset(&text);
	ck_assert_str_eq(strrchr(folder_first("state/quarantine", ".txt"), '.'), ".txt");
	fake_http.n_asks = 0;
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(windows_sent(), 0);
}
END_TEST

START_TEST(a_batch_that_is_too_large_is_split)
{
	static const int down[] = { 0, 0, 0, 0, 0 };

	fake_http.script = down;
	fake_http.n_script = 5;
	write_traces(6);
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	fake_http.n_script = 0;
	fake_http.n_asks = 0;
	fake_http.max_windows = 1;
	ck_assert_int_eq(run_once(), 0);
	ck_assert_uint_eq(fake_http.n_asks, 1 + 1 + 6); /* 6 and 3 are refused */
	ck_assert_uint_eq(folder_count("state/quarantine", ""), 0);
}
END_TEST

START_TEST(the_id_of_an_agent_is_made_once)
{
	char first[HOST_ID_TEXT], second[HOST_ID_TEXT];

	ck_assert_int_eq(host_agent_id(folder, first, &e), OK);
	ck_assert_int_eq(host_agent_id(folder, second, &e), OK);
	ck_assert_str_eq(first, second);
	folder_write("agent-id", STR("something else"));
	ck_assert_int_eq(host_agent_id(folder, second, &e), E_CORRUPT);
}
END_TEST

START_TEST(a_second_agent_is_kept_out)
{
	struct agent_conf cf, again;
	struct agent *a = NULL, *b = NULL;

	ck_assert_int_eq(agent_conf_load(&cf, &options, &e), OK);
	ck_assert_int_eq(agent_conf_load(&again, &options, &e), OK);
	ck_assert_int_eq(agent_open(&a, &cf, &options, &e), OK);
	ck_assert_int_eq(agent_open(&b, &again, &options, &e), E_BUSY);
	agent_close(a);
	agent_conf_fini(&again);
}
END_TEST

/* ---- a running agent */

static void *run_agent(void *arg)
{
	static int status;

	status = agent_run(arg);
	return &status;
}

static void wait_for(bool (*done)(void))
{
	for (int i = 0; i < 2000 && !done(); i++)
		clock_sleep_ns(5 * NS_PER_MS);
	ck_assert(done());
}

START_TEST(once_ends_where_a_trace_can_be_neither_read_nor_put_aside)
{
	folder_write("in/bad", STR("bad")); /* a file where the folder for such files belongs */
	ck_assert_int_eq(run_once(), AGENT_FAILED);
	ck_assert(folder_has("in/bad"));
}
END_TEST

static bool folder_empty(void)
{
	return folder_count("in", "") == 0;
}

static bool server_is_new(void)
{
	return fake_http.n_asks > 0 && strstr(fake_http.asks[(fake_http.n_asks - 1) % FAKE_ASKS_MAX].url, "new:1") != NULL;
}

static bool second_shipped(void)
{
	return fake_http.n_asks >= 2;
}

START_TEST(a_bad_configuration_on_sighup_leaves_the_old_one_in_force)
{
	struct agent_conf cf;
	struct agent *a = NULL;
	pthread_t thread;
	void *status;

	options.once = false;
	ck_assert_int_eq(agent_conf_load(&cf, &options, &e), OK);
	ck_assert_int_eq(agent_open(&a, &cf, &options, &e), OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, run_agent, a), 0);
	folder_write("in/0.json", STR("first"));
	wait_for(folder_empty);
	write_config("server: ftp://nonsense\n");
	kill(getpid(), SIGHUP);
	folder_write("in/1.json", STR("second"));
	wait_for(second_shipped);
	ck_assert_ptr_nonnull(strstr(fake_http.asks[1].url, "http://127.0.0.1:8940/"));
	write_config("server: http://new:1\n");
	kill(getpid(), SIGHUP);
	clock_sleep_ns(50 * NS_PER_MS);
	folder_write("in/2.json", STR("third"));
	wait_for(server_is_new);
	kill(getpid(), SIGTERM);
	pthread_join(thread, &status);
	ck_assert_int_eq(*(int *)status, 0);
	agent_close(a);
}
END_TEST

static bool all_shipped(void)
{
	size_t n = 0;

	for (size_t i = fake_http.n_script; i < fake_http.n_asks; i++)
		n += fake_http.asks[i].windows;
	return n >= 40;
}

/* The configuration is read when the job is over, which an archive's may be late. */
START_TEST(a_sighup_during_a_long_job_does_not_stop_the_shipping)
{
	static const int down[20] = { 0 };
	struct agent_conf cf;
	struct agent *a = NULL;
	pthread_t thread;
	void *status;

	fake_http.script = down;
	fake_http.n_script = COUNT(down);
	write_traces(40);
	ck_assert_int_eq(run_once(), AGENT_FAILED); /* tries used up */
	fake_http.backoff_ns = 100 * NS_PER_MS; /* what is left of them: more than a second */
	options.once = false;
	write_config("ship:\n  batch: 1KiB\njob:\n  cpu_percent: 1\n  cpu_burst: 0s\n");
	write_archive("in/a.tar", "tar ", JOB_WINDOWS_MAX);
	ck_assert_int_eq(agent_conf_load(&cf, &options, &e), OK);
	ck_assert_int_eq(agent_open(&a, &cf, &options, &e), OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, run_agent, a), 0);
	clock_sleep_ns(300 * NS_PER_MS);
	kill(getpid(), SIGHUP);
	wait_for(all_shipped);
	ck_assert(folder_has("in/a.tar"));
	kill(getpid(), SIGTERM);
	pthread_join(thread, &status);
	agent_close(a);
}
END_TEST

/* ---- on demand */

static bool first_shipped(void)
{
	return fake_http.n_asks >= 1;
}

static void write_kineto_config(char name[64], const char *poll)
{
	char more[200];

	snprintf(name, 64, "trainspotter-test-%ld", (long)getpid());
	snprintf(more, sizeof(more), "poll:\n  %s\ncapture:\n  interval: 1s\n  min_age: 0s\nkineto:\n  enabled: yes\n  socket: %s\n  service: od\n",
		poll, name);
	write_config(more);
	options.once = false;
}

/* The client's part of one window: it polls until it is asked, and writes what it is told to. */
static void serve_window(struct fake_client *c, struct str what, char path[PATH_MAX])
{
	enum fake_answer got = FAKE_SILENCE;

	for (int i = 0; i < 400 && got != FAKE_WINDOW; i++) {
		got = fake_client_poll(c);
		clock_sleep_ns(20 * NS_PER_MS);
	}
	ck_assert_int_eq(got, FAKE_WINDOW);
	snprintf(path, PATH_MAX, "%s", fake_client_path(c));
	fake_client_write(c, what);
}

static void wait_until_gone(const char *path)
{
	for (int i = 0; i < 400 && file_exists(path); i++)
		clock_sleep_ns(20 * NS_PER_MS);
	ck_assert(!file_exists(path));
}

/* It goes on polling until its trace is gone. */
static void see_it_go(struct fake_client *c, const char *path)
{
	for (int i = 0; i < 400 && file_exists(path); i++) {
		fake_client_poll(c);
		clock_sleep_ns(20 * NS_PER_MS);
	}
	ck_assert(!file_exists(path));
}

START_TEST(a_process_that_polls_is_profiled_on_schedule_and_its_windows_are_shipped)
{
	char name[64], path[PATH_MAX];
	struct agent_conf cf;
	struct agent *a = NULL;
	struct fake_client c;
	pthread_t thread;
	void *status;

	write_kineto_config(name, "enabled: no");
	ck_assert_msg(agent_conf_load(&cf, &options, &e) == OK, "%s", e.text);
	ck_assert_int_eq(agent_open(&a, &cf, &options, &e), OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, run_agent, a), 0);
	fake_client_open(&c, "", "", name);
	serve_window(&c, STR("empty"), path);
	wait_until_gone(path);
	ck_assert_uint_eq(windows_sent(), 0);
	serve_window(&c, STR("bad"), path);
	wait_until_gone(path);
	ck_assert_uint_eq(folder_count("state/bad", ".json"), 1);
	serve_window(&c, STR("one"), path);
	wait_until_gone(path);
	wait_for(first_shipped);
	serve_window(&c, STR("two"), path);
	wait_until_gone(path);
	wait_for(second_shipped);
	kill(getpid(), SIGTERM);
	pthread_join(thread, &status);
	ck_assert_int_eq(*(int *)status, 0);
	ck_assert_uint_eq(windows_sent(), 2);
	fake_client_close(&c);
	agent_close(a);
}
END_TEST

/* The next report but one was made when the poll before was over. */
static bool report_says(const char *what)
{
	for (int i = 0; i < 5; i++) {
		size_t seen = fake_http.n_polls;

		for (int k = 0; k < 1000 && fake_http.n_polls == seen; k++)
			clock_sleep_ns(5 * NS_PER_MS);
		if (strstr(fake_http.poll_body, what) != NULL)
			return true;
	}
	return false;
}

START_TEST(a_window_that_the_daemon_asks_for_is_taken_shipped_and_told_with_its_id)
{
	char name[64], path[PATH_MAX];
	struct agent_conf cf;
	struct agent *a = NULL;
	struct fake_client c;
	pthread_t thread;
	void *status;

	write_kineto_config(name, "interval: 1s");
	fake_http.poll_status = 200;
	fake_http.poll_answer = "{\"paused\":false,\"poll_ns\":1000000000,\"leases\":[]}";
	ck_assert_msg(agent_conf_load(&cf, &options, &e) == OK, "%s", e.text);
	ck_assert_int_eq(agent_open(&a, &cf, &options, &e), OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, run_agent, a), 0);
	fake_client_open(&c, "", "", name);
	ck_assert_int_eq(fake_client_poll(&c), FAKE_NOTHING);
	ck_assert_int_eq(fake_client_poll(&c), FAKE_NOTHING);
	ck_assert(report_says("\"source\":\"kineto\",\"worker\":\"\",\"service\":\"od\""));
	ck_assert_int_eq(fake_client_poll(&c), FAKE_NOTHING); /* slots go by, and none is leased */
	fake_http.poll_answer = "{\"paused\":false,\"poll_ns\":1000000000,\"leases\":[{\"id\":\"L1\",\"capture\":\"C1\","
		"\"source\":\"kineto\",\"service\":\"od\",\"worker\":\"\",\"ttl_ns\":30000000000}]}";
	serve_window(&c, STR("one"), path);
	wait_until_gone(path);
	ck_assert(report_says("\"ended\":[{\"lease\":\"L1\",\"capture\":\"C1\",\"taken\":true,\"end\":\"taken\",\"window\":\"61"));
	wait_for(first_shipped);
	kill(getpid(), SIGTERM);
	pthread_join(thread, &status);
	ck_assert_int_eq(*(int *)status, 0);
	fake_client_close(&c);
	agent_close(a);
}
END_TEST

START_TEST(a_slow_step_asks_for_a_window_on_demand)
{
	char name[64], path[PATH_MAX], more[200];
	struct agent_conf cf;
	struct agent *a = NULL;
	struct fake_client c;
	pthread_t thread;
	void *status;

	snprintf(name, sizeof(name), "trainspotter-test-%ld", (long)getpid());
	snprintf(more, sizeof(more), "poll:\n  enabled: no\ncapture:\n  interval: 7d\n  min_age: 0s\nkineto:\n  enabled: yes\n"
		"  socket: %s\n  service: llm\n", name);
	write_config(more);
	options.once = false;
	ck_assert_msg(agent_conf_load(&cf, &options, &e) == OK, "%s", e.text);
	ck_assert_int_eq(agent_open(&a, &cf, &options, &e), OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, run_agent, a), 0);
	fake_client_open(&c, "", "", name);
	for (int i = 0; i < 5; i++) {
		char what[32];

		snprintf(what, sizeof(what), "step 100 %d", i);
		folder_write("in/x.json", str_of(what));
		wait_for(folder_empty);
		ck_assert_int_eq(fake_client_poll(&c), FAKE_NOTHING);
	}
	folder_write("in/x.json", STR("step 250 slow"));
	wait_for(folder_empty);
	serve_window(&c, STR("why"), path); /* with days to the next slot */
	wait_until_gone(path);
	kill(getpid(), SIGTERM);
	pthread_join(thread, &status);
	ck_assert_int_eq(*(int *)status, 0);
	fake_client_close(&c);
	agent_close(a);
}
END_TEST

/* ---- kill -9 between every pair of durable steps */

static const struct {
	const char *point;
	bool bad; /* with a trace that cannot be read and a window that is refused */
} points[] = {
	{ "job.made", false },		{ "spool.segment-made", false }, { "spool.head-written", false },
	{ "spool.written", false },	{ "spool.synced", false },	 { "watch.marked", false },
	{ "watch.removed", false },
	{ "watch.side-removed", false }, { "ship.accepted", false },	 { "spool.forgot", false },
	{ "keep.moved", true },		{ "keep.side-moved", true },	 { "ship.quarantined", true },
};

/* The ids that the daemon has, sorted, each once. */
static size_t stored_ids(struct str ids[100])
{
	struct str rest;
	size_t n = 0;

	if (!folder_has("store"))
		return 0;
	folder_read("store", &text);
	rest = buf_view(&text);
	while (rest.p != NULL) {
		struct str id = str_split(&rest, '\n');
		bool known = str_empty(id);

		for (size_t i = 0; i < n && !known; i++)
			known = str_eq(ids[i], id);
		if (!known)
			ids[n++] = id;
	}
	return n;
}

static int run_and_die(const char *point, unsigned pass)
{
	char value[64];
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		snprintf(value, sizeof(value), "%s:%u", point, pass);
		crash_arm(value);
		_exit(run_once());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(a_kill_at_any_point_leaves_every_window_stored_exactly_once)
{
	struct str ids[100];
	unsigned killed = 0;

	fake_http.store = folder_path("store");
	fake_http.never_first_byte = 'n';
	for (unsigned pass = 1; pass <= 4; pass++) {
		int status;

		write_traces(4);
		if (points[_i].bad) {
			folder_write("in/x.json", STR("bad"));
			folder_write("in/x.json.meta.json", STR("{}"));
			folder_write("in/y.json", STR("never"));
		}
		status = run_and_die(points[_i].point, pass);
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		fake_http.n_asks = 0;
		ck_assert_int_ge(run_once(), 0);
		ck_assert_int_eq(run_once(), 0);
		ck_assert_uint_eq(folder_count("in", ".json"), folder_count("in", ".meta.json")); /* no trace is left */
		ck_assert_uint_eq(stored_ids(ids), 4);
	}
	ck_assert_uint_ge(killed, 1);
	if (points[_i].bad) {
		ck_assert_uint_ge(folder_count("in/bad", ""), 1);
		ck_assert_uint_ge(folder_count("state/quarantine", ".batch"), 1);
	}
}
END_TEST

static const char *const archive_points[] = { "job.made", "spool.head-written", "spool.written", "spool.synced", "job.window-kept",
	"watch.marked", "watch.removed", "watch.side-removed", "ship.accepted", "spool.forgot" };

START_TEST(a_kill_in_the_middle_of_an_archive_leaves_every_window_stored_exactly_once)
{
	struct str ids[100];
	unsigned killed = 0;

	fake_http.store = folder_path("store");
	for (unsigned pass = 1; pass <= 5; pass++) {
		int status;

		write_archive("in/a.tar", "tar bad|", 5);
		folder_write("in/a.tar.meta.json", STR("{}"));
		status = run_and_die(archive_points[_i], pass);
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		ck_assert_int_eq(run_once(), 0);
		ck_assert_uint_eq(folder_count("in", ""), 0);
		ck_assert_uint_eq(stored_ids(ids), 5);
	}
	ck_assert_uint_ge(killed, 1);
}
END_TEST

static pid_t fork_agent(const char *crash_at)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (crash_at != NULL)
			crash_arm(crash_at);
		_exit(run_once());
	}
	return pid;
}

START_TEST(a_window_on_demand_is_stored_once_wherever_the_agent_is_killed)
{
	static const char *const at[] = { "job.made", "spool.written", "spool.synced", "kineto.removed", "ship.accepted" };
	char name[64], path[PATH_MAX];
	struct str ids[100];
	struct fake_client c;
	sigset_t block;
	int status;

	fake_http.store = folder_path("store");
	write_kineto_config(name, "enabled: no");
	fake_client_open(&c, "", "", name);
	sigemptyset(&block); /* it may come before the agent has set itself up */
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, NULL);
	for (size_t i = 0; i < COUNT(at); i++) {
		pid_t pid = fork_agent(at[i]);

		serve_window(&c, str_of(at[i]), path);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		pid = fork_agent(NULL);
		see_it_go(&c, path);
		for (int k = 0; k < 400 && stored_ids(ids) < i + 1; k++)
			clock_sleep_ns(10 * NS_PER_MS);
		ck_assert_uint_eq(stored_ids(ids), i + 1);
		kill(pid, SIGTERM);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	fake_client_close(&c);
}
END_TEST

Suite *suite_agent(void)
{
	Suite *s = suite_create("agent/agent");
	TCase *tc = tcase_create("agent");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, every_trace_is_shipped_and_its_file_removed);
	tcase_add_test(tc, the_last_traces_stay_where_that_is_wanted);
	tcase_add_test(tc, a_file_that_is_no_trace_is_put_aside_and_told_by_the_exit_status);
	tcase_add_test(tc, every_trace_of_an_archive_is_shipped_and_its_file_removed);
	tcase_add_test(tc, an_archive_without_a_trace_is_put_aside_with_its_sidecar);
	tcase_add_test(tc, of_an_archive_that_cannot_be_taken_whole_nothing_is_shipped);
	tcase_add_test(tc, an_archive_that_the_spool_cannot_hold_is_put_aside);
	tcase_add_test(tc, of_a_damaged_archive_what_can_be_read_is_shipped);
	tcase_add_test(tc, a_file_that_cannot_be_read_now_stays);
	tcase_add_test(tc, windows_wait_in_the_spool_while_the_daemon_is_away);
	tcase_add_test(tc, one_bad_window_takes_no_other_with_it);
	tcase_add_test(tc, a_batch_that_is_too_large_is_split);
	tcase_add_test(tc, the_id_of_an_agent_is_made_once);
	tcase_add_test(tc, a_second_agent_is_kept_out);
	tcase_add_test(tc, once_ends_where_a_trace_can_be_neither_read_nor_put_aside);
	tcase_add_test(tc, a_bad_configuration_on_sighup_leaves_the_old_one_in_force);
	tcase_add_test(tc, a_sighup_during_a_long_job_does_not_stop_the_shipping);
	tcase_add_loop_test(tc, a_kill_at_any_point_leaves_every_window_stored_exactly_once, 0, COUNT(points));
	tcase_add_loop_test(tc, a_kill_in_the_middle_of_an_archive_leaves_every_window_stored_exactly_once, 0,
		COUNT(archive_points));
	suite_add_tcase(s, tc);
	tc = tcase_create("on demand");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_process_that_polls_is_profiled_on_schedule_and_its_windows_are_shipped);
	tcase_add_test(tc, a_window_that_the_daemon_asks_for_is_taken_shipped_and_told_with_its_id);
	tcase_add_test(tc, a_slow_step_asks_for_a_window_on_demand);
	tcase_add_test(tc, a_window_on_demand_is_stored_once_wherever_the_agent_is_killed);
	suite_add_tcase(s, tc);
	return s;
}
