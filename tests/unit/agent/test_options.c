#include "agent/options.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/agent/folder.h"

Suite *suite_options(void);

static int load(const char *yaml, const char *set, struct agent_conf *cf, struct err *e)
{
	struct agent_options o = { .config = folder_path("agent.yaml") };

	if (set != NULL)
		o.set.v[o.set.n++] = set;
	folder_write("agent.yaml", str_of(yaml));
	return agent_conf_load(cf, &o, e);
}

START_TEST(a_folder_is_all_that_must_be_said)
{
	struct agent_conf cf;
	struct err e = { 0 };

	ck_assert_msg(load("watch:\n  - dir: /traces\n", NULL, &cf, &e) == OK, "%s", e.text);
	ck_assert_str_eq(cf.server, "http://127.0.0.1:8940");
	ck_assert_str_eq(cf.state_dir, "/var/lib/trainspotter-agent");
	ck_assert_uint_eq(cf.watch.n, 1);
	ck_assert_str_eq(agent_conf_watch(&cf, 0)->dir, "/traces");
	ck_assert_str_eq(agent_conf_watch(&cf, 0)->service, "");
	ck_assert_int_eq(agent_conf_watch(&cf, 0)->done, DONE_REMOVE);
	ck_assert_int_eq(agent_conf_watch(&cf, 0)->stable_ns, 5 * NS_PER_S);
	agent_conf_fini(&cf);
}
END_TEST

START_TEST(kineto_is_off_unless_it_is_asked_for_and_then_needs_no_folder)
{
	struct agent_conf cf;
	struct err e = { 0 };

	ck_assert_int_eq(load("watch:\n  - dir: /traces\n", NULL, &cf, &e), OK);
	ck_assert(!cf.kineto.enabled);
	agent_conf_fini(&cf);
	ck_assert_msg(load("capture:\n  quiet: [22:00-06:00]\nkineto:\n  enabled: yes\n  uids: [1000]\n", NULL, &cf, &e) == OK, "%s",
		e.text);
	ck_assert(cf.kineto.enabled);
	ck_assert_str_eq(cf.kineto.socket, "dynolog");
	ck_assert_int_eq(cf.capture.interval_ns, 5 * NS_PER_MIN);
	ck_assert_int_eq(cf.capture.duration_ns, 500 * NS_PER_MS);
	ck_assert_int_eq(cf.capture.min_age_ns, 60 * NS_PER_S);
	ck_assert_int_eq(cf.capture.max_at_once, 1);
	ck_assert_uint_eq(cf.watch.n, 0);
	agent_conf_fini(&cf);
}
END_TEST

START_TEST(servers_of_vllm_need_no_folder_to_watch)
{
	struct agent_conf cf;
	struct err e = { 0 };

	ck_assert_msg(load("vllm:\n  timeout: 3m\n  servers:\n    - url: https://[::1]:8000\n      dir: /traces\n      service: llm\n",
		NULL, &cf, &e) == OK, "%s", e.text);
	ck_assert_uint_eq(cf.vllm.servers.n, 1);
	ck_assert_str_eq(agent_conf_vllm(&cf, 0)->url, "https://[::1]:8000");
	ck_assert_str_eq(agent_conf_vllm(&cf, 0)->token_file, "");
	ck_assert_int_eq(cf.vllm.timeout_ns, 3 * NS_PER_MIN);
	agent_conf_fini(&cf);
}
END_TEST

START_TEST(commands_need_no_folder_to_watch)
{
	struct agent_conf cf;
	const struct exec_command_conf *c;
	struct err e = { 0 };

	ck_assert_msg(load("exec:\n  commands:\n    - name: snap\n      command: [/bin/snap, --into, \"{dir}\", \"a, b\"]\n      limit: 3m\n"
		"decode:\n  device: yes\n  max_input: 2GiB\n", NULL, &cf, &e) == OK, "%s", e.text);
	ck_assert_uint_eq(cf.exec.commands.n, 1);
	c = exec_conf_command(&cf.exec, 0);
	ck_assert_str_eq(c->name, "snap");
	ck_assert_uint_eq(c->command.n, 4);
	ck_assert_str_eq(c->command.v[2], "{dir}");
	ck_assert_str_eq(c->command.v[3], "a, b");
	ck_assert_int_eq(c->limit_ns, 3 * NS_PER_MIN);
	ck_assert(c->decode);
	ck_assert(cf.decode.want_system && cf.decode.want_summary && cf.decode.want_device);
	ck_assert_int_eq(cf.decode.max_input, INT64_C(2) << 30);
	agent_conf_fini(&cf);
}
END_TEST

