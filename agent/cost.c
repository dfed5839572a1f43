#include "agent/cost.h"

#include <math.h>

#include "base/clock.h"
#include "base/enc.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "stat/robust.h"

enum { OVER_TIMES = 2 };

/* How much of the time around a window its rate is taken from, at most twice this on each side: near enough that the job still
 * does the same, long enough for a rate. */
static const int64_t near_ns = NS_PER_MIN;
static const int64_t better_ns = 10 * NS_PER_MIN, forget_ns = NS_PER_DAY;
/* The scale of a normal deviation in median absolute deviations, and that of a median's error in those of a mean. */
static const double mad_scale = 1.4826, median_scale = 1.2533, errors_wanted = 3;
/* The deviation of the difference of two counts that were read at any moment, in counts. */
static const double quantum = 0.41;
/* An estimate whose standard error is this many budgets says nothing. */
static const double error_max_budgets = 3;

static const char *const counter_words[] = {
	[COST_STEPS] = "steps",
	[COST_ITERATIONS] = "iterations",
	[COST_EXECUTIONS] = "executions",
};
_Static_assert(COUNT(counter_words) == COST_COUNTERS, "name every counter");

const char *cost_counter_word(enum cost_counter c)
{
	return counter_words[c];
}

struct stretch {
	int64_t ns;
	uint64_t count;
};

struct window {
	struct stretch in, around;
	int64_t base_ns; /* to the next window, were the duty 1 */
};

struct track {
	uint64_t worker;
	enum cost_counter counter;
	int64_t seen_ns;
	bool has_last, has_steps;
	struct cost_sample last;
	struct cost_steps steps;
	/* the time behind the last window, or since the beginning: all of it, its first minute, its last one or two */
	struct stretch out, first, recent[2];
	struct stretch before, in; /* the window at hand, and what was right before it; in.ns 0: none yet */
	struct window windows[COST_WINDOWS];
	size_t n_windows, next;
	unsigned every_nth, over;
	int64_t changed_ns;
};
VEC(tracks, struct track);

struct cost {
	struct cost_settings settings;
	struct tracks tracks;
};

struct cost *cost_new(const struct cost_settings *s)
{
	struct cost *c = mem_get(sizeof(*c));

	c->settings = *s;
	c->tracks.cap = COST_WORKERS_MAX;
	return c;
}

void cost_free(struct cost *c)
{
	if (c == NULL)
		return;
	vec_fini(&c->tracks);
	mem_free(c);
}

void cost_set(struct cost *c, const struct cost_settings *s)
{
	c->settings = *s;
}

static struct track *find(const struct cost *c, uint64_t worker)
{
	vec_each(t, &c->tracks)
		if (t->worker == worker)
			return t;
	return NULL;
}

/* ---- what was lost */

static void add(struct stretch *s, struct stretch more)
{
	s->ns += more.ns;
	s->count += more.count;
}

/* What the worker would have done in so long: its rate around the window. 0 where it did nothing. */
static double rate_of(struct stretch s)
{
	return s.ns > 0 ? (double)s.count / (double)s.ns : 0;
}

static double lost_ns(const struct window *w)
{
	return (double)w->in.ns - (double)w->in.count / rate_of(w->around);
}

struct estimate {
	bool measured;
	double lost_ns, error_ns, base_ns;
};

/* Parts per million at a duty. */
static double ppm(double ns, const struct estimate *e, unsigned every_nth)
{
	return ns / (e->base_ns * every_nth) * 1e6;
}

/* A count that is read at any moment misses part of one; the job's own is read at a step. */
static double least_error_ns(const struct track *t)
{
	struct stretch around = { 0, 0 };

	if (t->counter == COST_STEPS)
		return 0;
	for (size_t i = 0; i < t->n_windows; i++)
		add(&around, t->windows[i].around);
	return quantum / rate_of(around);
}

static struct estimate estimate(const struct cost *c, const struct track *t)
{
	double lost[COST_WINDOWS], base[COST_WINDOWS];
	struct estimate e = { .measured = false };

	if (t->n_windows < COST_WINDOWS_MIN)
		return e;
	for (size_t i = 0; i < t->n_windows; i++) {
		lost[i] = lost_ns(&t->windows[i]);
		base[i] = (double)t->windows[i].base_ns;
	}
	e.error_ns = fmax(robust_mad(lost, t->n_windows, &e.lost_ns) * mad_scale * median_scale, least_error_ns(t)) /
		     sqrt((double)t->n_windows);
	e.base_ns = robust_median(base, t->n_windows);
	e.measured = ppm(e.error_ns, &e, t->every_nth) <= error_max_budgets * c->settings.budget_ppm;
	return e;
}

