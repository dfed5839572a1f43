/* tick.c — deploys and alerts. All by the windows' own times: a back-dated window counts where it belongs, and
 * the wall clock only says when an alert fired.
 *
 * A service's newest deploy is the one whose first window began last (one that is dated ahead of the clock waits
 * until then); it is judged against the one in front of it (api/sides: the newest 64 windows of each, medians
 * over windows, detect/judge). It is judged when
 *
 *	at least one host has two windows of it (the second full window after the deploy),
 *	there are at least three windows before, and
 *	both sides have at least 50 steps, over all hosts, where steps are known;
 *
 * and again only when either deploy has more windows than last time, or after other settings came, or
 * once a minute while an alert is put off (see below). What structure tells (lost fusion and its kin) counts at
 * once; ops that are merely slower wait until the deploy has settled (api/sides.h).
 *
 *	a regression            an alert, firing, one for the deploy and kind: more findings of the same kind
 *	                        update it, they do not add another
 *	no regression, but an   resolved: with more windows it did not hold; it does not fire again for an hour
 *	alert of this deploy
 *
 * Firing alerts of older deploys are looked at when the newest is: the deploy from before the regression is
 * judged against the newest. Where that no longer finds the kind, the alert is resolved; a repair in v43 ends
 * what v42 broke. A rollback has no new deploy: six windows of the deploy before, behind the last window of the
 * bad one, two of them of one host, resolve as well, and keep the bad one from firing until it comes back; where
 * not all workers of the bad one are among them (a canary's window may only be late), once the bad one was silent
 * for twice its spacing (or, as long as none of its workers has had two windows, that of the deploy before).
 *
 * A firing alert that was not judged for 14 days expires when nothing was heard of its service either, or when too
 * few windows of the deploy before are kept to judge it ever again.
 *
 * An alert that fires may ask for a capture of its hosts, eight at most, of a service once in a while
 * (capture.on_alert): to have windows of what is wrong now, and not only at the next slots. Its id stands in the
 * alert's evidence.
 *
 * What was judged last is remembered in memory only: after a start everything is judged once more, which updates
 * alerts in place (their id is made of kind, service, deploy and op) and tells nobody twice (notify/notify.h).
 * */
#include "daemon/tick.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "api/sides.h"
#include "base/chan.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/thread.h"
#include "base/vec.h"

enum {
	TICK_SERVICES_MAX = 10000,
	TICK_ALERTS_MAX = 1000, /* firing ones of a service */
	TICK_PAGE = 200,	/* of all that fire, at once */
	TICK_CURSOR = 512,
	TICK_QUIET_WINDOWS = 6, /* of the deploy before, after a rollback */
	TICK_HEADS = 2000, /* windows looked through for hosts and workers */
	TICK_CALMED = 1000, /* alerts remembered for a while after they did not hold */
	TICK_CAPTURE_HOSTS = 8,	 /* of one alert */
	TICK_CAPTURES = 100,	 /* of a service, looked through for the last one of an alert */
	TICK_ARENA_BYTES = 512 << 20,
};

/* What a service was judged on last. */
struct judged {
	uint64_t before_windows, after_windows, generation;
	int64_t put_off_min; /* wall: when what should fire did not, to look again a minute later; else 0 */
	uint8_t key[16]; /* of both deploys' names */
};
VEC(judged_list, struct judged);

/* A kind of alert of a deploy that more windows did not bear out, whatever op stood for it. */
struct calmed {
	char id[33];
	int64_t from_ns; /* wall */
};

struct tick {
	struct tick_parts parts;
	struct tick_settings set;
	struct tick_settings *_Atomic next; /* from tick_set */
	struct thread *thread;
	struct chan *pokes; /* holds the tick itself: "look" */
	uint64_t generation; /* counts settings */
	struct arena names;  /* of services, as long as the map */
	struct intern services;
	struct judged_list judged;
	struct calmed calmed[TICK_CALMED]; /* a ring */
	size_t next_calmed;
	int64_t expired_ns; /* wall: when alerts of services that are gone were last looked for */
	struct metric *rounds, *judgements, *fired, *put_off, *resolved, *expired, *failed, *seconds, *captured, *not_captured;
};

