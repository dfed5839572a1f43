#include "base/proc.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

int proc_signals_open(int *fd, struct err *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	errno = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (errno != 0)
		return err_sys(e, "signals");
	signal(SIGPIPE, SIG_IGN);
	*fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *fd < 0 ? err_sys(e, "signalfd") : OK;
}

int proc_wait_signal(int fd, int64_t timeout_ns)
{
	struct timespec ts = { .tv_sec = timeout_ns / NS_PER_S, .tv_nsec = timeout_ns % NS_PER_S };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct signalfd_siginfo info;

	if (ppoll(&p, 1, timeout_ns < 0 ? NULL : &ts, NULL) <= 0)
		return 0;
	return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

/* A name that starts with '@' is in the abstract namespace: its first byte is NUL on the socket. */
void proc_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = path == NULL ? 0 : strlen(path);
	ssize_t sent;
	int fd;

	if (n < 2 || n >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, n);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	(void)sent; /* nobody listens: nothing to be done about it */
	close(fd);
}

int proc_limit_files(uint64_t want, struct err *e)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return err_sys(e, "limit of open files");
	if (lim.rlim_cur >= want)
		return OK;
	lim.rlim_cur = want < lim.rlim_max ? want : lim.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &lim) < 0 ? err_sys(e, "limit of open files") : OK;
}

void proc_host_name(char *out, size_t cap)
{
	if (gethostname(out, cap) < 0 || out[0] == '\0')
		snprintf(out, cap, "localhost");
	out[cap - 1] = '\0';
}
