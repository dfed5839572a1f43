#include "notify/notify.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/chan.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/rand.h"
#include "base/thread.h"
#include "net/token.h"
#include "notify/seen.h"
#include "notify/webhook.h"

enum { NOTIFY_BODY_MAX = 4 << 20 };

struct message {
	char key[SEEN_KEY];	 /* as in the file */
	char after[SEEN_KEY];	 /* told only where this one was: a resolution after its firing; "" for always */
	char idempotency[SEEN_KEY]; /* as key, with dashes */
	struct buf body;
};

/* Settings as the thread uses them: made by whoever sets them, so that mistakes are told there. */
struct target {
	struct webhook *hook; /* NULL: nobody to tell */
	int64_t first_wait_ns, max_wait_ns, tries;
};

struct notify {
	struct chan *queue; /* struct message * */
	struct thread *thread;
	struct target *_Atomic next; /* set by notify_set, taken by the thread */
	struct target *target;	     /* the thread's */
	struct seen *seen;
	struct rand_gen rand;
	struct metric *delivered, *failed, *tries, *dropped;
};

/* ---- targets */

static void target_free(struct target *t)
{
	if (t == NULL)
		return;
	webhook_close(t->hook);
	mem_free(t);
}

/* Only from a file: the daemon's own TRAINSPOTTER_TOKEN is not for receivers of alerts. */
static int read_token(const char *path, char **token, struct err *e)
{
	*token = NULL;
	return path == NULL || path[0] == '\0' ? OK : token_load(path, token, e);
}

static int target_new(struct target **out, const struct notify_settings *s, struct err *e)
{
	struct target *t = mem_get(sizeof(*t));
	char *token = NULL;
	int rc = OK;

	*out = NULL;
	t->first_wait_ns = s->first_wait_ns;
	t->max_wait_ns = s->max_wait_ns;
	t->tries = s->tries;
	if (s->url != NULL && s->url[0] != '\0') {
		rc = read_token(s->token_file, &token, e);
		if (rc == OK)
			rc = webhook_open(&t->hook, s->url, token, s->ca_file, s->timeout_ns, e);
	}
	mem_free(token);
	if (rc != OK) {
		target_free(t);
		return err_add(e, "notify.webhook");
	}
	*out = t;
	return OK;
}

/* ---- the thread */

static void take_settings(struct notify *n)
{
	struct target *t = atomic_exchange(&n->next, NULL);

	if (t == NULL)
		return;
	target_free(n->target);
	n->target = t;
}

static void message_free(struct message *m)
{
	buf_fini(&m->body);
	mem_free(m);
}

/* In slices, so that new settings are tried soon. True when stopping. */
static bool wait_before_retry(struct thread *t, struct notify *n, unsigned attempt, int64_t retry_after_ns)
{
	int64_t ns = http_backoff_ns(attempt, n->target->first_wait_ns, n->target->max_wait_ns, rand_unit(&n->rand));

	if (ns < retry_after_ns)
		ns = retry_after_ns;
	while (ns > 0 && atomic_load(&n->next) == NULL) {
		int64_t slice = ns < NS_PER_S ? ns : NS_PER_S;

		if (thread_sleep(t, slice))
			return true;
		ns -= slice;
	}
	return thread_stopping(t);
}

static void deliver(struct thread *t, struct notify *n, const struct message *m)
{
	struct err e = { 0 };

	for (unsigned attempt = 0; !thread_stopping(t); attempt++) {
		int64_t retry_after_ns = 0;
		int rc;

		take_settings(n);
		if (n->target->hook == NULL)
			return;
		metric_add(n->tries, 1);
		rc = webhook_post(n->target->hook, buf_view(&m->body), m->idempotency, &retry_after_ns, &e);
		if (rc == OK) {
			crash_point("notify.delivered");
			metric_add(n->delivered, 1);
			log_info("notify.delivered", "alert=%s tries=%u", m->idempotency, attempt + 1);
			if (seen_add(n->seen, m->key, &e) != OK)
				log_warn("notify.seen", "err=\"%s\"", e.text);
			return;
		}
		if (rc == E_DENIED || (int64_t)attempt + 1 >= n->target->tries) {
			metric_add(n->failed, 1);
			log_error("notify.failed", "alert=%s tries=%u err=\"%s\"", m->idempotency, attempt + 1, e.text);
			return;
		}
		log_warn("notify.retry", "alert=%s try=%u err=\"%s\"", m->idempotency, attempt + 1, e.text);
		if (wait_before_retry(t, n, attempt, retry_after_ns))
			return;
	}
}

