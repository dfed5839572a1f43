/* child.c — starting and ending programs.
 *
 * Between fork and exec only async-signal-safe calls are made, since other threads of ours may hold any lock at the fork: all
 * that needs memory or a lookup is got ready before (struct plan). What fails there travels back in a pipe that exec
 * closes, so the caller has either a running program or a sentence.
 *
 * A group is killed while its leader is still a zombie: its number cannot be anybody else's then. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/str.h"

extern char **environ;

enum { READ_BYTES = 16384, IOPRIO_OF_PROCESS = 1, IOPRIO_IDLE = 3 << 13, CLOSE_UP_TO = 65536 };
#define KILL_WAIT_NS (10 * NS_PER_S) /* how long SIGKILL may take */
#define GRACE_NS (2 * NS_PER_S)	     /* from SIGTERM to SIGKILL in child_run */
#define TICK_NS (20 * NS_PER_MS)     /* where the kernel has no pidfd */
#define DRAIN_BYTES (1 << 20)	     /* after the end: who escaped the group might print for ever */

struct child {
	pid_t pid;
	int pid_fd; /* readable when it has ended; -1: the kernel cannot */
	int fd[2];  /* its standard output and error, -1 once at their end */
	bool ended, lost; /* lost: SIGKILL did not end it */
	struct child_end end;
	char name[64]; /* of the program, for sentences */
};

/* ---- starting it */

enum stage { STAGE_GROUP, STAGE_FDS, STAGE_DIR, STAGE_NICE, STAGE_LIMITS, STAGE_EXEC, STAGES };
static const char *const stage_does[] = {
	[STAGE_GROUP] = "process group",
	[STAGE_FDS] = "its descriptors",
	[STAGE_DIR] = "working folder",
	[STAGE_NICE] = "nice",
	[STAGE_LIMITS] = "memory or file limit",
	[STAGE_EXEC] = "start",
};
_Static_assert(COUNT(stage_does) == STAGES, "name every stage");

struct failure {
	int stage, error;
};

struct plan {
	const struct child_settings *s;
	char path[PATH_MAX];
	char *const *argv, *const *env;
	int in, out[2], err[2], told[2]; /* /dev/null; pipes: our end, its end */
	pid_t parent;
	int priority;
};

static _Noreturn void child_fails(const struct plan *p, enum stage stage)
{
	struct failure f = { (int)stage, errno };
	ssize_t put = write(p->told[1], &f, sizeof(f));

	(void)put; /* nobody is left to tell */
	_exit(127);
}

static void signals_as_at_login(void)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &normal, NULL); /* fails for SIGKILL, SIGSTOP and libc's own: those are as they should be */
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* Marked, not closed: told[1] has to live until exec. */
static void close_others_at_exec(void)
{
	struct rlimit r;
	int top = CLOSE_UP_TO;

#ifdef SYS_close_range
	enum { CLOEXEC = 4 }; /* CLOSE_RANGE_CLOEXEC, Linux 5.11 */
	if (syscall(SYS_close_range, 3u, ~0u, CLOEXEC) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < CLOSE_UP_TO)
		top = (int)r.rlim_cur;
	for (int fd = 3; fd < top; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static bool limit_to(int what, uint64_t bytes)
{
	struct rlimit r;

	if (getrlimit((__rlimit_resource_t)what, &r) < 0)
		return false;
	if (r.rlim_max == RLIM_INFINITY || bytes < r.rlim_max)
		r.rlim_max = bytes;
	r.rlim_cur = r.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &r) == 0;
}

/* Rather this one than the job it looks at. Best effort, as is ioprio: not every kernel or container has them. */
static void be_modest(bool io_idle)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		ssize_t put = write(fd, "900", 3);

		(void)put;
		close(fd);
	}
	if (io_idle)
		syscall(SYS_ioprio_set, IOPRIO_OF_PROCESS, 0, IOPRIO_IDLE);
}

