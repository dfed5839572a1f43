#include "api/lease_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/enc.h"
#include "base/mem.h"
#include "profile/window.h"

enum {
	AGENT_TEXT_BYTES = 32 << 20, /* of one poll: a body's ceiling and the seats */
	NAME_BYTES = 32 << 20,
	ROUND_BYTES = 256 << 20,
};

static const char *const worker_states[] = {
	[WORKER_IDLE] = "idle",
	[WORKER_BUSY] = "busy",
	[WORKER_CAPTURING] = "capturing",
};
_Static_assert(COUNT(worker_states) == WORKER_STATES, "name every state of a worker");

static const char *const refusals[] = {
	[REFUSED_SERVICE] = "service", [REFUSED_FLEET] = "fleet",   [REFUSED_HOST] = "host",
	[REFUSED_TURN] = "turn",       [REFUSED_PAUSED] = "paused",
};
_Static_assert(COUNT(refusals) == LEASE_REFUSALS, "name every refusal");

const char *worker_state_name(enum worker_state s)
{
	return worker_states[s];
}

int worker_state_parse(struct str word, enum worker_state *out)
{
	for (size_t i = 0; i < COUNT(worker_states); i++)
		if (str_eq(word, str_of(worker_states[i]))) {
			*out = (enum worker_state)i;
			return OK;
		}
	return E_FORMAT;
}

const char *lease_refusal_name(enum lease_refusal r)
{
	return refusals[r];
}

/* ---- rounds */

void lease_round_init(struct lease_round *r)
{
	*r = (struct lease_round){ .changes = {
		.granted.cap = LEASE_LEASES_MAX,
		.ended.cap = LEASE_LEASES_MAX,
		.captures.cap = LEASE_CAPTURES_MAX,
		.targets.cap = 2 * LEASE_TARGETS_MAX,
		.ends.cap = 2 * LEASE_CAPTURES_MAX,
	} };
	arena_init(&r->arena, ROUND_BYTES);
}

void lease_round_reset(struct lease_round *r)
{
	struct capture_changes *c = &r->changes;

	c->granted.n = c->ended.n = c->captures.n = c->targets.n = c->ends.n = 0;
	c->policy = NULL;
	r->lost = false;
	arena_reset(&r->arena);
}

void lease_round_fini(struct lease_round *r)
{
	struct capture_changes *c = &r->changes;

	vec_fini(&c->granted);
	vec_fini(&c->ended);
	vec_fini(&c->captures);
	vec_fini(&c->targets);
	vec_fini(&c->ends);
	arena_fini(&r->arena);
}

bool lease_round_empty(const struct lease_round *r)
{
	const struct capture_changes *c = &r->changes;

	return c->granted.n + c->ended.n + c->captures.n + c->targets.n + c->ends.n == 0 && c->policy == NULL;
}

/* ---- life */

static void names_init(struct lease_table *t)
{
	arena_init(&t->names, NAME_BYTES);
	intern_init(&t->intern, &t->names, LEASE_SERVICES_MAX);
	t->services = (struct service_vec)VEC_INIT(LEASE_SERVICES_MAX);
}

static void names_fini(struct lease_table *t)
{
	intern_fini(&t->intern);
	arena_fini(&t->names);
	vec_fini(&t->services);
}

struct lease_table *lease_table_new(const struct lease_limits *limits, uint64_t seed)
{
	struct lease_table *t = mem_get(sizeof(*t));

	t->limits = *limits;
	rand_seed(&t->rand, seed);
	t->agents.cap = LEASE_AGENTS_MAX;
	t->leases.cap = LEASE_LEASES_MAX;
	t->captures.cap = LEASE_CAPTURES_MAX;
	names_init(t);
	return t;
}

static void agent_free(struct agent *a)
{
	arena_fini(&a->arenas[0]);
	arena_fini(&a->arenas[1]);
	mem_free(a);
}

static void leases_free(struct lease_table *t)
{
	vec_each(h, &t->leases)
		mem_free(h->texts);
	t->leases.n = 0;
}

