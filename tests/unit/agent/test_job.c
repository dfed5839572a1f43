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
	ck_assert_int_eq(wire_decode(&a, buf_view(&j->batch), WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL), OK);
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
	ck_assert_int_eq(wire_decode(&a, buf_view(&j->batch), WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL), OK);
	ck_assert_double_eq_tol(window_gauge(&b.windows[0], STR("capture_overhead"))->value, 0.0003, 1e-9);
	ck_assert_double_eq_tol(window_gauge(&b.windows[0], STR("capture_slowdown"))->value, 0.18, 1e-9);
	ck_assert_str_eq(j->raw_err.text, "");
	snprintf(kept, sizeof(kept), "raw/%s-a.json", j->window_text);
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
	ck_assert_int_eq(wire_decode(&a, buf_view(&j->batch), WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL), OK);
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
	ck_assert_uint_eq(j->batch.n, 0);
	job_free(j);
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
	tcase_add_test(tc, the_thread_does_one_job_after_the_other);
	tcase_add_test(tc, a_thread_that_is_stopped_frees_what_nobody_fetched);
	tcase_add_test(tc, a_burst_is_free_and_the_average_is_kept);
	suite_add_tcase(s, tc);
	return s;
}