static _Noreturn void child_becomes(const struct plan *p)
{
	const struct child_settings *s = p->s;

	if (setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		child_fails(p, STAGE_GROUP);
	if (getppid() != p->parent)
		_exit(127); /* we died in between */
	if (dup2(p->in, 0) < 0 || dup2(p->out[1], 1) < 0 || dup2(p->err[1], 2) < 0)
		child_fails(p, STAGE_FDS);
	close_others_at_exec();
	if (s->dir != NULL && chdir(s->dir) < 0)
		child_fails(p, STAGE_DIR);
	if (s->nice != 0 && setpriority(PRIO_PROCESS, 0, p->priority) < 0)
		child_fails(p, STAGE_NICE);
	be_modest(s->io_idle);
	limit_to(RLIMIT_CORE, 0);
	if ((s->memory_bytes > 0 && !limit_to(RLIMIT_AS, s->memory_bytes)) ||
		(s->file_bytes > 0 && !limit_to(RLIMIT_FSIZE, s->file_bytes)))
		child_fails(p, STAGE_LIMITS);
	signals_as_at_login();
	execve(p->path, p->argv, p->env);
	child_fails(p, STAGE_EXEC);
}

/* Descriptors 0 to 2 would be overwritten by the child's own: where ours are closed, pipes can land there. */
static int above_standard(int *fd)
{
	int up;

	if (*fd > 2)
		return OK;
	up = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
	close(*fd);
	*fd = up;
	return up < 0 ? E_SYS : OK;
}

static int pipe_open(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) < 0) {
		fd[0] = fd[1] = -1;
		return E_SYS;
	}
	return above_standard(&fd[0]) < 0 || above_standard(&fd[1]) < 0 ? E_SYS : OK;
}

