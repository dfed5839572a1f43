#include <check.h>

#include "cli/cmd.h"
#include "cli/overhead.h"
#include "tests/unit/cli/command.h"
#include "tests/unit/cli/fake_http.h"

Suite *suite_capture(void);

#define TARGET(worker, state, end)                                                                                  \
	"{\"host\":\"trn-1\",\"service\":\"llm\",\"source\":\"kineto\",\"worker\":\"" worker "\",\"state\":\"" state \
	"\",\"end\":" end ",\"window\":null}"
#define CAPTURE(state, targets)                                                                                     \
	"{\"id\":\"7d20\",\"state\":\"" state "\",\"service\":\"llm\",\"created_ns\":1795957200000000000,"           \
	"\"reason\":\"p99\",\"targets\":[" targets "]}"

#define POLICY(paused, reason) "{\"paused\":" paused ",\"reason\":\"" reason "\",\"changed_ns\":1795957200000000000}"

static const char waiting[] = CAPTURE("waiting", TARGET("0", "waiting", "null"));
static const char done[] = CAPTURE("done", TARGET("0", "taken", "\"taken\""));
static const char half[] = CAPTURE("done", TARGET("0", "taken", "\"taken\"") "," TARGET("1", "failed", "\"refused\""));

START_TEST(a_capture_is_asked_for_waited_for_and_shown)
{
	fake_http.status = 201;
	fake_http.bodies[0] = fake_http.bodies[2] = waiting;
	fake_http.bodies[1] = POLICY("false", "");
	fake_http.bodies[3] = done;
	ck_assert_int_eq(command_run(&cmd_capture, "--service llm --host trn-1 --host trn-2 --worker 0 --source kineto "
						   "--duration 500ms --iterations 3 --reason it~hangs"), 0);
	ck_assert_uint_eq(fake_http.asked, 4);
	ck_assert_str_eq(fake_http.methods[0], "POST");
	ck_assert_str_eq(fake_http.urls[0], "http://127.0.0.1:8940/api/v1/captures");
	ck_assert_str_eq(fake_http.sent[0], "{\"service\":\"llm\",\"hosts\":[\"trn-1\",\"trn-2\"],\"workers\":[\"0\"],"
					    "\"source\":\"kineto\",\"duration_ns\":500000000,\"iterations\":3,\"reason\":\"it hangs\"}");
	ck_assert_str_eq(fake_http.methods[3], "GET");
	ck_assert_str_eq(fake_http.urls[3], "http://127.0.0.1:8940/api/v1/captures/7d20");
	ck_assert_str_eq(command_out.p, "host   service  source  worker  state  end    window\n"
					"trn-1  llm      kineto  0       taken  taken  -\n"
					"\ncapture 7d20: done, 1 of 1 taken\n");
}
END_TEST

START_TEST(a_window_that_was_not_taken_fails_a_script)
{
	fake_http.bodies[0] = POLICY("false", "");
	fake_http.bodies[1] = half;
	ck_assert_int_eq(command_run(&cmd_capture, "7d20"), 1);
	ck_assert_str_eq(fake_http.urls[1], "http://127.0.0.1:8940/api/v1/captures/7d20");
	command_says("trn-1  llm      kineto  1       failed  refused  -\n");
	command_says("capture 7d20: done, 1 of 2 taken\n");
	fake_http.asked = 0;
	fake_http.bodies[1] = CAPTURE("expired", "");
	ck_assert_int_eq(command_run(&cmd_capture, "7d20 --format json"), 1);
	ck_assert_str_eq(command_out.p, CAPTURE("expired", "") "\n");
}
END_TEST

START_TEST(without_waiting_it_is_asked_for_and_that_is_all)
{
	fake_http.bodies[0] = waiting;
	ck_assert_int_eq(command_run(&cmd_capture, "--host trn-1 --no-wait"), 0);
	ck_assert_uint_eq(fake_http.asked, 1);
	command_says("capture 7d20: waiting, 0 of 1 taken\n");
}
END_TEST