/* One service in one round. */
struct look {
	struct tick *t;
	struct arena arena;
	struct str service;
	int64_t until_ns; /* windows that start then or later are of no account yet */
	struct deploy before, after;
	struct alert_list firing; /* of the service */
	bool put_off;		  /* what should fire did not */
};

/* What is near a threshold would fire and be resolved with every few windows. */
static const int64_t tick_calm_ns = NS_PER_HOUR;
/* A service that is gone: nobody resolves what fired there. */
static const int64_t tick_quiet_ns = 14 * NS_PER_DAY;

/* ---- is there something new? */

static struct judged *judged_of(struct tick *t, struct str service)
{
	uint32_t id = intern_id(&t->services, service);

	if (id == INTERN_NONE)
		return NULL;
	while (t->judged.n <= id)
		if (vec_push(&t->judged) == NULL)
			return NULL;
	return &t->judged.v[id];
}

static struct judged judged_now(const struct look *l)
{
	struct judged j = { .before_windows = l->before.windows, .after_windows = l->after.windows,
		.generation = l->t->generation };
	struct hash128 *h = hash128_new();

	hash128_add_str(h, l->before.deploy);
	hash128_add_str(h, l->after.deploy);
	hash128_get(h, j.key);
	hash128_free(h);
	return j;
}

static int64_t minute_now(const struct tick *t)
{
	return t->parts.wall_ns() / NS_PER_MIN;
}

static bool is_new(const struct judged *last, const struct judged *now)
{
	return memcmp(last, now, sizeof(*now)) != 0;
}

/* ---- may it be judged? */

/* Does some host have so many windows of the newest deploy? In a large fleet the judged windows are one of a
 * host each, so the deploy's own counts speak too: more windows than hosts times (n - 1). */
static bool has_full_windows(const struct look *l, const struct deploy_side *after)
{
	uint64_t want = (uint64_t)l->t->set.windows_after;

	return after->most_of_a_host >= want || l->after.windows > l->after.hosts * (want - 1);
}

static bool is_enough(const struct look *l, const struct deploy_side *before, const struct deploy_side *after)
{
	uint64_t steps = (uint64_t)l->t->set.steps;

	if (before->windows < (uint64_t)l->t->set.windows_before || !has_full_windows(l, after))
		return false;
	if (before->steps == 0 && after->steps == 0)
		return true; /* per window then */
	return before->steps >= steps && after->steps >= steps;
}

/* OK with *enough false where there is too little to say anything. */
static int judge_pair(struct look *l, struct str before, struct str after, struct verdict *v, struct deploy_side *b,
	struct deploy_side *a, bool *enough, struct err *e)
{
	const struct fusion_table *table = api_fusion(l->t->parts.api);
	int rc;

	*enough = false;
	rc = deploy_side_load(l->t->parts.store, table, l->service, before, l->until_ns, false, &l->arena, b, e);
	if (rc == OK)
		rc = deploy_side_load(l->t->parts.store, table, l->service, after, l->until_ns, false,
			&l->arena, a, e);
	if (rc != OK || !is_enough(l, b, a))
		return rc;
	*enough = true;
	metric_add(l->t->judgements, 1);
	return judge(b->side, a->side, deploy_where(&l->after), &l->arena, v, e);
}

/* The heads of the newest windows of a deploy that began at from_ns or later. */
static int list_heads(struct look *l, struct str deploy, int64_t from_ns, uint32_t limit, struct window_list *out,
	struct err *e)
{
	struct query q = { .service = l->service, .deploy = deploy, .from_ns = from_ns, .to_ns = l->until_ns,
		.limit = limit, .newest_first = true, .with_ops = true };

	return store_windows(l->t->parts.store, &q, false, &l->arena, out, e);
}

static int list_hosts(struct look *l, struct str deploy, struct intern *hosts, struct err *e)
{
	struct window_list list = { 0 };
	int rc = list_heads(l, deploy, 0, TICK_HEADS, &list, e);

	for (size_t i = 0; rc == OK && i < list.n; i++)
		intern_id(hosts, list.v[i].host);
	window_list_fini(&list);
	return rc;
}

/* ---- is the fleet back on the deploy before? */

struct heads {
	struct window_list list; /* newest first */
	struct intern hosts, workers;
};

static uint32_t worker_id(struct look *l, struct heads *h, const struct window *w)
{
	return intern_id(&h->workers, arena_fmt(&l->arena, "%.*s\x1f%.*s", STR_ARG(w->host), STR_ARG(w->worker)));
}

