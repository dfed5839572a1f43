#include "agent/agent.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/exec.h"
#include "agent/fleet.h"
#include "agent/host.h"
#include "agent/identity.h"
#include "agent/job.h"
#include "agent/keep.h"
#include "agent/kineto.h"
#include "agent/meter.h"
#include "agent/monitor.h"
#include "agent/outbox.h"
#include "agent/pace.h"
#include "agent/session_source.h"
#include "agent/sysfs.h"
#include "agent/vllm.h"
#include "agent/watch_source.h"
#include "agent/xla.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/proc.h"
#include "trace/sidecar.h"

enum { ONCE_TRIES = 5, JOB_TRIES = 5 };
enum { HOST_TEXT = 257, DIR_TEXT = PATH_MAX - 256, SOURCES_MAX = 16, BATCHES_MAX = 16, WINDOWS_AT_ONCE = 32 };

enum raw_dir { RAW_LAST, RAW_CAPTURES, RAW_DIRS };

struct counts {
	uint64_t windows;     /* made and put into the spool */
	uint64_t bad;	      /* traces that could not be read */
	uint64_t damaged;     /* traces that could be read in part */
	uint64_t failed;      /* traces that could not be handled now */
	uint64_t others;      /* files in archives that are no traces */
};

struct agent {
	struct agent_conf conf;
	struct agent_conf_marks started; /* with these */
	struct agent_options options;
	char id[HOST_ID_TEXT];
	char host[HOST_TEXT];
	int signal_fd;
	struct plan *plan;
	struct sequence *sequence; /* NULL until somebody reports */
	struct identities *identities;
	struct meter *meter;
	struct pace *pace;
	int64_t slow_step;    /* in thousandths; 0: never */
	uint64_t slow_steps;  /* seen so far */
	char raw_dirs[RAW_DIRS][PATH_MAX]; /* where raw traces stay */
	struct source sources[SOURCES_MAX]; /* in the order of the table; without a type: not wanted */
	size_t turn;			    /* who is asked first for a trace */
	struct outbox *outbox;
	struct job_thread *jobs;
	struct fleet *fleet; /* NULL: the daemon is not asked */
	int64_t start_ns;    /* wall */
	bool job_out; /* one at most */
	struct job *keeping; /* the one that is out, when it is back and some of its windows are in the spool */
	size_t kept;
	bool reload, stopping, failed;
	struct counts counts;
	int64_t next_status_ns;
};

/* ---- making the parts from the configuration */

static int open_ship(struct agent *a, struct err *e)
{
	const struct ship_settings s = {
		.server = a->conf.server,
		.token_file = a->conf.token_file,
		.ca_file = a->conf.ca_file,
		.timeout_ns = a->conf.timeout_ns,
		.retry_first_ns = a->conf.retry_first_ns,
		.retry_max_ns = a->conf.retry_max_ns,
		.tries = a->options.once ? ONCE_TRIES : 0,
	};

	return outbox_ship(a->outbox, &s, a->conf.batch_bytes, a->conf.quarantine_batches, e);
}

static int open_fleet(struct agent *a, struct err *e)
{
	const struct fleet_settings s = {
		.server = a->conf.server,
		.token_file = a->conf.token_file,
		.ca_file = a->conf.ca_file,
		.agent_id = a->id,
		.host = a->host,
		.state_dir = a->conf.state_dir,
		.interval_ns = a->conf.poll_ns,
		.timeout_ns = a->conf.timeout_ns,
		.start_ns = a->start_ns,
	};

	if (a->options.once)
		return OK;
	if (a->conf.poll_enabled)
		return fleet_open(&a->fleet, &s, a->plan, clock_mono_ns(), e);
	plan_lead(a->plan, false);
	plan_pause(a->plan, false);
	return OK;
}

static void take_names(struct agent *a)
{
	log_set_level((enum log_level)a->conf.log_level);
	if (a->conf.host[0] != '\0')
		snprintf(a->host, sizeof(a->host), "%s", a->conf.host);
	else
		proc_host_name(a->host, sizeof(a->host));
}

