/* A day of a small fleet in seconds: agents' plans (agent/plan.h), what they say to the daemon and make of its answers
 * (agent/lead.h), and the daemon's table of leases (api/lease_table.h), all by a clock that the test owns. Processes come and
 * go, profile themselves, do not come for what was granted; requests and answers are lost; the daemon is away twice;
 * there are a quiet hour, a kill switch, a halved duty, and captures that people ask for.
 *
 * At every second: no lease is exceeded, no process has two windows. At the end: every slot of every worker is accounted for. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/lead.h"
#include "agent/plan.h"
#include "api/lease_table.h"
#include "base/clock.h"
#include "base/rand.h"
#include "json/tree.h"
#include "tests/support/check_main.h"

Suite *suite_day(void);

enum { HOSTS = 6, SEATS = 8, WINDOWS_MAX = 16, OPEN_MAX = 1000, CAPTURES = 24 };

static const struct lease_limits limits = { .max_per_service = 4, .max_share_percent = 20, .max_per_host = 2,
	.poll_ns = 10 * NS_PER_S, .expire_ns = 10 * NS_PER_MIN };
static const char *const sources[] = { "kineto", "xla", "vllm" };
static const char *const services[] = { "llm-decode", "llm-prefill", "train" };

struct proc {
	int pid; /* 0: there is none */
	int64_t born_ns, dies_ns, busy_until_ns;
};

struct seat { /* a worker of a source; the first two of a host are one process that two sources see */
	uint64_t id; /* of the plan; 0: it does not know it */
	int64_t first_slot;
	uint64_t windows;
};

struct shot { /* a window on its way */
	struct plan_order o;
	int seat, pid; /* pid 0: it had died, and nobody knew yet */
	enum { NONE, GIVEN, UNDER_WAY, OVER } state;
	int64_t next_ns; /* when its next state begins */
};

struct host {
	struct plan_settings settings;
	struct plan *plan;
	struct lead lead;
	char name[20], id[CAPTURE_ID + 1];
	struct proc procs[SEATS];
	struct seat seats[SEATS];
	struct shot shots[WINDOWS_MAX];
	int64_t poll_ns;
	uint64_t slots, scheduled, unsent;
};

struct open_lease {
	char id[CAPTURE_ID + 1];
	char service[64];
};

static struct host hosts[HOSTS];
static struct lease_table *table;
static struct lease_round rnd;
static struct open_lease open[OPEN_MAX];
static size_t n_open, most_open;
static struct rand_gen gen;
static int64_t now, wall0;
static int next_pid;
static bool daemon_up;
static uint64_t taken, spoilt, alone, lost_exchanges;
static struct buf body, answer;
static struct arena arena;

static int64_t some_s(unsigned from, unsigned to)
{
	return (int64_t)(from + rand_below(&gen, to - from + 1)) * NS_PER_S;
}

static bool one_in(unsigned n)
{
	return rand_below(&gen, n) == 0;
}

static int64_t wall(void)
{
	return wall0 + now;
}

static const char *source_of(int seat)
{
	return seat == 1 ? "xla" : sources[seat % 3];
}

static struct proc *proc_of(struct host *h, int seat)
{
	return &h->procs[seat == 1 ? 0 : seat];
}

static int64_t slot_of(const struct host *h)
{
	return schedule_slot(&h->settings.schedule, wall());
}

/* ---- the daemon */

/* What the table says that changed, in a list of our own. */
static void note_changes(void)
{
	for (size_t i = 0; i < rnd.changes.granted.n; i++) {
		const struct lease *l = &rnd.changes.granted.v[i];

		ck_assert_uint_lt(n_open, OPEN_MAX);
		ck_assert(str_copy_to(l->id, open[n_open].id, sizeof(open[0].id)));
		ck_assert(str_copy_to(l->service, open[n_open++].service, sizeof(open[0].service)));
	}
	for (size_t i = 0; i < rnd.changes.ended.n; i++)
		for (size_t k = 0; k < n_open; k++)
			if (str_eq(str_of(open[k].id), rnd.changes.ended.v[i])) {
				open[k] = open[--n_open];
				break;
			}
	most_open = n_open > most_open ? n_open : most_open;
	lease_round_reset(&rnd);
}