void lease_table_free(struct lease_table *t)
{
	if (t == NULL)
		return;
	vec_each(a, &t->agents)
		agent_free(*a);
	leases_free(t);
	captures_free(t);
	vec_fini(&t->agents);
	vec_fini(&t->leases);
	vec_fini(&t->captures);
	names_fini(t);
	mem_free(t);
}

void lease_table_set(struct lease_table *t, const struct lease_limits *limits)
{
	t->limits = *limits;
}

struct lease_limits lease_table_limits(const struct lease_table *t)
{
	return t->limits;
}

void lease_table_pause(struct lease_table *t, bool paused)
{
	t->paused = paused;
}

/* ---- services by number */

static uint32_t service_id(struct lease_table *t, struct str name)
{
	uint32_t id = intern_id(&t->intern, name);

	while (id != INTERN_NONE && t->services.n <= id)
		if (vec_push(&t->services) == NULL)
			return INTERN_NONE;
	return id;
}

/* All numbers anew, of those that are in use now: names that are gone made the table full. */
static void renumber(struct lease_table *t)
{
	names_fini(t);
	names_init(t);
	vec_each(h, &t->leases) {
		h->service = service_id(t, h->l.service);
		if (h->service != INTERN_NONE)
			t->services.v[h->service].leases++;
	}
	vec_each(a, &t->agents)
		for (size_t i = 0; i < (*a)->n_seats; i++)
			(*a)->seats[i].service = service_id(t, (*a)->seats[i].w.service);
}

static uint32_t service_number(struct lease_table *t, struct str name)
{
	uint32_t id = service_id(t, name);

	if (id != INTERN_NONE)
		return id;
	renumber(t);
	return service_id(t, name);
}

/* ---- agents */

static struct agent *agent_find(const struct lease_table *t, struct str id)
{
	vec_each(a, &t->agents)
		if (str_eq(str_of((*a)->id), id))
			return *a;
	return NULL;
}

static struct agent *agent_make(struct lease_table *t, struct str id)
{
	struct agent **place = vec_push(&t->agents), *a;

	if (place == NULL)
		return NULL;
	a = *place = mem_get(sizeof(*a));
	memcpy(a->id, id.p, CAPTURE_ID);
	arena_init(&a->arenas[0], AGENT_TEXT_BYTES);
	arena_init(&a->arenas[1], AGENT_TEXT_BYTES);
	vec_each(h, &t->leases) /* it was forgotten, or the daemon is new */
		a->n_leases += str_eq(h->l.agent, id);
	return a;
}

static void agent_forget(struct lease_table *t, size_t i)
{
	t->n_workers -= t->agents.v[i]->n_seats;
	agent_free(t->agents.v[i]);
	t->agents.v[i] = t->agents.v[--t->agents.n];
}

static struct seat *seat_find(const struct agent *a, struct str source, struct str service, struct str worker)
{
	for (size_t i = 0; i < a->n_seats; i++) {
		struct lease_worker *w = &a->seats[i].w;

		if (str_eq(w->worker, worker) && str_eq(w->service, service) && str_eq(w->source, source))
			return &a->seats[i];
	}
	return NULL;
}

/* ---- leases */

static char *own(struct str *const *fields, size_t n)
{
	size_t bytes = 1, at = 0;
	char *text;

	for (size_t i = 0; i < n; i++)
		bytes += fields[i]->n;
	text = mem_get(bytes);
	for (size_t i = 0; i < n; i++) {
		if (fields[i]->n > 0)
			memcpy(text + at, fields[i]->p, fields[i]->n);
		fields[i]->p = text + at;
		at += fields[i]->n;
	}
	return text;
}

static bool lease_add(struct lease_table *t, const struct lease *l)
{
	struct held *h = vec_push(&t->leases);
	struct agent *a;
	struct seat *s;

	if (h == NULL)
		return false;
	h->l = *l;
	h->texts = own((struct str *[]){ &h->l.id, &h->l.agent, &h->l.capture, &h->l.host, &h->l.service,
		&h->l.source, &h->l.worker }, 7);
	h->service = service_number(t, h->l.service);
	a = agent_find(t, h->l.agent);
	s = a == NULL ? NULL : seat_find(a, h->l.source, h->l.service, h->l.worker);
	if (a != NULL)
		a->n_leases++;
	if (s != NULL)
		s->leased = true;
	return true;
}

