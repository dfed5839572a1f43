#include "agent/plan.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"

static const int64_t forget_ns = NS_PER_MIN; /* a worker that is not seen */
/* A worker polls every five seconds, so an order should get through within this. */
static const int64_t order_ns = 15 * NS_PER_S;
static const int64_t lost_ns = NS_PER_HOUR; /* after its window, an order that nobody ended */
/* Whoever's source has not asked for so long does not wait for a place. */
static const int64_t waits_ns = 30 * NS_PER_S;
static const int64_t ask_ns = 5 * NS_PER_MIN; /* a window that was asked for here is of no use later */
static const int64_t remember_ns = 10 * NS_PER_MIN; /* a lease that has ended, in case that the daemon repeats it */
static const int64_t look_ns = NS_PER_S, idle_ns = 30 * NS_PER_S;
static const int64_t rest_ns = NS_PER_S; /* after an order that did not get through */

static const char *const why_words[] = {
	[PLAN_DUE] = "due",
	[PLAN_YOUNG] = "young",
	[PLAN_BUSY] = "busy",
	[PLAN_QUIET] = "quiet",
	[PLAN_PAUSED] = "paused",
	[PLAN_BUDGET] = "budget",
	[PLAN_CROWDED] = "crowded",
	[PLAN_UNLEASED] = "unleased",
	[PLAN_UNSENT] = "unsent",
};
_Static_assert(COUNT(why_words) == PLAN_WHYS, "name every reason");

const char *plan_why_word(enum plan_why why)
{
	return why_words[why];
}

struct seat { /* a worker */
	struct plan_worker w;
	uint64_t id, key_hash;
	int64_t seen_ns, offered_ns; /* mono; offered: its source asked whose turn it is */
	int64_t slot, turned_ns;     /* the slot it is in, and since when (mono) */
	bool owed;		     /* the slot has not given it a window yet */
	bool unsent;		     /* in this slot an order did not get through */
	bool out, ready, wants; /* wants: only a lease is missing */
	enum plan_why why; /* of the slot that is owed */
	enum plan_reason reason; /* with ready: why it is its turn, and by which lease */
	uint64_t lease;
	int64_t asked_ns, last_ns; /* mono: its last order; its last window */
	int64_t want_until_ns, wanted_ns[PLAN_REASONS]; /* asked for here: until when; when */
	int64_t rest_until_ns; /* no order before then */
	unsigned every_nth;
	int64_t cost_ppm;
	bool measured;
};

enum lease_state { LEASE_OPEN, LEASE_OUT, LEASE_OVER };

struct lease {
	uint64_t no, worker;
	enum lease_state state;
	enum plan_why why; /* open: what stands in the way */
	bool told;
	int64_t duration_ns, iterations, expires_ns, heard_ns;
	struct plan_ended end; /* its ids, from the first */
};

struct order {
	struct plan_order o;
	int64_t slot, lost_ns;
	uint64_t lease;
	bool over;
	char window[WINDOW_ID_TEXT];
};

VEC(seats, struct seat);
VEC(leases, struct lease);
VEC(orders, struct order);
VEC(pids, pid_t);

struct plan {
	struct plan_settings settings;
	struct seats seats;
	struct leases leases;
	struct orders orders;
	struct pids busy; /* sorted; whose profiler is not free */
	size_t out;	  /* orders whose window is not over */
	bool leads, paused, settings_changed;
	uint64_t last_seat, last_order, last_lease;
	uint64_t missed[PLAN_WHYS], given, refused;
};

struct plan *plan_new(const struct plan_settings *s)
{
	struct plan *p = mem_get(sizeof(*p));

	p->settings = *s;
	p->seats.cap = PLAN_WORKERS_MAX;
	p->leases.cap = PLAN_LEASES_MAX;
	p->orders.cap = PLAN_ORDERS_MAX;
	p->busy.cap = PLAN_WORKERS_MAX;
	return p;
}

void plan_free(struct plan *p)
{
	if (p == NULL)
		return;
	vec_fini(&p->seats);
	vec_fini(&p->leases);
	vec_fini(&p->orders);
	vec_fini(&p->busy);
	mem_free(p);
}

