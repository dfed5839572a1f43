#include "agent/xla.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/errand.h"
#include "agent/identity.h"
#include "agent/keep.h"
#include "agent/xla_call.h"
#include "agent/xla_folder.h"
#include "agent/xla_scan.h"
#include "agent/xla_wire.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "net/grpc_client.h"

#define XLA_MAGIC UINT32_C(0x786c6131)
enum { WINDOWS_MAX = XLA_JOBS_MAX, PLACES_MAX = 256, BAD_FILE_MAX = 32 << 20 /* copied while the loop waits */ };

static const int64_t tell_every_ns = 5 * NS_PER_S, sweep_every_ns = NS_PER_MIN / 2, window_max_ns = NS_PER_MIN;

static const struct {
	const char *word, *cure; /* NULL: nothing is wrong */
} ends[] = {
	[XLA_TAKEN] = { "taken", NULL },
	[XLA_NO_DEVICE] = { "no_device", "no HLO or device events in the window: nothing was compiled and run meanwhile, or the "
		"accelerator's plug-in does not record; a longer capture.duration may help" },
	[XLA_EMPTY] = { "empty", "the process was idle or still loading; raise capture.min_age or capture.duration" },
	[XLA_BUSY] = { "busy", "another profile of the process is under way; nothing to mend, the next slot comes" },
	[XLA_REFUSED] = { "refused", "nothing listens there: does the job call jax.profiler.start_server(PORT), and is it in the "
		"agent's network namespace (hostNetwork)" },
	[XLA_NO_FOLDER] = { "no_folder", "the job must be able to write in xla.dir, and see the same folder there as the agent; the "
		"agent reaches a container's by /proc/PID/root, as root or with CAP_SYS_PTRACE and hostPID" },
	[XLA_WRONG] = { "wrong", "what listens there is no profiler server: is it the port that start_server was given" },
	[XLA_FAILED] = { "failed", "the server's own words say why; the job's log has more" },
	[XLA_TIMEOUT] = { "timeout", "raise xla.timeout; is the job stopped, or its disk slow" },
	[XLA_BROKEN] = { "broken", "the server hung up; the job's log may say why" },
	[XLA_UNWRITTEN] = { "unwritten", "the job says that it wrote its trace, and the agent does not see it: the two have different "
		"files under xla.dir; run the agent with hostPID, as root or with CAP_SYS_PTRACE" },
	[XLA_FOREIGN] = { "foreign", "what stands in the trace's place is no file of the job's user, and was removed" },
	[XLA_TOO_LARGE] = { "too_large", "removed unread; lower capture.duration, or raise xla.max_file" },
	[XLA_BAD] = { "bad", "the trace cannot be read; it is in the agent's folder of bad traces" },
	[XLA_DIED] = { "died", "the process ended before its window did" },
	[XLA_STOPPED] = { "stopped", NULL },
};
_Static_assert(COUNT(ends) == XLA_ENDS, "name every end");

const char *xla_end_word(enum xla_end end)
{
	return ends[end].word;
}

/* A job that listens, as the plan knows it. */
struct known {
	struct xla_job job;
	uint64_t worker; /* the plan's */
	int64_t born_ns; /* mono; 0: not known */
	bool seen;
	struct identity id;
};

/* A window on its way: first an errand, then a file. */
enum window_state { WINDOW_CALLED, WINDOW_FINISHED, WINDOW_OUT };

struct window_call {
	struct errand errand;
	struct xla_call call;
	enum window_state state;
	uint64_t key, order;
	unsigned tries;
	int64_t due_ns, expires_ns; /* mono */
	bool unsent;
	struct identity id;
	struct label labels[IDENTITY_LABELS_MAX];
};
VEC(windows, struct window_call *);

/* A folder that windows were in, or may have been: it is swept. */
struct place {
	char root[WORKER_ROOT];
};
VEC(places, struct place);

struct scan_errand {
	struct errand errand;
	struct xla_scan *scan;
	char dir[XLA_DIR];
	int64_t older_than_ns;
	struct places places;
	bool sweep, changed;
	size_t swept;
};

VEC(knowns, struct known *);

