#include "agent/plan.h"

#include <check.h>
#include <stdio.h>

#include "base/clock.h"
#include "tests/support/prop.h"

Suite *suite_plan(void);

/* Time goes by as one number: mono nanoseconds, and wall nanoseconds that much behind a start of a slot. */
static int64_t now, wall0;
static struct plan_settings settings;
static struct plan *p;
static struct plan_order order;
static struct err e;

static void make_plan(void)
{
	plan_free(p);
	p = plan_new(&settings);
}

static void setup(void)
{
	settings = (struct plan_settings){ .max_at_once = 2, .min_age_ns = 60 * NS_PER_S, .duration_ns = 500 * NS_PER_MS };
	schedule_init(&settings.schedule, 5 * NS_PER_MIN, STR("h"));
	wall0 = settings.schedule.offset_ns + 1000 * settings.schedule.interval_ns;
	now = NS_PER_HOUR;
	wall0 -= now;
	p = NULL;
	err_clear(&e);
	make_plan();
}

static void teardown(void)
{
	plan_free(p);
	p = NULL;
}

static uint64_t see(const char *source, int n, pid_t pid, bool idle)
{
	struct plan_worker w = { .source = source, .pid = pid, .service = "llm", .deploy = "v1", .born_ns = now - NS_PER_HOUR,
		.idle = idle };

	snprintf(w.key, sizeof(w.key), "w %d", n);
	snprintf(w.worker, sizeof(w.worker), "%d", n);
	return plan_seen(p, &w, now, wall0 + now);
}

static uint64_t see_idle(int n)
{
	return see("kineto", n, n, true);
}

static bool next_of(const char *source)
{
	return plan_next(p, source, now, wall0 + now, &order);
}

static bool next(void)
{
	return next_of("kineto");
}

static void end_taken(void)
{
	plan_end(p, order.id, true, "taken", now);
}

static void next_slot(void)
{
	now += settings.schedule.interval_ns;
}

static void tick(void)
{
	plan_tick(p, now, wall0 + now);
}

static uint64_t missed_in_all(void)
{
	uint64_t n = 0;

	for (int why = 0; why < PLAN_WHYS; why++)
		n += plan_missed(p, (enum plan_why)why);
	return n;
}

static enum plan_why why_of(uint64_t worker)
{
	for (size_t i = 0; i < plan_count(p); i++)
		if (plan_at(p, i).id == worker)
			return plan_at(p, i).why;
	return PLAN_WHYS;
}

START_TEST(a_worker_gets_one_window_a_slot_and_none_in_its_first)
{
	unsigned given = 0;

	for (int i = 0; i < 6 * 60; i++, now += 5 * NS_PER_S) {
		see_idle(7);
		if (!next())
			continue;
		given++;
		ck_assert_str_eq(order.key, "w 7");
		ck_assert_int_eq(order.reason, PLAN_SCHEDULED);
		ck_assert_int_eq(order.duration_ns, 500 * NS_PER_MS);
		ck_assert_str_eq(order.lease, "");
		end_taken();
	}
	ck_assert_uint_eq(given, 5);
	ck_assert_uint_eq(missed_in_all(), 0);
	ck_assert_uint_eq(plan_orders(p), 5);
}
END_TEST

START_TEST(what_stands_in_the_way_is_told_and_counted)
{
	uint64_t id = see("kineto", 1, 1, false);

	next_slot();
	ck_assert(!next());
	ck_assert_int_eq(why_of(id), PLAN_BUSY);
	next_slot();
	see_idle(1);
	ck_assert_uint_eq(plan_missed(p, PLAN_BUSY), 0);
	plan_pause(p, true);
	ck_assert(!next());
	ck_assert_uint_eq(plan_missed(p, PLAN_BUSY), 1);
	ck_assert_int_eq(why_of(id), PLAN_PAUSED);
	plan_pause(p, false);
	plan_lead(p, true);
	ck_assert(!next());
	ck_assert_int_eq(why_of(id), PLAN_UNLEASED);
	ck_assert(plan_at(p, 0).wants);
	next_slot();
	see_idle(1);
	plan_lead(p, false);
	ck_assert(next());
	ck_assert_uint_eq(plan_missed(p, PLAN_UNLEASED), 1);
	ck_assert_uint_eq(missed_in_all(), 2);
}
END_TEST

