#include "cli/remote.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "tests/unit/cli/command.h"
#include "tests/unit/cli/fake_http.h"

Suite *suite_remote(void);

START_TEST(the_options_become_the_query)
{
	ck_assert_int_eq(command_run(&cmd_top, "--service a/b --from now-7d --kind step -n 5 --server h:1/"), 0);
	ck_assert_str_eq(fake_http.urls[0],
		"http://h:1/api/v1/top?service=a%2Fb&kind=step&from=now-7d&limit=5");
}
END_TEST

START_TEST(the_server_comes_from_the_environment_or_is_the_local_one)
{
	command_run(&cmd_hosts, "");
	ck_assert_str_eq(fake_http.urls[0], "http://127.0.0.1:8940/api/v1/hosts");
	setenv("TRAINSPOTTER_SERVER", "https://p.example/x/", 1);
	fake_http.asked = 0;
	command_run(&cmd_hosts, "");
	ck_assert_str_eq(fake_http.urls[0], "https://p.example/x/api/v1/hosts");
}
END_TEST

START_TEST(the_token_comes_from_a_file_or_the_environment)
{
	char path[] = "/tmp/test-token-XXXXXX", line[100];
	int fd = mkstemp(path);

	setenv("TRAINSPOTTER_TOKEN", "from-env", 1);
	command_run(&cmd_hosts, "");
	ck_assert_str_eq(fake_http.token, "from-env");
	ck_assert_int_eq(write(fd, " from-file\n", 11), 11);
	close(fd);
	snprintf(line, sizeof(line), "--token-file %s", path);
	fake_http.asked = 0;
	ck_assert_int_eq(command_run(&cmd_hosts, line), 0);
	ck_assert_str_eq(fake_http.token, "from-file");
	unlink(path);
	ck_assert_int_eq(command_run(&cmd_hosts, line), 2);
	command_says("trainspotter hosts: /tmp/test-token-");
}
END_TEST

START_TEST(json_is_printed_as_it_came)
{
	ck_assert_int_eq(command_run(&cmd_services, "--format json"), 0);
	ck_assert_str_eq(command_out.p, "{\"items\":[],\"next\":null}\n");
}
END_TEST

START_TEST(a_refusal_is_the_server_s_own_sentence)
{
	fake_http.status = 400;
	fake_http.bodies[0] = "{\"type\":\"urn:trainspotter:parameter\",\"title\":\"A parameter is wrong\",\"status\":400,"
			      "\"detail\":\"from: \\\"yesterday\\\" is no time\",\"parameter\":\"from\"}";
	ck_assert_int_eq(command_run(&cmd_top, "--from yesterday"), 2);
	ck_assert_str_eq(command_out.p, "trainspotter top: from: \"yesterday\" is no time (status 400)\n");
}
END_TEST

START_TEST(something_else_at_the_address_is_recognised)
{
	fake_http.status = 502;
	fake_http.bodies[0] = "<html>Bad Gateway</html>";
	ck_assert_int_eq(command_run(&cmd_top, ""), 2);
	command_says("answered with status 502 and no reason; is a Trainspotter server there?");
	fake_http = (struct fake_http){ .status = 200, .bodies = { "<html>" } };
	ck_assert_int_eq(command_run(&cmd_top, ""), 2);
	command_says("no answer of a Trainspotter server");
}
END_TEST

START_TEST(no_server_is_said_with_what_to_do)
{
	fake_http.rc = E_NET;
	ck_assert_int_eq(command_run(&cmd_alerts, "--fail"), 2);
	ck_assert_str_eq(command_out.p, "trainspotter alerts: http://there: connection refused; is trainspotterd running there? "
				"--server names another\n");
}
END_TEST

START_TEST(wrong_usage_asks_nobody)
{
	ck_assert_int_eq(command_run(&cmd_hosts, "what"), 2);
	command_says("\"what\" is too much");
	ck_assert_int_eq(command_run(&cmd_hosts, "--limit 0"), 2);
	ck_assert_int_eq(command_run(&cmd_trend, ""), 2);
	command_says("which op?");
	ck_assert_int_eq(command_run(&cmd_trend, "a b --show p99"), 2);
	command_says("--show p99 of several ops does not add up");
	ck_assert_uint_eq(fake_http.asked, 0);
}
END_TEST