struct xla {
	uint32_t magic;
	struct plan *plan;
	struct identities *identities;
	struct errands *errands;
	struct xla_scan *scan;
	char *dir, *service, *deploy, *proc, *bad_dir;
	struct xla_job_conf *sections; /* with n_sections; texts are ours */
	size_t n_sections, keep_files;
	char host[XLA_HOST];
	int64_t timeout_ns, max_file, scan_every_ns;
	uint64_t host_level;
	struct knowns jobs;
	struct windows windows;
	bool scanning;
	int64_t scan_ns, sweep_ns, tell_ns; /* mono; when to do it next */
	pid_t elsewhere_said;
	uint64_t next_key, swept;
	uint64_t counts[XLA_ENDS];
};

static struct xla *own(void *self)
{
	return MAGIC_CHECK((struct xla *)self, XLA_MAGIC);
}

static const struct xla *own_const(const void *self)
{
	return MAGIC_CHECK((const struct xla *)self, XLA_MAGIC);
}

/* ---- how windows end */

static void say_end(struct xla *x, const struct window_call *w, enum xla_end end, const char *why)
{
	x->counts[end]++;
	if (ends[end].cure == NULL)
		log_debug("xla.window", "address=%s pid=%ld service=\"%s\" end=%s", w->call.job.address,
			(long)w->call.job.who.pid, w->id.service, ends[end].word);
	else
		log_warn("xla.window", "address=%s pid=%ld service=\"%s\" end=%s%s%s%s cure=\"%s\"", w->call.job.address,
			(long)w->call.job.who.pid, w->id.service, ends[end].word, why[0] == '\0' ? "" : " reason=\"", why,
			why[0] == '\0' ? "" : "\"", ends[end].cure);
}

static void free_window(struct errand *er)
{
	struct window_call *w = (struct window_call *)er;

	xla_call_fini(&w->call);
	mem_free(w);
}

static void drop(struct xla *x, struct window_call *w)
{
	vec_each(p, &x->windows)
		if (*p == w) {
			*p = x->windows.v[--x->windows.n];
			break;
		}
	free_window(&w->errand);
	crash_point("xla.removed");
}

/* The window is over for good. */
static void end(struct xla *x, struct window_call *w, enum xla_end how, const char *why, int64_t now_ns)
{
	say_end(x, w, how, why);
	plan_end(x->plan, w->order, how == XLA_TAKEN, ends[how].word, now_ns);
	drop(x, w);
}

/* ---- whom there is */

static const char *or_else(const char *first, const char *second)
{
	return first[0] != '\0' ? first : second;
}

static void name_job(const struct xla *x, struct known *k, int64_t now_ns)
{
	static const struct xla_job_conf none;
	const struct xla_job_conf *its = k->job.section == XLA_NO_SECTION ? &none : &x->sections[k->job.section];
	const struct identity_section section = {
		.service = its->service == NULL ? x->service : or_else(its->service, x->service),
		.deploy = its->deploy == NULL ? x->deploy : or_else(its->deploy, x->deploy),
		.worker = its->worker == NULL ? "" : its->worker,
	};

	/* without a process there are no files of its own to look into */
	identities_read(k->job.known ? x->identities : NULL, &k->id, &k->job.who, &section, now_ns);
}

static struct known *find_known(const struct xla *x, const char *address)
{
	vec_each(k, &x->jobs)
		if (strcmp((*k)->job.address, address) == 0)
			return *k;
	return NULL;
}

static void take_job(struct xla *x, const struct xla_job *job, int64_t now_ns)
{
	struct known *k = find_known(x, job->address), **place;

	if (k == NULL) {
		place = vec_push(&x->jobs);
		if (place == NULL)
			return;
		k = *place = mem_get(sizeof(*k));
		log_debug("xla.job", "address=%s pid=%ld root=\"%s\"", job->address, (long)job->who.pid, job->who.root);
	}
	k->job = *job;
	k->seen = true;
	k->born_ns = job->known ? now_ns - job->who.age_ns : 0;
	name_job(x, k, now_ns);
}

