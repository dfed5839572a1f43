#include "agent/cost.h"

#include <check.h>
#include <math.h>

#include "base/clock.h"
#include "base/enc.h"
#include "tests/support/prop.h"

Suite *suite_cost(void);

/* A job that works at a rate, is slower in windows, and is looked at now and then. */
struct job {
	struct cost *c;
	int64_t now_ns, sample_ns, window_ns, interval_ns;
	double rate, slowdown; /* per second; 0 to 1 */
	double noise;	       /* of the rate, from stretch to stretch */
	double work;
	bool aligned;	       /* samples at both ends of a window, too */
	unsigned nth;	       /* as it was last seen, since when */
	int64_t nth_ns;
	struct rand_gen *rand;
};

enum { WORKER = 7 };

static const struct cost_settings settings = { .budget_ppm = 1000, .restore_ns = NS_PER_HOUR };

static void work_for(struct job *j, int64_t ns, bool slow)
{
	double rate = j->rate * (slow ? 1 - j->slowdown : 1);

	if (j->noise > 0)
		rate *= 1 + j->noise * (2 * rand_unit(j->rand) - 1);
	j->work += rate * (double)ns / 1e9;
	j->now_ns += ns;
}

/* What is true whenever one looks: duties change by one step, and come back at most once an hour. */
static void look(struct job *j, bool inside)
{
	unsigned nth;

	cost_add(j->c, WORKER, COST_ITERATIONS, &(struct cost_sample){ j->now_ns, (uint64_t)j->work, inside });
	cost_tick(j->c, j->now_ns);
	nth = cost_of(j->c, WORKER).every_nth;
	if (nth == j->nth)
		return;
	ck_assert(j->nth == 0 || nth == 2 * j->nth || 2 * nth == j->nth);
	ck_assert(nth > j->nth || j->now_ns - j->nth_ns >= NS_PER_HOUR);
	j->nth = nth;
	j->nth_ns = j->now_ns;
}

/* Far from windows it is looked at less often: a test shall not take minutes. */
static void outside_for(struct job *j, int64_t ns)
{
	while (ns > 10 * NS_PER_MIN) {
		int64_t far = (ns - 5 * NS_PER_MIN) / 20 + NS_PER_MIN;

		work_for(j, far, false);
		look(j, false);
		ns -= far;
	}
	for (; ns > j->sample_ns; ns -= j->sample_ns) {
		work_for(j, j->sample_ns, false);
		look(j, false);
	}
	work_for(j, ns, false);
	if (j->aligned)
		look(j, false);
}

static void slot(struct job *j, unsigned every_nth)
{
	outside_for(j, j->interval_ns * every_nth - j->window_ns);
	work_for(j, j->window_ns, true);
	look(j, true);
}

/* As the plan does: every n-th slot. */
static void run(struct job *j, unsigned windows)
{
	for (unsigned i = 0; i < windows; i++)
		slot(j, cost_of(j->c, WORKER).every_nth);
}

static struct job steady(double rate, double slowdown)
{
	return (struct job){ .c = cost_new(&settings), .now_ns = NS_PER_S, .sample_ns = 10 * NS_PER_S, .window_ns = NS_PER_S / 2,
		.interval_ns = 5 * NS_PER_MIN, .rate = rate, .slowdown = slowdown, .aligned = true };
}

/* 3.34 ms a step, 18 % slower in half a second of five minutes: the dearest window that was measured. */
START_TEST(an_usual_window_costs_a_third_of_the_budget)
{
	struct job j = steady(300, 0.18);
	struct cost_view v;

	run(&j, 20);
	v = cost_of(j.c, WORKER);
	ck_assert(v.measured);
	ck_assert_uint_eq(v.windows, COST_WINDOWS);
	ck_assert_double_eq_tol(v.rate_outside, 300, 1);
	ck_assert_double_eq_tol(v.rate_inside, 246, 3);
	ck_assert_double_eq_tol(v.slowdown, 0.18, 0.01);
	ck_assert_uint_ge(v.cost_ppm, 280);
	ck_assert_uint_le(v.cost_ppm, 320);
	ck_assert_uint_eq(v.every_nth, 1);
	cost_free(j.c);
}
END_TEST

