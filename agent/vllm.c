#include "agent/vllm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/errand.h"
#include "agent/keep.h"
#include "agent/vllm_decode.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/log.h"
#include "base/must.h"
#include "base/rand.h"
#include "base/tree.h"
#include "base/vec.h"
#include "net/http_client.h"
#include "trace/sidecar.h"

enum { VLLM_MAGIC = 0x764c4c4d, TASKS_MAX = 4, TRACES_MAX = VLLM_SERVERS_MAX * VLLM_FOUND_MAX, STOPS_MAX = 20, STOP_MAX_FACTOR = 60 };

static const int64_t look_every_ns = 10 * NS_PER_S; /* the plan forgets whom it has not seen for a minute */
static const int64_t stop_first_ns = NS_PER_S;
/* So long after a window was given up its traces may still come. */
static const int64_t late_max_ns = NS_PER_HOUR;

static const struct {
	const char *word, *cure; /* NULL: nothing is wrong */
} ends[] = {
	[VLLM_TAKEN] = { "taken", NULL },
	[VLLM_LATE] = { "late", "raise vllm.timeout or vllm.stable" },
	[VLLM_EMPTY] = { "empty", "no ops in the window: the server had nothing to do; raise capture.duration" },
	[VLLM_BAD] = { "bad", "the trace cannot be read; it is in the agent's folder of bad traces" },
	[VLLM_UNDECODED] = { "undecoded", "only .ntff and .pb files came, which neuron-explorer has to decode: vllm.decode is off" },
	[VLLM_NOTHING_CAME] = { "nothing_came", "stop was answered, but no trace appeared: is dir the folder that the server's "
		"profiler writes to, as this host sees it" },
	[VLLM_UNFINISHED] = { "unfinished", "the trace was still being written, or went away: is the disk full; raise vllm.timeout" },
	[VLLM_UNREACHABLE] = { "unreachable", "nobody answers at url: is the server up" },
	[VLLM_NO_PROFILER] = { "no_profiler", "start the server with --profiler-config, and on Neuron with neuron_profiler in "
		"--additional-config" },
	[VLLM_DENIED] = { "denied", "it wants another token: token_file of the server's section" },
	[VLLM_BUSY] = { "busy", "somebody else profiles it; nothing to mend, the next slot comes" },
	[VLLM_REFUSED] = { "refused", "the server's log tells why" },
	[VLLM_TIMEOUT] = { "timeout", "start was not answered, so stop was sent: is the server overloaded; raise vllm.timeout" },
	[VLLM_STOP_FAILED] = { "stop_failed", "it may be profiling still: stop is sent again until it is answered; the server's log "
		"tells why it was not" },
	[VLLM_NO_NOTE] = { "no_note", "state_dir cannot be written, so nothing was started: is its disk full" },
	[VLLM_CUT] = { "cut", NULL },
};
_Static_assert(COUNT(ends) == VLLM_ENDS, "name every end");

const char *vllm_end_word(enum vllm_end end)
{
	return ends[end].word;
}

enum state { IDLE, WORKING, OWES_STOP, READING };

struct server {
	struct vllm_link link; /* owns its texts */
	bool gone;	       /* no longer in the configuration: only what is owed is done */
	struct errands *errands;
	enum state state;
	bool was_inside; /* it may have profiled since the last sample */
	bool asked;	  /* a look at its metrics is out */
	uint64_t order;	  /* 0: none, or it has been ended */
	int64_t started_ns, since_ns; /* wall: of its window; of what may come late, 0 for nothing */
	int64_t given_up_ns;	      /* mono */
	int64_t stop_due_ns, metrics_due_ns;
	unsigned stops; /* so often was it not answered */
	size_t left, taken; /* traces of the window at hand; its sessions are one */
	enum vllm_end end;  /* of its last trace */
	bool has_sample;
	struct vllm_sample sample;
};

enum trace_state { TRACE_READY, TRACE_OUT };

struct trace {
	uint64_t key;
	struct server *server;
	enum trace_state state;
	bool late;
	unsigned tries;
	int64_t due_ns;
	char worker[WINDOW_TEXT_MAX + 1];
	char path[PATH_MAX];
};

VEC(servers, struct server *);
VEC(traces, struct trace *);

