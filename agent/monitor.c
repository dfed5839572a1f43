#include "agent/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/must.h"
#include "base/vec.h"
#include "trace/neuron_monitor.h"

enum {
	MONITOR_MAGIC = 0x6d6f6e69,
	MONITOR_NICE = 5,
	CHUNK_BYTES = 64 << 10,
	LOOK_BYTES_MAX = 1 << 20, /* read at one look, so that others get their turn */
	FLOOD_BYTES = 64 << 20,	  /* in the time of one window */
	FLOOD_REPORTS = 4000,
	ERR_TEXT = 200,
	PROCESSES_MAX = 1024,
	GROUPS_MAX = 64,
	FOLD_BYTES_MAX = 32 << 20,
	ENV_MAX = 4096,
	TRIES_MAX = 20,
};

static const int64_t again_first_ns = NS_PER_S, again_max_ns = 5 * NS_PER_MIN, kill_after_ns = 2 * NS_PER_S,
		     close_grace_ns = NS_PER_S / 2, ending_look_ns = 100 * NS_PER_MS;

static const struct {
	const char *word, *cure;
} troubles[] = {
	[MONITOR_NO_PROGRAM] = { "no_program", "install aws-neuronx-tools, or name the program: neuron_monitor.command" },
	[MONITOR_ENDED] = { "ended", "run it by hand: is the Neuron driver loaded" },
	[MONITOR_HUNG] = { "hung", "run it by hand; with a period of its own longer than neuron_monitor.timeout, raise that" },
	[MONITOR_FLOOD] = { "flood", "it reports far more often than neuron_monitor.interval: give it a longer period" },
	[MONITOR_BAD_LINE] = { "bad_line", "what it prints is no report: is neuron_monitor.command neuron-monitor itself" },
	[MONITOR_LONG_LINE] = { "long_line", "a report of more than 4 MiB: give it fewer groups (neuron_monitor.config)" },
	[MONITOR_SILENT] = { "silent", "no report in the time of a window: is its period longer than neuron_monitor.interval" },
};
_Static_assert(COUNT(troubles) == MONITOR_TROUBLES, "name every trouble");

const char *monitor_trouble_word(enum monitor_trouble t)
{
	return troubles[t].word;
}

/* A process that reports, and whose it is. */
struct process {
	int64_t pid;
	struct str tag; /* the fold's; empty once that is over */
	bool known;	/* looked at in this fold */
	uint64_t executions; /* completed since it was first seen */
	char service[WORKER_TEXT], deploy[WORKER_TEXT], worker[WORKER_TEXT];
};
VEC(processes, struct process);

struct monitor {
	uint32_t magic;
	struct monitor_settings set;
	int epoll_fd;
	/* the child */
	struct child *child;
	int64_t start_ns; /* when to start it; mono */
	int64_t began_ns, heard_ns, term_ns; /* its start, its last report, SIGTERM (0: not sent) */
	bool killed, ending, has_reported; /* ending: look often */
	int64_t look_ns;
	unsigned tries;
	struct buf line;
	bool skipping; /* the rest of a line that is too long */
	char err[ERR_TEXT]; /* the last it said on standard error */
	/* the window at hand */
	struct arena arena;
	struct neuron_monitor *fold;
	int64_t fold_ns, fold_wall_ns; /* since when; 0: no fold */
	uint64_t fold_reports, fold_bytes;
	struct processes processes;
	struct report_queue queue;
	uint64_t counts[MONITOR_TROUBLES], reports, lost_values;
	bool silent_said;
};

static struct monitor *own(void *self)
{
	return MAGIC_CHECK((struct monitor *)self, MONITOR_MAGIC);
}

static const struct monitor *own_const(const void *self)
{
	return MAGIC_CHECK((const struct monitor *)self, MONITOR_MAGIC);
}