static void forget_gone(struct xla *x)
{
	for (size_t i = x->jobs.n; i-- > 0;) {
		struct known *k = x->jobs.v[i];

		if (k->seen)
			continue;
		if (k->worker != 0)
			plan_gone(x->plan, k->worker);
		mem_free(k);
		x->jobs.v[i] = x->jobs.v[--x->jobs.n];
	}
}

static void take_jobs(struct xla *x, int64_t now_ns)
{
	vec_each(k, &x->jobs)
		(*k)->seen = false;
	vec_each(j, xla_scan_jobs(x->scan))
		take_job(x, j, now_ns);
	forget_gone(x);
	x->tell_ns = now_ns;
}

static bool is_out(const struct xla *x, const char *address)
{
	vec_each(w, &x->windows)
		if ((*w)->state == WINDOW_CALLED && strcmp((*w)->call.job.address, address) == 0)
			return true;
	return false;
}

static void tell_plan(struct xla *x, int64_t now_ns, int64_t wall_ns)
{
	x->tell_ns = now_ns + tell_every_ns;
	vec_each(p, &x->jobs) {
		const struct known *k = *p;
		struct plan_worker w = { .source = xla_source.name, .pid = k->job.known ? k->job.who.pid : 0,
			.born_ns = k->born_ns, .idle = !is_out(x, k->job.address) };

		(void)str_copy_to(str_of(k->job.address), w.key, sizeof(w.key));
		(void)str_copy_to(str_of(k->id.service), w.service, sizeof(w.service));
		(void)str_copy_to(str_of(k->id.deploy), w.deploy, sizeof(w.deploy));
		(void)str_copy_to(str_of(k->id.worker), w.worker, sizeof(w.worker));
		(*p)->worker = plan_seen(x->plan, &w, now_ns, wall_ns);
	}
}

/* ---- the scan */

static void run_scan(struct errand *er, struct thread *t)
{
	struct scan_errand *s = (struct scan_errand *)er;

	(void)t;
	s->changed = xla_scan_look(s->scan);
	if (!s->sweep)
		return;
	vec_each(p, &s->places)
		s->swept += xla_folder_sweep(p->root, s->dir, s->older_than_ns, clock_wall_ns());
}

static void free_scan(struct errand *er)
{
	struct scan_errand *s = (struct scan_errand *)er;

	vec_fini(&s->places);
	mem_free(s);
}

static void add_place(struct places *places, const char *root)
{
	struct place *p;

	vec_each(have, places)
		if (strcmp(have->root, root) == 0)
			return;
	p = vec_push(places);
	if (p != NULL)
		(void)str_copy_to(str_of(root), p->root, sizeof(p->root));
}

static void start_scan(struct xla *x, int64_t now_ns)
{
	struct scan_errand *s = mem_get(sizeof(*s));

	s->errand = (struct errand){ run_scan, free_scan };
	s->scan = x->scan;
	(void)str_copy_to(str_of(x->dir), s->dir, sizeof(s->dir));
	s->older_than_ns = window_max_ns + x->timeout_ns;
	s->places.cap = PLACES_MAX;
	s->sweep = now_ns >= x->sweep_ns;
	if (s->sweep) {
		x->sweep_ns = now_ns + sweep_every_ns;
		add_place(&s->places, "");
		vec_each(k, &x->jobs)
			add_place(&s->places, (*k)->job.who.root);
	}
	x->scan_ns = now_ns + x->scan_every_ns;
	x->scanning = errands_give(x->errands, &s->errand);
	if (!x->scanning)
		free_scan(&s->errand); /* calls wait in a row: next time */
}

static void take_scan(struct xla *x, const struct scan_errand *s, int64_t now_ns)
{
	pid_t elsewhere = xla_scan_elsewhere(x->scan);

	x->scanning = false;
	x->swept += s->swept;
	if (s->swept > 0)
		log_info("xla.swept", "folders=%zu of=\"windows that an agent was killed in, or gave up\"", s->swept);
	if (s->changed)
		take_jobs(x, now_ns);
	if (elsewhere != 0 && elsewhere != x->elsewhere_said)
		log_warn("xla.elsewhere", "pid=%ld variable=" XLA_PORT_VARIABLE " cure=\"the process has a network namespace of its "
			"own, which no connection from here reaches: hostNetwork for it, or an agent beside it\"", (long)elsewhere);
	x->elsewhere_said = elsewhere;
}