static int open_state(struct agent *a, struct err *e)
{
	int rc;

	if (strlen(a->conf.state_dir) > DIR_TEXT)
		return err_set(e, E_USAGE, "state_dir: path too long");
	snprintf(a->raw_dirs[RAW_LAST], PATH_MAX, "%s/raw/last", a->conf.state_dir);
	snprintf(a->raw_dirs[RAW_CAPTURES], PATH_MAX, "%s/raw/captures", a->conf.state_dir);
	rc = file_make_dirs(a->conf.state_dir, 0750, e);
	if (rc == OK)
		rc = outbox_open(&a->outbox, a->conf.state_dir, a->conf.spool_bytes, e); /* its lock keeps a second agent away from the id, too */
	if (rc == OK)
		rc = host_agent_id(a->conf.state_dir, a->id, e);
	return rc;
}

/* ---- the table of sources */

static int open_kineto(struct agent *a, struct source *out, struct err *e)
{
	char bad_dir[PATH_MAX];
	struct kineto *k;
	int rc;

	if (!a->conf.kineto.enabled)
		return OK;
	snprintf(bad_dir, sizeof(bad_dir), "%s/bad", a->conf.state_dir);
	rc = kineto_open(&k, &a->conf.kineto, a->plan, "/proc", bad_dir, (size_t)a->conf.keep_files, e);
	if (rc < 0)
		return rc;
	kineto_identify(k, a->identities);
	*out = (struct source){ &kineto_source, k };
	return OK;
}

static int open_xla(struct agent *a, struct source *out, struct err *e)
{
	char bad_dir[PATH_MAX];
	const struct xla_settings s = { .conf = &a->conf.xla, .plan = a->plan, .identities = a->identities, .host = str_of(a->host),
		.proc = "/proc", .bad_dir = bad_dir, .keep_files = (size_t)a->conf.keep_files };
	struct xla *x;
	int rc;

	if (!a->conf.xla.enabled)
		return OK;
	snprintf(bad_dir, sizeof(bad_dir), "%s/bad", a->conf.state_dir);
	rc = xla_open(&x, &s, e);
	if (rc == OK)
		*out = (struct source){ &xla_source, x };
	return rc;
}

static int open_vllm(struct agent *a, struct source *out, struct err *e)
{
	const struct vllm_settings s = { .conf = &a->conf.vllm, .plan = a->plan, .meter = a->meter,
		.state_dir = a->conf.state_dir, .keep_files = (size_t)a->conf.keep_files,
		.decode = a->conf.vllm.decode ? &a->conf.decode : NULL };

	return vllm_open(out, &s, e);
}

static struct report_origin origin(struct agent *a)
{
	if (a->sequence == NULL)
		a->sequence = sequence_new(a->conf.state_dir, str_of(a->id), a->start_ns);
	return (struct report_origin){ str_of(a->id), STR(PACKAGE_VERSION), str_of(a->host), a->sequence };
}

static int open_monitor(struct agent *a, struct source *out, struct err *e)
{
	const struct monitor_settings s = { .conf = &a->conf.neuron_monitor, .origin = origin(a), .ids = a->identities,
		.meter = a->meter, .proc = "/proc" };

	return a->conf.neuron_monitor.enabled ? monitor_open(out, &s, e) : OK;
}

static int open_sysfs(struct agent *a, struct source *out, struct err *e)
{
	const struct sysfs_settings s = { .conf = &a->conf.sysfs, .origin = origin(a) };

	return a->conf.sysfs.enabled ? sysfs_open(out, &s, e) : OK;
}

static int open_exec(struct agent *a, struct source *out, struct err *e)
{
	const struct exec_settings s = { .conf = &a->conf.exec, .decode = &a->conf.decode, .plan = a->plan, .identities = a->identities,
		.state_dir = a->conf.state_dir, .proc = "/proc" };

	return exec_open(out, &s, e);
}

static int open_watch(struct agent *a, struct source *out, struct err *e)
{
	return watch_source_open(out, &a->conf, a->plan, a->options.once, e);
}

static int open_sessions(struct agent *a, struct source *out, struct err *e)
{
	return session_source_open(out, &a->conf, a->identities, "/proc", e);
}