static void say(struct monitor *m, enum monitor_trouble t, const char *what)
{
	m->counts[t]++;
	log_warn("neuron-monitor.trouble", "what=%s reason=\"%s\" cure=\"%s\"", troubles[t].word, what, troubles[t].cure);
}

/* ---- the child */

/* Ours but for what is only meant for us: the token, and systemd's socket. */
static void make_env(const char *env[ENV_MAX])
{
	static const char *const ours[] = { "TRAINSPOTTER_", "NOTIFY_SOCKET=", "LISTEN_" };
	size_t n = 0;

	for (char **var = environ; *var != NULL && n < ENV_MAX - 1; var++) {
		bool pass = true;

		for (size_t i = 0; i < COUNT(ours); i++)
			pass = pass && !str_has_prefix(str_of(*var), str_of(ours[i]));
		if (pass)
			env[n++] = *var;
	}
	env[n] = NULL;
}

static int listen_to(struct monitor *m, int fd, struct err *e)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? err_sys(e, "epoll") : OK;
}

static void start_again_later(struct monitor *m, int64_t now_ns)
{
	int64_t wait = m->set.again_first_ns;

	for (unsigned i = 0; i < m->tries && wait < again_max_ns; i++)
		wait *= 2;
	m->tries += m->tries < TRIES_MAX;
	m->start_ns = now_ns + (wait < again_max_ns ? wait : again_max_ns);
}

static void start_child(struct monitor *m, int64_t now_ns)
{
	const struct neuron_monitor_conf *cf = m->set.conf;
	const char *const plain[] = { cf->command, NULL }, *const with[] = { cf->command, "-c", cf->config, NULL };
	const char *env[ENV_MAX];
	const struct child_settings s = { .argv = cf->config[0] == '\0' ? plain : with, .env = env, .nice = MONITOR_NICE };
	struct err e = { 0 };

	make_env(env);
	if (child_start(&m->child, &s, &e) < 0 || listen_to(m, child_out_fd(m->child), &e) < 0 ||
		listen_to(m, child_err_fd(m->child), &e) < 0) {
		child_close(m->child, 0);
		m->child = NULL;
		say(m, MONITOR_NO_PROGRAM, e.text);
		start_again_later(m, now_ns);
		return;
	}
	m->began_ns = m->heard_ns = now_ns;
	m->term_ns = 0;
	m->killed = m->ending = m->has_reported = m->skipping = false;
	m->err[0] = '\0';
	buf_reset(&m->line);
	log_info("neuron-monitor.started", "pid=%ld", (long)child_pid(m->child));
}

/* It ended, by whomever's will. */
static void drop_child(struct monitor *m, const struct child_end *end, int64_t now_ns)
{
	char what[ERR_TEXT + 64];

	if (m->term_ns == 0) {
		if (end->exited)
			snprintf(what, sizeof(what), "exit status %d, %s", end->status, m->err);
		else
			snprintf(what, sizeof(what), "signal %d, %s", end->signal, m->err);
		say(m, MONITOR_ENDED, what);
	}
	child_close(m->child, 0);
	m->child = NULL;
	if (m->has_reported && now_ns - m->began_ns > NS_PER_MIN)
		m->tries = 0;
	start_again_later(m, now_ns);
}

static void end_child(struct monitor *m, enum monitor_trouble why, int64_t now_ns)
{
	if (m->term_ns != 0)
		return;
	say(m, why, m->err);
	child_signal(m->child, SIGTERM);
	m->term_ns = now_ns;
	m->ending = true;
}

/* ---- reports */

static struct process *process_of(struct monitor *m, int64_t pid)
{
	struct process *p;

	vec_each(old, &m->processes)
		if (old->pid == pid)
			return old;
	p = vec_push(&m->processes);
	if (p != NULL)
		p->pid = pid;
	return p;
}

