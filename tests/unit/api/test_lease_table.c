#include "api/lease_table.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rand.h"

Suite *suite_lease_table(void);

static const int64_t start_ns = INT64_C(1793491200) * NS_PER_S;
static const struct lease_limits usual = { .max_per_service = 2, .max_share_percent = 50, .max_per_host = 2,
	.poll_ns = 10 * NS_PER_S, .expire_ns = 10 * NS_PER_MIN };

static struct lease_table *table;
static struct lease_round rnd;
static struct arena arena;
static int64_t now_ns;

static void start(void)
{
	now_ns = start_ns;
	table = lease_table_new(&usual, 1);
	lease_round_init(&rnd);
	arena_init(&arena, 64 << 20);
}

static void stop(void)
{
	lease_table_free(table);
	lease_round_fini(&rnd);
	arena_fini(&arena);
}

/* ---- small polls */

static const char *agent_name(unsigned i)
{
	static char id[8][CAPTURE_ID + 1];
	static unsigned at;

	at = (at + 1) % 8;
	snprintf(id[at], sizeof(id[at]), "%032x", i);
	return id[at];
}

static struct lease_worker worker(const char *name, bool wants, int64_t last_ns)
{
	return (struct lease_worker){ .source = STR("kineto"), .service = STR("llm"), .worker = str_of(name), .wants = wants,
		.last_ns = last_ns, .every_nth = 1 };
}

static size_t poll_with(unsigned agent, const struct lease_worker *w, size_t n, const struct lease_ended *ended, size_t n_ended)
{
	char host[20];
	struct lease_poll p = { .agent = str_of(agent_name(agent)), .version = STR("0.1.0"), .workers = w, .n_workers = n,
		.ended = ended, .n_ended = n_ended };
	struct err e = { 0 };
	size_t told = 0;

	snprintf(host, sizeof(host), "trn-%u", agent);
	p.host = str_of(host);
	lease_round_reset(&rnd);
	lease_table_tick(table, now_ns, &rnd);
	ck_assert_msg(lease_table_poll(table, &p, now_ns, &rnd, &e) == OK, "%s", e.text);
	arena_reset(&arena);
	lease_table_told(table, p.agent, now_ns, &arena, &told);
	return told;
}

static size_t poll_one(unsigned agent, bool wants, int64_t last_ns)
{
	struct lease_worker w = worker("0", wants, last_ns);

	return poll_with(agent, &w, 1, NULL, 0);
}

static struct lease told_to(unsigned agent)
{
	size_t n = 0;
	struct lease *l = lease_table_told(table, str_of(agent_name(agent)), now_ns, &arena, &n);

	ck_assert_uint_ge(n, 1);
	return l[0];
}

static void end_lease(unsigned agent, bool taken, const char *word)
{
	struct lease l = told_to(agent);
	struct lease_worker w = worker("0", false, 0);
	struct lease_ended ended = { .lease = l.id, .capture = l.capture, .taken = taken, .end = str_of(word),
		.window = taken ? STR("00000000000000000000000000000001") : STR("") };
	struct arena keep = arena;

	arena_init(&arena, 64 << 20); /* the lease's texts are in the other */
	poll_with(agent, &w, 1, &ended, 1);
	arena_fini(&keep);
}

static struct capture ask_for(const char *service, int64_t join_ns, int expect, struct err *e)
{
	struct capture c = { .id = STR("cccccccccccccccccccccccccccccccc"), .service = str_of(service), .join_ns = join_ns,
		.duration_ns = 500 * NS_PER_MS, .reason = STR("test") };

	lease_round_reset(&rnd);
	ck_assert_msg(lease_table_ask(table, &c, now_ns, &rnd, e) == expect, "%s", e->text);
	return c;
}

START_TEST(a_worker_that_wants_one_gets_a_lease_and_hears_of_it_again)
{
	struct lease first, again;

	ck_assert_uint_eq(poll_one(1, false, 0), 0);
	ck_assert_uint_eq(rnd.changes.granted.n, 0);
	ck_assert_uint_eq(poll_one(1, true, 0), 1);
	ck_assert_uint_eq(rnd.changes.granted.n, 1);
	first = told_to(1);
	ck_assert_int_eq(first.begin_ns, now_ns + LEASE_BEGIN_NS);
	ck_assert_int_eq(first.until_ns, now_ns + LEASE_BEGIN_NS + LEASE_UNKNOWN_NS + LEASE_GRACE_NS);
	ck_assert_uint_eq(first.id.n, CAPTURE_ID);
	first.id = str_of(mem_dup_text(arena_fmt(&arena, "%.*s", STR_ARG(first.id)).p));
	now_ns += 10 * NS_PER_S;
	ck_assert_uint_eq(poll_one(1, true, 0), 1); /* the answer was lost */
	ck_assert_uint_eq(rnd.changes.granted.n, 0);
	again = told_to(1);
	ck_assert(str_eq(first.id, again.id));
	ck_assert_int_eq(again.begin_ns, now_ns + LEASE_BEGIN_NS - 10 * NS_PER_S);
	mem_free((void *)(uintptr_t)first.id.p);
}
END_TEST