/* ---- duty */

static void judge(struct cost *c, struct track *t, int64_t now_ns)
{
	struct estimate e = estimate(c, t);

	if (!e.measured || ppm(e.lost_ns - errors_wanted * e.error_ns, &e, t->every_nth) <= c->settings.budget_ppm) {
		t->over = 0;
		return;
	}
	if (++t->over < OVER_TIMES || t->every_nth == COST_NTH_MAX)
		return;
	t->over = 0;
	t->every_nth *= 2;
	t->changed_ns = now_ns;
}

static void restore(struct cost *c, struct track *t, int64_t now_ns)
{
	struct estimate e;

	if (t->every_nth == 1 || now_ns - t->changed_ns < c->settings.restore_ns)
		return;
	e = estimate(c, t);
	if (!e.measured || ppm(e.lost_ns, &e, t->every_nth / 2) > c->settings.budget_ppm)
		return;
	t->every_nth /= 2;
	t->changed_ns = now_ns;
}

void cost_tick(struct cost *c, int64_t now_ns)
{
	for (size_t i = c->tracks.n; i-- > 0;) {
		struct track *t = &c->tracks.v[i];

		if (now_ns - t->seen_ns > forget_ns)
			*t = c->tracks.v[--c->tracks.n];
		else
			restore(c, t, now_ns);
	}
}

/* ---- stretches */

/* A window is complete when the next one begins. One around which nothing was done says nothing. */
static void close_window(struct cost *c, struct track *t, int64_t now_ns)
{
	struct window w = { .in = t->in, .around = t->before };

	add(&w.around, t->first);
	w.base_ns = (t->in.ns + t->out.ns) / t->every_nth;
	if (w.around.count == 0 || w.base_ns <= 0)
		return;
	t->windows[t->next] = w;
	t->next = (t->next + 1) % COST_WINDOWS;
	if (t->n_windows < COST_WINDOWS)
		t->n_windows++;
	judge(c, t, now_ns);
}

static void add_outside(struct track *t, struct stretch s)
{
	add(&t->out, s);
	if (t->first.ns < near_ns)
		add(&t->first, s);
	if (t->recent[1].ns >= near_ns) {
		t->recent[0] = t->recent[1];
		t->recent[1] = (struct stretch){ 0, 0 };
	}
	add(&t->recent[1], s);
}

static void begin_window(struct cost *c, struct track *t, int64_t now_ns)
{
	if (t->in.ns > 0)
		close_window(c, t, now_ns);
	t->before = t->recent[0];
	add(&t->before, t->recent[1]);
	t->in = t->out = t->first = t->recent[0] = t->recent[1] = (struct stretch){ 0, 0 };
}

static void add_stretch(struct cost *c, struct track *t, int64_t now_ns, struct stretch s, bool inside)
{
	if (s.ns <= 0)
		return;
	if (!inside) {
		add_outside(t, s);
		return;
	}
	if (t->in.ns == 0 || t->out.ns > 0)
		begin_window(c, t, now_ns);
	add(&t->in, s);
}

/* From here on nothing is known of before; what was measured stays. */
static void start_afresh(struct track *t)
{
	t->has_last = t->has_steps = false;
	t->out = t->first = t->recent[0] = t->recent[1] = t->before = t->in = (struct stretch){ 0, 0 };
}

/* NULL: no room, or somebody counts better. */
static struct track *track_for(struct cost *c, uint64_t worker, enum cost_counter counter, int64_t now_ns)
{
	struct track *t = find(c, worker);

	if (t == NULL) {
		t = vec_push(&c->tracks);
		if (t == NULL)
			return NULL;
		*t = (struct track){ .worker = worker, .counter = counter, .every_nth = 1, .changed_ns = now_ns };
	}
	if (t->counter < counter && now_ns - t->seen_ns < better_ns)
		return NULL;
	if (t->counter != counter) {
		start_afresh(t);
		t->counter = counter;
		t->n_windows = t->next = t->over = 0;
	}
	t->seen_ns = now_ns;
	return t;
}