/* Whose it is, asked once a window. */
static void know(struct monitor *m, struct process *p, struct str tag, int64_t now_ns)
{
	struct worker w = { .pid = (pid_t)p->pid };
	struct identity id;

	if (p->known)
		return;
	p->known = true;
	if (worker_read(&w, m->set.proc, (pid_t)p->pid, NULL) < 0)
		w = (struct worker){ .pid = (pid_t)p->pid };
	if (w.service[0] == '\0' && worker_is_name(tag, sizeof(w.service)))
		str_copy_to(tag, w.service, sizeof(w.service));
	identities_read(m->set.ids, &id, &w, &(struct identity_section){ m->set.conf->service, m->set.conf->deploy, "" }, now_ns);
	snprintf(p->service, sizeof(p->service), "%s", id.service);
	snprintf(p->deploy, sizeof(p->deploy), "%s", id.deploy);
	snprintf(p->worker, sizeof(p->worker), "%s", id.worker);
}

static void count_executions(struct monitor *m, struct process *p, const struct neuron_runtime *r, int64_t now_ns)
{
	if (r->completed < 0)
		return;
	p->executions += (uint64_t)r->completed; /* at most 1e18 a report, so it only grows in anybody's lifetime */
	meter_count_pid(m->set.meter, (pid_t)r->pid, COST_EXECUTIONS, now_ns, p->executions);
}

static void take_runtimes(struct monitor *m, int64_t now_ns)
{
	size_t n;
	const struct neuron_runtime *r = neuron_monitor_runtimes(m->fold, &n);

	for (size_t i = 0; i < n; i++) {
		/* a number that is no pid must not become somebody else's */
		struct process *p = r[i].in_last && r[i].pid <= INT32_MAX ? process_of(m, r[i].pid) : NULL;

		if (p == NULL)
			continue;
		know(m, p, r[i].tag, now_ns);
		count_executions(m, p, &r[i], now_ns);
	}
}

static void take_line(struct monitor *m, struct str line, int64_t now_ns)
{
	struct err e = { 0 };

	if (str_trim(line).n == 0)
		return;
	if (neuron_monitor_add(m->fold, line, &e) < 0) {
		say(m, MONITOR_BAD_LINE, e.text);
		return;
	}
	m->reports++;
	m->fold_reports++;
	m->has_reported = true;
	m->heard_ns = now_ns;
	take_runtimes(m, now_ns);
}

static void take_lines(struct monitor *m, int64_t now_ns)
{
	struct str rest = buf_view(&m->line);
	size_t used = 0;

	for (;;) {
		size_t n = str_find_byte(rest, '\n');

		if (n == rest.n)
			break;
		if (!m->skipping)
			take_line(m, str_upto(rest, n), now_ns);
		m->skipping = false;
		rest = str_from(rest, n + 1);
		used += n + 1;
	}
	buf_cut(&m->line, used);
	if (m->line.n <= MONITOR_LINE_MAX)
		return;
	if (!m->skipping)
		say(m, MONITOR_LONG_LINE, m->err);
	m->skipping = true;
	buf_reset(&m->line);
}

/* False: nothing there now. */
static bool read_out(struct monitor *m, int64_t now_ns)
{
	void *room = buf_room(&m->line, CHUNK_BYTES);
	ssize_t n;

	if (room == NULL) { /* no memory: a line is cut before the ceiling */
		buf_reset(&m->line);
		m->skipping = true;
		return false;
	}
	n = read(child_out_fd(m->child), room, CHUNK_BYTES);
	if (n == 0) { /* it has closed it: it ends, or never says a word again */
		epoll_ctl(m->epoll_fd, EPOLL_CTL_DEL, child_out_fd(m->child), NULL);
		m->ending = true;
	}
	if (n <= 0)
		return n < 0 && errno == EINTR;
	buf_used(&m->line, (size_t)n);
	m->fold_bytes += (uint64_t)n;
	take_lines(m, now_ns);
	return true;
}

