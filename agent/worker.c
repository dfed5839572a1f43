#include "agent/worker.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "json/text.h"

enum { ENVIRON_MAX = 1 << 20, STAT_MAX = 4096, STATUS_MAX = 16384, CGROUP_MAX = 65536, STAT_BORN = 19 /* behind the name, from 0 */, FDS_MAX = 4096 };

static int proc_path(char out[PATH_MAX], const char *proc, pid_t pid, const char *name)
{
	return snprintf(out, PATH_MAX, "%s/%ld/%s", proc, (long)pid, name) < PATH_MAX ? OK : E_LIMIT;
}

static int read_file(const char *proc, pid_t pid, const char *name, struct buf *b, struct err *e)
{
	char path[PATH_MAX];

	if (proc_path(path, proc, pid, name) < 0)
		return err_set(e, E_LIMIT, "%s: path too long", proc);
	buf_reset(b);
	return file_read_all(path, b, e);
}

/* "PID (any thing) S …": the name may hold blanks and parentheses. */
static int born(const char *proc, pid_t pid, uint64_t *ticks, struct err *e)
{
	struct str rest, word = { "", 0 };
	struct buf b;
	int rc;

	buf_init(&b, STAT_MAX);
	rc = read_file(proc, pid, "stat", &b, e);
	rest = buf_view(&b);
	for (size_t i = rest.n; rc == OK && i > 0; i--)
		if (rest.p[i - 1] == ')') {
			rest = str_trim(str_from(rest, i));
			break;
		}
	for (int i = 0; rc == OK && i <= STAT_BORN && rest.p != NULL; i++)
		word = str_split(&rest, ' ');
	if (rc == OK && str_to_u64(word, ticks) < 0)
		rc = err_set(e, E_FORMAT, "%s/%ld/stat: no start time in it", proc, (long)pid);
	buf_fini(&b);
	return rc;
}

static int64_t age_of(uint64_t ticks)
{
	uint64_t per_s = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec ts = { 0 };
	int64_t now, then = (int64_t)(ticks / per_s) * NS_PER_S + (int64_t)(ticks % per_s * (uint64_t)NS_PER_S / per_s);

	clock_gettime(CLOCK_BOOTTIME, &ts);
	now = ts.tv_sec * NS_PER_S + ts.tv_nsec;
	return now > then ? now - then : 0;
}

bool worker_is_name(struct str s, size_t cap)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127)
			return false;
	return s.n > 0 && s.n < cap && json_utf8_valid(s);
}

/* Names, not secrets. */
static void take_text(struct str value, char *out, size_t cap)
{
	if (out[0] == '\0' && worker_is_name(value, cap))
		str_copy_to(value, out, cap);
}

static void take_environ(struct worker *w, struct str all)
{
	static const struct {
		struct str name;
		size_t offset, cap;
	} wanted[] = { /* where two fill the same place, the first one that is set */
		{ { "TRAINSPOTTER_SERVICE", 20 }, offsetof(struct worker, service), WORKER_TEXT },
		{ { "NEURON_PROCESS_TAG", 18 }, offsetof(struct worker, service), WORKER_TEXT },
		{ { "TRAINSPOTTER_DEPLOY", 19 }, offsetof(struct worker, deploy), WORKER_TEXT },
		{ { "RANK", 4 }, offsetof(struct worker, worker), WORKER_TEXT },
		{ { "NEURON_RT_VISIBLE_CORES", 23 }, offsetof(struct worker, worker), WORKER_TEXT },
		{ { "KINETO_ONDEMAND_TRACE_DIR", 25 }, offsetof(struct worker, trace_dir), WORKER_DIR },
		{ { "POD_NAME", 8 }, offsetof(struct worker, pod), WORKER_TEXT },
		{ { "POD_NAMESPACE", 13 }, offsetof(struct worker, pod_namespace), WORKER_TEXT },
	};

	for (size_t i = 0; i < COUNT(wanted); i++)
		for (struct str rest = all; rest.p != NULL;) {
			struct str value = str_split(&rest, '\0'), name = str_split(&value, '=');

			if (value.p != NULL && str_eq(name, wanted[i].name))
				take_text(value, (char *)w + wanted[i].offset, wanted[i].cap);
		}
}

static void read_environ(struct worker *w, const char *proc)
{
	struct buf b;

	buf_init(&b, ENVIRON_MAX);
	w->env_read = read_file(proc, w->pid, "environ", &b, NULL) == OK;
	if (w->env_read)
		take_environ(w, buf_view(&b));
	buf_fini(&b);
}