START_TEST(a_young_worker_is_left_alone)
{
	struct plan_worker w = { .source = "kineto", .key = "x", .idle = true };

	plan_seen(p, &w, now, wall0 + now);
	next_slot();
	w.born_ns = now - 59 * NS_PER_S;
	plan_seen(p, &w, now, wall0 + now);
	ck_assert(!next());
	ck_assert_int_eq(plan_at(p, 0).why, PLAN_YOUNG);
	now += NS_PER_S;
	ck_assert(next());
}
END_TEST

START_TEST(quiet_hours_are_kept_for_what_was_asked_for_too)
{
	uint64_t id;

	ck_assert_int_eq(schedule_add_quiet(&settings.schedule, STR("00:00-24:00"), &e), OK);
	make_plan();
	id = see_idle(1);
	next_slot();
	see_idle(1);
	ck_assert(plan_ask(p, id, PLAN_SLOW_STEP, NS_PER_MIN, now));
	ck_assert(!next());
	next_slot();
	see_idle(1);
	tick();
	ck_assert_uint_eq(plan_missed(p, PLAN_QUIET), 1);
}
END_TEST

START_TEST(no_more_windows_are_out_than_may_be)
{
	for (int n = 1; n <= 5; n++)
		see_idle(n);
	next_slot();
	for (int n = 1; n <= 5; n++)
		see_idle(n);
	ck_assert(next());
	ck_assert(next());
	ck_assert(!next());
	ck_assert_uint_eq(plan_out(p), 2);
	ck_assert_str_eq(order.key, "w 2");
	plan_over(p, order.id); /* its place is free; what became of it comes later */
	ck_assert_uint_eq(plan_out(p), 1);
	ck_assert(next());
	ck_assert(!next());
	plan_over(p, order.id);
	end_taken();
	ck_assert_uint_eq(plan_out(p), 1);
	ck_assert(next());
	ck_assert_str_eq(order.key, "w 4");
	next_slot();
	for (int n = 1; n <= 5; n++)
		see_idle(n);
	tick();
	ck_assert_uint_eq(plan_missed(p, PLAN_CROWDED), 1);
	ck_assert_uint_eq(missed_in_all(), 1);
}
END_TEST

START_TEST(whoever_waited_longest_is_next_whatever_its_source_and_who_asks_first)
{
	static const char *const sources[] = { "kineto", "xla", "vllm" };
	unsigned given[3] = { 0 };
	int64_t until = 0;
	bool out = false;

	settings.max_at_once = 1;
	make_plan();
	for (int i = 0; i < 12 * 60; i++, now += 5 * NS_PER_S)
		for (int s = 0; s < 3; s++) {
			see(sources[s], s, s + 1, true);
			if (out && now >= until) {
				end_taken();
				out = false;
			}
			if (!next_of(sources[s]))
				continue;
			given[s]++;
			out = true;
			until = now + 145 * NS_PER_S; /* there is time for two of them in a slot */
		}
	for (int s = 0; s < 3; s++)
		ck_assert_uint_ge(given[s], 6); /* 11 slots */
	ck_assert_uint_ge(given[0] + given[1] + given[2], 21);
}
END_TEST

START_TEST(a_source_that_stopped_asking_keeps_nobody_waiting)
{
	settings.max_at_once = 1;
	make_plan();
	see("xla", 1, 1, true);
	see_idle(2);
	next_slot();
	see("xla", 1, 1, true);
	see_idle(2);
	ck_assert(next());
	ck_assert(!next_of("xla"));
	end_taken();
	next_slot();
	see("xla", 1, 1, true);
	see_idle(2);
	next_of("xla");
	plan_unsent(p, order.id, now); /* it must not keep the others waiting either */
	ck_assert(next());
	end_taken();
	next_slot();
	see("xla", 1, 1, true);
	see_idle(2);
	ck_assert(next()); /* it had its last one earlier than xla's */
}
END_TEST

START_TEST(a_process_that_two_sources_see_gets_one_window_at_a_time)
{
	see("kineto", 1, 4711, true);
	see("xla", 1, 4711, true);
	next_slot();
	see("kineto", 1, 4711, true);
	see("xla", 1, 4711, true);
	ck_assert(next());
	ck_assert(!next_of("xla"));
	end_taken();
	ck_assert(next_of("xla"));
	end_taken();
	next_slot();
	see("kineto", 1, 4711, false); /* profiles itself */
	see("xla", 1, 4711, true);
	ck_assert(!next_of("xla"));
	see("kineto", 1, 4711, true);
	ck_assert(next_of("xla"));
}
END_TEST

