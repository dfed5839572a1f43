/* lease_ask.c — captures in the lease table: which workers are asked for, what became of each. */
#include "api/lease_inside.h"

#include "base/mem.h"

enum { CAPTURE_TEXT_BYTES = 16 << 20 };

/* ---- life */

static struct open_capture *capture_new(const struct capture *c)
{
	struct open_capture *oc = mem_get(sizeof(*oc));
	struct str *const texts[] = { &oc->c.id, &oc->c.service, &oc->c.source, &oc->c.reason, &oc->c.alert };
	struct str **const lists[] = { &oc->c.hosts, &oc->c.workers };
	const size_t n[] = { c->n_hosts, c->n_workers };

	arena_init(&oc->arena, CAPTURE_TEXT_BYTES);
	oc->targets.cap = CAPTURE_TARGETS_MAX;
	oc->c = *c;
	for (size_t i = 0; i < COUNT(texts); i++)
		*texts[i] = arena_str(&oc->arena, *texts[i]);
	for (size_t l = 0; l < COUNT(lists); l++) {
		struct str *copy = arena_get_array(&oc->arena, n[l] + 1, sizeof(*copy));

		for (size_t i = 0; copy != NULL && i < n[l]; i++)
			copy[i] = arena_str(&oc->arena, (*lists[l])[i]);
		*lists[l] = copy;
	}
	oc->c.targets = NULL;
	oc->c.n_targets = 0;
	return oc;
}

static void capture_free(struct open_capture *oc)
{
	arena_fini(&oc->arena);
	vec_fini(&oc->targets);
	mem_free(oc);
}

void captures_free(struct lease_table *t)
{
	vec_each(oc, &t->captures)
		capture_free(*oc);
	t->captures.n = t->n_targets = 0;
}

/* The vector grows: the capture's own pointer follows. */
static struct capture_target *add_target(struct open_capture *oc, const struct capture_target *from)
{
	struct capture_target *tg = vec_push(&oc->targets);

	if (tg == NULL)
		return NULL;
	*tg = (struct capture_target){ .state = from->state,
		.host = arena_str(&oc->arena, from->host), .service = arena_str(&oc->arena, from->service),
		.source = arena_str(&oc->arena, from->source), .worker = arena_str(&oc->arena, from->worker),
		.lease = arena_str(&oc->arena, from->lease), .end = arena_str(&oc->arena, from->end),
		.window = arena_str(&oc->arena, from->window) };
	oc->c.targets = oc->targets.v;
	oc->c.n_targets = oc->targets.n;
	oc->waiting += from->state == TARGET_WAITING;
	return tg;
}

static void target_becomes(struct open_capture *oc, struct capture_target *tg, enum target_state state)
{
	oc->waiting -= tg->state == TARGET_WAITING;
	oc->waiting += state == TARGET_WAITING;
	tg->state = state;
}

size_t captures_running(const struct lease_table *t)
{
	size_t n = 0;

	vec_each(oc, &t->captures)
		n += (*oc)->waiting < (*oc)->targets.n;
	return n;
}

/* Where the clock went back since, nothing waits longer than it would have. */
static int64_t not_after(int64_t ns, int64_t most_ns)
{
	return ns < most_ns ? ns : most_ns;
}

void captures_load(struct lease_table *t, const struct capture *v, size_t n, int64_t now_ns)
{
	for (size_t i = 0; i < n; i++) {
		struct open_capture **place = vec_push(&t->captures);

		if (place == NULL)
			return;
		*place = capture_new(&v[i]);
		(*place)->c.expires_ns = not_after(v[i].expires_ns, now_ns + t->limits.expire_ns);
		(*place)->c.join_ns = not_after(v[i].join_ns, now_ns + 3 * t->limits.poll_ns);
		for (size_t k = 0; k < v[i].n_targets; k++)
			add_target(*place, &v[i].targets[k]);
		t->n_targets += (*place)->targets.n;
	}
}

/* ---- what changed */

static void copy_target(struct lease_round *r, const struct capture_target *from, struct capture_target *to)
{
	*to = (struct capture_target){ .state = from->state, .host = round_str(r, from->host),
		.service = round_str(r, from->service), .source = round_str(r, from->source),
		.worker = round_str(r, from->worker),
		.lease = round_str(r, from->lease), .end = round_str(r, from->end),
		.window = round_str(r, from->window) };
}

