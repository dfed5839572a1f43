/* The source "exec" as the agent's loop drives it, with the real plan, real commands and a decoder that is a script. */
#include "agent/exec.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/proc_find.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/agent/folder.h"
#include "tests/unit/agent/session.h"
#include "trace/window.h"

Suite *suite_exec(void);

#define TRACE "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1}]}"

static char empty[] = "", name[] = "snap", service[] = "llm", worker[] = "w", one[] = "sh", two[] = "-c", line[8192];
static char *words[] = { one, two, line };
static struct exec_command_conf command;
static struct exec_conf conf;
static struct decode_conf decode;
static struct plan *plan;
static struct plan_settings plan_settings;
static struct source source;
static struct source_trace trace;
static struct err e;

static void setup(void)
{
	folder_make();
	decoder_make();
	command = (struct exec_command_conf){ .name = name, .command = { words, COUNT(words) }, .process = empty,
		.service = service, .deploy = empty, .worker = worker, .limit_ns = 20 * NS_PER_S, .max_output = 20 << 20, .nice = 5,
		.decode = true };
	conf = (struct exec_conf){ .commands = { &command, 1 } };
	decode = (struct decode_conf){ .program = empty, .want_system = true, .max_input = 1 << 20, .max_output = 20 << 20,
		.limit_ns = 20 * NS_PER_S };
	plan_settings = (struct plan_settings){ .schedule = { .interval_ns = 20 * NS_PER_MS }, .max_at_once = 4,
		.duration_ns = 1500 * NS_PER_MS };
	plan = plan_new(&plan_settings);
	source = (struct source){ .type = NULL };
	err_clear(&e);
}

static void close_source(void)
{
	if (source.type != NULL)
		source.type->close(source.self);
	source.type = NULL;
}

static void teardown(void)
{
	close_source();
	plan_free(plan);
	folder_remove();
}

static void open_source(void)
{
	const struct exec_settings s = { .conf = &conf, .decode = &decode, .plan = plan, .state_dir = folder,
		.proc = folder_path("proc") };

	ck_assert_msg(exec_open(&source, &s, &e) == OK, "%s", e.text);
	ck_assert_ptr_nonnull(source.type);
}

static void does(const char *text)
{
	snprintf(line, sizeof(line), "%s", text);
}

static void look(void)
{
	struct pollfd p = { .fd = source.type->fd(source.self), .events = POLLIN };

	poll(&p, 1, 5);
	plan_tick(plan, clock_mono_ns(), clock_wall_ns());
	source.type->look(source.self, clock_mono_ns(), clock_wall_ns());
}

static bool get_trace(void)
{
	for (int i = 0; i < 4000; i++) {
		look();
		if (source.type->next(source.self, clock_mono_ns(), &trace))
			return true;
	}
	return false;
}

static void back(enum source_end end)
{
	source.type->back(source.self, trace.key, &(struct source_result){ .end = end, .why = "no JSON" }, clock_mono_ns());
}

static uint64_t count(enum exec_end end)
{
	return exec_count(&source, end);
}

static void look_for(enum exec_end end, uint64_t n)
{
	for (int i = 0; i < 4000 && count(end) < n; i++)
		look();
	ck_assert_msg(count(end) >= n, "%s: %d", exec_end_word(end), (int)count(end));
}

/* No folder of a run is left but those that are under way. */
static void settle(void)
{
	command.command.n = COUNT(words);
	for (int i = 0; i < 2000 && !source.type->idle(source.self); i++) {
		struct pollfd p = { .fd = source.type->fd(source.self), .events = POLLIN };

		poll(&p, 1, 5);
		plan_pause(plan, true);
		look();
		if (source.type->next(source.self, clock_mono_ns(), &trace))
			back(SOURCE_KEPT);
	}
	ck_assert(source.type->idle(source.self));
	ck_assert_uint_eq(folder_count("exec", ""), 0);
}

