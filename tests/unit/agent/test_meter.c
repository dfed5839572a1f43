#include "agent/meter.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/enc.h"
#include "tests/unit/agent/folder.h"

Suite *suite_meter(void);

enum { PID = 4711, OWN_PID = 12 };

static const struct cost_settings settings = { .budget_ppm = 1000, .restore_ns = NS_PER_HOUR };
static struct plan_settings plan_settings;
static struct plan *plan;
static struct meter *m;
static struct plan_order order;
static struct cost_steps steps; /* what the job's counter says */
static int64_t now, wall0, born_ns;
static bool twin; /* another process is there whose own pid is the same */

/* A process with a pid of its own in its container. */
static void make_process(pid_t pid, pid_t own_pid)
{
	char name[64], text[200];

	snprintf(name, sizeof(name), "proc/%ld", (long)pid);
	ck_assert_int_eq(mkdir(folder_path(name), 0700), 0);
	snprintf(name, sizeof(name), "proc/%ld/stat", (long)pid);
	folder_write(name, STR("7 (python3) S 1 7 7 0 -1 4194304 1 0 0 0 5 1 0 0 20 0 9 0 42 1 2 3\n"));
	snprintf(name, sizeof(name), "proc/%ld/status", (long)pid);
	snprintf(text, sizeof(text), "Name:\tpython3\nNSpid:\t%ld\t%ld\n", (long)pid, (long)own_pid);
	folder_write(name, str_of(text));
}

static void setup(void)
{
	const char *dir;

	folder_make();
	ck_assert_int_eq(mkdir(folder_path("proc"), 0700), 0);
	ck_assert_int_eq(mkdir(folder_path("in"), 0700), 0);
	make_process(PID, OWN_PID);
	now = NS_PER_HOUR;
	born_ns = 0;
	twin = false;
	order.id = 0;
	plan_settings = (struct plan_settings){ .max_at_once = 4, .duration_ns = NS_PER_S };
	schedule_init(&plan_settings.schedule, 5 * NS_PER_MIN, STR("h"));
	wall0 = plan_settings.schedule.offset_ns + 1000 * plan_settings.schedule.interval_ns - now;
	plan = plan_new(&plan_settings);
	m = meter_new(&settings, plan, folder_path("proc"));
	dir = folder_path("in");
	meter_folders(m, &dir, 1);
	steps = (struct cost_steps){ .steps = 1, .first_ns = now, .last_ns = now };
}

static void teardown(void)
{
	meter_free(m);
	plan_free(plan);
	folder_remove();
}

static uint64_t see(const char *source, const char *key, pid_t pid, bool idle)
{
	struct plan_worker w = { .source = source, .pid = pid, .service = "llm", .born_ns = born_ns, .idle = idle };

	snprintf(w.key, sizeof(w.key), "%s", key);
	return plan_seen(plan, &w, now, wall0 + now);
}

static void write_steps(const char *name)
{
	uint8_t out[COST_STEPS_BYTES];
	int fd;

	memcpy(out, "TSSTEPS1", 8);
	enc_put64(out + 8, steps.steps);
	enc_put64(out + 16, (uint64_t)steps.last_ns);
	enc_put64(out + 24, steps.begun);
	enc_put64(out + 32, steps.ended);
	enc_put64(out + 40, steps.steps_inside);
	enc_put64(out + 48, (uint64_t)steps.inside_ns);
	enc_put64(out + 56, (uint64_t)steps.first_ns);
	fd = open(folder_path(name), O_WRONLY | O_CREAT, 0600); /* in place, as the helper does */
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, out, sizeof(out), 0), sizeof(out));
	close(fd);
}

static void turn(void)
{
	plan_tick(plan, now, wall0 + now);
	meter_look(m, now);
}

/* A second of a hundred steps, or as many as are left of it. */
static void work(double share)
{
	now += NS_PER_S;
	steps.steps += (uint64_t)(100 * share);
	steps.last_ns = now;
}

static void tell(const char *counter)
{
	if (counter != NULL)
		write_steps(counter);
	turn();
}