START_TEST(every_list_shows_its_items_and_whether_there_are_more)
{
	static const struct {
		const struct opt_command *c;
		const char *body, *row;
	} lists[] = {
		{ &cmd_hosts, "{\"items\":[{\"host\":\"trn-1\",\"service\":\"llm\",\"deploy\":\"v42\",\"workers\":1,"
			      "\"windows\":504,\"first_ns\":1794146400000000000,\"last_ns\":1795957200000000000}],"
			      "\"next\":\"c\"}",
			"trn-1  llm      v42           1      504  2026-11-08 14:00:00  2026-11-29 13:00:00\n" },
		{ &cmd_services, "{\"items\":[{\"service\":\"llm\",\"deploy\":\"v42\",\"hosts\":8,\"deploys\":2,"
				 "\"windows\":4032,\"first_ns\":0,\"last_ns\":null,\"capture\":{\"workers\":8,\"measured\":2,"
				 "\"cost_ppm\":300}}],\"next\":\"c\"}",
			"llm      v42         8        2     4032  1970-01-01 00:00:00  -             0.03 %\n" },
		{ &cmd_deploys, "{\"items\":[{\"service\":\"llm\",\"deploy\":\"v42\",\"windows\":7,\"hosts\":8,"
				"\"labels\":{\"sdk\":\"2.26\",\"by\":\"kim\"}}],\"next\":\"c\"}",
			"llm      v42         8        7  -            -           sdk=2.26 by=kim\n" },
		{ &cmd_windows, "{\"items\":[{\"id\":\"0f3c\",\"service\":\"llm\",\"deploy\":\"v42\",\"host\":\"trn-1\","
				"\"worker\":\"0\",\"start_ns\":1795957200000000000,\"dur_ns\":4120000000,\"steps\":20,"
				"\"launches\":240,\"events\":5120,\"truncated\":true,\"damaged\":false}],\"next\":\"c\"}",
			"2026-11-29 13:00:00  4.12 s  llm      v42     trn-1  0          20       240    5120  truncated  "
			"0f3c\n" },
	};

	for (size_t i = 0; i < COUNT(lists); i++) {
		fake_http = (struct fake_http){ .status = 200, .bodies = { lists[i].body } };
		ck_assert_int_eq(command_run(lists[i].c, ""), 0);
		command_says(lists[i].row);
		command_says("there is more; --limit N shows N");
	}
}
END_TEST

START_TEST(top_shows_rows_and_what_they_are_of)
{
	fake_http.bodies[0] =
		"{\"items\":[{\"kind\":\"cpu_op\",\"op\":\"aten::mul\",\"calls\":80640,\"calls_per_step\":3.0,"
		"\"time_ns\":31302000000,\"time_per_step_ns\":1164500,\"share\":0.31,\"p50_ns\":388166,\"p99_ns\":401000},"
		"{\"kind\":\"cpu_op\",\"op\":\"aten::add\",\"calls\":7,\"calls_per_step\":null,\"time_ns\":100,"
		"\"time_per_step_ns\":null,\"share\":null,\"p50_ns\":null,\"p99_ns\":null}],\"next\":null,"
		"\"totals\":{\"windows\":1344,\"steps\":26880,\"has_device\":true,\"time_ns\":100974000000,"
		"\"first_ns\":1795348800000000000,\"last_ns\":1795957200000000000,\"tier_ns\":0}}";
	ck_assert_int_eq(command_run(&cmd_top, ""), 0);
	ck_assert_str_eq(command_out.p,
		"op         kind    calls/step  time/step   share     p50     p99  calls   total\n"
		"aten::mul  cpu_op           3    1.16 ms  31.0 %  388 µs  401 µs  80640  31.3 s\n"
		"aten::add  cpu_op           -          -       -       -       -      7  100 ns\n"
		"\n1344 windows with 26880 steps, 2026-11-22 12:00:00 to 2026-11-29 13:00:00 UTC; times are self device "
		"time\n");
}
END_TEST

