#include "agent/meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/watch.h"
#include "agent/worker.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"

#define TRACE_PREFIX "trainspotter-" /* as python/trainspotter.py names them */

enum { FOLDERS_MAX = 256, ENTRIES_MAX = 100000 };

static const int64_t every_ns = 10 * NS_PER_S, list_every_ns = NS_PER_MIN;
/* So long after a window's end the counter may still tell of the time before it: the helper writes it every 50 ms. */
static const int64_t settle_ns = NS_PER_S / 4;
/* When a process was born is known to a tick of the kernel's. */
static const int64_t born_slack_ns = NS_PER_S;
/* A step may be later than the beginning of the turn in which it is read. */
static const int64_t ahead_ns = NS_PER_MIN;
/* Tracks of jobs that the plan does not know have numbers that it does not give. */
static const uint64_t unplanned = UINT64_C(1) << 63;

struct file { /* a step counter */
	char *path;
	size_t folder;
	pid_t pid; /* as its job sees itself */
	uint64_t space; /* the pid namespace that its name tells; 0: none */
	bool listed;
};

struct seat { /* a worker of the plan's */
	uint64_t worker;
	pid_t pid, own_pid;
	uint64_t space; /* of own_pid; 0: not known */
	int64_t born_ns;
	bool seen, planned; /* planned: the plan has a window of its process out */
	bool out;	    /* the same, and what a window leaves to do is not over yet */
	bool inside[COST_COUNTERS]; /* a window was under way since the last reading of this counter */
	int64_t out_ns;	    /* when it last was */
};

VEC(files, struct file);
VEC(seats, struct seat);

struct meter {
	struct cost *cost;
	struct plan *plan;
	char *proc;
	char *folders[FOLDERS_MAX];
	size_t n_folders;
	struct files files;
	struct seats seats;
	int64_t now_ns;
	int64_t read_ns, list_ns; /* when to do so next */
};

struct meter *meter_new(const struct cost_settings *s, struct plan *plan, const char *proc)
{
	struct meter *m = mem_get(sizeof(*m));

	m->cost = cost_new(s);
	m->plan = plan;
	m->proc = mem_dup_text(proc);
	m->files.cap = METER_FILES_MAX;
	m->seats.cap = PLAN_WORKERS_MAX;
	return m;
}

static void drop_folders(struct meter *m)
{
	vec_each(f, &m->files)
		mem_free(f->path);
	m->files.n = 0;
	for (size_t i = 0; i < m->n_folders; i++)
		mem_free(m->folders[i]);
	m->n_folders = 0;
}

void meter_free(struct meter *m)
{
	if (m == NULL)
		return;
	drop_folders(m);
	vec_fini(&m->files);
	vec_fini(&m->seats);
	cost_free(m->cost);
	mem_free(m->proc);
	mem_free(m);
}

void meter_set(struct meter *m, const struct cost_settings *s)
{
	cost_set(m->cost, s);
}

void meter_folders(struct meter *m, const char *const *dirs, size_t n)
{
	drop_folders(m);
	for (size_t i = 0; i < n && i < FOLDERS_MAX; i++)
		m->folders[m->n_folders++] = mem_dup_text(dirs[i]);
	m->list_ns = 0;
}

/* ---- which counters are there */

/* "4711.steps" → 4711, "4711.4026532001.steps" → with its namespace, too. */
static bool parse_name(struct str name, pid_t *pid, uint64_t *space)
{
	struct str first;
	uint64_t n;

	*space = 0;
	if (!str_drop_suffix(&name, STR(WATCH_STEPS)))
		return false;
	first = str_split(&name, '.');
	if (str_to_u64(first, &n) < 0 || n == 0 || n > INT_MAX || (name.p != NULL && (str_to_u64(name, space) < 0 || *space == 0)))
		return false;
	*pid = (pid_t)n;
	return true;
}

static bool path_of(const struct meter *m, size_t folder, pid_t pid, uint64_t space, char out[PATH_MAX])
{
	int n = space == 0 ? snprintf(out, PATH_MAX, "%s/%ld" WATCH_STEPS, m->folders[folder], (long)pid)
			   : snprintf(out, PATH_MAX, "%s/%ld.%" PRIu64 WATCH_STEPS, m->folders[folder], (long)pid, space);

	return n < PATH_MAX;
}