static struct lease_worker read_worker(const struct json_node *n)
{
	struct lease_worker w = { .source = json_get_str(n, "source"), .service = json_get_str(n, "service"),
		.worker = json_get_str(n, "worker"), .deploy = json_get_str(n, "deploy"), .why = json_get_str(n, "why"),
		.wants = json_get_bool(n, "wants", false), .last_ns = json_get_i64(n, "last_ns", 0),
		.every_nth = json_get_i64(n, "every_nth", 1) };

	ck_assert_int_eq(worker_state_parse(json_get_str(n, "state"), &w.state), OK);
	return w;
}

static struct lease_ended read_ended(const struct json_node *n)
{
	return (struct lease_ended){ .lease = json_get_str(n, "lease"), .capture = json_get_str(n, "capture"),
		.taken = json_get_bool(n, "taken", false), .end = json_get_str(n, "end"), .window = json_get_str(n, "window") };
}

static void take_poll(const struct host *h)
{
	const struct json_node *root, *workers, *ended;
	struct lease_worker w[SEATS];
	struct lease_ended d[LEAD_ENDED_MAX];
	struct lease_poll p = { .agent = str_of(h->id), .workers = w, .ended = d };
	struct err e = { 0 };

	ck_assert_int_eq(json_parse(&arena, buf_view(&body), &root, &e), OK);
	workers = json_get(root, "workers");
	ended = json_get(root, "ended");
	ck_assert(workers->n <= SEATS && ended->n <= LEAD_ENDED_MAX);
	p.host = json_get_str(root, "host");
	p.version = json_get_str(root, "version");
	for (size_t i = 0; i < workers->n; i++)
		w[p.n_workers++] = read_worker(&workers->items[i]);
	for (size_t i = 0; i < ended->n; i++)
		d[p.n_ended++] = read_ended(&ended->items[i]);
	ck_assert_msg(lease_table_poll(table, &p, wall(), &rnd, &e) == OK, "%s", e.text);
	note_changes();
}

static void put_lease(struct json_writer *w, const struct lease *l)
{
	jw_object(w);
	jw_key_str(w, "id", l->id);
	jw_key_str(w, "capture", l->capture);
	jw_key_str(w, "source", l->source);
	jw_key_str(w, "service", l->service);
	jw_key_str(w, "worker", l->worker);
	jw_key_i64(w, "duration_ns", l->duration_ns);
	jw_key_i64(w, "iterations", l->iterations);
	jw_key_i64(w, "ttl_ns", l->begin_ns - wall());
	jw_end(w);
}

static bool paused_now;

static void put_answer(const struct host *h)
{
	struct json_writer w;
	size_t n = 0;
	const struct lease *l = lease_table_told(table, str_of(h->id), wall(), &arena, &n);

	buf_reset(&answer);
	jw_init(&w, &answer);
	jw_object(&w);
	jw_key_bool(&w, "paused", paused_now);
	jw_key_text(&w, "reason", paused_now ? "an incident" : "");
	jw_key_i64(&w, "poll_ns", limits.poll_ns);
	jw_key_array(&w, "leases");
	for (size_t i = 0; i < n; i++)
		put_lease(&w, &l[i]);
	jw_end(&w);
	jw_end(&w);
	ck_assert_int_eq(jw_finish(&w, NULL), OK);
}

/* One exchange; a request or an answer may be lost. */
static void poll_daemon(struct host *h)
{
	struct err e = { 0 };

	arena_reset(&arena);
	buf_reset(&body);
	lead_report(&h->lead, now, wall(), &body);
	if (!daemon_up || one_in(50)) {
		lost_exchanges += daemon_up;
		lead_failed(&h->lead);
	} else {
		take_poll(h);
		put_answer(h);
		if (one_in(30)) {
			lost_exchanges++;
			lead_failed(&h->lead);
		} else {
			ck_assert_msg(lead_answer(&h->lead, buf_view(&answer), now, &e) == OK, "%s", e.text);
		}
	}
	h->poll_ns = now + h->lead.poll_ns;
}