START_TEST(an_order_that_did_not_get_through_leaves_the_slot_owed)
{
	see_idle(1);
	next_slot();
	see_idle(1);
	ck_assert(next());
	plan_unsent(p, order.id, now);
	ck_assert_uint_eq(plan_out(p), 0);
	ck_assert(!next()); /* a source that asks again and again gets it not at once */
	now += NS_PER_S;
	ck_assert(next());
	plan_unsent(p, order.id, now);
	next_slot();
	see_idle(1);
	ck_assert(next());
	ck_assert_uint_eq(plan_missed(p, PLAN_UNSENT), 1);
	next_slot();
	see_idle(1);
	tick();
	plan_unsent(p, order.id, now); /* of a slot that is over by now */
	plan_unsent(p, order.id, now); /* and only once */
	ck_assert_uint_eq(plan_missed(p, PLAN_UNSENT), 2);
	ck_assert_uint_eq(missed_in_all(), 2);
}
END_TEST

START_TEST(an_order_that_nobody_ends_is_dropped_in_the_end)
{
	settings.max_at_once = 1;
	make_plan();
	see_idle(1);
	next_slot();
	see_idle(1);
	ck_assert(next());
	now += NS_PER_HOUR;
	see_idle(1);
	tick();
	ck_assert_uint_eq(plan_out(p), 1);
	now += NS_PER_MIN;
	see_idle(1);
	tick();
	ck_assert_uint_eq(plan_out(p), 0);
	end_taken(); /* comes too late, and does no harm */
	ck_assert(next());
}
END_TEST

START_TEST(with_its_duty_halved_a_worker_gets_every_second_slot)
{
	uint64_t id = see_idle(1);
	unsigned given = 0;

	plan_set_duty(p, id, 2);
	for (int i = 0; i < 10; i++) {
		next_slot();
		see_idle(1);
		if (next()) {
			given++;
			end_taken();
		}
	}
	next_slot();
	see_idle(1);
	tick();
	ck_assert_uint_eq(given, 5);
	ck_assert_uint_eq(plan_missed(p, PLAN_BUDGET), 5);
	plan_set_duty(p, id, 1);
	ck_assert(next());
}
END_TEST

START_TEST(a_minute_unseen_and_a_worker_is_forgotten_with_its_slot_accounted_for)
{
	see_idle(1);
	next_slot();
	see("kineto", 1, 1, false);
	tick();
	now += 60 * NS_PER_S;
	tick();
	ck_assert_uint_eq(plan_count(p), 1);
	now += NS_PER_S;
	tick();
	ck_assert_uint_eq(plan_count(p), 0);
	ck_assert_uint_eq(plan_missed(p, PLAN_BUSY), 1);
}
END_TEST

START_TEST(a_clock_that_is_set_counts_no_more_slots_than_time_went_by_for)
{
	see_idle(1);
	wall0 += 10000 * NS_PER_DAY;
	now += NS_PER_S;
	see_idle(1);
	ck_assert(next());
	ck_assert_uint_eq(missed_in_all(), 0);
	end_taken();
	wall0 -= 20000 * NS_PER_DAY; /* back: the next window an interval later, and not when it has caught up */
	now += settings.schedule.interval_ns - 2 * NS_PER_S;
	see_idle(1);
	ck_assert(!next());
	now += 2 * NS_PER_S;
	see_idle(1);
	ck_assert(next());
	ck_assert_uint_eq(missed_in_all(), 0);
	end_taken();
	wall0 += 20000 * NS_PER_DAY;
	now += 3 * settings.schedule.interval_ns; /* the machine slept */
	see_idle(1);
	ck_assert(next());
	ck_assert_uint_eq(missed_in_all(), 3);
}
END_TEST

START_TEST(a_new_interval_begins_with_slots_of_its_own)
{
	see_idle(1);
	next_slot();
	see("kineto", 1, 1, false);
	tick();
	settings.schedule.interval_ns = NS_PER_MIN;
	plan_set(p, &settings);
	see_idle(1);
	ck_assert(!next());
	ck_assert_uint_eq(missed_in_all(), 1);
	now += NS_PER_MIN;
	see_idle(1);
	ck_assert(next());
}
END_TEST

