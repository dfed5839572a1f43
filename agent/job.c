#include "agent/job.h"

#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "agent/keep.h"
#include "agent/pace.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/thread.h"
#include "trace/sidecar.h"
#include "wire/wire.h"

enum { JOB_ARENA_MAX = 256 << 20, JOB_BATCH_MAX = 16 << 20, JOB_NICE = 19, OTHER_NAMES_MAX = 1024 };

static const int64_t pause_max_ns = 10 * NS_PER_MIN;

struct job_thread {
	struct errands *errands;
	/* the thread's own */
	int64_t credit_ns, last_ns, used_ns; /* of CPU time; the clock and the CPU time when it was settled last */
	int64_t pause_ns;		     /* before it goes on */
	bool begun;
};

struct job *job_new(void)
{
	struct job *j = mem_get(sizeof(*j));

	j->windows.cap = JOB_WINDOWS_MAX;
	arena_init(&j->texts, JOB_BYTES_MAX);
	buf_init(&j->other_names, OTHER_NAMES_MAX);
	return j;
}

void job_free(struct job *j)
{
	if (j == NULL)
		return;
	vec_fini(&j->windows);
	arena_fini(&j->texts);
	buf_fini(&j->other_names);
	mem_free(j);
}

static bool has_ops(const struct window *w)
{
	static const bool is_op[OP_KINDS] = { [OP_CPU_OP] = true, [OP_REGION] = true, [OP_RUNTIME] = true,
		[OP_KERNEL] = true, [OP_MEMCPY] = true, [OP_MEMSET] = true, [OP_COLLECTIVE] = true, [OP_HLO] = true,
		[OP_ENGINE] = true };

	for (size_t i = 0; i < w->n_ops; i++)
		if (is_op[w->ops[i].kind])
			return true;
	return false;
}

/* Those of the source go behind the window's own, labels or versions, as far as there is room. */
static int add_labels(struct arena *a, struct label **v, size_t *n_v, const struct label *more, size_t n, struct err *e)
{
	struct label *all;

	if (n == 0)
		return OK;
	all = sidecar_labels(a, *v, *n_v, more, n, n_v);
	if (all == NULL)
		return err_set(e, E_LIMIT, "no room for labels");
	*v = all;
	return OK;
}

static int add_gauges(struct arena *a, struct window *w, const struct gauge *more, size_t n, struct err *e)
{
	struct gauge *all;

	if (n == 0 || w->n_gauges + n > WINDOW_GAUGES_MAX)
		return OK;
	all = arena_get_array(a, w->n_gauges + n, sizeof(*all));
	if (all == NULL)
		return err_set(e, E_LIMIT, "no room for gauges");
	for (size_t i = 0; i < w->n_gauges; i++)
		all[i] = w->gauges[i];
	for (size_t i = 0; i < n; i++)
		all[w->n_gauges++] = more[i];
	w->gauges = all;
	return OK;
}

/* Before the agent removes it; the same trace again has the same name. */
static void keep_raw(struct job *j)
{
	const char *slash = strrchr(j->file.path, '/');
	char name[NAME_MAX];

	if (snprintf(name, sizeof(name), "%s-%s", j->windows.v[0].text, slash == NULL ? j->file.path : slash + 1) >= (int)sizeof(name))
		err_set(&j->raw_err, E_LIMIT, "%s: name too long", j->file.path);
	else if (keep_copy(j->file.path, j->raw_dir, name, SIDECAR_SUFFIX, j->raw_max_bytes, &j->raw_err) < 0)
		err_add(&j->raw_err, "%s", j->raw_dir);
}

/* ---- the windows of a file */