static void run_daemon(void)
{
	static const int64_t away[][2] = { { 5 * 3600, 5 * 3600 + 1200 }, { 13 * 3600, 13 * 3600 + 25 } };
	int64_t s = now / NS_PER_S;

	daemon_up = true;
	for (size_t i = 0; i < COUNT(away); i++)
		daemon_up &= s < away[i][0] || s >= away[i][1];
	if (!daemon_up)
		return;
	paused_now = s >= 9 * 3600 && s < 9 * 3600 + 1800;
	lease_table_pause(table, paused_now);
	lease_table_tick(table, wall(), &rnd);
	note_changes();
}

/* Somebody asks for windows of all workers of a service on a host, every hour but the first. */
static uint64_t asked;

static void ask_for_capture(void)
{
	int64_t s = now / NS_PER_S;
	char id[CAPTURE_ID + 1], host[20];
	struct str name;
	struct capture c = { .reason = STR("a test"), .duration_ns = 2 * NS_PER_S };
	struct err e = { 0 };

	if (!daemon_up || paused_now || s % 3600 != 2000 || s < 3600)
		return;
	snprintf(id, sizeof(id), "%032" PRIx64, (uint64_t)s);
	snprintf(host, sizeof(host), "trn-%d", (int)rand_below(&gen, HOSTS));
	name = str_of(host);
	c.id = str_of(id);
	c.hosts = &name;
	c.n_hosts = 1;
	arena_reset(&arena);
	ck_assert_msg(lease_table_ask(table, &c, wall(), &rnd, &e) == OK, "%s", e.text);
	note_changes();
	asked++;
}

/* ---- processes */

static void start_proc(struct proc *p)
{
	*p = (struct proc){ .pid = ++next_pid, .born_ns = now, .dies_ns = now + some_s(3600, 6 * 3600) };
}

static void see(struct host *h, int i)
{
	struct proc *p = proc_of(h, i);
	struct seat *s = &h->seats[i];
	struct plan_worker w = { .source = source_of(i), .pid = p->pid, .born_ns = p->born_ns, .idle = now >= p->busy_until_ns };
	uint64_t id;

	snprintf(w.key, sizeof(w.key), "pid %d", p->pid);
	snprintf(w.service, sizeof(w.service), "%s", services[i % 3]);
	snprintf(w.worker, sizeof(w.worker), "%d", i);
	id = plan_seen(h->plan, &w, now, wall());
	ck_assert_uint_ne(id, 0);
	if (id == s->id)
		return;
	ck_assert_uint_eq(s->id, 0);
	s->id = id;
	s->first_slot = slot_of(h);
	if (i == 3)
		plan_set_duty(h->plan, id, 2);
}

/* It is no more in the plan: what slots it had, up to now. */
static void close_seat(struct host *h, int i)
{
	h->slots += (uint64_t)(slot_of(h) - h->seats[i].first_slot);
	h->seats[i].id = 0;
}

static void end_seat(struct host *h, int i)
{
	if (h->seats[i].id == 0)
		return;
	plan_gone(h->plan, h->seats[i].id);
	close_seat(h, i);
}

static void close_forgotten_seats(struct host *h)
{
	for (int i = 0; i < SEATS; i++) {
		bool there = false;

		for (size_t k = 0; k < plan_count(h->plan); k++)
			there |= plan_at(h->plan, k).id == h->seats[i].id;
		if (h->seats[i].id != 0 && !there)
			close_seat(h, i);
	}
}

static bool seats_closed(const struct host *h, int proc)
{
	return h->seats[proc].id == 0 && (proc != 0 || h->seats[1].id == 0);
}