static struct file *find_file(const struct meter *m, size_t folder, pid_t pid, uint64_t space)
{
	vec_each(f, &m->files)
		if (f->folder == folder && f->pid == pid && f->space == space)
			return f;
	return NULL;
}

static void list_one(struct meter *m, size_t folder, pid_t pid, uint64_t space)
{
	struct file *f = find_file(m, folder, pid, space);
	char path[PATH_MAX];

	if (f == NULL && path_of(m, folder, pid, space, path)) {
		f = vec_push(&m->files);
		if (f != NULL)
			*f = (struct file){ mem_dup_text(path), folder, pid, space, true };
	}
	if (f != NULL)
		f->listed = true;
}

static void list_folder(struct meter *m, size_t folder)
{
	DIR *d = opendir(m->folders[folder]);
	int left = ENTRIES_MAX;

	for (struct dirent *ent; d != NULL && left-- > 0 && (ent = readdir(d)) != NULL;) {
		uint64_t space;
		pid_t pid;

		if (parse_name(str_of(ent->d_name), &pid, &space))
			list_one(m, folder, pid, space);
	}
	if (d != NULL)
		closedir(d);
}

static void list_files(struct meter *m)
{
	vec_each(f, &m->files)
		f->listed = false;
	for (size_t i = 0; i < m->n_folders; i++)
		list_folder(m, i);
	for (size_t i = m->files.n; i-- > 0;)
		if (!m->files.v[i].listed) {
			mem_free(m->files.v[i].path);
			m->files.v[i] = m->files.v[--m->files.n];
		}
}

/* ---- whose they are */

static struct seat *find_seat(const struct meter *m, uint64_t worker)
{
	vec_each(s, &m->seats)
		if (s->worker == worker)
			return s;
	return NULL;
}

/* As it sees itself. */
static void read_own(const struct meter *m, struct seat *s)
{
	struct worker w;

	if (s->pid <= 0 || worker_read(&w, m->proc, s->pid, NULL) < 0)
		return;
	s->own_pid = w.own_pid;
	s->space = w.pid_space;
}

/* Where two containers have the same pid, one of their jobs finds PID.steps taken, and names its own counter by its namespace. */
static bool may_be_its(const struct meter *m, const struct seat *s, const struct file *f)
{
	if (s->own_pid != f->pid)
		return false;
	return f->space != 0 ? s->space == f->space : s->space == 0 || find_file(m, f->folder, f->pid, s->space) == NULL;
}

/* NULL where it is nobody's, or where it cannot be told whose. */
static struct seat *owner_of(const struct meter *m, const struct file *f)
{
	struct seat *only = NULL;

	vec_each(s, &m->seats) {
		if (!may_be_its(m, s, f))
			continue;
		if (only != NULL && only->pid != s->pid)
			return NULL;
		only = s;
	}
	return only;
}

static uint64_t track_of(const struct meter *m, const struct file *f)
{
	const struct seat *s = owner_of(m, f);

	return s != NULL ? s->worker : hash64(f->path, strlen(f->path), 0) | unplanned;
}

/* ---- readings */

static bool read_steps(const char *path, struct cost_steps *out)
{
	uint8_t bytes[COST_STEPS_BYTES];
	int fd = file_open_regular(path, NULL);
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, bytes, sizeof(bytes), 0);
	close(fd);
	return n == (ssize_t)sizeof(bytes) && cost_steps_parse(bytes, out);
}

static void put_outside(struct seat *s, enum cost_counter counter)
{
	s->inside[counter] = s->out;
}

/* What a job of before left under this number is not its. */
static bool is_its(const struct seat *s, const struct cost_steps *steps)
{
	return s->born_ns == 0 || steps->first_ns >= s->born_ns - born_slack_ns;
}

/* Whoever may write there may write anything, and what was left before the host was started anew is of another clock. */
static bool is_of_now(const struct meter *m, const struct cost_steps *steps)
{
	return steps->last_ns <= m->now_ns + ahead_ns;
}

static void read_file(struct meter *m, const struct file *f)
{
	struct seat *s = owner_of(m, f);
	struct cost_steps steps;

	if (!read_steps(f->path, &steps) || !is_of_now(m, &steps) || (s != NULL && !is_its(s, &steps)))
		return;
	cost_add_steps(m->cost, track_of(m, f), &steps, s != NULL && s->inside[COST_STEPS]);
	if (s != NULL)
		put_outside(s, COST_STEPS);
}

