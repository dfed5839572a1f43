#include "agent/vllm_task.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/mem.h"
#include "net/http_client.h"
#include "net/token.h"

enum { ANSWER_MAX = 4 << 20, URL_MAX = 200 };

static const int64_t connect_ns = 5 * NS_PER_S, metrics_ns = 5 * NS_PER_S, last_word_ns = 5 * NS_PER_S;
static const int64_t look_first_ns = 100 * NS_PER_MS, look_max_ns = NS_PER_S;

/* One task at work. */
struct work {
	struct vllm_task *t;
	struct thread *thread;
	struct http_client *client;
};

/* ---- exchanges */

static int open_client(struct work *w)
{
	const struct vllm_server_conf *s = &w->t->link->server;
	struct http_client_settings set = { .ca_file = s->ca_file[0] == '\0' ? NULL : s->ca_file, .connect_ns = connect_ns,
		.total_ns = w->t->link->timeout_ns, .max_answer_bytes = ANSWER_MAX, .user_agent = "trainspotter-agent" };
	char *token = NULL;
	int rc = OK;

	if (s->token_file[0] != '\0') /* ours for the daemon is never sent to it */
		rc = token_load(s->token_file, &token, &w->t->err);
	set.token = token;
	if (rc == OK)
		rc = http_client_open(&w->client, &set, &w->t->err);
	mem_free(token);
	return rc;
}

/* The status, or a negative code. Also while the agent stops, where last is set, but not for long. */
static int ask(struct work *w, const char *method, const char *path, int64_t total_ns, bool last,
	const struct http_answer **an)
{
	char url[URL_MAX];
	bool hurry = last && thread_stopping(w->thread);
	struct http_ask a = { .method = method, .url = url, .total_ns = hurry ? last_word_ns : total_ns,
		.thread = hurry ? NULL : w->thread };
	int rc;

	if (snprintf(url, sizeof(url), "%s%s", w->t->link->server.url, path) >= (int)sizeof(url))
		return err_set(&w->t->err, E_LIMIT, "%s: url too long", w->t->link->server.url);
	rc = http_exchange(w->client, &a, an, &w->t->err);
	if (rc < 0)
		return rc;
	if ((*an)->status / 100 != 2)
		err_set(&w->t->err, E_DENIED, "%s answered %d", path, (*an)->status);
	return (*an)->status;
}

/* What the server has done so far; it need not tell. */
static int sample(struct work *w, bool inside)
{
	struct vllm_task *t = w->t;
	const struct http_answer *an;
	int status = ask(w, "GET", "/metrics", metrics_ns, false, &an);

	if (status / 100 == 2 && t->n_samples < VLLM_SAMPLES_MAX) {
		struct vllm_sample *s = &t->samples[t->n_samples++];

		s->mono_ns = clock_mono_ns();
		s->inside = inside;
		vllm_metrics_read(buf_view(&an->body), &s->m);
	}
	return status;
}

/* ---- the journal */

static int note(struct work *w, bool stopped, struct err *e)
{
	const struct vllm_entry entry = { w->t->link->server, w->t->started_ns, stopped };
	int rc = vllm_journal_put(w->t->link->journal_dir, &entry, e);

	w->t->noted |= rc == OK;
	return rc;
}

static void unnote(struct work *w)
{
	if (w->t->noted && vllm_journal_drop(w->t->link->journal_dir, w->t->link->server.url, NULL) == OK)
		w->t->noted = false;
}

/* ---- start */

enum start { START_BEGAN, START_NOT, START_UNKNOWN };

static enum start judge_start(struct vllm_task *t, int status)
{
	static const struct {
		int status;
		enum vllm_end end;
	} known[] = { { 401, VLLM_DENIED }, { 403, VLLM_DENIED }, { 404, VLLM_NO_PROFILER }, { 405, VLLM_NO_PROFILER },
		{ 409, VLLM_BUSY }, { 423, VLLM_BUSY }, { 429, VLLM_BUSY }, { 503, VLLM_BUSY } };

	if (status / 100 == 2)
		return START_BEGAN;
	t->end = status < 0 ? VLLM_TIMEOUT : VLLM_REFUSED;
	if (status == E_STOPPED)
		t->end = VLLM_CUT;
	if (status < 0)
		return START_UNKNOWN;
	t->status = status;
	for (size_t i = 0; i < COUNT(known); i++)
		if (status == known[i].status) {
			t->end = known[i].end;
			return START_NOT;
		}
	return status >= 500 ? START_UNKNOWN : START_NOT;
}

static enum start start(struct work *w)
{
	struct vllm_task *t = w->t;
	const struct http_answer *an;

	switch (sample(w, false)) {
	case E_NET: t->end = VLLM_UNREACHABLE; return START_NOT;
	case E_STOPPED: t->end = VLLM_CUT; return START_NOT;
	default: break; /* whatever it answered */
	}
	t->started_ns = clock_wall_ns();
	err_clear(&t->err);
	if (note(w, false, &t->err) < 0) {
		t->end = VLLM_NO_NOTE;
		return START_NOT;
	}
	return judge_start(t, ask(w, "POST", "/start_profile", t->link->timeout_ns, false, &an));
}