START_TEST(without_a_counter_nothing_is_measured)
{
	struct job j = steady(300, 0.5);
	struct cost_view v = cost_of(j.c, WORKER);

	ck_assert(!v.measured);
	ck_assert_uint_eq(v.every_nth, 1);
	run(&j, COST_WINDOWS_MIN); /* the last one is not complete */
	ck_assert(!cost_of(j.c, WORKER).measured);
	run(&j, 1);
	ck_assert(cost_of(j.c, WORKER).measured);
	j.rate = 0; /* a job that does nothing loses nothing */
	run(&j, 40);
	ck_assert_uint_eq(cost_of(j.c, WORKER).every_nth, 1);
	cost_free(j.c);
}
END_TEST

/* A job whose steps take ten seconds has none or one in a window: what is read is no cost. */
START_TEST(a_counter_that_is_too_coarse_measures_nothing)
{
	struct job j = steady(0.1, 0);

	run(&j, 40);
	ck_assert(!cost_of(j.c, WORKER).measured);
	ck_assert_uint_eq(cost_of(j.c, WORKER).every_nth, 1);
	cost_free(j.c);
}
END_TEST

START_TEST(over_budget_twice_halves_the_duty_and_once_does_not)
{
	struct job j = steady(100, 1);

	j.window_ns = NS_PER_S / 2; /* all of it lost: 1667 ppm */
	run(&j, COST_WINDOWS_MIN + 1);
	ck_assert(cost_of(j.c, WORKER).measured);
	ck_assert_uint_eq(cost_of(j.c, WORKER).every_nth, 1);
	run(&j, 1);
	ck_assert_uint_eq(cost_of(j.c, WORKER).every_nth, 2);
	run(&j, 20);
	ck_assert_uint_eq(cost_of(j.c, WORKER).every_nth, 2); /* 833 ppm */
	ck_assert_uint_le(cost_of(j.c, WORKER).cost_ppm, 1000);
	cost_free(j.c);
}
END_TEST

START_TEST(the_duty_comes_back_one_step_an_hour)
{
	struct job j = steady(100, 1);
	int64_t since;

	j.window_ns = 5 * NS_PER_S;
	run(&j, 60);
	ck_assert_uint_eq(cost_of(j.c, WORKER).every_nth, 32); /* 16667 ppm at first */
	j.slowdown = 0;
	since = j.now_ns;
	for (int i = 0; i < 60 && cost_of(j.c, WORKER).every_nth > 1; i++)
		run(&j, 1);
	ck_assert_uint_eq(cost_of(j.c, WORKER).every_nth, 1);
	ck_assert_int_ge(j.now_ns - since, 5 * NS_PER_HOUR);
	cost_free(j.c);
}
END_TEST

/* ---- for any job */

static struct job any_job(struct rand_gen *g)
{
	struct job j = steady(5 + (double)rand_below(g, 1000), rand_unit(g));

	j.sample_ns = (int64_t)(2 + rand_below(g, 14)) * NS_PER_S;
	j.window_ns = (int64_t)(1 + rand_below(g, 50)) * 100 * NS_PER_MS;
	j.interval_ns = (int64_t)(60 + rand_below(g, 600)) * NS_PER_S;
	j.aligned = rand_below(g, 2);
	j.rand = g;
	return j;
}

/* A count that is read at any moment is off by one at each end. */
static bool what_is_lost_is_found(struct rand_gen *g, size_t size, void *arg)
{
	struct job j = any_job(g);
	double lost = j.slowdown * (double)j.window_ns, each = (double)j.interval_ns;
	struct cost_view v;
	double want, off;

	(void)arg;
	cost_set(j.c, &(struct cost_settings){ .budget_ppm = 1000000, .restore_ns = NS_PER_HOUR });
	run(&j, (unsigned)size + 20);
	v = cost_of(j.c, WORKER);
	want = lost / each * 1e6;
	off = 2.5e9 / j.rate / each * 1e6 + 0.02 * want + 1;
	cost_free(j.c);
	return v.measured && fabs(v.cost_ppm - want) <= off;
}