static void put_target(struct lease_round *r, const struct open_capture *oc, const struct capture_target *tg)
{
	struct target_change *change = vec_push(&r->changes.targets);

	r->lost = r->lost || change == NULL;
	if (change == NULL)
		return;
	change->capture = round_str(r, oc->c.id);
	copy_target(r, tg, &change->target);
}

static void put_end(struct lease_round *r, const struct open_capture *oc)
{
	struct capture_end *end = vec_push(&r->changes.ends);

	r->lost = r->lost || end == NULL;
	if (end != NULL)
		*end = (struct capture_end){ round_str(r, oc->c.id), oc->c.ended_ns };
}

static bool has_open_target(const struct open_capture *oc)
{
	vec_each(tg, &oc->targets)
		if (target_is_open(tg))
			return true;
	return false;
}

static void end_where_over(struct lease_table *t, size_t i, int64_t now_ns, struct lease_round *r)
{
	struct open_capture *oc = t->captures.v[i];

	if (has_open_target(oc) || (now_ns < oc->c.join_ns && now_ns < oc->c.expires_ns))
		return;
	oc->c.ended_ns = now_ns;
	t->counts.captures[capture_state(&oc->c)]++;
	put_end(r, oc);
	t->n_targets -= oc->targets.n;
	t->captures.n--;
	memmove(&t->captures.v[i], &t->captures.v[i + 1], (t->captures.n - i) * sizeof(struct open_capture *));
	capture_free(oc);
}

/* ---- time */

void captures_tick(struct lease_table *t, int64_t now_ns, struct lease_round *r)
{
	for (size_t i = t->captures.n; i-- > 0;) {
		struct open_capture *oc = t->captures.v[i];

		vec_each(tg, &oc->targets) {
			if (now_ns < oc->c.expires_ns || tg->state != TARGET_WAITING)
				continue; /* one that has a lease may still be taken */
			target_becomes(oc, tg, TARGET_EXPIRED);
			put_target(r, oc, tg);
		}
		end_where_over(t, i, now_ns, r);
	}
}

/* ---- who is asked for */

/* The worker may be one of several sources: the first that its agent names takes the window. */
static bool is_target(const struct open_capture *oc, const struct agent *a, const struct seat *s)
{
	vec_each(tg, &oc->targets)
		if (str_eq(tg->host, a->host) && str_eq(tg->worker, s->w.worker) && str_eq(tg->service, s->w.service))
			return true;
	return false;
}

static bool is_waiting_target(const struct capture_target *tg, const struct agent *a, const struct seat *s)
{
	return tg->state == TARGET_WAITING && str_eq(tg->host, a->host) && str_eq(tg->worker, s->w.worker) &&
	       str_eq(tg->source, s->w.source) && str_eq(tg->service, s->w.service);
}

/* The agent's workers that the capture wants and does not have yet. */
static void bind(const struct lease_table *t, struct open_capture *oc, struct agent *a, struct lease_round *r)
{
	for (size_t i = 0; i < a->n_seats; i++) {
		struct seat *s = &a->seats[i];
		struct capture_target fresh = { .host = a->host, .service = s->w.service, .source = s->w.source,
			.worker = s->w.worker, .state = TARGET_WAITING };
		const struct capture_target *tg;

		if (!capture_wants(&oc->c, a->host, s->w.service, s->w.source, s->w.worker) || is_target(oc, a, s) ||
			t->n_targets + oc->targets.n >= LEASE_TARGETS_MAX)
			continue;
		tg = add_target(oc, &fresh);
		if (tg != NULL && r != NULL)
			put_target(r, oc, tg);
	}
}

static void mark_asked(const struct open_capture *oc, struct agent *a)
{
	vec_each(tg, &oc->targets) {
		if (tg->state != TARGET_WAITING || !str_eq(tg->host, a->host))
			continue;
		for (size_t i = 0; i < a->n_seats; i++)
			a->seats[i].asked = a->seats[i].asked || is_waiting_target(tg, a, &a->seats[i]);
	}
}

void captures_join(struct lease_table *t, struct agent *a, int64_t now_ns, struct lease_round *r)
{
	vec_each(oc, &t->captures) {
		if (now_ns < (*oc)->c.join_ns) {
			t->n_targets -= (*oc)->targets.n;
			bind(t, *oc, a, r);
			t->n_targets += (*oc)->targets.n;
		}
		mark_asked(*oc, a);
	}
}

/* ---- leases */