enum {
	ROW_EARLY = 1, /* opened before all else: a process that ends while nobody listens waits for seconds */
	ROW_ONCE = 2,  /* with --once, too */
	ROW_ANEW = 4,  /* closed and opened again when the configuration has changed; the others: at the next start */
};

/* open: leaves *out alone where the source is not wanted. */
static const struct source_row {
	int (*open)(struct agent *a, struct source *out, struct err *e);
	unsigned flags;
} source_rows[] = {
	{ open_kineto, ROW_EARLY },
	{ open_exec, 0 },
	{ open_vllm, 0 },
	{ open_monitor, ROW_ANEW },
	{ open_sysfs, ROW_ANEW },
	{ open_watch, ROW_ONCE | ROW_ANEW },
	{ open_sessions, ROW_ONCE | ROW_ANEW },
	{ open_xla, 0 },
};
_Static_assert(COUNT(source_rows) <= SOURCES_MAX, "room for all sources");

#define each_source(s, a)                                                                                            \
	for (const struct source *s = (a)->sources; s != (a)->sources + COUNT(source_rows); s++)                    \
		if (s->type != NULL)

/* Those whose flags are as wanted among the flags of the mask. */
static int open_sources(struct agent *a, unsigned mask, unsigned wanted, struct err *e)
{
	int rc = OK;

	for (size_t i = 0; i < COUNT(source_rows) && rc == OK; i++)
		if ((source_rows[i].flags & mask) == wanted && (!a->options.once || (source_rows[i].flags & ROW_ONCE)))
			rc = source_rows[i].open(a, &a->sources[i], e);
	return rc;
}

static void close_sources(struct agent *a, unsigned mask, unsigned wanted)
{
	for (size_t i = COUNT(source_rows); i-- > 0;) {
		struct source *s = &a->sources[i];

		if (s->type == NULL || (source_rows[i].flags & mask) != wanted)
			continue;
		s->type->close(s->self);
		s->type = NULL;
	}
}

/* ---- life */

static void take_meter(struct agent *a)
{
	const struct cost_settings s = { (uint32_t)a->conf.capture.budget_ppm, a->conf.capture.restore_ns };
	const char **dirs = mem_get_array(a->conf.watch.n, sizeof(*dirs));

	if (a->meter == NULL)
		a->meter = meter_new(&s, a->plan, "/proc");
	meter_set(a->meter, &s);
	for (size_t i = 0; i < a->conf.watch.n; i++)
		dirs[i] = agent_conf_watch(&a->conf, i)->dir;
	meter_folders(a->meter, dirs, a->conf.watch.n);
	mem_free(dirs);
}

static int take_plan(struct agent *a, struct err *e)
{
	struct plan_settings s;
	int rc = agent_conf_plan(&a->conf.capture, str_of(a->host), &s, e);

	if (rc == OK && a->plan == NULL)
		a->plan = plan_new(&s);
	else if (rc == OK)
		plan_set(a->plan, &s);
	if (rc == OK)
		rc = agent_conf_slow_step(&a->conf.capture, &a->slow_step, e);
	if (rc == OK)
		take_meter(a);
	return rc;
}

int agent_open(struct agent **out, struct agent_conf *cf, const struct agent_options *o, struct err *e)
{
	struct agent *a = mem_get(sizeof(*a));
	int rc;

	a->conf = *cf;
	*cf = (struct agent_conf){ .server = NULL };
	agent_conf_mark(&a->conf, &a->started);
	a->options = *o;
	a->signal_fd = -1;
	a->start_ns = clock_wall_ns();
	a->pace = pace_new();
	take_names(a);
	a->identities = identities_new(&a->conf.identity);
	rc = proc_signals_open(&a->signal_fd, e);
	if (rc == OK)
		rc = take_plan(a, e);
	if (rc == OK)
		rc = open_sources(a, ROW_EARLY, ROW_EARLY, e);
	if (rc == OK)
		rc = open_state(a, e);
	if (rc == OK)
		rc = open_sources(a, ROW_EARLY, 0, e);
	if (rc == OK)
		rc = job_thread_start(&a->jobs, e);
	if (rc == OK)
		rc = open_ship(a, e);
	if (rc == OK)
		rc = open_fleet(a, e);
	if (rc < 0) {
		agent_close(a);
		return rc;
	}
	*out = a;
	return OK;
}