/* Work up to the next window that the plan orders, that window of a second of half the work, and a while of work behind it. */
static bool window_of(const char *source, const char *counter)
{
	for (int i = 0; i < 7000; i++) {
		see(source, "pid 4711", PID, true);
		if (twin)
			see(source, "pid 4712", PID + 1, false);
		if (plan_next(plan, source, now, wall0 + now, &order))
			break;
		work(1);
		if (i % 10 == 0)
			tell(counter);
	}
	if (order.id == 0)
		return false;
	tell(counter);
	work(0.5);
	tell(counter);
	plan_end(plan, order.id, true, "taken", now);
	order.id = 0;
	for (int i = 0; i < 6; i++) {
		turn();
		work(1);
	}
	tell(counter);
	return true;
}

START_TEST(the_step_counter_of_a_worker_tells_what_its_windows_cost)
{
	uint64_t worker = see("kineto", "pid 4711", PID, true);
	struct cost_view v;
	struct gauge gauges[METER_GAUGES_MAX];

	for (int i = 0; i < 5; i++)
		ck_assert(window_of("kineto", "in/12.steps"));
	v = meter_of_worker(m, worker);
	ck_assert(v.measured);
	ck_assert_int_eq(v.counter, COST_STEPS);
	ck_assert_uint_ge(v.cost_ppm, 1600); /* half a second of 300 */
	ck_assert_uint_le(v.cost_ppm, 1740);
	for (int i = 0; i < 2; i++)
		ck_assert(window_of("kineto", "in/12.steps"));
	v = meter_of_worker(m, worker);
	ck_assert_uint_eq(v.every_nth, 2);
	now += 20 * NS_PER_S;
	turn();
	ck_assert_uint_eq(plan_at(plan, 0).every_nth, 2);
	ck_assert_int_eq(plan_at(plan, 0).cost_ppm, v.cost_ppm); /* the daemon hears of it */
	ck_assert(plan_at(plan, 0).measured);
	ck_assert_uint_eq(meter_gauges(&v, gauges), 3);
	ck_assert(str_eq(gauges[0].name, STR("capture_overhead")) && gauges[0].value < 0.001);
	ck_assert(str_eq(gauges[2].name, STR("capture_every_nth")) && gauges[2].value > 1.9);
}
END_TEST

START_TEST(the_counter_of_a_worker_is_found_when_it_appears)
{
	uint64_t worker = see("kineto", "pid 4711", PID, true);

	turn(); /* the folder is listed, and not again for a minute */
	write_steps("in/12.steps");
	now += 11 * NS_PER_S;
	turn();
	work(10);
	write_steps("in/12.steps");
	now += 11 * NS_PER_S;
	turn();
	meter_count_pid(m, PID, COST_EXECUTIONS, now, 1);
	ck_assert_int_eq(meter_of_worker(m, worker).counter, COST_STEPS); /* a worse one is passed over: it was read */
	unlink(folder_path("in/12.steps"));
	now += 20 * NS_PER_MIN;
	see("kineto", "pid 4711", PID, true);
	turn();
	meter_count_pid(m, PID, COST_EXECUTIONS, now, 1);
	ck_assert_int_eq(meter_of_worker(m, worker).counter, COST_EXECUTIONS);
}
END_TEST

START_TEST(a_worker_without_a_counter_is_unmeasured_and_keeps_its_duty)
{
	uint64_t worker = see("kineto", "pid 4711", PID, true);
	struct gauge gauges[METER_GAUGES_MAX];
	struct cost_view v;

	for (int i = 0; i < 8; i++)
		ck_assert(window_of("kineto", NULL));
	v = meter_of_worker(m, worker);
	ck_assert(!v.measured);
	ck_assert_uint_eq(v.every_nth, 1);
	ck_assert_uint_eq(meter_gauges(&v, gauges), 0);
}
END_TEST

START_TEST(a_counter_that_two_containers_could_have_written_is_nobodys)
{
	uint64_t worker = see("kineto", "pid 4711", PID, true);

	make_process(PID + 1, OWN_PID);
	twin = true;
	for (int i = 0; i < 8; i++)
		ck_assert(window_of("kineto", "in/12.steps"));
	ck_assert(!meter_of_worker(m, worker).measured);
}
END_TEST