/* Counted by going over them: additions and ends are rare beside polls, and nothing can drift. */
static void count_services(struct lease_table *t)
{
	vec_each(s, &t->services)
		s->leases = 0;
	vec_each(h, &t->leases)
		if (h->service != INTERN_NONE)
			t->services.v[h->service].leases++;
}

/* Takes the lease out; its texts are the caller's to free. */
static struct held lease_remove(struct lease_table *t, size_t i, int64_t now_ns, struct lease_round *r)
{
	struct held h = t->leases.v[i];
	struct agent *a = agent_find(t, h.l.agent);
	struct seat *s = a == NULL ? NULL : seat_find(a, h.l.source, h.l.service, h.l.worker);
	struct str *id;

	t->leases.v[i] = t->leases.v[--t->leases.n];
	count_services(t);
	if (a != NULL && a->n_leases > 0)
		a->n_leases--;
	if (s != NULL) {
		s->leased = false;
		s->turn_ns = now_ns; /* the next time others go first, whatever came of it */
	}
	id = vec_push(&r->changes.ended);
	if (id != NULL)
		*id = round_str(r, h.l.id);
	r->lost = r->lost || id == NULL;
	return h;
}

static void lease_run_out(struct lease_table *t, size_t i, int64_t now_ns, struct lease_round *r)
{
	struct held h = lease_remove(t, i, now_ns, r);
	struct lease_ended end = { .lease = h.l.id, .capture = h.l.capture, .end = STR("lost") };

	t->counts.ran_out++;
	if (!str_empty(h.l.capture))
		captures_settle(t, &end, true, now_ns, r);
	mem_free(h.texts);
}

/* Said twice, or of a lease that ran out meanwhile: the capture may still want to know. */
static void lease_end(struct lease_table *t, struct str agent, const struct lease_ended *end, int64_t now_ns,
	struct lease_round *r)
{
	struct lease_ended known = *end;
	struct held h = { .texts = NULL };

	for (size_t i = 0; i < t->leases.n; i++) {
		if (!str_eq(t->leases.v[i].l.id, end->lease))
			continue;
		if (!str_eq(t->leases.v[i].l.agent, agent))
			return; /* another's: only that one knows */
		h = lease_remove(t, i, now_ns, r);
		known.capture = h.l.capture;
		if (end->taken)
			t->counts.taken++;
		else
			t->counts.not_taken++;
		break;
	}
	if (!str_empty(known.capture))
		captures_settle(t, &known, false, now_ns, r);
	mem_free(h.texts);
}

void lease_table_load(struct lease_table *t, const struct lease *leases, size_t n_leases,
	const struct capture *captures, size_t n_captures, int64_t now_ns)
{
	leases_free(t);
	captures_free(t);
	vec_each(a, &t->agents) {
		(*a)->n_leases = 0;
		for (size_t i = 0; i < (*a)->n_seats; i++)
			(*a)->seats[i].leased = (*a)->seats[i].asked = false;
	}
	captures_load(t, captures, n_captures, now_ns);
	for (size_t i = 0; i < n_leases; i++) {
		struct lease l = leases[i];

		if (l.until_ns > now_ns + LEASE_MAX_NS) /* the clock went back */
			l.until_ns = now_ns + LEASE_MAX_NS;
		if (l.begin_ns > l.until_ns)
			l.begin_ns = l.until_ns;
		if (!lease_add(t, &l))
			break;
	}
	count_services(t);
}

/* ---- time */

void lease_table_tick(struct lease_table *t, int64_t now_ns, struct lease_round *r)
{
	for (size_t i = t->leases.n; i-- > 0;)
		if (t->leases.v[i].l.until_ns <= now_ns)
			lease_run_out(t, i, now_ns, r);
	captures_tick(t, now_ns, r);
	for (size_t i = t->agents.n; i-- > 0;)
		if (now_ns - t->agents.v[i]->polled_ns > LEASE_FORGET_NS)
			agent_forget(t, i);
}

