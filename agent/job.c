#include "agent/job.h"

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
#include "wire/wire.h"

enum { JOB_ARENA_MAX = 256 << 20, JOB_BATCH_MAX = 16 << 20, JOB_NICE = 19 };

static const int64_t pause_max_ns = 10 * NS_PER_MIN;

struct job *job_new(void)
{
	struct job *j = mem_get(sizeof(*j));

	buf_init(&j->batch, JOB_BATCH_MAX);
	return j;
}

void job_free(struct job *j)
{
	if (j == NULL)
		return;
	buf_fini(&j->batch);
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

static bool has_label(const struct label *v, size_t n, struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(v[i].key, key))
			return true;
	return false;
}

/* Those of the source go behind the window's own, labels or versions, as far as there is room. */
static int add_labels(struct arena *a, struct label **v, size_t *n_v, const struct label *more, size_t n, struct err *e)
{
	struct label *all;

	if (n == 0)
		return OK;
	all = arena_get_array(a, *n_v + n, sizeof(*all));
	if (all == NULL)
		return err_set(e, E_LIMIT, "no room for labels");
	for (size_t i = 0; i < *n_v; i++)
		all[i] = (*v)[i];
	*v = all;
	for (size_t i = 0; i < n && *n_v < WINDOW_LABELS_MAX; i++)
		if (!has_label(all, *n_v, more[i].key))
			all[(*n_v)++] = more[i];
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

	if (snprintf(name, sizeof(name), "%s-%s", j->window_text, slash == NULL ? j->file.path : slash + 1) >= (int)sizeof(name))
		err_set(&j->raw_err, E_LIMIT, "%s: name too long", j->file.path);
	else if (keep_copy(j->file.path, j->raw_dir, name, WATCH_SIDECAR, j->raw_max_bytes, &j->raw_err) < 0)
		err_add(&j->raw_err, "%s", j->raw_dir);
}

static void take_names(struct job *j, const struct window *w)
{
	str_copy_to(w->service, j->service, sizeof(j->service));
	str_copy_to(w->deploy, j->deploy, sizeof(j->deploy));
	str_copy_to(w->worker, j->worker, sizeof(j->worker));
}

void job_do(struct job *j)
{
	struct window w = { .ops = NULL };
	struct wire_batch b = { .agent_id = j->origin.agent_id, .agent_version = j->agent_version, .windows = &w,
		.n_windows = 1 };
	struct arena a;

	arena_init(&a, JOB_ARENA_MAX);
	err_clear(&j->err);
	buf_reset(&j->batch);
	j->rc = window_from_file(&a, j->file.path, &j->origin, &j->limits, &w, &j->report, &j->err);
	if (j->rc == OK) {
		window_id_text(w.id, j->window_text);
		j->flags = w.flags;
		j->has_device = w.has_device;
		j->has_ops = has_ops(&w);
		j->step_ns = pace_step_ns(&w);
		take_names(j, &w);
		j->rc = add_labels(&a, &w.labels, &w.n_labels, j->labels, j->n_labels, &j->err);
	}
	if (j->rc == OK)
		j->rc = add_labels(&a, &w.versions, &w.n_versions, j->versions, j->n_versions, &j->err);
	if (j->rc == OK)
		j->rc = add_gauges(&a, &w, j->gauges, j->n_gauges, &j->err);
	if (j->rc == OK)
		j->rc = window_check(&w, &j->err);
	if (j->rc == OK)
		j->rc = wire_encode(&b, &j->batch, &j->err);
	if (j->rc == OK && j->raw_dir != NULL)
		keep_raw(j);
	window_fini(&w);
	arena_fini(&a);
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

struct job_thread {
	struct errands *errands;
	/* the thread's own */
	int64_t credit_ns, last_ns, used_ns; /* of CPU time; the clock and the CPU time at the end of the last job */
	int64_t pause_ns;		     /* before the next one */
	bool begun;
};

static int64_t cpu_ns(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void begin(struct job_thread *t)
{
	setpriority(PRIO_PROCESS, 0, JOB_NICE); /* of this thread, on Linux; it only ever gets nicer */
	t->credit_ns = INT64_MAX / 2;
	t->last_ns = clock_mono_ns();
	t->used_ns = cpu_ns();
	t->begun = true;
}

/* What this job used the next one waits for. */
static void settle(struct job_thread *t, const struct job *j)
{
	int64_t now = clock_mono_ns(), used = cpu_ns();

	if (t->credit_ns > j->cpu_burst_ns)
		t->credit_ns = j->cpu_burst_ns;
	t->pause_ns = job_budget(&t->credit_ns, now - t->last_ns, used - t->used_ns, j->cpu_percent, j->cpu_burst_ns);
	t->last_ns = now;
	t->used_ns = used;
}

static void on_run(struct errand *er, struct thread *thread)
{
	struct job *j = (struct job *)er;
	struct job_thread *t = j->thread;

	if (!t->begun)
		begin(t);
	if (t->pause_ns > 0 && thread_sleep(thread, t->pause_ns)) {
		j->rc = err_set(&j->err, E_STOPPED, "the agent ends");
		return;
	}
	job_do(j);
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
