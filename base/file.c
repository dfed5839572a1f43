#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

/* Takes fd. */
static int keep_regular(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd; /* O_NONBLOCK means nothing to it */
	close(fd);
	return err_set(e, E_UNSUPPORTED, "%s: is no regular file", path);
}

int file_open_regular(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? err_sys(e, "%s", path) : keep_regular(fd, path, e);
}

static int open_inside(const char *root, const char *path, struct err *e)
{
	struct open_how how = { .flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, error;

	if (dir < 0)
		return err_sys(e, "%s", root);
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	error = errno;
	close(dir);
	if (fd < 0 && error == ENOSYS)
		return err_set(e, E_UNSUPPORTED, "%s: this kernel has no openat2", path);
	errno = error;
	return fd < 0 ? err_sys(e, "%s: in %s", path, root) : keep_regular(fd, path, e);
}

/* Part by part: the kernel itself would follow links on the way, and absolute ones of another root into ours. */
int file_open_below(const char *root, struct str below, struct err *e)
{
	enum { FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
	struct str rest = below;
	int fd = open(root, FOLDER);

	while (fd >= 0 && rest.p != NULL) {
		struct str part = str_split(&rest, '/');
		char name[NAME_MAX + 1];
		int next;

		if (str_empty(part))
			continue;
		next = str_copy_to(part, name, sizeof(name)) && strcmp(name, "..") != 0 ? openat(fd, name, FOLDER | O_NOFOLLOW)
											: (errno = EINVAL, -1);
		close(fd);
		fd = next;
	}
	return fd < 0 ? err_sys(e, "%s%s%.*s: open as a folder", root, str_has_prefix(below, STR("/")) ? "" : "/", STR_ARG(below))
		      : fd;
}

/* Takes fd, which may be an error of open. */
static int read_to_end(int fd, const char *path, struct buf *b, struct err *e)
{
	int rc = OK;

	if (fd < 0)
		return fd;
	for (;;) {
		char block[65536];
		ssize_t n = read(fd, block, sizeof(block));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = err_sys(e, "%s: read", path);
		if (n <= 0)
			break;
		buf_add(b, block, (size_t)n);
		if (b->rc != OK)
			break;
	}
	close(fd);
	return rc < 0 ? rc : buf_finish(b, path, e);
}

int file_read_all(const char *path, struct buf *b, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return read_to_end(fd < 0 ? err_sys(e, "%s", path) : fd, path, b, e);
}

int file_read_regular(const char *path, struct buf *b, struct err *e)
{
	return read_to_end(file_open_regular(path, e), path, b, e);
}

int file_read_inside(const char *root, const char *path, struct buf *b, struct err *e)
{
	return read_to_end(open_inside(root, path, e), path, b, e);
}

int file_write_all(int fd, const void *p, size_t n, const char *path, struct err *e)
{
	const char *b = p;

	while (n > 0) {
		ssize_t put = write(fd, b, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_sys(e, "%s: write", path);
		b += put;
		n -= (size_t)put;
	}
	return OK;
}

int file_pwrite_all(int fd, const void *p, size_t n, off_t at, const char *path, struct err *e)
{
	const char *b = p;

	while (n > 0) {
		ssize_t put = pwrite(fd, b, n, at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_sys(e, "%s: write", path);
		b += put;
		at += put;
		n -= (size_t)put;
	}
	return OK;
}

int file_pread_all(int fd, void *p, size_t n, off_t at, const char *path, struct err *e)
{
	char *b = p;

	while (n > 0) {
		ssize_t got = pread(fd, b, n, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(e, "%s: read", path);
		if (got == 0)
			return err_set(e, E_CORRUPT, "%s: ends at byte %lld, %zu bytes early", path,
				(long long)at, n);
		b += got;
		at += got;
		n -= (size_t)got;
	}
	return OK;
}

/* The folder a path lies in, "." for a bare name. */
static bool folder_of(const char *path, char out[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return str_copy_to(STR("."), out, PATH_MAX);
	return str_copy_to(str_make(path, slash == path ? 1 : (size_t)(slash - path)), out, PATH_MAX);
}

int file_sync_dir(const char *dir, struct err *e)
{
	int rc = OK, fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "%s", dir);
	if (fsync(fd) < 0)
		rc = err_sys(e, "%s: fsync", dir);
	close(fd);
	return rc;
}

int file_replace(const char *path, struct str content, mode_t mode, struct err *e)
{
	char tmp[PATH_MAX], dir[PATH_MAX];
	int fd, rc;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= (int)sizeof(tmp) || !folder_of(path, dir))
		return err_set(e, E_LIMIT, "%s: path longer than %d bytes", path, PATH_MAX);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0)
		return err_sys(e, "%s", tmp);
	rc = file_write_all(fd, content.p, content.n, tmp, e);
	if (rc == OK && fsync(fd) < 0)
		rc = err_sys(e, "%s: fsync", tmp);
	close(fd);
	if (rc == OK && rename(tmp, path) < 0)
		rc = err_sys(e, "%s: rename to %s", tmp, path);
	if (rc < 0) {
		unlink(tmp);
		return rc;
	}
	return file_sync_dir(dir, e);
}

int file_make_dirs(const char *dir, mode_t mode, struct err *e)
{
	char path[PATH_MAX];

	if (!str_copy_to(str_of(dir), path, sizeof(path)))
		return err_set(e, E_LIMIT, "%s: path longer than %d bytes", dir, PATH_MAX);
	for (char *p = path + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(path, mode) < 0 && errno != EEXIST)
			return err_sys(e, "%s: mkdir", path);
		*p = c;
		if (c == '\0')
			return OK;
	}
}

int file_free_bytes(const char *dir, uint64_t *bytes, struct err *e)
{
	struct statvfs st;

	if (statvfs(dir, &st) < 0)
		return err_sys(e, "%s", dir);
	*bytes = (uint64_t)st.f_bavail * st.f_frsize;
	return OK;
}

int file_lock(const char *path, int *fd, struct err *e)
{
	int got = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (got < 0)
		return err_sys(e, "%s", path);
	if (flock(got, LOCK_EX | LOCK_NB) < 0) {
		int rc = errno == EWOULDBLOCK ? err_set(e, E_BUSY, "%s: another process has it locked", path)
					      : err_sys(e, "%s: lock", path);

		close(got);
		return rc;
	}
	*fd = got;
	return OK;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int64_t file_mtime_ns(const struct stat *st)
{
	return st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;
}