void plan_set(struct plan *p, const struct plan_settings *s)
{
	p->settings_changed |= s->schedule.interval_ns != p->settings.schedule.interval_ns ||
			       s->schedule.offset_ns != p->settings.schedule.offset_ns;
	p->settings = *s;
}

const struct plan_settings *plan_get(const struct plan *p)
{
	return &p->settings;
}

static struct seat *find_seat(const struct plan *p, uint64_t id)
{
	vec_each(s, &p->seats)
		if (s->id == id)
			return s;
	return NULL;
}

static struct order *find_order(const struct plan *p, uint64_t id)
{
	vec_each(o, &p->orders)
		if (o->o.id == id)
			return o;
	return NULL;
}

static struct lease *find_lease(const struct plan *p, uint64_t no)
{
	vec_each(l, &p->leases)
		if (l->no == no && no != 0)
			return l;
	return NULL;
}

/* ---- slots */

static enum plan_why counted(const struct seat *s)
{
	return s->why == PLAN_DUE && s->unsent ? PLAN_UNSENT : s->why;
}

/* Into the slot that it is now; those that gave nothing are accounted for. Where the clock was set back the slots go on as time
 * goes by, and where it was set ahead no more are counted than time went by for. */
static void turn_slot(struct plan *p, struct seat *s, int64_t now_ns, int64_t wall_ns)
{
	int64_t slot = schedule_slot(&p->settings.schedule, wall_ns), passed = slot - s->slot;
	int64_t most = (now_ns - s->turned_ns) / p->settings.schedule.interval_ns + 1;

	if (passed < 0)
		passed = most - 1;
	if (passed == 0)
		return;
	if (passed > most)
		passed = most;
	p->missed[counted(s)] += (uint64_t)(passed - 1) + s->owed;
	s->slot = slot;
	s->turned_ns = now_ns;
	s->owed = true;
	s->unsent = false;
}

/* The old slots mean nothing in the new schedule. */
static void begin_slots_anew(struct plan *p, int64_t now_ns, int64_t wall_ns)
{
	p->settings_changed = false;
	vec_each(s, &p->seats) {
		p->missed[counted(s)] += s->owed;
		s->owed = false;
		s->slot = schedule_slot(&p->settings.schedule, wall_ns);
		s->turned_ns = now_ns;
	}
}

static void turn_slots(struct plan *p, int64_t now_ns, int64_t wall_ns)
{
	if (p->settings_changed)
		begin_slots_anew(p, now_ns, wall_ns);
	vec_each(s, &p->seats)
		turn_slot(p, s, now_ns, wall_ns);
}

/* ---- leases */

static void end_lease(struct lease *l, bool taken, const char *end, const char *window)
{
	l->state = LEASE_OVER;
	l->told = false;
	l->end.taken = taken;
	l->end.end = end;
	str_copy_to(str_of(window), l->end.window, sizeof(l->end.window));
}

static void end_leases_of(struct plan *p, uint64_t worker)
{
	vec_each(l, &p->leases)
		if (l->worker == worker && l->state == LEASE_OPEN)
			end_lease(l, false, "gone", "");
}

static void expire_leases(struct plan *p, int64_t now_ns)
{
	size_t kept = 0, n = p->leases.n;

	for (size_t i = 0; i < n; i++) {
		struct lease *l = &p->leases.v[i];

		if (l->state == LEASE_OPEN && now_ns >= l->expires_ns)
			end_lease(l, false, l->why == PLAN_DUE ? "expired" : why_words[l->why], "");
		if (l->state != LEASE_OVER || !l->told || now_ns - l->heard_ns < remember_ns)
			p->leases.v[kept++] = *l;
	}
	p->leases.n = kept;
}

/* The first one of a worker that can be used: for what was asked for, or for the schedule. */
static struct lease *open_lease(const struct plan *p, uint64_t worker, bool asked)
{
	vec_each(l, &p->leases)
		if (l->worker == worker && l->state == LEASE_OPEN && (l->end.capture[0] != '\0') == asked)
			return l;
	return NULL;
}

