#include "agent/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/tree.h"
#include "base/vec.h"

enum { NAMES_MAX = 1000, TRIM_FILES_MAX = 100000 };

/* The folder itself and never what a link leads to: whoever may write to a watched folder must not choose where the agent's
 * rights reach. */
static int open_folder(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? err_sys(e, "%s: open as a folder", dir) : fd;
}

/* What is there already is never overwritten. Old NFS cannot rename so: a look first, then. */
static int move_to(const char *from, int dir_fd, const char *name)
{
	if (renameat2(AT_FDCWD, from, dir_fd, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return renameat(AT_FDCWD, from, dir_fd, name);
	errno = EEXIST;
	return -1;
}

static int move_numbered(const char *from, int dir_fd, char name[NAME_MAX], struct err *e)
{
	const char *slash = strrchr(from, '/'), *base = slash == NULL ? from : slash + 1;

	for (int i = 0; i < NAMES_MAX; i++) {
		int n = i == 0 ? snprintf(name, NAME_MAX, "%s", base) : snprintf(name, NAME_MAX, "%s.%d", base, i);

		if (n >= NAME_MAX)
			return err_set(e, E_LIMIT, "%s: name too long", base);
		if (move_to(from, dir_fd, name) == 0)
			return OK;
		if (errno != EEXIST)
			return err_sys(e, "%s: move", from);
	}
	return err_set(e, E_EXISTS, "%s: there are %d files of that name", from, NAMES_MAX);
}

static void move_side(const char *from, int dir_fd, const char *name, const char *suffix)
{
	char side[PATH_MAX], side_name[NAME_MAX];

	if (suffix[0] != '\0' && snprintf(side, sizeof(side), "%s%s", from, suffix) < (int)sizeof(side) &&
		snprintf(side_name, sizeof(side_name), "%s%s", name, suffix) < (int)sizeof(side_name))
		(void)!renameat(AT_FDCWD, side, dir_fd, side_name); /* mostly there is none */
}

int keep_move(const char *from, const char *dir, const char *side_suffix, struct err *e)
{
	char name[NAME_MAX];
	int rc = file_make_dirs(dir, 0750, e), fd;

	if (rc < 0)
		return rc;
	fd = open_folder(dir, e);
	if (fd < 0)
		return fd;
	rc = move_numbered(from, fd, name, e);
	if (rc == OK) {
		crash_point("keep.moved");
		move_side(from, fd, name, side_suffix);
		crash_point("keep.side-moved");
	} else {
		rc = err_add(e, "%s", dir);
	}
	close(fd);
	return rc;
}

/* ---- copies */

static int copy_bytes(int from, int to, uint64_t max_bytes, const char *name, struct err *e)
{
	char block[65536];
	uint64_t bytes = 0;

	for (;;) {
		ssize_t n = read(from, block, sizeof(block));
		int rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "%s: read", name);
		if (n == 0)
			return OK;
		bytes += (uint64_t)n;
		if (bytes > max_bytes)
			return err_set(e, E_LIMIT, "%s: has more than %llu bytes", name, (unsigned long long)max_bytes);
		rc = file_write_all(to, block, (size_t)n, name, e);
		if (rc < 0)
			return rc;
	}
}

/* Under a name of its own until it is whole. */
static int copy_to(int from, int dir_fd, const char *name, uint64_t max_bytes, struct err *e)
{
	char tmp[NAME_MAX];
	int to, rc;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp", name) >= (int)sizeof(tmp))
		return err_set(e, E_LIMIT, "%s: name too long", name);
	to = openat(dir_fd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (to < 0)
		return err_sys(e, "%s", tmp);
	rc = copy_bytes(from, to, max_bytes, name, e);
	close(to);
	if (rc == OK && renameat(dir_fd, tmp, dir_fd, name) < 0)
		rc = err_sys(e, "%s: rename", tmp);
	if (rc < 0)
		unlinkat(dir_fd, tmp, 0);
	return rc;
}

/* A link to a link would be one to wherever it leads: what is there must be the file that was opened. */
static bool link_to(int from_fd, const char *from, int dir_fd, const char *name)
{
	struct stat was, is;

	if (linkat(AT_FDCWD, from, dir_fd, name, 0) < 0)
		return false;
	if (fstat(from_fd, &was) == 0 && fstatat(dir_fd, name, &is, AT_SYMLINK_NOFOLLOW) == 0 && was.st_dev == is.st_dev &&
		was.st_ino == is.st_ino)
		return true;
	unlinkat(dir_fd, name, 0);
	return false;
}

static int second_name(const char *from, int dir_fd, const char *name, uint64_t max_bytes, struct err *e)
{
	int fd = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rc = OK;
	struct stat st;

	if (fd < 0)
		return err_sys(e, "%s", from);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		rc = err_set(e, E_UNSUPPORTED, "%s: is no regular file", from);
	else if ((uint64_t)st.st_size > max_bytes)
		rc = err_set(e, E_LIMIT, "%s: has more than %llu bytes", from, (unsigned long long)max_bytes);
	else if (faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && !link_to(fd, from, dir_fd, name))
		rc = copy_to(fd, dir_fd, name, max_bytes, e);
	close(fd);
	return rc;
}

int keep_copy(const char *from, const char *dir, const char *name, const char *side_suffix, uint64_t max_bytes, struct err *e)
{
	char side[PATH_MAX], side_name[NAME_MAX];
	int rc = file_make_dirs(dir, 0750, e), fd;

	if (rc < 0)
		return rc;
	fd = open_folder(dir, e);
	if (fd < 0)
		return fd;
	rc = second_name(from, fd, name, max_bytes, e);
	if (rc == OK && side_suffix[0] != '\0' && snprintf(side, sizeof(side), "%s%s", from, side_suffix) < (int)sizeof(side) &&
		snprintf(side_name, sizeof(side_name), "%s%s", name, side_suffix) < (int)sizeof(side_name) && file_exists(side))
		rc = second_name(side, fd, side_name, max_bytes, e);
	close(fd);
	return rc;
}

/* ---- ceilings */

struct kept {
	char *name;
	int64_t mtime_ns;
	uint64_t bytes;
};

VEC(kept_files, struct kept);

static int by_age(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns < y->mtime_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void list_kept(DIR *d, mode_t type, struct str side_suffix, struct kept_files *files)
{
	for (struct dirent *ent; (ent = readdir(d)) != NULL;) {
		struct stat st;
		struct kept *k;

		if (fstatat(dirfd(d), ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || (st.st_mode & S_IFMT) != type ||
			strcmp(ent->d_name, ".") == 0 || strcmp(ent->d_name, "..") == 0)
			continue;
		if (!str_empty(side_suffix) && str_has_suffix(str_of(ent->d_name), side_suffix))
			continue;
		k = vec_push(files);
		if (k == NULL)
			return;
		*k = (struct kept){ mem_dup_text(ent->d_name), file_mtime_ns(&st),
			(uint64_t)st.st_size };
	}
}

/* How many of the oldest have to go. */
static size_t too_many(const struct kept_files *files, size_t max_files, uint64_t max_bytes)
{
	uint64_t bytes = 0;
	size_t n = files->n;

	while (n > 0 && files->n - n < max_files && bytes + files->v[n - 1].bytes <= max_bytes)
		bytes += files->v[--n].bytes;
	return n;
}

static bool remove_kept(int dir_fd, const char *name, const char *side_suffix)
{
	char side[NAME_MAX];

	if (unlinkat(dir_fd, name, 0) < 0)
		return false;
	if (side_suffix[0] != '\0' && snprintf(side, sizeof(side), "%s%s", name, side_suffix) < (int)sizeof(side))
		unlinkat(dir_fd, side, 0);
	return true;
}

/* By way of the descriptor: at the folder's name there may be another one by now. */
static bool remove_kept_folder(int dir_fd, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir_fd, name) < PATH_MAX && tree_remove(path, NULL) == OK;
}

/* Leaves those that is_one says yes to. */
static void choose(const char *dir, struct kept_files *files, bool (*is_one)(const char *path))
{
	size_t n = 0;

	vec_each(k, files) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/%s", dir, k->name) < PATH_MAX && is_one(path))
			files->v[n++] = *k;
		else
			mem_free(k->name);
	}
	files->n = n;
}

static size_t trim(const char *dir, mode_t type, const char *side_suffix, size_t max_files, uint64_t max_bytes,
	bool (*is_one)(const char *path))
{
	struct kept_files files = VEC_INIT(TRIM_FILES_MAX);
	int fd = open_folder(dir, NULL);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t gone = 0, n;

	if (d == NULL) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	list_kept(d, type, str_of(side_suffix), &files);
	if (is_one != NULL)
		choose(dir, &files, is_one);
	if (files.n > 0)
		qsort(files.v, files.n, sizeof(*files.v), by_age);
	n = too_many(&files, max_files, max_bytes);
	for (size_t i = 0; i < n; i++)
		gone += type == S_IFDIR ? remove_kept_folder(dirfd(d), files.v[i].name)
					: remove_kept(dirfd(d), files.v[i].name, side_suffix);
	closedir(d);
	vec_each(k, &files)
		mem_free(k->name);
	vec_fini(&files);
	return gone;
}

size_t keep_trim(const char *dir, size_t max_files)
{
	return trim(dir, S_IFREG, "", max_files, UINT64_MAX, NULL);
}

size_t keep_trim_bytes(const char *dir, const char *side_suffix, size_t max_files, uint64_t max_bytes)
{
	return trim(dir, S_IFREG, side_suffix, max_files, max_bytes, NULL);
}

size_t keep_trim_folders(const char *dir, size_t max_folders, bool (*is_one)(const char *path))
{
	return trim(dir, S_IFDIR, "", max_folders, UINT64_MAX, is_one);
}