START_TEST(waiting_ends_at_the_timeout_and_says_how_to_go_on)
{
	fake_http.bodies[0] = POLICY("true", "incident 12");
	fake_http.bodies[1] = fake_http.bodies[2] = waiting;
	ck_assert_int_eq(command_run(&cmd_capture, "7d20 --timeout 1s"), 2);
	command_says("capture is paused (incident 12); no window begins before \"trainspotter capture --resume\"\n");
	command_says("has not ended yet; it goes on, and \"trainspotter capture 7d20\" waits for it");
}
END_TEST

START_TEST(a_refusal_is_shown)
{
	fake_http.status = 404;
	fake_http.bodies[0] = "{\"detail\":\"no agent that polls tells of such a worker\"}";
	ck_assert_int_eq(command_run(&cmd_capture, "--service llmm"), 2);
	ck_assert_str_eq(command_out.p, "trainspotter capture: no agent that polls tells of such a worker (status 404)\n");
}
END_TEST

START_TEST(capture_is_paused_and_resumed)
{
	fake_http.bodies[0] = POLICY("true", "incident 12");
	fake_http.bodies[1] = POLICY("false", "");
	ck_assert_int_eq(command_run(&cmd_capture, "--pause --reason incident~12"), 0);
	ck_assert_str_eq(fake_http.sent[0], "{\"paused\":true,\"reason\":\"incident 12\"}");
	ck_assert_str_eq(command_out.p, "capture is PAUSED: no agent begins a window, since 2026-11-29 13:00:00 UTC: incident 12\n");
	ck_assert_int_eq(command_run(&cmd_capture, "--resume"), 0);
	ck_assert_str_eq(fake_http.urls[1], "http://127.0.0.1:8940/api/v1/capture/policy");
	ck_assert_str_eq(fake_http.sent[1], "{\"paused\":false}");
	ck_assert_str_eq(command_out.p, "capture is on, since 2026-11-29 13:00:00 UTC\n");
}
END_TEST

START_TEST(the_status_tells_of_the_policy_and_the_newest_captures)
{
	fake_http.bodies[0] = "{\"paused\":false,\"reason\":\"\",\"changed_ns\":null}";
	fake_http.bodies[1] = "{\"items\":[" CAPTURE("done", TARGET("0", "taken", "null")) "],\"next\":null}";
	ck_assert_int_eq(command_run(&cmd_capture, "--status"), 0);
	ck_assert_str_eq(fake_http.urls[1], "http://127.0.0.1:8940/api/v1/captures?limit=10");
	ck_assert_str_eq(command_out.p, "capture is on\n\n"
					"asked (UTC)          state  service  taken  of  reason  id\n"
					"2026-11-29 13:00:00  done   llm          1   1  p99     7d20\n");
}
END_TEST

START_TEST(what_makes_no_sense_together_asks_nobody)
{
	ck_assert_int_eq(command_run(&cmd_capture, ""), 2);
	command_says("capture what?");
	ck_assert_int_eq(command_run(&cmd_capture, "--pause --resume"), 2);
	command_says("one thing at a time");
	ck_assert_int_eq(command_run(&cmd_capture, "7d20 --wait --no-wait"), 2);
	ck_assert_int_eq(command_run(&cmd_capture, "7d20 --service llm"), 2);
	ck_assert_int_eq(command_run(&cmd_capture, "7d20 7d21"), 2);
	command_says("\"7d21\" is too much");
	ck_assert_int_eq(command_run(&cmd_capture, "--service llm --duration 2m"), 2);
	ck_assert_uint_eq(fake_http.asked, 0);
}
END_TEST

#define WORKER(name, rest)                                                                                          \
	"{\"source\":\"kineto\",\"service\":\"llm\",\"worker\":\"" name "\",\"last_ns\":null," rest "}"
