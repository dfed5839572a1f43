#include "cli/ranks.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

Suite *suite_ranks(void);

enum { ROWS_MAX = 16 };

static struct ranks *ranks;
static struct keyavg_row rows[ROWS_MAX];
static struct keyavg_table table;

static void up(void)
{
	setenv("LC_ALL", "C.UTF-8", 1);
	ranks = ranks_new();
	table = (struct keyavg_table){ .v = rows };
}

static void down(void)
{
	ranks_free(ranks);
}

static void op(const char *name, uint64_t count, int64_t self_cpu_us)
{
	rows[table.n++] = (struct keyavg_row){ .name = str_of(name), .count = count, .self_cpu_ns = 1000 * self_cpu_us,
		.cpu_total_ns = 1000 * self_cpu_us };
}

static void kernel(const char *name, int64_t us)
{
	rows[table.n++] = (struct keyavg_row){ .name = str_of(name), .is_device = true, .count = 1,
		.self_device_ns = 1000 * us, .device_total_ns = 1000 * us };
}

static void step(uint64_t count, int64_t us)
{
	op("ProfilerStep*", count, 0);
	rows[table.n - 1].is_user_annotation = true;
	rows[table.n - 1].cpu_total_ns = 1000 * us;
}

/* The rows so far are a file's. */
static void file(int64_t rank, const char *name)
{
	ranks_add(ranks, &table, rank, name);
	table.n = 0;
}

static void expect_on(size_t screen, enum keyavg_column by, size_t limit, const char *want)
{
	struct buf out;
	struct err e = { 0 };

	buf_init(&out, 1 << 20);
	ck_assert_msg(ranks_print(ranks, by, limit, false, screen, &out, &e) == OK, "%s", e.text);
	ck_assert_str_eq(buf_view(&out).p, want);
	buf_fini(&out);
}

static void expect(enum keyavg_column by, size_t limit, const char *want)
{
	expect_on(0, by, limit, want);
}

START_TEST(ranks_stand_in_order_and_the_slowest_works_longest_without_collectives)
{
	step(2, 500);
	kernel("gemm", 120);
	kernel("ncclDevKernel_AllReduce", 40);
	file(1, "b.json");
	step(2, 500);
	kernel("gemm", 100);
	kernel("ncclDevKernel_AllReduce", 60);
	file(0, "a.json");
	expect(KEYAVG_COLUMNS, 10,
		"                                  rank 0    rank 1  over median\n"
		"(step, on average)                250 µs    250 µs         +0 %\n"
		"(device, without collectives)     100 µs  * 120 µs        +20 %\n"
		"(device, collectives)          * 60.0 µs   40.0 µs        +50 %\n"
		"gemm                              100 µs  * 120 µs        +20 %\n"
		"ncclDevKernel_AllReduce        * 60.0 µs   40.0 µs        +50 %\n"
		"*  the most of its row, where that is more than 5 % over the median\n"
		"slowest: rank 1, 120 µs of device time without collectives (in theirs the others wait for it), 20.0 % over the median\n");
}
END_TEST

START_TEST(without_device_time_the_one_with_most_cpu_time_is_the_slowest)
{
	op("aten::mm", 3, 100);
	op("aten::add", 1, 5);
	file(-1, "traces/before.json.gz");
	op("aten::mm", 3, 102);
	file(-1, "after.pt.trace.json");
	expect(KEYAVG_COLUMNS, 10,
		"               before   after  over median\n"
		"(self CPU)     105 µs  102 µs         +3 %\n"
		"aten::mm       100 µs  102 µs         +2 %\n"
		"aten::add   * 5.00 µs    0 ns            -\n"
		"*  the most of its row, where that is more than 5 % over the median\n"
		"none stands out: before has most, 105 µs of self CPU time, 2.9 % over the median\n");
}
END_TEST

START_TEST(more_than_eight_ranks_are_least_median_and_most)
{
	for (int i = 0; i < 9; i++) {
		kernel("gemm", i == 4 ? 200 : 100 + i);
		file(i, "x.json");
	}
	expect(KEYAVG_COLUMNS, 10,
		"                                least  median      most  who     over median\n"
		"(device, without collectives)  100 µs  105 µs  * 200 µs  rank 4        +90 %\n"
		"gemm                           100 µs  105 µs  * 200 µs  rank 4        +90 %\n"
		"*  the most of its row, where that is more than 5 % over the median\n"
		"slowest: rank 4, 200 µs of device time without collectives (in theirs the others wait for it), 90.5 % over the median\n");
}
END_TEST

START_TEST(a_screen_too_narrow_for_a_column_each_gets_least_median_and_most)
{
	for (int i = 0; i < 6; i++) {
		kernel("a_gemm_of_a_long_name_indeed", i == 4 ? 200 : 100 + i);
		file(i, "x.json");
	}
	setenv("LC_ALL", "C", 1);
	expect_on(60, KEYAVG_COLUMNS, 10,
		"                   least  median      most  who     over median\n"
		"(device, withou~  100 us  102 us  * 200 us  rank 4        +96 %\n"
		"a_gemm_of_a_lon~  100 us  102 us  * 200 us  rank 4        +96 %\n"
		"*  the most of its row, where that is more than 5 % over the median\n"
		"slowest: rank 4, 200 us of device time without collectives (in theirs the others wait for it), 96.1 % over the median\n");
	expect_on(95, KEYAVG_COLUMNS, 1,
		"                               rank 0  rank 1  rank 2  rank 3    rank 4  rank 5  over median\n"
		"(device, without collectives)  100 us  101 us  102 us  103 us  * 200 us  105 us        +96 %\n"
		"a_gemm_of_a_long_name_indeed   100 us  101 us  102 us  103 us  * 200 us  105 us        +96 %\n"
		"*  the most of its row, where that is more than 5 % over the median\n"
		"slowest: rank 4, 200 us of device time without collectives (in theirs the others wait for it), 96.1 % over the median\n");
}
END_TEST