static int heads_open(struct look *l, struct heads *h, struct str deploy, int64_t from_ns, uint32_t limit, struct err *e)
{
	int rc;

	*h = (struct heads){ .list.n = 0 };
	intern_init(&h->hosts, &l->arena, TICK_HEADS);
	intern_init(&h->workers, &l->arena, TICK_HEADS);
	rc = list_heads(l, deploy, from_ns, limit, &h->list, e);
	for (size_t i = 0; rc == OK && i < h->list.n; i++) {
		intern_id(&h->hosts, h->list.v[i].host);
		worker_id(l, h, &h->list.v[i]);
	}
	return rc;
}

static void heads_fini(struct heads *h)
{
	intern_fini(&h->hosts);
	intern_fini(&h->workers);
	window_list_fini(&h->list);
}

/* How far a worker's windows are apart, on average; 0 where none has two. Their starts are strangers' numbers: no integer. */
static double spacing_ns(const struct heads *h)
{
	size_t pairs = h->list.n - intern_count(&h->workers);
	double all_ns = (double)(h->list.v[0].start_ns - h->list.v[h->list.n - 1].start_ns);

	return pairs == 0 ? 0 : all_ns / (double)pairs * (double)intern_count(&h->workers);
}

static bool are_all_among(const struct heads *few, const struct heads *many)
{
	for (uint32_t i = 0; i < intern_count(&few->workers); i++)
		if (intern_find(&many->workers, intern_name(&few->workers, i)) == INTERN_NONE)
			return false;
	return true;
}

/* More windows than hosts say that some host has two of them: a round has passed without the bad one. But rounds do not
 * arrive in step: while a canary's window is under way, some of a large fleet have had two. So the bad one's workers are
 * all back, or it was silent for twice as long as lies between its windows (between the good one's, where its workers
 * have had but one each). */
static bool is_over(const struct heads *bad, const struct heads *good)
{
	double silent_ns = (double)(good->list.v[0].start_ns - bad->list.v[0].start_ns), apart_ns = spacing_ns(bad);

	if (good->list.n < TICK_QUIET_WINDOWS || good->list.n <= intern_count(&good->hosts))
		return false;
	if (are_all_among(bad, good))
		return true;
	if (apart_ns == 0)
		apart_ns = spacing_ns(good);
	return apart_ns > 0 && silent_ns > 2 * apart_ns;
}

static int is_rolled_back(struct look *l, struct str good_deploy, struct str bad_deploy, bool *yes, struct err *e)
{
	struct heads bad, good = { .list.n = 0 };
	struct window_list last = { 0 };
	int rc = list_heads(l, bad_deploy, 0, 1, &last, e);

	*yes = false;
	if (rc != OK || last.n == 0)
		return rc;
	rc = heads_open(l, &good, good_deploy, last.v[0].start_ns + 1, TICK_HEADS, e);
	if (rc == OK && good.list.n >= TICK_QUIET_WINDOWS) {
		rc = heads_open(l, &bad, bad_deploy, 0, TICK_HEADS, e);
		*yes = rc == OK && is_over(&bad, &good);
		heads_fini(&bad);
	}
	heads_fini(&good);
	window_list_fini(&last);
	return rc;
}

/* ---- alerts */

static int keep_alert(struct look *l, struct alert *al, bool tell, struct err *e)
{
	struct tick *t = l->t;
	struct err told = { 0 };
	int rc;

	al->updated_ns = t->parts.wall_ns();
	rc = store_put_alert(t->parts.store, al, e);
	crash_point("alert.stored"); /* what was not told yet is told at the next start */
	if (rc == OK && tell && notify_push(t->parts.notify, al, &told) != OK)
		log_warn("notify.dropped", "alert=%.*s err=\"%s\"", STR_ARG(al->id), told.text);
	return rc;
}

static int resolve(struct look *l, struct alert *al, const char *why, struct err *e)
{
	al->state = ALERT_RESOLVED;
	al->resolved_ns = l->t->parts.wall_ns();
	metric_add(l->t->resolved, 1);
	log_info("alert.resolved", "id=%.*s service=%.*s deploy=%.*s kind=%s why=\"%s\"", STR_ARG(al->id),
		STR_ARG(al->service), STR_ARG(al->deploy), verdict_name(al->kind), why);
	return keep_alert(l, al, true, e);
}

