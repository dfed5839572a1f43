#include "agent/job.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "tests/unit/agent/folder.h"
#include "wire/wire.h"

Suite *suite_job(void);

static struct job *new_job(const char *name, const char *text)
{
	struct job *j = job_new();

	folder_write(name, str_of(text));
	snprintf(j->file.path, sizeof(j->file.path), "%s", folder_path(name));
	j->origin = (struct window_origin){ .agent_id = STR("agent"), .source = STR("watch"), .service = STR("llm"),
		.deploy = STR("v1"), .host = STR("h1"), .worker = STR("0") };
	j->agent_version = STR("1");
	j->limits = TRACE_LIMITS_DEFAULT;
	j->cpu_percent = 100;
	return j;
}

START_TEST(a_trace_becomes_a_batch_of_one_window)
{
	struct job *j = new_job("a.json", "a trace");
	struct wire_batch b;
	struct arena a;

	job_do(j);
	ck_assert_msg(j->rc == OK, "%s", j->err.text);
	arena_init(&a, 1 << 20);
	ck_assert_int_eq(wire_decode(&a, j->windows.v[0].batch, WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL), OK);
	ck_assert_uint_eq(b.n_windows, 1);
	ck_assert(str_eq(b.windows[0].service, STR("llm")));
	ck_assert(str_eq(b.agent_id, STR("agent")));
	wire_batch_fini(&b);
	arena_fini(&a);
	job_free(j);
}
END_TEST

START_TEST(what_windows_cost_goes_into_the_window_and_the_trace_may_stay)
{
	struct job *j = new_job("a.json", "a trace");
	const struct cost_view cost = { .measured = true, .cost_ppm = 300, .slowdown = 0.18, .every_nth = 1 };
	struct wire_batch b;
	struct arena a;
	char kept[100];

	j->n_gauges = meter_gauges(&cost, j->gauges);
	j->raw_dir = folder_path("raw");
	j->raw_max_bytes = 100;
	job_do(j);
	ck_assert_msg(j->rc == OK, "%s", j->err.text);
	arena_init(&a, 1 << 20);
	ck_assert_int_eq(wire_decode(&a, j->windows.v[0].batch, WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL), OK);
	ck_assert_double_eq_tol(window_gauge(&b.windows[0], STR("capture_overhead"))->value, 0.0003, 1e-9);
	ck_assert_double_eq_tol(window_gauge(&b.windows[0], STR("capture_slowdown"))->value, 0.18, 1e-9);
	ck_assert_str_eq(j->raw_err.text, "");
	snprintf(kept, sizeof(kept), "raw/%s-a.json", j->windows.v[0].text);
	ck_assert(folder_has(kept));
	wire_batch_fini(&b);
	arena_fini(&a);
	j->raw_max_bytes = 2;
	job_do(j);
	ck_assert_int_eq(j->rc, OK); /* the window counts, whatever becomes of the trace */
	ck_assert_str_ne(j->raw_err.text, "");
	job_free(j);
}
END_TEST

START_TEST(labels_and_versions_of_the_source_go_behind_the_windows_own)
{
	const struct label labels[] = { { STR("pid"), STR("7") }, { STR("pid"), STR("8") } };
	const struct label versions[] = { { STR("profiler"), STR("neuron-explorer 2.31") } };
	struct job *j = new_job("a.json", "a trace");
	struct wire_batch b;
	struct arena a;

	j->labels = labels;
	j->n_labels = COUNT(labels);
	j->versions = versions;
	j->n_versions = COUNT(versions);
	job_do(j);
	ck_assert_msg(j->rc == OK, "%s", j->err.text);
	arena_init(&a, 1 << 20);
	ck_assert_int_eq(wire_decode(&a, j->windows.v[0].batch, WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL), OK);
	ck_assert_uint_eq(b.windows[0].n_labels, 1); /* the first of a key counts */
	ck_assert(str_eq(b.windows[0].labels[0].value, STR("7")));
	ck_assert_uint_eq(b.windows[0].n_versions, 1);
	ck_assert(str_eq(b.windows[0].versions[0].key, STR("profiler")));
	ck_assert(str_eq(b.windows[0].versions[0].value, STR("neuron-explorer 2.31")));
	wire_batch_fini(&b);
	arena_fini(&a);
	job_free(j);
}
END_TEST

START_TEST(a_file_that_is_no_trace_says_why)
{
	struct job *j = new_job("a.json", "bad");

	job_do(j);
	ck_assert_int_eq(j->rc, E_FORMAT);
	ck_assert_str_eq(j->err.text, "no trace");
	ck_assert_uint_eq(j->windows.n, 0);
	job_free(j);
}
END_TEST