static void run_procs(struct host *h)
{
	for (int i = 0; i < SEATS; i++) {
		struct proc *p = &h->procs[i];

		if (i == 1)
			continue; /* the process of seat 0 */
		if (p->pid == 0 && seats_closed(h, i) && one_in(60))
			start_proc(p);
		if (p->pid != 0 && now >= p->dies_ns) {
			p->pid = 0;
			if (one_in(2)) /* else nobody tells, and it is forgotten in time */
				end_seat(h, i);
			if (i == 0)
				end_seat(h, 1);
		}
		if (p->pid != 0 && one_in(2000))
			p->busy_until_ns = now + some_s(10, 300); /* profiles itself */
	}
	for (int i = 0; i < SEATS; i++)
		if (proc_of(h, i)->pid != 0 && (now / NS_PER_S + i) % 5 == 0)
			see(h, i);
}

/* ---- windows */

static struct shot *free_window(struct host *h)
{
	for (int i = 0; i < WINDOWS_MAX; i++)
		if (h->shots[i].state == NONE)
			return &h->shots[i];
	ck_abort_msg("more orders than there can be windows");
	return NULL;
}

static int seat_of(const struct host *h, uint64_t id)
{
	for (int i = 0; i < SEATS; i++)
		if (h->seats[i].id == id)
			return i;
	ck_abort_msg("an order for a worker that is gone");
	return 0;
}

static void take_orders(struct host *h)
{
	struct plan_order o;

	for (size_t k = 0; k < COUNT(sources); k++)
		while (plan_next(h->plan, sources[k], now, wall(), &o)) {
			struct shot *w = free_window(h);
			int seat = seat_of(h, o.worker);

			ck_assert(!h->lead.paused);
			*w = (struct shot){ .o = o, .seat = seat, .pid = proc_of(h, seat)->pid, .state = GIVEN,
				.next_ns = now + some_s(0, 5) };
			h->scheduled += o.reason == PLAN_SCHEDULED;
			alone += o.lease[0] == '\0';
		}
}

static void begin_window(struct host *h, struct shot *w)
{
	const struct proc *p = proc_of(h, w->seat);

	if (now >= w->o.expires_ns || p->pid != w->pid || now < p->busy_until_ns || one_in(100)) {
		plan_unsent(h->plan, w->o.id, now);
		h->unsent += w->o.reason == PLAN_SCHEDULED;
		w->state = NONE;
		return;
	}
	w->state = UNDER_WAY;
	w->next_ns = now + w->o.duration_ns + some_s(2, 6);
}

static void end_window(struct host *h, struct shot *w)
{
	char id[WINDOW_ID_TEXT];
	bool good = !one_in(20);

	snprintf(id, sizeof(id), "%032" PRIx64, rand_u64(&gen));
	plan_made(h->plan, w->o.id, id);
	plan_end(h->plan, w->o.id, good, good ? "taken" : "empty", now);
	w->state = NONE;
	taken += good;
	spoilt += !good;
	h->seats[w->seat].windows += good;
}

static void run_windows(struct host *h)
{
	for (int i = 0; i < WINDOWS_MAX; i++) {
		struct shot *w = &h->shots[i];

		if (w->state == UNDER_WAY && proc_of(h, w->seat)->pid != w->pid) {
			plan_end(h->plan, w->o.id, false, "died", now);
			w->state = NONE;
			spoilt++;
		}
		if (w->state == NONE || now < w->next_ns)
			continue;
		if (w->state == GIVEN) {
			begin_window(h, w);
		} else if (w->state == UNDER_WAY) {
			plan_over(h->plan, w->o.id);
			w->state = OVER;
			w->next_ns = now + some_s(0, 3); /* the trace is read */
		} else {
			end_window(h, w);
		}
	}
}

/* ---- what must hold at every second */

static bool is_open(const char *lease)
{
	for (size_t i = 0; i < n_open; i++)
		if (strcmp(open[i].id, lease) == 0)
			return true;
	return false;
}