START_TEST(it_wakes_when_a_slot_begins_and_every_second_while_one_is_owed)
{
	ck_assert_int_eq(plan_wake_ns(p, now, wall0 + now), INT64_MAX);
	see("kineto", 1, 1, false);
	ck_assert_int_le(plan_wake_ns(p, now, wall0 + now), now + 30 * NS_PER_S);
	now += settings.schedule.interval_ns - 10 * NS_PER_S;
	ck_assert_int_eq(plan_wake_ns(p, now, wall0 + now), now + 10 * NS_PER_S);
	now += 10 * NS_PER_S;
	see("kineto", 1, 1, false);
	tick();
	ck_assert_int_eq(plan_wake_ns(p, now, wall0 + now), now + NS_PER_S);
}
END_TEST

START_TEST(there_is_a_ceiling_to_workers)
{
	for (int n = 0; n < PLAN_WORKERS_MAX; n++)
		ck_assert_uint_ne(see_idle(n + 1), 0);
	ck_assert_uint_eq(see_idle(PLAN_WORKERS_MAX + 1), 0);
	ck_assert_uint_eq(plan_refused(p), 1);
	ck_assert_uint_ne(see_idle(5), 0);
	next_slot();
	for (int n = 0; n < PLAN_WORKERS_MAX; n++)
		see_idle(n + 1);
	ck_assert(next());
}
END_TEST

/* ---- leases */

static int grant(const char *id, const char *capture, int worker, int64_t for_ns)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", worker);
	return plan_grant(p, &(struct plan_grant){ .id = str_of(id), .capture = str_of(capture), .source = STR("kineto"),
		.service = STR("llm"), .worker = str_of(name), .expires_ns = now + for_ns }, now, &e);
}

static struct plan_ended ended[8];

static size_t take_ended(void)
{
	size_t n = plan_ended(p, ended, COUNT(ended));

	plan_told(p, ended, n);
	return n;
}

START_TEST(while_the_daemon_leads_a_lease_is_good_for_one_window)
{
	plan_lead(p, true);
	see_idle(1);
	see_idle(2);
	next_slot();
	see_idle(1);
	see_idle(2);
	ck_assert(!next());
	ck_assert_int_eq(grant("L1", "", 2, NS_PER_MIN), OK);
	ck_assert(next());
	ck_assert_str_eq(order.key, "w 2");
	ck_assert_str_eq(order.lease, "L1");
	ck_assert_int_eq(order.reason, PLAN_SCHEDULED);
	ck_assert_int_eq(grant("L1", "", 2, NS_PER_MIN), OK); /* repeated: the same lease */
	ck_assert(!next());
	ck_assert_uint_eq(plan_made(p, order.id, "0123456789abcdef0123456789abcdef"), order.worker);
	ck_assert_uint_eq(take_ended(), 0);
	end_taken();
	ck_assert_uint_eq(take_ended(), 1);
	ck_assert_str_eq(ended[0].lease, "L1");
	ck_assert_str_eq(ended[0].end, "taken");
	ck_assert_str_eq(ended[0].window, "0123456789abcdef0123456789abcdef");
	ck_assert(ended[0].taken);
	ck_assert_uint_eq(take_ended(), 0);
	next_slot();
	see_idle(2);
	ck_assert_int_eq(grant("L1", "", 2, NS_PER_MIN), OK); /* the daemon did not hear: it is told again, and is no lease */
	ck_assert(!next());
	ck_assert_uint_eq(take_ended(), 1);
}
END_TEST

START_TEST(of_workers_that_are_called_the_same_the_one_in_want_gets_the_lease)
{
	unsigned given[3] = { 0 };

	plan_lead(p, true);
	for (int slot = 0; slot < 5; slot++, next_slot())
		for (int k = 0; k < 3; k++) {
			char id[16];
			int n = 0;

			for (int i = 0; i < 3; i++) {
				struct plan_worker w = { .source = "kineto", .service = "llm", .worker = "7", .idle = true };

				snprintf(w.key, sizeof(w.key), "w %d", i);
				plan_seen(p, &w, now, wall0 + now);
			}
			tick();
			snprintf(id, sizeof(id), "L%d.%d", slot, k);
			ck_assert_int_eq(grant(id, "", 7, NS_PER_MIN), OK);
			if (!next())
				continue;
			ck_assert_int_eq(sscanf(order.key, "w %d", &n), 1);
			given[n]++;
			end_taken();
		}
	for (int n = 0; n < 3; n++)
		ck_assert_uint_eq(given[n], 4);
}
END_TEST