static int64_t cpu_ns(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* What was used so far is waited for before it goes on. */
static void settle(struct job_thread *t, const struct job *j)
{
	int64_t now = clock_mono_ns(), used = cpu_ns();

	if (t->credit_ns > j->cpu_burst_ns)
		t->credit_ns = j->cpu_burst_ns;
	t->pause_ns = job_budget(&t->credit_ns, now - t->last_ns, used - t->used_ns, j->cpu_percent, j->cpu_burst_ns);
	t->last_ns = now;
	t->used_ns = used;
}

static int rest(struct job_thread *t, struct thread *thread, struct err *e)
{
	int64_t pause_ns = t->pause_ns;

	t->pause_ns = 0;
	if (thread_sleep(thread, pause_ns))
		return err_set(e, E_STOPPED, "the agent ends");
	return OK;
}

struct making {
	struct job *job;
	struct arena arena;	/* of the window at hand */
	struct buf batch;	/* the same */
	struct job_thread *on;	/* NULL: in the caller's */
	struct thread *thread;
	bool failed;		/* one of them cannot be taken, and so none is */
};

/* What is not in the trace. */
static int complete(struct making *m, struct window *w, struct err *e)
{
	const struct job *j = m->job;
	int rc = add_labels(&m->arena, &w->labels, &w->n_labels, j->labels, j->n_labels, e);

	if (rc == OK)
		rc = add_labels(&m->arena, &w->versions, &w->n_versions, j->versions, j->n_versions, e);
	if (rc == OK)
		rc = add_gauges(&m->arena, w, j->gauges, j->n_gauges, e);
	return rc == OK ? window_check(w, e) : rc;
}

static int encode(struct making *m, struct window *w, struct err *e)
{
	const struct wire_batch b = { .agent_id = m->job->origin.agent_id, .agent_version = m->job->agent_version, .windows = w,
		.n_windows = 1 };
	int rc = complete(m, w, e);

	buf_reset(&m->batch);
	return rc == OK ? wire_encode(&b, &m->batch, e) : rc;
}

static int keep_window(struct making *m, const char *trace, const struct window *w, const struct trace_report *report, struct err *e)
{
	struct job *j = m->job;
	struct job_window *jw = vec_push(&j->windows);

	if (jw == NULL)
		return err_set(e, E_LIMIT, "%s: more than %d traces", j->file.path, JOB_WINDOWS_MAX);
	*jw = (struct job_window){
		.trace = arena_text(&j->texts, trace),
		.batch = arena_str(&j->texts, buf_view(&m->batch)),
		.flags = w->flags,
		.events = report->events,
		.lost = report->n_skips > 0 ? report->skips[0].reason : "",
		.step_ns = pace_step_ns(w),
		.service = arena_str(&j->texts, w->service),
		.deploy = arena_str(&j->texts, w->deploy),
		.worker = arena_str(&j->texts, w->worker),
	};
	window_id_text(w->id, jw->text);
	if (arena_full(&j->texts))
		return err_set(e, E_LIMIT, "%s: more than %d bytes of windows", j->file.path, JOB_BYTES_MAX);
	j->has_device = j->has_device || w->has_device;
	j->has_ops = j->has_ops || has_ops(w);
	return OK;
}

static bool is_no_trace(int code)
{
	return code == E_FORMAT || code == E_UNSUPPORTED;
}

/* A file of the archive that is no trace; of the file itself that is the end. */
static int pass_over(struct job *j, const char *name, const struct err *why, struct err *e)
{
	size_t archive = strlen(j->file.path);

	if (strcmp(name, j->file.path) == 0 || !is_no_trace(why->code)) {
		*e = *why;
		return why->code;
	}
	if (j->others++ == 0)
		j->other_why = *why;
	else
		buf_text(&j->other_names, ", ");
	buf_text(&j->other_names, name + archive + 1);
	return OK;
}

/* Between two of an archive the thread pays for the last one, as between two files. */
static int breathe(void *arg, struct err *e)
{
	struct making *m = arg;

	if (m->on == NULL)
		return OK;
	settle(m->on, m->job);
	return rest(m->on, m->thread, e);
}

static int take_window(void *arg, const char *name, struct window *w, const struct trace_report *report, struct err *why,
	struct err *e)
{
	struct making *m = arg;
	int rc = w == NULL ? pass_over(m->job, name, why, e) : encode(m, w, e);

	if (rc == OK && w != NULL)
		rc = keep_window(m, name, w, report, e);
	window_fini(w);
	arena_reset(&m->arena);
	m->failed = rc < 0;
	return rc;
}

static void forget(struct job *j)
{
	j->windows.n = 0;
	arena_reset(&j->texts);
	buf_reset(&j->other_names);
	j->others = 0;
	j->has_device = j->has_ops = false;
	err_clear(&j->err);
	err_clear(&j->damage);
}

static int make_windows(struct making *m, struct err *e)
{
	const struct window_visit visit = { .window = take_window, .arg = m, .between = breathe };
	struct job *j = m->job;
	int rc = windows_from_file(&m->arena, j->file.path, &j->origin, &j->limits, &visit, e);

	if (rc == E_FORMAT && !m->failed && j->windows.n > 0) {
		j->damage = *e;
		err_clear(e);
		rc = OK;
	}
	if (rc == OK && j->windows.n == 0)
		rc = err_set(e, E_FORMAT, "%s: none of the %" PRIu64 " files in the archive is a trace; of the first one: %s", j->file.path,
			j->others, j->other_why.text);
	return rc;
}

static void make(struct job *j, struct job_thread *on, struct thread *thread)
{
	struct making m = { .job = j, .on = on, .thread = thread };

	arena_init(&m.arena, JOB_ARENA_MAX);
	buf_init(&m.batch, JOB_BATCH_MAX);
	forget(j);
	j->rc = make_windows(&m, &j->err);
	if (j->rc < 0)
		j->windows.n = 0;
	else if (j->raw_dir != NULL)
		keep_raw(j);
	buf_fini(&m.batch);
	arena_fini(&m.arena);
}

void job_do(struct job *j)
{
	make(j, NULL, NULL);
}

int64_t job_budget(int64_t *credit_ns, int64_t elapsed_ns, int64_t used_ns, int64_t percent, int64_t burst_ns)
{
	int64_t pause;

	if (percent >= 100)
		return 0;
	*credit_ns += elapsed_ns / 100 * percent;
	if (*credit_ns > burst_ns)
		*credit_ns = burst_ns;
	*credit_ns -= used_ns;
	if (*credit_ns >= 0)
		return 0;
	pause = -*credit_ns / percent * 100;
	return pause < pause_max_ns ? pause : pause_max_ns;
}

static void begin(struct job_thread *t)
{
	setpriority(PRIO_PROCESS, 0, JOB_NICE); /* of this thread, on Linux; it only ever gets nicer */
	t->credit_ns = INT64_MAX / 2;
	t->last_ns = clock_mono_ns();
	t->used_ns = cpu_ns();
	t->begun = true;
}

static void on_run(struct errand *er, struct thread *thread)
{
	struct job *j = (struct job *)er;
	struct job_thread *t = j->thread;

	if (!t->begun)
		begin(t);
	j->rc = rest(t, thread, &j->err);
	if (j->rc < 0)
		return;
	make(j, t, thread);
	malloc_trim(0); /* a large trace must not stay in the resident size of an idle agent */
	settle(t, j);
}

static void on_free(struct errand *er)
{
	job_free((struct job *)er);
}

int job_thread_start(struct job_thread **out, struct err *e)
{
	struct job_thread *t = mem_get(sizeof(*t));
	int rc = errands_start(&t->errands, "job", 1, e);

	if (rc < 0)
		mem_free(t);
	else
		*out = t;
	return rc;
}

void job_thread_stop(struct job_thread *t)
{
	if (t == NULL)
		return;
	errands_stop(t->errands);
	mem_free(t);
}

void job_give(struct job_thread *t, struct job **j)
{
	(*j)->errand = (struct errand){ on_run, on_free };
	(*j)->thread = t;
	must(errands_give(t->errands, &(*j)->errand));
	*j = NULL;
}

int job_fd(struct job_thread *t)
{
	return errands_fd(t->errands);
}

struct job *job_fetch(struct job_thread *t)
{
	return (struct job *)errands_fetch(t->errands);
}