struct vllm {
	uint32_t magic;
	struct plan *plan;
	struct meter *meter;
	char *journal_dir, *bad_dir;
	size_t keep_files;
	int64_t metrics_ns, stop_first_ns;
	int epoll_fd;
	struct servers servers;
	struct traces traces;
	struct vllm_decoder *decoder; /* NULL: sessions are not decoded */
	uint64_t next_key, raw;
	int64_t look_ns;
	struct rand_gen rand;
	uint64_t counts[VLLM_ENDS];
};

static struct vllm *own(void *self)
{
	return MAGIC_CHECK((struct vllm *)self, VLLM_MAGIC);
}

static const struct vllm *own_const(const void *self)
{
	return MAGIC_CHECK((const struct vllm *)self, VLLM_MAGIC);
}

/* ---- what became of it */

static void say_end(struct vllm *v, const struct server *s, enum vllm_end end, const char *file, const char *why)
{
	v->counts[end]++;
	if (ends[end].cure == NULL)
		log_debug("vllm.window", "url=\"%s\" end=%s file=\"%s\"", s->link.server.url, ends[end].word, file);
	else
		log_warn("vllm.window", "url=\"%s\" service=\"%s\" end=%s file=\"%s\" reason=\"%s\" cure=\"%s\"",
			s->link.server.url, s->link.server.service, ends[end].word, file, why, ends[end].cure);
}

static void end_order(struct vllm *v, struct server *s, bool taken, enum vllm_end end, int64_t now_ns)
{
	if (s->order != 0)
		plan_end(v->plan, s->order, taken, ends[end].word, now_ns);
	s->order = 0;
}

static void drop_note(const struct vllm *v, const struct server *s)
{
	struct err e = { 0 };

	if (vllm_journal_drop(v->journal_dir, s->link.server.url, &e) < 0) /* the next agent stops it once more */
		log_error("vllm.note", "url=\"%s\" err=\"%s\"", s->link.server.url, e.text);
}

/* ---- errands */

static int start_thread(struct vllm *v, struct server *s, struct err *e)
{
	struct epoll_event event = { .events = EPOLLIN };
	int rc;

	if (s->errands != NULL)
		return OK;
	rc = errands_start(&s->errands, "vllm", TASKS_MAX, e);
	if (rc == OK && epoll_ctl(v->epoll_fd, EPOLL_CTL_ADD, errands_fd(s->errands), &event) < 0) {
		rc = err_sys(e, "epoll");
		errands_stop(s->errands);
		s->errands = NULL;
	}
	return rc;
}

static bool give(struct vllm *v, struct server *s, struct vllm_task *t)
{
	struct err e = { 0 };

	if (start_thread(v, s, &e) == OK && errands_give(s->errands, &t->er))
		return true;
	log_error("vllm.thread", "url=\"%s\" err=\"%s\"", s->link.server.url, e.text);
	vllm_task_free(t);
	return false;
}

static void give_order(struct vllm *v, struct server *s, const struct plan_order *o, int64_t now_ns)
{
	struct vllm_task *t = vllm_task_new(VLLM_WINDOW, &s->link);

	if (now_ns - s->given_up_ns > late_max_ns)
		s->since_ns = 0;
	t->duration_ns = o->duration_ns;
	t->since_ns = s->since_ns;
	s->order = o->id;
	if (s->state == IDLE && give(v, s, t)) {
		s->state = WORKING;
		return;
	}
	s->order = 0;
	plan_unsent(v->plan, o->id, now_ns);
}

/* What an earlier window still owes. */
static void give_rest(struct vllm *v, struct server *s, enum vllm_task_kind kind, int64_t now_ns)
{
	struct vllm_task *t = vllm_task_new(kind, &s->link);

	t->started_ns = s->started_ns;
	t->since_ns = s->since_ns;
	s->state = WORKING;
	if (give(v, s, t))
		return;
	s->state = OWES_STOP;
	s->stop_due_ns = now_ns + STOP_MAX_FACTOR * v->stop_first_ns;
}

static void ask_metrics(struct vllm *v, struct server *s, int64_t now_ns)
{
	s->metrics_due_ns = now_ns + v->metrics_ns;
	s->asked = give(v, s, vllm_task_new(VLLM_METRICS, &s->link));
}

/* ---- errands that are back */

/* "rank3" in a name is the 3; torch's own name for the process that answers requests is no rank. */
static struct str rank_in(struct str name)
{
	struct str rank = STR("");