START_TEST(a_lease_ends_when_the_agent_says_so_and_saying_it_twice_does_no_harm)
{
	struct lease_worker w = worker("0", false, 0);
	struct lease_ended ended = { .lease = STR("x"), .taken = true, .end = STR("taken") };
	struct lease l;

	poll_one(1, true, 0);
	l = told_to(1);
	ended.lease = str_of(mem_dup_text(arena_fmt(&arena, "%.*s", STR_ARG(l.id)).p));
	poll_with(1, &w, 1, &ended, 1);
	ck_assert_uint_eq(rnd.changes.ended.n, 1);
	ck_assert_uint_eq(lease_table_counts(table).leases, 0);
	poll_with(1, &w, 1, &ended, 1);
	ck_assert_uint_eq(rnd.changes.ended.n, 0);
	ck_assert_uint_eq(lease_table_counts(table).taken, 1);
	mem_free((void *)(uintptr_t)ended.lease.p);
}
END_TEST

START_TEST(another_agent_cannot_end_a_lease)
{
	struct lease_worker w = worker("0", false, 0);
	struct lease_ended ended = { .taken = true, .end = STR("taken") };

	poll_one(1, true, 0);
	ended.lease = str_of(mem_dup_text(arena_fmt(&arena, "%.*s", STR_ARG(told_to(1).id)).p));
	poll_with(2, &w, 1, &ended, 1);
	ck_assert_uint_eq(lease_table_counts(table).leases, 1);
	mem_free((void *)(uintptr_t)ended.lease.p);
}
END_TEST

START_TEST(another_agent_cannot_say_what_came_of_a_capture)
{
	struct lease_worker w = worker("0", false, 0);
	struct lease_ended ended = { .taken = true, .end = STR("taken") };
	char lease[CAPTURE_ID + 1], capture[CAPTURE_ID + 1];
	struct err e = { 0 };

	poll_one(1, false, 0);
	ask_for("llm", 0, OK, &e);
	ck_assert_uint_eq(poll_one(1, false, 0), 1);
	ck_assert(str_copy_to(told_to(1).id, lease, sizeof(lease)));
	ck_assert(str_copy_to(told_to(1).capture, capture, sizeof(capture)));
	ended.lease = str_of(lease);
	ended.capture = str_of(capture);
	poll_with(2, &w, 1, &ended, 1);
	ck_assert_uint_eq(lease_table_counts(table).open_captures, 1);
	end_lease(1, false, "refused");
	ck_assert_int_eq(rnd.changes.targets.v[0].target.state, TARGET_FAILED);
}
END_TEST

START_TEST(a_lease_that_nobody_ends_runs_out_a_minute_after_its_window_s_end)
{
	poll_one(1, true, 0);
	now_ns += LEASE_BEGIN_NS;
	ck_assert_uint_eq(poll_one(1, true, 0), 0); /* too late to begin, and it counts still */
	ck_assert_uint_eq(lease_table_counts(table).leases, 1);
	now_ns += LEASE_UNKNOWN_NS + LEASE_GRACE_NS - 1;
	lease_round_reset(&rnd);
	lease_table_tick(table, now_ns, &rnd);
	ck_assert_uint_eq(lease_table_counts(table).leases, 1);
	lease_table_tick(table, ++now_ns, &rnd);
	ck_assert_uint_eq(lease_table_counts(table).leases, 0);
	ck_assert_uint_eq(rnd.changes.ended.n, 1);
	ck_assert_uint_eq(lease_table_counts(table).ran_out, 1);
}
END_TEST

START_TEST(no_more_of_a_service_than_its_limit)
{
	struct lease_worker other = worker("0", true, 0);

	for (unsigned i = 1; i <= 8; i++)
		poll_one(i, false, 0);
	ck_assert_uint_eq(poll_one(1, true, 0), 1);
	ck_assert_uint_eq(poll_one(2, true, 0), 1);
	ck_assert_uint_eq(poll_one(3, true, 0), 0);
	ck_assert_uint_eq(lease_table_counts(table).refused[REFUSED_SERVICE], 1);
	other.service = STR("ranker");
	ck_assert_uint_eq(poll_with(4, &other, 1, NULL, 0), 1); /* the fleet has room */
	end_lease(1, true, "taken");
	ck_assert_uint_eq(poll_one(3, true, 0), 1);
}
END_TEST