static struct alert *firing_alert(struct look *l, struct str deploy, enum verdict_kind kind)
{
	for (size_t i = 0; i < l->firing.n; i++)
		if (l->firing.v[i].kind == kind && str_eq(l->firing.v[i].deploy, deploy))
			return &l->firing.v[i];
	return NULL;
}

static const struct finding *finding_for(const struct verdict *v, const struct alert *al)
{
	const struct finding *same_kind = NULL;

	for (size_t i = 0; i < v->n_findings; i++) {
		if (v->findings[i].kind != al->kind)
			continue;
		if (str_eq(v->findings[i].op.op, al->op))
			return &v->findings[i];
		if (same_kind == NULL)
			same_kind = &v->findings[i];
	}
	return same_kind;
}

static int write_evidence(struct look *l, const struct verdict *v, struct str capture, struct str *out, struct err *e)
{
	struct json_writer w;
	struct buf b;
	int rc;

	buf_init(&b, 4 << 20);
	jw_init(&w, &b);
	jw_object(&w);
	verdict_write_members(&w, v);
	if (!str_empty(capture))
		jw_key_str(&w, "capture", capture);
	jw_end(&w);
	rc = jw_finish(&w, e);
	*out = arena_str(&l->arena, buf_view(&b));
	buf_fini(&b);
	return rc;
}

static struct alert fresh_alert(struct look *l, const struct finding *f)
{
	struct alert al = {
		.state = ALERT_FIRING,
		.kind = f->kind,
		.service = l->service,
		.deploy = l->after.deploy,
		.op = f->op.op,
		.fired_ns = l->t->parts.wall_ns(),
	};

	alert_id(al.kind, al.service, al.deploy, al.op, &l->arena, &al.id);
	return al;
}

/* All that ran the deploy lately, more than were judged. Where the list cannot be had, those that were. */
static void name_hosts(struct look *l, struct alert *al)
{
	struct intern hosts;
	struct str *v;

	intern_init(&hosts, &l->arena, TICK_HEADS);
	if (list_hosts(l, al->deploy, &hosts, NULL) == OK && intern_count(&hosts) > al->n_hosts) {
		v = arena_get_array(&l->arena, intern_count(&hosts), sizeof(*v));
		for (uint32_t i = 0; v != NULL && i < intern_count(&hosts); i++)
			v[i] = intern_name(&hosts, i);
		if (v != NULL) {
			al->hosts = v;
			al->n_hosts = intern_count(&hosts);
		}
	}
	intern_fini(&hosts);
}

/* ---- windows of what is wrong now */

/* Was one asked for already? *id is that of this alert's own; true where the service had one lately. */
static bool had_capture(struct look *l, const struct alert *al, struct str *id)
{
	const struct tick *t = l->t;
	struct query q = { .service = l->service, .to_ns = INT64_MAX, .limit = TICK_CAPTURES };
	int64_t since_ns = t->parts.wall_ns() - t->set.capture_every_ns;
	struct capture_list list = { 0 };
	struct err e = { 0 };
	bool lately = false;

	if (store_captures(t->parts.store, &q, false, &l->arena, &list, &e) != OK) {
		log_warn("alert.capture", "alert=%.*s err=\"%s\"", STR_ARG(al->id), e.text);
		return true;
	}
	for (size_t i = 0; i < list.n; i++) {
		if (str_eq(list.v[i].alert, al->id))
			*id = list.v[i].id;
		lately = lately || (!str_empty(list.v[i].alert) && list.v[i].created_ns > since_ns);
	}
	return lately;
}

static struct str ask_capture(struct look *l, const struct alert *al)
{
	struct capture c = { .service = l->service, .source = STR(""), .hosts = al->hosts, .alert = al->id,
		.n_hosts = al->n_hosts < TICK_CAPTURE_HOSTS ? al->n_hosts : TICK_CAPTURE_HOSTS,
		.reason = arena_fmt(&l->arena, "alert: %.*s", STR_ARG(str_upto(al->sentence, 500))) };
	struct err e = { 0 };
	int rc = desk_ask(l->t->parts.desk, &c, &l->arena, &e);