	for (size_t at = 0; at < name.n; at++) {
		struct str rest = str_from(name, at);
		size_t n = 0;

		if (!str_drop_prefix(&rest, STR("rank")))
			continue;
		while (n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9')
			n++;
		if (n > 0)
			rank = str_upto(rest, n);
	}
	return rank;
}

static void name_worker(struct trace *t, bool several)
{
	const char *slash = strrchr(t->path, '/'), *ours = t->server->link.server.worker;
	struct str name = str_of(slash + 1), rank = rank_in(name);

	if (str_contains(name, STR(".async_llm.")))
		rank = STR("frontend");
	if (rank.n == 0 || (ours[0] != '\0' && !several))
		snprintf(t->worker, sizeof(t->worker), "%s", ours);
	else
		snprintf(t->worker, sizeof(t->worker), "%s%s%.*s", ours, ours[0] == '\0' ? "" : ".", STR_ARG(rank));
}

static void add_trace(struct vllm *v, struct server *s, const char *path, bool several)
{
	struct trace **place = vec_push(&v->traces), *t;
	struct stat st;

	if (place == NULL)
		return;
	t = *place = mem_get(sizeof(*t));
	t->key = ++v->next_key;
	t->server = s;
	t->late = lstat(path, &st) == 0 && file_mtime_ns(&st) + VLLM_TICK_NS < s->started_ns;
	must(str_copy_to(str_of(path), t->path, sizeof(t->path)));
	name_worker(t, several);
	s->left++;
}

static bool is_inside(const char *dir, const char *path)
{
	struct str rest = str_of(path);

	return str_drop_prefix(&rest, str_of(dir)) && str_has_prefix(rest, STR("/"));
}

/* A trace in a session's folder goes with the session: agent/harvest.h has the reason. */
static bool is_in_session(const struct vllm_task *t, const char *path)
{
	for (size_t i = 0; i < t->found.raw.n; i++)
		if (vllm_decoder_takes(&t->link->server, t->found.raw.v[i]) && is_inside(t->found.raw.v[i], path))
			return true;
	return false;
}

static void take_traces(struct vllm *v, struct server *s, const struct vllm_task *t)
{
	bool decodes = v->decoder != NULL && t->found.raw.n > 0 &&
		       vllm_decoder_give(v->decoder, s, s->order, &s->link.server, &t->found.raw);

	s->left = s->taken = 0;
	s->end = VLLM_UNFINISHED;
	vec_each(path, &t->found.traces)
		if (!decodes || !is_in_session(t, *path))
			add_trace(v, s, *path, t->found.traces.n > 1);
	s->left += decodes;
	s->since_ns = 0;
	s->state = READING;
	if (s->order != 0)
		plan_over(v->plan, s->order); /* others need not wait for its traces to be read */
}

static void take_raw(struct vllm *v, const struct server *s, const struct vllm_task *t)
{
	v->raw += t->found.raw.n;
	vec_each(path, &t->found.raw)
		log_info("vllm.raw", "url=\"%s\" folder=\"%s\"", s->link.server.url, *path);
	if (t->found.too_many)
		log_warn("vllm.crowded", "dir=\"%s\" cure=\"more files than are looked at: clear the folder\"",
			s->link.server.dir);
}

static void owe_stop(struct vllm *v, struct server *s, const struct vllm_task *t, int64_t now_ns)
{
	if (s->stops++ == 0) {
		say_end(v, s, VLLM_STOP_FAILED, "", t->err.text);
		if (t->end != VLLM_STOP_FAILED)
			say_end(v, s, t->end, "", t->err.text);
	} else {
		log_warn("vllm.stop", "url=\"%s\" tries=%u err=\"%s\"", s->link.server.url, s->stops, t->err.text);
	}
	end_order(v, s, false, t->end, now_ns);
	s->state = OWES_STOP;
	s->was_inside = true;
	s->stop_due_ns = now_ns + http_backoff_ns(s->stops, v->stop_first_ns, STOP_MAX_FACTOR * v->stop_first_ns, rand_unit(&v->rand));
	if (s->stops < STOPS_MAX || t->status < 500)
		return;
	/* it answers, and always in the same way: whoever has no window to end says so, too */
	log_error("vllm.stop-given-up", "url=\"%s\" status=%d cure=\"the server's log; start it again if it still profiles\"",
		s->link.server.url, t->status);
	drop_note(v, s);
	s->state = IDLE;
	s->stops = 0;
}

static void take_window(struct vllm *v, struct server *s, const struct vllm_task *t, int64_t now_ns)
{
	s->started_ns = t->started_ns;
	if (s->since_ns != t->since_ns)
		s->given_up_ns = now_ns;
	s->since_ns = t->since_ns;
	if (t->stop_owed) {
		owe_stop(v, s, t, now_ns);
		return;
	}
	if (s->stops > 0)
		log_info("vllm.stopped", "url=\"%s\" tries=%u", s->link.server.url, s->stops + 1);
	s->stops = 0;
	take_raw(v, s, t);
	if (t->end == VLLM_TAKEN || (t->end == VLLM_UNDECODED && v->decoder != NULL)) {
		take_traces(v, s, t);
		if (s->left > 0)
			return;
	}
	s->state = IDLE;
	if (t->end == VLLM_UNDECODED) {
		s->since_ns = 0;
		drop_note(v, s); /* nobody decodes it */
	}
	say_end(v, s, t->end, "", t->err.text);
	end_order(v, s, false, t->end, now_ns);
}

static void take_sample(struct vllm *v, struct server *s, const struct vllm_sample *sample)
{
	const struct vllm_metrics *m = &sample->m;

	s->sample = *sample;
	s->sample.inside |= s->was_inside;
	s->has_sample = true;
	s->was_inside = s->state == OWES_STOP;
	if (m->known[VLLM_ITERATIONS] && m->value[VLLM_ITERATIONS] < (double)INT64_MAX)
		meter_count(v->meter, vllm_source.name, s->link.server.url, COST_ITERATIONS, sample->mono_ns,
			(uint64_t)m->value[VLLM_ITERATIONS]);
}

static void take_tasks(struct vllm *v, struct server *s, int64_t now_ns)
{
	struct errand *er;

	while (s->errands != NULL && (er = errands_fetch(s->errands)) != NULL) {
		struct vllm_task *t = (struct vllm_task *)er;

		for (size_t i = 0; i < t->n_samples; i++)
			take_sample(v, s, &t->samples[i]);
		if (t->kind == VLLM_METRICS)
			s->asked = false;
		else
			take_window(v, s, t, now_ns);
		vllm_task_free(t);
	}
}

/* With the last of its traces a window is over. */
static void end_part(struct vllm *v, struct server *s, enum vllm_end end, int64_t now_ns)
{
	s->taken += end == VLLM_TAKEN || end == VLLM_LATE;
	s->end = end;
	if (--s->left > 0)
		return;
	drop_note(v, s);
	end_order(v, s, s->taken > 0, s->taken > 0 ? VLLM_TAKEN : s->end, now_ns);
	s->state = IDLE;
}

static void end_sessions(struct vllm *v, const struct vllm_decoded *d, int64_t now_ns)
{
	struct server *s = d->owner;
	enum vllm_end end = d->kept > 0 ? VLLM_TAKEN : d->bad > 0 ? VLLM_BAD : d->empty > 0 ? VLLM_EMPTY : VLLM_UNDECODED;

	if (end != VLLM_UNDECODED)
		say_end(v, s, end, "", d->why);
	if (d->trouble != DECODE_TAKEN) {
		v->counts[VLLM_UNDECODED]++;
		log_warn("vllm.window", "url=\"%s\" service=\"%s\" end=%s what=%s reason=\"%s\" cure=\"%s\"", s->link.server.url,
			s->link.server.service, ends[VLLM_UNDECODED].word, decode_end_word(d->trouble), d->why,
			decode_end_cure(d->trouble));
	}
	end_part(v, s, end, now_ns);
}

static void take_sessions(struct vllm *v, int64_t now_ns)
{
	struct vllm_decoded done;

	while (v->decoder != NULL && vllm_decoder_over(v->decoder, &done))
		end_sessions(v, &done, now_ns);
}

/* ---- the plan */

static void tell_plan(struct vllm *v, const struct server *s, int64_t now_ns, int64_t wall_ns)
{
	const struct vllm_server_conf *c = &s->link.server;
	struct plan_worker w = { .source = vllm_source.name, .idle = s->state == IDLE };

	must(str_copy_to(str_of(c->url), w.key, sizeof(w.key)));
	str_copy_to(str_of(c->service[0] == '\0' ? "unknown" : c->service), w.service, sizeof(w.service));
	str_copy_to(str_of(c->deploy), w.deploy, sizeof(w.deploy));
	str_copy_to(str_of(c->worker), w.worker, sizeof(w.worker));
	(void)plan_seen(v->plan, &w, now_ns, wall_ns); /* a full plan counts it */
}

static struct server *server_of(const struct vllm *v, const char *url)
{
	vec_each(s, &v->servers)
		if (strcmp((*s)->link.server.url, url) == 0)
			return *s;
	return NULL;
}

static void take_orders(struct vllm *v, int64_t now_ns, int64_t wall_ns)
{
	struct plan_order o;

	while (plan_next(v->plan, vllm_source.name, now_ns, wall_ns, &o)) {
		struct server *s = server_of(v, o.key);

		must(s != NULL);
		give_order(v, s, &o, now_ns);
	}
}

static void look_at(struct vllm *v, struct server *s, int64_t now_ns, int64_t wall_ns)
{
	take_tasks(v, s, now_ns);
	if (s->state == OWES_STOP && now_ns >= s->stop_due_ns)
		give_rest(v, s, VLLM_STOP, now_ns);
	if (s->gone)
		return;
	if (s->state == IDLE && !s->asked && now_ns >= s->metrics_due_ns)
		ask_metrics(v, s, now_ns);
	tell_plan(v, s, now_ns, wall_ns);
}

static void on_look(void *self, int64_t now_ns, int64_t wall_ns)
{
	struct vllm *v = own(self);

	if (v->decoder != NULL)
		vllm_decoder_look(v->decoder);
	take_sessions(v, now_ns);
	vec_each(s, &v->servers)
		look_at(v, *s, now_ns, wall_ns);
	take_orders(v, now_ns, wall_ns);
	v->look_ns = now_ns + look_every_ns;
}

static int64_t on_wake(const void *self, bool busy)
{
	const struct vllm *v = own_const(self);
	int64_t wake = v->look_ns;

	vec_each(s, &v->servers)
		if ((*s)->state == OWES_STOP && (*s)->stop_due_ns < wake)
			wake = (*s)->stop_due_ns;
	vec_each(t, &v->traces)
		if (!busy && (*t)->state == TRACE_READY && (*t)->due_ns < wake)
			wake = (*t)->due_ns;
	if (!busy && v->decoder != NULL && vllm_decoder_wake_ns(v->decoder) < wake)
		wake = vllm_decoder_wake_ns(v->decoder);
	return wake;
}

/* ---- traces, for whoever reads them */

static void drop_trace(struct vllm *v, struct trace *t)
{
	vec_each(p, &v->traces)
		if (*p == t) {
			*p = v->traces.v[--v->traces.n];
			break;
		}
	mem_free(t);
}

static void end_trace(struct vllm *v, struct trace *t, enum vllm_end end, const char *why, int64_t now_ns)
{
	struct server *s = t->server;

	say_end(v, s, end, t->path, why);
	drop_trace(v, t);
	end_part(v, s, end, now_ns);
}

static struct trace *first_ready(const struct vllm *v, int64_t now_ns)
{
	struct trace *first = NULL;