/* Keeps the last line that it said, for the log. */
static bool read_err(struct monitor *m)
{
	char chunk[4096];
	ssize_t n = read(child_err_fd(m->child), chunk, sizeof(chunk));
	struct str rest;

	if (n == 0)
		epoll_ctl(m->epoll_fd, EPOLL_CTL_DEL, child_err_fd(m->child), NULL);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	rest = str_make(chunk, (size_t)n);
	while (rest.p != NULL) {
		struct str line = str_trim(str_split(&rest, '\n'));

		if (line.n > 0)
			m->err[str_tame(line.p, str_upto(line, ERR_TEXT - 1).n, m->err)] = '\0';
	}
	return true;
}

static void hear(struct monitor *m, int64_t now_ns)
{
	for (int i = 0; i < LOOK_BYTES_MAX / CHUNK_BYTES && read_out(m, now_ns); i++)
		;
	for (int i = 0; i < 16 && read_err(m); i++)
		;
}

static void look_at_child(struct monitor *m, int64_t now_ns)
{
	struct child_end end;

	if (child_ended(m->child, &end)) {
		hear(m, now_ns); /* what it said before */
		drop_child(m, &end, now_ns);
		return;
	}
	if (m->fold_bytes > FLOOD_BYTES || m->fold_reports > FLOOD_REPORTS)
		end_child(m, MONITOR_FLOOD, now_ns);
	else if (now_ns - m->heard_ns >= m->set.conf->timeout_ns)
		end_child(m, MONITOR_HUNG, now_ns);
	if (m->term_ns != 0 && !m->killed && now_ns - m->term_ns >= kill_after_ns) {
		child_signal(m->child, SIGKILL);
		m->killed = true;
	}
}

/* ---- windows */

struct group {
	struct str service, deploy;
	struct gauge *gauges;
	size_t n;
};

/* The fold, taken apart. The last group is the host's own until it is known whose that is. */
struct parts {
	struct monitor *m;
	struct window *w;
	struct group groups[GROUPS_MAX];
	size_t n_groups;
	uint8_t *of; /* each gauge's group */
};

static size_t group_of(struct parts *p, struct str service, struct str deploy)
{
	for (size_t i = 0; i < p->n_groups; i++)
		if (str_eq(p->groups[i].service, service) && str_eq(p->groups[i].deploy, deploy))
			return i;
	if (p->n_groups == GROUPS_MAX)
		return GROUPS_MAX - 1;
	p->groups[p->n_groups] = (struct group){ .service = service, .deploy = deploy };
	return p->n_groups++;
}

static struct label *pid_label(const struct gauge *g)
{
	for (size_t i = 0; i < g->n_labels; i++)
		if (str_eq(g->labels[i].key, STR("pid")))
			return &g->labels[i];
	return NULL;
}

static struct process *process_known(struct monitor *m, struct str pid)
{
	int64_t number;

	if (str_to_i64(pid, &number) < 0)
		return NULL;
	vec_each(p, &m->processes)
		if (p->pid == number)
			return p;
	return NULL;
}

/* A process's gauge gets its group, and the worker's name in place of the pid. */
static void place_runtimes(struct parts *p)
{
	for (size_t i = 0; i < p->w->n_gauges; i++) {
		struct label *label = pid_label(&p->w->gauges[i]);
		struct process *proc = label == NULL ? NULL : process_known(p->m, label->value);

		p->of[i] = GROUPS_MAX;
		if (proc == NULL)
			continue;
		p->of[i] = (uint8_t)group_of(p, str_of(proc->service), str_of(proc->deploy));
		if (proc->worker[0] != '\0')
			*label = (struct label){ STR("worker"), str_of(proc->worker) };
	}
}

static void place_host(struct parts *p)
{
	const struct neuron_monitor_conf *cf = p->m->set.conf;
	size_t host = cf->service[0] == '\0' && p->n_groups == 1 ? 0 :
		group_of(p, str_of(cf->service), str_of(cf->deploy));

	for (size_t i = 0; i < p->w->n_gauges; i++)
		if (p->of[i] == GROUPS_MAX)
			p->of[i] = (uint8_t)host;
}