/* ---- calls */

static void run_call(struct errand *er, struct thread *t)
{
	struct window_call *w = (struct window_call *)er;

	w->unsent = w->expires_ns > 0 && clock_mono_ns() > w->expires_ns;
	if (!w->unsent)
		xla_call_do(&w->call, t);
}

static struct window_call *new_window(struct xla *x, const struct known *k, const struct plan_order *o, int64_t now_ns)
{
	struct window_call **place = vec_push(&x->windows), *w;

	if (place == NULL)
		return NULL;
	w = *place = mem_get(sizeof(*w));
	w->errand = (struct errand){ run_call, free_window };
	w->key = ++x->next_key;
	w->order = o->id;
	w->due_ns = now_ns;
	w->expires_ns = o->expires_ns;
	w->call = (struct xla_call){ .job = k->job, .proc = x->proc, .duration_ns = o->duration_ns, .timeout_ns = x->timeout_ns,
		.max_bytes = x->max_file, .host_level = x->host_level, .folder = XLA_FOLDER_NONE };
	(void)str_copy_to(str_of(x->host), w->call.host, sizeof(w->call.host));
	(void)str_copy_to(str_of(x->dir), w->call.dir, sizeof(w->call.dir));
	w->id = k->id;
	return w;
}

/* A window that the plan wants now. */
static void begin(struct xla *x, const struct plan_order *o, int64_t now_ns)
{
	const struct known *k = find_known(x, o->key);
	struct window_call *w = k == NULL ? NULL : new_window(x, k, o, now_ns);

	if (w != NULL && errands_give(x->errands, &w->errand)) {
		log_debug("xla.asked", "address=%s pid=%ld duration_ms=%" PRId64, k->job.address, (long)k->job.who.pid,
			o->duration_ns / NS_PER_MS);
		x->tell_ns = now_ns;
		return;
	}
	if (w != NULL)
		drop(x, w);
	plan_unsent(x->plan, o->id, now_ns);
}

static void take_call(struct xla *x, struct window_call *w, int64_t now_ns)
{
	x->tell_ns = now_ns;
	if (w->unsent) {
		plan_unsent(x->plan, w->order, now_ns);
		drop(x, w);
	} else if (w->call.end != XLA_TAKEN) {
		end(x, w, w->call.end, w->call.why, now_ns);
	} else {
		w->state = WINDOW_FINISHED;
		w->due_ns = now_ns;
		plan_over(x->plan, w->order);
	}
}

static void fetch(struct xla *x, int64_t now_ns)
{
	struct errand *er;

	while ((er = errands_fetch(x->errands)) != NULL)
		if (er->run == run_scan) {
			take_scan(x, (const struct scan_errand *)er, now_ns);
			free_scan(er);
		} else {
			take_call(x, (struct window_call *)er, now_ns);
		}
}

static void on_look(void *self, int64_t now_ns, int64_t wall_ns)
{
	struct xla *x = own(self);
	struct plan_order o;

	fetch(x, now_ns);
	if (!x->scanning && now_ns >= x->scan_ns)
		start_scan(x, now_ns);
	if (now_ns >= x->tell_ns)
		tell_plan(x, now_ns, wall_ns);
	while (plan_next(x->plan, xla_source.name, now_ns, wall_ns, &o))
		begin(x, &o, now_ns);
}

static int64_t on_wake(const void *self, bool busy)
{
	const struct xla *x = own_const(self);
	int64_t wake = x->scanning ? INT64_MAX : x->scan_ns; /* a scan that is out may wait behind calls; its end is told by the fd */

	if (x->jobs.n > 0 && x->tell_ns < wake)
		wake = x->tell_ns;
	vec_each(w, &x->windows)
		if ((*w)->state == WINDOW_FINISHED && !busy && (*w)->due_ns < wake)
			wake = (*w)->due_ns;
	return wake;
}

