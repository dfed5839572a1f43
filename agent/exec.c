#include "agent/exec.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/proc_find.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"

enum { EXEC_MAGIC = 0x45584543, UNREAD_MAX = 2, PROCESSES_MAX = 256, TEXTS_BYTES = 16 << 20, KEY_SHIFT = 10 };
_Static_assert(HARVEST_FILES_MAX < 1 << KEY_SHIFT, "a harvest's key fits into its part of ours");

/* The plan forgets whom it has not seen for a minute. */
static const int64_t look_every_ns = 20 * NS_PER_S;

VEC(seen, struct plan_worker);

struct command {
	struct exec_command_conf conf;
	struct errands *errands;
	struct seen workers; /* as they were last looked for */
	bool runs;	     /* its command is under way */
	size_t unread;	     /* runs that are not over */
};

VEC(runs, struct exec_run *);

struct exec {
	uint32_t magic;
	struct arena texts;
	struct plan *plan;
	struct identities *identities;
	const char *proc;
	struct exec_shared shared;
	struct command *commands;
	size_t n_commands;
	struct errands *harvesters; /* what commands left, and what becomes of their folders */
	int epoll_fd;
	struct runs runs;
	uint64_t last_id;
	int64_t look_ns;
	uint64_t counts[EXEC_ENDS];
};

static struct exec *own(void *self)
{
	return MAGIC_CHECK((struct exec *)self, EXEC_MAGIC);
}

static const struct exec *own_const(const void *self)
{
	return MAGIC_CHECK((const struct exec *)self, EXEC_MAGIC);
}

/* ---- configuration */

static bool is_name(const char *name)
{
	return name[0] != '\0' && strlen(name) < EXEC_NAME_TEXT &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")] == '\0';
}

static bool has_place(const struct conf_texts *words, struct str place)
{
	for (size_t i = 0; i < words->n; i++)
		if (str_contains(str_of(words->v[i]), place))
			return true;
	return false;
}

static int check_command(const struct exec_conf *cf, size_t i, struct err *e)
{
	const struct exec_command_conf *c = exec_conf_command(cf, i);

	if (!is_name(c->name))
		return err_set(e, E_USAGE, "exec.commands[%zu].name: \"%s\": want letters, digits, - and _", i, c->name);
	for (size_t k = 0; k < i; k++)
		if (strcmp(c->name, exec_conf_command(cf, k)->name) == 0)
			return err_set(e, E_USAGE, "exec.commands: %s stands there twice", c->name);
	if (c->command.n == 0)
		return err_set(e, E_USAGE, "exec.commands[%zu].command: %s has none, want [PROGRAM, ARGUMENT, …]", i, c->name);
	if (c->process[0] == '\0' && has_place(&c->command, STR("{pid}")))
		return err_set(e, E_USAGE, "exec.commands[%zu].command: %s has {pid}, but no process to find it by", i, c->name);
	return OK;
}

int exec_check(const struct exec_conf *cf, struct err *e)
{
	if (cf->commands.n > EXEC_COMMANDS_MAX)
		return err_set(e, E_USAGE, "exec.commands: want %d at most", EXEC_COMMANDS_MAX);
	for (size_t i = 0; i < cf->commands.n; i++)
		if (check_command(cf, i, e) < 0)
			return E_USAGE;
	return OK;
}

static char *copy_text(struct exec *x, const char *s)
{
	struct str copy = arena_text(&x->texts, s);

	return (char *)(uintptr_t)copy.p; /* nobody changes what a configuration says */
}

static void copy_command(struct exec *x, const struct exec_command_conf *from, struct exec_command_conf *to)
{
	*to = *from;
	to->name = copy_text(x, from->name);
	to->process = copy_text(x, from->process);
	to->service = copy_text(x, from->service);
	to->deploy = copy_text(x, from->deploy);
	to->worker = copy_text(x, from->worker);
	to->command.v = arena_get_array(&x->texts, from->command.n, sizeof(*to->command.v));
	for (size_t i = 0; to->command.v != NULL && i < from->command.n; i++)
		to->command.v[i] = copy_text(x, from->command.v[i]);
}