/* Zeros are left out, as sysfs leaves them out: most of the errors and kinds of memory are, all the time. */
static bool share_out(struct parts *p, struct arena *a)
{
	for (size_t i = 0; i < p->n_groups; i++) {
		struct group *g = &p->groups[i];

		g->gauges = arena_get_array(a, p->w->n_gauges, sizeof(*g->gauges));
		if (g->gauges == NULL)
			return false;
		for (size_t k = 0; k < p->w->n_gauges; k++)
			if (p->of[k] == i && p->w->gauges[k].value != 0)
				g->gauges[g->n++] = p->w->gauges[k];
	}
	return true;
}

static int push_groups(struct parts *p, int64_t wall_ns, int64_t dur_ns, struct err *e)
{
	int rc = OK;

	for (size_t i = 0; i < p->n_groups; i++) {
		const struct group *g = &p->groups[i];
		struct window w = { .service = g->service, .deploy = g->deploy, .start_ns = wall_ns, .dur_ns = dur_ns,
			.events = p->w->events, .labels = p->w->labels, .n_labels = p->w->n_labels,
			.versions = p->w->versions, .n_versions = p->w->n_versions, .gauges = g->gauges, .n_gauges = g->n };
		int pushed = g->n == 0 ? OK : report_push(&p->m->queue, &p->m->set.origin, monitor_source.name, &w, e);

		rc = pushed < 0 ? pushed : rc;
	}
	return rc;
}

static int make_windows(struct monitor *m, struct window *w, int64_t dur_ns, struct err *e)
{
	struct parts p = { .m = m, .w = w };

	p.of = arena_get_array(&m->arena, w->n_gauges, sizeof(*p.of));
	if (p.of == NULL)
		return err_set(e, E_NOMEM, "no memory for %zu gauges", w->n_gauges);
	place_runtimes(&p);
	place_host(&p);
	if (!share_out(&p, &m->arena))
		return err_set(e, E_LIMIT, "more gauges than fit");
	return push_groups(&p, m->fold_wall_ns, dur_ns, e);
}

/* Those that were not in this window's reports go. */
static void forget_processes(struct monitor *m)
{
	for (size_t i = m->processes.n; i-- > 0;) {
		if (m->processes.v[i].known)
			m->processes.v[i].known = false;
		else
			m->processes.v[i] = m->processes.v[--m->processes.n];
	}
}

static void begin_fold(struct monitor *m, int64_t now_ns, int64_t wall_ns)
{
	arena_init(&m->arena, FOLD_BYTES_MAX);
	m->fold = neuron_monitor_new(&m->arena);
	m->fold_ns = now_ns;
	m->fold_wall_ns = wall_ns;
	m->fold_reports = m->fold_bytes = 0;
}

static void drop_fold(struct monitor *m)
{
	if (m->fold == NULL)
		return;
	m->lost_values += neuron_monitor_lost(m->fold);
	neuron_monitor_free(m->fold);
	m->fold = NULL;
	arena_fini(&m->arena);
}

static void say_silent(struct monitor *m)
{
	m->counts[MONITOR_SILENT]++;
	if (!m->silent_said && m->child != NULL)
		log_warn("neuron-monitor.trouble", "what=%s reason=\"%s\" cure=\"%s\"", troubles[MONITOR_SILENT].word, m->err,
			troubles[MONITOR_SILENT].cure);
	m->silent_said = true;
}

static void end_fold(struct monitor *m, int64_t now_ns, int64_t wall_ns)
{
	struct err e = { 0 };
	struct window w;
	int rc;

	if (m->fold_reports == 0) {
		say_silent(m);
	} else {
		m->silent_said = false;
		rc = neuron_monitor_finish(m->fold, &w, &e);
		if (rc == OK)
			rc = make_windows(m, &w, now_ns - m->fold_ns, &e);
		if (rc < 0)
			log_error("neuron-monitor.lost", "reports=%" PRIu64 " err=\"%s\"", m->fold_reports, e.text);
	}
	forget_processes(m);
	drop_fold(m);
	begin_fold(m, now_ns, wall_ns);
}

