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

/* What is there already is never overwritten. Old NFS cannot rename so: a look first, then. */
static int move_to(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!file_exists(to))
		return rename(from, to);
	errno = EEXIST;
	return -1;
}

static int move_numbered(const char *from, const char *dir, char to[PATH_MAX], struct err *e)
{
	const char *slash = strrchr(from, '/'), *name = slash == NULL ? from : slash + 1;

	for (int i = 0; i < NAMES_MAX; i++) {
		int n = i == 0 ? snprintf(to, PATH_MAX, "%s/%s", dir, name)
			       : snprintf(to, PATH_MAX, "%s/%s.%d", dir, name, i);

		if (n >= PATH_MAX)
			return err_set(e, E_LIMIT, "%s/%s: path too long", dir, name);
		if (move_to(from, to) == 0)
			return OK;
		if (errno != EEXIST)
			return err_sys(e, "%s: move to %s", from, to);
	}
	return err_set(e, E_EXISTS, "%s: %d files of that name are in %s", from, NAMES_MAX, dir);
}

int keep_move(const char *from, const char *dir, const char *side_suffix, struct err *e)
{
	char to[PATH_MAX], side[PATH_MAX], side_to[PATH_MAX];
	int rc = file_make_dirs(dir, 0750, e);

	if (rc == OK)
		rc = move_numbered(from, dir, to, e);
	if (rc < 0)
		return rc;
	crash_point("keep.moved");
	if (snprintf(side, sizeof(side), "%s%s", from, side_suffix) >= (int)sizeof(side) ||
		snprintf(side_to, sizeof(side_to), "%s%s", to, side_suffix) >= (int)sizeof(side_to))
		return OK;
	(void)!rename(side, side_to); /* mostly there is none */
	crash_point("keep.side-moved");
	return OK;
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
	DIR *d = opendir(dir);
	size_t gone = 0;

	if (d == NULL)
		return 0;
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