	if (rc == OK) {
		metric_add(l->t->captured, 1);
		log_info("alert.capture", "alert=%.*s capture=%.*s workers=%zu", STR_ARG(al->id), STR_ARG(c.id),
			c.n_targets);
		return c.id;
	}
	metric_add(l->t->not_captured, 1);
	if (rc == E_NOT_FOUND) /* hosts whose jobs profile themselves: nothing to ask for */
		log_debug("alert.capture", "alert=%.*s err=\"%s\"", STR_ARG(al->id), e.text);
	else
		log_warn("alert.capture", "alert=%.*s err=\"%s\"", STR_ARG(al->id), e.text);
	return STR("");
}

/* The id of the capture that goes with the alert, or empty: asked for once, when it fires. */
static struct str capture_of(struct look *l, const struct alert *al, bool fires)
{
	struct str id = STR("");
	bool lately;

	if (l->t->parts.desk == NULL || !l->t->set.capture)
		return id;
	lately = had_capture(l, al, &id);
	if (!str_empty(id) || !fires)
		return id;
	if (!lately)
		return ask_capture(l, al);
	metric_add(l->t->not_captured, 1);
	return id;
}

/* ---- what comes and goes */

static struct str calmed_id(struct look *l, const struct alert *al)
{
	struct str id;

	alert_id(al->kind, al->service, al->deploy, STR(""), &l->arena, &id);
	return id;
}

static void calm(struct look *l, const struct alert *al)
{
	struct calmed *c = &l->t->calmed[l->t->next_calmed++ % TICK_CALMED];

	str_copy_to(calmed_id(l, al), c->id, sizeof(c->id));
	c->from_ns = l->t->parts.wall_ns();
}

static bool is_calmed(struct look *l, const struct alert *al)
{
	int64_t now_ns = l->t->parts.wall_ns();
	struct str id = calmed_id(l, al);

	for (size_t i = 0; i < TICK_CALMED; i++) {
		const struct calmed *c = &l->t->calmed[i];

		/* a clock that was set back does not make the hour longer */
		if (now_ns >= c->from_ns && now_ns - c->from_ns < tick_calm_ns && str_eq(str_of(c->id), id))
			return true;
	}
	return false;
}

/* A start judges everything once more, also what was given up because the service is gone. */
static bool has_expired(struct look *l, const struct alert *al)
{
	struct alert was = { .state = ALERT_INACTIVE };

	return store_alert(l->t->parts.store, al->id, &l->arena, &was, NULL) == OK && was.state == ALERT_EXPIRED &&
	       l->after.last_ns < l->t->parts.wall_ns() - tick_quiet_ns;
}

/* A new alert, or more evidence for the one there is. */
static int fire(struct look *l, const struct verdict *v, const struct deploy_side *b, const struct deploy_side *a,
	struct err *e)
{
	struct alert *old = firing_alert(l, l->after.deploy, v->kind);
	struct alert al = old != NULL ? *old : fresh_alert(l, &v->findings[0]);
	const struct finding *f = finding_for(v, &al);
	int rc;

	if (old == NULL && has_expired(l, &al))
		return OK;
	if (old == NULL && is_calmed(l, &al)) {
		l->put_off = true;
		metric_add(l->t->put_off, 1);
		return OK;
	}
	al.sentence = f != NULL ? f->sentence : v->findings[0].sentence;
	al.deploy_before = l->before.deploy;
	al.started_ns = l->after.first_ns;
	al.hosts = a->hosts;
	al.n_hosts = a->n_hosts;
	name_hosts(l, &al);
	al.windows_before = b->windows;
	al.windows_after = a->windows;
	rc = write_evidence(l, v, capture_of(l, &al, old == NULL), &al.evidence, e);
	if (rc != OK)
		return rc;
	rc = keep_alert(l, &al, old == NULL, e);
	if (rc == OK && old == NULL) {
		metric_add(l->t->fired, 1);
		log_warn("alert.firing", "id=%.*s service=%.*s deploy=%.*s before=%.*s kind=%s sentence=\"%.*s\"", STR_ARG(al.id),
			STR_ARG(al.service), STR_ARG(al.deploy), STR_ARG(al.deploy_before), verdict_name(al.kind),
			STR_ARG(al.sentence));
	}
	return rc;
}

