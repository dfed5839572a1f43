#include "trace/steps.h"

#include <inttypes.h>

#include "base/mem.h"
#include "tests/unit/trace/help.h"
#include "trace/shares.h"

Suite *suite_steps(void);

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

static void host(const char *cat, const char *name, double ts, double dur, int id)
{
	char args[64];

	snprintf(args, sizeof(args), "\"External id\":%d", id);
	help_event(&in, cat, name, 1, ts, dur, args);
}

static void kernel(const char *name, int pid, double ts, double dur, int id)
{
	if (in.p[in.n - 1] == '}')
		buf_text(&in, ",");
	buf_fmt(&in, "\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":%d,\"tid\":7,\"ts\":%.3f,\"dur\":%.3f,"
		     "\"args\":{\"External id\":%d}}", name, pid, ts, dur, id);
}

static int make(struct trace *t, struct step_table *st, struct err *e)
{
	struct steps *s = steps_new(t);
	struct keyavg_table kt;
	int rc = keyavg_table_make_and(&kt, t, steps_add, s, e);

	if (rc == OK)
		rc = steps_finish(s, st, e);
	keyavg_table_fini(&kt);
	steps_free(s);
	return rc;
}

/* "number start wall busy gap launches: op calls ns, …" a line, in microseconds where they are times. */
static void expect(const char *want)
{
	struct trace *t;
	struct step_table st;
	struct err e = { 0 };
	struct buf said;

	help_end(&in);
	t = help_read(buf_view(&in), 0, NULL);
	ck_assert_int_eq(make(t, &st, &e), OK);
	buf_init(&said, 1 << 20);
	buf_fmt(&said, "%s, %zu devices\n", steps_from_name(st.from), st.devices);
	vec_each(r, &st.rows) {
		buf_fmt(&said, "%" PRId64 " %g %g %g %g %" PRIu64, r->number, (double)r->start_ns / 1e3, (double)r->wall_ns / 1e3,
			(double)r->device_busy_ns / 1e3, (double)r->gap_ns / 1e3, r->launches);
		for (size_t i = 0; i < r->n_ops; i++)
			buf_fmt(&said, "%s %.*s %" PRIu64 " %g", i == 0 ? ":" : ",", STR_ARG(r->ops[i].name), r->ops[i].calls,
				(double)r->ops[i].ns / 1e3);
		buf_byte(&said, '\n');
	}
	ck_assert_str_eq(buf_view(&said).p, want);
	buf_fini(&said);
	step_table_fini(&st);
	trace_free(t);
}

START_TEST(busy_and_gaps_are_cut_at_the_ends_of_steps)
{
	host("user_annotation", "ProfilerStep#7", 1000, 100, 1);
	host("user_annotation", "ProfilerStep#8", 1100, 50, 2);
	host("cpu_op", "aten::mm", 1010, 5, 3);
	host("cpu_op", "aten::add", 1110, 5, 4);
	kernel("k", 0, 1020, 30, 3);
	kernel("k", 0, 1070, 50, 3); /* over the end of 7 */
	kernel("k", 0, 1130, 40, 4); /* over the end of 8 */
	expect("marker, 1 devices\n"
	       "7 0 100 60 20 2: aten::mm 1 80\n"
	       "8 100 50 40 10 1: aten::add 1 40\n");
}
END_TEST

START_TEST(devices_are_added_up_and_streams_are_not)
{
	host("user_annotation", "ProfilerStep#1", 0, 100, 1);
	kernel("a", 0, 10, 10, 0);
	kernel("b", 0, 15, 10, 0);
	kernel("c", 1, 10, 20, 0);
	kernel("c", 1, 50, 20, 0);
	expect("marker, 2 devices\n"
	       "1 0 100 55 20 4: c 2 40, a 1 10, b 1 10\n");
}
END_TEST

START_TEST(the_largest_ops_are_those_of_the_step_and_only_three)
{
	host("user_annotation", "ProfilerStep#3", 0, 100, 1);
	host("user_annotation", "ProfilerStep#4", 100, 100, 2);
	for (int i = 0; i < 5; i++) {
		char name[] = { 'o', (char)('0' + i), '\0' };

		host("cpu_op", name, 10 + i * 10, 1 + i, 10 + i);
	}
	host("cpu_op", "o0", 110, 7, 20);
	host("cpu_op", "o0", 120, 8, 21);
	expect("marker, 0 devices\n"
	       "3 0 100 0 0 5: o4 1 5, o3 1 4, o2 1 3\n"
	       "4 100 100 0 0 2: o0 2 15\n");
}
END_TEST

START_TEST(without_marks_a_step_ends_where_the_optimizer_does)
{
	host("cpu_op", "aten::mm", 10, 5, 1);
	host("user_annotation", "Optimizer.step#SGD.step", 20, 5, 2);
	host("cpu_op", "aten::mm", 30, 5, 3);
	host("user_annotation", "Optimizer.step#SGD.step", 40, 10, 4);
	host("user_annotation", "Optimizer.step#Rare.step", 45, 1, 5);
	host("cpu_op", "aten::mm", 60, 5, 6);
	expect("optimizer, 0 devices\n"
	       "0 0 15 0 0 1: aten::mm 1 5, Optimizer.step#SGD.step 1 5\n"
	       "1 15 25 0 0 1: Optimizer.step#SGD.step 1 9, aten::mm 1 5, Optimizer.step#Rare.step 1 1\n");
}
END_TEST