START_TEST(a_command_leaves_a_trace_that_is_taken_and_its_folder_removed)
{
	does("printf '%s' '" TRACE "' > {dir}/a.json");
	open_source();
	ck_assert(get_trace());
	ck_assert(str_has_prefix(str_of(trace.file.path), str_of(folder_path("exec/snap."))));
	ck_assert(str_has_suffix(str_of(trace.file.path), STR("/out/a.json")));
	ck_assert(str_eq(trace.service, STR("llm")));
	ck_assert(str_eq(trace.worker, STR("w")));
	ck_assert(str_eq(trace.labels[0].key, STR("command")));
	ck_assert(str_eq(trace.labels[0].value, STR("snap")));
	back(SOURCE_KEPT);
	ck_assert_uint_eq(count(EXEC_TAKEN), 1);
	ck_assert(get_trace()); /* the next slot */
	back(SOURCE_EMPTY);
	ck_assert_uint_eq(count(EXEC_EMPTY), 1);
	ck_assert(get_trace());
	back(SOURCE_BAD);
	ck_assert_uint_eq(count(EXEC_BAD), 1);
	settle();
}
END_TEST

START_TEST(a_command_hears_where_how_long_and_nothing_secret)
{
	struct buf b;

	buf_init(&b, 8192);
	setenv("TRAINSPOTTER_TOKEN", "secret", 1);
	setenv("NOTIFY_SOCKET", "@x", 1);
	does("{ pwd; echo {dir} {duration_ms} {iterations}; echo $TRAINSPOTTER_OUTPUT_DIR $TRAINSPOTTER_DURATION_MS; "
	     "echo \"${TRAINSPOTTER_TOKEN-none}${NOTIFY_SOCKET-none}\"; cut -d' ' -f19 /proc/self/stat; } > out.txt; mv out.txt ../../../said");
	plan_settings.iterations = 7;
	plan_set(plan, &plan_settings);
	open_source();
	look_for(EXEC_NOTHING, 1);
	folder_read("said", &b);
	{
		struct str rest = buf_view(&b), dir = str_split(&rest, '\n'), second = str_split(&rest, '\n');

		ck_assert(str_has_prefix(dir, str_of(folder_path("exec/snap."))));
		ck_assert(str_drop_prefix(&second, dir));
		ck_assert(str_eq(second, STR(" 1500 7")));
		second = str_split(&rest, '\n');
		ck_assert(str_drop_prefix(&second, dir));
		ck_assert(str_eq(second, STR(" 1500")));
		ck_assert(str_eq(str_split(&rest, '\n'), STR("nonenone")));
	}
	unsetenv("TRAINSPOTTER_TOKEN");
	unsetenv("NOTIFY_SOCKET");
	buf_fini(&b);
}
END_TEST

static void does_a_session(void)
{
	session_make("made/i-1_pid_77/100", HOLDS_INFO | HOLDS_SYSTEM);
	snprintf(line, sizeof(line), "cp -r %s/made/. {dir}", folder);
}

START_TEST(a_session_that_a_command_leaves_is_decoded_and_becomes_a_window)
{
	const struct window_origin origin = { .source = STR("exec"), .service = STR("llm") };
	struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct trace_report report;
	struct window w;
	struct arena a;

	arena_init(&a, 64 << 20);
	does_a_session();
	open_source();
	ck_assert(get_trace());
	ck_assert(str_has_suffix(str_of(trace.file.path), STR("/decoded-0/system-0.json")));
	ck_assert_uint_eq(trace.n_versions, 1);
	ck_assert_msg(window_from_file(&a, trace.file.path, &origin, &limits, &w, &report, &e) == OK, "%s", e.text);
	ck_assert_ptr_nonnull(window_op(&w, OP_CPU_OP, STR("aten::mul")));
	window_fini(&w);
	arena_fini(&a);
	back(SOURCE_KEPT);
	ck_assert_uint_eq(count(EXEC_TAKEN), 1);
	settle();
}
END_TEST

static const struct {
	const char *mode;
} decoder_trouble[] = { { "fail" }, { "crash" }, { "silent" }, { "fill" } };

START_TEST(a_decoder_in_trouble_is_counted_and_the_next_window_works)
{
	does_a_session();
	decoder_behaves(decoder_trouble[_i].mode);
	open_source();
	look_for(EXEC_UNDECODED, 1);
	ck_assert_uint_eq(count(EXEC_TAKEN), 0);
	decoder_behaves("");
	ck_assert(get_trace());
	back(SOURCE_KEPT);
	ck_assert_uint_eq(count(EXEC_TAKEN), 1);
	settle();
}
END_TEST

