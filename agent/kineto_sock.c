#include "agent/kineto_sock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"

enum {
	FAMILY = offsetof(struct sockaddr_un, sun_path),
	SEND_BYTES = 1 << 20, /* answers that nobody has read yet count here: hundreds of clients at once wait for a core */
	SEND_TRIES = 20,      /* a millisecond each; a client gives up after 90 */
};

/* ---- opening */

/* As much as root may have, else as much as anybody. */
static void widen(int fd)
{
	const int bytes = SEND_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
		(void)!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

static int new_fd(struct err *e)
{
	const int on = 1;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_sys(e, "socket");
	/* before it is bound: no datagram comes in without them */
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0) {
		int rc = err_sys(e, "SO_PASSCRED, SO_TIMESTAMPNS");

		close(fd);
		return rc;
	}
	widen(fd);
	return fd;
}

static int bind_abstract(struct kineto_sock *s, const char *name, struct err *e)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	size_t n = strlen(name);

	must(n + 2 <= sizeof(un.sun_path));
	memcpy(un.sun_path + 1, name, n);
	if (bind(s->fd, (struct sockaddr *)&un, (socklen_t)(FAMILY + 1 + n + 1)) == 0)
		return OK;
	if (errno == EADDRINUSE)
		return err_set(e, E_BUSY, "abstract socket %s: another daemon listens there (dynolog, or another agent)", name);
	return err_sys(e, "abstract socket %s: bind", name);
}

/* Whoever was killed left a socket behind that nobody listens at. */
static int remove_stale(const struct sockaddr_un *un, struct err *e)
{
	int fd, answered;
	struct stat st;

	if (lstat(un->sun_path, &st) < 0)
		return errno == ENOENT ? OK : err_sys(e, "%s", un->sun_path);
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, E_EXISTS, "%s: is there and is no socket", un->sun_path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, "socket");
	answered = connect(fd, (const struct sockaddr *)un, sizeof(*un));
	close(fd);
	if (answered == 0)
		return err_set(e, E_BUSY, "%s: another daemon listens there", un->sun_path);
	return unlink(un->sun_path) == 0 || errno == ENOENT ? OK : err_sys(e, "%s: remove", un->sun_path);
}

/* For all to write to, whatever the umask. By a descriptor: whoever may write to the folder could have put a link to any file there
 * meanwhile, or a second name of another socket. */
static int let_all_write(const char *path, struct stat *st, struct err *e)
{
	char held[40];
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = OK;

	if (fd < 0)
		return err_sys(e, "%s", path);
	snprintf(held, sizeof(held), "/proc/self/fd/%d", fd);
	if (fstat(fd, st) < 0)
		rc = err_sys(e, "%s", path);
	else if (!S_ISSOCK(st->st_mode) || st->st_uid != geteuid() || st->st_nlink != 1)
		rc = err_set(e, E_DENIED, "%s: somebody put something else there", path);
	else if (chmod(held, 0666) < 0)
		rc = err_sys(e, "%s: mode", path);
	close(fd);
	return rc;
}

static int bind_folder(struct kineto_sock *s, const char *name, struct err *e)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct stat st;
	int n = snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", s->dir, name), rc;

	must(n > 0 && (size_t)n < sizeof(un.sun_path));
	memcpy(s->path, un.sun_path, sizeof(s->path));
	rc = remove_stale(&un, e);
	if (rc < 0)
		return rc;
	if (bind(s->fd, (struct sockaddr *)&un, (socklen_t)(FAMILY + n + 1)) < 0)
		return err_sys(e, "%s: bind", s->path);
	rc = let_all_write(s->path, &st, e);
	if (rc < 0)
		return rc;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return OK;
}

int kineto_sock_open(struct kineto_sock *s, const char *dir, const char *name, struct err *e)
{
	int rc;

	*s = (struct kineto_sock){ .fd = -1 };
	if (!str_copy_to(str_of(dir), s->dir, sizeof(s->dir)))
		return err_set(e, E_USAGE, "%s: want a path of %d bytes at most", dir, KINETO_SOCKET_DIR_MAX);
	rc = new_fd(e);
	if (rc < 0)
		return rc;
	s->fd = rc;
	rc = s->dir[0] == '\0' ? bind_abstract(s, name, e) : bind_folder(s, name, e);
	if (rc < 0)
		kineto_sock_close(s);
	return rc;
}

