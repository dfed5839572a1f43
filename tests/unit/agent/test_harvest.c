#include "agent/harvest.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/agent/folder.h"
#include "tests/unit/agent/session.h"

Suite *suite_harvest(void);

#define TRACE "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1}]}"

static struct decode_settings decode;
static struct harvest_settings set;
static struct harvest *h;
static struct source_trace trace;

static void setup(void)
{
	folder_make();
	decoder_make();
	ck_assert_int_eq(file_make_dirs(folder_path("out"), 0700, NULL), OK);
	ck_assert_int_eq(file_make_dirs(folder_path("work"), 0700, NULL), OK);
	decode = (struct decode_settings){ .program = "", .want_system = true, .want_summary = true, .input_max_bytes = 1 << 20,
		.output_max_bytes = 20 << 20, .limit_ns = 30 * NS_PER_S };
	set = (struct harvest_settings){ .decode = &decode, .service = "llm", .deploy = "v1", .worker = "0" };
	h = NULL;
}

static void teardown(void)
{
	harvest_free(h);
	folder_remove();
}

static void make(void)
{
	struct err e = { 0 };

	harvest_free(h);
	h = NULL;
	if (harvest_make(&h, &set, folder_path("out"), folder_path("work"), NULL, &e) != OK)
		ck_abort_msg("%s", e.text);
}

static void expect_next(const char *path)
{
	ck_assert(harvest_next(h, 0, &trace));
	ck_assert_str_eq(trace.file.path, folder_path(path));
}

static void back(enum source_end end)
{
	harvest_back(h, trace.key, &(struct source_result){ .end = end, .why = "no JSON", .delay_ns = 100 }, 0);
}

static const char *label(const char *key)
{
	static char text[300];

	for (size_t i = 0; i < trace.n_labels; i++)
		if (str_eq(trace.labels[i].key, str_of(key))) {
			snprintf(text, sizeof(text), "%.*s", STR_ARG(trace.labels[i].value));
			return text;
		}
	return "";
}

START_TEST(traces_are_taken_in_order_and_what_is_none_is_passed_over)
{
	ck_assert_int_eq(file_make_dirs(folder_path("out/sub"), 0700, NULL), OK);
	folder_write("out/sub/b.json", STR(TRACE));
	folder_write("out/a.json", STR(TRACE));
	folder_write("out/a.json.meta.json", STR("{\"service\":\"other\"}"));
	folder_write("out/settings.json", STR("{\"theme\":\"dark\"}"));
	folder_write("out/notes.txt", STR("hello"));
	folder_write("out/.hidden.json", STR(TRACE));
	folder_write("out/c.json.tmp", STR(TRACE));
	ck_assert_int_eq(symlink(folder_path("out/a.json"), folder_path("out/link.json")), 0);
	make();
	ck_assert_uint_eq(harvest_sum(h)->traces, 2);
	expect_next("out/a.json");
	ck_assert(str_eq(trace.service, STR("llm")));
	ck_assert(str_eq(trace.deploy, STR("v1")));
	ck_assert(str_eq(trace.worker, STR("0")));
	back(SOURCE_KEPT);
	ck_assert(!folder_has("out/a.json"));
	ck_assert(!folder_has("out/a.json.meta.json"));
	ck_assert(!harvest_over(h));
	expect_next("out/sub/b.json");
	ck_assert(!harvest_next(h, 0, &(struct source_trace){ .key = 0 }));
	back(SOURCE_BAD);
	ck_assert(folder_has("out/sub/b.json")); /* its folder's owner decides */
	ck_assert(harvest_over(h));
	ck_assert_uint_eq(harvest_backs(h).kept, 1);
	ck_assert_uint_eq(harvest_backs(h).bad, 1);
	ck_assert_str_eq(harvest_backs(h).bad_why, "no JSON");
}
END_TEST

START_TEST(a_session_gives_a_window_each_for_system_and_device)
{
	set.labels = &(struct label){ STR("command"), STR("snap") };
	set.n_labels = 1;
	session_make("out/i-9_pid_4711/1790", HOLDS_INFO | HOLDS_SYSTEM | HOLDS_DEVICE | HOLDS_TRACE);
	make();
	ck_assert_uint_eq(harvest_sum(h)->sessions, 1);
	ck_assert_uint_eq(harvest_sum(h)->decode_ends[DECODE_TAKEN], 1);
	expect_next("work/decoded-0/summary-1.json");
	ck_assert(str_eq(trace.service, STR("llm/device")));
	ck_assert_str_eq(label("profile"), "summary");
	ck_assert_str_eq(label("pid"), "4711");
	ck_assert_str_eq(label("session"), "1790");
	ck_assert_str_eq(label("command"), "snap");
	ck_assert_uint_eq(trace.n_versions, 1);
	ck_assert(str_eq(trace.versions[0].key, STR("profiler")));
	ck_assert(str_has_prefix(trace.versions[0].value, STR("neuron-explorer 2.31")));
	back(SOURCE_KEPT);
	expect_next("work/decoded-0/system-0.json");
	ck_assert(str_eq(trace.service, STR("llm")));
	ck_assert_str_eq(label("profile"), "system");
	back(SOURCE_KEPT);
	ck_assert(harvest_over(h)); /* trace.json has the same ops, so it is left */
}
END_TEST

