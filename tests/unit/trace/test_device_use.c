#include "trace/device_use.h"

#include "base/mem.h"
#include "tests/unit/trace/help.h"

Suite *suite_device_use(void);

static struct buf b, said;

static void begin(void)
{
	buf_init(&b, 1 << 20);
	buf_init(&said, 1 << 20);
	help_begin(&b);
}

static void over(void)
{
	buf_fini(&b);
	buf_fini(&said);
}

static struct trace *settled(void)
{
	struct trace *t;
	struct buf table;

	help_end(&b);
	t = help_read_more(buf_view(&b), TRACE_COPIES);
	buf_init(&table, 1 << 20);
	help_table(t, &table);
	buf_fini(&table);
	return t;
}

static int use_of(const struct trace *t, struct buf *out, struct err *e)
{
	struct window w = { 0 };
	struct arena a;
	struct draft d;
	int rc;

	arena_init(&a, 1 << 20);
	draft_init(&d, &a);
	rc = device_use(t, &d, e);
	if (rc == OK)
		rc = draft_finish(&d, &w, e);
	for (size_t i = 0; i < w.n_gauges; i++) {
		const struct gauge *g = &w.gauges[i];

		buf_fmt(out, "%.*s", STR_ARG(g->name));
		for (size_t k = 0; k < g->n_labels; k++)
			buf_fmt(out, " %.*s", STR_ARG(g->labels[k].value));
		buf_fmt(out, " %.0f\n", g->value);
	}
	window_fini(&w);
	draft_fini(&d);
	arena_fini(&a);
	return rc;
}

static void expect(const char *want)
{
	struct trace *t = settled();
	struct err e = { 0 };

	ck_assert_int_eq(use_of(t, &said, &e), OK);
	ck_assert_str_eq(buf_view(&said).p, want);
	trace_free(t);
}

START_TEST(a_host_alone_has_none_of_it)
{
	help_event(&b, "cpu_op", "op", 1, 0, 10, NULL);
	help_event(&b, "gpu_user_annotation", "range", 7, 0, 10, NULL);
	expect("");
}
END_TEST

START_TEST(streams_are_busy_by_themselves_and_a_device_idles_where_all_do)
{
	help_event(&b, "cpu_op", "op", 1, 0, 10, "\"External id\":1");
	help_event(&b, "kernel", "a", 7, 10, 10, "\"External id\":1");
	help_event(&b, "kernel", "b", 8, 15, 10, "\"External id\":1"); /* 5 on both streams */
	help_event(&b, "kernel", "a", 7, 16, 2, "\"External id\":1");  /* inside another one */
	help_event(&b, "kernel", "a", 7, 40, 5, NULL);
	expect("device_calls kernel 4\n"
	       "device_idle 1 15000\n"
	       "device_time kernel 27000\n"
	       "orphan_calls 1\n"
	       "orphan_time 5000\n"
	       "stream_busy 1 7 15000\n"
	       "stream_busy 1 8 10000\n");
}
END_TEST

START_TEST(collectives_overlap_with_other_kernels_but_not_with_copies)
{
	help_event(&b, "cpu_op", "op", 1, 0, 10, "\"External id\":1");
	help_event(&b, "kernel", "ncclDevKernel_AllReduce", 9, 10, 20, "\"External id\":1");
	help_event(&b, "kernel", "ncclDevKernel_AllReduce", 9, 60, 10, "\"External id\":1");
	help_event(&b, "kernel", "gemm", 7, 5, 10, "\"External id\":1");
	help_event(&b, "kernel", "gemm", 8, 12, 8, "\"External id\":1"); /* together 10 to 20 */
	help_event(&b, "kernel", "gemm", 7, 25, 40, "\"External id\":1"); /* 25 to 30, 60 to 65 */
	help_event(&b, "gpu_memset", "Memset", 7, 66, 2, "\"External id\":1");
	expect("collective_busy 1 30000\n"
	       "collective_overlap 1 20000\n"
	       "device_calls collective 2\n"
	       "device_calls kernel 3\n"
	       "device_calls memset 1\n"
	       "device_time collective 30000\n"
	       "device_time kernel 58000\n"
	       "device_time memset 2000\n"
	       "stream_busy 1 7 52000\n"
	       "stream_busy 1 8 8000\n"
	       "stream_busy 1 9 30000\n");
}
END_TEST

START_TEST(copies_are_by_direction_with_their_bytes)
{
	help_event(&b, "cpu_op", "op", 1, 0, 10, "\"External id\":1,\"bytes\":99");
	help_event(&b, "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 7, 10, 2, "\"External id\":1,\"bytes\":4096");
	help_event(&b, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, 12, 2, "\"External id\":1,\"bytes\": \"4\"");
	help_event(&b, "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 7, 14, 1, "\"External id\":1");
	help_event(&b, "gpu_memcpy", "CopyDeviceToDevice", 7, 15, 1, "\"External id\":1,\"bytes\":-5");
	help_event(&b, "gpu_memcpy", "move", 7, 16, 1, "\"External id\":1,\"bytes\":7");
	expect("copy_bytes host_to_device 4100\n"
	       "copy_bytes other 7\n"
	       "copy_calls device_to_device 1\n"
	       "copy_calls device_to_host 1\n"
	       "copy_calls host_to_device 2\n"
	       "copy_calls other 1\n"
	       "copy_time device_to_device 1000\n"
	       "copy_time device_to_host 1000\n"
	       "copy_time host_to_device 4000\n"
	       "copy_time other 1000\n"
	       "device_calls memcpy 5\n"
	       "device_time memcpy 7000\n"
	       "stream_busy 1 7 7000\n");
}
END_TEST

START_TEST(device_use_without_memory_is_an_error)
{
	bool over_at_last = false;
	struct trace *t;

	help_event(&b, "kernel", "k", 7, 10, 20, NULL);
	help_event(&b, "gpu_memcpy", "Memcpy HtoD", 8, 10, 2, NULL);
	t = settled();
	for (unsigned nth = 1; nth < 300 && !over_at_last; nth++) {
		struct err e = { 0 };
		int rc;

		buf_reset(&said);
		mem_fail_at(nth);
		rc = use_of(t, &said, &e);
		over_at_last = help_fails_still();
		mem_fail_at(0);
		ck_assert(rc == OK || ((rc == E_NOMEM || rc == E_LIMIT) && e.text[0] != '\0'));
	}
	ck_assert(over_at_last);
	trace_free(t);
}
END_TEST

Suite *suite_device_use(void)
{
	Suite *s = suite_create("trace/device_use");
	TCase *tc = tcase_create("device_use");

	tcase_add_checked_fixture(tc, begin, over);
	tcase_add_test(tc, a_host_alone_has_none_of_it);
	tcase_add_test(tc, streams_are_busy_by_themselves_and_a_device_idles_where_all_do);
	tcase_add_test(tc, collectives_overlap_with_other_kernels_but_not_with_copies);
	tcase_add_test(tc, copies_are_by_direction_with_their_bytes);
	tcase_add_test(tc, device_use_without_memory_is_an_error);
	suite_add_tcase(s, tc);
	return s;
}
