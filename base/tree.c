#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

enum { LEVELS_MAX = 32, ENTRIES_MAX = 1000000, BLOCK = 512 };

struct walk {
	dev_t dev;
	unsigned long entries;
	uint64_t bytes; /* seen so far */
	bool remove;
	const char *top;
	struct err *e;
};

static int walk_folder(struct walk *w, int at_fd, const char *name, unsigned level);

static int failed(struct walk *w, const char *name, const char *what)
{
	return errno == ENOENT ? OK : err_sys(w->e, "%s: %s: %s", w->top, name, what);
}

static int walk_entry(struct walk *w, int at_fd, const char *name, unsigned level)
{
	struct stat st;
	int rc = OK;

	if (++w->entries > ENTRIES_MAX)
		return err_set(w->e, E_LIMIT, "%s: more than %d files", w->top, ENTRIES_MAX);
	if (fstatat(at_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return failed(w, name, "stat");
	if (st.st_dev != w->dev)
		return w->remove ? err_set(w->e, E_BUSY, "%s: %s: something is mounted there", w->top, name) : OK;
	w->bytes += (uint64_t)st.st_blocks * BLOCK;
	if (S_ISDIR(st.st_mode))
		rc = walk_folder(w, at_fd, name, level + 1);
	if (rc == OK && w->remove && unlinkat(at_fd, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) < 0)
		rc = failed(w, name, "remove");
	return rc;
}

static int walk_folder(struct walk *w, int at_fd, const char *name, unsigned level)
{
	int rc = OK, fd;
	DIR *d;

	if (level > LEVELS_MAX)
		return err_set(w->e, E_LIMIT, "%s: folders inside folders, more than %d levels", w->top, LEVELS_MAX);
	fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (d == NULL) {
		rc = failed(w, name, "open");
		if (fd >= 0)
			close(fd);
		return rc;
	}
	for (struct dirent *ent; rc == OK && (ent = readdir(d)) != NULL;)
		if (strcmp(ent->d_name, ".") != 0 && strcmp(ent->d_name, "..") != 0)
			rc = walk_entry(w, fd, ent->d_name, level);
	closedir(d);
	return rc;
}

static int walk(struct walk *w, const char *path, struct err *e)
{
	struct stat st;

	w->top = path;
	w->e = e;
	if (lstat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? OK : err_sys(e, "%s", path);
	w->dev = st.st_dev;
	return walk_entry(w, AT_FDCWD, path, 0);
}

int tree_remove(const char *path, struct err *e)
{
	struct walk w = { .remove = true };

	return walk(&w, path, e);
}

int tree_hold(const char *top, const char *path, char held[PATH_MAX], struct err *e)
{
	struct str way = str_of(path), name = way;
	int fd;

	while (str_find_byte(name, '/') < name.n)
		str_split(&name, '/');
	if (str_empty(name) || str_eq(name, STR(".")) || str_eq(name, STR("..")) || !str_drop_prefix(&way, str_of(top)) ||
		!(str_has_prefix(way, STR("/")) || str_has_suffix(str_of(top), STR("/"))))
		return err_set(e, E_USAGE, "%s: want a path below %s", path, top);
	fd = file_open_below(top, str_upto(way, way.n - name.n), e);
	if (fd >= 0 && snprintf(held, PATH_MAX, "/proc/self/fd/%d/%.*s", fd, STR_ARG(name)) >= PATH_MAX) {
		close(fd);
		return err_set(e, E_LIMIT, "%s: path too long", path);
	}
	return fd;
}

int tree_remove_below(const char *top, const char *path, struct err *e)
{
	char held[PATH_MAX];
	int fd = tree_hold(top, path, held, e), rc;

	if (fd < 0)
		return fd == E_NOT_FOUND ? OK : fd;
	rc = tree_remove(held, e);
	close(fd);
	return rc;
}

int tree_bytes(const char *path, uint64_t *bytes, struct err *e)
{
	struct walk w = { .remove = false };
	int rc = walk(&w, path, e);

	*bytes = w.bytes;
	return rc;
}

/* ---- names */

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

bool tree_list(const char *dir, bool (*wanted)(const char *name), size_t max, struct tree_names *out)
{
	DIR *d = opendir(dir);

	*out = (struct tree_names)VEC_INIT(max);
	if (d == NULL)
		return false;
	for (struct dirent *ent; out->n < max && (ent = readdir(d)) != NULL;) {
		char **place = wanted(ent->d_name) ? vec_push(out) : NULL;

		if (place != NULL)
			*place = mem_dup_text(ent->d_name);
	}
	closedir(d);
	if (out->n > 1)
		qsort(out->v, out->n, sizeof(*out->v), by_name);
	return true;
}

void tree_names_fini(struct tree_names *names)
{
	vec_each(name, names)
		mem_free(*name);
	vec_fini(names);
}