#define EVIDENCE                                                                                                    \
	"\"verdict\":\"fusion_lost\",\"step_ns\":{\"before\":5400000,\"after\":7352000},"                           \
	"\"launches_per_step\":{\"before\":12,\"after\":17},\"findings\":[{\"kind\":\"fusion_lost\","               \
	"\"op\":\"aten::_fused_rms_norm\",\"calls_per_step\":{\"before\":1,\"after\":0},"                           \
	"\"time_per_step_ns\":{\"before\":403300,\"after\":0},\"replaced_by\":["                                    \
	"{\"op\":\"aten::mul\",\"calls_per_step\":{\"before\":0,\"after\":3},"                                      \
	"\"time_per_step_ns\":{\"before\":0,\"after\":1164500}},"                                                   \
	"{\"op\":\"aten::add\",\"calls_per_step\":{\"before\":0.5,\"after\":1},"                                    \
	"\"time_per_step_ns\":{\"before\":10000,\"after\":434600}}],\"net_ns_per_step\":1185800,"                   \
	"\"why\":\"table:rms_norm\",\"sentence\":\"aten::_fused_rms_norm (1 call) became 4 calls\"}]"
#define ALERT(state)                                                                                                \
	"{\"id\":\"5f0d\",\"state\":\"" state "\",\"kind\":\"fusion_lost\",\"service\":\"llm\",\"deploy\":\"v42\"," \
	"\"deploy_before\":\"v41\",\"op\":\"aten::_fused_rms_norm\",\"sentence\":\"became 4 calls\","               \
	"\"started_ns\":1795348800000000000,\"fired_ns\":1795352461000000000,\"resolved_ns\":null,"                 \
	"\"hosts\":[\"trn-2\",\"trn-1\"],\"windows_before\":64,\"windows_after\":63,\"evidence\":{" EVIDENCE "}}"

static const char alert_text[] =
	"FIRING  fusion_lost in llm since deploy v42 (before: v41)\n"
	"  fusion_lost: aten::_fused_rms_norm (1 call) became 4 calls\n"
	"\n"
	"  a step                      before                 after                      change\n"
	"  aten::_fused_rms_norm       1 call   403 µs            -                     -403 µs\n"
	"    aten::mul                      -               3 calls  1.16 ms           +1.16 ms\n"
	"    aten::add             0.50 calls  10.0 µs       1 call   435 µs  +425 µs (+4246 %)\n"
	"  together                1.50 calls   413 µs      4 calls  1.60 ms  +1.19 ms (+287 %)\n"
	"  the whole step         12 launches  5.40 ms  17 launches  7.35 ms   +1.95 ms (+36 %)\n"
	"\n"
	"  began    2026-11-22 12:00:00 UTC\n"
	"  fired    2026-11-22 13:01:01 UTC\n"
	"  hosts    2: trn-1, trn-2\n"
	"  judged   64 windows before, 63 after\n"
	"  rule     table:rms_norm\n"
	"  id       5f0d\n";

START_TEST(an_alert_is_a_block_with_its_evidence)
{
	fake_http.bodies[0] = "{\"items\":[" ALERT("firing") "],\"next\":null}";
	ck_assert_int_eq(command_run(&cmd_alerts, "--state firing"), 0);
	ck_assert_str_eq(command_out.p, alert_text);
	ck_assert_str_eq(fake_http.urls[0], "http://127.0.0.1:8940/api/v1/alerts?state=firing");
}
END_TEST

START_TEST(one_alert_is_asked_for_by_its_id)
{
	fake_http.bodies[0] = ALERT("firing");
	ck_assert_int_eq(command_run(&cmd_alerts, "5f0d"), 0);
	ck_assert_str_eq(command_out.p, alert_text);
	ck_assert_str_eq(fake_http.urls[0], "http://127.0.0.1:8940/api/v1/alerts/5f0d");
}
END_TEST

START_TEST(an_alert_names_the_capture_it_asked_for)
{
	fake_http.bodies[0] = "{\"id\":\"5f0d\",\"state\":\"firing\",\"sentence\":\"became 4 calls\",\"evidence\":{\"capture\":\"7d20\"}}";
	ck_assert_int_eq(command_run(&cmd_alerts, "5f0d"), 0);
	command_says("  capture  7d20\n  id       5f0d\n");
}
END_TEST

