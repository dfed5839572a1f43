#include "agent/vllm_find.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/watch.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"
#include "trace/sidecar.h"

enum { DEPTH_MAX = 6 };

struct look {
	struct vllm_found *out;
	int64_t since_ns;
	size_t left;
	char path[PATH_MAX];
};

static bool ends_in(const char *name, const char *const *suffixes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_has_suffix(str_of(name), str_of(suffixes[i])))
			return true;
	return false;
}

static bool is_trace(const char *name)
{
	static const char *const suffixes[] = { ".json", ".json.gz", ".json.zst" };

	return ends_in(name, suffixes, COUNT(suffixes)) && !str_has_suffix(str_of(name), STR(SIDECAR_SUFFIX));
}

static bool is_raw(const char *name)
{
	static const char *const suffixes[] = { ".ntff", "ntrace.pb" };

	return ends_in(name, suffixes, COUNT(suffixes));
}

static void keep(struct look *l, struct vllm_paths *paths)
{
	char(*place)[PATH_MAX] = vec_push(paths);

	if (place == NULL)
		l->out->too_many = true;
	else
		str_copy_to(str_of(l->path), *place, sizeof(*place));
}

static void sign(struct look *l, const char *name, const struct stat *st)
{
	const int64_t facts[] = { (int64_t)st->st_ino, (int64_t)st->st_size, file_mtime_ns(st) };

	/* a sum, so that the order of names in the folder is all one */
	l->out->signature += hash64(name, str_of(name).n, hash64(facts, sizeof(facts), 1)) | 1;
}

static void look_into(struct look *l, int fd, unsigned depth);

/* The path behind l->path, for the time of the visit; false where it is too long. */
static bool enter(struct look *l, size_t at, const char *name)
{
	return snprintf(l->path + at, sizeof(l->path) - at, "/%s", name) < (int)(sizeof(l->path) - at);
}

/* True where the file makes its folder a raw one. */
static bool visit(struct look *l, int dir_fd, const char *name, unsigned depth)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
		int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0)
			look_into(l, fd, depth + 1);
		return false;
	}
	if (!S_ISREG(st.st_mode) || file_mtime_ns(&st) + VLLM_TICK_NS < l->since_ns)
		return false;
	sign(l, name, &st);
	if (is_trace(name))
		keep(l, &l->out->traces);
	return is_raw(name);
}

/* Takes fd. */
static void look_into(struct look *l, int fd, unsigned depth)
{
	DIR *d = fdopendir(fd);
	size_t at = str_of(l->path).n;
	bool raw = false;

	if (d == NULL) {
		close(fd);
		return;
	}
	for (struct dirent *ent; (ent = readdir(d)) != NULL;) {
		if (ent->d_name[0] == '.')
			continue;
		if (l->left == 0) {
			l->out->too_many = true;
			break;
		}
		l->left--;
		if (enter(l, at, ent->d_name))
			raw |= visit(l, dirfd(d), ent->d_name, depth);
		l->path[at] = '\0';
	}
	closedir(d);
	if (raw)
		keep(l, &l->out->raw);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void sort(struct vllm_paths *paths)
{
	if (paths->n > 1)
		qsort(paths->v, paths->n, sizeof(*paths->v), by_path);
}

void vllm_find(const char *dir, int64_t since_ns, struct vllm_found *out)
{
	struct look l = { .out = out, .since_ns = since_ns, .left = VLLM_LOOK_MAX };
	int fd;

	*out = (struct vllm_found){ .traces = VEC_INIT(VLLM_FOUND_MAX), .raw = VEC_INIT(VLLM_FOUND_MAX) };
	if (!str_copy_to(str_of(dir), l.path, sizeof(l.path)))
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	look_into(&l, fd, 0);
	sort(&out->traces);
	sort(&out->raw);
}

void vllm_found_fini(struct vllm_found *f)
{
	vec_fini(&f->traces);
	vec_fini(&f->raw);
}