static int on_fd(void *self)
{
	return errands_fd(own(self)->errands);
}

/* ---- for whoever reads them */

static struct window_call *first_finished(const struct xla *x, int64_t now_ns)
{
	struct window_call *first = NULL;

	vec_each(w, &x->windows)
		if ((*w)->state == WINDOW_FINISHED && (*w)->due_ns <= now_ns && (first == NULL || (*w)->key < first->key))
			first = *w;
	return first;
}

static bool on_next(void *self, int64_t now_ns, struct source_trace *out)
{
	struct xla *x = own(self);
	struct window_call *w;

	while ((w = first_finished(x, now_ns)) != NULL && !watch_same(&w->call.file))
		end(x, w, XLA_UNWRITTEN, "it was changed or removed since", now_ns);
	if (w == NULL)
		return false;
	w->state = WINDOW_OUT;
	*out = (struct source_trace){ .file = w->call.file, .key = w->key, .service = str_of(w->id.service),
		.deploy = str_of(w->id.deploy), .worker = str_of(w->id.worker), .order = w->order, .labels = w->labels,
		.n_labels = identity_labels(&w->id, w->labels) };
	out->file.tries = w->tries;
	return true;
}

static struct window_call *take_back(struct xla *x, uint64_t key)
{
	vec_each(w, &x->windows)
		if ((*w)->key == key && (*w)->state == WINDOW_OUT)
			return *w;
	must(false && "a window that nobody has");
	return NULL;
}

static void put_aside(struct xla *x, const struct window_call *w)
{
	char name[XLA_FOLDER_RANDOM + XLA_HOST + sizeof(XLA_FILE)];
	struct err e = { 0 };

	snprintf(name, sizeof(name), "%s-%s" XLA_FILE, w->call.folder.session, w->call.host);
	if (keep_copy(w->call.file.path, x->bad_dir, name, "", BAD_FILE_MAX, &e) < 0)
		log_warn("xla.not-kept", "dir=\"%s\" err=\"%s\"", x->bad_dir, e.text);
	else
		keep_trim(x->bad_dir, x->keep_files);
}

static void on_back(void *self, uint64_t key, const struct source_result *r, int64_t now_ns)
{
	struct xla *x = own(self);
	struct window_call *w = take_back(x, key);

	switch (r->end) {
	case SOURCE_KEPT:
		if (!r->has_device)
			say_end(x, w, XLA_NO_DEVICE, "");
		end(x, w, XLA_TAKEN, "", now_ns);
		break;
	case SOURCE_EMPTY: end(x, w, XLA_EMPTY, "no ops in the trace", now_ns); break;
	case SOURCE_BAD:
		put_aside(x, w);
		end(x, w, XLA_BAD, r->why, now_ns);
		break;
	case SOURCE_AGAIN:
		w->state = WINDOW_FINISHED;
		w->tries++;
		w->due_ns = now_ns + r->delay_ns;
		break;
	case SOURCE_ENDS: must(false && "an end");
	}
}

static void on_status(const void *self)
{
	const struct xla *x = own_const(self);
	struct buf b;

	buf_init(&b, 2048);
	for (size_t i = 0; i < XLA_ENDS; i++)
		buf_fmt(&b, " %s=%" PRIu64, ends[i].word, x->counts[i]);
	log_info("xla.status", "jobs=%zu out=%zu swept=%" PRIu64 "%.*s", x->jobs.n, x->windows.n, x->swept,
		STR_ARG(buf_view(&b)));
	buf_fini(&b);
}

uint64_t xla_count(const struct xla *x, enum xla_end how)
{
	return x->counts[how];
}

/* ---- life */