/* Each goes wrong once, and well the next time. */
static const struct bad {
	const char *does;
	enum exec_end end;
} bads[] = {
	{ "echo no such device >&2; exit 3", EXEC_FAILED },
	{ "kill -SEGV $$", EXEC_FAILED },
	{ "sleep 1000", EXEC_TIMEOUT },
	{ "trap '' TERM; while :; do sleep 1; done", EXEC_TIMEOUT },
	{ "while head -c 1000000 /dev/zero >> zeros; do :; done; exit 0", EXEC_TOO_LARGE },
	{ "exit 0", EXEC_NOTHING },
	{ "echo '{\"theme\":\"dark\"}' > settings.json", EXEC_NOTHING },
};

START_TEST(a_command_that_goes_wrong_is_counted_and_the_next_window_works)
{
	const struct bad *b = &bads[_i];

	if (b->end == EXEC_TIMEOUT) {
		command.limit_ns = 100 * NS_PER_MS;
		plan_settings.duration_ns = 200 * NS_PER_MS;
		plan_set(plan, &plan_settings);
	}
	snprintf(line, sizeof(line), "if mkdir %s/first 2>/dev/null; then %s; else printf '%%s' '" TRACE "' > a.json; fi", folder, b->does);
	open_source();
	look_for(b->end, 1);
	ck_assert_uint_eq(count(EXEC_TAKEN), 0);
	ck_assert(get_trace());
	back(SOURCE_KEPT);
	ck_assert_uint_eq(count(EXEC_TAKEN), 1);
	settle();
}
END_TEST

START_TEST(a_program_that_is_not_there_is_counted)
{
	static char nowhere[] = "/nowhere/program";
	static char *no_words[] = { nowhere };

	command.command = (struct conf_texts){ no_words, 1 };
	open_source();
	look_for(EXEC_NO_PROGRAM, 2); /* and tried again in the next slot */
}
END_TEST

START_TEST(a_state_folder_that_cannot_be_written_is_counted)
{
	does("exit 0");
	open_source();
	folder_write("exec", STR("not a folder"));
	look_for(EXEC_NO_FOLDER, 1);
	unlink(folder_path("exec"));
	look_for(EXEC_NOTHING, 1);
}
END_TEST

START_TEST(what_runs_when_the_agent_ends_ends_with_it_and_is_told_at_the_next_start)
{
	int64_t start_ns;

	snprintf(line, sizeof(line), "echo $$ > %s/pid; exec sleep 1000", folder);
	open_source();
	for (int i = 0; i < 2000 && !folder_has("pid"); i++)
		look();
	start_ns = clock_mono_ns();
	close_source();
	ck_assert_int_lt(clock_mono_ns() - start_ns, 10 * NS_PER_S);
	ck_assert_uint_eq(folder_count("exec", ""), 1);
	plan_pause(plan, true);
	open_source();
	ck_assert_uint_eq(count(EXEC_LOST), 1);
	settle();
}
END_TEST

START_TEST(what_an_earlier_agent_left_is_taken_where_its_command_had_ended_well)
{
	plan_pause(plan, true);
	ck_assert_int_eq(file_make_dirs(folder_path("exec/snap.00000000000000000007/out"), 0700, NULL), OK);
	folder_write("exec/snap.00000000000000000007/out/a.json", STR(TRACE));
	folder_write("exec/snap.00000000000000000007/ended", STR("svc\nv7\n3\n"));
	ck_assert_int_eq(file_make_dirs(folder_path("exec/other.00000000000000000008/out"), 0700, NULL), OK);
	folder_write("exec/other.00000000000000000008/ended", STR("svc\nv7\n3\n"));
	open_source();
	ck_assert(get_trace());
	ck_assert(str_eq(trace.service, STR("svc")));
	ck_assert(str_eq(trace.deploy, STR("v7")));
	ck_assert(str_eq(trace.worker, STR("3")));
	back(SOURCE_KEPT);
	ck_assert_uint_eq(count(EXEC_TAKEN), 1);
	ck_assert_uint_eq(count(EXEC_LOST), 1); /* of a command that is not configured any more */
	settle();
}
END_TEST

START_TEST(folders_of_the_last_runs_can_be_kept)
{
	decode.keep = 2;
	does("echo hello > notes.txt");
	open_source();
	look_for(EXEC_NOTHING, 4);
	plan_pause(plan, true);
	for (int i = 0; i < 2000 && !source.type->idle(source.self); i++)
		look();
	ck_assert_uint_eq(folder_count("exec/kept", ""), 2);
	ck_assert_uint_eq(folder_count("exec", ""), 1);
}
END_TEST