START_TEST(a_lease_of_a_worker_that_has_had_its_window_is_given_back_at_once)
{
	see_idle(1);
	next_slot();
	see_idle(1);
	ck_assert(next()); /* nobody led */
	end_taken();
	plan_lead(p, true);
	ck_assert_int_eq(grant("L", "", 1, NS_PER_MIN), OK);
	ck_assert_int_eq(grant("C", "C", 1, NS_PER_MIN), OK); /* what was asked for is another thing */
	tick();
	ck_assert_uint_eq(take_ended(), 1);
	ck_assert_str_eq(ended[0].lease, "L");
	ck_assert_str_eq(ended[0].end, "unneeded");
	ck_assert(next());
	ck_assert_str_eq(order.lease, "C");
}
END_TEST

START_TEST(a_lease_that_ran_out_says_what_stood_in_the_way)
{
	plan_lead(p, true);
	see("kineto", 1, 1, false);
	next_slot();
	see("kineto", 1, 1, false);
	ck_assert_int_eq(grant("L1", "", 1, NS_PER_MIN), OK);
	ck_assert_int_eq(grant("L2", "C2", 1, NS_PER_MIN), OK);
	tick();
	now += 59 * NS_PER_S;
	see("kineto", 1, 1, false);
	tick();
	ck_assert_uint_eq(take_ended(), 0);
	now += NS_PER_S;
	tick();
	ck_assert_uint_eq(take_ended(), 2);
	ck_assert_str_eq(ended[0].end, "busy");
	ck_assert_str_eq(ended[1].capture, "C2");
	ck_assert(!ended[1].taken);
	see_idle(1);
	ck_assert(!next());
}
END_TEST

START_TEST(a_lease_for_nobody_ends_at_once_and_so_does_that_of_a_worker_that_goes)
{
	uint64_t id = see_idle(1);

	ck_assert_int_eq(grant("L1", "C1", 9, NS_PER_MIN), E_NOT_FOUND);
	ck_assert_uint_eq(take_ended(), 1);
	ck_assert_str_eq(ended[0].end, "gone");
	ck_assert_int_eq(grant("L2", "", 1, NS_PER_MIN), OK);
	plan_gone(p, id);
	ck_assert_uint_eq(take_ended(), 1);
	ck_assert_str_eq(ended[0].lease, "L2");
	ck_assert_str_eq(ended[0].end, "gone");
	ck_assert_int_eq(grant("", "", 1, NS_PER_MIN), E_FORMAT);
}
END_TEST

START_TEST(what_was_asked_for_needs_no_slot_goes_first_and_has_its_own_length)
{
	see_idle(1);
	see_idle(2);
	ck_assert(!next()); /* the first slot */
	ck_assert_int_eq(plan_grant(p, &(struct plan_grant){ .id = STR("L"), .capture = STR("C"), .source = STR("kineto"),
		.service = STR("llm"), .worker = STR("2"), .duration_ns = 2 * NS_PER_S, .expires_ns = now + NS_PER_MIN }, now,
		&e), OK);
	settings.max_at_once = 1;
	settings.iterations = 7;
	plan_set(p, &settings);
	ck_assert(next());
	ck_assert_str_eq(order.key, "w 2");
	ck_assert_int_eq(order.reason, PLAN_ASKED);
	ck_assert_str_eq(order.capture, "C");
	ck_assert_int_eq(order.duration_ns, 2 * NS_PER_S);
	ck_assert_int_eq(order.iterations, 0);
	end_taken();
	next_slot();
	see_idle(1);
	see_idle(2);
	ck_assert_int_eq(grant("L2", "C", 2, NS_PER_MIN), OK);
	ck_assert(next());
	ck_assert_str_eq(order.key, "w 2");
	ck_assert_int_eq(order.iterations, 7);
	end_taken();
	ck_assert(next());
	ck_assert_str_eq(order.key, "w 1");
	end_taken();
	ck_assert(next()); /* its slot is its own */
	ck_assert_str_eq(order.key, "w 2");
}
END_TEST

