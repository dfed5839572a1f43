#include "base/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

struct thread {
	pthread_t id;
	atomic_bool stopping;
	int wake; /* eventfd, readable once stopping: ends thread_sleep */
	char name[16];
	void (*run)(struct thread *, void *);
	void *arg;
};

static void *thread_main(void *p)
{
	struct thread *t = p;

	pthread_setname_np(pthread_self(), t->name);
	t->run(t, t->arg);
	return NULL;
}

static int create_with_signals_blocked(struct thread *t)
{
	sigset_t all, before;
	int sys;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	sys = pthread_create(&t->id, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return sys;
}

int thread_start(struct thread **out, const char *name, void (*run)(struct thread *, void *), void *arg,
	struct err *e)
{
	struct thread *t = mem_get(sizeof(*t));

	t->run = run;
	t->arg = arg;
	snprintf(t->name, sizeof(t->name), "%s", name);
	*out = NULL;
	t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->wake < 0)
		goto fail;
	errno = create_with_signals_blocked(t);
	if (errno != 0)
		goto fail;
	*out = t;
	return OK;
fail:
	err_sys(e, "thread %s", name);
	if (t->wake >= 0)
		close(t->wake);
	mem_free(t);
	return e == NULL ? E_SYS : e->code;
}

void thread_stop(struct thread *t)
{
	uint64_t one = 1;
	ssize_t put;

	if (t == NULL || atomic_exchange(&t->stopping, true))
		return;
	put = write(t->wake, &one, sizeof(one));
	(void)put; /* the first write to an eventfd cannot fail */
}

bool thread_stopping(const struct thread *t)
{
	return atomic_load_explicit(&t->stopping, memory_order_acquire);
}

int thread_stop_fd(const struct thread *t)
{
	return t->wake;
}

void thread_join(struct thread *t)
{
	if (t == NULL)
		return;
	thread_stop(t);
	pthread_join(t->id, NULL);
	close(t->wake);
	mem_free(t);
}

bool thread_sleep(struct thread *t, int64_t ns)
{
	int64_t until = clock_mono_ns() + ns;

	while (!thread_stopping(t)) {
		int64_t left = until - clock_mono_ns();
		struct timespec ts = { .tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S };
		struct pollfd p = { .fd = t->wake, .events = POLLIN };

		if (left <= 0 || ppoll(&p, 1, &ts, NULL) == 0)
			break;
	}
	return thread_stopping(t);
}