void agent_close(struct agent *a)
{
	if (a == NULL)
		return;
	fleet_close(a->fleet);
	if (a->outbox != NULL)
		outbox_hold(a->outbox);
	job_thread_stop(a->jobs);
	job_free(a->keeping);
	close_sources(a, 0, 0);
	meter_free(a->meter);
	pace_free(a->pace);
	identities_free(a->identities);
	sequence_free(a->sequence);
	plan_free(a->plan);
	outbox_close(a->outbox);
	if (a->signal_fd >= 0)
		close(a->signal_fd);
	agent_conf_fini(&a->conf);
	mem_free(a);
}

/* ---- traces */

/* What its worker's windows cost, and whether it stays when it has been read. */
static void judge_trace(struct agent *a, struct job *j)
{
	struct plan_order order;
	bool ordered = plan_order(a->plan, j->order, &order), asked = ordered && order.capture[0] != '\0';
	struct cost_view cost = ordered ? meter_of_worker(a->meter, order.worker) : meter_of_trace(a->meter, j->file.path);

	j->n_gauges = meter_gauges(&cost, j->gauges);
	j->raw_max_bytes = (uint64_t)a->conf.keep.max_bytes;
	if ((asked ? a->conf.keep.captures : a->conf.keep.last) > 0)
		j->raw_dir = a->raw_dirs[asked ? RAW_CAPTURES : RAW_LAST];
}

static void trim_raw(struct agent *a, const struct job *j)
{
	bool asked = j->raw_dir == a->raw_dirs[RAW_CAPTURES];

	if (j->raw_dir == NULL || j->rc < 0)
		return;
	if (j->raw_err.text[0] != '\0')
		log_warn("raw.lost", "file=\"%s\" err=\"%s\"", j->file.path, j->raw_err.text);
	else
		log_info("raw.kept", "window=%s dir=\"%s\"", j->windows.v[0].text, j->raw_dir);
	keep_trim_bytes(j->raw_dir, SIDECAR_SUFFIX, (size_t)(asked ? a->conf.keep.captures : a->conf.keep.last), j->raw_max_bytes);
}

static void start_job(struct agent *a, struct job *j)
{
	judge_trace(a, j);
	j->agent_version = STR(PACKAGE_VERSION);
	j->origin.agent_id = str_of(a->id);
	j->origin.host = str_of(a->host);
	j->origin.rules = a->conf.rules;
	/* whoever may write to a watched folder can make a file of any length at no cost, and make it longer while it is read */
	j->limits = (struct trace_limits){ (uint64_t)a->conf.max_output, (uint64_t)a->conf.max_ratio,
		(uint64_t)a->conf.max_events, (uint64_t)a->conf.max_output };
	j->cpu_percent = a->options.once ? 100 : a->conf.cpu_percent;
	j->cpu_burst_ns = a->conf.cpu_burst_ns;
	job_give(a->jobs, &j);
	a->job_out = true;
}

static struct job *job_of(const struct source *from, const struct source_trace *t)
{
	struct job *j = job_new();

	j->from = from;
	j->file = t->file;
	j->key = t->key;
	j->order = t->order;
	j->labels = t->labels;
	j->n_labels = t->n_labels;
	j->versions = t->versions;
	j->n_versions = t->n_versions;
	j->origin = (struct window_origin){ .source = str_of(from->type->name), .service = t->service, .deploy = t->deploy,
		.worker = t->worker };
	return j;
}

/* Each source in its turn, so that none waits for ever for one that always has a trace. */
static void start_next_job(struct agent *a, int64_t now_ns)
{
	if (a->job_out || a->reload)
		return;
	for (size_t i = 0; i < COUNT(source_rows); i++) {
		size_t turn = (a->turn + i) % COUNT(source_rows);
		const struct source *s = &a->sources[turn];
		struct source_trace t;

		if (s->type == NULL || s->type->next == NULL || !s->type->next(s->self, now_ns, &t))
			continue;
		a->turn = turn + 1;
		start_job(a, job_of(s, &t));
		return;
	}
}