/* ---- a poll: is it sound? */

static int check_text(struct str s, size_t least, size_t most, const char *what, struct err *e)
{
	if (s.n >= least && s.n <= most)
		return OK;
	return err_set(e, E_FORMAT, "%s: has %zu bytes, it must have %zu to %zu", what, s.n, least, most);
}

static int check_worker(const struct lease_worker *w, struct err *e)
{
	int rc = check_text(w->source, 1, LEASE_WORD_MAX, "source", e);

	if (rc == OK)
		rc = check_text(w->service, 0, WINDOW_TEXT_MAX, "service", e);
	if (rc == OK)
		rc = check_text(w->worker, 0, WINDOW_TEXT_MAX, "worker", e);
	if (rc == OK)
		rc = check_text(w->deploy, 0, WINDOW_TEXT_MAX, "deploy", e);
	if (rc == OK)
		rc = check_text(w->why, 0, LEASE_WORD_MAX, "why", e);
	return rc;
}

static int check_ended(const struct lease_ended *x, struct err *e)
{
	int rc = check_text(x->lease, 1, LEASE_WORD_MAX, "lease", e);

	if (rc == OK)
		rc = check_text(x->capture, 0, LEASE_WORD_MAX, "capture", e);
	if (rc == OK)
		rc = check_text(x->end, 0, LEASE_WORD_MAX, "end", e);
	return rc == OK ? check_text(x->window, 0, LEASE_WORD_MAX, "window", e) : rc;
}

static int check_poll(const struct lease_poll *p, struct err *e)
{
	uint8_t id[CAPTURE_ID / 2];
	int rc = check_text(p->host, 1, WINDOW_TEXT_MAX, "host", e);

	if (rc == OK && enc_unhex(p->agent, id, sizeof(id)) != OK)
		rc = err_set(e, E_FORMAT, "agent: its id must be %d hex digits", CAPTURE_ID);
	if (rc == OK)
		rc = check_text(p->version, 0, LEASE_WORD_MAX, "version", e);
	if (rc == OK && (p->n_workers > LEASE_WORKERS_MAX || p->n_ended > LEASE_ENDED_MAX))
		rc = err_set(e, E_FORMAT, "%zu workers and %zu that ended; at most %d each", p->n_workers, p->n_ended,
			LEASE_WORKERS_MAX);
	for (size_t i = 0; i < p->n_workers && rc == OK; i++)
		if ((rc = check_worker(&p->workers[i], e)) != OK)
			err_add(e, "workers[%zu]", i);
	for (size_t i = 0; i < p->n_ended && rc == OK; i++)
		if ((rc = check_ended(&p->ended[i], e)) != OK)
			err_add(e, "ended[%zu]", i);
	return rc;
}

/* ---- a poll: its workers in place of the ones before */

/* Several of the same name, that nothing tells apart: one seat, which wants when any of them does. */
static void merge_worker(struct lease_worker *into, const struct lease_worker *w)
{
	if (w->state > into->state)
		into->state = w->state;
	if (w->wants && (!into->wants || w->last_ns < into->last_ns))
		into->last_ns = w->last_ns;
	into->wants = into->wants || w->wants;
}

/* The host's clock may be wrong: it is believed once, for a worker that is new here, and never beyond now. */
static int64_t turn_of(const struct seat *old, const struct lease_worker *w, int64_t now_ns)
{
	if (old == NULL)
		return w->last_ns < now_ns ? w->last_ns : now_ns;
	return w->last_ns > old->w.last_ns ? now_ns : old->turn_ns;
}