static void put_in_space(pid_t pid, const char *link)
{
	char name[64];

	snprintf(name, sizeof(name), "proc/%ld/ns", (long)pid);
	ck_assert_int_eq(mkdir(folder_path(name), 0700), 0);
	snprintf(name, sizeof(name), "proc/%ld/ns/pid", (long)pid);
	ck_assert_int_eq(symlink(link, folder_path(name)), 0);
}

static uint64_t meet_twin(void)
{
	make_process(PID + 1, OWN_PID);
	put_in_space(PID, "pid:[4026532001]");
	put_in_space(PID + 1, "pid:[4026532002]");
	twin = true;
	return see("kineto", "pid 4712", PID + 1, false);
}

/* Two containers with the same pid and folder: the second job found PID.steps taken. */
START_TEST(the_counters_of_two_containers_with_the_same_pid_are_told_apart_by_their_namespaces)
{
	uint64_t worker = see("kineto", "pid 4711", PID, true), other = meet_twin();

	write_steps("in/12.4026532002.steps"); /* the other one's, which does nothing */
	for (int i = 0; i < 8; i++)
		ck_assert(window_of("kineto", "in/12.steps"));
	ck_assert(meter_of_worker(m, worker).measured);
	ck_assert_uint_ge(meter_of_worker(m, worker).cost_ppm, 800); /* half of it, as windows have become fewer */
	ck_assert(!meter_of_worker(m, other).measured);
	ck_assert(!meter_of_trace(m, folder_path("in/trainspotter-12-1790000000.json")).measured); /* whose is that? */
}
END_TEST

START_TEST(a_counter_that_names_its_namespace_is_read_for_the_worker_in_it)
{
	uint64_t worker = see("kineto", "pid 4711", PID, true), other = meet_twin();

	write_steps("in/12.steps");
	for (int i = 0; i < 8; i++)
		ck_assert(window_of("kineto", "in/12.4026532001.steps"));
	ck_assert(meter_of_worker(m, worker).measured);
	ck_assert(!meter_of_worker(m, other).measured);
}
END_TEST

START_TEST(what_an_earlier_process_left_is_not_this_ones)
{
	uint64_t worker;

	born_ns = now + NS_PER_MIN;
	worker = see("kineto", "pid 4711", PID, true);
	for (int i = 0; i < 8; i++)
		ck_assert(window_of("kineto", "in/12.steps"));
	ck_assert(!meter_of_worker(m, worker).measured);
}
END_TEST

START_TEST(what_sources_count_is_taken_with_the_windows_that_were_out)
{
	uint64_t worker = see("vllm", "pid 4711", PID, true);

	for (int i = 0; i < 5; i++) {
		for (int k = 0; k < 6000; k++) {
			see("vllm", "pid 4711", PID, true);
			if (plan_next(plan, "vllm", now, wall0 + now, &order))
				break;
			turn();
			work(1);
			if (k % 10 == 0)
				meter_count_pid(m, PID, COST_EXECUTIONS, now, steps.steps);
		}
		turn();
		meter_count_pid(m, PID, COST_EXECUTIONS, now, steps.steps);
		work(0.5);
		turn();
		plan_end(plan, order.id, true, "taken", now);
		meter_count_pid(m, PID, COST_EXECUTIONS, now, steps.steps);
		meter_count(NULL, "vllm", "pid 4711", COST_ITERATIONS, now, 1);
		meter_count(m, "vllm", "no such", COST_ITERATIONS, now, 1);
	}
	ck_assert(meter_of_worker(m, worker).measured);
	ck_assert_int_eq(meter_of_worker(m, worker).counter, COST_EXECUTIONS);
	ck_assert_uint_ge(meter_of_worker(m, worker).cost_ppm, 1500);
	now += NS_PER_S;
	meter_count(m, "vllm", "pid 4711", COST_ITERATIONS, now, 1);
	ck_assert_int_eq(meter_of_worker(m, worker).counter, COST_ITERATIONS);
}
END_TEST

