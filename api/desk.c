#include "api/desk.h"

#include <stdio.h>

#include "base/chan.h"
#include "base/enc.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/thread.h"

enum { DESK_QUEUE = 1024, DESK_BATCH = 64, DESK_LOAD_BYTES = 512 << 20, DESK_REASON_MAX = 1024 };
static const int64_t desk_wait_ns = 2 * NS_PER_S;  /* for room in the queue */
static const int64_t desk_tick_ns = NS_PER_S;	   /* leases and captures run out */

struct desk_metrics {
	struct metric *polls, *granted, *taken, *not_taken, *ran_out, *refused[LEASE_REFUSALS], *asked,
		*ended[CAPTURE_STATES];
	struct metric *agents, *workers, *leases, *waiting, *running, *paused;
};

struct desk {
	struct desk_settings set;
	struct lease_table *table;
	struct lease_round round;
	struct chan *jobs;
	struct thread *thread;
	int64_t wall_less_mono_ns, opened_ns;
	bool stale; /* the table is not what is durable */
	bool failing; /* the last commit failed: said once */
	struct capture_policy policy;
	char *reason; /* owns the policy's */
	struct lease_counts told; /* what metrics know */
	struct desk_metrics m;
};

struct job;
typedef int job_run(struct desk *d, struct job *job, int64_t now_ns, struct err *e);

/* Texts of answers go into the caller's arena: it waits meanwhile. */
struct job {
	job_run *run;
	job_run *answer; /* after the commit; NULL for nothing */
	bool regardless; /* whether the commit failed or not */
	bool kept;	 /* it did not fail; for answer */
	void *arg;
	struct arena *arena;
	struct ticket *ticket;
	int rc;
	struct err err;
};

static int64_t desk_now_ns(const struct desk *d)
{
	return d->set.now_ns != NULL ? d->set.now_ns() : d->wall_less_mono_ns + clock_mono_ns();
}

/* ---- what is durable */

static void take_policy(struct desk *d, const struct capture_policy *p)
{
	char *reason = mem_get(p->reason.n + 1);

	if (p->reason.n > 0)
		memcpy(reason, p->reason.p, p->reason.n);
	mem_free(d->reason);
	d->reason = reason;
	d->policy = *p;
	d->policy.reason = str_make(reason, p->reason.n);
	lease_table_pause(d->table, p->paused);
}

static int load(struct desk *d, struct err *e)
{
	struct query q = { .limit = 0 };
	struct lease_list leases = { 0 };
	struct capture_list captures = { 0 };
	struct capture_policy policy = { 0 };
	struct arena a;
	int rc;

	arena_init(&a, DESK_LOAD_BYTES);
	rc = store_leases(d->set.store, &a, &leases, e);
	if (rc == OK)
		rc = store_captures(d->set.store, &q, true, &a, &captures, e);
	if (rc == OK)
		rc = store_capture_policy(d->set.store, &a, &policy, e);
	if (rc == OK) {
		/* newest first there, oldest first here */
		for (size_t i = 0; i < captures.n / 2; i++) {
			struct capture x = captures.v[i];

			captures.v[i] = captures.v[captures.n - 1 - i];
			captures.v[captures.n - 1 - i] = x;
		}
		lease_table_load(d->table, leases.v, leases.n, captures.v, captures.n, desk_now_ns(d));
		take_policy(d, &policy);
	}
	d->stale = rc != OK;
	arena_fini(&a);
	return rc;
}

/* ---- metrics */