/* "NSpid:\t4711\t12\t1": from our name space to its own. */
static void read_own_pid(struct worker *w, const char *proc)
{
	struct buf b;
	struct str rest;
	uint64_t pid;

	w->own_pid = w->pid;
	buf_init(&b, STATUS_MAX);
	if (read_file(proc, w->pid, "status", &b, NULL) == OK)
		for (rest = buf_view(&b); rest.p != NULL;) {
			struct str line = str_split(&rest, '\n');

			if (!str_drop_prefix(&line, STR("NSpid:")))
				continue;
			while (str_find_byte(line, '\t') < line.n)
				str_split(&line, '\t');
			if (str_to_u64(line, &pid) == OK && pid > 0 && pid <= INT_MAX)
				w->own_pid = (pid_t)pid;
		}
	buf_fini(&b);
}

static void read_cgroup(struct worker *w, const char *proc)
{
	struct buf b;

	buf_init(&b, CGROUP_MAX);
	if (read_file(proc, w->pid, "cgroup", &b, NULL) == OK)
		cgroup_parse(&w->cgroup, buf_view(&b));
	buf_fini(&b);
}

static bool read_link(const char *path, char out[PATH_MAX])
{
	ssize_t n = readlink(path, out, PATH_MAX - 1);

	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* "pid:[4026531836]" */
static void read_pid_space(struct worker *w, const char *proc)
{
	char path[PATH_MAX], to[PATH_MAX];
	struct str link;

	if (proc_path(path, proc, w->pid, "ns/pid") < 0 || !read_link(path, to))
		return;
	link = str_of(to);
	if (!str_drop_prefix(&link, STR("pid:[")) || !str_drop_suffix(&link, STR("]")) || str_to_u64(link, &w->pid_space) < 0)
		w->pid_space = 0;
}

static void read_root(struct worker *w, const char *proc)
{
	char path[PATH_MAX], its[PATH_MAX], ours[PATH_MAX];

	if (proc_path(path, proc, w->pid, "ns/mnt") < 0 || !read_link(path, its) ||
		snprintf(path, sizeof(path), "%s/self/ns/mnt", proc) >= PATH_MAX || !read_link(path, ours) ||
		strcmp(its, ours) == 0)
		return;
	if (snprintf(w->root, sizeof(w->root), "%s/%ld/root", proc, (long)w->pid) >= (int)sizeof(w->root))
		w->root[0] = '\0';
}

static void read_devices(struct worker *w, const char *proc)
{
	char path[PATH_MAX], to[PATH_MAX];
	int left = FDS_MAX;
	DIR *d;

	if (proc_path(path, proc, w->pid, "fd") < 0 || (d = opendir(path)) == NULL)
		return;
	for (struct dirent *ent; !w->owns_device && left-- > 0 && (ent = readdir(d)) != NULL;) {
		ssize_t n = readlinkat(dirfd(d), ent->d_name, to, sizeof(to));

		w->owns_device = n > 0 && str_has_prefix(str_make(to, (size_t)n), STR("/dev/neuron"));
	}
	closedir(d);
}

int worker_read(struct worker *out, const char *proc, pid_t pid, struct err *e)
{
	int rc;

	*out = (struct worker){ .pid = pid };
	rc = born(proc, pid, &out->born_ticks, e);
	if (rc < 0)
		return rc;
	out->age_ns = age_of(out->born_ticks);
	read_own_pid(out, proc);
	read_pid_space(out, proc);
	read_environ(out, proc);
	read_cgroup(out, proc);
	read_root(out, proc);
	read_devices(out, proc);
	return OK;
}

int worker_read_file(const struct worker *w, const char *path, struct buf *b, struct err *e)
{
	buf_reset(b);
	return file_read_inside(w->root[0] == '\0' ? "/" : w->root, path, b, e);
}

bool worker_lives(const struct worker *w, const char *proc)
{
	uint64_t ticks;

	return born(proc, w->pid, &ticks, NULL) == OK && ticks == w->born_ticks;
}

bool worker_variable(const char *proc, pid_t pid, struct str name, char *out, size_t cap)
{
	struct str rest;
	struct buf b;
	bool found = false;

	out[0] = '\0';
	buf_init(&b, ENVIRON_MAX);
	if (read_file(proc, pid, "environ", &b, NULL) == OK)
		for (rest = buf_view(&b); rest.p != NULL && !found;) {
			struct str value = str_split(&rest, '\0'), its = str_split(&value, '=');

			if (value.p != NULL && str_eq(its, name))
				found = worker_is_name(value, cap) && str_copy_to(value, out, cap);
		}
	buf_fini(&b);
	return found;
}