static const char agents[] =
	"{\"items\":[{\"id\":\"5b1f\",\"host\":\"trn-1\",\"version\":\"0.1.0\",\"polled_ns\":1795957200000000000,\"heard\":true,"
	"\"leases\":1,\"workers\":["
	WORKER("0", "\"state\":\"idle\",\"wants\":true,\"why\":\"due\",\"measured\":true,\"cost_ppm\":300,\"every_nth\":1") ","
	WORKER("1", "\"state\":\"busy\",\"wants\":false,\"why\":\"busy\",\"measured\":true,\"cost_ppm\":500,\"every_nth\":2") ","
	WORKER("2", "\"state\":\"capturing\",\"wants\":false,\"why\":\"busy\",\"measured\":false,\"cost_ppm\":null,\"every_nth\":1")
	"]},{\"id\":\"5b20\",\"host\":\"trn-2\",\"version\":\"0.1.0\",\"polled_ns\":1795957100000000000,\"heard\":false,"
	"\"leases\":0,\"workers\":[]}],\"next\":null}";

START_TEST(agents_are_a_table)
{
	fake_http.bodies[0] = agents;
	ck_assert_int_eq(command_run(&cmd_agents, "--service llm"), 0);
	ck_assert_str_eq(fake_http.urls[0], "http://127.0.0.1:8940/api/v1/agents?service=llm");
	ck_assert_str_eq(command_out.p,
		"host   version  last poll (UTC)      workers  state                        leases  overhead  why not\n"
		"trn-1  0.1.0    2026-11-29 13:00:00        3  1 idle, 1 busy, 1 capturing       1    0.04 %  1 lease, 1 busy\n"
		"trn-2  0.1.0    2026-11-29 12:58:20        0  silent                            0         -  -\n");
}
END_TEST

START_TEST(workers_are_a_table)
{
	fake_http.bodies[0] = agents;
	ck_assert_int_eq(command_run(&cmd_agents, "--workers"), 0);
	ck_assert_str_eq(command_out.p,
		"host   source  service  worker  state      last window (UTC)    overhead  every  why not\n"
		"trn-1  kineto  llm      0       idle       -                      0.03 %      1  lease\n"
		"trn-1  kineto  llm      1       busy       -                      0.05 %      2  busy\n"
		"trn-1  kineto  llm      2       capturing  -                  unmeasured      1  -\n");
}
END_TEST

START_TEST(overhead_is_percent_or_says_why_not)
{
	char text[CLOCK_TEXT];

	ck_assert(str_eq(overhead_text(0, 0, 0, text), STR("-")));
	ck_assert(str_eq(overhead_text(4, 0, 0, text), STR("unmeasured")));
	ck_assert(str_eq(overhead_text(4, 1, 0, text), STR("0 %")));
	ck_assert(str_eq(overhead_text(4, 4, 12345, text), STR("1.23 %")));
}
END_TEST

Suite *suite_capture(void)
{
	Suite *s = suite_create("cli/capture");
	TCase *tc = tcase_create("capture");

	tcase_add_checked_fixture(tc, command_up, command_down);
	tcase_add_test(tc, a_capture_is_asked_for_waited_for_and_shown);
	tcase_add_test(tc, a_window_that_was_not_taken_fails_a_script);
	tcase_add_test(tc, without_waiting_it_is_asked_for_and_that_is_all);
	tcase_add_test(tc, waiting_ends_at_the_timeout_and_says_how_to_go_on);
	tcase_add_test(tc, a_refusal_is_shown);
	tcase_add_test(tc, capture_is_paused_and_resumed);
	tcase_add_test(tc, the_status_tells_of_the_policy_and_the_newest_captures);
	tcase_add_test(tc, what_makes_no_sense_together_asks_nobody);
	tcase_add_test(tc, agents_are_a_table);
	tcase_add_test(tc, workers_are_a_table);
	tcase_add_test(tc, overhead_is_percent_or_says_why_not);
	suite_add_tcase(s, tc);
	return s;
}
