#include "agent/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/courier.h"
#include "agent/errand.h"
#include "agent/lead.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"

enum { PATH_TEXT = 128, PAUSED_MAX = 4096 };

static const int64_t retry_after_max_ns = 5 * NS_PER_MIN, soon_ns = NS_PER_S;

struct talk { /* one exchange */
	struct errand errand; /* first */
	struct courier *courier;
	struct buf body, answer;
	int status; /* 0: no answer */
	int64_t retry_after_ns;
	struct err err;
};

struct fleet {
	struct lead lead;
	struct courier *courier; /* the thread's own, between start and stop */
	struct errands *errands;
	char *host, *state_dir;
	bool out, answered; /* answered: the last time */
	bool saved_pause; /* STATE_DIR/paused is there */
	int64_t sent_ns, next_ns; /* mono */
	struct err last; /* why there was no answer last; empty: there was */
};

/* ---- on the thread */

static void talk_free(struct errand *er)
{
	struct talk *t = (struct talk *)er;

	buf_fini(&t->body);
	buf_fini(&t->answer);
	mem_free(t);
}

static void talk_run(struct errand *er, struct thread *thread)
{
	struct talk *t = (struct talk *)er;
	const struct http_answer *a;

	if (courier_post(t->courier, buf_view(&t->body), "application/json", NULL, thread, &a, &t->err) < 0)
		return;
	t->status = a->status;
	t->retry_after_ns = a->retry_after_ns;
	if (a->status >= 200 && a->status < 300)
		buf_str(&t->answer, buf_view(&a->body));
	else
		courier_problem(a, &t->err);
}

/* ---- the pause, kept */

static int pause_path(const struct fleet *f, char out[PATH_MAX], struct err *e)
{
	if (snprintf(out, PATH_MAX, "%s/paused", f->state_dir) >= PATH_MAX)
		return err_set(e, E_USAGE, "state_dir: path too long");
	return OK;
}

static int load_pause(struct fleet *f, struct buf *reason, struct err *e)
{
	char path[PATH_MAX];
	int rc = pause_path(f, path, e);

	if (rc == OK && file_exists(path)) {
		f->saved_pause = true;
		rc = file_read_all(path, reason, e);
	}
	return rc;
}

static int remove_pause(const struct fleet *f, const char *path, struct err *e)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return err_sys(e, "%s: remove", path);
	return file_sync_dir(f->state_dir, e);
}

/* In force at once; where it cannot be kept, it is tried again at the next answer. */
static void save_pause(struct fleet *f)
{
	char path[PATH_MAX];
	struct err e = { 0 };
	int rc;

	if (f->lead.paused == f->saved_pause)
		return;
	rc = pause_path(f, path, &e);
	if (rc == OK && f->lead.paused)
		rc = file_replace(path, str_of(f->lead.reason), 0640, &e);
	else if (rc == OK)
		rc = remove_pause(f, path, &e);
	if (rc == OK)
		f->saved_pause = f->lead.paused;
	else
		log_error("capture.pause-not-kept", "err=\"%s\"", e.text);
}

/* ---- life */

int fleet_open(struct fleet **out, const struct fleet_settings *s, struct plan *plan, int64_t now_ns, struct err *e)
{
	struct fleet *f = mem_get(sizeof(*f));
	char path[PATH_TEXT];
	const struct courier_settings cs = { .server = s->server, .path = path, .token_file = s->token_file,
		.ca_file = s->ca_file, .timeout_ns = s->timeout_ns, .answer_max = LEAD_ANSWER_MAX };
	struct rand_gen rand;
	struct buf reason;
	int rc;

	snprintf(path, sizeof(path), "/api/v1/agents/%s/poll", s->agent_id);
	buf_init(&reason, PAUSED_MAX);
	f->host = mem_dup_text(s->host);
	f->state_dir = mem_dup_text(s->state_dir);
	rc = load_pause(f, &reason, e);
	if (rc == OK) {
		buf_byte(&reason, '\0');
		/* with a new configuration: in force, and perhaps it could not be kept */
		lead_init(&f->lead, &(struct lead_settings){ f->host, s->start_ns, s->interval_ns }, plan,
			f->saved_pause || plan_paused(plan), reason.p);
		rc = courier_new(&f->courier, &cs, e);
	}
	if (rc == OK)
		rc = errands_start(&f->errands, "fleet", 1, e);
	buf_fini(&reason);
	if (rc < 0) {
		fleet_close(f);
		return rc;
	}
	if (f->saved_pause)
		log_warn("capture.paused", "reason=\"%s\" since=\"before the start\"", f->lead.reason);
	rand_seed_os(&rand);
	f->next_ns = now_ns + (int64_t)rand_below(&rand, (uint64_t)s->interval_ns); /* not all agents at the same moment */
	*out = f;
	return OK;
}

