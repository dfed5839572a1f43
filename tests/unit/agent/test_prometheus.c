#include "agent/prometheus.h"

#include <check.h>
#include <stdio.h>

#include "agent/vllm_metrics.h"
#include "base/buf.h"

Suite *suite_prometheus(void);

/* "name{labels}=value" of each sample, a space between them, and the bad lines behind. */
static void assert_read(const char *text, const char *want)
{
	struct str rest = str_of(text);
	struct prometheus_sample s;
	uint64_t bad = 0;
	struct buf b;

	buf_init(&b, 4096);
	while (prometheus_next(&rest, &s, &bad))
		buf_fmt(&b, "%.*s{%.*s}=%g ", STR_ARG(s.name), STR_ARG(s.labels), s.value);
	buf_fmt(&b, "bad=%d", (int)bad);
	ck_assert_str_eq(b.p, want);
	buf_fini(&b);
}

START_TEST(samples_are_read_with_and_without_labels_and_times)
{
	assert_read("a 5\nb{x=\"1\",y=\"2\"} 1.5e3\nc 7 1795960800000\n\td\t-1\t5\n",
		"a{}=5 b{x=\"1\",y=\"2\"}=1500 c{}=7 d{}=-1 bad=0");
	assert_read("vllm:x_total{le=\"+Inf\"} 3 # {trace_id=\"a\"} 0.5\r\n", "vllm:x_total{le=\"+Inf\"}=3 bad=0");
}
END_TEST

START_TEST(comments_and_values_that_are_not_finite_are_passed_over)
{
	assert_read("# HELP a b\n# TYPE a counter\n\na NaN\nb +Inf\nc -inf\nd 1\n# EOF\n", "d{}=1 bad=0");
}
END_TEST

START_TEST(braces_and_quotes_in_a_label_belong_to_it)
{
	assert_read("a{x=\"}\"} 1\na{x=\"\\\"}\",y=\"\\\\\"} 2\n", "a{x=\"}\"}=1 a{x=\"\\\"}\",y=\"\\\\\"}=2 bad=0");
}
END_TEST

START_TEST(a_line_that_is_no_sample_costs_that_line)
{
	assert_read("{} 5\na\nb x\nc{x=\"1\" 5\n<html>\nd 1\n", "d{}=1 bad=5");
}
END_TEST

/* "12" of "123" is another number. */
START_TEST(a_line_that_was_cut_short_is_no_sample)
{
	assert_read("a 1\nb 12", "a{}=1 bad=1");
	assert_read("a 1\n# HEL", "a{}=1 bad=0");
}
END_TEST

START_TEST(counters_of_vllm_are_summed_over_engines_and_reasons)
{
	struct vllm_metrics m;

	vllm_metrics_read(STR("vllm:iteration_tokens_total_count{engine=\"0\"} 10\nvllm:iteration_tokens_total_count{engine=\"1\"} 5\n"
			      "vllm:iteration_tokens_total_sum{engine=\"0\"} 999\n"
			      "vllm:request_success_total{finished_reason=\"stop\"} 3\nvllm:request_success_total{finished_reason=\"length\"} 4\n"
			      "oops\n"),
		&m);
	ck_assert(m.known[VLLM_ITERATIONS] && m.known[VLLM_REQUESTS] && !m.known[VLLM_TOKENS]);
	ck_assert(m.value[VLLM_ITERATIONS] == 15);
	ck_assert(m.value[VLLM_REQUESTS] == 7);
	ck_assert_uint_eq(m.bad_lines, 1);
	ck_assert_str_eq(vllm_counter_word(VLLM_TOKENS), "tokens");
}
END_TEST

Suite *suite_prometheus(void)
{
	Suite *s = suite_create("agent/prometheus");
	TCase *t = tcase_create("all");

	tcase_add_test(t, samples_are_read_with_and_without_labels_and_times);
	tcase_add_test(t, comments_and_values_that_are_not_finite_are_passed_over);
	tcase_add_test(t, braces_and_quotes_in_a_label_belong_to_it);
	tcase_add_test(t, a_line_that_is_no_sample_costs_that_line);
	tcase_add_test(t, a_line_that_was_cut_short_is_no_sample);
	tcase_add_test(t, counters_of_vllm_are_summed_over_engines_and_reasons);
	suite_add_tcase(s, t);
	return s;
}