static void make_metrics(struct desk *d, struct metrics *ms)
{
	struct desk_metrics *m = &d->m;
	char labels[64];

	m->agents = metric_gauge(ms, "trainspotter_agents", NULL, "Agents that polled within the last hour.");
	m->workers = metric_gauge(ms, "trainspotter_agent_workers", NULL, "Workers that agents tell of.");
	m->polls = metric_counter(ms, "trainspotter_agent_polls_total", NULL, "Polls of agents.");
	m->leases = metric_gauge(ms, "trainspotter_leases", NULL, "Leases that are out.");
	m->granted = metric_counter(ms, "trainspotter_leases_granted_total", NULL, "Leases given to agents.");
	m->taken = metric_counter(ms, "trainspotter_leases_ended_total", "taken=\"yes\"",
		"Leases that agents ended.");
	m->not_taken = metric_counter(ms, "trainspotter_leases_ended_total", "taken=\"no\"",
		"Leases that agents ended.");
	m->ran_out = metric_counter(ms, "trainspotter_leases_expired_total", NULL,
		"Leases that ran out: nothing was heard.");
	for (size_t i = 0; i < LEASE_REFUSALS; i++) {
		snprintf(labels, sizeof(labels), "reason=\"%s\"", lease_refusal_name((enum lease_refusal)i));
		m->refused[i] = metric_counter(ms, "trainspotter_leases_refused_total", labels,
			"Workers that wanted a lease and got none, by poll and reason.");
	}
	m->waiting = metric_gauge(ms, "trainspotter_captures", "state=\"waiting\"", "Captures that have not ended.");
	m->running = metric_gauge(ms, "trainspotter_captures", "state=\"running\"", "Captures that have not ended.");
	m->asked = metric_counter(ms, "trainspotter_captures_asked_total", NULL, "Captures that were asked for.");
	m->ended[CAPTURE_DONE] = metric_counter(ms, "trainspotter_captures_ended_total", "state=\"done\"",
		"Captures that ended.");
	m->ended[CAPTURE_EXPIRED] = metric_counter(ms, "trainspotter_captures_ended_total", "state=\"expired\"",
		"Captures that ended.");
	m->paused = metric_gauge(ms, "trainspotter_capture_paused", NULL,
		"1 while capture is switched off for the fleet.");
}

static void tell_metrics(struct desk *d)
{
	struct lease_counts now = lease_table_counts(d->table), *was = &d->told;
	struct desk_metrics *m = &d->m;

	metric_add(m->polls, now.polls - was->polls);
	metric_add(m->granted, now.granted - was->granted);
	metric_add(m->taken, now.taken - was->taken);
	metric_add(m->not_taken, now.not_taken - was->not_taken);
	metric_add(m->ran_out, now.ran_out - was->ran_out);
	for (size_t i = 0; i < LEASE_REFUSALS; i++)
		metric_add(m->refused[i], now.refused[i] - was->refused[i]);
	for (size_t i = 0; i < CAPTURE_STATES; i++)
		metric_add(m->ended[i], now.captures[i] - was->captures[i]);
	metric_set(m->agents, (double)now.agents);
	metric_set(m->workers, (double)now.workers);
	metric_set(m->leases, (double)now.leases);
	metric_set(m->waiting, (double)(now.open_captures - now.running_captures));
	metric_set(m->running, (double)now.running_captures);
	metric_set(m->paused, d->policy.paused ? 1 : 0);
	*was = now;
}

/* Of a round that could not be made durable: what it counted did not happen, and may come once more. */
static void forget_counts(struct desk *d)
{
	struct lease_counts now = lease_table_counts(d->table);

	d->told.granted = now.granted;
	d->told.taken = now.taken;
	d->told.not_taken = now.not_taken;
	d->told.ran_out = now.ran_out;
	memcpy(d->told.captures, now.captures, sizeof(d->told.captures));
}

/* ---- the thread */

/* What could not be made durable did not happen. */
static void go_back(struct desk *d, int rc, const struct err *e)
{
	struct err again = { 0 };

	if (!d->failing)
		log_error("desk.store", "code=%s err=\"%s\" what=\"no leases are given until it can be written to\"", code_name(rc),
			e->text);
	d->failing = true;
	if (load(d, &again) != OK)
		log_error("desk.load", "err=\"%s\" what=\"polls are refused until it can be read\"", again.text);
}

static int commit(struct desk *d, struct err *e)
{
	int rc = OK;

	if (arena_full(&d->round.arena) || d->round.lost)
		rc = err_set(e, E_LIMIT, "too much at once");
	else if (lease_round_empty(&d->round))
		return OK;
	else
		rc = store_put_captures(d->set.store, &d->round.changes, e);
	if (rc != OK)
		go_back(d, rc, e);
	else
		d->failing = false;
	return rc;
}

/* rc: of all the batch. */
static void answer_job(struct desk *d, struct job *job, int64_t now_ns, int rc, const struct err *e)
{
	job->kept = rc == OK;
	if (rc != OK && (d->stale || !job->regardless)) {
		job->rc = rc;
		job->err = *e;
	} else if (job->rc == OK && job->answer != NULL) {
		job->rc = job->answer(d, job, now_ns, &job->err);
	}
}