const struct capture *captures_lease(struct lease_table *t, const struct agent *a, struct seat *s, struct str lease,
	struct lease_round *r)
{
	s->asked = false; /* another capture may still ask: the next poll finds out */
	vec_each(oc, &t->captures)
		vec_each(tg, &(*oc)->targets) {
			if (!is_waiting_target(tg, a, s))
				continue;
			target_becomes(*oc, tg, TARGET_LEASED);
			tg->lease = arena_str(&(*oc)->arena, lease);
			put_target(r, *oc, tg);
			return &(*oc)->c;
		}
	return NULL;
}

/* An agent's words for a lease whose window was not begun, though it may be later. */
static bool may_try_again(struct str end)
{
	static const char *const words[] = { "unsent", "expired", "due", "young", "busy", "quiet", "paused",
		"budget", "crowded",
		"unleased" };

	for (size_t i = 0; i < COUNT(words); i++)
		if (str_eq(end, str_of(words[i])))
			return true;
	return false;
}

static void settle_target(struct open_capture *oc, struct capture_target *tg, const struct lease_ended *end,
	bool ran_out, struct lease_round *r)
{
	bool again = ran_out || (!end->taken && may_try_again(end->end));

	target_becomes(oc, tg, again ? TARGET_WAITING : end->taken ? TARGET_TAKEN : TARGET_FAILED);
	tg->end = arena_str(&oc->arena, end->end);
	tg->window = arena_str(&oc->arena, end->window);
	put_target(r, oc, tg);
}

/* Also of a lease that ran out before: while its target waits for another, what came of the last one counts. */
void captures_settle(struct lease_table *t, const struct lease_ended *end, bool ran_out, int64_t now_ns,
	struct lease_round *r)
{
	for (size_t i = t->captures.n; i-- > 0;) {
		struct open_capture *oc = t->captures.v[i];

		if (!str_eq(oc->c.id, end->capture))
			continue;
		vec_each(tg, &oc->targets)
			if (target_is_open(tg) && str_eq(tg->lease, end->lease))
				settle_target(oc, tg, end, ran_out, r);
		end_where_over(t, i, now_ns, r);
		return;
	}
}

/* ---- asking */

static int nobody_there(const struct capture *c, struct err *e)
{
	return err_set(e, E_NOT_FOUND, "no agent that polls tells of such a worker (service %.*s, %zu hosts, %zu workers, source %.*s); "
				       "GET /api/v1/agents lists those there are",
		STR_ARG(str_empty(c->service) ? STR("any") : c->service), c->n_hosts, c->n_workers,
		STR_ARG(str_empty(c->source) ? STR("any") : c->source));
}

/* As it stands now, with targets in the arena: the table's own may end at any time. */
static void copy_out(const struct open_capture *oc, struct lease_round *r, struct capture *out)
{
	out->targets = arena_get_array(&r->arena, oc->targets.n + 1, sizeof(*out->targets));
	out->n_targets = out->targets == NULL ? 0 : oc->targets.n;
	for (size_t i = 0; i < out->n_targets; i++)
		copy_target(r, &oc->targets.v[i], &out->targets[i]);
}

int lease_table_ask(struct lease_table *t, struct capture *c, int64_t now_ns, struct lease_round *r, struct err *e)
{
	struct open_capture **place, *oc;
	struct capture *change;

	if (t->captures.n >= LEASE_CAPTURES_MAX || t->n_targets >= LEASE_TARGETS_MAX)
		return err_set(e, E_BUSY, "%zu captures of %zu workers are open already; wait until some end",
			t->captures.n, t->n_targets);
	c->created_ns = now_ns;
	c->expires_ns = now_ns + t->limits.expire_ns;
	oc = capture_new(c);
	vec_each(a, &t->agents) {
		if (!agent_heard(t, *a, now_ns))
			continue;
		bind(t, oc, *a, NULL);
		mark_asked(oc, *a);
	}
	if (oc->targets.n == 0 && now_ns >= c->join_ns) {
		capture_free(oc);
		return nobody_there(c, e);
	}
	place = vec_push(&t->captures);
	change = vec_push(&r->changes.captures);
	if (place == NULL || change == NULL) {
		t->captures.n -= place != NULL;
		capture_free(oc);
		return err_set(e, E_BUSY, "too many captures at once");
	}
	*place = oc;
	t->n_targets += oc->targets.n;
	*change = *c;
	copy_out(oc, r, change);
	c->targets = change->targets;
	c->n_targets = change->n_targets;
	return OK;
}