static struct seat *add_seat(struct arena *texts, struct map *known, struct seat *seats, size_t *n,
	const struct lease_worker *w)
{
	struct str key = arena_fmt(texts, "%.*s\x1f%.*s\x1f%.*s", STR_ARG(w->source), STR_ARG(w->service),
		STR_ARG(w->worker));
	bool is_new = false;
	uint32_t *at = map_put(known, key, (uint32_t)*n, &is_new);

	if (at == NULL)
		return NULL;
	if (!is_new) {
		merge_worker(&seats[*at].w, w);
		return NULL;
	}
	seats[*n] = (struct seat){ .w = *w, .key = key };
	worker_copy(texts, &seats[*n].w);
	return &seats[(*n)++];
}

static struct seat *old_seat(struct agent *a, const struct map *old, struct str key)
{
	const uint32_t *at = map_get(old, key);

	return at == NULL ? NULL : &a->seats[*at];
}

static int take_workers(struct lease_table *t, struct agent *a, const struct lease_poll *p, int64_t now_ns,
	struct err *e)
{
	struct arena *texts = &a->arenas[a->at ^ 1];
	struct map old, known;
	struct seat *seats;
	size_t n = 0;

	arena_reset(texts);
	map_init(&old, LEASE_WORKERS_MAX);
	map_init(&known, LEASE_WORKERS_MAX);
	for (size_t i = 0; i < a->n_seats; i++)
		map_put(&old, a->seats[i].key, (uint32_t)i, NULL);
	seats = arena_get_array(texts, p->n_workers + 1, sizeof(*seats));
	for (size_t i = 0; seats != NULL && i < p->n_workers; i++)
		add_seat(texts, &known, seats, &n, &p->workers[i]);
	for (size_t i = 0; i < n; i++)
		seats[i].turn_ns = turn_of(old_seat(a, &old, seats[i].key), &seats[i].w, now_ns);
	a->host = arena_str(texts, p->host);
	a->version = str_empty(p->version) ? STR("") : arena_str(texts, p->version);
	map_fini(&old);
	map_fini(&known);
	t->n_workers = t->n_workers - a->n_seats + n;
	a->at ^= 1;
	a->seats = seats;
	a->n_seats = n;
	a->start_ns = p->start_ns;
	a->polled_ns = now_ns;
	for (size_t i = 0; i < n; i++)
		seats[i].service = service_number(t, seats[i].w.service);
	if (!arena_full(texts))
		return OK;
	t->n_workers -= n;
	a->n_seats = 0;
	return err_set(e, E_BUSY, "the poll is larger than %d MiB", AGENT_TEXT_BYTES >> 20);
}

static void mark_leased(struct lease_table *t, struct agent *a)
{
	vec_each(h, &t->leases) {
		struct seat *s = str_eq(h->l.agent, str_of(a->id)) ?
			seat_find(a, h->l.source, h->l.service, h->l.worker) : NULL;

		if (s != NULL)
			s->leased = true;
	}
}

/* ---- whose turn is it? */

static bool seat_waits(const struct seat *s)
{
	return !s->leased && (s->w.wants || s->asked) && s->service != INTERN_NONE;
}

/* Negative: x goes before y. No two are alike. */
static int turn_cmp(const struct seat *x, const struct agent *ax, const struct seat *y, const struct agent *ay)
{
	int order;

	if (x->asked != y->asked)
		return x->asked ? -1 : 1;
	if (x->turn_ns != y->turn_ns)
		return x->turn_ns < y->turn_ns ? -1 : 1;
	order = strcmp(ax->id, ay->id);
	return order != 0 ? order : str_cmp(x->key, y->key);
}

static int seat_cmp(const void *a, const void *b)
{
	static const struct agent nobody;
	const struct seat *const *x = a, *const *y = b;

	return turn_cmp(*x, &nobody, *y, &nobody);
}

/* Places of the fleet that are free now; those of a service: service_free. Windows that agents take without a
 * lease, because they led themselves for a while, take a place as well. */
struct room {
	int64_t now_ns;
	size_t fleet;
	bool turned; /* as service.turned, whatever the service */
};

static struct service *service_at(struct lease_table *t, uint32_t id)
{
	struct service *s = &t->services.v[id];

	if (s->round != t->round)
		*s = (struct service){ .leases = s->leases, .round = t->round };
	return s;
}