START_TEST(a_mistake_names_file_line_and_key)
{
	static const struct {
		const char *yaml, *set;
		const char *parts[3];
	} cases[] = {
		{ "watch:\n  - dir: /t\nsever: http://x\n", NULL, { "agent.yaml", "line 3", "sever" } },
		{ "watch:\n  - dir: /t\n    done: burn\n", NULL, { "agent.yaml", "line 3", "done" } },
		{ "watch:\n  - dir: traces\n", NULL, { "agent.yaml", "line 2", "dir" } },
		{ "watch:\n  - service: x\n", NULL, { "agent.yaml", "line 2", "dir" } },
		{ "spool:\n  max: 3\nwatch:\n  - dir: /t\n", NULL, { "agent.yaml", "line 2", "spool.max" } },
		{ "server: x\nwatch:\n  - dir: /t\n", NULL, { "agent.yaml", "server", "http://HOST:PORT" } },
		{ "host: x\n", NULL, { "agent.yaml", "watch", "at least one" } },
		{ "watch:\n  - dir: /t\n  - dir: /t\n", NULL, { "agent.yaml", "watch", "twice" } },
		{ "watch:\n  - dir: /t\n  - dir: //t/./\n", NULL, { "agent.yaml", "watch", "twice" } },
		{ "watch:\n  - dir: /t\n    bad_dir: /t/\n", NULL, { "agent.yaml", "watch[0].bad_dir", "is a watched folder" } },
		{ "watch:\n  - dir: /a\n    done: move\n    done_dir: /b\n  - dir: /b\n", NULL,
			{ "agent.yaml", "watch[0].done_dir", "is a watched folder" } },
		{ "watch:\n  - dir: /t\n", "rescan=never", { "--set", "rescan", "never" } },
		{ "watch:\n  - dir: /t\n", "rescan", { "--set", "rescan", "KEY=VALUE" } },
		{ "watch: [\n", NULL, { "agent.yaml", "line", "" } },
		{ "capture:\n  slow_step: 0.5\nwatch:\n  - dir: /t\n", NULL, { "agent.yaml", "capture.slow_step", "above 1" } },
		{ "capture:\n  slow_step: often\nwatch:\n  - dir: /t\n", NULL, { "agent.yaml", "capture.slow_step", "often" } },
		{ "capture:\n  quiet: [noon]\nwatch:\n  - dir: /t\n", NULL, { "agent.yaml", "capture.quiet", "HH:MM" } },
		{ "kineto:\n  enabled: yes\n  uids: [root]\n", NULL, { "agent.yaml", "kineto.uids", "root" } },
		{ "kineto:\n  enabled: yes\n  custom: a=b\n", NULL, { "agent.yaml", "kineto", "a=b" } },
		{ "kineto:\n  enabled: yes\n  socket_dirs: [run]\n", NULL, { "agent.yaml", "kineto.socket_dirs", "absolute" } },
		{ "vllm:\n  servers:\n    - url: http://h:1\n", NULL, { "agent.yaml", "line 3", "dir" } },
		{ "vllm:\n  servers:\n    - url: http://h:1/v1\n      dir: /t\n", NULL,
			{ "agent.yaml", "vllm.servers[0].url", "nothing behind it" } },
		{ "vllm:\n  servers:\n    - url: http://h:1\n      dir: /t\n    - url: http://h:1\n      dir: /u\n", NULL,
			{ "agent.yaml", "vllm.servers", "twice" } },
		{ "exec:\n  commands:\n    - command: [x]\n", NULL, { "agent.yaml", "line 3", "name" } },
		{ "exec:\n  commands:\n    - name: a/b\n      command: [x]\n", NULL, { "agent.yaml", "exec.commands[0].name", "want letters" } },
		{ "exec:\n  commands:\n    - name: a\n", NULL, { "agent.yaml", "exec.commands[0].command", "want [PROGRAM" } },
		{ "exec:\n  commands:\n    - name: a\n      command: [x, \"{pid}\"]\n", NULL,
			{ "agent.yaml", "exec.commands[0].command", "no process" } },
		{ "decode:\n  max_input: 6GiB\nwatch:\n  - dir: /t\n", NULL, { "agent.yaml", "line 2", "decode.max_input" } },
		{ "xla:\n  enabled: yes\n  jobs:\n    - address: 10.0.0.1:9012\n", NULL, { "agent.yaml", "xla.jobs[0].address", "this machine" } },
		{ "xla:\n  enabled: yes\n  environment: no\n", NULL, { "agent.yaml", "xla.jobs", "xla.environment" } },
		{ "kineto:\n  enabled: no\n", NULL, { "agent.yaml", "watch", "kineto.enabled" } },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct agent_conf cf;
		struct err e = { 0 };

		ck_assert_int_lt(load(cases[i].yaml, cases[i].set, &cf, &e), 0);
		for (size_t k = 0; k < 3; k++)
			ck_assert_msg(strstr(e.text, cases[i].parts[k]) != NULL, "\"%s\" lacks \"%s\"", e.text,
				cases[i].parts[k]);
	}
}
END_TEST