START_TEST(a_command_runs_once_at_a_time)
{
	snprintf(line, sizeof(line), "mkdir %s/busy && sleep 0.1 && rmdir %s/busy", folder, folder);
	open_source();
	look_for(EXEC_NOTHING, 4);
	ck_assert_uint_eq(count(EXEC_FAILED), 0);
}
END_TEST

/* ---- processes */

static void make_process(const char *pid, const char *cmdline, size_t n, const char *parent, const char *environment)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "proc/%s", pid);
	ck_assert_int_eq(file_make_dirs(folder_path(path), 0700, NULL), OK);
	snprintf(path, sizeof(path), "proc/%s/cmdline", pid);
	folder_write(path, str_make(cmdline, n));
	snprintf(path, sizeof(path), "proc/%s/stat", pid);
	snprintf(text, sizeof(text), "%s (a (strange) name) S %s 1 7 0 -1 4194304 1 0 0 0 5 1 0 0 20 0 9 0 1 1 2 3\n", pid, parent);
	folder_write(path, str_of(text));
	snprintf(path, sizeof(path), "proc/%s/environ", pid);
	folder_write(path, str_of(environment));
}

START_TEST(processes_are_found_by_their_command_line)
{
	char self[16];
	pid_t pids[8];

	snprintf(self, sizeof(self), "%d", (int)getpid());
	make_process("101", "python\0train.py\0--fast", 22, "1", "");
	make_process("102", "python\0serve.py", 15, "1", "");
	make_process("103", "sh\0-c\0snap train.py", 19, self, ""); /* one of ours */
	make_process("104", "", 0, "2", "");
	make_process(self, "agent train.py", 14, "1", "");
	ck_assert_uint_eq(proc_find(folder_path("proc"), "python train.py*", pids, 8), 1);
	ck_assert_int_eq(pids[0], 101);
	ck_assert_uint_eq(proc_find(folder_path("proc"), "*train.py*", pids, 8), 1);
	ck_assert_uint_eq(proc_find(folder_path("proc"), "python*", pids, 1), 1);
	ck_assert_uint_eq(proc_find(folder_path("proc"), "java*", pids, 8), 0);
	ck_assert_uint_eq(proc_find(folder_path("nowhere"), "*", pids, 8), 0);
}
END_TEST

START_TEST(a_command_runs_for_each_process_that_matches_under_its_own_name)
{
	static char pattern[] = "python train.py*";
	bool seen[2] = { false, false };

	make_process("101", "python\0train.py", 15, "1", "TRAINSPOTTER_SERVICE=first");
	make_process("102", "python\0train.py", 15, "1", "TRAINSPOTTER_SERVICE=second");
	command.process = pattern;
	does("printf '%s' '" TRACE "' > {pid}.json; test $TRAINSPOTTER_PID = {pid}");
	open_source();
	for (int i = 0; i < 20 && !(seen[0] && seen[1]); i++) {
		ck_assert(get_trace());
		ck_assert_uint_le(plan_out(plan), 2); /* one that runs, one that is read */
		seen[0] |= str_eq(trace.service, STR("first")) && str_has_suffix(str_of(trace.file.path), STR("/101.json"));
		seen[1] |= str_eq(trace.service, STR("second")) && str_has_suffix(str_of(trace.file.path), STR("/102.json"));
		back(SOURCE_KEPT);
	}
	ck_assert(seen[0] && seen[1]);
	ck_assert_uint_eq(count(EXEC_FAILED), 0);
}
END_TEST

/* A pid is known for twenty seconds: time enough for another process to have it. */
START_TEST(a_process_that_took_the_pid_of_one_that_matched_is_left_alone)
{
	static char pattern[] = "python train.py*";

	make_process("101", "python\0train.py", 15, "1", "TRAINSPOTTER_SERVICE=first");
	command.process = pattern;
	does("printf '%s' '" TRACE "' > {pid}.json");
	plan_pause(plan, true);
	open_source();
	look();
	ck_assert_uint_eq(plan_count(plan), 1);
	folder_write("proc/101/cmdline", str_make("sshd\0-D", 7));
	plan_pause(plan, false);
	for (int i = 0; i < 100; i++)
		look();
	ck_assert_uint_ge(plan_orders(plan), 1);
	ck_assert_uint_eq(folder_count("exec", ""), 0);
	ck_assert(!source.type->next(source.self, clock_mono_ns(), &trace));
	ck_assert_uint_eq(count(EXEC_TAKEN), 0);
}
END_TEST