static size_t service_free(const struct lease_table *t, const struct service *s)
{
	size_t out = (size_t)s->leases + s->strays, most = (size_t)t->limits.max_per_service;

	return out < most ? most - out : 0;
}

static struct room look_around(struct lease_table *t, int64_t now_ns)
{
	struct room room = { .now_ns = now_ns };
	size_t live = 0, out = t->leases.n, most;

	t->round++;
	vec_each(a, &t->agents) {
		if (!agent_heard(t, *a, now_ns))
			continue;
		live += (*a)->n_seats;
		for (size_t i = 0; i < (*a)->n_seats; i++) {
			const struct seat *s = &(*a)->seats[i];

			if (s->w.state != WORKER_CAPTURING || s->leased || s->service == INTERN_NONE)
				continue;
			service_at(t, s->service)->strays++;
			out++;
		}
	}
	most = live * (size_t)t->limits.max_share_percent / 100;
	most = most > 0 ? most : 1;
	room.fleet = out < most ? most - out : 0;
	return room;
}

/* Those of other agents that go before this one and could have a place: of its service in services[].ahead, and
 * all. */
static size_t count_ahead(struct lease_table *t, const struct agent *mine, const struct seat *seat, int64_t now_ns)
{
	size_t n = 0;

	vec_each(s, &t->services)
		s->ahead = 0;
	vec_each(a, &t->agents) {
		size_t host = (size_t)t->limits.max_per_host;

		host = (*a)->n_leases < host ? host - (*a)->n_leases : 0;
		if (*a == mine || !agent_heard(t, *a, now_ns))
			continue;
		for (size_t i = 0; i < (*a)->n_seats && host > 0; i++) {
			const struct seat *x = &(*a)->seats[i];
			struct service *s;

			if (!seat_waits(x) || turn_cmp(x, *a, seat, mine) > 0)
				continue;
			s = service_at(t, x->service);
			if (s->ahead >= service_free(t, s))
				continue;
			s->ahead++;
			n++;
			host--;
		}
	}
	return n;
}

/* LEASE_REFUSALS: it may have one. */
static enum lease_refusal refusal_of(struct lease_table *t, const struct agent *a, const struct seat *s,
	struct room *room)
{
	struct service *sv = service_at(t, s->service);
	size_t ahead;

	if (t->paused)
		return REFUSED_PAUSED;
	if (a->n_leases >= (size_t)t->limits.max_per_host)
		return REFUSED_HOST;
	if (service_free(t, sv) == 0)
		return REFUSED_SERVICE;
	if (room->fleet == 0 || t->leases.n >= LEASE_LEASES_MAX)
		return REFUSED_FLEET;
	if (room->turned || sv->turned)
		return REFUSED_TURN;
	ahead = count_ahead(t, a, s, room->now_ns);
	room->turned = ahead >= room->fleet;
	sv->turned = sv->ahead >= service_free(t, sv);
	return room->turned || sv->turned ? REFUSED_TURN : LEASE_REFUSALS;
}

static void make_id(struct lease_table *t, char out[CAPTURE_ID + 1])
{
	snprintf(out, CAPTURE_ID + 1, "%016" PRIx64 "%016" PRIx64, rand_u64(&t->rand), rand_u64(&t->rand));
}

/* How long its window may last. */
static int64_t window_ns(const struct capture *c)
{
	if (c != NULL && c->iterations > 0)
		return CAPTURE_DURATION_MAX_NS;
	return c != NULL && c->duration_ns > LEASE_UNKNOWN_NS ? c->duration_ns : LEASE_UNKNOWN_NS;
}

static void put_granted(struct lease_round *r, const struct lease *l)
{
	struct lease *g = vec_push(&r->changes.granted);

	if (g == NULL) {
		r->lost = true;
		return;
	}
	*g = *l;
	g->id = round_str(r, l->id);
	g->agent = round_str(r, l->agent);
	g->capture = round_str(r, l->capture);
	g->host = round_str(r, l->host);
	g->service = round_str(r, l->service);
	g->source = round_str(r, l->source);
	g->worker = round_str(r, l->worker);
}