static void expect_trace(const struct job *j, size_t i, const char *tail)
{
	ck_assert_msg(str_has_suffix(j->windows.v[i].trace, str_of(tail)), "%.*s", STR_ARG(j->windows.v[i].trace));
	ck_assert_uint_gt(j->windows.v[i].batch.n, 0);
	ck_assert(str_eq(j->windows.v[i].service, STR("llm")));
}

START_TEST(an_archive_becomes_a_batch_for_each_trace_and_names_what_is_none)
{
	struct job *j = new_job("a.tar", "tar one|bad|part two|empty");
	struct wire_batch b;
	struct arena a;

	job_do(j);
	ck_assert_msg(j->rc == OK, "%s", j->err.text);
	ck_assert_uint_eq(j->windows.n, 2);
	expect_trace(j, 0, "/a.tar:0");
	expect_trace(j, 1, "/a.tar:2");
	ck_assert_uint_eq(j->windows.v[0].flags, 0);
	ck_assert_uint_eq(j->windows.v[1].flags, WINDOW_TRUNCATED);
	ck_assert_uint_eq(j->others, 2);
	ck_assert_str_eq(buf_view(&j->other_names).p, "1, 3");
	ck_assert_str_eq(j->other_why.text, "no trace");
	ck_assert_str_eq(j->damage.text, "");
	arena_init(&a, 1 << 20);
	ck_assert_int_eq(wire_decode(&a, j->windows.v[1].batch, WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL), OK);
	ck_assert_uint_eq(b.n_windows, 1);
	wire_batch_fini(&b);
	arena_fini(&a);
	job_do(j); /* again it is the same */
	ck_assert_uint_eq(j->windows.n, 2);
	ck_assert_uint_eq(j->others, 2);
	job_free(j);
}
END_TEST

START_TEST(of_a_damaged_archive_the_windows_count_and_the_damage_is_told)
{
	struct job *j = new_job("a.tar", "cut one|two");

	job_do(j);
	ck_assert_int_eq(j->rc, OK);
	ck_assert_uint_eq(j->windows.n, 2);
	ck_assert_str_eq(j->err.text, "");
	ck_assert_ptr_nonnull(strstr(j->damage.text, "a.tar: the archive is damaged"));
	job_free(j);
}
END_TEST

static const struct {
	const char *text, *why;
	int rc;
} whole[] = {
	{ "tar bad|empty", "none of the 2 files in the archive is a trace; of the first one: no trace", E_FORMAT },
	{ "tar one|big|two", "too many events", E_LIMIT },
	{ "tar one|later|two", "not now", E_SYS },
	{ "cut bad", "the archive is damaged", E_FORMAT },
};

START_TEST(an_archive_that_cannot_be_taken_whole_leaves_no_window_and_says_why)
{
	struct job *j = new_job("a.tar", whole[_i].text);

	job_do(j);
	ck_assert_int_eq(j->rc, whole[_i].rc);
	ck_assert_uint_eq(j->windows.n, 0);
	ck_assert_msg(strstr(j->err.text, whole[_i].why) != NULL, "%s", j->err.text);
	job_free(j);
}
END_TEST

START_TEST(an_archive_of_more_traces_than_the_ceiling_is_refused)
{
	struct job *j;
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_text(&b, "tar 0");
	for (int i = 1; i < JOB_WINDOWS_MAX; i++)
		buf_fmt(&b, "|%d", i);
	j = new_job("a.tar", b.p);
	job_do(j);
	ck_assert_msg(j->rc == OK, "%s", j->err.text);
	ck_assert_uint_eq(j->windows.n, JOB_WINDOWS_MAX);
	buf_text(&b, "|one more");
	folder_write("a.tar", buf_view(&b));
	job_do(j);
	ck_assert_int_eq(j->rc, E_LIMIT);
	ck_assert_ptr_nonnull(strstr(j->err.text, "a.tar: more than 4096 traces"));
	ck_assert_uint_eq(j->windows.n, 0);
	job_free(j);
	buf_fini(&b);
}
END_TEST

START_TEST(of_many_files_that_are_no_traces_the_first_are_named)
{
	struct job *j;
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_text(&b, "tar one");
	for (int i = 0; i < 1000; i++)
		buf_text(&b, "|bad");
	j = new_job("a.tar", b.p);
	job_do(j);
	ck_assert_int_eq(j->rc, OK);
	ck_assert_uint_eq(j->others, 1000);
	ck_assert_int_eq(j->other_names.rc, E_LIMIT);
	ck_assert(str_has_prefix(buf_view(&j->other_names), STR("1, 2, 3, ")));
	job_free(j);
	buf_fini(&b);
}
END_TEST