static void check_host(const struct host *h)
{
	size_t out = 0;

	for (int i = 0; i < WINDOWS_MAX; i++) {
		const struct shot *w = &h->shots[i];

		if (w->state != GIVEN && w->state != UNDER_WAY)
			continue;
		out++;
		ck_assert_msg(w->o.lease[0] == '\0' || is_open(w->o.lease), "a window whose lease the daemon does not count any more");
		for (int k = 0; k < i; k++)
			ck_assert_msg(w->pid == 0 || h->shots[k].pid != w->pid || h->shots[k].state == OVER || h->shots[k].state == NONE,
				"two windows of a process");
	}
	ck_assert_uint_eq(out, plan_out(h->plan));
	ck_assert_uint_le(out, h->settings.max_at_once);
}

static void check_leases(void)
{
	for (size_t s = 0; s < COUNT(services); s++) {
		int64_t n = 0;

		for (size_t i = 0; i < n_open; i++)
			n += strcmp(open[i].service, services[s]) == 0;
		ck_assert_int_le(n, limits.max_per_service);
	}
	ck_assert_uint_le(n_open, HOSTS * SEATS * (size_t)limits.max_share_percent / 100);
	ck_assert_uint_eq(n_open, lease_table_counts(table).leases);
}

/* ---- the day */

static void make_host(struct host *h, int i)
{
	*h = (struct host){ .settings = { .max_at_once = 2, .min_age_ns = NS_PER_MIN, .duration_ns = 500 * NS_PER_MS } };
	snprintf(h->name, sizeof(h->name), "trn-%d", i);
	snprintf(h->id, sizeof(h->id), "%032x", i + 1);
	schedule_init(&h->settings.schedule, 5 * NS_PER_MIN, str_of(h->name));
	ck_assert_int_eq(schedule_add_quiet(&h->settings.schedule, STR("03:00-04:00"), NULL), OK);
	h->plan = plan_new(&h->settings);
	lead_init(&h->lead, &(struct lead_settings){ h->name, wall(), 10 * NS_PER_S }, h->plan, false, "");
	h->poll_ns = now + some_s(0, 10);
}

static void setup(void)
{
	const char *seed = getenv("PROP_SEED");

	rand_seed(&gen, seed == NULL ? 20261129 : strtoull(seed, NULL, 10));
	wall0 = INT64_C(1790000000) * NS_PER_S / NS_PER_DAY * NS_PER_DAY;
	now = NS_PER_S;
	next_pid = 1000;
	n_open = most_open = 0;
	taken = spoilt = alone = asked = lost_exchanges = 0;
	table = lease_table_new(&limits, 1);
	lease_round_init(&rnd);
	arena_init(&arena, 64 << 20);
	buf_init(&body, LEAD_BODY_MAX);
	buf_init(&answer, LEAD_ANSWER_MAX);
	for (int i = 0; i < HOSTS; i++)
		make_host(&hosts[i], i);
}

static void teardown(void)
{
	for (int i = 0; i < HOSTS; i++)
		plan_free(hosts[i].plan);
	lease_table_free(table);
	lease_round_fini(&rnd);
	arena_fini(&arena);
	buf_fini(&body);
	buf_fini(&answer);
}

static void run_second(void)
{
	run_daemon();
	ask_for_capture();
	for (int i = 0; i < HOSTS; i++) {
		struct host *h = &hosts[i];

		if (now >= h->poll_ns)
			poll_daemon(h);
		plan_tick(h->plan, now, wall());
		close_forgotten_seats(h);
		run_procs(h);
		run_windows(h);
		take_orders(h);
		check_host(h);
	}
	check_leases();
}

static uint64_t missed[PLAN_WHYS];