int xla_conf_check(const struct xla_conf *cf, struct err *e)
{
	const struct xla_job_conf *jobs = cf->jobs.v;

	for (size_t i = 0; i < cf->jobs.n; i++) {
		if (grpc_address_check(str_of(jobs[i].address), e) < 0)
			return err_add(e, "xla.jobs[%zu].address", i);
		for (size_t j = 0; j < i; j++)
			if (strcmp(jobs[i].address, jobs[j].address) == 0)
				return err_set(e, E_USAGE, "xla.jobs[%zu].address: %s stands there twice", i, jobs[i].address);
	}
	if (strlen(cf->dir) >= XLA_DIR)
		return err_set(e, E_USAGE, "xla.dir: want %d bytes at most", XLA_DIR - 1);
	if (cf->jobs.n > XLA_JOBS_MAX)
		return err_set(e, E_USAGE, "xla.jobs: want %d at most", XLA_JOBS_MAX);
	if (cf->enabled && cf->jobs.n == 0 && !cf->environment)
		return err_set(e, E_USAGE, "xla.jobs: no job to ask, want at least one \"- address: 127.0.0.1:PORT\", or "
			"xla.environment: yes");
	return OK;
}

static void copy_sections(struct xla *x, const struct conf_sections *from)
{
	const struct xla_job_conf *jobs = from->v;

	x->n_sections = from->n;
	x->sections = mem_get_array(from->n, sizeof(*x->sections));
	for (size_t i = 0; i < from->n; i++)
		x->sections[i] = (struct xla_job_conf){ mem_dup_text(jobs[i].address), mem_dup_text(jobs[i].service),
			mem_dup_text(jobs[i].deploy), mem_dup_text(jobs[i].worker) };
}

static void make_scan(struct xla *x, bool environment)
{
	const char **addresses = mem_get_array(x->n_sections, sizeof(*addresses));

	for (size_t i = 0; i < x->n_sections; i++)
		addresses[i] = x->sections[i].address;
	x->scan = xla_scan_new(x->proc, addresses, x->n_sections, environment);
	mem_free(addresses);
}

int xla_open(struct xla **out, const struct xla_settings *s, struct err *e)
{
	struct xla *x = mem_get(sizeof(*x));
	int rc;

	x->magic = XLA_MAGIC;
	x->plan = s->plan;
	x->identities = s->identities;
	x->dir = mem_dup_text(s->conf->dir);
	x->service = mem_dup_text(s->conf->service);
	x->deploy = mem_dup_text(s->conf->deploy);
	x->proc = mem_dup_text(s->proc);
	x->bad_dir = mem_dup_text(s->bad_dir);
	x->keep_files = s->keep_files;
	x->timeout_ns = s->conf->timeout_ns;
	x->max_file = s->conf->max_file;
	x->scan_every_ns = s->conf->scan_ns;
	x->host_level = (uint64_t)s->conf->host_level;
	x->jobs.cap = XLA_JOBS_MAX;
	x->windows.cap = WINDOWS_MAX;
	xla_wire_name(s->host, x->host, sizeof(x->host));
	copy_sections(x, &s->conf->jobs);
	make_scan(x, s->conf->environment);
	rc = errands_start(&x->errands, "xla", WINDOWS_MAX + 1, e);
	if (rc < 0) {
		xla_source.close(x);
		return rc;
	}
	*out = x;
	return OK;
}

static void on_close(void *self)
{
	struct xla *x = own(self);

	/* the errands free those windows that are with them, and the scan */
	for (size_t i = x->windows.n; i-- > 0;)
		if (x->windows.v[i]->state != WINDOW_CALLED)
			drop(x, x->windows.v[i]);
	errands_stop(x->errands);
	vec_fini(&x->windows);
	vec_each(k, &x->jobs)
		mem_free(*k);
	vec_fini(&x->jobs);
	xla_scan_free(x->scan);
	for (size_t i = 0; i < x->n_sections; i++) {
		mem_free(x->sections[i].address);
		mem_free(x->sections[i].service);
		mem_free(x->sections[i].deploy);
		mem_free(x->sections[i].worker);
	}
	mem_free(x->sections);
	mem_free(x->dir);
	mem_free(x->service);
	mem_free(x->deploy);
	mem_free(x->proc);
	mem_free(x->bad_dir);
	x->magic = MAGIC_DEAD;
	mem_free(x);
}

const struct source_type xla_source = {
	.name = "xla",
	.close = on_close,
	.fd = on_fd,
	.look = on_look,
	.wake_ns = on_wake,
	.next = on_next,
	.back = on_back,
	.status = on_status,
};