	vec_each(t, &v->traces)
		if ((*t)->state == TRACE_READY && (*t)->due_ns <= now_ns && (first == NULL || (*t)->key < first->key))
			first = *t;
	return first;
}

static bool on_next(void *self, int64_t now_ns, struct source_trace *out)
{
	struct vllm *v = own(self);
	struct trace *t;

	while ((t = first_ready(v, now_ns)) != NULL) {
		const struct vllm_server_conf *c = &t->server->link.server;

		*out = (struct source_trace){ .key = t->key, .service = str_of(c->service), .deploy = str_of(c->deploy),
			.worker = str_of(t->worker), .order = t->late ? 0 : t->server->order };
		if (watch_stat(&out->file, t->path, t->tries)) {
			t->state = TRACE_OUT;
			return true;
		}
		end_trace(v, t, VLLM_UNFINISHED, "it was removed", now_ns);
	}
	return v->decoder != NULL && vllm_decoder_next(v->decoder, now_ns, out);
}

static struct trace *take_back(const struct vllm *v, uint64_t key)
{
	vec_each(t, &v->traces)
		if ((*t)->key == key && (*t)->state == TRACE_OUT)
			return *t;
	must(false && "a trace that nobody has");
	return NULL;
}

static int remove_held(const char *path, struct err *e)
{
	char sidecar[PATH_MAX];

	if (unlink(path) < 0 && errno != ENOENT)
		return err_sys(e, "remove");
	if (snprintf(sidecar, sizeof(sidecar), "%s" SIDECAR_SUFFIX, path) < (int)sizeof(sidecar))
		unlink(sidecar); /* mostly there is none */
	return OK;
}

/* aside: into the folder of bad ones, where that can be. */
static void take_away(const struct vllm *v, const struct trace *t, bool aside)
{
	char held[PATH_MAX];
	struct err e = { 0 };
	int fd = tree_hold(t->server->link.server.dir, t->path, held, &e), rc = fd;

	if (fd >= 0 && aside && keep_move(held, v->bad_dir, SIDECAR_SUFFIX, NULL) == OK)
		keep_trim(v->bad_dir, v->keep_files);
	else if (fd >= 0) /* also one that is on another file system */
		rc = remove_held(held, &e);
	if (fd >= 0)
		close(fd);
	if (rc < 0 && rc != E_NOT_FOUND)
		log_error("vllm.stuck", "file=\"%s\" err=\"%s\" cure=\"the agent needs the right to write in that folder\"", t->path,
			e.text);
	crash_point("vllm.removed");
}

static void on_back(void *self, uint64_t key, const struct source_result *r, int64_t now_ns)
{
	struct vllm *v = own(self);
	struct trace *t;

	if (key & VLLM_DECODED) {
		vllm_decoder_back(v->decoder, key, r, now_ns);
		take_sessions(v, now_ns);
		return;
	}
	t = take_back(v, key);
	switch (r->end) {
	case SOURCE_KEPT:
		take_away(v, t, false);
		end_trace(v, t, t->late ? VLLM_LATE : VLLM_TAKEN, "", now_ns);
		break;
	case SOURCE_EMPTY:
		take_away(v, t, false);
		end_trace(v, t, VLLM_EMPTY, "", now_ns);
		break;
	case SOURCE_BAD:
		take_away(v, t, true);
		end_trace(v, t, VLLM_BAD, r->why, now_ns);
		break;
	case SOURCE_AGAIN:
		t->state = TRACE_READY;
		t->tries++;
		t->due_ns = now_ns + r->delay_ns;
		break;
	case SOURCE_ENDS: break;
	}
}

/* ---- life */

static char *own_text(const char *s)
{
	return mem_dup_text(s == NULL ? "" : s);
}

static struct server *add_server(struct vllm *v, const struct vllm_server_conf *c, const struct vllm_conf *conf)
{
	struct server **place = vec_push(&v->servers), *s;