/* ---- workers */

static uint64_t hash_key(const char *source, const char *key)
{
	return hash64(key, strlen(key), hash64(source, strlen(source), 0));
}

static struct seat *find_key(const struct plan *p, const char *source, const char *key, uint64_t hash)
{
	vec_each(s, &p->seats)
		if (s->key_hash == hash && strcmp(s->w.source, source) == 0 && strcmp(s->w.key, key) == 0)
			return s;
	return NULL;
}

static struct seat *add_seat(struct plan *p, uint64_t hash, int64_t now_ns, int64_t wall_ns)
{
	struct seat *s = vec_push(&p->seats);

	if (s == NULL) {
		p->refused++;
		return NULL;
	}
	s->id = ++p->last_seat;
	s->key_hash = hash;
	s->slot = schedule_slot(&p->settings.schedule, wall_ns);
	s->turned_ns = now_ns;
	s->why = PLAN_YOUNG;
	s->every_nth = 1;
	return s;
}

uint64_t plan_seen(struct plan *p, const struct plan_worker *w, int64_t now_ns, int64_t wall_ns)
{
	uint64_t hash = hash_key(w->source, w->key);
	struct seat *s = find_key(p, w->source, w->key, hash);

	if (s == NULL)
		s = add_seat(p, hash, now_ns, wall_ns);
	if (s == NULL)
		return 0;
	s->w = *w;
	s->seen_ns = now_ns;
	return s->id;
}

/* The last one takes its place. Its order, if one is out, goes on. */
static void drop_seat(struct plan *p, struct seat *s)
{
	p->missed[counted(s)] += s->owed;
	end_leases_of(p, s->id);
	*s = p->seats.v[--p->seats.n];
}

void plan_gone(struct plan *p, uint64_t worker)
{
	struct seat *s = find_seat(p, worker);

	if (s != NULL)
		drop_seat(p, s);
}

/* ---- whose turn it is */