START_TEST(no_more_of_the_fleet_than_its_share_but_one_always)
{
	struct lease_limits l = usual;

	l.max_per_service = 100;
	l.max_share_percent = 25;
	lease_table_set(table, &l);
	ck_assert_uint_eq(poll_one(1, true, 0), 1); /* one of one */
	ck_assert_uint_eq(poll_one(2, true, 0), 0);
	ck_assert_uint_eq(lease_table_counts(table).refused[REFUSED_FLEET], 1);
	for (unsigned i = 3; i <= 8; i++)
		poll_one(i, false, 0);
	ck_assert_uint_eq(poll_one(2, true, 0), 1); /* two of eight */
	ck_assert_uint_eq(poll_one(3, true, 0), 0);
	/* agents that do not poll any more are no part of the fleet */
	now_ns += 31 * NS_PER_S;
	end_lease(1, true, "taken");
	end_lease(2, true, "taken");
	ck_assert_uint_eq(poll_one(3, true, 0), 1);
	ck_assert_uint_eq(poll_one(4, true, 0), 0);
}
END_TEST

START_TEST(no_more_of_a_host_than_its_limit)
{
	struct lease_limits l = usual;
	struct lease_worker w[4] = { worker("0", true, 0), worker("1", true, 0), worker("2", true, 0), worker("3", true, 0) };

	l.max_per_service = l.max_share_percent = 100;
	lease_table_set(table, &l);
	ck_assert_uint_eq(poll_with(1, w, 4, NULL, 0), 2);
	ck_assert_uint_eq(lease_table_counts(table).refused[REFUSED_HOST], 2);
}
END_TEST

START_TEST(who_had_its_last_window_longest_ago_goes_first)
{
	struct lease_limits l = usual;

	l.max_per_service = 1;
	lease_table_set(table, &l);
	poll_one(1, false, start_ns - 300 * NS_PER_S);
	poll_one(2, false, start_ns - 200 * NS_PER_S);
	poll_one(3, false, start_ns - 100 * NS_PER_S);
	poll_one(4, true, start_ns - 50 * NS_PER_S); /* takes the only place */
	poll_one(3, true, start_ns - 100 * NS_PER_S);
	poll_one(1, true, start_ns - 300 * NS_PER_S);
	end_lease(4, true, "taken");
	ck_assert_uint_eq(poll_one(3, true, start_ns - 100 * NS_PER_S), 0); /* kept for 1 */
	ck_assert_uint_eq(lease_table_counts(table).refused[REFUSED_TURN], 1);
	ck_assert_uint_eq(poll_one(1, true, start_ns - 300 * NS_PER_S), 1);
	end_lease(1, true, "taken");
	ck_assert_uint_eq(poll_one(1, true, start_ns - 300 * NS_PER_S), 0); /* it had one just now, whatever it says */
	ck_assert_uint_eq(poll_one(3, true, start_ns - 100 * NS_PER_S), 1);
}
END_TEST

START_TEST(a_place_is_not_kept_for_one_that_is_silent)
{
	struct lease_limits l = usual;

	l.max_per_service = 1;
	lease_table_set(table, &l);
	poll_one(1, true, start_ns - 10 * NS_PER_S);
	poll_one(2, true, start_ns - 300 * NS_PER_S);
	end_lease(1, true, "taken");
	poll_one(3, true, start_ns - 1);
	ck_assert_uint_eq(lease_table_counts(table).refused[REFUSED_TURN], 1);
	now_ns += 31 * NS_PER_S;
	ck_assert_uint_eq(poll_one(3, true, start_ns - 1), 1);
}
END_TEST

START_TEST(windows_that_were_begun_without_a_lease_count)
{
	struct lease_limits l = usual;
	struct lease_worker w = worker("0", false, 0);

	l.max_per_service = 1;
	lease_table_set(table, &l);
	w.state = WORKER_CAPTURING;
	poll_with(1, &w, 1, NULL, 0);
	ck_assert_uint_eq(poll_one(2, true, 0), 0);
	w.state = WORKER_IDLE;
	poll_with(1, &w, 1, NULL, 0);
	ck_assert_uint_eq(poll_one(2, true, 0), 1);
}
END_TEST

