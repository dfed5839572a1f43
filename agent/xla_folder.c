#include "agent/xla_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/enc.h"
#include "base/file.h"
#include "base/rand.h"
#include "base/tree.h"

enum { OPEN_FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC, RANDOM_BYTES = (XLA_FOLDER_RANDOM - 1) / 2 };
enum { NAMES_MAX = 100000 };

const struct xla_folder XLA_FOLDER_NONE = { .parent_fd = -1, .fd = -1 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- the way there */

static int open_dir(const char *root, const char *dir, struct err *e)
{
	int fd;

	if (root[0] != '\0')
		return file_open_below(root, str_of(dir), e);
	fd = open(dir, OPEN_FOLDER);
	return fd < 0 ? err_sys(e, "%s: open as a folder", dir) : fd;
}

/* ---- making */

static void random_text(char out[XLA_FOLDER_RANDOM])
{
	uint8_t bytes[RANDOM_BYTES];

	rand_os_bytes(bytes, sizeof(bytes));
	enc_hex(bytes, sizeof(bytes), out);
}

/* A folder of this mode, whatever the umask; its fd. */
static int make_at(int parent, const char *name, mode_t mode, struct err *e)
{
	int fd;

	if (mkdirat(parent, name, 0700) < 0)
		return err_sys(e, "%s: make", name);
	fd = openat(parent, name, OPEN_FOLDER | O_NOFOLLOW);
	if (fd < 0 || fchmod(fd, mode) < 0) {
		err_sys(e, "%s: open", name);
		close_fd(&fd);
		unlinkat(parent, name, AT_REMOVEDIR);
		return e == NULL ? E_SYS : e->code;
	}
	return fd;
}

static int make_session(struct xla_folder *f, uid_t uid, struct err *e)
{
	int fd = make_at(f->fd, f->session, 0700, e), rc = OK;

	if (fd < 0)
		return fd;
	if ((uid == XLA_ANYBODY || (uid != geteuid() && fchown(fd, uid, (gid_t)-1) < 0)) && fchmod(fd, 0777) < 0)
		rc = err_sys(e, "%s: let the job write there", f->session);
	close(fd);
	return rc;
}

int xla_folder_make(struct xla_folder *out, const char *root, const char *dir, uid_t uid, struct err *e)
{
	char random[XLA_FOLDER_RANDOM];
	int rc;

	*out = XLA_FOLDER_NONE;
	random_text(random);
	random_text(out->session);
	snprintf(out->name, sizeof(out->name), XLA_FOLDER_STEM "%s", random);
	if (snprintf(out->path, sizeof(out->path), "%s/%s", dir, out->name) >= (int)sizeof(out->path))
		return err_set(e, E_USAGE, "%s: path too long", dir);
	out->parent_fd = rc = open_dir(root, dir, e);
	if (rc >= 0)
		out->fd = rc = make_at(out->parent_fd, out->name, 0711, e);
	if (rc >= 0 && flock(out->fd, LOCK_EX | LOCK_NB) < 0)
		rc = err_sys(e, "%s: lock", out->name);
	if (rc >= 0)
		rc = make_session(out, uid, e);
	if (rc >= 0)
		return OK;
	(void)!xla_folder_remove(out, NULL);
	return err_add(e, "%s%s", root, dir);
}

/* ---- taking */

static int check_file(const struct stat *st, uid_t uid, int64_t max_bytes, struct err *e)
{
	if (!S_ISREG(st->st_mode) || st->st_nlink != 1 || (st->st_uid != uid && uid != XLA_ANYBODY))
		return err_set(e, E_DENIED, "what stands there is no file of the job's own");
	if (st->st_size > max_bytes)
		return err_set(e, E_LIMIT, "%lld bytes, want %" PRId64 " at most", (long long)st->st_size, max_bytes);
	return OK;
}

int xla_folder_take(struct xla_folder *f, const char *name, uid_t uid, int64_t max_bytes, struct watch_file *out, struct err *e)
{
	int session = openat(f->fd, f->session, OPEN_FOLDER | O_NOFOLLOW), rc;
	struct stat st = { 0 };

	*out = (struct watch_file){ .tries = 0 };
	rc = session < 0 || renameat(session, name, f->fd, name) < 0 || fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0
		? err_sys(e, "%s/%s/%s", f->path, f->session, name) : OK;
	close_fd(&session);
	if (rc == OK)
		rc = check_file(&st, uid, max_bytes, e);
	if (rc < 0)
		return rc;
	if (snprintf(out->path, sizeof(out->path), "/proc/self/fd/%d/%s", f->fd, name) >= (int)sizeof(out->path))
		return err_set(e, E_LIMIT, "%s: name too long", name);
	watch_take_stat(out, &st);
	return OK;
}

/* ---- taking away */

/* By way of the descriptor: DIR may lead somewhere else by now. */
static int remove_at(int parent, const char *name, struct err *e)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", parent, name);
	return tree_remove(path, e);
}

int xla_folder_remove(struct xla_folder *f, struct err *e)
{
	int rc = f->fd < 0 ? OK : remove_at(f->parent_fd, f->name, e);

	xla_folder_leave(f);
	return rc;
}

void xla_folder_leave(struct xla_folder *f)
{
	close_fd(&f->fd);
	close_fd(&f->parent_fd);
}

static bool is_stale(int fd, int64_t older_than_ns, int64_t now_wall_ns)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       now_wall_ns - (st.st_ctim.tv_sec * NS_PER_S + st.st_ctim.tv_nsec) > older_than_ns &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0;
}

size_t xla_folder_sweep(const char *root, const char *dir, int64_t older_than_ns, int64_t now_wall_ns)
{
	int parent = open_dir(root, dir, NULL), left = NAMES_MAX;
	DIR *d = parent < 0 ? NULL : fdopendir(parent);
	size_t gone = 0;

	if (d == NULL) {
		close_fd(&parent);
		return 0;
	}
	for (struct dirent *ent; left-- > 0 && (ent = readdir(d)) != NULL;) {
		int fd;

		if (!str_has_prefix(str_of(ent->d_name), STR(XLA_FOLDER_STEM)))
			continue;
		fd = openat(dirfd(d), ent->d_name, OPEN_FOLDER | O_NOFOLLOW);
		gone += is_stale(fd, older_than_ns, now_wall_ns) && remove_at(dirfd(d), ent->d_name, NULL) == OK;
		close_fd(&fd);
	}
	closedir(d);
	return gone;
}