void cost_add_stretch(struct cost *c, uint64_t worker, enum cost_counter counter, int64_t now_ns, int64_t length_ns, uint64_t count,
	bool inside)
{
	struct track *t = track_for(c, worker, counter, now_ns);

	if (t != NULL)
		add_stretch(c, t, now_ns, (struct stretch){ length_ns, count }, inside);
}

void cost_add(struct cost *c, uint64_t worker, enum cost_counter counter, const struct cost_sample *s)
{
	struct track *t = track_for(c, worker, counter, s->at_ns);

	if (t == NULL)
		return;
	if (t->has_last && (s->count < t->last.count || s->at_ns <= t->last.at_ns))
		start_afresh(t);
	if (t->has_last)
		add_stretch(c, t, s->at_ns, (struct stretch){ s->at_ns - t->last.at_ns, s->count - t->last.count }, s->inside);
	t->last = *s;
	t->has_last = true;
}

/* ---- the job's own step counter */

bool cost_steps_parse(const uint8_t bytes[COST_STEPS_BYTES], struct cost_steps *out)
{
	if (memcmp(bytes, "TSSTEPS1", 8) != 0)
		return false;
	*out = (struct cost_steps){
		.steps = enc_get64(bytes + 8),
		.last_ns = (int64_t)enc_get64(bytes + 16),
		.begun = enc_get64(bytes + 24),
		.ended = enc_get64(bytes + 32),
		.steps_inside = enc_get64(bytes + 40),
		.inside_ns = (int64_t)enc_get64(bytes + 48),
		.first_ns = (int64_t)enc_get64(bytes + 56),
	};
	return out->ended <= out->begun && out->steps_inside <= out->steps && out->first_ns >= 0 && out->last_ns >= out->first_ns &&
	       out->inside_ns >= 0 && out->inside_ns <= out->last_ns;
}

static bool goes_on(const struct cost_steps *a, const struct cost_steps *b)
{
	return a->first_ns == b->first_ns && a->steps <= b->steps && a->last_ns <= b->last_ns && a->begun <= b->begun &&
	       a->ended <= b->ended && a->steps_inside <= b->steps_inside && a->inside_ns <= b->inside_ns &&
	       b->steps_inside - a->steps_inside <= b->steps - a->steps;
}

void cost_add_steps(struct cost *c, uint64_t worker, const struct cost_steps *now, bool agents_window)
{
	struct track *t = track_for(c, worker, COST_STEPS, now->last_ns);
	struct stretch inside, outside;

	if (t == NULL)
		return;
	if (t->has_steps && !goes_on(&t->steps, now))
		start_afresh(t);
	if (now->begun != now->ended && t->has_steps)
		return;
	if (t->has_steps) {
		inside = (struct stretch){ now->inside_ns - t->steps.inside_ns, now->steps_inside - t->steps.steps_inside };
		outside = (struct stretch){ now->last_ns - t->steps.last_ns - inside.ns, now->steps - t->steps.steps - inside.count };
		add_stretch(c, t, now->last_ns, inside, true);
		add_stretch(c, t, now->last_ns, outside, agents_window);
	}
	t->steps = *now;
	t->has_steps = true;
}

/* ---- for whoever asks */

/* Of all windows that the medians are of. */
static void view_rates(const struct track *t, const struct estimate *e, struct cost_view *v)
{
	struct stretch in = { 0, 0 }, around = { 0, 0 };

	for (size_t i = 0; i < t->n_windows; i++) {
		add(&in, t->windows[i].in);
		add(&around, t->windows[i].around);
	}
	v->rate_inside = rate_of(in) * NS_PER_S;
	v->rate_outside = rate_of(around) * NS_PER_S;
	v->slowdown = fmin(fmax(e->lost_ns * (double)t->n_windows / (double)in.ns, 0), 1);
}

struct cost_view cost_of(const struct cost *c, uint64_t worker)
{
	const struct track *t = find(c, worker);
	struct cost_view v = { .every_nth = t == NULL ? 1 : t->every_nth };
	struct estimate e;

	if (t == NULL)
		return v;
	e = estimate(c, t);
	v.counter = t->counter;
	v.windows = t->n_windows;
	v.measured = e.measured;
	v.error_ppm = e.base_ns > 0 ? ppm(e.error_ns, &e, t->every_nth) : 0;
	if (!e.measured)
		return v;
	v.cost_ppm = (uint32_t)lround(fmin(fmax(ppm(e.lost_ns, &e, t->every_nth), 0), 1e6));
	view_rates(t, &e, &v);
	return v;
}