START_TEST(while_paused_nobody_gets_any_and_none_is_told)
{
	poll_one(1, true, 0);
	lease_table_pause(table, true);
	ck_assert_uint_eq(poll_one(1, true, 0), 0);
	ck_assert_uint_eq(poll_one(2, true, 0), 0);
	ck_assert_uint_eq(lease_table_counts(table).refused[REFUSED_PAUSED], 1);
	ck_assert_uint_eq(lease_table_counts(table).leases, 1); /* its window may be under way */
	lease_table_pause(table, false);
	ck_assert_uint_eq(poll_one(1, true, 0), 1);
}
END_TEST

START_TEST(an_agent_that_is_unheard_is_forgotten_after_an_hour)
{
	size_t n;
	bool more;

	poll_one(1, true, 0);
	now_ns += NS_PER_HOUR;
	lease_table_tick(table, now_ns, &rnd);
	ck_assert_uint_eq(lease_table_counts(table).agents, 1);
	lease_table_tick(table, ++now_ns, &rnd);
	ck_assert_uint_eq(lease_table_counts(table).agents, 0);
	ck_assert_uint_eq(lease_table_counts(table).workers, 0);
	lease_table_agents(table, STR(""), STR(""), STR(""), STR(""), 10, now_ns, &arena, &n, &more);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(workers_of_one_name_are_one)
{
	struct lease_worker w[2] = { worker("", false, 5), worker("", true, 3) };

	ck_assert_uint_eq(poll_with(1, w, 2, NULL, 0), 1);
	ck_assert_uint_eq(lease_table_counts(table).workers, 1);
}
END_TEST

static const struct {
	struct lease_poll p;
	const char *says;
} bad_polls[] = {
	{ { .agent = { "12", 2 }, .host = { "h", 1 } }, "32 hex digits" },
	{ { .agent = { "zz000000000000000000000000000000", 32 }, .host = { "h", 1 } }, "32 hex digits" },
	{ { .agent = { "00000000000000000000000000000001", 32 } }, "host" },
	{ { .agent = { "00000000000000000000000000000001", 32 }, .host = { "h", 1 }, .n_workers = 5000 }, "at most 4096" },
	{ { .agent = { "00000000000000000000000000000001", 32 }, .host = { "h", 1 }, .n_workers = 1,
		  .workers = &(const struct lease_worker){ .every_nth = 1 } },
		"workers[0]: source" },
	{ { .agent = { "00000000000000000000000000000001", 32 }, .host = { "h", 1 }, .n_ended = 1,
		  .ended = &(const struct lease_ended){ .taken = true } },
		"ended[0]: lease" },
};

START_TEST(a_poll_that_breaks_the_rules_is_refused_and_changes_nothing)
{
	struct err e = { 0 };

	ck_assert_int_eq(lease_table_poll(table, &bad_polls[_i].p, now_ns, &rnd, &e), E_FORMAT);
	ck_assert_msg(str_contains(str_of(e.text), str_of(bad_polls[_i].says)), "%s", e.text);
	ck_assert_uint_eq(lease_table_counts(table).agents, 0);
}
END_TEST

START_TEST(a_fleet_has_a_ceiling)
{
	struct lease_worker *w = mem_get_array(LEASE_WORKERS_MAX, sizeof(*w));
	char (*names)[12] = mem_get_array(LEASE_WORKERS_MAX, sizeof(*names));
	struct lease_poll p = { .host = STR("h"), .workers = w, .n_workers = LEASE_WORKERS_MAX };
	struct err e = { 0 };
	unsigned i = 0;
	int rc = OK;

	for (size_t k = 0; k < LEASE_WORKERS_MAX; k++) {
		snprintf(names[k], sizeof(names[k]), "%zu", k);
		w[k] = worker(names[k], false, 0);
	}
	for (; rc == OK && i < 100; i++) {
		p.agent = str_of(agent_name(i));
		rc = lease_table_poll(table, &p, now_ns, &rnd, &e);
	}
	ck_assert_int_eq(rc, E_BUSY);
	ck_assert_uint_eq(i - 1, LEASE_FLEET_MAX / LEASE_WORKERS_MAX);
	ck_assert_uint_le(lease_table_counts(table).workers, LEASE_FLEET_MAX);
	mem_free(w);
	mem_free(names);
}
END_TEST

START_TEST(services_that_come_and_go_do_not_fill_the_table)
{
	struct lease_worker w = worker("0", true, 0);
	char name[20];

	for (int i = 0; i < LEASE_SERVICES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "job-%d", i);
		w.service = str_of(name);
		poll_with(1, &w, 1, NULL, 0);
	}
	now_ns += 10 * NS_PER_MIN;
	ck_assert_uint_eq(poll_with(1, &w, 1, NULL, 0), 1);
}
END_TEST