static void give_back(const struct job *j, const struct source_result *r, int64_t now_ns)
{
	j->from->type->back(j->from->self, j->key, r, now_ns);
}

static void try_later(struct agent *a, const struct job *j, const struct err *why, int64_t now_ns)
{
	a->counts.failed++;
	log_warn("trace.later", "file=\"%s\" tries=%u err=\"%s\"", j->file.path, j->file.tries + 1, why->text);
	give_back(j, &(struct source_result){ .end = SOURCE_AGAIN, .delay_ns = source_again_ns(j->file.tries) }, now_ns);
}

static void put_away(struct agent *a, const struct job *j, const struct err *why, int64_t now_ns)
{
	a->counts.bad++;
	log_warn("trace.bad", "file=\"%s\" reason=\"%s\"", j->file.path, why->text);
	give_back(j, &(struct source_result){ .end = SOURCE_BAD, .why = why->text }, now_ns);
}

static void say_window(struct agent *a, const struct job_window *w)
{
	a->counts.windows++;
	a->counts.damaged += w->flags != 0;
	if (w->flags != 0)
		log_warn("trace.damaged", "file=\"%.*s\" window=%s events=%" PRIu64 " reason=%s", STR_ARG(w->trace), w->text, w->events,
			w->lost[0] == '\0' ? "unknown" : w->lost);
	else
		log_debug("trace.read", "file=\"%.*s\" window=%s events=%" PRIu64 " bytes=%zu", STR_ARG(w->trace), w->text, w->events,
			w->batch.n);
}

static void say_archive(struct agent *a, const struct job *j)
{
	a->counts.others += j->others;
	if (j->damage.text[0] != '\0') {
		a->counts.damaged++;
		log_warn("archive.damaged", "file=\"%s\" windows=%zu reason=\"%s\"", j->file.path, j->windows.n, j->damage.text);
	}
	if (j->others > 0)
		log_warn("archive.others", "file=\"%s\" windows=%zu no_traces=%" PRIu64 " names=\"%.*s%s\" first=\"%s\"", j->file.path,
			j->windows.n, j->others, STR_ARG(buf_view(&j->other_names)), j->other_names.rc == OK ? "" : " …", j->other_why.text);
}

/* A slow step asks for another window, of a job that profiles itself too, where some source knows it by the same name. */
static void judge_pace(struct agent *a, const struct job *j, const struct job_window *w, uint64_t worker, int64_t now_ns)
{
	const struct pace_key k = { str_of(j->from->type->name), w->service, w->deploy, w->worker };
	int64_t median_ns;
	bool asked;

	if (!pace_add(a->pace, &k, w->step_ns, a->slow_step, now_ns, &median_ns))
		return;
	if (worker == 0)
		worker = plan_named(a->plan, k.service, k.worker);
	asked = plan_ask(a->plan, worker, PLAN_SLOW_STEP, a->conf.capture.slow_step_every_ns, now_ns);
	a->slow_steps++;
	log_info("capture.slow-step", "service=\"%.*s\" worker=\"%.*s\" window=%s step_us=%" PRId64 " usual_us=%" PRId64 " asked=%s",
		STR_ARG(w->service), STR_ARG(w->worker), w->text, w->step_ns / NS_PER_US, median_ns / NS_PER_US, asked ? "yes" : "no");
}

static void keep_window(struct agent *a, const struct job *j, const struct job_window *w, int64_t now_ns)
{
	say_window(a, w);
	judge_pace(a, j, w, plan_made(a->plan, j->order, w->text), now_ns);
}

static void drop_job(struct agent *a, struct job *j)
{
	a->job_out = false;
	job_free(j);
}

/* All windows are in the spool before the file goes; killed in between, the same windows are made again. Those of an archive go some at
 * a time: each is synced to the disk, and others wait for this thread. */