static void close_day(struct host *h)
{
	uint64_t in_all = 0;

	for (int i = 0; i < SEATS; i++)
		end_seat(h, i);
	for (int i = 0; i < WINDOWS_MAX; i++) /* orders that are not begun yet have their slots all the same */
		ck_assert_int_le(h->shots[i].state, OVER);
	for (int why = 0; why < PLAN_WHYS; why++) {
		in_all += plan_missed(h->plan, (enum plan_why)why);
		missed[why] += plan_missed(h->plan, (enum plan_why)why);
	}
	ck_assert_msg(h->slots == h->scheduled - h->unsent + in_all,
		"%s: %" PRIu64 " slots, %" PRIu64 " orders, %" PRIu64 " of them not sent, %" PRIu64 " missed", h->name, h->slots,
		h->scheduled, h->unsent, in_all);
}

START_TEST(in_a_day_every_slot_is_taken_or_accounted_for_and_no_lease_is_exceeded)
{
	struct lease_counts c;
	uint64_t slots = 0, least = UINT64_MAX, alone_led = 0;
	int64_t began = clock_mono_ns();

	memset(missed, 0, sizeof(missed));
	for (; now < NS_PER_DAY; now += NS_PER_S) {
		run_second();
		if (now == (5 * INT64_C(3600) + 60) * NS_PER_S)
			alone_led = alone; /* the daemon is away, and all know it */
		if (now == (5 * INT64_C(3600) + 1190) * NS_PER_S)
			ck_assert_uint_gt(alone, alone_led + HOSTS * SEATS * 2); /* four slots, by the local limits */
	}
	for (int i = 0; i < HOSTS; i++) {
		close_day(&hosts[i]);
		slots += hosts[i].slots;
		for (int k = 0; k < SEATS; k++)
			least = hosts[i].seats[k].windows < least ? hosts[i].seats[k].windows : least;
	}
	c = lease_table_counts(table);
	printf("# a day of %d hosts in %.1f s: %" PRIu64 " slots, %" PRIu64 " windows, %" PRIu64 " spoilt, %" PRIu64 " without a lease, "
	       "%" PRIu64 " exchanges lost, at most %zu leases at once; the worker with the fewest has %" PRIu64 "\n#", HOSTS,
		(double)(clock_mono_ns() - began) / 1e9, slots, taken, spoilt, alone, lost_exchanges, most_open, least);
	for (int why = 0; why < PLAN_WHYS; why++)
		printf(" missed_%s=%" PRIu64, plan_why_word((enum plan_why)why), missed[why]);
	printf("\n# leases: %" PRIu64 " granted, %" PRIu64 " taken, %" PRIu64 " not, %" PRIu64 " ran out; captures: %" PRIu64
	       " asked for, %" PRIu64 " done\n", c.granted, c.taken, c.not_taken, c.ran_out, asked, c.captures[CAPTURE_DONE]);
	fflush(stdout);
	ck_assert_uint_gt(slots, 12000);
	ck_assert_uint_gt(taken, slots * 7 / 10);
	ck_assert_uint_lt(missed[PLAN_UNLEASED] + missed[PLAN_CROWDED] + missed[PLAN_DUE], slots / 20);
	ck_assert_uint_gt(missed[PLAN_QUIET], 0);
	ck_assert_uint_gt(missed[PLAN_PAUSED], 0);
	ck_assert_uint_gt(missed[PLAN_BUDGET], 0);
	ck_assert_uint_gt(missed[PLAN_BUSY], 0);
	ck_assert_uint_gt(least, 50);
	ck_assert_uint_eq(c.granted, c.taken + c.not_taken + c.ran_out + c.leases);
	ck_assert_uint_eq(asked, c.captures[CAPTURE_DONE] + c.captures[CAPTURE_EXPIRED] + c.open_captures);
	ck_assert_uint_ge(c.captures[CAPTURE_DONE], asked * 9 / 10);
}
END_TEST

Suite *suite_day(void)
{
	Suite *s = suite_create("fleet/day");
	TCase *tc = tcase_create("day");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, in_a_day_every_slot_is_taken_or_accounted_for_and_no_lease_is_exceeded);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(suite_day)