START_TEST(rows_are_by_the_column_asked_for_and_as_many)
{
	op("few", 1, 100);
	op("many", 50, 10);
	file(0, "a.json");
	op("few", 1, 100);
	op("many", 70, 10);
	file(1, "b.json");
	expect(KEYAVG_COUNT, 1,
		"            rank 0  rank 1  over median\n"
		"(self CPU)  110 µs  110 µs         +0 %\n"
		"many            50    * 70        +40 %\n"
		"*  the most of its row, where that is more than 5 % over the median\n"
		"none stands out: rank 0 has most, 110 µs of self CPU time, 0.0 % over the median\n");
}
END_TEST

START_TEST(a_host_row_and_a_device_row_of_one_name_are_two)
{
	op("fill", 1, 10);
	kernel("fill", 20);
	file(0, "a.json");
	op("fill", 1, 10);
	kernel("fill", 20);
	file(1, "b.json");
	expect(KEYAVG_COUNT, 10,
		"                                rank 0   rank 1  over median\n"
		"(device, without collectives)  20.0 µs  20.0 µs         +0 %\n"
		"(self CPU)                     10.0 µs  10.0 µs         +0 %\n"
		"fill                                 1        1         +0 %\n"
		"fill                                 1        1         +0 %\n"
		"*  the most of its row, where that is more than 5 % over the median\n"
		"none stands out: rank 0 has most, 20.0 µs of device time without collectives (in theirs the others wait for it), 0.0 % over the median\n");
}
END_TEST

static void expect_labels(const char *const *names, size_t n, int64_t rank, const char *head)
{
	struct buf out;
	struct err e = { 0 };
	struct str rest;

	for (size_t i = 0; i < n; i++) {
		op("aten::mm", 3, 100);
		file(rank, names[i]);
	}
	buf_init(&out, 1 << 20);
	ck_assert_int_eq(ranks_print(ranks, KEYAVG_COLUMNS, 1, false, 0, &out, &e), OK);
	rest = buf_view(&out);
	ck_assert_msg(str_eq(str_trim(str_split(&rest, '\n')), str_of(head)), "%s", buf_view(&out).p);
	buf_fini(&out);
}

START_TEST(files_alike_are_told_apart_by_what_is_different_in_their_names)
{
	static const char *const folders[] = { "runs/before/trace.json", "runs/after/trace.json" };

	expect_labels(folders, 2, -1, "before   after  over median");
}
END_TEST

START_TEST(so_are_files_of_one_rank)
{
	static const char *const times[] = { "t/host_7.1694.pt.trace.json", "t/host_7.1701.pt.trace.json" };

	expect_labels(times, 2, 3, "rank 3 1694  rank 3 1701  over median");
}
END_TEST

START_TEST(files_of_one_name_are_numbered)
{
	static const char *const same[] = { "a.json", "a.json", "a.json" };

	expect_labels(same, 3, -1, "#1      #2      #3  over median");
}
END_TEST

START_TEST(long_differences_show_their_end)
{
	static const char *const far[] = { "x/trace.json", "a/folder/that/is/deep/漢字漢字漢字/trace.json", "x/trace.json" };

	expect_labels(far, 3, -1, "x #1  is/deep/漢字漢字漢字 #2    x #3  over median");
}
END_TEST

START_TEST(no_files_are_no_table)
{
	expect(KEYAVG_COLUMNS, 10, "");
}
END_TEST

START_TEST(memory_that_gives_out_is_told)
{
	struct err e = { 0 };
	struct buf out;

	op("a", 1, 1);
	file(0, "a.json");
	buf_init(&out, 1 << 20);
	for (unsigned nth = 1; nth <= 2; nth++) {
		mem_fail_at(nth);
		ck_assert_int_eq(ranks_print(ranks, KEYAVG_COLUMNS, 10, false, 0, &out, &e), E_NOMEM);
	}
	mem_fail_at(0);
	buf_fini(&out);
}
END_TEST

Suite *suite_ranks(void)
{
	Suite *s = suite_create("cli/ranks");
	TCase *tc = tcase_create("ranks");

	tcase_add_checked_fixture(tc, up, down);
	tcase_add_test(tc, ranks_stand_in_order_and_the_slowest_works_longest_without_collectives);
	tcase_add_test(tc, without_device_time_the_one_with_most_cpu_time_is_the_slowest);
	tcase_add_test(tc, more_than_eight_ranks_are_least_median_and_most);
	tcase_add_test(tc, a_screen_too_narrow_for_a_column_each_gets_least_median_and_most);
	tcase_add_test(tc, rows_are_by_the_column_asked_for_and_as_many);
	tcase_add_test(tc, a_host_row_and_a_device_row_of_one_name_are_two);
	tcase_add_test(tc, files_alike_are_told_apart_by_what_is_different_in_their_names);
	tcase_add_test(tc, so_are_files_of_one_rank);
	tcase_add_test(tc, files_of_one_name_are_numbered);
	tcase_add_test(tc, long_differences_show_their_end);
	tcase_add_test(tc, no_files_are_no_table);
	tcase_add_test(tc, memory_that_gives_out_is_told);
	suite_add_tcase(s, tc);
	return s;
}
