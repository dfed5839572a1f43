#include "agent/lead.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "json/tree.h"
#include "json/write.h"

enum { ITERATIONS_MAX = 10000, ARENA_PER_BYTE = 16 };

static const int64_t poll_min_ns = NS_PER_S, poll_max_ns = 10 * NS_PER_MIN;
static const int64_t ttl_max_ns = NS_PER_HOUR, duration_min_ns = NS_PER_MS, duration_max_ns = NS_PER_MIN;

void lead_init(struct lead *l, const struct lead_settings *s, struct plan *plan, bool paused, const char *reason)
{
	*l = (struct lead){ .settings = *s, .plan = plan, .poll_ns = s->poll_ns, .paused = paused };
	str_copy_to(str_upto(str_of(reason), LEAD_REASON_MAX), l->reason, sizeof(l->reason));
	plan_lead(plan, true);
	plan_pause(plan, paused);
}

/* ---- the report */

static const char *state_of(const struct plan_view *v)
{
	return v->out ? "capturing" : v->w->idle ? "idle" : "busy";
}

/* The two clocks are not read at the same moment: without this, the time of a worker's last window would differ a little
 * from report to report, and look like another window. */
static void note_clocks(struct lead *l, int64_t now_ns, int64_t wall_ns)
{
	int64_t ahead = wall_ns - now_ns;

	if (ahead - l->ahead_ns > NS_PER_S || l->ahead_ns - ahead > NS_PER_S)
		l->ahead_ns = ahead;
}

static void put_worker(struct json_writer *w, const struct plan_view *v, int64_t ahead_ns)
{
	jw_object(w);
	jw_key_text(w, "source", v->w->source);
	jw_key_text(w, "worker", v->w->worker);
	jw_key_text(w, "service", v->w->service);
	jw_key_text(w, "deploy", v->w->deploy);
	jw_key_text(w, "state", state_of(v));
	jw_key_bool(w, "wants", v->wants);
	jw_key_i64(w, "last_ns", v->last_ns == 0 ? 0 : v->last_ns + ahead_ns);
	jw_key_text(w, "why", plan_why_word(v->why));
	jw_key_i64(w, "cost_ppm", v->cost_ppm);
	jw_key_bool(w, "measured", v->measured);
	jw_key_u64(w, "every_nth", v->every_nth);
	jw_end(w);
}

static void key_text_or_null(struct json_writer *w, const char *key, const char *text)
{
	jw_key_text(w, key, text[0] == '\0' ? NULL : text);
}

static void put_ended(struct json_writer *w, const struct plan_ended *d)
{
	jw_object(w);
	jw_key_text(w, "lease", d->lease);
	key_text_or_null(w, "capture", d->capture);
	jw_key_bool(w, "taken", d->taken);
	jw_key_text(w, "end", d->end);
	key_text_or_null(w, "window", d->window);
	jw_end(w);
}

void lead_report(struct lead *l, int64_t now_ns, int64_t wall_ns, struct buf *out)
{
	size_t n = plan_count(l->plan) < LEAD_WORKERS_MAX ? plan_count(l->plan) : LEAD_WORKERS_MAX;
	struct json_writer w;

	note_clocks(l, now_ns, wall_ns);
	jw_init(&w, out);
	jw_object(&w);
	jw_key_text(&w, "host", l->settings.host);
	jw_key_text(&w, "version", PACKAGE_VERSION);
	jw_key_i64(&w, "start_ns", l->settings.start_ns);
	jw_key_array(&w, "workers");
	for (size_t i = 0; i < n; i++) {
		const struct plan_view v = plan_at(l->plan, i);

		put_worker(&w, &v, l->ahead_ns);
	}
	jw_end(&w);
	jw_key_array(&w, "ended");
	l->n_told = plan_ended(l->plan, l->told, LEAD_ENDED_MAX);
	for (size_t i = 0; i < l->n_told; i++)
		put_ended(&w, &l->told[i]);
	jw_end(&w);
	jw_end(&w);
	(void)!jw_finish(&w, NULL); /* out keeps its error */
}