START_TEST(a_leased_order_that_did_not_get_through_can_be_tried_until_it_runs_out)
{
	see_idle(1);
	ck_assert_int_eq(grant("L", "C", 1, 20 * NS_PER_S), OK);
	ck_assert(next());
	ck_assert_int_eq(order.expires_ns, now + 15 * NS_PER_S);
	plan_unsent(p, order.id, now);
	now += 10 * NS_PER_S;
	ck_assert(next());
	ck_assert_int_eq(order.expires_ns, now + 10 * NS_PER_S);
	now += 10 * NS_PER_S;
	plan_unsent(p, order.id, now);
	ck_assert(!next());
	ck_assert_uint_eq(take_ended(), 1);
	ck_assert_str_eq(ended[0].end, "unsent");
}
END_TEST

START_TEST(a_slow_step_asks_for_one_window_and_not_for_many)
{
	uint64_t id = see_idle(1);

	ck_assert(plan_ask(p, id, PLAN_SLOW_STEP, 30 * NS_PER_MIN, now));
	ck_assert(!plan_ask(p, id, PLAN_SLOW_STEP, 30 * NS_PER_MIN, now + NS_PER_MIN));
	ck_assert(next());
	ck_assert_int_eq(order.reason, PLAN_SLOW_STEP);
	end_taken();
	ck_assert(!next());
	now += 30 * NS_PER_MIN;
	id = see_idle(1);
	ck_assert(plan_ask(p, id, PLAN_SLOW_STEP, 30 * NS_PER_MIN, now));
	plan_lead(p, true);
	ck_assert(!next());
	ck_assert(plan_at(p, 0).wants);
	ck_assert_int_eq(grant("L", "", 1, NS_PER_MIN), OK);
	ck_assert(next());
	ck_assert_int_eq(order.reason, PLAN_SLOW_STEP);
	ck_assert_str_eq(order.lease, "L");
	ck_assert(!plan_ask(p, 4711, PLAN_SLOW_STEP, 0, now));
}
END_TEST

/* ---- whatever happens */

enum { MANY = 12 };

struct world {
	struct rand_gen *g;
	struct plan_order out[MANY * 2];
	size_t n_out;
	int n, leases, taken_of[200];
	int64_t first_slot[MANY];
	uint64_t slots, scheduled;
	bool good;
};

static const char *source_of(int n)
{
	return n % 2 ? "kineto" : "xla";
}

static int pid_of(int n)
{
	return n / 2 + 1; /* two of each process */
}

static void give_orders(struct world *w)
{
	for (int k = 0; k < 2; k++)
		while (next_of(source_of(k))) {
			int n = 0;

			w->good &= w->n_out < settings.max_at_once && sscanf(order.key, "w %d", &n) == 1;
			for (size_t i = 0; i < w->n_out; i++) {
				int other = 0;

				w->good &= sscanf(w->out[i].key, "w %d", &other) == 1 && pid_of(other) != pid_of(n);
			}
			w->scheduled += order.reason == PLAN_SCHEDULED;
			w->out[w->n_out++] = order;
		}
}

static void end_some(struct world *w)
{
	for (size_t i = w->n_out; i-- > 0;) {
		const struct plan_order *o = &w->out[i];
		int lease = 0;

		if (rand_below(w->g, 4) != 0)
			continue;
		if (rand_below(w->g, 5) == 0) {
			plan_unsent(p, o->id, now);
			w->scheduled -= o->reason == PLAN_SCHEDULED;
		} else {
			plan_end(p, o->id, true, "taken", now);
			if (sscanf(o->lease, "L%d", &lease) == 1)
				w->good &= w->taken_of[lease % 200]++ == 0;
		}
		w->out[i] = w->out[--w->n_out];
	}
}