static void keep_windows(struct agent *a, int64_t now_ns)
{
	struct job *j = a->keeping;
	struct err e = { 0 };
	int rc = OK;

	for (int n = 0; rc == OK && a->kept < j->windows.n && n < WINDOWS_AT_ONCE; n++) {
		const struct job_window *w = &j->windows.v[a->kept];

		rc = outbox_put(a->outbox, w->batch, &e);
		crash_point("job.window-kept");
		if (rc == OK)
			keep_window(a, j, w, now_ns);
		a->kept += rc == OK;
	}
	if (rc == OK && a->kept < j->windows.n)
		return;
	a->keeping = NULL;
	if (rc == E_LIMIT)
		put_away(a, j, &e, now_ns);
	else if (rc < 0)
		try_later(a, j, &e, now_ns);
	else
		say_archive(a, j);
	if (rc == OK)
		give_back(j, &(struct source_result){ .end = SOURCE_KEPT, .has_device = j->has_device }, now_ns);
	drop_job(a, j);
}

/* On demand, a window without ops says nothing about the job: it must not look like a fall to zero. */
static bool is_empty(const struct job *j)
{
	if (j->rc == OK)
		return !j->has_ops;
	return j->rc == E_FORMAT && str_has_suffix(str_of(j->err.text), STR("no timed events"));
}

static void end_job(struct agent *a, struct job *j, int64_t now_ns)
{
	if (!watch_same(&j->file) || j->rc == E_NOT_FOUND)
		give_back(j, &(struct source_result){ .end = SOURCE_AGAIN, .delay_ns = NS_PER_S }, now_ns); /* another file by now, or gone */
	else if (!j->from->type->keeps_empty && is_empty(j))
		give_back(j, &(struct source_result){ .end = SOURCE_EMPTY }, now_ns);
	else if (source_is_final(j->rc) || j->file.tries + 1 >= JOB_TRIES)
		put_away(a, j, &j->err, now_ns);
	else
		try_later(a, j, &j->err, now_ns);
	drop_job(a, j);
}

static int check_room(const struct agent *a, struct job *j)
{
	uint64_t bytes = 0;

	vec_each(w, &j->windows)
		bytes += w->batch.n;
	if (outbox_can_hold(a->outbox, j->windows.n, bytes))
		return OK;
	return err_set(&j->err, E_LIMIT, "%zu windows of together %" PRIu64 " bytes, the spool holds %" PRId64 " (spool.max)", j->windows.n,
		bytes, a->conf.spool_bytes);
}

static bool is_good(const struct job *j)
{
	return j->rc == OK && watch_same(&j->file) && (j->from->type->keeps_empty || !is_empty(j));
}

static void take_job(struct agent *a, int64_t now_ns)
{
	struct job *j = a->keeping == NULL ? job_fetch(a->jobs) : NULL;

	if (j != NULL) {
		trim_raw(a, j);
		crash_point("job.made");
		j->rc = j->rc == OK ? check_room(a, j) : j->rc;
		if (!is_good(j)) {
			end_job(a, j, now_ns);
			return;
		}
		a->keeping = j;
		a->kept = 0;
	}
	if (a->keeping != NULL)
		keep_windows(a, now_ns);
}

/* ---- windows that a source makes itself */

static void keep_batch(struct agent *a, const struct source *s, const struct buf *batch)
{
	struct err e = { 0 };

	if (outbox_put(a->outbox, buf_view(batch), &e) == OK) {
		a->counts.windows++;
		return;
	}
	a->counts.failed++;
	log_error("window.lost", "source=%s bytes=%zu err=\"%s\"", s->type->name, batch->n, e.text);
}

static void take_batches(struct agent *a, int64_t now_ns)
{
	struct buf batch;

	buf_init(&batch, SPOOL_RECORD_MAX);
	each_source(s, a)
		for (int n = 0; s->type->batch != NULL && n < BATCHES_MAX; n++) {
			buf_reset(&batch);
			if (!s->type->batch(s->self, now_ns, &batch))
				break;
			keep_batch(a, s, &batch);
		}
	buf_fini(&batch);
}

/* ---- signals, status, reload */