static int copy_settings(struct exec *x, const struct exec_settings *s, struct err *e)
{
	const struct decode_conf *d = s->decode;

	x->plan = s->plan;
	x->identities = s->identities;
	x->proc = copy_text(x, s->proc);
	x->n_commands = s->conf->commands.n;
	x->commands = mem_get_array(x->n_commands, sizeof(*x->commands));
	for (size_t i = 0; i < x->n_commands; i++)
		copy_command(x, exec_conf_command(s->conf, i), &x->commands[i].conf);
	for (size_t i = 0; i < x->n_commands; i++)
		x->commands[i].workers.cap = PROCESSES_MAX;
	x->shared = (struct exec_shared){
		.dir = arena_fmt(&x->texts, "%s/exec", s->state_dir).p,
		.keep = (size_t)d->keep,
		.decode = decode_settings_of(d, arena_fmt(&x->texts, "%s/decode.lock", s->state_dir).p),
	};
	x->shared.decode.program = copy_text(x, d->program);
	return arena_full(&x->texts) ? err_set(e, E_LIMIT, "exec.commands: more than %d bytes", TEXTS_BYTES) : OK;
}

/* ---- what became of it */

static void say_end(struct exec *x, const struct exec_run *r, enum exec_end end, const char *why, const char *cure)
{
	x->counts[end]++;
	if (cure == NULL)
		log_debug("exec.window", "command=%s pid=%ld end=%s", r->command->name, (long)r->pid, exec_end_word(end));
	else
		log_warn("exec.window", "command=%s pid=%ld service=\"%s\" end=%s reason=\"%s\" cure=\"%s\"", r->command->name,
			(long)r->pid, r->service, exec_end_word(end), why, cure);
}

/* The decoder's own reason that most sessions had; DECODE_TAKEN: all went well. */
static enum decode_end decode_trouble(const struct harvest_sum *sum)
{
	enum decode_end most = DECODE_TAKEN;

	for (enum decode_end end = 0; end < DECODE_ENDS; end++)
		if (decode_end_cure(end) != NULL && sum->decode_ends[end] > (most == DECODE_TAKEN ? 0 : sum->decode_ends[most]))
			most = end;
	return most;
}

static enum exec_end end_of_harvest(const struct exec_run *r)
{
	struct harvest_back_counts b = harvest_backs(r->harvest);

	if (b.kept > 0)
		return EXEC_TAKEN;
	if (b.bad > 0)
		return EXEC_BAD;
	if (b.empty > 0)
		return EXEC_EMPTY;
	if (decode_trouble(harvest_sum(r->harvest)) != DECODE_TAKEN)
		return EXEC_UNDECODED;
	return r->adopted ? EXEC_TAKEN : EXEC_NOTHING; /* adopted: all of it was durable before */
}

static void judge_harvest(struct exec *x, struct exec_run *r)
{
	const struct harvest_sum *sum = harvest_sum(r->harvest);
	enum decode_end trouble = decode_trouble(sum);

	r->end = end_of_harvest(r);
	if (r->end == EXEC_BAD)
		snprintf(r->why, sizeof(r->why), "%s", harvest_backs(r->harvest).bad_why);
	else
		memcpy(r->why, sum->why, sizeof(r->why));
	if (r->end != EXEC_UNDECODED)
		say_end(x, r, r->end, r->why, exec_end_cure(r->end));
	if (trouble != DECODE_TAKEN)
		say_end(x, r, EXEC_UNDECODED, sum->why, decode_end_cure(trouble));
}

static void end_order(struct exec *x, struct exec_run *r, int64_t now_ns)
{
	if (r->order != 0)
		plan_end(x->plan, r->order, r->end == EXEC_TAKEN, exec_end_word(r->end), now_ns);
	r->order = 0;
}

/* ---- runs */

static struct command *command_of(const struct exec *x, const struct exec_command_conf *conf)
{
	for (size_t i = 0; i < x->n_commands; i++)
		if (&x->commands[i].conf == conf)
			return &x->commands[i];
	return NULL;
}

static struct exec_run *run_add(struct exec *x, const struct exec_command_conf *conf)
{
	struct exec_run **place = vec_push(&x->runs);
	struct command *c = command_of(x, conf);