/* ---- the answer */

static int64_t between(int64_t v, int64_t min, int64_t max)
{
	return v < min ? min : v > max ? max : v;
}

/* 0: as the settings have it. */
static int64_t duration_of(const struct json_node *lease)
{
	int64_t ns = json_get_i64(lease, "duration_ns", 0);

	return ns <= 0 ? 0 : between(ns, duration_min_ns, duration_max_ns);
}

static void take_lease(struct lead *l, const struct json_node *lease, int64_t now_ns)
{
	const struct plan_grant g = {
		.id = json_get_str(lease, "id"),
		.capture = json_get_str(lease, "capture"),
		.source = json_get_str(lease, "source"),
		.service = json_get_str(lease, "service"),
		.worker = json_get_str(lease, "worker"),
		.duration_ns = duration_of(lease),
		.iterations = between(json_get_i64(lease, "iterations", 0), 0, ITERATIONS_MAX),
		.expires_ns = now_ns + between(json_get_i64(lease, "ttl_ns", 0), 0, ttl_max_ns),
	};
	struct err e = { 0 };

	l->leases++;
	if (plan_grant(l->plan, &g, now_ns, &e) < 0)
		log_debug("fleet.lease", "id=\"%.*s\" err=\"%s\"", STR_ARG(str_upto(g.id, PLAN_ID_TEXT)), e.text);
}

static void take_pause(struct lead *l, bool paused, struct str reason)
{
	if (paused && !l->paused)
		log_warn("capture.paused", "reason=\"%.*s\"", STR_ARG(str_upto(reason, LEAD_REASON_MAX)));
	else if (!paused && l->paused)
		log_info("capture.resumed", "by=daemon");
	l->paused = paused;
	str_copy_to(str_upto(reason, LEAD_REASON_MAX), l->reason, sizeof(l->reason));
	plan_pause(l->plan, paused);
}

static void take_answer(struct lead *l, const struct json_node *root, int64_t now_ns)
{
	const struct json_node *leases = json_get(root, "leases");

	l->unheard = !json_get_bool(root, "heard", true);
	if (!l->unheard)
		plan_told(l->plan, l->told, l->n_told);
	l->n_told = 0;
	l->poll_ns = between(json_get_i64(root, "poll_ns", l->settings.poll_ns), poll_min_ns, poll_max_ns);
	take_pause(l, json_get_bool(root, "paused", true), json_get_str(root, "reason"));
	for (size_t i = 0; leases != NULL && leases->kind == JSON_K_ARRAY && i < leases->n; i++)
		take_lease(l, &leases->items[i], now_ns);
	if (l->failures >= LEAD_FAILURES)
		log_info("fleet.led", "by=daemon");
	l->failures = 0;
	l->answers++;
	plan_lead(l->plan, true);
}

int lead_answer(struct lead *l, struct str body, int64_t now_ns, struct err *e)
{
	const struct json_node *root, *paused;
	struct arena a;
	int rc;

	arena_init(&a, LEAD_ANSWER_MAX * ARENA_PER_BYTE);
	rc = json_parse(&a, body, &root, e);
	paused = rc == OK ? json_get(root, "paused") : NULL;
	if (rc == OK && (paused == NULL || paused->kind != JSON_K_BOOL))
		rc = err_set(e, E_FORMAT, "no {\"paused\":…}: is that a Trainspotter daemon?");
	if (rc == OK)
		take_answer(l, root, now_ns);
	else
		lead_failed(l);
	arena_fini(&a);
	return rc;
}

void lead_failed(struct lead *l)
{
	l->failed++;
	l->n_told = 0;
	if (++l->failures != LEAD_FAILURES)
		return;
	log_warn("fleet.alone", "polls=%u action=\"local limits alone\" paused=%s", l->failures, l->paused ? "yes" : "no");
	plan_lead(l->plan, false);
}