static void read_files_of(struct meter *m, const struct seat *s)
{
	vec_each(f, &m->files)
		if (s->own_pid != 0 && f->pid == s->own_pid)
			read_file(m, f);
}

/* Several sources may know a process: its counter counts for one of them. */
static struct cost_view view_of(const struct meter *m, const struct seat *s)
{
	const struct seat *last = s;
	struct cost_view its = cost_of(m->cost, s->worker);

	vec_each(other, &m->seats)
		if (s->own_pid != 0 && other->pid == s->pid)
			last = other;
	return last == s || its.measured ? its : cost_of(m->cost, last->worker);
}

static void find_counter(struct meter *m, size_t folder, pid_t pid, uint64_t space)
{
	char path[PATH_MAX];

	if (path_of(m, folder, pid, space, path) && file_exists(path))
		list_one(m, folder, pid, space);
}

/* A worker's own counter is found without listing the folder. */
static void find_files(struct meter *m)
{
	vec_each(s, &m->seats)
		for (size_t i = 0; s->own_pid > 0 && i < m->n_folders; i++) {
			find_counter(m, i, s->own_pid, 0);
			if (s->space != 0)
				find_counter(m, i, s->own_pid, s->space);
		}
}

static void read_all(struct meter *m, int64_t now_ns)
{
	find_files(m);
	vec_each(f, &m->files)
		read_file(m, f);
	cost_tick(m->cost, now_ns);
	vec_each(s, &m->seats) {
		struct cost_view v = view_of(m, s);

		plan_set_duty(m->plan, s->worker, v.every_nth);
		plan_set_cost(m->plan, s->worker, v.cost_ppm, v.measured);
	}
}

/* ---- when windows are under way */

/* hint: seats are mostly in the plan's order. */
static void take_view(struct meter *m, const struct plan_view *v, size_t hint)
{
	struct seat *s = hint < m->seats.n && m->seats.v[hint].worker == v->id ? &m->seats.v[hint] : find_seat(m, v->id);

	if (s == NULL)
		s = vec_push(&m->seats);
	if (s == NULL)
		return;
	if (s->worker == 0)
		*s = (struct seat){ .worker = v->id, .pid = v->w->pid, .born_ns = v->w->born_ns };
	s->seen = true;
	s->planned = v->out;
}

/* A window of a process is one for every source that knows it. */
static void share(struct meter *m)
{
	vec_each(s, &m->seats)
		if (s->planned && s->pid > 0)
			vec_each(other, &m->seats)
				other->planned |= other->pid == s->pid;
}

/* What is read now is of before the window, or of the window with what it left to do. */
static void turn(struct meter *m, struct seat *s, int64_t now_ns)
{
	if (s->planned)
		s->out_ns = now_ns;
	if (s->planned && !s->out) {
		read_files_of(m, s);
		s->out = true;
		for (size_t i = 0; i < COST_COUNTERS; i++)
			s->inside[i] = true;
	} else if (s->out && now_ns - s->out_ns >= settle_ns) {
		s->out = false;
		read_files_of(m, s);
	}
}

static void look_at_plan(struct meter *m, int64_t now_ns)
{
	vec_each(s, &m->seats)
		s->seen = false;
	for (size_t i = 0; i < plan_count(m->plan); i++) {
		struct plan_view v = plan_at(m->plan, i);

		take_view(m, &v, i);
	}
	for (size_t i = m->seats.n; i-- > 0;)
		if (!m->seats.v[i].seen)
			m->seats.v[i] = m->seats.v[--m->seats.n];
	share(m);
	vec_each(s, &m->seats) {
		if (s->own_pid == 0)
			read_own(m, s);
		turn(m, s, now_ns);
	}
}

static bool any_out(const struct meter *m)
{
	vec_each(s, &m->seats)
		if (s->out)
			return true;
	return false;
}

/* The plan only while something changes: most turns of the loop are about other things. */
void meter_look(struct meter *m, int64_t now_ns)
{
	m->now_ns = now_ns;
	if (now_ns >= m->read_ns || plan_out(m->plan) > 0 || any_out(m))
		look_at_plan(m, now_ns);
	if (now_ns < m->read_ns)
		return;
	if (now_ns >= m->list_ns) {
		list_files(m);
		m->list_ns = now_ns + list_every_ns;
	}
	read_all(m, now_ns);
	m->read_ns = now_ns + every_ns;
}