START_TEST(a_firing_alert_fails_a_pipeline_that_asks_for_it)
{
	fake_http.bodies[0] = "{\"items\":[" ALERT("resolved") "," ALERT("firing") "],\"next\":null}";
	ck_assert_int_eq(command_run(&cmd_alerts, "--fail --format json"), 1);
	fake_http.asked = 0;
	fake_http.bodies[0] = "{\"items\":[" ALERT("resolved") "],\"next\":null}";
	ck_assert_int_eq(command_run(&cmd_alerts, "--fail"), 0);
	fake_http.asked = 0;
	fake_http.bodies[0] = "{\"items\":[],\"next\":null}";
	ck_assert_int_eq(command_run(&cmd_alerts, "--fail"), 0);
	ck_assert_str_eq(command_out.p, "no alerts\n");
}
END_TEST

START_TEST(compare_says_regression_first_and_can_fail)
{
	fake_http.bodies[0] =
		"{\"service\":\"llm\",\"before\":{\"deploy\":\"v41\",\"windows\":64,\"hosts\":8,\"steps\":1280,"
		"\"first_ns\":0,\"last_ns\":0},\"after\":{\"deploy\":\"v42\",\"windows\":64,\"hosts\":8,\"steps\":1280,"
		"\"first_ns\":0,\"last_ns\":0},\"regression\":true," EVIDENCE
		",\"rows\":[{\"kind\":\"cpu_op\",\"op\":\"aten::mul\",\"calls_per_step\":{\"before\":0,\"after\":3},"
		"\"time_per_step_ns\":{\"before\":0,\"after\":1164500},\"p50_ns\":{\"before\":null,\"after\":388166},"
		"\"change_ns_per_step\":1164500}]}";
	ck_assert_int_eq(command_run(&cmd_compare, "--service llm --fail"), 1);
	command_says("REGRESSION: fusion_lost\n  before v41: 64 windows of 8 hosts, 1280 steps");
	command_says("  the whole step         12 launches  5.40 ms  17 launches  7.35 ms   +1.95 ms (+36 %)\n");
	command_says("aten::mul  cpu_op           0    3       0 ns  1.16 ms    -  388 µs     +1.16 ms\n");
	fake_http.asked = 0;
	ck_assert_int_eq(command_run(&cmd_compare, "--service llm"), 0);
	fake_http.asked = 0;
	fake_http.bodies[0] = "{\"regression\":false,\"verdict\":\"none\"}";
	ck_assert_int_eq(command_run(&cmd_compare, "--service llm --fail"), 0);
	command_says("no regression: none\n");
}
END_TEST

static const char fused[] =
	"{\"op\":\"f\",\"resolution_ns\":3600000000000,\"items\":["
	"{\"t_ns\":3600000000000,\"calls\":10,\"basis\":\"device\",\"p50_ns\":400000,\"p99_ns\":410000,"
	"\"time_per_step_ns\":400000},"
	"{\"t_ns\":7200000000000,\"calls\":0,\"basis\":\"none\",\"p50_ns\":null,\"p99_ns\":null,"
	"\"time_per_step_ns\":0}],\"next\":null,\"deploys\":["
	"{\"service\":\"llm\",\"deploy\":\"v41\",\"first_ns\":3600000000000},"
	"{\"service\":\"llm\",\"deploy\":\"v42\",\"first_ns\":7200000000000}]}";
static const char eager[] =
	"{\"op\":\"e\",\"resolution_ns\":3600000000000,\"items\":["
	"{\"t_ns\":7200000000000,\"calls\":60,\"basis\":\"device\",\"p50_ns\":400000,\"p99_ns\":410000,"
	"\"time_per_step_ns\":2400000}],\"next\":null,\"deploys\":[]}";

START_TEST(a_trend_draws_one_op_and_tells_each_deploy_s_median)
{
	fake_http.bodies[0] = fused;
	ck_assert_int_eq(command_run(&cmd_trend, "--op f --service llm"), 0);
	ck_assert_str_eq(fake_http.urls[0], "http://127.0.0.1:8940/api/v1/trend?service=llm&op=f");
	command_says("f\np50 of a call's self device time, one value every 1h, UTC\n\n");
	command_says("v41     1970-01-01 01:00:00      400 µs\n");
	command_says("v42     1970-01-01 02:00:00  not called  -100.0 %\n");
}
END_TEST