static void run_batch(struct desk *d, struct job *const *jobs, size_t n)
{
	int64_t now_ns = desk_now_ns(d);
	struct err e = { 0 };
	int rc = d->stale ? load(d, &e) : OK;

	lease_round_reset(&d->round);
	if (rc == OK)
		lease_table_tick(d->table, now_ns, &d->round);
	for (size_t i = 0; i < n && rc == OK; i++)
		jobs[i]->rc = jobs[i]->run(d, jobs[i], now_ns, &jobs[i]->err);
	if (rc == OK) {
		rc = commit(d, &e);
		if (rc != OK)
			forget_counts(d);
	}
	for (size_t i = 0; i < n; i++)
		answer_job(d, jobs[i], now_ns, rc, &e);
	tell_metrics(d);
	for (size_t i = 0; i < n; i++)
		ticket_done(jobs[i]->ticket, jobs[i]->rc);
}

static void desk_main(struct thread *t, void *arg)
{
	struct desk *d = arg;
	int rc;

	(void)t; /* the channel's end is ours */
	for (;;) {
		struct job *jobs[DESK_BATCH];
		size_t n = 0;
		void *p;

		rc = chan_pop(d->jobs, &p, desk_tick_ns);
		while (rc == OK) {
			jobs[n++] = p;
			rc = n < DESK_BATCH ? chan_pop(d->jobs, &p, 0) : E_BUSY;
		}
		if (n == 0 && rc == E_STOPPED)
			return;
		run_batch(d, jobs, n);
	}
}

static int send_job(struct desk *d, struct job *job, struct err *e)
{
	int rc;

	job->ticket = ticket_new();
	rc = chan_push(d->jobs, job, desk_wait_ns);

	if (rc == E_BUSY)
		err_set(e, E_BUSY, "%d polls are waiting already, try again later", DESK_QUEUE);
	else if (rc != OK)
		err_set(e, rc, "closing");
	if (rc == OK) {
		rc = ticket_wait(job->ticket);
		if (rc != OK && e != NULL)
			*e = job->err;
	}
	ticket_free(job->ticket);
	if (rc == OK && job->arena != NULL && arena_full(job->arena))
		rc = err_set(e, E_LIMIT, "the answer is too large; ask for less at once");
	return rc;
}

static int desk_do(struct desk *d, job_run *run, job_run *answer, void *arg, struct arena *a, struct err *e)
{
	struct job job = { .run = run, .answer = answer, .arg = arg, .arena = a };

	return send_job(d, &job, e);
}

/* What changes nothing durable: others' changes that cannot be written are no matter to it. */
static int desk_look(struct desk *d, job_run *run, job_run *answer, void *arg, struct arena *a, struct err *e)
{
	struct job job = { .run = run, .answer = answer, .regardless = true, .arg = arg, .arena = a };

	return send_job(d, &job, e);
}

/* ---- a poll */

struct poll_job {
	const struct lease_poll *poll;
	struct desk_answer *answer;
};

static int run_poll(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	const struct poll_job *p = job->arg;

	return lease_table_poll(d->table, p->poll, now_ns, &d->round, e);
}

static int answer_poll(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	const struct poll_job *p = job->arg;
	struct desk_answer *out = p->answer;

	(void)e;
	out->paused = d->policy.paused;
	out->reason = arena_str(job->arena, d->policy.reason);
	out->poll_ns = lease_table_limits(d->table).poll_ns;
	out->now_ns = now_ns;
	out->heard = job->kept || p->poll->n_ended == 0;
	out->leases = lease_table_told(d->table, p->poll->agent, now_ns, job->arena, &out->n_leases);
	return OK;
}

int desk_poll(struct desk *d, const struct lease_poll *p, struct arena *a, struct desk_answer *out, struct err *e)
{
	struct poll_job poll = { p, out };
	struct job job = { .run = run_poll, .answer = answer_poll, .regardless = true, .arg = &poll, .arena = a };

	*out = (struct desk_answer){ .n_leases = 0 };
	return send_job(d, &job, e);
}

/* ---- captures */

static int run_ask(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	struct capture *c = job->arg;
	int rc;

	c->join_ns = d->opened_ns + 3 * lease_table_limits(d->table).poll_ns;
	rc = lease_table_ask(d->table, c, now_ns, &d->round, e);
	if (rc == OK)
		metric_add(d->m.asked, 1);
	return rc;
}

/* The targets stand in the round so far. */
static int answer_ask(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	struct capture *c = job->arg;
	struct capture_target *from = c->targets;

	(void)d;
	(void)now_ns;
	(void)e;
	c->targets = arena_get_array(job->arena, c->n_targets + 1, sizeof(*c->targets));
	for (size_t i = 0; c->targets != NULL && i < c->n_targets; i++)
		c->targets[i] = (struct capture_target){ .state = from[i].state,
			.host = arena_str(job->arena, from[i].host),
			.service = arena_str(job->arena, from[i].service),
			.source = arena_str(job->arena, from[i].source),
			.worker = arena_str(job->arena, from[i].worker) };
	return OK;
}