/* ---- captures */

START_TEST(what_was_asked_for_goes_first_without_wanting_and_says_what_came_of_it)
{
	struct err e = { 0 };
	struct capture c;
	struct lease l;

	for (unsigned i = 1; i <= 4; i++)
		poll_one(i, false, start_ns - i * NS_PER_S);
	ask_for("ranker", 0, E_NOT_FOUND, &e);
	ck_assert_msg(strstr(e.text, "service ranker") != NULL, "%s", e.text);
	c = ask_for("llm", 0, OK, &e);
	ck_assert_uint_eq(c.n_targets, 4);
	ck_assert_uint_eq(rnd.changes.captures.n, 1);
	ck_assert_int_eq(c.expires_ns, now_ns + 10 * NS_PER_MIN);
	ck_assert_uint_eq(poll_one(1, false, 0), 0); /* 4 had its last earlier */
	ck_assert_uint_eq(poll_one(4, false, 0), 1);
	ck_assert_uint_eq(rnd.changes.targets.n, 1);
	ck_assert_int_eq(rnd.changes.targets.v[0].target.state, TARGET_LEASED);
	l = told_to(4);
	ck_assert(str_eq(l.capture, STR("cccccccccccccccccccccccccccccccc")));
	ck_assert_int_eq(l.duration_ns, 500 * NS_PER_MS);
	end_lease(4, true, "taken");
	ck_assert_int_eq(rnd.changes.targets.v[0].target.state, TARGET_TAKEN);
	ck_assert(str_eq(rnd.changes.targets.v[0].target.window, STR("00000000000000000000000000000001")));
	ck_assert_uint_eq(rnd.changes.ends.n, 0);
	for (unsigned i = 3; i >= 1; i--) {
		ck_assert_uint_eq(poll_one(i, false, 0), 1);
		end_lease(i, false, i == 2 ? "crowded" : "refused");
		ck_assert_int_eq(rnd.changes.targets.v[0].target.state, i == 2 ? TARGET_WAITING : TARGET_FAILED);
	}
	ck_assert_uint_eq(rnd.changes.ends.n, 0);
	ck_assert_uint_eq(poll_one(2, false, 0), 1); /* once more, since nothing was begun */
	end_lease(2, true, "taken");
	ck_assert_uint_eq(rnd.changes.ends.n, 1);
	ck_assert_uint_eq(lease_table_counts(table).captures[CAPTURE_DONE], 1);
	ck_assert_uint_eq(lease_table_counts(table).open_captures, 0);
}
END_TEST

START_TEST(a_capture_expires_and_what_has_a_lease_may_still_be_taken)
{
	struct err e = { 0 };

	poll_one(1, false, 0);
	poll_one(2, false, 0);
	ask_for("llm", 0, OK, &e);
	now_ns += usual.expire_ns - NS_PER_S;
	ck_assert_uint_eq(poll_one(1, false, 0), 1);
	now_ns += NS_PER_S;
	lease_round_reset(&rnd);
	lease_table_tick(table, now_ns, &rnd);
	ck_assert_uint_eq(rnd.changes.targets.n, 1);
	ck_assert_int_eq(rnd.changes.targets.v[0].target.state, TARGET_EXPIRED);
	ck_assert(str_eq(rnd.changes.targets.v[0].target.host, STR("trn-2")));
	ck_assert_uint_eq(rnd.changes.ends.n, 0);
	ck_assert_uint_eq(poll_one(2, false, 0), 0);
	now_ns += 5 * NS_PER_MIN;
	lease_round_reset(&rnd);
	lease_table_tick(table, now_ns, &rnd);
	ck_assert_uint_eq(rnd.changes.ends.n, 1);
	ck_assert_uint_eq(lease_table_counts(table).captures[CAPTURE_EXPIRED], 1);
}
END_TEST

START_TEST(while_agents_are_not_known_yet_workers_join)
{
	struct err e = { 0 };

	ask_for("llm", now_ns + 30 * NS_PER_S, OK, &e);
	ck_assert_uint_eq(poll_one(1, false, 0), 1);
	ck_assert_uint_eq(rnd.changes.targets.n, 2); /* joined, and leased */
	end_lease(1, true, "taken");
	ck_assert_uint_eq(rnd.changes.ends.n, 0); /* others may join */
	now_ns += 30 * NS_PER_S;
	poll_one(2, false, 0);
	ck_assert_uint_eq(lease_table_counts(table).captures[CAPTURE_DONE], 1);
}
END_TEST

