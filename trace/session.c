#include "trace/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/tree.h"

enum { SESSION_FILES_MAX = 10000, DEPTH_MAX = 3, NAMES_MAX = 1000 };

static void take_file(struct session *s, struct str name, const struct stat *st)
{
	bool full = st->st_size > 0, compiled = str_has_suffix(name, STR(".neff"));
	int64_t mtime_ns = file_mtime_ns(st);

	if (compiled)
		s->n_neff += full;
	else if (str_has_suffix(name, STR(".ntff")))
		s->n_ntff += full;
	else if (str_eq(name, STR("trace_info.pb")))
		s->has_info = full;
	else if (str_eq(name, STR("ntrace.pb")))
		s->has_system = full;
	else if (str_eq(name, STR("trace.json")))
		s->has_trace_json = full;
	s->bytes += (uint64_t)st->st_size;
	if (compiled || str_has_suffix(name, STR(".ntff")))
		s->device_bytes += (uint64_t)st->st_size;
	if (!compiled && (s->first_ns == 0 || mtime_ns < s->first_ns)) /* a model is older: it was copied out of a cache */
		s->first_ns = mtime_ns;
	if (mtime_ns > s->last_ns)
		s->last_ns = mtime_ns;
	s->print += hash64(name.p, name.n, (uint64_t)st->st_size ^ (uint64_t)mtime_ns << 1);
}

static pid_t pid_of(const char *dir)
{
	const char *p = NULL;
	int64_t pid = 0;

	for (const char *next = dir; (next = strstr(next, "_pid_")) != NULL;)
		p = next += 5;
	if (p == NULL || str_to_i64(str_upto(str_of(p), strspn(p, "0123456789")), &pid) < 0 || pid > INT32_MAX)
		return 0;
	return (pid_t)pid;
}

bool session_read(const char *dir, struct session *out)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), left = SESSION_FILES_MAX;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	*out = (struct session){ .bytes = 0 };
	if (d == NULL) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	for (struct dirent *ent; left-- > 0 && (ent = readdir(d)) != NULL;) {
		struct stat st;

		if (ent->d_name[0] != '.' && fstatat(fd, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			take_file(out, str_of(ent->d_name), &st);
	}
	closedir(d);
	out->pid = pid_of(dir);
	return str_copy_to(str_of(dir), out->dir, sizeof(out->dir)) &&
	       (out->has_info || out->has_system || out->n_ntff > 0);
}

static bool is_shown(const char *name)
{
	return name[0] != '.';
}

static void find_below(const char *dir, unsigned depth, struct sessions *out)
{
	struct tree_names names;
	struct session s;

	if (session_read(dir, &s)) {
		struct session *place = vec_push(out);

		if (place != NULL)
			*place = s;
		return;
	}
	if (depth == 0)
		return;
	(void)tree_list(dir, is_shown, NAMES_MAX, &names);
	vec_each(name, &names) {
		char path[PATH_MAX];
		struct stat st;

		if (snprintf(path, sizeof(path), "%s/%s", dir, *name) < PATH_MAX && lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			find_below(path, depth - 1, out);
	}
	tree_names_fini(&names);
}

void sessions_find(const char *root, struct sessions *out)
{
	out->cap = SESSIONS_MAX;
	find_below(root, DEPTH_MAX, out);
}

int session_refuse(const char *path, struct err *e)
{
	struct sessions all = { .v = NULL };
	struct stat st;
	int rc;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return OK;
	sessions_find(path, &all);
	if (all.n == 0)
		rc = err_set(e, E_UNSUPPORTED, "%s: a folder; want a trace in it", path);
	else if (!all.v[0].has_info)
		rc = err_set(e, E_FORMAT, "%s: a session of a Neuron profiler without trace_info.pb: it is still being written, or was "
			"given up", all.v[0].dir);
	else if (!all.v[0].has_system && all.v[0].n_ntff == 0)
		rc = err_set(e, E_FORMAT, "%s: a session of a Neuron profiler in which nothing was captured (ntrace.pb and .ntff are empty or "
			"missing)", all.v[0].dir);
	else
		rc = err_set(e, E_FORMAT, "%s: a session of a Neuron profiler as it was captured; decode it: neuron-explorer view -d %s "
			"--output-format json --output-file profile.json %s", path, all.v[0].dir,
			all.v[0].has_system ? "--ignore-device-profile" : "--ignore-system-profile");
	vec_fini(&all);
	return rc;
}