static bool every_slot_is_accounted_for(struct rand_gen *g, size_t size, void *arg)
{
	struct world w = { .g = g, .n = 1 + (int)rand_below(g, MANY), .good = true };
	struct plan_order spare;

	(void)arg;
	settings.max_at_once = 1 + rand_below(g, 3);
	make_plan();
	for (int n = 0; n < w.n; n++) {
		see(source_of(n), n, pid_of(n), true);
		w.first_slot[n] = schedule_slot(&settings.schedule, wall0 + now);
	}
	for (size_t i = 0; i < size; i++) {
		now += (int64_t)rand_below(g, 50) * NS_PER_S;
		for (int n = 0; n < w.n; n++)
			see(source_of(n), n, pid_of(n), rand_below(g, 4) != 0);
		if (rand_below(g, 10) == 0)
			plan_pause(p, rand_below(g, 2) == 0);
		if (rand_below(g, 10) == 0)
			plan_lead(p, rand_below(g, 2) == 0);
		if (rand_below(g, 3) == 0 && w.leases < 199) {
			char id[16];

			snprintf(id, sizeof(id), "L%d", w.leases++);
			(void)!grant(id, rand_below(g, 2) ? "C" : "", (int)rand_below(g, MANY), 40 * NS_PER_S);
		}
		give_orders(&w);
		end_some(&w);
		plan_tick(p, now, wall0 + now);
	}
	for (int n = 0; n < w.n; n++)
		w.slots += (uint64_t)(schedule_slot(&settings.schedule, wall0 + now) - w.first_slot[n]);
	while (plan_count(p) > 0)
		plan_gone(p, plan_at(p, 0).id);
	w.good &= !plan_next(p, "kineto", now, wall0 + now, &spare);
	return w.good && w.slots == w.scheduled + missed_in_all();
}

START_TEST(every_slot_ends_in_an_order_or_in_a_reason_and_no_rule_is_broken)
{
	prop_check("slots accounted for", 150, 400, every_slot_is_accounted_for, NULL);
}
END_TEST

Suite *suite_plan(void)
{
	Suite *s = suite_create("agent/plan");
	TCase *tc = tcase_create("plan");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, a_worker_gets_one_window_a_slot_and_none_in_its_first);
	tcase_add_test(tc, what_stands_in_the_way_is_told_and_counted);
	tcase_add_test(tc, a_young_worker_is_left_alone);
	tcase_add_test(tc, quiet_hours_are_kept_for_what_was_asked_for_too);
	tcase_add_test(tc, no_more_windows_are_out_than_may_be);
	tcase_add_test(tc, whoever_waited_longest_is_next_whatever_its_source_and_who_asks_first);
	tcase_add_test(tc, a_source_that_stopped_asking_keeps_nobody_waiting);
	tcase_add_test(tc, a_process_that_two_sources_see_gets_one_window_at_a_time);
	tcase_add_test(tc, an_order_that_did_not_get_through_leaves_the_slot_owed);
	tcase_add_test(tc, an_order_that_nobody_ends_is_dropped_in_the_end);
	tcase_add_test(tc, with_its_duty_halved_a_worker_gets_every_second_slot);
	tcase_add_test(tc, a_minute_unseen_and_a_worker_is_forgotten_with_its_slot_accounted_for);
	tcase_add_test(tc, a_clock_that_is_set_counts_no_more_slots_than_time_went_by_for);
	tcase_add_test(tc, a_new_interval_begins_with_slots_of_its_own);
	tcase_add_test(tc, it_wakes_when_a_slot_begins_and_every_second_while_one_is_owed);
	tcase_add_test(tc, there_is_a_ceiling_to_workers);
	suite_add_tcase(s, tc);
	tc = tcase_create("leases");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, while_the_daemon_leads_a_lease_is_good_for_one_window);
	tcase_add_test(tc, of_workers_that_are_called_the_same_the_one_in_want_gets_the_lease);
	tcase_add_test(tc, a_lease_of_a_worker_that_has_had_its_window_is_given_back_at_once);
	tcase_add_test(tc, a_lease_that_ran_out_says_what_stood_in_the_way);
	tcase_add_test(tc, a_lease_for_nobody_ends_at_once_and_so_does_that_of_a_worker_that_goes);
	tcase_add_test(tc, what_was_asked_for_needs_no_slot_goes_first_and_has_its_own_length);
	tcase_add_test(tc, a_leased_order_that_did_not_get_through_can_be_tried_until_it_runs_out);
	tcase_add_test(tc, a_slow_step_asks_for_one_window_and_not_for_many);
	tcase_add_test(tc, every_slot_ends_in_an_order_or_in_a_reason_and_no_rule_is_broken);
	suite_add_tcase(s, tc);
	return s;
}