int desk_ask(struct desk *d, struct capture *c, struct arena *a, struct err *e)
{
	uint8_t id[CAPTURE_ID / 2];
	char text[CAPTURE_ID + 1];

	rand_os_bytes(id, sizeof(id));
	enc_hex(id, sizeof(id), text);
	c->id = arena_text(a, text);
	c->ended_ns = 0;
	return desk_do(d, run_ask, answer_ask, c, a, e);
}

/* ---- the kill switch */

static int run_pause(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	struct capture_policy *p = job->arg;

	(void)e;
	p->changed_ns = now_ns;
	take_policy(d, p);
	d->round.changes.policy = &d->policy;
	return OK;
}

static int answer_policy(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	struct capture_policy *p = job->arg;

	(void)now_ns;
	(void)e;
	*p = d->policy;
	p->reason = arena_str(job->arena, d->policy.reason);
	return OK;
}

static int run_nothing(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	(void)d;
	(void)job;
	(void)now_ns;
	(void)e;
	return OK;
}

int desk_pause(struct desk *d, bool paused, struct str reason, struct arena *a, struct capture_policy *out,
	struct err *e)
{
	*out = (struct capture_policy){ .paused = paused, .reason = reason };
	if (reason.n > DESK_REASON_MAX)
		return err_set(e, E_FORMAT, "reason: has %zu bytes, at most %d", reason.n, DESK_REASON_MAX);
	return desk_do(d, run_pause, answer_policy, out, a, e);
}

int desk_policy(struct desk *d, struct arena *a, struct capture_policy *out, struct err *e)
{
	return desk_look(d, run_nothing, answer_policy, out, a, e);
}

static int run_set(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	(void)now_ns;
	(void)e;
	lease_table_set(d->table, job->arg);
	return OK;
}

int desk_set(struct desk *d, const struct lease_limits *limits, struct err *e)
{
	struct lease_limits copy = *limits;

	return desk_look(d, run_set, NULL, &copy, NULL, e);
}

/* ---- what is shown */

static int run_agents(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	struct desk_agents *q = job->arg;

	(void)e;
	q->v = lease_table_agents(d->table, q->service, q->host, q->after_host, q->after_id, q->limit, now_ns,
		job->arena, &q->n, &q->more);
	return OK;
}

int desk_agents(struct desk *d, struct desk_agents *q, struct arena *a, struct err *e)
{
	return desk_look(d, run_agents, NULL, q, a, e);
}

struct costs_job {
	const struct str *services;
	size_t n;
	struct service_cost *out;
};

static int run_costs(struct desk *d, struct job *job, int64_t now_ns, struct err *e)
{
	const struct costs_job *c = job->arg;

	(void)e;
	lease_table_costs(d->table, c->services, c->n, now_ns, c->out);
	return OK;
}

int desk_costs(struct desk *d, const struct str *services, size_t n, struct service_cost *out, struct err *e)
{
	struct costs_job job = { services, n, out };

	return desk_look(d, run_costs, NULL, &job, NULL, e);
}

/* ---- life */

int desk_open(struct desk **out, const struct desk_settings *s, struct err *e)
{
	struct desk *d = mem_get(sizeof(*d));
	uint64_t seed;
	int rc;

	*out = NULL;
	rand_os_bytes(&seed, sizeof(seed));
	d->set = *s;
	d->wall_less_mono_ns = clock_wall_ns() - clock_mono_ns();
	d->opened_ns = desk_now_ns(d);
	d->table = lease_table_new(&s->limits, seed);
	lease_round_init(&d->round);
	d->jobs = chan_new(DESK_QUEUE);
	make_metrics(d, s->metrics);
	rc = load(d, e);
	if (rc == OK)
		rc = thread_start(&d->thread, "desk", desk_main, d, e);
	if (rc != OK) {
		desk_close(d);
		return rc;
	}
	*out = d;
	return OK;
}

void desk_close(struct desk *d)
{
	if (d == NULL)
		return;
	chan_close(d->jobs);
	thread_join(d->thread);
	chan_free(d->jobs);
	lease_table_free(d->table);
	lease_round_fini(&d->round);
	mem_free(d->reason);
	mem_free(d);
}