static int by_pid(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static void note_busy(struct plan *p)
{
	p->busy.n = 0;
	vec_each(s, &p->seats)
		if (s->w.pid != 0 && (s->out || !s->w.idle)) {
			pid_t *place = vec_push(&p->busy);

			if (place != NULL)
				*place = s->w.pid;
		}
	if (p->busy.n > 1)
		qsort(p->busy.v, p->busy.n, sizeof(p->busy.v[0]), by_pid);
}

static bool is_busy(const struct plan *p, const struct seat *s)
{
	if (!s->w.idle || s->out)
		return true;
	return s->w.pid != 0 && p->busy.n > 0 &&
	       bsearch(&s->w.pid, p->busy.v, p->busy.n, sizeof(p->busy.v[0]), by_pid) != NULL;
}

/* What holds for every window, whatever it is for; place and lease come last. */
static enum plan_why in_the_way(const struct plan *p, const struct seat *s, bool quiet, int64_t now_ns)
{
	if (p->paused)
		return PLAN_PAUSED;
	if (is_busy(p, s))
		return PLAN_BUSY;
	if (quiet)
		return PLAN_QUIET;
	if (s->w.born_ns != 0 && now_ns - s->w.born_ns < p->settings.min_age_ns)
		return PLAN_YOUNG;
	if (now_ns < s->rest_until_ns)
		return PLAN_UNSENT;
	return PLAN_DUE;
}

/* Not all workers of a host pass over the same slots. */
static bool in_budget(const struct seat *s)
{
	return s->every_nth <= 1 || ((uint64_t)s->slot + s->id) % s->every_nth == 0;
}

static bool is_wanted(const struct seat *s, int64_t now_ns)
{
	return now_ns < s->want_until_ns;
}

static void make_ready(struct seat *s, enum plan_reason reason, const struct lease *l)
{
	s->ready = true;
	s->reason = reason;
	s->lease = l == NULL ? 0 : l->no;
}

static void judge(struct plan *p, struct seat *s, bool quiet, int64_t now_ns)
{
	enum plan_why why = in_the_way(p, s, quiet, now_ns);
	struct lease *asked = open_lease(p, s->id, true), *plain = open_lease(p, s->id, false);
	bool leave = !p->leads || plain != NULL, full = p->out >= p->settings.max_at_once;
	enum plan_why last = !leave ? PLAN_UNLEASED : full ? PLAN_CROWDED : PLAN_DUE;

	s->ready = false;
	s->wants = why == PLAN_DUE && !leave && !full && (is_wanted(s, now_ns) || (s->owed && in_budget(s)));
	s->why = why != PLAN_DUE ? why : !in_budget(s) ? PLAN_BUDGET : last;
	if (asked != NULL)
		asked->why = why == PLAN_DUE && full ? PLAN_CROWDED : why;
	if (plain != NULL)
		plain->why = s->why;
	if (plain != NULL && !s->owed && !is_wanted(s, now_ns))
		end_lease(plain, false, "unneeded", ""); /* it had its window meanwhile: another worker may have the place */
	if (why != PLAN_DUE)
		return;
	if (asked != NULL)
		make_ready(s, PLAN_ASKED, asked);
	else if (is_wanted(s, now_ns) && leave)
		make_ready(s, PLAN_SLOW_STEP, plain);
	else if (s->owed && leave && in_budget(s))
		make_ready(s, PLAN_SCHEDULED, plain);
}

static void judge_all(struct plan *p, int64_t now_ns, int64_t wall_ns)
{
	bool quiet = schedule_is_quiet(&p->settings.schedule, wall_ns);

	turn_slots(p, now_ns, wall_ns);
	expire_leases(p, now_ns);
	note_busy(p);
	vec_each(s, &p->seats)
		judge(p, s, quiet, now_ns);
}

/* What was asked for goes first, then whoever had none for the longest time. */
static bool goes_before(const struct seat *a, const struct seat *b)
{
	bool slot_a = a->reason == PLAN_SCHEDULED, slot_b = b->reason == PLAN_SCHEDULED;

	return slot_a != slot_b ? slot_b : a->asked_ns < b->asked_ns;
}

static struct seat *first_of(struct plan *p, const char *source, int64_t now_ns)
{
	struct seat *first = NULL;

	vec_each(s, &p->seats) {
		if (strcmp(s->w.source, source) != 0)
			continue;
		s->offered_ns = now_ns;
		if (s->ready && (first == NULL || goes_before(s, first)))
			first = s;
	}
	return first;
}

/* How many of other sources will take a place before it: without this, the source that asks first would always win. */
static size_t waiting_before(const struct plan *p, const struct seat *first, int64_t now_ns)
{
	size_t n = 0;

	vec_each(s, &p->seats)
		n += s->ready && s->offered_ns != 0 && now_ns - s->offered_ns < waits_ns && goes_before(s, first);
	return n;
}

static void crowd_out(struct plan *p, const char *source)
{
	vec_each(s, &p->seats)
		if (s->ready && s->why == PLAN_DUE && strcmp(s->w.source, source) == 0)
			s->why = PLAN_CROWDED;
}

static void fill_order(const struct plan *p, const struct seat *s, const struct lease *l, struct plan_order *o,
	int64_t now_ns)
{
	*o = (struct plan_order){ .worker = s->id, .reason = s->reason, .expires_ns = now_ns + order_ns,
		.duration_ns = p->settings.duration_ns, .iterations = p->settings.iterations };
	memcpy(o->key, s->w.key, sizeof(o->key));
	if (l == NULL)
		return;
	if (l->duration_ns > 0 || l->iterations > 0)
		o->iterations = l->iterations;
	if (l->duration_ns > 0)
		o->duration_ns = l->duration_ns;
	if (l->expires_ns < o->expires_ns)
		o->expires_ns = l->expires_ns;
	memcpy(o->lease, l->end.lease, sizeof(o->lease));
	memcpy(o->capture, l->end.capture, sizeof(o->capture));
}

static bool give(struct plan *p, struct seat *s, int64_t now_ns, struct plan_order *out)
{
	struct lease *l = find_lease(p, s->lease);
	struct order *o = vec_push(&p->orders);

	if (o == NULL)
		return false;
	fill_order(p, s, l, &o->o, now_ns);
	o->o.id = ++p->last_order;
	o->slot = s->slot;
	o->lease = s->lease;
	o->lost_ns = o->o.expires_ns + o->o.duration_ns + lost_ns;
	if (l != NULL)
		l->state = LEASE_OUT;
	if (s->reason == PLAN_SCHEDULED)
		s->owed = false;
	if (s->reason == PLAN_SLOW_STEP)
		s->want_until_ns = 0;
	s->out = true;
	s->ready = false;
	s->asked_ns = now_ns;
	p->out++;
	p->given++;
	if (p->out >= p->settings.max_at_once)
		crowd_out(p, s->w.source);
	*out = o->o;
	return true;
}

bool plan_next(struct plan *p, const char *source, int64_t now_ns, int64_t wall_ns, struct plan_order *out)
{
	size_t room;
	struct seat *first;

	judge_all(p, now_ns, wall_ns);
	first = first_of(p, source, now_ns);
	if (first == NULL)
		return false;
	room = p->out < p->settings.max_at_once ? p->settings.max_at_once - p->out : 0;
	if (room == 0 || waiting_before(p, first, now_ns) >= room) {
		crowd_out(p, source);
		return false;
	}
	return give(p, first, now_ns, out);
}

/* ---- how orders end */

static void leave_place(struct plan *p, struct order *o)
{
	struct seat *s = find_seat(p, o->o.worker);

	if (o->over)
		return;
	o->over = true;
	p->out--;
	if (s != NULL)
		s->out = false;
}

static void drop_order(struct plan *p, struct order *o)
{
	*o = p->orders.v[--p->orders.n];
}

void plan_over(struct plan *p, uint64_t order)
{
	struct order *o = find_order(p, order);

	if (o != NULL)
		leave_place(p, o);
}

uint64_t plan_made(struct plan *p, uint64_t order, const char *window)
{
	struct order *o = find_order(p, order);

	if (o == NULL)
		return 0;
	str_copy_to(str_of(window), o->window, sizeof(o->window));
	return o->o.worker;
}

bool plan_order(const struct plan *p, uint64_t order, struct plan_order *out)
{
	const struct order *o = find_order(p, order);

	if (o != NULL)
		*out = o->o;
	return o != NULL;
}

void plan_end(struct plan *p, uint64_t order, bool taken, const char *end, int64_t now_ns)
{
	struct order *o = find_order(p, order);
	struct seat *s;
	struct lease *l;

	if (o == NULL)
		return;
	leave_place(p, o);
	s = find_seat(p, o->o.worker);
	l = find_lease(p, o->lease);
	if (s != NULL && taken)
		s->last_ns = now_ns;
	if (l != NULL)
		end_lease(l, taken, end, taken ? o->window : "");
	drop_order(p, o);
}

/* Its slot is owed again, or over. */
static void give_slot_back(struct plan *p, const struct order *o)
{
	struct seat *s = find_seat(p, o->o.worker);

	if (o->o.reason != PLAN_SCHEDULED)
		return;
	if (s == NULL || s->slot != o->slot) {
		p->missed[PLAN_UNSENT]++;
		return;
	}
	s->owed = true;
	s->unsent = true;
}

void plan_unsent(struct plan *p, uint64_t order, int64_t now_ns)
{
	struct order *o = find_order(p, order);
	struct seat *s;
	struct lease *l;

	if (o == NULL)
		return;
	leave_place(p, o);
	give_slot_back(p, o);
	s = find_seat(p, o->o.worker);
	l = find_lease(p, o->lease);
	if (s != NULL)
		s->rest_until_ns = now_ns + rest_ns;
	if (s != NULL && o->o.reason == PLAN_SLOW_STEP)
		s->want_until_ns = s->wanted_ns[PLAN_SLOW_STEP] + ask_ns;
	if (l != NULL) {
		l->state = LEASE_OPEN;
		l->why = PLAN_UNSENT;
		if (s == NULL || now_ns >= l->expires_ns)
			end_lease(l, false, why_words[PLAN_UNSENT], "");
	}
	drop_order(p, o);
}

static void drop_lost_orders(struct plan *p, int64_t now_ns)
{
	for (size_t i = p->orders.n; i-- > 0;)
		if (now_ns >= p->orders.v[i].lost_ns)
			plan_end(p, p->orders.v[i].o.id, false, "lost", now_ns);
}

void plan_tick(struct plan *p, int64_t now_ns, int64_t wall_ns)
{
	drop_lost_orders(p, now_ns);
	judge_all(p, now_ns, wall_ns);
	for (size_t i = p->seats.n; i-- > 0;)
		if (now_ns - p->seats.v[i].seen_ns > forget_ns)
			drop_seat(p, &p->seats.v[i]);
}

int64_t plan_wake_ns(const struct plan *p, int64_t now_ns, int64_t wall_ns)
{
	const struct schedule *sc = &p->settings.schedule;
	int64_t next = (schedule_slot(sc, wall_ns) + 1) * sc->interval_ns + sc->offset_ns - wall_ns;
	bool pending = p->orders.n > 0;

	if (p->seats.n == 0 && !pending && p->leases.n == 0)
		return INT64_MAX;
	vec_each(s, &p->seats)
		pending |= s->owed || is_wanted(s, now_ns);
	vec_each(l, &p->leases)
		pending |= l->state == LEASE_OPEN;
	if (next > idle_ns)
		next = idle_ns;
	return now_ns + (pending && next > look_ns ? look_ns : next);
}

/* ---- the daemon's word */

void plan_lead(struct plan *p, bool daemon_leads)
{
	p->leads = daemon_leads;
}

void plan_pause(struct plan *p, bool paused)
{
	p->paused = paused;
}

static struct lease *lease_of_id(const struct plan *p, struct str id)
{
	vec_each(l, &p->leases)
		if (str_eq(str_of(l->end.lease), id))
			return l;
	return NULL;
}

static bool has_lease(const struct plan *p, const struct seat *s)
{
	return open_lease(p, s->id, true) != NULL || open_lease(p, s->id, false) != NULL;
}

/* Of two workers that are called the same, who needs the lease more. */
static bool needs_more(const struct plan *p, const struct seat *a, const struct seat *b)
{
	bool has_a = has_lease(p, a), has_b = has_lease(p, b);

	if (has_a != has_b)
		return has_b;
	if (a->wants != b->wants)
		return a->wants;
	return a->asked_ns < b->asked_ns;
}

static struct seat *whom(const struct plan *p, const struct plan_grant *g)
{
	struct seat *best = NULL;

	vec_each(s, &p->seats)
		if (str_eq(str_of(s->w.source), g->source) && str_eq(str_of(s->w.service), g->service) &&
			str_eq(str_of(s->w.worker), g->worker) && (best == NULL || needs_more(p, s, best)))
			best = s;
	return best;
}

/* Where there is no room, the oldest that has ended goes. */
static struct lease *new_lease(struct plan *p)
{
	struct lease *l = vec_push(&p->leases);

	if (l != NULL)
		return l;
	vec_each(old, &p->leases)
		if (old->state == LEASE_OVER) {
			memmove(old, old + 1, (size_t)(p->leases.v + p->leases.n - old - 1) * sizeof(*old));
			p->leases.n--;
			return vec_push(&p->leases);
		}
	return NULL;
}

static void repeat_lease(struct lease *l, const struct plan_grant *g, int64_t now_ns)
{
	l->heard_ns = now_ns;
	l->told = false;
	if (l->state == LEASE_OPEN)
		l->expires_ns = g->expires_ns;
}

int plan_grant(struct plan *p, const struct plan_grant *g, int64_t now_ns, struct err *e)
{
	struct lease *l = lease_of_id(p, g->id);
	const struct seat *s;

	if (l != NULL) {
		repeat_lease(l, g, now_ns);
		return OK;
	}
	if (str_empty(g->id) || g->id.n >= PLAN_ID_TEXT || g->capture.n >= PLAN_ID_TEXT)
		return err_set(e, E_FORMAT, "lease: an id of %zu bytes", g->id.n);
	l = new_lease(p);
	if (l == NULL)
		return err_set(e, E_LIMIT, "more than %d leases", PLAN_LEASES_MAX);
	s = whom(p, g);
	*l = (struct lease){ .no = ++p->last_lease, .worker = s == NULL ? 0 : s->id, .duration_ns = g->duration_ns,
		.iterations = g->iterations, .expires_ns = g->expires_ns, .heard_ns = now_ns };
	str_copy_to(g->id, l->end.lease, sizeof(l->end.lease));
	str_copy_to(g->capture, l->end.capture, sizeof(l->end.capture));
	if (s == NULL) {
		end_lease(l, false, "gone", "");
		return err_set(e, E_NOT_FOUND, "lease: no worker \"%.*s\" of service \"%.*s\" in source %.*s",
			STR_ARG(g->worker), STR_ARG(g->service), STR_ARG(g->source));
	}
	return OK;
}

size_t plan_ended(const struct plan *p, struct plan_ended *out, size_t max)
{
	size_t n = 0;

	vec_each(l, &p->leases)
		if (l->state == LEASE_OVER && !l->told && n < max)
			out[n++] = l->end;
	return n;
}

bool plan_has_ended(const struct plan *p)
{
	vec_each(l, &p->leases)
		if (l->state == LEASE_OVER && !l->told)
			return true;
	return false;
}

void plan_told(struct plan *p, const struct plan_ended *ended, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct lease *l = lease_of_id(p, str_of(ended[i].lease));

		if (l != NULL)
			l->told = true;
	}
}