/* Alerts of the newest deploy that this verdict does not bear out any more. */
static int settle_own(struct look *l, const struct verdict *v, struct err *e)
{
	bool bad = verdict_is_regression(v);
	int rc = OK;

	for (size_t i = 0; i < l->firing.n && rc == OK; i++) {
		struct alert *al = &l->firing.v[i];

		if (!str_eq(al->deploy, l->after.deploy) || (bad && finding_for(v, al) != NULL))
			continue;
		calm(l, al);
		rc = resolve(l, al, "more windows do not bear it out", e);
	}
	return rc;
}

/* ---- older alerts */

/* Is what the alert tells of gone in the newest deploy? */
static int is_repaired(struct look *l, const struct alert *al, bool *yes, struct err *e)
{
	struct deploy_side b = { 0 }, a = { 0 };
	struct verdict v = { 0 };
	bool enough = false;
	int rc = judge_pair(l, al->deploy_before, l->after.deploy, &v, &b, &a, &enough, e);

	*yes = rc == OK && enough && !(verdict_is_regression(&v) && finding_for(&v, al) != NULL);
	deploy_side_fini(&b);
	deploy_side_fini(&a);
	return rc;
}

static int settle_others(struct look *l, struct err *e)
{
	int rc = OK;

	for (size_t i = 0; i < l->firing.n && rc == OK; i++) {
		struct alert *al = &l->firing.v[i];
		bool over = false;

		if (al->state != ALERT_FIRING)
			continue; /* resolved just now */
		rc = is_rolled_back(l, al->deploy_before, al->deploy, &over, e);
		if (rc == OK && over)
			rc = resolve(l, al, "rolled back", e);
		else if (rc == OK && !str_eq(al->deploy, l->after.deploy)) {
			rc = is_repaired(l, al, &over, e);
			if (rc == OK && over)
				rc = resolve(l, al, "a later deploy does not have it", e);
		}
	}
	return rc;
}

/* ---- one service */

static int judge_newest(struct look *l, struct err *e)
{
	struct deploy_side b = { 0 }, a = { 0 };
	struct verdict v = { 0 };
	bool enough = false, rolled_back = false;
	int rc = is_rolled_back(l, l->before.deploy, l->after.deploy, &rolled_back, e);

	if (rc == OK && !rolled_back)
		rc = judge_pair(l, l->before.deploy, l->after.deploy, &v, &b, &a, &enough, e);
	if (rc == OK && enough) {
		log_debug("detect.judged", "service=%.*s before=%.*s after=%.*s verdict=%s windows=%" PRIu64 "/%" PRIu64,
			STR_ARG(l->service), STR_ARG(l->before.deploy), STR_ARG(l->after.deploy),
			verdict_name(v.kind), b.windows, a.windows);
		rc = settle_own(l, &v, e);
		if (rc == OK && verdict_is_regression(&v) && v.n_findings > 0)
			rc = fire(l, &v, &b, &a, e);
	}
	deploy_side_fini(&b);
	deploy_side_fini(&a);
	return rc;
}

static int load_firing(struct look *l, struct err *e)
{
	struct query q = { .service = l->service, .to_ns = INT64_MAX, .limit = TICK_ALERTS_MAX,
		.newest_first = true };

	return store_alerts(l->t->parts.store, &q, false, ALERT_FIRING, &l->arena, &l->firing, e);
}

static int look_closer(struct look *l, struct err *e)
{
	struct judged *last = judged_of(l->t, l->service);
	struct judged now = judged_now(l);
	int rc;

	if (last != NULL && last->put_off_min != 0)
		now.put_off_min = minute_now(l->t);
	if (last != NULL && !is_new(last, &now))
		return OK;
	rc = load_firing(l, e);
	if (rc == OK)
		rc = judge_newest(l, e);
	if (rc == OK)
		rc = settle_others(l, e);
	if (rc == OK && last != NULL) {
		now.put_off_min = l->put_off ? minute_now(l->t) : 0;
		*last = now;
	}
	return rc;
}

static int look_at(struct tick *t, struct str service, struct err *e)
{
	struct look l = { .t = t, .service = service, .until_ns = t->parts.wall_ns() + SIDES_AHEAD_NS };
	int rc;

	arena_init(&l.arena, TICK_ARENA_BYTES);
	rc = deploys_newest(t->parts.store, service, STR(""), STR(""), l.until_ns, &l.arena, &l.before, &l.after, e);
	if (rc == OK)
		rc = look_closer(&l, e);
	else if (rc == E_NOT_FOUND)
		rc = OK; /* one deploy only: nothing to compare */
	arena_fini(&l.arena);
	return rc == OK ? OK : err_add(e, "service %.*s", STR_ARG(service));
}