START_TEST(what_was_kept_under_a_clock_that_ran_ahead_does_not_last_for_ever)
{
	struct capture_target tg = { .host = STR("trn-1"), .service = STR("llm"), .source = STR("kineto"), .worker = STR("0") };
	struct capture c = { .id = STR("cccccccccccccccccccccccccccccccc"), .service = STR("llm"), .targets = &tg, .n_targets = 1,
		.expires_ns = now_ns + 365 * NS_PER_DAY, .join_ns = now_ns + 365 * NS_PER_DAY };
	struct lease l = { .id = STR("a"), .agent = str_of(agent_name(1)), .host = STR("trn-1"), .service = STR("llm"),
		.source = STR("kineto"), .worker = STR("1"), .begin_ns = now_ns + 365 * NS_PER_DAY,
		.until_ns = now_ns + 366 * NS_PER_DAY };

	lease_table_load(table, &l, 1, &c, 1, now_ns);
	ck_assert_uint_eq(lease_table_counts(table).leases, 1);
	ck_assert_uint_eq(lease_table_counts(table).open_captures, 1);
	now_ns += LEASE_MAX_NS > usual.expire_ns ? LEASE_MAX_NS : usual.expire_ns;
	lease_round_reset(&rnd);
	lease_table_tick(table, now_ns, &rnd);
	ck_assert_uint_eq(lease_table_counts(table).leases, 0);
	ck_assert_uint_eq(lease_table_counts(table).open_captures, 0);
}
END_TEST

START_TEST(a_worker_of_two_sources_is_asked_for_once)
{
	struct lease_worker w[2] = { worker("0", false, 0), worker("0", false, 0) };
	struct err e = { 0 };

	w[1].source = STR("vllm");
	poll_with(1, w, 2, NULL, 0);
	ck_assert_uint_eq(ask_for("llm", 0, OK, &e).n_targets, 1);
}
END_TEST

START_TEST(services_costs_are_of_those_that_are_measured)
{
	struct lease_worker w[3] = { worker("0", false, 0), worker("1", false, 0), worker("2", false, 0) };
	const struct str services[] = { STR("ranker"), STR("llm") };
	struct service_cost c[2];

	w[0].measured = w[1].measured = true;
	w[0].cost_ppm = 100;
	w[1].cost_ppm = 300;
	w[1].every_nth = 4;
	poll_with(1, w, 3, NULL, 0);
	lease_table_costs(table, services, 2, now_ns, c);
	ck_assert_uint_eq(c[1].workers, 3);
	ck_assert_uint_eq(c[1].measured, 2);
	ck_assert_int_eq(c[1].cost_ppm, 200);
	ck_assert_int_eq(c[1].cost_ppm_max, 300);
	ck_assert_int_eq(c[1].every_nth, 4);
	ck_assert_uint_eq(c[0].workers, 0);
}
END_TEST

/* ---- a fleet in which everything gets lost now and then: never more windows at once than allowed, everybody gets some.
 * An agent here keeps its side of the bargain: it begins a window only before the time it was told, counted from when the
 * answer came, and says that it ended until a poll is answered. The store is a list; the daemon is killed now and then and
 * begins with what that list holds. */

enum { SIM_AGENTS = 24, SIM_WORKERS = 3, SIM_SERVICES = 3, SIM_STEPS = 40000 };

struct sim_worker {
	bool has_lease, out, told;
	char lease[CAPTURE_ID + 1], end_lease[CAPTURE_ID + 1];
	int64_t begin_by_ns, over_ns, last_ns, due_ns;
	unsigned windows;
	bool to_tell;
};

struct sim {
	struct rand_gen rand;
	struct sim_worker w[SIM_AGENTS][SIM_WORKERS];
	int64_t next_poll_ns[SIM_AGENTS], deaf_until_ns[SIM_AGENTS];
	struct lease stored[1000];
	size_t n_stored;
	struct arena texts;
};

static const struct lease_limits sim_limits = { .max_per_service = 4, .max_share_percent = 15, .max_per_host = 2,
	.poll_ns = 10 * NS_PER_S, .expire_ns = 10 * NS_PER_MIN };

static const char *const sim_services[SIM_SERVICES] = { "llm", "ranker", "embed" };
static const char *const sim_names[SIM_WORKERS] = { "0", "1", "2" };

static unsigned sim_service(unsigned agent, unsigned i)
{
	return (agent + i) % SIM_SERVICES;
}