int64_t meter_wake_ns(const struct meter *m)
{
	int64_t wake = m->read_ns;

	vec_each(s, &m->seats)
		if (s->out && s->out_ns + settle_ns < wake)
			wake = s->out_ns + settle_ns;
	return wake;
}

static void count(struct meter *m, struct seat *s, enum cost_counter counter, int64_t at_ns, uint64_t n)
{
	const struct cost_sample sample = { at_ns, n, s->inside[counter] };

	cost_add(m->cost, s->worker, counter, &sample);
	put_outside(s, counter);
}

void meter_count(struct meter *m, const char *source, const char *key, enum cost_counter counter, int64_t at_ns, uint64_t n)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < plan_count(m->plan); i++) {
		struct plan_view v = plan_at(m->plan, i);
		struct seat *s = find_seat(m, v.id);

		if (s != NULL && strcmp(v.w->source, source) == 0 && strcmp(v.w->key, key) == 0)
			count(m, s, counter, at_ns, n);
	}
}

void meter_count_pid(struct meter *m, pid_t pid, enum cost_counter counter, int64_t at_ns, uint64_t n)
{
	if (m == NULL || pid <= 0)
		return;
	vec_each(s, &m->seats)
		if (s->pid == pid)
			count(m, s, counter, at_ns, n);
}

/* ---- for whoever asks */

struct cost_view meter_of_worker(const struct meter *m, uint64_t worker)
{
	const struct seat *s = find_seat(m, worker);

	return s == NULL ? cost_of(m->cost, worker) : view_of(m, s);
}

/* The counter of the job whose trace this is; NULL where there is none, or where two containers' jobs have that pid. */
static const struct file *file_of_trace(const struct meter *m, struct str dir, uint64_t pid)
{
	const struct file *only = NULL;

	vec_each(f, &m->files) {
		if ((uint64_t)f->pid != pid || !str_eq(str_of(m->folders[f->folder]), dir))
			continue;
		if (only != NULL)
			return NULL;
		only = f;
	}
	return only;
}

struct cost_view meter_of_trace(const struct meter *m, const char *path)
{
	struct str text = str_of(path), name = text, pid_text;
	const struct file *f;
	uint64_t pid;

	while (str_find_byte(name, '/') < name.n)
		str_split(&name, '/');
	pid_text = name;
	if (name.n == text.n || !str_drop_prefix(&pid_text, STR(TRACE_PREFIX)) ||
		str_to_u64(str_upto(pid_text, str_find_byte(pid_text, '-')), &pid) < 0)
		return cost_of(m->cost, 0);
	f = file_of_trace(m, str_upto(text, text.n - name.n - 1), pid);
	return cost_of(m->cost, f == NULL ? 0 : track_of(m, f));
}

void meter_status(const struct meter *m)
{
	size_t measured = 0, reduced = 0;
	uint32_t worst = 0;

	vec_each(s, &m->seats) {
		struct cost_view v = view_of(m, s);

		measured += v.measured;
		reduced += v.every_nth > 1;
		worst = v.cost_ppm > worst ? v.cost_ppm : worst;
		log_debug("cost.worker", "pid=%ld counter=%s windows=%zu measured=%s outside_per_s=%.1f inside_per_s=%.1f slowdown=%.3f "
			"cost_ppm=%u error_ppm=%.0f every_nth=%u", (long)s->pid, cost_counter_word(v.counter), v.windows,
			v.measured ? "yes" : "no", v.rate_outside, v.rate_inside, v.slowdown, v.cost_ppm, v.error_ppm, v.every_nth);
	}
	log_info("cost.status", "workers=%zu measured=%zu fewer_windows=%zu worst_ppm=%u counters=%zu", m->seats.n, measured, reduced, worst,
		m->files.n);
}

size_t meter_gauges(const struct cost_view *v, struct gauge out[METER_GAUGES_MAX])
{
	size_t n = 0;

	if (v->measured) {
		out[n++] = (struct gauge){ .name = STR("capture_overhead"), .unit = STR("ratio"), .value = v->cost_ppm / 1e6 };
		out[n++] = (struct gauge){ .name = STR("capture_slowdown"), .unit = STR("ratio"), .value = v->slowdown };
	}
	if (v->measured || v->every_nth > 1)
		out[n++] = (struct gauge){ .name = STR("capture_every_nth"), .unit = STR("slots"), .value = v->every_nth };
	return n;
}