/* ---- alerts that nothing is heard of any more */

/* The deploy that a repair would be judged against is not kept any more: nothing can resolve the alert. */
static int is_beyond_judging(struct look *l, const struct alert *al, bool *yes, struct err *e)
{
	struct window_list list = { 0 };
	int rc = list_heads(l, al->deploy_before, 0, (uint32_t)l->t->set.windows_before, &list, e);

	*yes = rc == OK && list.n < (size_t)l->t->set.windows_before;
	window_list_fini(&list);
	return rc;
}

/* Told of by its last judgement, and by the service's own windows: those may be of long ago and have come just now. */
static int has_gone_quiet(struct look *l, const struct alert *al, int64_t before_ns, bool *yes, struct err *e)
{
	struct query q = { .service = al->service };
	int64_t first_ns, last_ns;
	bool any;
	int rc;

	*yes = false;
	if (al->updated_ns >= before_ns)
		return OK;
	rc = store_life(l->t->parts.store, &q, &any, &first_ns, &last_ns, e);
	*yes = rc == OK && (!any || last_ns < before_ns);
	return rc == OK && !*yes ? is_beyond_judging(l, al, yes, e) : rc;
}

static int expire(struct look *l, struct alert *al, struct err *e)
{
	al->state = ALERT_EXPIRED;
	al->resolved_ns = l->t->parts.wall_ns();
	metric_add(l->t->expired, 1);
	log_info("alert.expired", "id=%.*s service=%.*s deploy=%.*s kind=%s", STR_ARG(al->id), STR_ARG(al->service),
		STR_ARG(al->deploy), verdict_name(al->kind));
	return keep_alert(l, al, true, e);
}

/* One page of all that fire. The cursor leads to the next one, "" behind the last. */
static int expire_page(struct tick *t, int64_t now_ns, char cursor[TICK_CURSOR], struct err *e)
{
	struct query q = { .limit = TICK_PAGE, .newest_first = true, .cursor = str_of(cursor) };
	struct look l = { .t = t, .until_ns = now_ns + SIDES_AHEAD_NS };
	int rc;

	arena_init(&l.arena, TICK_ARENA_BYTES);
	rc = store_alerts(t->parts.store, &q, false, ALERT_FIRING, &l.arena, &l.firing, e);
	for (size_t i = 0; rc == OK && i < l.firing.n; i++) {
		bool quiet = false;

		l.service = l.firing.v[i].service;
		rc = has_gone_quiet(&l, &l.firing.v[i], now_ns - tick_quiet_ns, &quiet, e);
		if (rc == OK && quiet)
			rc = expire(&l, &l.firing.v[i], e);
	}
	must(str_copy_to(l.firing.next, cursor, TICK_CURSOR));
	arena_fini(&l.arena);
	return rc;
}

static int expire_quiet(struct tick *t, struct err *e)
{
	int64_t now_ns = t->parts.wall_ns();
	char cursor[TICK_CURSOR] = "";
	int rc;

	if (t->expired_ns != 0 && now_ns - t->expired_ns < NS_PER_HOUR && now_ns >= t->expired_ns)
		return OK;
	t->expired_ns = now_ns;
	do
		rc = expire_page(t, now_ns, cursor, e);
	while (rc == OK && cursor[0] != '\0');
	return rc;
}

/* ---- a round */

int tick_round(struct tick *t, struct err *e)
{
	struct name_list list = { 0 };
	struct arena a;
	int rc, first = OK;

	arena_init(&a, 64 << 20);
	rc = store_service_names(t->parts.store, &a, &list, e);
	for (size_t i = 0; rc == OK && i < list.n; i++) {
		struct err one = { 0 };

		/* one service's trouble does not blind the others */
		if (look_at(t, list.v[i], &one) != OK && first == OK) {
			first = one.code;
			if (e != NULL)
				*e = one;
		}
	}
	arena_fini(&a);
	if (rc == OK)
		rc = expire_quiet(t, first == OK ? e : NULL);
	metric_add(t->rounds, 1);
	return rc != OK ? rc : first;
}

/* ---- the thread */