static void say_plan(const struct agent *a)
{
	struct buf b;

	if (plan_count(a->plan) == 0 && plan_orders(a->plan) == 0)
		return;
	buf_init(&b, 1024);
	for (int why = 0; why < PLAN_WHYS; why++)
		buf_fmt(&b, " missed_%s=%" PRIu64, plan_why_word((enum plan_why)why), plan_missed(a->plan, (enum plan_why)why));
	log_info("capture.status", "workers=%zu orders=%" PRIu64 " out=%zu slow_steps=%" PRIu64 " no_room=%" PRIu64 "%.*s", plan_count(a->plan),
		plan_orders(a->plan), plan_out(a->plan), a->slow_steps, plan_refused(a->plan), STR_ARG(buf_view(&b)));
	buf_fini(&b);
}

static void say_status(struct agent *a)
{
	const struct spool_state *st = outbox_state(a->outbox);
	const struct outbox_counts *oc = outbox_counts(a->outbox);
	const struct counts *c = &a->counts;

	log_info("agent.status",
		"windows=%" PRIu64 " shipped=%" PRIu64 " duplicates=%" PRIu64 " waiting=%" PRIu64
		" waiting_bytes=%" PRIu64 " dropped=%" PRIu64 " quarantined=%" PRIu64 " bad_traces=%" PRIu64
		" damaged_traces=%" PRIu64 " no_traces=%" PRIu64 " spool_damaged=%" PRIu64,
		c->windows, oc->shipped, oc->duplicates, st->records, st->bytes, st->dropped, oc->quarantined, c->bad,
		c->damaged, c->others, st->damaged);
	say_plan(a);
	meter_status(a->meter);
	if (a->fleet != NULL)
		fleet_status(a->fleet);
	each_source(s, a)
		if (s->type->status != NULL)
			s->type->status(s->self);
}

/* The new configuration in force; the parts that it touches are made anew. */
static int take_conf(struct agent *a, struct agent_conf *cf, struct err *e)
{
	int rc;

	close_sources(a, ROW_ANEW, ROW_ANEW);
	fleet_close(a->fleet);
	a->fleet = NULL;
	outbox_hold(a->outbox);
	agent_conf_fini(&a->conf);
	a->conf = *cf;
	take_names(a);
	rc = take_plan(a, e);
	if (rc == OK)
		rc = open_sources(a, ROW_ANEW, ROW_ANEW, e);
	if (rc == OK)
		rc = open_ship(a, e);
	return rc < 0 ? rc : open_fleet(a, e);
}

static void say_later(const struct agent *a, const struct agent_conf *cf)
{
	struct buf keys;

	buf_init(&keys, 4096);
	agent_conf_later(cf, &a->started, &keys);
	if (keys.n > 0)
		log_warn("config.later", "keys=\"%.*s\" when=\"next start\"", STR_ARG(buf_view(&keys)));
	buf_fini(&keys);
}

/* Only while no trace is out: the job borrows names from the configuration. */
static void reload(struct agent *a)
{
	struct agent_conf cf;
	struct err e = { 0 };

	a->reload = false;
	proc_notify("RELOADING=1");
	if (agent_conf_load(&cf, &a->options, &e) < 0) {
		log_error("config.refused", "in_force=old err=\"%s\"", e.text);
	} else {
		say_later(a, &cf);
		mem_free(cf.state_dir);
		cf.state_dir = mem_dup_text(a->conf.state_dir);
		cf.spool_bytes = a->conf.spool_bytes;
		if (take_conf(a, &cf, &e) < 0) {
			log_error("agent.failed", "err=\"%s\"", e.text);
			a->stopping = a->failed = true;
		} else {
			log_info("config.reloaded", "file=\"%s\" server=\"%s\"", a->options.config, a->conf.server);
		}
	}
	proc_notify("READY=1");
}

static void take_signal(struct agent *a)
{
	switch (proc_wait_signal(a->signal_fd, 0)) {
	case SIGTERM:
	case SIGINT: a->stopping = true; break;
	case SIGHUP: a->reload = true; break;
	case SIGUSR1: say_status(a); break;
	default: break;
	}
}

/* ---- the loop */

static int timeout_ms(int64_t until_ns, int64_t now_ns)
{
	int64_t ms = until_ns <= now_ns ? 0 : (until_ns - now_ns) / NS_PER_MS + 1;

	return ms > INT_MAX ? INT_MAX : (int)ms;
}