bool plan_ask(struct plan *p, uint64_t worker, enum plan_reason reason, int64_t every_ns, int64_t now_ns)
{
	struct seat *s = find_seat(p, worker);

	if (s == NULL || (s->wanted_ns[reason] != 0 && now_ns - s->wanted_ns[reason] < every_ns))
		return false;
	s->wanted_ns[reason] = now_ns;
	s->want_until_ns = now_ns + ask_ns;
	return true;
}

void plan_set_duty(struct plan *p, uint64_t worker, unsigned every_nth)
{
	struct seat *s = find_seat(p, worker);

	if (s != NULL)
		s->every_nth = every_nth == 0 ? 1 : every_nth;
}

void plan_set_cost(struct plan *p, uint64_t worker, int64_t ppm, bool measured)
{
	struct seat *s = find_seat(p, worker);

	if (s == NULL)
		return;
	s->cost_ppm = ppm;
	s->measured = measured;
}

/* ---- counters */

bool plan_leads(const struct plan *p)
{
	return p->leads;
}

bool plan_paused(const struct plan *p)
{
	return p->paused;
}

uint64_t plan_missed(const struct plan *p, enum plan_why why)
{
	return p->missed[why];
}

uint64_t plan_orders(const struct plan *p)
{
	return p->given;
}

uint64_t plan_refused(const struct plan *p)
{
	return p->refused;
}

size_t plan_out(const struct plan *p)
{
	return p->out;
}

size_t plan_count(const struct plan *p)
{
	return p->seats.n;
}

uint64_t plan_named(const struct plan *p, struct str service, struct str worker)
{
	vec_each(s, &p->seats)
		if (str_eq(str_of(s->w.service), service) && str_eq(str_of(s->w.worker), worker))
			return s->id;
	return 0;
}

struct plan_view plan_at(const struct plan *p, size_t i)
{
	const struct seat *s = &p->seats.v[i];

	return (struct plan_view){ .w = &s->w, .id = s->id, .out = s->out, .why = s->why, .last_ns = s->last_ns,
		.every_nth = s->every_nth, .wants = s->wants, .cost_ppm = s->cost_ppm, .measured = s->measured };
}