START_TEST(the_cost_of_any_steady_job_is_found)
{
	prop_check("what is lost is found", 60, 30, what_is_lost_is_found, NULL);
}
END_TEST

static bool is_duty(unsigned n)
{
	return n >= 1 && n <= COST_NTH_MAX && (n & (n - 1)) == 0;
}

static bool duty_fits_the_budget(struct rand_gen *g, size_t size, void *arg)
{
	struct job j = any_job(g);
	bool good = true;
	unsigned nth = 1;
	double cost;

	(void)arg;
	for (size_t i = 0; i < 60 + size && good; i++) {
		run(&j, 1);
		nth = cost_of(j.c, WORKER).every_nth;
		good = is_duty(nth);
	}
	cost = j.slowdown * (double)j.window_ns / ((double)j.interval_ns * nth) * 1e6;
	/* what noise of counting may hide stays; else it is in the budget, and not far below where windows are still due */
	good = good && (nth == COST_NTH_MAX || cost <= 1000 + 5e9 / j.rate / ((double)j.interval_ns * nth) * 1e6 + 20);
	good = good && (nth == 1 || cost * 2 >= 1000 * 0.9 - 5e9 / j.rate / ((double)j.interval_ns * nth) * 1e6);
	cost_free(j.c);
	return good;
}

START_TEST(the_duty_of_any_steady_job_fits_its_budget)
{
	prop_check("the duty fits the budget", 40, 30, duty_fits_the_budget, NULL);
}
END_TEST

static bool rubbish_is_survived(struct rand_gen *g, size_t size, void *arg)
{
	struct cost *c = cost_new(&settings);
	bool good = true;

	(void)arg;
	for (size_t i = 0; i < 20 * size && good; i++) {
		uint64_t worker = 1 + rand_below(g, 3);
		struct cost_sample s = { (int64_t)(rand_u64(g) >> rand_below(g, 60)) & INT64_MAX, rand_u64(g) >> rand_below(g, 64),
			rand_below(g, 2) };
		struct cost_view v;

		if (rand_below(g, 4) == 0)
			cost_add_stretch(c, worker, COST_STEPS, s.at_ns, (int64_t)(rand_u64(g) >> (20 + rand_below(g, 40))), rand_below(g, 1000), s.inside);
		else
			cost_add(c, worker, (enum cost_counter)rand_below(g, COST_COUNTERS), &s);
		cost_tick(c, s.at_ns);
		v = cost_of(c, worker);
		good = is_duty(v.every_nth) && v.cost_ppm <= 1000000 && (!v.measured || (v.slowdown >= 0 && v.slowdown <= 1)) &&
		       (v.measured || v.cost_ppm == 0);
	}
	cost_free(c);
	return good;
}

START_TEST(no_counter_however_odd_breaks_the_book)
{
	prop_check("rubbish is survived", 60, 50, rubbish_is_survived, NULL);
}
END_TEST

/* Five in a hundred more or less from stretch to stretch: over a hundred windows that cost nothing, no duty is ever
 * halved twice. */
START_TEST(noise_alone_takes_nobodys_windows_away)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct job j = steady(200, 0);
		struct rand_gen g;
		unsigned reduced = 0;

		rand_seed(&g, seed);
		j.noise = 0.05;
		j.aligned = false;
		j.rand = &g;
		for (int i = 0; i < 100; i++) {
			run(&j, 1);
			reduced += cost_of(j.c, WORKER).every_nth > 1;
			ck_assert_uint_le(cost_of(j.c, WORKER).every_nth, 2);
		}
		ck_assert_uint_le(reduced, 30);
		cost_free(j.c);
	}
}
END_TEST

/* ---- counters */

