#include "trace/chains.h"

#include <check.h>
#include <inttypes.h>

#include "base/mem.h"
#include "tests/unit/trace/help.h"

Suite *suite_chains(void);

static struct buf in;

static void up(void)
{
	buf_init(&in, 1 << 20);
	help_begin(&in);
}

static void down(void)
{
	buf_fini(&in);
}

static struct trace *read_in(void)
{
	struct keyavg_table kt;
	struct err e = { 0 };
	struct trace *t;

	help_end(&in);
	t = help_read(buf_view(&in), 0, NULL);
	ck_assert_int_eq(keyavg_table_make(&kt, t, &e), OK);
	keyavg_table_fini(&kt);
	return t;
}

/* "outer/inner calls cpu device", "*" before a device event, times in microseconds. */
static void expect(enum chains_of of, const char *want)
{
	struct trace *t = read_in();
	struct chains c;
	struct err e = { 0 };
	struct buf said;

	ck_assert_int_eq(chains_make(&c, t, of, &e), OK);
	buf_init(&said, 1 << 20);
	vec_each(chain, &c.list) {
		struct str names[16];
		size_t n = 0;

		for (const struct chain *at = chain;; at = &c.list.v[at->parent]) {
			names[n++] = trace_name(t, at->name);
			if (at->parent == CHAIN_NONE)
				break;
		}
		while (n-- > 0)
			buf_fmt(&said, "%.*s%s", STR_ARG(names[n]), n > 0 ? "/" : "");
		buf_fmt(&said, "%s %" PRIu64 " %" PRId64 " %" PRId64 "\n", chain->device ? "*" : "", chain->calls,
			chain->cpu_ns / 1000, chain->device_ns / 1000);
	}
	ck_assert_str_eq(buf_view(&said).p, want);
	buf_fini(&said);
	chains_fini(&c);
	trace_free(t);
}

static void make_nested(void)
{
	help_event(&in, "user_annotation", "step", 1, 0, 100, NULL);
	help_event(&in, "cpu_op", "aten::linear", 1, 10, 20, NULL);
	help_event(&in, "cpu_op", "aten::mm", 1, 12, 10, "\"External id\":1");
	help_event(&in, "cpu_op", "aten::linear", 1, 40, 20, NULL);
	help_event(&in, "cpu_op", "aten::mm", 1, 42, 15, "\"External id\":2");
	help_event(&in, "kernel", "gemm", 7, 200, 30, "\"External id\":1");
	help_event(&in, "kernel", "gemm", 7, 300, 40, "\"External id\":2");
	help_event(&in, "kernel", "replayed", 7, 400, 50, NULL);
	help_event(&in, "gpu_user_annotation", "step", 7, 200, 99, "\"External id\":2");
}

START_TEST(a_chain_stands_once_with_all_its_calls)
{
	make_nested();
	expect(CHAINS_CALLS, "step 1 60 0\n"
			     "step/aten::linear 2 15 0\n"
			     "step/aten::linear/aten::mm 2 25 70\n");
}
END_TEST

START_TEST(kernels_stand_in_what_launched_them_and_have_its_device_time)
{
	make_nested();
	expect(CHAINS_KERNELS, "step 1 60 0\n"
			       "step/aten::linear 2 15 0\n"
			       "step/aten::linear/aten::mm 2 25 0\n"
			       "step/aten::linear/aten::mm/gemm* 2 0 70\n"
			       "replayed* 1 0 50\n");
}
END_TEST

START_TEST(a_call_that_was_taken_in_is_its_parent)
{
	help_event(&in, "cpu_op", "aten::to", 1, 0, 50, NULL);
	help_event(&in, "cpu_op", "aten::to", 1, 5, 40, "\"External id\":1");
	help_event(&in, "cpu_op", "aten::copy_", 1, 10, 20, NULL);
	help_event(&in, "kernel", "cast", 7, 100, 8, "\"External id\":1");
	expect(CHAINS_KERNELS, "aten::to 1 30 0\n"
			       "aten::to/aten::copy_ 1 20 0\n"
			       "aten::to/cast* 1 0 8\n");
}
END_TEST

START_TEST(a_kernel_is_told_from_a_call_of_its_name)
{
	help_event(&in, "cpu_op", "fill", 1, 0, 50, "\"External id\":1");
	help_event(&in, "cuda_runtime", "fill", 1, 5, 10, NULL);
	help_event(&in, "cpu_op", "other", 1, 20, 10, NULL);
	help_event(&in, "kernel", "fill", 7, 100, 8, "\"External id\":1");
	expect(CHAINS_KERNELS, "fill 1 30 0\n"
			       "fill/fill 1 10 0\n"
			       "fill/other 1 10 0\n"
			       "fill/fill* 1 0 8\n");
}
END_TEST

START_TEST(asynchronous_collectives_stand_at_the_root)
{
	help_event(&in, "cpu_op", "outer", 1, 0, 50, NULL);
	help_event(&in, "user_annotation", "nccl:all_reduce", 1, 10, 100, NULL);
	expect(CHAINS_CALLS, "outer 1 50 0\n"
			     "nccl:all_reduce 1 0 0\n");
}
END_TEST

START_TEST(memory_that_gives_out_is_told)
{
	bool over_at_last = false;
	struct trace *t;

	make_nested();
	t = read_in();
	for (unsigned nth = 1; nth < 200 && !over_at_last; nth++) {
		struct chains c;
		struct err e = { 0 };
		int rc;

		mem_fail_at(nth);
		rc = chains_make(&c, t, CHAINS_KERNELS, &e);
		over_at_last = help_fails_still();
		mem_fail_at(0);
		ck_assert(rc == OK ? c.list.n == 5 : e.text[0] != '\0');
		chains_fini(&c);
	}
	ck_assert(over_at_last);
	trace_free(t);
}
END_TEST

Suite *suite_chains(void)
{
	Suite *s = suite_create("trace/chains");
	TCase *tc = tcase_create("chains");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, a_chain_stands_once_with_all_its_calls);
	tcase_add_test(tc, kernels_stand_in_what_launched_them_and_have_its_device_time);
	tcase_add_test(tc, a_call_that_was_taken_in_is_its_parent);
	tcase_add_test(tc, a_kernel_is_told_from_a_call_of_its_name);
	tcase_add_test(tc, asynchronous_collectives_stand_at_the_root);
	tcase_add_test(tc, memory_that_gives_out_is_told);
	suite_add_tcase(s, tc);
	return s;
}