/* ---- the source */

static void on_look(void *self, int64_t now_ns, int64_t wall_ns)
{
	struct monitor *m = own(self);

	if (m->fold == NULL)
		begin_fold(m, now_ns, wall_ns);
	if (m->child != NULL) {
		hear(m, now_ns);
		look_at_child(m, now_ns);
	}
	if (now_ns - m->fold_ns >= m->set.conf->interval_ns)
		end_fold(m, now_ns, wall_ns);
	if (m->child == NULL && now_ns >= m->start_ns)
		start_child(m, now_ns);
	m->look_ns = m->child != NULL && m->ending ? now_ns + ending_look_ns : INT64_MAX;
}

static int64_t on_wake(const void *self, bool busy)
{
	const struct monitor *m = own_const(self);
	int64_t wake = m->fold == NULL ? 0 : m->fold_ns + m->set.conf->interval_ns;

	(void)busy;
	if (m->child == NULL)
		return clock_earlier(wake, m->start_ns);
	wake = clock_earlier(wake, m->look_ns);
	return m->term_ns != 0 ? wake : clock_earlier(wake, m->heard_ns + m->set.conf->timeout_ns);
}

static int on_fd(void *self)
{
	return own(self)->epoll_fd;
}

static bool on_batch(void *self, int64_t now_ns, struct buf *out)
{
	(void)now_ns;
	return report_pop(&own(self)->queue, out);
}

static void on_status(const void *self)
{
	const struct monitor *m = own_const(self);
	struct buf b;

	buf_init(&b, 1024);
	for (size_t i = 0; i < MONITOR_TROUBLES; i++)
		buf_fmt(&b, " %s=%" PRIu64, troubles[i].word, m->counts[i]);
	log_info("neuron-monitor.status", "running=%s reports=%" PRIu64 " windows=%" PRIu64 " lost=%" PRIu64
		" lost_values=%" PRIu64 "%.*s", m->child == NULL ? "no" : "yes", m->reports, m->queue.made, m->queue.lost,
		m->lost_values, STR_ARG(buf_view(&b)));
	buf_fini(&b);
}

static void on_close(void *self)
{
	struct monitor *m = own(self);

	child_close(m->child, close_grace_ns);
	drop_fold(m);
	report_queue_fini(&m->queue);
	vec_fini(&m->processes);
	buf_fini(&m->line);
	if (m->epoll_fd >= 0)
		close(m->epoll_fd);
	m->magic = MAGIC_DEAD;
	mem_free(m);
}

const struct source_type monitor_source = {
	.name = "neuron-monitor",
	.close = on_close,
	.fd = on_fd,
	.look = on_look,
	.wake_ns = on_wake,
	.batch = on_batch,
	.status = on_status,
};

int monitor_open(struct source *out, const struct monitor_settings *s, struct err *e)
{
	struct monitor *m = mem_get(sizeof(*m));

	m->magic = MONITOR_MAGIC;
	m->set = *s;
	if (m->set.again_first_ns == 0)
		m->set.again_first_ns = again_first_ns;
	m->processes.cap = PROCESSES_MAX;
	buf_init(&m->line, MONITOR_LINE_MAX + 2 * CHUNK_BYTES);
	report_queue_init(&m->queue);
	m->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (m->epoll_fd < 0) {
		on_close(m);
		return err_sys(e, "epoll");
	}
	*out = (struct source){ &monitor_source, m };
	return OK;
}

uint64_t monitor_count(const struct source *s, enum monitor_trouble t)
{
	return own_const(s->self)->counts[t];
}
