#include "agent/report.h"

#include <check.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/file.h"
#include "base/hash.h"
#include "tests/unit/agent/folder.h"
#include "wire/wire.h"

Suite *suite_report(void);

static struct sequence *seq;
static struct report_queue queue;
static struct report_origin origin;
static struct err e;

static void setup(void)
{
	folder_make();
	seq = sequence_new(folder, STR("0123456789abcdef0123456789abcdef"), 1795960800000000000);
	report_queue_init(&queue);
	origin = (struct report_origin){ STR("0123456789abcdef0123456789abcdef"), STR("1.2"), STR("trn-1"), seq };
	err_clear(&e);
}

static void teardown(void)
{
	report_queue_fini(&queue);
	sequence_free(seq);
	folder_remove();
}

static void next_id(uint8_t id[WINDOW_ID])
{
	ck_assert_msg(sequence_next(seq, id, &e) == OK, "%s", e.text);
}

START_TEST(an_id_is_made_as_the_wire_says)
{
	static const char *const parts[] = { "0123456789abcdef0123456789abcdef", "1795960800000000000", "0" };
	struct hash128 *h = hash128_new();
	uint8_t id[WINDOW_ID], want[WINDOW_ID];

	for (size_t i = 0; i < COUNT(parts); i++) {
		uint64_t n = str_of(parts[i]).n;

		hash128_add(h, &n, sizeof(n)); /* low byte first, on the machines that tests run on */
		hash128_add(h, parts[i], n);
	}
	hash128_get(h, want);
	hash128_free(h);
	next_id(id);
	ck_assert_mem_eq(id, want, sizeof(id));
}
END_TEST

START_TEST(no_id_comes_twice_also_after_a_kill)
{
	uint8_t ids[40][WINDOW_ID];
	size_t n = 0;
	int status, pipe_fd[2];

	for (int round = 0; round < 4; round++) {
		ck_assert_int_eq(pipe(pipe_fd), 0);
		if (fork() == 0) {
			uint8_t id[WINDOW_ID];

			crash_arm(round % 2 == 0 ? "nowhere" : "sequence.reserved");
			for (int i = 0; i < 5; i++) {
				next_id(id);
				ck_assert_int_eq(write(pipe_fd[1], id, sizeof(id)), sizeof(id));
			}
			_exit(0);
		}
		close(pipe_fd[1]);
		while (read(pipe_fd[0], ids[n], WINDOW_ID) == WINDOW_ID)
			n++;
		close(pipe_fd[0]);
		wait(&status);
		ck_assert(WIFSIGNALED(status) == (round % 2 == 1));
	}
	ck_assert_uint_eq(n, 10);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			ck_assert(memcmp(ids[i], ids[k], WINDOW_ID) != 0);
}
END_TEST

START_TEST(a_number_is_durable_before_it_is_used)
{
	uint8_t id[WINDOW_ID];
	struct buf b;

	buf_init(&b, 64);
	for (int i = 0; i < SEQUENCE_BLOCK + 1; i++) {
		next_id(id);
		folder_read("sequence", &b);
		ck_assert_str_eq(b.p, i < SEQUENCE_BLOCK ? "1000\n" : "2000\n");
	}
	buf_fini(&b);
}
END_TEST

START_TEST(a_sequence_that_is_no_number_is_said_to_be_so_and_can_be_mended)
{
	uint8_t id[WINDOW_ID];

	folder_write("sequence", STR("many\n"));
	ck_assert_int_eq(sequence_next(seq, id, &e), E_CORRUPT);
	ck_assert(str_has_suffix(str_of(e.text), STR("sequence: is no number; remove it")));
	unlink(folder_path("sequence"));
	ck_assert_int_eq(sequence_next(seq, id, &e), OK);
}
END_TEST

static void push(double value)
{
	struct gauge g = { .name = STR("flops"), .unit = STR("flops/s"), .value = value };
	struct window w = { .start_ns = 5, .dur_ns = 6, .gauges = &g, .n_gauges = 1 };

	ck_assert_msg(report_push(&queue, &origin, "sysfs", &w, &e) == OK, "%s", e.text);
}

/* The value of the next one. */
static double pop(void)
{
	struct wire_batch b;
	struct arena a;
	struct buf bytes;
	double value;

	buf_init(&bytes, 1 << 20);
	arena_init(&a, 64 << 20);
	ck_assert(report_pop(&queue, &bytes));
	ck_assert_int_eq(wire_decode(&a, buf_view(&bytes), WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, &e), OK);
	ck_assert(str_eq(b.agent_id, origin.agent_id));
	ck_assert(str_eq(b.windows[0].host, STR("trn-1")) && str_eq(b.windows[0].source, STR("sysfs")));
	ck_assert(str_eq(b.windows[0].service, STR("unknown")));
	value = b.windows[0].gauges[0].value;
	wire_batch_fini(&b);
	arena_fini(&a);
	buf_fini(&bytes);
	return value;
}

START_TEST(reports_come_out_as_they_went_in)
{
	struct buf b;

	for (int round = 0; round < 300; round++) {
		push(round);
		push(round + 0.5);
		ck_assert_double_eq(pop(), round);
		ck_assert_double_eq(pop(), round + 0.5);
	}
	buf_init(&b, 64);
	ck_assert(!report_pop(&queue, &b));
	ck_assert_uint_eq(queue.made, 600);
	ck_assert_uint_eq(queue.lost, 0);
	buf_fini(&b);
}
END_TEST

START_TEST(the_oldest_go_where_nobody_takes_them)
{
	for (int i = 0; i < REPORT_BATCHES_MAX + 44; i++)
		push(i);
	ck_assert_uint_eq(queue.lost, 44);
	for (int i = 44; i < REPORT_BATCHES_MAX + 44; i++)
		ck_assert_double_eq(pop(), i);
}
END_TEST

START_TEST(a_window_that_cannot_be_is_lost_and_counted)
{
	struct window w = { .start_ns = -1 };

	ck_assert_int_eq(report_push(&queue, &origin, "sysfs", &w, &e), E_FORMAT);
	ck_assert_uint_eq(queue.lost, 1);
}
END_TEST

Suite *suite_report(void)
{
	Suite *s = suite_create("agent/report");
	TCase *t = tcase_create("sequence");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, an_id_is_made_as_the_wire_says);
	tcase_add_test(t, no_id_comes_twice_also_after_a_kill);
	tcase_add_test(t, a_number_is_durable_before_it_is_used);
	tcase_add_test(t, a_sequence_that_is_no_number_is_said_to_be_so_and_can_be_mended);
	suite_add_tcase(s, t);
	t = tcase_create("reports");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, reports_come_out_as_they_went_in);
	tcase_add_test(t, the_oldest_go_where_nobody_takes_them);
	tcase_add_test(t, a_window_that_cannot_be_is_lost_and_counted);
	suite_add_tcase(s, t);
	return s;
}