static void sim_store(struct sim *s)
{
	for (size_t i = 0; i < rnd.changes.ended.n; i++)
		for (size_t k = 0; k < s->n_stored; k++)
			if (str_eq(s->stored[k].id, rnd.changes.ended.v[i])) {
				s->stored[k] = s->stored[--s->n_stored];
				break;
			}
	for (size_t i = 0; i < rnd.changes.granted.n; i++) {
		struct lease *l = &s->stored[s->n_stored++];

		ck_assert_uint_lt(s->n_stored, 1000);
		*l = rnd.changes.granted.v[i];
		l->id = arena_str(&s->texts, l->id);
		l->agent = arena_str(&s->texts, l->agent);
		l->host = arena_str(&s->texts, l->host);
		l->service = arena_str(&s->texts, l->service);
		l->source = arena_str(&s->texts, l->source);
		l->worker = arena_str(&s->texts, l->worker);
	}
}

static void sim_restart(struct sim *s)
{
	lease_table_free(table);
	table = lease_table_new(&sim_limits, rand_u64(&s->rand));
	lease_table_load(table, s->stored, s->n_stored, NULL, 0, now_ns);
}

/* The windows of agents: begun when the worker is idle for a while, over after half a second to 20. */
static void sim_windows(struct sim *s, unsigned a)
{
	for (unsigned i = 0; i < SIM_WORKERS; i++) {
		struct sim_worker *w = &s->w[a][i];

		if (w->out && now_ns >= w->over_ns) {
			w->out = false;
			w->to_tell = true;
			w->last_ns = now_ns;
			w->windows++;
			snprintf(w->end_lease, sizeof(w->end_lease), "%s", w->lease);
			w->has_lease = false;
			w->due_ns = now_ns + 5 * NS_PER_MIN;
		} else if (w->has_lease && !w->out && now_ns >= w->begin_by_ns) {
			w->has_lease = false; /* not begun in time, and never told */
		} else if (w->has_lease && !w->out && rand_below(&s->rand, 5) == 0) {
			w->out = true;
			w->over_ns = now_ns + NS_PER_S / 2 + (int64_t)rand_below(&s->rand, 20 * NS_PER_S);
		}
	}
}

static void sim_answer(struct sim *s, unsigned a)
{
	int64_t late_ns = (int64_t)rand_below(&s->rand, 5 * NS_PER_S); /* of the answer */
	size_t n = 0;
	struct lease *l = lease_table_told(table, str_of(agent_name(a)), now_ns, &arena, &n);

	for (size_t k = 0; k < n; k++) {
		struct sim_worker *w = &s->w[a][l[k].worker.p[0] - '0'];

		if (w->out || (w->to_tell && str_eq(str_of(w->end_lease), l[k].id)))
			continue;
		w->has_lease = true;
		memcpy(w->lease, l[k].id.p, CAPTURE_ID);
		w->begin_by_ns = now_ns + late_ns + (l[k].begin_ns - now_ns);
	}
}

static void sim_poll(struct sim *s, unsigned a)
{
	struct lease_worker w[SIM_WORKERS];
	struct lease_ended ended[SIM_WORKERS];
	struct lease_poll p = { .agent = str_of(agent_name(a)), .host = str_of(agent_name(a)), .workers = w,
		.n_workers = SIM_WORKERS, .ended = ended };
	struct err e = { 0 };

	for (unsigned i = 0; i < SIM_WORKERS; i++) {
		struct sim_worker *x = &s->w[a][i];

		w[i] = worker(sim_names[i], !x->out && !x->has_lease && now_ns >= x->due_ns, x->last_ns);
		w[i].service = str_of(sim_services[sim_service(a, i)]);
		w[i].state = x->out ? WORKER_CAPTURING : WORKER_IDLE;
		if (x->to_tell)
			ended[p.n_ended++] = (struct lease_ended){ .lease = str_of(x->end_lease), .taken = true, .end = STR("taken") };
	}
	lease_round_reset(&rnd);
	lease_table_tick(table, now_ns, &rnd);
	ck_assert_msg(lease_table_poll(table, &p, now_ns, &rnd, &e) == OK, "%s", e.text);
	sim_store(s);
	if (rand_below(&s->rand, 50) == 0) {
		sim_restart(s); /* durable, not answered */
		return;
	}
	if (rand_below(&s->rand, 5) == 0)
		return; /* the answer is lost */
	for (unsigned i = 0; i < SIM_WORKERS; i++)
		s->w[a][i].to_tell = false;
	arena_reset(&arena);
	sim_answer(s, a);
}

