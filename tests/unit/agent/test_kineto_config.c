#include "agent/kineto_config.h"

#include <check.h>

#include "base/clock.h"

Suite *suite_kineto_config(void);

static struct kineto_window base(void)
{
	return (struct kineto_window){ .dir = STR("/tmp"), .stem = STR("trainspotter_1"), .id = 7,
		.duration_ns = 200 * NS_PER_MS };
}

static int write_text(const struct kineto_window *w, struct buf *b, struct err *e)
{
	buf_reset(b);
	err_clear(e);
	return kineto_config_write(w, b, e);
}

START_TEST(a_window_by_time_names_its_activities_and_does_not_warm_up)
{
	struct kineto_window w = base();
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, KINETO_TEXT_MAX);
	ck_assert_msg(write_text(&w, &b, &e) == OK, "%s", e.text);
	ck_assert_str_eq(b.p, "ACTIVITIES_LOG_FILE=/tmp/trainspotter_1.json\n"
		"ACTIVITY_TYPES=cpu_op,user_annotation,external_correlation,kernel,gpu_memcpy,gpu_memset,"
		"privateuse1_runtime,privateuse1_driver\n"
		"ACTIVITIES_WARMUP_PERIOD_SECS=0\nACTIVITIES_DURATION_MSECS=200\nREQUEST_TRACE_ID=7\n");
	buf_reset(&b);
	kineto_config_path(&w, 24505, &b);
	ck_assert_str_eq(b.p, "/tmp/trainspotter_1_24505.json");
	buf_fini(&b);
}
END_TEST

START_TEST(a_window_by_iterations_starts_at_a_multiple)
{
	struct kineto_window w = base();
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, KINETO_TEXT_MAX);
	w.iterations = 5;
	w.roundup = 100;
	w.activities = STR("cpu_op");
	w.custom = STR("max_events_per_nc:1000;capture_enabled_for_nc:0,1");
	ck_assert_int_eq(write_text(&w, &b, &e), OK);
	ck_assert_str_eq(b.p, "ACTIVITIES_LOG_FILE=/tmp/trainspotter_1.json\nACTIVITY_TYPES=cpu_op\n"
		"PROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP=100\nACTIVITIES_ITERATIONS=5\n"
		"CUSTOM_CONFIG=max_events_per_nc:1000;capture_enabled_for_nc:0,1\nREQUEST_TRACE_ID=7\n");
	buf_fini(&b);
}
END_TEST

START_TEST(every_line_has_one_equals_sign_whatever_is_asked)
{
	static const char *const bad[] = { "a=b", "a\nTHIS IS BAD", "a b", "a#b", "\x7f", "\xc3\xa4" };
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, KINETO_TEXT_MAX);
	for (size_t i = 0; i < COUNT(bad); i++)
		for (int field = 0; field < 4; field++) {
			struct kineto_window w = base();
			struct str *const fields[] = { &w.dir, &w.stem, &w.activities, &w.custom };

			*fields[field] = str_of(bad[i]);
			ck_assert_int_eq(write_text(&w, &b, &e), E_USAGE);
			ck_assert_str_ne(e.text, "");
			ck_assert_uint_eq(b.n, 0);
		}
	buf_fini(&b);
}
END_TEST

START_TEST(a_folder_must_be_one_that_libkineto_writes_to)
{
	ck_assert(kineto_config_dir_ok(STR("/tmp")));
	ck_assert(kineto_config_dir_ok(STR("/data/traces")));
	ck_assert(!kineto_config_dir_ok(STR("")));
	ck_assert(!kineto_config_dir_ok(STR("tmp")));
	ck_assert(!kineto_config_dir_ok(STR("/tmp/../etc")));
	ck_assert(!kineto_config_dir_ok(STR("/my traces")));
}
END_TEST

START_TEST(a_window_of_no_length_is_refused)
{
	struct kineto_window w = base();
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, KINETO_TEXT_MAX);
	w.duration_ns = NS_PER_US;
	ck_assert_int_eq(write_text(&w, &b, &e), E_USAGE);
	w = base();
	w.iterations = 3;
	ck_assert_int_eq(write_text(&w, &b, &e), E_USAGE);
	buf_fini(&b);
}
END_TEST

Suite *suite_kineto_config(void)
{
	Suite *s = suite_create("agent/kineto_config");
	TCase *tc = tcase_create("kineto_config");

	tcase_add_test(tc, a_window_by_time_names_its_activities_and_does_not_warm_up);
	tcase_add_test(tc, a_window_by_iterations_starts_at_a_multiple);
	tcase_add_test(tc, every_line_has_one_equals_sign_whatever_is_asked);
	tcase_add_test(tc, a_folder_must_be_one_that_libkineto_writes_to);
	tcase_add_test(tc, a_window_of_no_length_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