	if (place == NULL)
		return NULL;
	*place = exec_run_new(&x->shared, conf, ++x->last_id);
	if (c != NULL)
		c->unread++;
	return *place;
}

static void run_drop(struct exec *x, struct exec_run *r)
{
	struct command *c = command_of(x, r->command);

	vec_each(p, &x->runs)
		if (*p == r) {
			*p = x->runs.v[--x->runs.n];
			break;
		}
	if (c != NULL)
		c->unread--;
	exec_run_free(r);
}

static bool run_give(struct errands *to, struct exec_run *r)
{
	r->out = true; /* before it is given: it may be back at once */
	if (errands_give(to, &r->errand))
		return true;
	r->out = false;
	return false;
}

static void run_clean(struct exec *x, struct exec_run *r)
{
	r->phase = EXEC_CLEANING;
	harvest_free(r->harvest);
	r->harvest = NULL;
	if (!run_give(x->harvesters, r))
		run_drop(x, r); /* its folder is found at the next start; there is room for all runs, so this does not happen */
}

/* It is over before any trace was read, or instead. */
static void run_failed(struct exec *x, struct exec_run *r, int64_t now_ns)
{
	say_end(x, r, r->end, r->why, exec_end_cure(r->end));
	end_order(x, r, now_ns);
	run_clean(x, r);
}

static void run_over(struct exec *x, struct exec_run *r, int64_t now_ns)
{
	judge_harvest(x, r);
	end_order(x, r, now_ns);
	run_clean(x, r);
}

static void run_ran(struct exec *x, struct exec_run *r, int64_t now_ns)
{
	struct command *c = command_of(x, r->command);

	must(c != NULL);
	c->runs = false;
	if (r->order != 0)
		plan_over(x->plan, r->order);
	if (r->end != EXEC_TAKEN) {
		run_failed(x, r, now_ns);
		return;
	}
	r->phase = EXEC_HARVEST;
	if (!run_give(x->harvesters, r))
		run_drop(x, r);
}

static void run_back(struct exec *x, struct exec_run *r, int64_t now_ns)
{
	r->out = false;
	switch (r->phase) {
	case EXEC_COMMAND: run_ran(x, r, now_ns); break;
	case EXEC_HARVEST:
		if (r->harvest == NULL) {
			run_failed(x, r, now_ns);
		} else {
			r->phase = EXEC_READING;
			if (harvest_over(r->harvest))
				run_over(x, r, now_ns);
		}
		break;
	case EXEC_CLEANING: run_drop(x, r); break;
	case EXEC_READING: must(false && "it was not out");
	}
}

static void fetch(struct exec *x, struct errands *from, int64_t now_ns)
{
	struct errand *er;

	while ((er = errands_fetch(from)) != NULL)
		run_back(x, (struct exec_run *)er, now_ns);
}

/* ---- whom, and when */

static void name_host_run(const struct exec_command_conf *c, struct exec_run *r)
{
	snprintf(r->service, sizeof(r->service), "%s", c->service);
	snprintf(r->deploy, sizeof(r->deploy), "%s", c->deploy);
	snprintf(r->worker, sizeof(r->worker), "%s", c->worker);
}

/* What the process says of itself, else the configuration. False where it is gone, or another one by now. */
static bool identify(struct exec *x, const struct exec_command_conf *c, pid_t pid, struct identity *id, struct worker *who,
	int64_t now_ns)
{
	const struct identity_section section = { c->service, c->deploy, c->worker };

	if (!proc_find_is(x->proc, c->process, pid) || worker_read(who, x->proc, pid, NULL) < 0)
		return false;
	identities_read(x->identities, id, who, &section, now_ns);
	return true;
}

static void make_worker(const struct exec_command_conf *c, pid_t pid, struct plan_worker *w)
{
	*w = (struct plan_worker){ .source = exec_source.name, .pid = pid };
	if (pid > 0)
		snprintf(w->key, sizeof(w->key), "%s pid %d", c->name, (int)pid);
	else
		snprintf(w->key, sizeof(w->key), "%s", c->name);
}