static void notify_main(struct thread *t, void *arg)
{
	struct notify *n = arg;
	void *p;

	while (!thread_stopping(t) && chan_pop(n->queue, &p, -1) == OK) {
		struct message *m = p;

		if (!seen_has(n->seen, m->key) && (m->after[0] == '\0' || seen_has(n->seen, m->after)))
			deliver(t, n, m);
		message_free(m);
	}
}

/* ---- the outside */

int notify_set(struct notify *n, const struct notify_settings *s, struct err *e)
{
	struct target *t = NULL;
	int rc = target_new(&t, s, e);

	if (rc == OK)
		target_free(atomic_exchange(&n->next, t));
	return rc;
}

static void write_key(char key[SEEN_KEY], const struct alert *al, enum alert_state state, int64_t ns)
{
	snprintf(key, SEEN_KEY, "%.*s %s %" PRId64, STR_ARG(str_upto(al->id, 40)), alert_state_name(state), ns);
}

/* What fires again after it was resolved is another message: receivers drop those whose key they know. */
static void write_idempotency(struct message *m)
{
	memcpy(m->idempotency, m->key, sizeof(m->idempotency));
	for (char *p = m->idempotency; *p != '\0'; p++)
		if (*p == ' ')
			*p = '-';
}

bool notify_has_room(const struct notify *n)
{
	return chan_count(n->queue) < NOTIFY_QUEUE / 2;
}

int notify_push(struct notify *n, const struct alert *al, struct err *e)
{
	struct message *m = mem_get(sizeof(*m));
	struct json_writer w;
	int rc;

	if (al->state == ALERT_RESOLVED || al->state == ALERT_EXPIRED) {
		write_key(m->key, al, al->state, al->resolved_ns);
		write_key(m->after, al, ALERT_FIRING, al->fired_ns);
	} else {
		write_key(m->key, al, al->state, al->fired_ns);
	}
	write_idempotency(m);
	buf_init(&m->body, NOTIFY_BODY_MAX);
	jw_init(&w, &m->body);
	alert_write(&w, al);
	rc = jw_finish(&w, e);
	if (rc == OK && chan_try_push(n->queue, m) != OK)
		rc = err_set(e, E_BUSY, "%d notifications are waiting already", NOTIFY_QUEUE);
	if (rc != OK) {
		metric_add(n->dropped, 1);
		message_free(m);
	}
	return rc;
}

int notify_open(struct notify **out, const struct notify_settings *s, const char *seen_path, struct metrics *metrics,
	struct err *e)
{
	struct notify *n = mem_get(sizeof(*n));
	int rc;

	*out = NULL;
	n->delivered = metric_counter(metrics, "trainspotter_notify_delivered_total", NULL, "Notifications delivered.");
	n->failed = metric_counter(metrics, "trainspotter_notify_failed_total", NULL, "Notifications given up: refused for good, or after all tries.");
	n->tries = metric_counter(metrics, "trainspotter_notify_tries_total", NULL, "Posts to the webhook.");
	n->dropped = metric_counter(metrics, "trainspotter_notify_dropped_total", NULL, "Notifications that found the queue full.");
	rand_seed_os(&n->rand);
	n->queue = chan_new(NOTIFY_QUEUE);
	rc = target_new(&n->target, s, e);
	if (rc == OK)
		rc = seen_open(&n->seen, seen_path, NOTIFY_SEEN_MAX, e);
	if (rc == OK)
		rc = thread_start(&n->thread, "notify", notify_main, n, e);
	if (rc != OK) {
		notify_close(n);
		return rc;
	}
	*out = n;
	return OK;
}

void notify_close(struct notify *n)
{
	void *p;

	if (n == NULL)
		return;
	thread_stop(n->thread);
	chan_close(n->queue);
	thread_join(n->thread);
	while (chan_pop(n->queue, &p, 0) == OK)
		message_free(p);
	chan_free(n->queue);
	target_free(atomic_exchange(&n->next, NULL));
	target_free(n->target);
	seen_close(n->seen);
	mem_free(n);
}