START_TEST(a_process_that_starts_anew_loses_nothing_that_was_measured)
{
	struct job j = steady(100, 0.5);
	struct cost_view v;

	run(&j, 10);
	j.work = 0;
	run(&j, 10);
	v = cost_of(j.c, WORKER);
	ck_assert(v.measured);
	ck_assert_double_eq_tol(v.slowdown, 0.5, 0.03);
	cost_free(j.c);
}
END_TEST

START_TEST(the_better_counter_counts)
{
	struct job j = steady(100, 0.5);

	run(&j, 10);
	ck_assert_int_eq(cost_of(j.c, WORKER).counter, COST_ITERATIONS);
	cost_add(j.c, WORKER, COST_EXECUTIONS, &(struct cost_sample){ j.now_ns + 1, 5, false });
	ck_assert_int_eq(cost_of(j.c, WORKER).counter, COST_ITERATIONS);
	ck_assert(cost_of(j.c, WORKER).measured);
	cost_add_stretch(j.c, WORKER, COST_STEPS, j.now_ns + 2, NS_PER_S, 10, false);
	ck_assert_int_eq(cost_of(j.c, WORKER).counter, COST_STEPS);
	ck_assert(!cost_of(j.c, WORKER).measured); /* of another unit */
	cost_add(j.c, WORKER, COST_EXECUTIONS, &(struct cost_sample){ j.now_ns + NS_PER_HOUR, 5, false });
	ck_assert_int_eq(cost_of(j.c, WORKER).counter, COST_EXECUTIONS);
	cost_free(j.c);
}
END_TEST

START_TEST(workers_that_are_gone_are_forgotten_and_there_are_not_too_many)
{
	struct cost *c = cost_new(&settings);
	struct cost_sample s = { NS_PER_S, 5, false };

	for (uint64_t i = 1; i <= COST_WORKERS_MAX + 10; i++)
		cost_add(c, i, COST_STEPS, &s);
	ck_assert_uint_eq(cost_of(c, COST_WORKERS_MAX).every_nth, 1);
	cost_tick(c, 2 * NS_PER_DAY);
	s.at_ns = 2 * NS_PER_DAY;
	cost_add(c, 1, COST_EXECUTIONS, &s);
	ck_assert_int_eq(cost_of(c, 1).counter, COST_EXECUTIONS);
	cost_free(c);
}
END_TEST

static void put_steps(uint8_t out[COST_STEPS_BYTES], const struct cost_steps *s)
{
	memcpy(out, "TSSTEPS1", 8);
	enc_put64(out + 8, s->steps);
	enc_put64(out + 16, (uint64_t)s->last_ns);
	enc_put64(out + 24, s->begun);
	enc_put64(out + 32, s->ended);
	enc_put64(out + 40, s->steps_inside);
	enc_put64(out + 48, (uint64_t)s->inside_ns);
	enc_put64(out + 56, (uint64_t)s->first_ns);
}

START_TEST(a_step_counter_is_read_as_it_is_drawn)
{
	const struct cost_steps in = { .steps = 1000, .begun = 3, .ended = 2, .steps_inside = 20, .last_ns = 5000000, .first_ns = 1000,
		.inside_ns = 700 };
	struct cost_steps out;
	uint8_t bytes[COST_STEPS_BYTES];

	put_steps(bytes, &in);
	ck_assert(cost_steps_parse(bytes, &out));
	ck_assert_mem_eq(&in, &out, sizeof(in));
	bytes[7] = '2';
	ck_assert(!cost_steps_parse(bytes, &out));
	memset(bytes, 0, sizeof(bytes));
	ck_assert(!cost_steps_parse(bytes, &out));
	for (size_t i = 8; i < COST_STEPS_BYTES; i += 8) { /* what cannot be */
		put_steps(bytes, &in);
		enc_put64(bytes + i, i == 8 ? 1 : i == 24 ? 1 : UINT64_MAX);
		ck_assert_msg(!cost_steps_parse(bytes, &out), "%zu", i);
	}
}
END_TEST