static void grant(struct lease_table *t, struct agent *a, struct seat *s, struct room *room, struct lease_round *r)
{
	char id[CAPTURE_ID + 1];
	const struct capture *c;
	struct lease l = { .agent = str_of(a->id), .host = a->host, .service = s->w.service, .source = s->w.source,
		.worker = s->w.worker, .granted_ns = room->now_ns, .begin_ns = room->now_ns + LEASE_BEGIN_NS };

	make_id(t, id);
	l.id = str_of(id);
	c = captures_lease(t, a, s, l.id, r);
	if (c != NULL) {
		l.capture = c->id;
		l.duration_ns = c->duration_ns;
		l.iterations = c->iterations;
	}
	l.until_ns = l.begin_ns + window_ns(c) + LEASE_GRACE_NS;
	if (!lease_add(t, &l))
		return; /* refusal_of looked */
	count_services(t);
	room->fleet--;
	t->counts.granted++;
	put_granted(r, &l);
}

static void grant_turns(struct lease_table *t, struct agent *a, int64_t now_ns, struct lease_round *r)
{
	struct seat **turns = arena_get_array(&r->arena, a->n_seats + 1, sizeof(struct seat *));
	struct room room;
	size_t n = 0;

	for (size_t i = 0; turns != NULL && i < a->n_seats; i++)
		if (seat_waits(&a->seats[i]))
			turns[n++] = &a->seats[i];
	if (n == 0)
		return;
	qsort(turns, n, sizeof(struct seat *), seat_cmp);
	room = look_around(t, now_ns);
	for (size_t i = 0; i < n; i++) {
		enum lease_refusal no = refusal_of(t, a, turns[i], &room);

		if (no == LEASE_REFUSALS)
			grant(t, a, turns[i], &room, r);
		else
			t->counts.refused[no]++;
	}
}

int lease_table_poll(struct lease_table *t, const struct lease_poll *p, int64_t now_ns, struct lease_round *r,
	struct err *e)
{
	struct agent *a;
	int rc = check_poll(p, e);

	if (rc != OK)
		return rc;
	a = agent_find(t, p->agent);
	if (t->n_workers - (a == NULL ? 0 : a->n_seats) + p->n_workers > LEASE_FLEET_MAX)
		return err_set(e, E_BUSY, "agents tell of more than %d workers", LEASE_FLEET_MAX);
	if (a == NULL)
		a = agent_make(t, p->agent);
	if (a == NULL)
		return err_set(e, E_BUSY, "more than %d agents", LEASE_AGENTS_MAX);
	rc = take_workers(t, a, p, now_ns, e);
	if (rc != OK)
		return rc;
	t->counts.polls++;
	mark_leased(t, a);
	for (size_t i = 0; i < p->n_ended; i++)
		lease_end(t, p->agent, &p->ended[i], now_ns, r);
	captures_join(t, a, now_ns, r);
	grant_turns(t, a, now_ns, r);
	return OK;
}

struct lease *lease_table_told(const struct lease_table *t, struct str agent, int64_t now_ns, struct arena *a,
	size_t *n)
{
	struct lease *out;
	size_t many = 0;

	*n = 0;
	vec_each(h, &t->leases)
		many += str_eq(h->l.agent, agent) && h->l.begin_ns > now_ns;
	out = arena_get_array(a, many + 1, sizeof(*out));
	if (t->paused || out == NULL)
		return out;
	vec_each(h, &t->leases) {
		if (!str_eq(h->l.agent, agent) || h->l.begin_ns <= now_ns)
			continue;
		out[*n] = h->l;
		out[*n].id = arena_str(a, h->l.id);
		out[*n].capture = str_empty(h->l.capture) ? STR("") : arena_str(a, h->l.capture);
		out[*n].source = arena_str(a, h->l.source);
		out[*n].service = str_empty(h->l.service) ? STR("") : arena_str(a, h->l.service);
		out[*n].worker = str_empty(h->l.worker) ? STR("") : arena_str(a, h->l.worker);
		(*n)++;
	}
	return out;
}