START_TEST(the_thread_pays_between_the_traces_of_an_archive_and_ends_there_when_it_is_told_to)
{
	struct job_thread *t = NULL;
	struct job *j;
	struct buf b;
	int64_t begun = clock_mono_ns();

	buf_init(&b, 1 << 20);
	buf_text(&b, "tar 0");
	for (int i = 1; i < 4000; i++)
		buf_fmt(&b, "|%d", i);
	j = new_job("a.tar", b.p);
	j->cpu_percent = 1; /* without a pause it would be through in no time, and with them it takes long */
	j->cpu_burst_ns = 0;
	ck_assert_int_eq(job_thread_start(&t, NULL), OK);
	job_give(t, &j);
	clock_sleep_ns(300 * NS_PER_MS);
	ck_assert_ptr_null(job_fetch(t));
	job_thread_stop(t);
	ck_assert_int_lt(clock_mono_ns() - begun, 3 * NS_PER_S);
	buf_fini(&b);
}
END_TEST

START_TEST(the_thread_does_one_job_after_the_other)
{
	struct job_thread *t = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(job_thread_start(&t, &e), OK);
	for (int i = 0; i < 5; i++) {
		struct job *j = new_job("a.json", "a trace"), *got;
		struct pollfd p = { .fd = job_fd(t), .events = POLLIN };

		job_give(t, &j);
		ck_assert_ptr_null(j);
		ck_assert_int_eq(poll(&p, 1, 10000), 1);
		got = job_fetch(t);
		ck_assert_ptr_nonnull(got);
		ck_assert_int_eq(got->rc, OK);
		job_free(got);
	}
	job_thread_stop(t);
}
END_TEST

START_TEST(a_thread_that_is_stopped_frees_what_nobody_fetched)
{
	struct job_thread *t = NULL;
	struct job *j = new_job("a.json", "a trace");

	ck_assert_int_eq(job_thread_start(&t, NULL), OK);
	job_give(t, &j);
	job_thread_stop(t);
}
END_TEST

START_TEST(a_burst_is_free_and_the_average_is_kept)
{
	int64_t credit = 10 * NS_PER_S, paused = 0;

	ck_assert_int_eq(job_budget(&credit, 5 * NS_PER_S, 5 * NS_PER_S, 10, 10 * NS_PER_S), 0);
	for (int i = 0; i < 100; i++) {
		int64_t pause = job_budget(&credit, NS_PER_S + paused, NS_PER_S, 10, 10 * NS_PER_S);

		paused = pause;
		if (i > 20) {
			ck_assert_int_ge(pause, 8 * NS_PER_S);
			ck_assert_int_le(pause, 10 * NS_PER_S);
		}
	}
	ck_assert_int_eq(job_budget(&credit, 0, 1000 * NS_PER_S, 100, 0), 0); /* 100: no limit */
}
END_TEST

Suite *suite_job(void)
{
	Suite *s = suite_create("agent/job");
	TCase *tc = tcase_create("job");

	tcase_add_checked_fixture(tc, folder_make, folder_remove);
	tcase_add_test(tc, a_trace_becomes_a_batch_of_one_window);
	tcase_add_test(tc, what_windows_cost_goes_into_the_window_and_the_trace_may_stay);
	tcase_add_test(tc, labels_and_versions_of_the_source_go_behind_the_windows_own);
	tcase_add_test(tc, a_file_that_is_no_trace_says_why);
	tcase_add_test(tc, an_archive_becomes_a_batch_for_each_trace_and_names_what_is_none);
	tcase_add_test(tc, of_a_damaged_archive_the_windows_count_and_the_damage_is_told);
	tcase_add_loop_test(tc, an_archive_that_cannot_be_taken_whole_leaves_no_window_and_says_why, 0, COUNT(whole));
	tcase_add_test(tc, an_archive_of_more_traces_than_the_ceiling_is_refused);
	tcase_add_test(tc, of_many_files_that_are_no_traces_the_first_are_named);
	tcase_add_test(tc, the_thread_pays_between_the_traces_of_an_archive_and_ends_there_when_it_is_told_to);
	tcase_add_test(tc, the_thread_does_one_job_after_the_other);
	tcase_add_test(tc, a_thread_that_is_stopped_frees_what_nobody_fetched);
	tcase_add_test(tc, a_burst_is_free_and_the_average_is_kept);
	suite_add_tcase(s, tc);
	return s;
}