/* ---- stop */

/* Nothing runs there any more that we started. */
static bool is_stopped(int status)
{
	if (status < 0 || status >= 500)
		return false;
	return status != 401 && status != 403 && status != 408 && status != 429;
}

/* began: a window had, as far as is known. */
static bool stop(struct work *w, bool began)
{
	struct vllm_task *t = w->t;
	const struct http_answer *an;
	struct err why = t->err;
	int status;

	status = ask(w, "POST", "/stop_profile", t->link->timeout_ns, true, &an);
	crash_point("vllm.stopped");
	if (!is_stopped(status)) {
		if (began) /* else what the start came to says more */
			t->end = status == E_STOPPED ? VLLM_CUT : VLLM_STOP_FAILED;
		t->status = status > 0 ? status : 0;
		t->stop_owed = true;
		return false;
	}
	t->err = why;
	(void)!note(w, true, NULL); /* where it fails stop is sent once more */
	return true;
}

/* ---- traces */

/* Waits until what is there stays the same; false: not in time. */
static bool settle(struct work *w)
{
	struct vllm_task *t = w->t;
	const int64_t deadline = clock_mono_ns() + t->link->timeout_ns;
	int64_t pause = look_first_ns, same_since = clock_mono_ns();
	uint64_t signature = 0;

	for (;;) {
		int64_t now = clock_mono_ns();

		vllm_found_fini(&t->found);
		vllm_find(t->link->server.dir, t->started_ns, &t->found);
		if (t->found.signature != signature)
			same_since = now;
		signature = t->found.signature;
		if (t->found.traces.n + t->found.raw.n > 0 && now - same_since >= t->link->stable_ns)
			return true;
		if (now >= deadline || thread_sleep(w->thread, pause))
			return false;
		pause = pause * 2 < look_max_ns ? pause * 2 : look_max_ns;
	}
}

static void find(struct work *w)
{
	struct vllm_task *t = w->t;
	bool settled = settle(w);

	if (thread_stopping(w->thread)) {
		t->end = VLLM_CUT;
		return;
	}
	t->end = t->found.signature != 0 ? VLLM_UNFINISHED : VLLM_NOTHING_CAME;
	if (!settled)
		return;
	vllm_found_fini(&t->found);
	vllm_find(t->link->server.dir, t->since_ns, &t->found);
	t->end = t->found.traces.n > 0 ? VLLM_TAKEN : VLLM_UNDECODED;
}

/* ---- whole tasks */

/* While traces or sessions wait to be read, the next agent has to find them. */
static void end_note(struct work *w)
{
	enum vllm_end end = w->t->end;

	if (end != VLLM_TAKEN && end != VLLM_UNDECODED && end != VLLM_CUT)
		unnote(w);
}

static void do_window(struct work *w)
{
	struct vllm_task *t = w->t;
	enum start st = start(w);

	crash_point("vllm.started");
	if (st == START_NOT) {
		unnote(w);
		return;
	}
	if (t->since_ns == 0 || t->since_ns > t->started_ns)
		t->since_ns = t->started_ns;
	if (st == START_BEGAN)
		(void)thread_sleep(w->thread, t->duration_ns);
	if (!stop(w, st == START_BEGAN))
		return;
	(void)sample(w, true);
	if (st == START_BEGAN)
		find(w);
	end_note(w);
}

static void do_rest(struct work *w)
{
	struct vllm_task *t = w->t;

	t->noted = true;
	if (t->kind == VLLM_STOP && !stop(w, true))
		return;
	find(w);
	end_note(w);
}

static void task_run(struct errand *er, struct thread *thread)
{
	struct vllm_task *t = (struct vllm_task *)er;
	struct work w = { .t = t, .thread = thread };

	if (t->kind != VLLM_FIND && open_client(&w) < 0) {
		t->end = t->kind == VLLM_STOP ? VLLM_STOP_FAILED : VLLM_DENIED;
		t->stop_owed = t->noted = t->kind == VLLM_STOP;
		return;
	}
	switch (t->kind) {
	case VLLM_METRICS: t->status = sample(&w, false); break;
	case VLLM_WINDOW: do_window(&w); break;
	case VLLM_STOP:
	case VLLM_FIND: do_rest(&w); break;
	case VLLM_TASKS: break;
	}
	http_client_close(w.client);
}

static void task_free(struct errand *er)
{
	vllm_task_free((struct vllm_task *)er);
}

struct vllm_task *vllm_task_new(enum vllm_task_kind kind, const struct vllm_link *link)
{
	struct vllm_task *t = mem_get(sizeof(*t));

	t->er = (struct errand){ task_run, task_free };
	t->kind = kind;
	t->link = link;
	return t;
}

void vllm_task_free(struct vllm_task *t)
{
	if (t == NULL)
		return;
	vllm_found_fini(&t->found);
	mem_free(t);
}