/* 100 steps a second, half as many in the two seconds of a window of its own, every 100 s. */
static void own_windows(struct cost *c, struct cost_steps *s, int n, bool halfway)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 10; k++) {
			s->steps += 980;
			s->last_ns += 9800 * NS_PER_MS;
			cost_add_steps(c, WORKER, s, false);
		}
		s->begun++;
		s->steps += 50;
		s->last_ns += NS_PER_S;
		if (halfway)
			cost_add_steps(c, WORKER, s, false);
		s->ended++;
		s->steps += 50;
		s->last_ns += NS_PER_S;
		s->steps_inside += 100;
		s->inside_ns += 2 * NS_PER_S;
	}
}

START_TEST(windows_of_the_jobs_own_are_measured_by_its_own_counter)
{
	for (int halfway = 0; halfway < 2; halfway++) {
		struct cost *c = cost_new(&settings);
		struct cost_steps s = { .steps = 1, .first_ns = NS_PER_S, .last_ns = NS_PER_S };
		struct cost_view v;

		own_windows(c, &s, 8, halfway);
		v = cost_of(c, WORKER);
		ck_assert(v.measured);
		ck_assert_int_eq(v.counter, COST_STEPS);
		ck_assert_double_eq_tol(v.rate_outside, 100, 0.1);
		ck_assert_double_eq_tol(v.rate_inside, 50, 0.1);
		ck_assert_double_eq_tol(v.slowdown, 0.5, 0.01);
		cost_free(c);
	}
}
END_TEST

START_TEST(the_agents_windows_are_measured_by_the_jobs_counter_too)
{
	struct cost *c = cost_new(&settings);
	struct cost_steps s = { .steps = 1, .first_ns = NS_PER_S, .last_ns = NS_PER_S };
	struct cost_view v;

	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 30; k++) {
			bool window = k == 29;

			s.steps += window ? 990 : 1000; /* 100 ms lost */
			s.last_ns += 10 * NS_PER_S;
			cost_add_steps(c, WORKER, &s, window);
		}
	v = cost_of(c, WORKER);
	ck_assert(v.measured);
	ck_assert_uint_ge(v.cost_ppm, 320); /* 100 ms of 300 s */
	ck_assert_uint_le(v.cost_ppm, 346);
	s.steps = 3; /* another process under this number */
	s.first_ns = s.last_ns += NS_PER_S;
	cost_add_steps(c, WORKER, &s, false);
	ck_assert(cost_of(c, WORKER).measured);
	cost_free(c);
}
END_TEST

Suite *suite_cost(void)
{
	Suite *s = suite_create("agent/cost");
	TCase *tc = tcase_create("cost");

	tcase_add_test(tc, an_usual_window_costs_a_third_of_the_budget);
	tcase_add_test(tc, without_a_counter_nothing_is_measured);
	tcase_add_test(tc, a_counter_that_is_too_coarse_measures_nothing);
	tcase_add_test(tc, over_budget_twice_halves_the_duty_and_once_does_not);
	tcase_add_test(tc, the_duty_comes_back_one_step_an_hour);
	tcase_add_test(tc, the_cost_of_any_steady_job_is_found);
	tcase_add_test(tc, the_duty_of_any_steady_job_fits_its_budget);
	tcase_add_test(tc, no_counter_however_odd_breaks_the_book);
	tcase_add_test(tc, noise_alone_takes_nobodys_windows_away);
	tcase_add_test(tc, a_process_that_starts_anew_loses_nothing_that_was_measured);
	tcase_add_test(tc, the_better_counter_counts);
	tcase_add_test(tc, workers_that_are_gone_are_forgotten_and_there_are_not_too_many);
	tcase_add_test(tc, a_step_counter_is_read_as_it_is_drawn);
	tcase_add_test(tc, windows_of_the_jobs_own_are_measured_by_its_own_counter);
	tcase_add_test(tc, the_agents_windows_are_measured_by_the_jobs_counter_too);
	suite_add_tcase(s, tc);
	return s;
}