static int plan_open(struct plan *p, struct err *e)
{
	p->in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (p->in < 0 || above_standard(&p->in) < 0)
		return err_sys(e, "/dev/null");
	if (pipe_open(p->out) < 0 || pipe_open(p->err) < 0 || pipe_open(p->told) < 0)
		return err_sys(e, "pipe");
	if (fcntl(p->out[0], F_SETFL, O_NONBLOCK) < 0 || fcntl(p->err[0], F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "pipe");
	return OK;
}

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void plan_close(struct plan *p)
{
	fd_close(&p->in);
	for (int i = 0; i < 2; i++) {
		fd_close(&p->out[i]);
		fd_close(&p->err[i]);
		fd_close(&p->told[i]);
	}
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int program_find(const char *name, char out[PATH_MAX], struct err *e)
{
	struct str rest = str_of(getenv("PATH"));
	bool there = false;

	if (strchr(name, '/') != NULL)
		return str_copy_to(str_of(name), out, PATH_MAX) ? OK
								: err_set(e, E_LIMIT, "%.60s…: a path too long", name);
	while (rest.p != NULL) {
		struct str dir = str_split(&rest, ':');
		int n = snprintf(out, PATH_MAX, "%.*s/%s", STR_ARG(str_empty(dir) ? STR(".") : dir), name);

		if (n > 0 && n < PATH_MAX && is_program(out))
			return OK;
		there = there || (n > 0 && n < PATH_MAX && access(out, F_OK) == 0);
	}
	if (there)
		return err_set(e, E_DENIED, "%s: in PATH, but not a program that may be run", name);
	return err_set(e, E_NOT_FOUND, "%s: no such program in PATH", name);
}

/* execve gives ENOENT for the program and for what its first line names, and EACCES for more than one reason. */
static int exec_failed(const struct plan *p, int error, struct err *e)
{
	struct stat st;

	if (error == ENOENT && stat(p->path, &st) == 0)
		return err_set(e, E_NOT_FOUND, "%s: its interpreter is not there (see its first line, or ldd)", p->path);
	if (error == ENOEXEC)
		return err_set(e, E_FORMAT, "%s: not a program of this machine; a script begins with #! and its interpreter",
			p->path);
	if (error == EACCES && stat(p->path, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(e, E_DENIED, "%s: a folder, not a program", p->path);
	if (error == EACCES)
		return err_set(e, E_DENIED, "%s: may not be run (is it executable? is its file system mounted noexec?)",
			p->path);
	errno = error;
	return err_sys(e, "%s", p->path);
}

static int plan_failed(const struct plan *p, const struct failure *f, struct err *e)
{
	must(f->stage >= 0 && f->stage < STAGES);
	if (f->stage == STAGE_EXEC)
		return exec_failed(p, f->error, e);
	errno = f->error;
	if (f->stage == STAGE_DIR)
		return err_sys(e, "%s: working folder %s", p->path, p->s->dir);
	return err_sys(e, "%s: %s", p->path, stage_does[f->stage]);
}

/* Blocks until the child has become its program (nothing comes: the pipe was closed by exec) or has said why not. */
static bool child_told(const struct plan *p, struct failure *f)
{
	ssize_t n;

	do
		n = read(p->told[0], f, sizeof(*f));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*f);
}

/* All signals wait meanwhile: a handler of ours must not run in the child. */
static pid_t fork_quietly(void)
{
	sigset_t all, before;
	pid_t pid;
	int saved;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	saved = errno;
	if (pid != 0)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return pid;
}

static int plan_start(struct plan *p, pid_t *pid, struct err *e)
{
	struct failure f;

	errno = 0;
	p->parent = getpid();
	p->priority = getpriority(PRIO_PROCESS, 0) + p->s->nice;
	*pid = fork_quietly();
	if (*pid < 0)
		return err_sys(e, "%s: fork", p->path);
	if (*pid == 0)
		child_becomes(p);
	fd_close(&p->told[1]);
	if (!child_told(p, &f))
		return OK;
	while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
		;
	return plan_failed(p, &f, e);
}

static int pid_fd_open(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
#else
	(void)pid;
	return -1;
#endif
}

int child_start(struct child **out, const struct child_settings *s, struct err *e)
{
	struct plan p = { .s = s, .in = -1, .out = { -1, -1 }, .err = { -1, -1 }, .told = { -1, -1 } };
	struct child *c;
	pid_t pid = 0;
	int rc;

	must(s->argv != NULL && s->argv[0] != NULL);
	*out = NULL;
	memcpy(&p.argv, &s->argv, sizeof(p.argv)); /* execve wants them without const and changes nothing */
	memcpy(&p.env, s->env == NULL ? (const void *)&environ : (const void *)&s->env, sizeof(p.env));
	rc = program_find(s->argv[0], p.path, e);
	if (rc == OK)
		rc = plan_open(&p, e);
	if (rc == OK)
		rc = plan_start(&p, &pid, e);
	if (rc < 0)
		goto out;
	c = mem_get(sizeof(*c));
	c->pid = pid;
	c->pid_fd = pid_fd_open(pid);
	c->fd[0] = p.out[0];
	c->fd[1] = p.err[0];
	p.out[0] = p.err[0] = -1;
	snprintf(c->name, sizeof(c->name), "%s", s->argv[0]);
	*out = c;
out:
	plan_close(&p);
	return rc;
}

pid_t child_pid(const struct child *c)
{
	return c->pid;
}

int child_out_fd(const struct child *c)
{
	return c->fd[0];
}

int child_err_fd(const struct child *c)
{
	return c->fd[1];
}

/* ---- ending it */

void child_signal(struct child *c, int sig)
{
	if (!c->ended)
		kill(-c->pid, sig);
}

static bool has_ended(const struct child *c)
{
	siginfo_t si = { 0 };
	int rc;

	do
		rc = waitid(P_PID, (id_t)c->pid, &si, WEXITED | WNOHANG | WNOWAIT);
	while (rc < 0 && errno == EINTR);
	return rc < 0 || si.si_pid == c->pid; /* rc < 0: somebody else collected it */
}

static void collect(struct child *c)
{
	siginfo_t si = { 0 };
	int rc;

	kill(-c->pid, SIGKILL);
	do
		rc = waitid(P_PID, (id_t)c->pid, &si, WEXITED);
	while (rc < 0 && errno == EINTR);
	c->ended = true;
	c->end.exited = rc == 0 && si.si_code == CLD_EXITED;
	c->end.status = c->end.exited ? si.si_status : 0;
	c->end.signal = c->end.exited ? 0 : si.si_status;
}

bool child_ended(struct child *c, struct child_end *out)
{
	if (!c->ended && has_ended(c))
		collect(c);
	if (c->ended && out != NULL)
		*out = c->end;
	return c->ended;
}

/* ---- reading from it and waiting for it */

struct sink {
	struct buf *to; /* NULL: all is dropped */
	uint64_t dropped;
};

static void sink_put(struct sink *k, const char *p, size_t n)
{
	size_t room = k->to == NULL || k->to->rc < 0 ? 0 : k->to->cap - k->to->n;
	size_t fits = n < room ? n : room;

	if (fits > 0)
		buf_add(k->to, p, fits);
	if (k->to != NULL)
		k->dropped += n - fits;
}

/* What is there now; false once nothing can come any more. */
static bool sink_read(struct sink *k, int fd, size_t max)
{
	char bytes[READ_BYTES];

	for (size_t got = 0; got < max;) {
		ssize_t n = read(fd, bytes, sizeof(bytes));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0)
			return false;
		sink_put(k, bytes, (size_t)n);
		got += (size_t)n;
	}
	return true;
}

static void sinks_read(struct child *c, struct sink k[2], size_t max)
{
	for (int i = 0; i < 2; i++)
		if (c->fd[i] >= 0 && !sink_read(&k[i], c->fd[i], max))
			fd_close(&c->fd[i]);
}

/* Until something is to be read, it has ended, t is stopping or the time has come. */
static void wait_until(struct child *c, struct thread *t, int64_t until_ns)
{
	int64_t left = until_ns - clock_mono_ns();
	struct pollfd p[] = {
		{ .fd = c->fd[0], .events = POLLIN },
		{ .fd = c->fd[1], .events = POLLIN },
		{ .fd = c->pid_fd, .events = POLLIN },
		{ .fd = t == NULL ? -1 : thread_stop_fd(t), .events = POLLIN },
	};
	struct timespec ts;

	if (c->pid_fd < 0)
		left = clock_earlier(left, TICK_NS);
	if (left < 0)
		left = 0;
	ts = (struct timespec){ .tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S };
	ppoll(p, COUNT(p), &ts, NULL);
}

/* Reads it empty while it lives, at most until until_ns; true when it has ended. */
static bool child_drain(struct child *c, struct sink k[2], int64_t until_ns)
{
	while (!child_ended(c, NULL)) {
		if (clock_mono_ns() >= until_ns)
			return false;
		wait_until(c, NULL, until_ns);
		sinks_read(c, k, DRAIN_BYTES);
	}
	return true;
}

/* SIGTERM, time to tidy up, SIGKILL; false when even that did not help. */
static bool child_stop(struct child *c, struct sink k[2], int64_t grace_ns)
{
	child_signal(c, SIGTERM);
	child_signal(c, SIGCONT);
	if (child_drain(c, k, clock_mono_ns() + grace_ns))
		return true;
	child_signal(c, SIGKILL);
	c->lost = !child_drain(c, k, clock_mono_ns() + KILL_WAIT_NS);
	return !c->lost;
}

void child_close(struct child *c, int64_t grace_ns)
{
	struct sink none[2] = { 0 };

	if (c == NULL)
		return;
	if (!c->lost && !child_ended(c, NULL))
		child_stop(c, none, grace_ns);
	fd_close(&c->pid_fd);
	fd_close(&c->fd[0]);
	fd_close(&c->fd[1]);
	mem_free(c);
}

/* ---- a whole run */

struct run {
	const struct child_settings *s;
	struct thread *t;
	int64_t limit_at_ns, go_on_at_ns; /* mono */
};

/* Is there a reason not to wait any longer? Noted in the child's end. */
static bool run_is_over(struct run *r, struct child *c)
{
	int64_t now = clock_mono_ns();

	if (r->s->go_on != NULL && now >= r->go_on_at_ns) {
		r->go_on_at_ns = now + r->s->go_on_ns;
		c->end.cut = !r->s->go_on(r->s->go_on_arg);
	}
	c->end.stopped = r->t != NULL && thread_stopping(r->t);
	c->end.timed_out = now >= r->limit_at_ns;
	return c->end.cut || c->end.stopped || c->end.timed_out;
}

static bool run_wait(struct run *r, struct child *c, struct sink k[2])
{
	while (!child_ended(c, NULL)) {
		if (run_is_over(r, c))
			return child_stop(c, k, GRACE_NS);
		wait_until(c, r->t, r->s->go_on == NULL ? r->limit_at_ns : clock_earlier(r->limit_at_ns, r->go_on_at_ns));
		sinks_read(c, k, READ_BYTES);
	}
	return true;
}

int child_run(const struct child_settings *s, int64_t limit_ns, struct thread *t, struct buf *out, struct buf *err_text,
	struct child_end *end, struct err *e)
{
	struct sink k[2] = { { .to = out }, { .to = err_text } };
	struct child *c = NULL;
	struct run r = { .s = s, .t = t };
	int rc;

	memset(end, 0, sizeof(*end));
	rc = child_start(&c, s, e);
	if (rc < 0)
		return rc;
	if (__builtin_add_overflow(clock_mono_ns(), limit_ns, &r.limit_at_ns))
		r.limit_at_ns = INT64_MAX;
	if (run_wait(&r, c, k))
		sinks_read(c, k, DRAIN_BYTES);
	else
		rc = err_set(e, E_SYS, "%s: process %d did not end even by SIGKILL, it hangs in the kernel", c->name,
			(int)c->pid);
	*end = c->end;
	end->dropped_bytes = k[0].dropped + k[1].dropped;
	child_close(c, 0);
	return rc;
}