static bool is_idle(const struct exec *x, const struct command *c)
{
	return !c->runs && c->unread < UNREAD_MAX && x->runs.n < EXEC_RUNS_MAX;
}

static void look_for_host(struct command *c)
{
	struct plan_worker *w = vec_push(&c->workers);

	if (w == NULL)
		return;
	make_worker(&c->conf, 0, w);
	snprintf(w->service, sizeof(w->service), "%s", c->conf.service);
	snprintf(w->deploy, sizeof(w->deploy), "%s", c->conf.deploy);
	snprintf(w->worker, sizeof(w->worker), "%s", c->conf.worker);
}

static void look_for_processes(struct exec *x, struct command *c, int64_t now_ns)
{
	pid_t pids[PROCESSES_MAX];
	size_t n = proc_find(x->proc, c->conf.process, pids, PROCESSES_MAX);

	for (size_t i = 0; i < n; i++) {
		struct plan_worker *w;
		struct identity id;
		struct worker who;

		if (!identify(x, &c->conf, pids[i], &id, &who, now_ns) || (w = vec_push(&c->workers)) == NULL)
			continue;
		make_worker(&c->conf, pids[i], w);
		snprintf(w->service, sizeof(w->service), "%s", id.service);
		snprintf(w->deploy, sizeof(w->deploy), "%s", id.deploy);
		snprintf(w->worker, sizeof(w->worker), "%s", id.worker);
		w->born_ns = now_ns - who.age_ns;
	}
}

/* The plan hears at once when a command is idle or not, also for those who wait for their turn with it. */
static void tell_plan(struct exec *x, struct command *c, int64_t now_ns, int64_t wall_ns)
{
	vec_each(w, &c->workers) {
		w->idle = is_idle(x, c);
		plan_seen(x->plan, w, now_ns, wall_ns);
	}
}

static void look_for_all(struct exec *x, int64_t now_ns)
{
	x->look_ns = now_ns + look_every_ns;
	for (size_t i = 0; i < x->n_commands; i++) {
		struct command *c = &x->commands[i];

		c->workers.n = 0;
		if (c->conf.process[0] == '\0')
			look_for_host(c);
		else
			look_for_processes(x, c, now_ns);
	}
}

/* The key is "NAME" or "NAME pid N". */
static struct command *command_of_key(const struct exec *x, struct str key, pid_t *pid)
{
	struct str name = str_split(&key, ' ');
	int64_t n = 0;

	*pid = 0;
	if (key.p != NULL && str_drop_prefix(&key, STR("pid ")) && str_to_i64(key, &n) == OK)
		*pid = (pid_t)n;
	for (size_t i = 0; i < x->n_commands; i++)
		if (str_eq(name, str_of(x->commands[i].conf.name)))
			return &x->commands[i];
	return NULL;
}

static struct exec_run *make_run(struct exec *x, struct command *c, pid_t pid, const struct plan_order *o, int64_t now_ns,
	int64_t wall_ns)
{
	struct identity id = { .service = "" };
	struct exec_run *r;
	struct worker who;

	if (!is_idle(x, c) || (pid > 0 && !identify(x, &c->conf, pid, &id, &who, now_ns)))
		return NULL;
	r = run_add(x, &c->conf);
	if (r == NULL)
		return NULL;
	r->pid = pid;
	r->duration_ns = o->duration_ns;
	r->iterations = o->iterations;
	name_host_run(&c->conf, r);
	if (pid > 0) {
		r->identity = id;
		memcpy(r->service, id.service, sizeof(r->service));
		memcpy(r->deploy, id.deploy, sizeof(r->deploy));
		memcpy(r->worker, id.worker, sizeof(r->worker));
	}
	snprintf(r->dir, sizeof(r->dir), "%s/%s.%020" PRId64, x->shared.dir, c->conf.name, wall_ns);
	return r;
}

static void take_order(struct exec *x, const struct plan_order *o, int64_t now_ns, int64_t wall_ns)
{
	pid_t pid;
	struct command *c = command_of_key(x, str_of(o->key), &pid);
	struct exec_run *r = c == NULL ? NULL : make_run(x, c, pid, o, now_ns, wall_ns);

	if (r != NULL) {
		r->order = o->id;
		c->runs = run_give(c->errands, r);
		if (c->runs) {
			log_debug("exec.started", "command=%s pid=%ld dir=\"%s\"", c->conf.name, (long)pid, r->dir);
			tell_plan(x, c, now_ns, wall_ns);
			return;
		}
		run_drop(x, r);
	}
	plan_unsent(x->plan, o->id, now_ns);
}