void fleet_close(struct fleet *f)
{
	if (f == NULL)
		return;
	errands_stop(f->errands);
	courier_free(f->courier);
	mem_free(f->host);
	mem_free(f->state_dir);
	mem_free(f);
}

int fleet_fd(struct fleet *f)
{
	return errands_fd(f->errands);
}

/* ---- polls */

static void send_report(struct fleet *f, int64_t now_ns, int64_t wall_ns)
{
	struct talk *t = mem_get(sizeof(*t));

	*t = (struct talk){ .errand = { talk_run, talk_free }, .courier = f->courier };
	buf_init(&t->body, LEAD_BODY_MAX);
	buf_init(&t->answer, LEAD_ANSWER_MAX);
	lead_report(&f->lead, now_ns, wall_ns, &t->body);
	f->sent_ns = now_ns;
	f->out = errands_give(f->errands, &t->errand);
	if (!f->out)
		talk_free(&t->errand);
}

static void failed(struct fleet *f, const struct err *why)
{
	if (f->last.code == OK)
		log_warn("fleet.no-answer", "err=\"%s\"", why->text);
	f->last = *why;
}

static void take_answer(struct fleet *f, struct talk *t, int64_t now_ns)
{
	if (t->err.code == OK)
		(void)!lead_answer(&f->lead, buf_view(&t->answer), now_ns, &t->err);
	else
		lead_failed(&f->lead);
	f->answered = t->err.code == OK;
	if (!f->answered)
		failed(f, &t->err);
	else
		err_clear(&f->last);
	save_pause(f);
}

static int64_t wait_of(const struct fleet *f, const struct talk *t)
{
	int64_t after = t->retry_after_ns < retry_after_max_ns ? t->retry_after_ns : retry_after_max_ns;

	return after > f->lead.poll_ns ? after : f->lead.poll_ns;
}

static void fetch_answer(struct fleet *f, int64_t now_ns)
{
	struct talk *t = (struct talk *)errands_fetch(f->errands);

	if (t == NULL)
		return;
	f->out = false;
	take_answer(f, t, now_ns);
	f->next_ns = f->sent_ns + wait_of(f, t);
	if (f->next_ns < now_ns)
		f->next_ns = now_ns;
	talk_free(&t->errand);
}

void fleet_look(struct fleet *f, int64_t now_ns, int64_t wall_ns)
{
	fetch_answer(f, now_ns);
	if (now_ns >= fleet_wake_ns(f))
		send_report(f, now_ns, wall_ns);
}

/* A daemon that does not answer, or cannot keep what it hears, is not asked more often for that. */
int64_t fleet_wake_ns(const struct fleet *f)
{
	int64_t soon = f->sent_ns + soon_ns;

	if (f->out)
		return INT64_MAX;
	return f->answered && !f->lead.unheard && soon < f->next_ns && plan_has_ended(f->lead.plan) ? soon : f->next_ns;
}

void fleet_status(const struct fleet *f)
{
	const struct lead *l = &f->lead;

	log_info("fleet.status", "leads=%s paused=%s reason=\"%s\" answers=%" PRIu64 " failed=%" PRIu64 " leases=%" PRIu64
		" err=\"%s\"", plan_leads(l->plan) ? "daemon" : "agent", l->paused ? "yes" : "no", l->reason, l->answers,
		l->failed, l->leases, f->last.text);
}