	if (place == NULL)
		return NULL;
	s = *place = mem_get(sizeof(*s));
	s->link = (struct vllm_link){ .journal_dir = v->journal_dir, .timeout_ns = conf->timeout_ns,
		.stable_ns = conf->stable_ns };
	s->link.server = (struct vllm_server_conf){ own_text(c->url), own_text(c->token_file), own_text(c->ca_file),
		own_text(c->dir), own_text(c->service), own_text(c->deploy), own_text(c->worker) };
	return s;
}

static void free_server(struct server *s)
{
	struct vllm_server_conf *c = &s->link.server;
	char *const texts[] = { c->url, c->token_file, c->ca_file, c->dir, c->service, c->deploy, c->worker };

	errands_stop(s->errands); /* says stop where a window is under way */
	for (size_t i = 0; i < COUNT(texts); i++)
		mem_free(texts[i]);
	mem_free(s);
}

/* A note that an agent left which ended early. */
static void take_entry(struct vllm *v, const struct vllm_entry *entry, const struct vllm_conf *conf)
{
	struct server *s = server_of(v, entry->server.url);

	if (s == NULL) {
		s = add_server(v, &entry->server, conf);
		if (s == NULL)
			return; /* the next agent finds it */
		s->gone = true;
	}
	s->started_ns = s->since_ns = entry->started_ns;
	log_info("vllm.owed", "url=\"%s\" what=%s", entry->server.url, entry->stopped ? "traces" : "stop");
	give_rest(v, s, entry->stopped ? VLLM_FIND : VLLM_STOP, clock_mono_ns());
}

static int take_journal(struct vllm *v, const struct vllm_conf *conf, struct err *e)
{
	struct vllm_entries entries;
	int rc = vllm_journal_read(v->journal_dir, &entries, e);

	if (rc < 0)
		return rc;
	if (entries.bad > 0)
		log_error("vllm.note", "dir=\"%s\" unreadable=%zu cure=\"a server may be profiling still: send it /stop_profile\"",
			v->journal_dir, entries.bad);
	vec_each(entry, &entries)
		take_entry(v, entry, conf);
	vllm_entries_fini(&entries);
	return OK;
}

static void on_close(void *self)
{
	struct vllm *v = own(self);

	vec_each(s, &v->servers)
		free_server(*s);
	vec_fini(&v->servers);
	vllm_decoder_close(v->decoder);
	vec_each(t, &v->traces)
		mem_free(*t);
	vec_fini(&v->traces);
	if (v->epoll_fd >= 0)
		close(v->epoll_fd);
	mem_free(v->journal_dir);
	mem_free(v->bad_dir);
	v->magic = MAGIC_DEAD;
	mem_free(v);
}

static char *path_in(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return mem_dup_text(path);
}

static int open_decoder(struct vllm *v, const struct vllm_settings *s, struct err *e)
{
	struct epoll_event event = { .events = EPOLLIN };
	char *dir, *lock;
	int rc;

	if (s->decode == NULL || v->servers.n == 0)
		return OK;
	dir = path_in(s->state_dir, "vllm-decoded");
	lock = path_in(s->state_dir, "decode.lock");
	rc = vllm_decoder_open(&v->decoder, s->decode, dir, lock, e);
	mem_free(dir);
	mem_free(lock);
	if (rc == OK && epoll_ctl(v->epoll_fd, EPOLL_CTL_ADD, vllm_decoder_fd(v->decoder), &event) < 0)
		rc = err_sys(e, "epoll");
	return rc;
}

int vllm_open(struct source *out, const struct vllm_settings *s, struct err *e)
{
	struct vllm *v = mem_get(sizeof(*v));
	int rc = OK;

	v->magic = VLLM_MAGIC;
	v->plan = s->plan;
	v->meter = s->meter;
	v->journal_dir = path_in(s->state_dir, "vllm");
	v->bad_dir = path_in(s->state_dir, "bad");
	v->keep_files = s->keep_files;
	v->metrics_ns = s->conf->metrics_ns;
	v->stop_first_ns = s->stop_first_ns > 0 ? s->stop_first_ns : stop_first_ns;
	v->servers.cap = VLLM_SERVERS_MAX;
	v->traces.cap = TRACES_MAX;
	rand_seed_os(&v->rand);
	v->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (v->epoll_fd < 0)
		rc = err_sys(e, "epoll");
	for (size_t i = 0; i < s->conf->servers.n && rc == OK; i++)
		if (add_server(v, (const struct vllm_server_conf *)s->conf->servers.v + i, s->conf) == NULL)
			rc = err_set(e, E_USAGE, "vllm.servers: want %d at most", VLLM_SERVERS_MAX);
	if (rc == OK)
		rc = take_journal(v, s->conf, e);
	if (rc == OK)
		rc = open_decoder(v, s, e);
	if (rc < 0 || v->servers.n == 0) {
		on_close(v);
		return rc;
	}
	*out = (struct source){ &vllm_source, v };
	return OK;
}

static int on_fd(void *self)
{
	return own(self)->epoll_fd;
}

static void on_status(const void *self)
{
	const struct vllm *v = own_const(self);
	size_t owed = 0;
	struct buf b;

	vec_each(s, &v->servers)
		owed += (*s)->state == OWES_STOP;
	buf_init(&b, 2048);
	for (size_t i = 0; i < VLLM_ENDS; i++)
		buf_fmt(&b, " %s=%" PRIu64, ends[i].word, v->counts[i]);
	log_info("vllm.status", "servers=%zu stops_owed=%zu raw_folders=%" PRIu64 "%.*s", v->servers.n, owed, v->raw,
		STR_ARG(buf_view(&b)));
	buf_fini(&b);
}

const struct source_type vllm_source = {
	.name = "vllm",
	.close = on_close,
	.fd = on_fd,
	.look = on_look,
	.wake_ns = on_wake,
	.next = on_next,
	.back = on_back,
	.status = on_status,
};

/* ---- for tests, and what it costs */

uint64_t vllm_count(const struct source *s, enum vllm_end end)
{
	return own_const(s->self)->counts[end];
}

uint64_t vllm_raw(const struct source *s)
{
	return own_const(s->self)->raw;
}

bool vllm_last_sample(const struct source *s, const char *url, struct vllm_sample *out)
{
	const struct server *server = server_of(own_const(s->self), url);

	if (server == NULL || !server->has_sample)
		return false;
	*out = server->sample;
	return true;
}