/* ---- as the agent's loop sees it */

static int on_fd(void *self)
{
	return own(self)->epoll_fd;
}

static void on_look(void *self, int64_t now_ns, int64_t wall_ns)
{
	struct exec *x = own(self);
	struct plan_order o;

	for (size_t i = 0; i < x->n_commands; i++)
		fetch(x, x->commands[i].errands, now_ns);
	fetch(x, x->harvesters, now_ns);
	if (now_ns >= x->look_ns)
		look_for_all(x, now_ns);
	for (size_t i = 0; i < x->n_commands; i++)
		tell_plan(x, &x->commands[i], now_ns, wall_ns);
	while (plan_next(x->plan, exec_source.name, now_ns, wall_ns, &o))
		take_order(x, &o, now_ns, wall_ns);
}

static int64_t on_wake(const void *self, bool busy)
{
	const struct exec *x = own_const(self);
	int64_t wake = x->look_ns;

	for (size_t i = 0; !busy && i < x->runs.n; i++)
		if (x->runs.v[i]->phase == EXEC_READING && harvest_wake_ns(x->runs.v[i]->harvest) < wake)
			wake = harvest_wake_ns(x->runs.v[i]->harvest);
	return wake;
}

/* The oldest first, and a run's traces one after the other. */
static bool on_next(void *self, int64_t now_ns, struct source_trace *out)
{
	struct exec *x = own(self);
	struct exec_run *best = NULL;

	for (size_t i = 0; i < x->runs.n; i++) {
		struct exec_run *r = x->runs.v[i];

		if (r->phase == EXEC_READING && harvest_wake_ns(r->harvest) <= now_ns && (best == NULL || r->id < best->id))
			best = r;
	}
	if (best == NULL)
		return false;
	if (harvest_next(best->harvest, now_ns, out)) {
		out->key |= best->id << KEY_SHIFT;
		out->order = best->order;
		return true;
	}
	if (harvest_over(best->harvest)) /* somebody else removed what was left */
		run_over(x, best, now_ns);
	return false;
}

static void on_back(void *self, uint64_t key, const struct source_result *result, int64_t now_ns)
{
	struct exec *x = own(self);
	struct exec_run *r = NULL;

	vec_each(p, &x->runs)
		if ((*p)->id == key >> KEY_SHIFT)
			r = *p;
	must(r != NULL && r->phase == EXEC_READING);
	harvest_back(r->harvest, key & ((1 << KEY_SHIFT) - 1), result, now_ns);
	if (harvest_over(r->harvest))
		run_over(x, r, now_ns);
}

static void on_status(const void *self)
{
	const struct exec *x = own_const(self);
	struct buf b;

	buf_init(&b, 4096);
	for (size_t i = 0; i < EXEC_ENDS; i++)
		buf_fmt(&b, " %s=%" PRIu64, exec_end_word((enum exec_end)i), x->counts[i]);
	log_info("exec.status", "commands=%zu runs=%zu%.*s", x->n_commands, x->runs.n, STR_ARG(buf_view(&b)));
	buf_fini(&b);
}

static bool on_idle(const void *self)
{
	return own_const(self)->runs.n == 0;
}

/* Runs that a thread has are freed by it. */
static void on_close(void *self)
{
	struct exec *x = own(self);

	vec_each(p, &x->runs)
		if (!(*p)->out)
			exec_run_free(*p);
	for (size_t i = 0; i < x->n_commands; i++) {
		errands_stop(x->commands[i].errands);
		vec_fini(&x->commands[i].workers);
	}
	errands_stop(x->harvesters);
	vec_fini(&x->runs);
	if (x->epoll_fd >= 0)
		close(x->epoll_fd);
	mem_free(x->commands);
	arena_fini(&x->texts);
	x->magic = MAGIC_DEAD;
	mem_free(x);
}