START_TEST(several_ops_make_one_line_that_tells_the_price)
{
	fake_http.bodies[0] = fused;
	fake_http.bodies[1] = eager;
	ck_assert_int_eq(command_run(&cmd_trend, "f e"), 0);
	ck_assert_str_eq(fake_http.urls[1], "http://127.0.0.1:8940/api/v1/trend?op=e&resolution=1h");
	command_says("f + e\na step's self device time, one value every 1h, UTC\n\n");
	command_says("v41     1970-01-01 01:00:00   400 µs\n");
	command_says("v42     1970-01-01 02:00:00  2.40 ms  x 6.00\n");
}
END_TEST

START_TEST(a_step_without_single_times_is_drawn_by_its_length)
{
	fake_http.bodies[0] =
		"{\"op\":\"ProfilerStep*\",\"resolution_ns\":3600000000000,\"items\":[{\"t_ns\":3600000000000,"
		"\"calls\":10,\"basis\":\"none\",\"p50_ns\":null,\"p99_ns\":null,\"time_per_step_ns\":5000000}],"
		"\"next\":null,\"deploys\":[]}";
	ck_assert_int_eq(command_run(&cmd_trend, "ProfilerStep* --kind step"), 0);
	command_says("a step's time, one value every 1h, UTC");
	command_says("(all)   1970-01-01 01:00:00  5.00 ms\n");
}
END_TEST

START_TEST(a_top_of_nothing_is_one_sentence)
{
	fake_http.bodies[0] = "{\"items\":[],\"next\":null,\"totals\":{\"windows\":0,\"steps\":0,\"time_ns\":0}}";
	ck_assert_int_eq(command_run(&cmd_top, "--from now-1h"), 0);
	ck_assert_str_eq(command_out.p, "no windows match; \"trainspotter services\" tells when the last ones were\n");
}
END_TEST

START_TEST(a_trend_of_nothing_says_so)
{
	fake_http.bodies[0] = "{\"items\":[],\"deploys\":[],\"resolution_ns\":3600000000000}";
	ck_assert_int_eq(command_run(&cmd_trend, "f"), 0);
	command_says("no windows match");
}
END_TEST

Suite *suite_remote(void)
{
	Suite *s = suite_create("cli/remote");
	TCase *tc = tcase_create("remote");

	tcase_add_checked_fixture(tc, command_up, command_down);
	tcase_add_test(tc, the_options_become_the_query);
	tcase_add_test(tc, the_server_comes_from_the_environment_or_is_the_local_one);
	tcase_add_test(tc, the_token_comes_from_a_file_or_the_environment);
	tcase_add_test(tc, json_is_printed_as_it_came);
	tcase_add_test(tc, a_refusal_is_the_server_s_own_sentence);
	tcase_add_test(tc, something_else_at_the_address_is_recognised);
	tcase_add_test(tc, no_server_is_said_with_what_to_do);
	tcase_add_test(tc, wrong_usage_asks_nobody);
	tcase_add_test(tc, every_list_shows_its_items_and_whether_there_are_more);
	tcase_add_test(tc, top_shows_rows_and_what_they_are_of);
	tcase_add_test(tc, an_alert_is_a_block_with_its_evidence);
	tcase_add_test(tc, one_alert_is_asked_for_by_its_id);
	tcase_add_test(tc, an_alert_names_the_capture_it_asked_for);
	tcase_add_test(tc, a_firing_alert_fails_a_pipeline_that_asks_for_it);
	tcase_add_test(tc, compare_says_regression_first_and_can_fail);
	tcase_add_test(tc, a_trend_draws_one_op_and_tells_each_deploy_s_median);
	tcase_add_test(tc, several_ops_make_one_line_that_tells_the_price);
	tcase_add_test(tc, a_step_without_single_times_is_drawn_by_its_length);
	tcase_add_test(tc, a_top_of_nothing_is_one_sentence);
	tcase_add_test(tc, a_trend_of_nothing_says_so);
	suite_add_tcase(s, tc);
	return s;
}
