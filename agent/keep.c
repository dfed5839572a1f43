#include "agent/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/mem.h"
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

	if (snprintf(side, sizeof(side), "%s%s", from, suffix) < (int)sizeof(side) &&
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

struct kept {
	char *name;
	int64_t mtime_ns;
};

VEC(kept_files, struct kept);

static int by_age(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns < y->mtime_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void list_kept(DIR *d, struct kept_files *files)
{
	for (struct dirent *ent; (ent = readdir(d)) != NULL;) {
		struct stat st;
		struct kept *k;

		if (fstatat(dirfd(d), ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		k = vec_push(files);
		if (k == NULL)
			return;
		*k = (struct kept){ mem_dup_text(ent->d_name), st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec };
	}
}

size_t keep_trim(const char *dir, size_t max_files)
{
	struct kept_files files = VEC_INIT(TRIM_FILES_MAX);
	int fd = open_folder(dir, NULL);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t gone = 0;

	if (d == NULL) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	list_kept(d, &files);
	if (files.n > max_files) {
		qsort(files.v, files.n, sizeof(*files.v), by_age);
		for (size_t i = 0; i < files.n - max_files; i++)
			gone += unlinkat(dirfd(d), files.v[i].name, 0) == 0;
	}
	closedir(d);
	vec_each(k, &files)
		mem_free(k->name);
	vec_fini(&files);
	return gone;
}