static void take_settings(struct tick *t)
{
	struct tick_settings *s = atomic_exchange(&t->next, NULL);

	if (s == NULL)
		return;
	t->set = *s;
	t->generation++;
	mem_free(s);
}

/* Waits for windows to arrive, and then a little for more of them; or for the interval. */
static bool wait_for_work(struct thread *th, struct tick *t)
{
	void *p;
	int rc = chan_pop(t->pokes, &p, t->set.interval_ns);

	if (rc == E_STOPPED || thread_stopping(th))
		return false;
	return rc != OK || !thread_sleep(th, t->set.settle_ns);
}

static void tick_main(struct thread *th, void *arg)
{
	struct tick *t = arg;

	while (wait_for_work(th, t)) {
		int64_t began = clock_mono_ns();
		struct err e = { 0 };
		void *p;

		while (chan_pop(t->pokes, &p, 0) == OK)
			; /* this round sees what those were about */
		take_settings(t);
		if (tick_round(t, &e) != OK) {
			metric_add(t->failed, 1);
			log_error("detect.failed", "err=\"%s\"", e.text);
		}
		metric_set(t->seconds, (double)(clock_mono_ns() - began) / (double)NS_PER_S);
	}
}

void tick_poke(void *tick)
{
	struct tick *t = tick;
	int rc = chan_try_push(t->pokes, t);

	(void)rc; /* full: a round is due anyway */
}

void tick_set(struct tick *t, const struct tick_settings *set)
{
	struct tick_settings *s = mem_dup(set, sizeof(*set));

	mem_free(atomic_exchange(&t->next, s));
	tick_poke(t);
}

struct tick *tick_new(const struct tick_parts *parts, const struct tick_settings *set)
{
	struct tick *t = mem_get(sizeof(*t));
	struct metrics *ms = parts->metrics;

	t->parts = *parts;
	t->set = *set;
	t->generation = 1;
	t->pokes = chan_new(2);
	arena_init(&t->names, 16 << 20);
	intern_init(&t->services, &t->names, TICK_SERVICES_MAX);
	t->judged.cap = TICK_SERVICES_MAX;
	t->rounds = metric_counter(ms, "trainspotter_detect_rounds_total", NULL, "Rounds over all services.");
	t->judgements = metric_counter(ms, "trainspotter_detect_judgements_total", NULL, "Pairs of deploys judged.");
	t->fired = metric_counter(ms, "trainspotter_alerts_fired_total", NULL, "Alerts that began to fire.");
	t->put_off = metric_counter(ms, "trainspotter_alerts_put_off_total", NULL,
		"Judgements that would have fired an alert again within an hour after more windows did not bear it out.");
	t->resolved = metric_counter(ms, "trainspotter_alerts_resolved_total", NULL, "Alerts that were resolved.");
	t->expired = metric_counter(ms, "trainspotter_alerts_expired_total", NULL,
		"Alerts not judged for 14 days that ended, since their service is silent or the deploy before is not kept.");
	t->captured = metric_counter(ms, "trainspotter_alerts_captures_total", "result=\"asked\"",
		"Captures that alerts asked for.");
	t->not_captured = metric_counter(ms, "trainspotter_alerts_captures_total", "result=\"none\"",
		"Captures that alerts asked for.");
	t->failed = metric_counter(ms, "trainspotter_detect_failed_total", NULL, "Rounds that did not finish.");
	t->seconds = metric_gauge(ms, "trainspotter_detect_round_seconds", NULL, "Length of the last round.");
	return t;
}

int tick_open(struct tick **out, const struct tick_parts *parts, const struct tick_settings *set, struct err *e)
{
	struct tick *t = tick_new(parts, set);
	int rc = thread_start(&t->thread, "detect", tick_main, t, e);

	*out = NULL;
	if (rc != OK) {
		tick_close(t);
		return rc;
	}
	tick_poke(t); /* what is in the store already */
	*out = t;
	return OK;
}

void tick_close(struct tick *t)
{
	void *p;

	if (t == NULL)
		return;
	thread_stop(t->thread);
	chan_close(t->pokes);
	thread_join(t->thread);
	while (chan_pop(t->pokes, &p, 0) == OK)
		;
	chan_free(t->pokes);
	mem_free(atomic_exchange(&t->next, NULL));
	intern_fini(&t->services);
	arena_fini(&t->names);
	vec_fini(&t->judged);
	mem_free(t);
}