/* The job of which only its own traces are known. */
START_TEST(a_job_that_profiles_itself_is_measured_by_its_own_counter)
{
	struct cost_view v;

	for (int i = 0; i < 8; i++) {
		for (int k = 0; k < 100; k++) {
			work(1);
			if (k % 10 == 9) {
				write_steps("in/99.steps");
				turn();
			}
		}
		steps.begun++;
		work(0.5);
		steps.ended++;
		steps.steps_inside += 50;
		steps.inside_ns += NS_PER_S;
	}
	v = meter_of_trace(m, folder_path("in/trainspotter-99-1790000000.json"));
	ck_assert(v.measured);
	ck_assert_double_eq_tol(v.slowdown, 0.5, 0.01);
	ck_assert(!meter_of_trace(m, folder_path("in/trainspotter-98-1790000000.json")).measured);
	ck_assert(!meter_of_trace(m, folder_path("trainspotter-99-1790000000.json")).measured);
	ck_assert(!meter_of_trace(m, folder_path("in/99.json")).measured);
	ck_assert(!meter_of_trace(m, "trainspotter-99-1.json").measured);
	unlink(folder_path("in/99.steps"));
	now += 2 * NS_PER_MIN;
	turn();
	ck_assert(!meter_of_trace(m, folder_path("in/trainspotter-99-1790000000.json")).measured);
}
END_TEST

/* Times that nobody has lived through yet, and of which a few would be more than a number holds. */
START_TEST(a_counter_whose_clock_is_far_ahead_is_not_read)
{
	uint64_t worker = see("kineto", "pid 4711", PID, true);
	const int64_t far = INT64_MAX / 2;

	for (int i = 0; i < 8; i++) {
		see("kineto", "pid 4711", PID, true);
		steps.first_ns = i;
		steps.last_ns = i + far;
		steps.steps += 1000;
		steps.begun = steps.ended = (uint64_t)i;
		write_steps("in/12.steps");
		now += 11 * NS_PER_S;
		turn();
	}
	meter_count_pid(m, PID, COST_EXECUTIONS, now, 1);
	ck_assert_int_eq(meter_of_worker(m, worker).counter, COST_EXECUTIONS); /* a worse one is taken: the better was not read */
}
END_TEST

START_TEST(what_is_no_counter_is_passed_over)
{
	uint64_t worker = see("kineto", "pid 4711", PID, true);

	folder_write("in/12.steps", STR("TSSTEPS1 and too short"));
	folder_write("in/x.steps", STR(""));
	folder_write("in/0.steps", STR(""));
	folder_write("in/12.0.steps", STR(""));
	folder_write("in/12..steps", STR(""));
	folder_write("in/12.5.6.steps", STR(""));
	folder_write("in/99999999999999999999.steps", STR(""));
	ck_assert_int_eq(mkfifo(folder_path("in/13.steps"), 0600), 0); /* never waited for */
	ck_assert(window_of("kineto", NULL));
	ck_assert(!meter_of_worker(m, worker).measured);
}
END_TEST

Suite *suite_meter(void)
{
	Suite *s = suite_create("agent/meter");
	TCase *tc = tcase_create("meter");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_step_counter_of_a_worker_tells_what_its_windows_cost);
	tcase_add_test(tc, the_counter_of_a_worker_is_found_when_it_appears);
	tcase_add_test(tc, a_worker_without_a_counter_is_unmeasured_and_keeps_its_duty);
	tcase_add_test(tc, a_counter_that_two_containers_could_have_written_is_nobodys);
	tcase_add_test(tc, the_counters_of_two_containers_with_the_same_pid_are_told_apart_by_their_namespaces);
	tcase_add_test(tc, a_counter_that_names_its_namespace_is_read_for_the_worker_in_it);
	tcase_add_test(tc, what_an_earlier_process_left_is_not_this_ones);
	tcase_add_test(tc, what_sources_count_is_taken_with_the_windows_that_were_out);
	tcase_add_test(tc, a_job_that_profiles_itself_is_measured_by_its_own_counter);
	tcase_add_test(tc, a_counter_whose_clock_is_far_ahead_is_not_read);
	tcase_add_test(tc, what_is_no_counter_is_passed_over);
	suite_add_tcase(s, tc);
	return s;
}