static void wait_for_something(struct agent *a, int64_t now_ns)
{
	struct pollfd fds[SOURCES_MAX + 5] = {
		{ .fd = a->signal_fd, .events = POLLIN },
		{ .fd = job_fd(a->jobs), .events = POLLIN },
		{ .fd = outbox_fd(a->outbox), .events = POLLIN },
		{ .fd = a->fleet == NULL ? -1 : fleet_fd(a->fleet), .events = POLLIN },
		{ .fd = identities_fd(a->identities), .events = POLLIN },
	};
	int64_t wake = a->next_status_ns, planned = plan_wake_ns(a->plan, now_ns, clock_wall_ns());
	int64_t metered = meter_wake_ns(a->meter);
	nfds_t n = 5;

	wake = planned < wake ? planned : wake;
	wake = a->keeping == NULL ? wake : now_ns;
	wake = metered < wake ? metered : wake;
	if (a->fleet != NULL && fleet_wake_ns(a->fleet) < wake)
		wake = fleet_wake_ns(a->fleet);

	each_source(s, a) {
		int64_t its = s->type->wake_ns == NULL ? INT64_MAX : s->type->wake_ns(s->self, a->job_out);

		wake = its < wake ? its : wake;
		fds[n++] = (struct pollfd){ .fd = s->type->fd == NULL ? -1 : s->type->fd(s->self), .events = POLLIN };
	}
	poll(fds, n, timeout_ms(wake, now_ns));
}

static void step(struct agent *a)
{
	int64_t now = clock_mono_ns(), wall = clock_wall_ns();

	if (a->fleet != NULL)
		fleet_look(a->fleet, now, wall); /* a pause counts before anybody asks whose turn it is */
	plan_tick(a->plan, now, wall);
	each_source(s, a)
		if (s->type->look != NULL)
			s->type->look(s->self, now, wall);
	identities_look(a->identities);
	meter_look(a->meter, now);
	take_job(a, now);
	take_batches(a, now); /* before the sources that made them may be closed */
	outbox_take(a->outbox);
	if (a->reload && !a->job_out)
		reload(a);
	if (a->stopping)
		return;
	start_next_job(a, now);
	outbox_send(a->outbox);
	if (now >= a->next_status_ns) {
		if (a->next_status_ns > 0)
			say_status(a);
		a->next_status_ns = now + a->conf.status_ns;
	}
}

static bool sources_idle(const struct agent *a)
{
	each_source(s, a)
		if (s->type->idle != NULL && !s->type->idle(s->self))
			return false;
	return true;
}

static bool once_done(const struct agent *a)
{
	if (!a->options.once || a->job_out || !outbox_idle(a->outbox) || !sources_idle(a))
		return false;
	return outbox_gave_up(a->outbox) || outbox_state(a->outbox)->records == 0;
}

static bool none_stuck(const struct agent *a)
{
	each_source(s, a)
		if (s->type->stuck != NULL && s->type->stuck(s->self) > 0)
			return false;
	return true;
}

static bool all_shipped(const struct agent *a)
{
	const struct spool_state *st = outbox_state(a->outbox);

	return st->records == 0 && st->dropped == 0 && st->damaged == 0 && outbox_counts(a->outbox)->quarantined == 0 &&
	       a->counts.bad == 0 && a->counts.failed == 0 && none_stuck(a);
}

int agent_run(struct agent *a)
{
	log_info("agent.ready", "host=\"%s\" agent=%s server=\"%s\" folders=%zu waiting=%" PRIu64, a->host, a->id,
		a->conf.server, a->conf.watch.n, outbox_state(a->outbox)->records);
	proc_notify("READY=1");
	for (;;) {
		step(a);
		if (a->stopping || once_done(a))
			break;
		wait_for_something(a, clock_mono_ns());
		take_signal(a);
	}
	proc_notify("STOPPING=1");
	say_status(a);
	if (a->options.once)
		return all_shipped(a) ? 0 : AGENT_FAILED;
	return a->failed || outbox_gave_up(a->outbox) ? AGENT_FAILED : 0;
}