bool kineto_sock_stolen(const struct kineto_sock *s)
{
	struct stat st;

	return s->ino != 0 && (lstat(s->path, &st) < 0 || st.st_dev != s->dev || st.st_ino != s->ino);
}

void kineto_sock_close(struct kineto_sock *s)
{
	if (s->fd < 0)
		return;
	if (s->ino != 0 && !kineto_sock_stolen(s))
		unlink(s->path);
	close(s->fd);
	s->fd = -1;
	s->ino = 0;
}

/* ---- talking */

/* The address as the kernel gave it: an abstract one starts with a NUL, a path ends with one. */
static struct str address(const struct kineto_got *g)
{
	struct str s = str_make(g->from.sun_path, g->from_len > FAMILY ? g->from_len - FAMILY : 0);

	return s.n > 0 && s.p[0] != '\0' ? str_upto(s, str_find_byte(s, '\0')) : s;
}

struct str kineto_sock_folder(const struct kineto_got *g)
{
	struct str path = address(g);
	size_t n = path.n;

	if (path.n > 0 && path.p[0] == '\0')
		return STR("(abstract)");
	while (n > 0 && path.p[n - 1] != '/')
		n--;
	return str_upto(path, n > 0 ? n - 1 : 0);
}

static enum kineto_sender judge(const struct kineto_got *g, const char *dir)
{
	struct str from = address(g);
	bool abstract = from.n > 0 && from.p[0] == '\0';

	if (from.n == 0)
		return KINETO_SENDER_UNNAMED;
	if (dir[0] == '\0')
		return abstract ? KINETO_SENDER_OK : KINETO_SENDER_STRANGE;
	return !abstract && str_eq(kineto_sock_folder(g), str_of(dir)) ? KINETO_SENDER_OK : KINETO_SENDER_STRANGE;
}

static void take_ancillary(struct msghdr *m, struct kineto_got *out)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS) {
			struct ucred u;

			memcpy(&u, CMSG_DATA(c), sizeof(u));
			out->pid = u.pid;
			out->uid = u.uid;
		} else if (c->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec ts;

			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			out->wall_ns = ts.tv_sec * NS_PER_S + ts.tv_nsec;
		} else if (c->cmsg_type == SCM_RIGHTS) { /* nobody sends files; whoever does must not fill our table */
			size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

			for (size_t i = 0; i < n; i++) {
				int fd;

				memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
				close(fd);
			}
		}
	}
}

bool kineto_sock_get(int fd, const char *dir, struct kineto_got *out)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(struct timespec)) +
			  CMSG_SPACE(8 * sizeof(int))];
	} control;
	struct iovec iov = { out->bytes, sizeof(out->bytes) };
	struct msghdr m = { .msg_name = &out->from, .msg_namelen = sizeof(out->from), .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t n;

	do
		n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return false;
	out->n = (size_t)n;
	out->from_len = m.msg_namelen;
	out->too_long = (m.msg_flags & MSG_TRUNC) != 0;
	out->pid = 0;
	out->uid = (uid_t)-1;
	out->wall_ns = 0;
	take_ancillary(&m, out);
	out->sender = judge(out, dir);
	return true;
}

/* Is our own side full of answers that were not read yet? Else it is the client that takes none, which is its affair. */
static bool is_full(int fd)
{
	int unread = 0, room = 0;
	socklen_t n = sizeof(room);

	return ioctl(fd, SIOCOUTQ, &unread) == 0 && getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, &n) == 0 &&
	       unread > room / 2;
}

bool kineto_sock_answer(int fd, const struct kineto_got *to, struct str datagram)
{
	must(to->sender == KINETO_SENDER_OK);
	for (int i = 0; i < SEND_TRIES; i++) {
		ssize_t n = sendto(fd, datagram.p, datagram.n, MSG_DONTWAIT | MSG_NOSIGNAL,
			(const struct sockaddr *)&to->from, to->from_len);

		if (n == (ssize_t)datagram.n)
			return true;
		if ((errno != EAGAIN && errno != ENOBUFS) || !is_full(fd))
			return false;
		clock_sleep_ns(NS_PER_MS);
	}
	return false;
}