const struct source_type exec_source = {
	.name = "exec",
	.close = on_close,
	.fd = on_fd,
	.look = on_look,
	.wake_ns = on_wake,
	.next = on_next,
	.back = on_back,
	.status = on_status,
	.idle = on_idle,
};

uint64_t exec_count(const struct source *s, enum exec_end end)
{
	return own_const(s->self)->counts[end];
}

/* ---- what an earlier agent left */

static const struct exec_command_conf gone_command = { .name = (char *)(uintptr_t) "(gone)" };

/* "NAME.<digits>" */
static const struct exec_command_conf *conf_of_folder(const struct exec *x, const char *name)
{
	const char *point = strrchr(name, '.');

	for (size_t i = 0; point != NULL && i < x->n_commands; i++)
		if (str_eq(str_make(name, (size_t)(point - name)), str_of(x->commands[i].conf.name)))
			return &x->commands[i].conf;
	return NULL;
}

static void take_folder(struct exec *x, const char *name)
{
	const struct exec_command_conf *conf = conf_of_folder(x, name);
	char dir[PATH_MAX];
	struct exec_run *r;
	struct stat st;

	if (snprintf(dir, sizeof(dir), "%s/%s", x->shared.dir, name) >= PATH_MAX || lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		return;
	r = run_add(x, conf == NULL ? &gone_command : conf);
	if (r == NULL)
		return; /* the rest at the next start */
	if (!exec_run_adopt(r, dir) || conf == NULL) {
		r->end = EXEC_LOST;
		r->phase = EXEC_CLEANING;
		say_end(x, r, EXEC_LOST, dir, exec_end_cure(EXEC_LOST));
	}
	if (!run_give(x->harvesters, r))
		run_drop(x, r);
}

static bool is_run(const char *name)
{
	return name[0] != '.' && strcmp(name, "kept") != 0;
}

static void take_folders(struct exec *x)
{
	DIR *d = opendir(x->shared.dir);

	for (struct dirent *ent; d != NULL && (ent = readdir(d)) != NULL;)
		if (is_run(ent->d_name))
			take_folder(x, ent->d_name);
	if (d != NULL)
		closedir(d);
}

static bool has_folders(const struct exec *x)
{
	DIR *d = opendir(x->shared.dir);
	bool any = false;

	for (struct dirent *ent; d != NULL && (ent = readdir(d)) != NULL;)
		any = any || is_run(ent->d_name);
	if (d != NULL)
		closedir(d);
	return any;
}

/* ---- life */

static int start_thread(struct exec *x, struct errands **out, const char *name, size_t cap, struct err *e)
{
	struct epoll_event event = { .events = EPOLLIN };
	int rc = errands_start(out, name, cap, e);

	if (rc == OK && epoll_ctl(x->epoll_fd, EPOLL_CTL_ADD, errands_fd(*out), &event) < 0)
		rc = err_sys(e, "epoll");
	return rc;
}

static int start_threads(struct exec *x, struct err *e)
{
	int rc;

	x->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (x->epoll_fd < 0)
		return err_sys(e, "epoll");
	rc = start_thread(x, &x->harvesters, "exec-harvest", EXEC_RUNS_MAX, e);
	for (size_t i = 0; i < x->n_commands && rc == OK; i++)
		rc = start_thread(x, &x->commands[i].errands, "exec", 1, e);
	return rc;
}

int exec_open(struct source *out, const struct exec_settings *s, struct err *e)
{
	struct exec *x = mem_get(sizeof(*x));
	int rc;

	x->magic = EXEC_MAGIC;
	x->epoll_fd = -1;
	x->runs.cap = EXEC_RUNS_MAX;
	arena_init(&x->texts, TEXTS_BYTES);
	rc = exec_check(s->conf, e);
	if (rc == OK)
		rc = copy_settings(x, s, e);
	if (rc == OK && x->n_commands == 0 && !has_folders(x)) {
		on_close(x);
		return OK;
	}
	if (rc == OK)
		rc = start_threads(x, e);
	if (rc < 0) {
		on_close(x);
		return rc;
	}
	take_folders(x);
	*out = (struct source){ &exec_source, x };
	return OK;
}