static void sim_check(const struct sim *s)
{
	int64_t out[SIM_SERVICES] = { 0 }, all = 0;

	for (unsigned a = 0; a < SIM_AGENTS; a++)
		for (unsigned i = 0; i < SIM_WORKERS; i++)
			if (s->w[a][i].out) {
				out[sim_service(a, i)]++;
				all++;
			}
	for (unsigned i = 0; i < SIM_SERVICES; i++)
		ck_assert_int_le(out[i], sim_limits.max_per_service);
	ck_assert_int_le(all, SIM_AGENTS * SIM_WORKERS * sim_limits.max_share_percent / 100);
	ck_assert_uint_le(lease_table_counts(table).leases, SIM_AGENTS * SIM_WORKERS * sim_limits.max_share_percent / 100);
}

START_TEST(whatever_is_lost_never_more_at_once_than_allowed_and_everybody_gets_some)
{
	struct sim *s = mem_get(sizeof(*s));
	unsigned least = UINT32_MAX, most = 0;

	rand_seed(&s->rand, 77 + (uint64_t)_i);
	arena_init(&s->texts, 256 << 20);
	lease_table_set(table, &sim_limits);
	for (int step = 0; step < SIM_STEPS; step++) {
		now_ns += NS_PER_S / 2;
		for (unsigned a = 0; a < SIM_AGENTS; a++) {
			sim_windows(s, a);
			if (rand_below(&s->rand, 4000) == 0) /* cut off for a while */
				s->deaf_until_ns[a] = now_ns + (int64_t)rand_below(&s->rand, 10 * NS_PER_MIN);
			if (now_ns < s->next_poll_ns[a] || now_ns < s->deaf_until_ns[a])
				continue;
			sim_poll(s, a);
			s->next_poll_ns[a] = now_ns + 8 * NS_PER_S + (int64_t)rand_below(&s->rand, 4 * NS_PER_S);
		}
		if (rand_below(&s->rand, 2000) == 0)
			sim_restart(s);
		sim_check(s);
	}
	for (unsigned a = 0; a < SIM_AGENTS; a++)
		for (unsigned i = 0; i < SIM_WORKERS; i++) {
			unsigned n = s->w[a][i].windows;

			least = n < least ? n : least;
			most = n > most ? n : most;
		}
	/* 20,000 seconds: 66 slots of five minutes, and what is lost delays some of them */
	ck_assert_msg(least >= 20 && most <= 67, "%u to %u windows of a worker", least, most);
	arena_fini(&s->texts);
	mem_free(s);
}
END_TEST

Suite *suite_lease_table(void)
{
	Suite *s = suite_create("api/lease_table");
	TCase *tc = tcase_create("leases");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, a_worker_that_wants_one_gets_a_lease_and_hears_of_it_again);
	tcase_add_test(tc, a_lease_ends_when_the_agent_says_so_and_saying_it_twice_does_no_harm);
	tcase_add_test(tc, another_agent_cannot_end_a_lease);
	tcase_add_test(tc, another_agent_cannot_say_what_came_of_a_capture);
	tcase_add_test(tc, a_lease_that_nobody_ends_runs_out_a_minute_after_its_window_s_end);
	tcase_add_test(tc, no_more_of_a_service_than_its_limit);
	tcase_add_test(tc, no_more_of_the_fleet_than_its_share_but_one_always);
	tcase_add_test(tc, no_more_of_a_host_than_its_limit);
	tcase_add_test(tc, who_had_its_last_window_longest_ago_goes_first);
	tcase_add_test(tc, a_place_is_not_kept_for_one_that_is_silent);
	tcase_add_test(tc, windows_that_were_begun_without_a_lease_count);
	tcase_add_test(tc, while_paused_nobody_gets_any_and_none_is_told);
	tcase_add_test(tc, an_agent_that_is_unheard_is_forgotten_after_an_hour);
	tcase_add_test(tc, workers_of_one_name_are_one);
	tcase_add_loop_test(tc, a_poll_that_breaks_the_rules_is_refused_and_changes_nothing, 0, COUNT(bad_polls));
	tcase_add_test(tc, a_fleet_has_a_ceiling);
	tcase_add_test(tc, services_that_come_and_go_do_not_fill_the_table);
	tcase_add_test(tc, what_was_asked_for_goes_first_without_wanting_and_says_what_came_of_it);
	tcase_add_test(tc, a_capture_expires_and_what_has_a_lease_may_still_be_taken);
	tcase_add_test(tc, while_agents_are_not_known_yet_workers_join);
	tcase_add_test(tc, what_was_kept_under_a_clock_that_ran_ahead_does_not_last_for_ever);
	tcase_add_test(tc, a_worker_of_two_sources_is_asked_for_once);
	tcase_add_test(tc, services_costs_are_of_those_that_are_measured);
	tcase_add_loop_test(tc, whatever_is_lost_never_more_at_once_than_allowed_and_everybody_gets_some, 0, 4);
	suite_add_tcase(s, tc);
	return s;
}