/* Addresses are logged, and stand in the journal of what was started. */
START_TEST(a_password_in_an_address_is_refused_and_not_repeated)
{
	static const char *const cases[][2] = {
		{ "server: https://me:secret@h:1/x\nwatch:\n  - dir: /t\n", "server" },
		{ "vllm:\n  servers:\n    - url: http://me:secret@h:1\n      dir: /t\n", "vllm.servers[0].url" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct agent_conf cf;
		struct err e = { 0 };

		ck_assert_int_eq(load(cases[i][0], NULL, &cf, &e), E_USAGE);
		ck_assert_ptr_nonnull(strstr(e.text, cases[i][1]));
		ck_assert_ptr_nonnull(strstr(e.text, "token_file"));
		ck_assert_ptr_null(strstr(e.text, "secret"));
	}
}
END_TEST

START_TEST(rules_for_names_are_read_with_the_configuration)
{
	struct agent_conf cf;
	struct err e = { 0 };
	char set[4096];

	folder_write("rules.yaml", STR("rules:\n  - glob: 'request-*'\n"));
	snprintf(set, sizeof(set), "trace.name_rules=%s", folder_path("rules.yaml"));
	ck_assert_msg(load("watch:\n  - dir: /t\n", set, &cf, &e) == OK, "%s", e.text);
	ck_assert_ptr_nonnull(cf.rules);
	agent_conf_fini(&cf);
	ck_assert_ptr_null(cf.rules);
	folder_write("rules.yaml", STR("rules:\n  - blob: 'request-*'\n"));
	ck_assert_int_eq(load("watch:\n  - dir: /t\n", set, &cf, &e), E_USAGE);
	ck_assert_msg(strstr(e.text, "rules.yaml: line 2: \"blob\" is not known here; did you mean \"glob\"?") != NULL, "%s", e.text);
	ck_assert_msg(strstr(e.text, "agent.yaml: trace.name_rules: ") != NULL, "%s", e.text);
}
END_TEST

START_TEST(what_is_printed_reads_back_the_same)
{
	struct agent_conf cf, again;
	struct err e = { 0 };
	struct buf first, second;

	buf_init(&first, 1 << 16);
	buf_init(&second, 1 << 16);
	ck_assert_int_eq(load("watch:\n  - dir: /traces\n    done: move\nship:\n  batch: 2MiB\n", "host=h9", &cf, &e), OK);
	conf_print(&agent_schema, &cf, &first);
	ck_assert_msg(load(first.p, NULL, &again, &e) == OK, "%s", e.text);
	conf_print(&agent_schema, &again, &second);
	ck_assert_str_eq(first.p, second.p);
	ck_assert_str_eq(again.host, "h9");
	agent_conf_fini(&cf);
	agent_conf_fini(&again);
	buf_fini(&first);
	buf_fini(&second);
}
END_TEST

#define SERVERS "vllm:\n  servers:\n    - url: http://[::1]:8000\n      dir: /traces\n"

/* What the agent was started with, what it reads later, and the keys that wait for its next start. */
static const struct {
	const char *first, *then, *later;
} reloads[] = {
	{ "watch:\n  - dir: /a\n", "watch:\n  - dir: /b\nship:\n  batch: 2MiB\nrescan: 1m\nlog:\n  level: debug\n", "" },
	{ "watch:\n  - dir: /a\n", "watch:\n  - dir: /a\nstate_dir: /x\nspool:\n  max: 1GiB\n", "state_dir spool.max" },
	{ "kineto:\n  enabled: yes\n", "kineto:\n  enabled: yes\n  timeout: 7s\n  uids: [1000]\n", "kineto.timeout kineto.uids" },
	{ "watch:\n  - dir: /a\n", "watch:\n  - dir: /a\nxla:\n  enabled: yes\n", "xla.enabled" },
	{ SERVERS, SERVERS "      service: llm\n", "vllm.servers" },
	{ "watch:\n  - dir: /a\n", "watch:\n  - dir: /a\nexec:\n  commands:\n    - name: x\n      command: [/bin/true]\n", "exec.commands" },
	{ "watch:\n  - dir: /a\n", "watch:\n  - dir: /a\nidentity:\n  service_label: app\n", "identity.service_label" },
	{ "watch:\n  - dir: /a\n", "watch:\n  - dir: /a\ndecode:\n  limit: 5m\n", "" }, /* of sessions in watched folders only */
	{ "exec:\n  commands:\n    - name: x\n      command: [/bin/true]\n",
		"exec:\n  commands:\n    - name: x\n      command: [/bin/true]\ndecode:\n  limit: 5m\n", "decode.limit" },
};

START_TEST(keys_that_wait_for_the_next_start_are_named)
{
	struct agent_conf first, then;
	struct agent_conf_marks marks;
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, 4096);
	ck_assert_msg(load(reloads[_i].first, NULL, &first, &e) == OK, "%s", e.text);
	agent_conf_mark(&first, &marks);
	agent_conf_later(&first, &marks, &b);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_msg(load(reloads[_i].then, NULL, &then, &e) == OK, "%s", e.text);
	agent_conf_later(&then, &marks, &b);
	ck_assert_str_eq(b.p == NULL ? "" : b.p, reloads[_i].later);
	agent_conf_fini(&first);
	agent_conf_fini(&then);
	buf_fini(&b);
}
END_TEST

Suite *suite_options(void)
{
	Suite *s = suite_create("agent/options");
	TCase *tc = tcase_create("options");

	tcase_add_checked_fixture(tc, folder_make, folder_remove);
	tcase_add_test(tc, a_folder_is_all_that_must_be_said);
	tcase_add_test(tc, kineto_is_off_unless_it_is_asked_for_and_then_needs_no_folder);
	tcase_add_test(tc, servers_of_vllm_need_no_folder_to_watch);
	tcase_add_test(tc, commands_need_no_folder_to_watch);
	tcase_add_test(tc, a_mistake_names_file_line_and_key);
	tcase_add_test(tc, a_password_in_an_address_is_refused_and_not_repeated);
	tcase_add_test(tc, rules_for_names_are_read_with_the_configuration);
	tcase_add_test(tc, what_is_printed_reads_back_the_same);
	tcase_add_loop_test(tc, keys_that_wait_for_the_next_start_are_named, 0, COUNT(reloads));
	suite_add_tcase(s, tc);
	return s;
}