START_TEST(the_frameworks_trace_is_taken_where_the_system_profile_cannot_be)
{
	decoder_behaves("fail");
	session_make("out", HOLDS_INFO | HOLDS_SYSTEM | HOLDS_TRACE);
	make();
	ck_assert_uint_eq(harvest_sum(h)->decode_ends[DECODE_FAILED], 1);
	ck_assert_ptr_nonnull(strstr(harvest_sum(h)->why, "ended with status 1"));
	expect_next("out/trace.json");
	ck_assert_str_eq(label("profile"), "framework");
	back(SOURCE_EMPTY);
	ck_assert(harvest_over(h));
	set.decode = NULL;
	session_make("out", HOLDS_INFO | HOLDS_SYSTEM | HOLDS_TRACE);
	make();
	expect_next("out/trace.json");
}
END_TEST

START_TEST(what_is_left_after_a_kill_is_found_again_and_nothing_decoded_twice)
{
	session_make("out/i-9_pid_1", HOLDS_INFO | HOLDS_SYSTEM | HOLDS_DEVICE | HOLDS_TRACE);
	folder_write("out/a.json", STR(TRACE));
	make();
	ck_assert_uint_eq(harvest_sum(h)->traces, 3);
	expect_next("work/decoded-0/summary-1.json");
	back(SOURCE_KEPT);
	make(); /* as the next agent does */
	ck_assert_uint_eq(decoder_views(), 2);
	ck_assert_uint_eq(harvest_sum(h)->traces, 2);
	expect_next("work/decoded-0/system-0.json");
	ck_assert_uint_eq(trace.n_versions, 1);
	back(SOURCE_KEPT);
	make();
	ck_assert_uint_eq(harvest_sum(h)->traces, 1); /* not trace.json: there was a system profile */
	expect_next("out/a.json");
}
END_TEST

START_TEST(a_trace_comes_again_after_its_delay)
{
	folder_write("out/a.json", STR(TRACE));
	make();
	ck_assert_int_eq(harvest_wake_ns(h), 0);
	expect_next("out/a.json");
	ck_assert_int_eq(harvest_wake_ns(h), INT64_MAX);
	back(SOURCE_AGAIN);
	ck_assert_int_eq(harvest_wake_ns(h), 100);
	ck_assert(!harvest_next(h, 99, &trace));
	ck_assert(harvest_next(h, 100, &trace));
	ck_assert_uint_eq(trace.file.tries, 1);
	back(SOURCE_KEPT);
	ck_assert(harvest_over(h));
}
END_TEST

START_TEST(a_trace_that_somebody_else_removed_is_over)
{
	folder_write("out/a.json", STR(TRACE));
	make();
	unlink(folder_path("out/a.json"));
	ck_assert(!harvest_next(h, 0, &trace));
	ck_assert(harvest_over(h));
	ck_assert_uint_eq(harvest_backs(h).bad, 1);
}
END_TEST

START_TEST(an_empty_folder_has_nothing_and_says_why)
{
	make();
	ck_assert(harvest_over(h));
	ck_assert_uint_eq(harvest_sum(h)->traces, 0);
	folder_write("out/result.json", STR("{\"theme\":\"dark\"}"));
	make();
	ck_assert_ptr_nonnull(strstr(harvest_sum(h)->why, "result.json: JSON, but neither a trace nor a profile"));
}
END_TEST

Suite *suite_harvest(void)
{
	Suite *s = suite_create("agent/harvest");
	TCase *tc = tcase_create("harvest");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, traces_are_taken_in_order_and_what_is_none_is_passed_over);
	tcase_add_test(tc, a_session_gives_a_window_each_for_system_and_device);
	tcase_add_test(tc, the_frameworks_trace_is_taken_where_the_system_profile_cannot_be);
	tcase_add_test(tc, what_is_left_after_a_kill_is_found_again_and_nothing_decoded_twice);
	tcase_add_test(tc, a_trace_comes_again_after_its_delay);
	tcase_add_test(tc, a_trace_that_somebody_else_removed_is_over);
	tcase_add_test(tc, an_empty_folder_has_nothing_and_says_why);
	suite_add_tcase(s, tc);
	return s;
}