START_TEST(without_an_optimizer_a_step_begins_where_the_tokens_are_looked_up)
{
	host("cpu_op", "aten::mm", 0, 5, 1);
	for (int i = 0; i < 5; i++) {
		host("cpu_op", "aten::embedding", 10 + 100 * i, 5, 10 + 2 * i);
		host("cpu_op", "aten::mm", 20 + 100 * i, 80, 11 + 2 * i);
	}
	expect("anchor, 0 devices\n"
	       "0 10 100 0 0 2: aten::mm 1 80, aten::embedding 1 5\n"
	       "1 110 100 0 0 2: aten::mm 1 80, aten::embedding 1 5\n"
	       "2 210 100 0 0 2: aten::mm 1 80, aten::embedding 1 5\n"
	       "3 310 100 0 0 2: aten::mm 1 80, aten::embedding 1 5\n"
	       "4 410 90 0 0 2: aten::mm 1 80, aten::embedding 1 5\n");
}
END_TEST

START_TEST(without_any_mark_there_are_no_steps)
{
	host("cpu_op", "aten::mm", 10, 5, 1);
	expect("none, 0 devices\n");
}
END_TEST

START_TEST(a_step_whose_number_is_none_has_its_place)
{
	host("user_annotation", "ProfilerStep#", 0, 10, 1);
	host("user_annotation", "ProfilerStep#99999999999999999999", 10, 10, 2);
	host("user_annotation", "ProfilerStep#5", 20, 10, 3);
	expect("marker, 0 devices\n0 0 10 0 0 0\n1 10 10 0 0 0\n5 20 10 0 0 0\n");
}
END_TEST

START_TEST(steps_in_each_other_each_have_their_time_and_calls_go_to_the_inner_one)
{
	host("user_annotation", "ProfilerStep#1", 0, 100, 1);
	host("user_annotation", "ProfilerStep#2", 20, 10, 2);
	host("cpu_op", "x", 22, 1, 3);
	host("cpu_op", "y", 50, 1, 4);
	kernel("k", 0, 25, 10, 3);
	expect("marker, 1 devices\n"
	       "1 0 100 10 0 0\n"
	       "2 20 10 5 0 1: x 1 10\n");
}
END_TEST

START_TEST(steps_come_in_order_of_time_whatever_the_file_says)
{
	host("user_annotation", "ProfilerStep#2", 10, 10, 1);
	host("user_annotation", "ProfilerStep#1", 0, 10, 2);
	expect("marker, 0 devices\n1 0 10 0 0 0\n2 10 10 0 0 0\n");
}
END_TEST

START_TEST(shares_of_one_pair_are_one_in_the_end_however_many_there_are)
{
	struct shares s = { 0 };

	for (uint32_t i = 0; i < 100000; i++)
		shares_add(&s, (struct share){ i % 50, i % 7, 1, i, -(int64_t)i });
	shares_settle(&s);
	ck_assert_uint_eq(s.n, 350);
	ck_assert_uint_le(s.room, 4096);
	for (size_t i = 0; i < s.n; i++) {
		int64_t sum = 0;
		uint64_t calls = 0;

		for (uint32_t k = 0; k < 100000; k++)
			if (k % 50 == i / 7 && k % 7 == i % 7) {
				sum += k;
				calls++;
			}
		ck_assert_uint_eq(s.v[i].a, i / 7);
		ck_assert_uint_eq(s.v[i].b, i % 7);
		ck_assert_uint_eq(s.v[i].calls, calls);
		ck_assert_int_eq(s.v[i].cpu_ns, sum);
		ck_assert_int_eq(s.v[i].device_ns, -sum);
	}
	shares_fini(&s);
}
END_TEST

START_TEST(memory_that_gives_out_is_an_error)
{
	int failures = 0;

	host("user_annotation", "Optimizer.step#SGD.step", 20, 5, 2);
	host("cpu_op", "aten::mm", 21, 1, 3);
	kernel("k", 0, 25, 10, 3);
	help_end(&in);
	for (unsigned n = 1; n < 100; n++) {
		struct trace *t = help_read(buf_view(&in), 0, NULL);
		struct step_table st = { 0 };
		struct err e = { 0 };

		mem_fail_at(n);
		if (make(t, &st, &e) != OK) {
			ck_assert_int_eq(e.code, E_NOMEM);
			failures++;
		}
		mem_fail_at(0);
		step_table_fini(&st);
		trace_free(t);
	}
	ck_assert_int_ge(failures, 5);
}
END_TEST

Suite *suite_steps(void)
{
	Suite *s = suite_create("trace/steps");
	TCase *tc = tcase_create("steps");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, busy_and_gaps_are_cut_at_the_ends_of_steps);
	tcase_add_test(tc, devices_are_added_up_and_streams_are_not);
	tcase_add_test(tc, the_largest_ops_are_those_of_the_step_and_only_three);
	tcase_add_test(tc, without_marks_a_step_ends_where_the_optimizer_does);
	tcase_add_test(tc, without_an_optimizer_a_step_begins_where_the_tokens_are_looked_up);
	tcase_add_test(tc, without_any_mark_there_are_no_steps);
	tcase_add_test(tc, a_step_whose_number_is_none_has_its_place);
	tcase_add_test(tc, steps_in_each_other_each_have_their_time_and_calls_go_to_the_inner_one);
	tcase_add_test(tc, steps_come_in_order_of_time_whatever_the_file_says);
	tcase_add_test(tc, shares_of_one_pair_are_one_in_the_end_however_many_there_are);
	tcase_add_test(tc, memory_that_gives_out_is_an_error);
	suite_add_tcase(s, tc);
	return s;
}