START_TEST(words_are_filled_in)
{
	struct exec_run r = { .pid = 7, .duration_ns = 2 * NS_PER_S, .iterations = 3 };
	struct arena a;

	arena_init(&a, 32 << 20);
	ck_assert_str_eq(exec_word(&a, &r, "/d", STR("--out={dir}/x-{pid}")).p, "--out=/d/x-7");
	ck_assert_str_eq(exec_word(&a, &r, "/d", STR("{duration_ms}{iterations}{pid}")).p, "200037");
	ck_assert_str_eq(exec_word(&a, &r, "/d", STR("{\"a\":{}} {dirt} {other")).p, "{\"a\":{}} {dirt} {other");
	ck_assert_str_eq(exec_word(&a, &r, "/d", STR("")).p, "");
	arena_fini(&a);
}
END_TEST

static char bad_name[] = "a/b", pid_word[] = "{pid}";
static char *pid_words[] = { pid_word };

START_TEST(a_wrong_configuration_names_the_key)
{
	struct exec_command_conf both[2];

	command.name = bad_name;
	ck_assert_int_eq(exec_check(&conf, &e), E_USAGE);
	ck_assert_ptr_nonnull(strstr(e.text, "exec.commands[0].name: \"a/b\": want letters"));
	command.name = name;
	command.command.n = 0;
	ck_assert_int_eq(exec_check(&conf, &e), E_USAGE);
	ck_assert_ptr_nonnull(strstr(e.text, "snap has none, want [PROGRAM"));
	command.command = (struct conf_texts){ pid_words, 1 };
	ck_assert_int_eq(exec_check(&conf, &e), E_USAGE);
	ck_assert_ptr_nonnull(strstr(e.text, "has {pid}, but no process"));
	command.command = (struct conf_texts){ words, 3 };
	both[0] = both[1] = command;
	conf.commands.v = both;
	conf.commands.n = 2;
	ck_assert_int_eq(exec_check(&conf, &e), E_USAGE);
	ck_assert_ptr_nonnull(strstr(e.text, "snap stands there twice"));
}
END_TEST

START_TEST(without_commands_and_leftovers_there_is_no_source)
{
	const struct exec_settings s = { .conf = &conf, .decode = &decode, .plan = plan, .state_dir = folder, .proc = "/proc" };

	conf.commands.n = 0;
	ck_assert_int_eq(exec_open(&source, &s, &e), OK);
	ck_assert_ptr_null(source.type);
}
END_TEST

Suite *suite_exec(void)
{
	Suite *s = suite_create("agent/exec");
	TCase *tc = tcase_create("exec");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_command_leaves_a_trace_that_is_taken_and_its_folder_removed);
	tcase_add_test(tc, a_command_hears_where_how_long_and_nothing_secret);
	tcase_add_test(tc, a_session_that_a_command_leaves_is_decoded_and_becomes_a_window);
	tcase_add_loop_test(tc, a_decoder_in_trouble_is_counted_and_the_next_window_works, 0, COUNT(decoder_trouble));
	tcase_add_loop_test(tc, a_command_that_goes_wrong_is_counted_and_the_next_window_works, 0, COUNT(bads));
	tcase_add_test(tc, a_program_that_is_not_there_is_counted);
	tcase_add_test(tc, a_state_folder_that_cannot_be_written_is_counted);
	tcase_add_test(tc, what_runs_when_the_agent_ends_ends_with_it_and_is_told_at_the_next_start);
	tcase_add_test(tc, what_an_earlier_agent_left_is_taken_where_its_command_had_ended_well);
	tcase_add_test(tc, folders_of_the_last_runs_can_be_kept);
	tcase_add_test(tc, a_command_runs_once_at_a_time);
	tcase_add_test(tc, processes_are_found_by_their_command_line);
	tcase_add_test(tc, a_command_runs_for_each_process_that_matches_under_its_own_name);
	tcase_add_test(tc, a_process_that_took_the_pid_of_one_that_matched_is_left_alone);
	tcase_add_test(tc, words_are_filled_in);
	tcase_add_test(tc, a_wrong_configuration_names_the_key);
	tcase_add_test(tc, without_commands_and_leftovers_there_is_no_source);
	suite_add_tcase(s, tc);
	return s;
}
