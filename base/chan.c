#include "base/chan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/must.h"

struct chan {
	pthread_mutex_t lock;
	pthread_cond_t room, item; /* by the monotonic clock */
	void **ring;
	size_t cap, head;
	_Atomic size_t n; /* changed under the lock, read without */
	bool closed;
	int fd; /* eventfd or -1; its count is 1 while there are items or the channel is closed, else 0 */
};

static void cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

struct chan *chan_new(size_t cap)
{
	struct chan *c = mem_get(sizeof(*c));

	must(cap > 0);
	pthread_mutex_init(&c->lock, NULL);
	cond_init(&c->room);
	cond_init(&c->item);
	c->ring = mem_get_array(cap, sizeof(void *));
	c->cap = cap;
	c->fd = -1;
	return c;
}

void chan_free(struct chan *c)
{
	if (c == NULL)
		return;
	if (c->fd >= 0)
		close(c->fd);
	pthread_cond_destroy(&c->room);
	pthread_cond_destroy(&c->item);
	pthread_mutex_destroy(&c->lock);
	mem_free(c->ring);
	mem_free(c);
}

static void fd_raise(struct chan *c)
{
	uint64_t one = 1;

	if (c->fd >= 0)
		must(write(c->fd, &one, sizeof(one)) == sizeof(one));
}

static void fd_lower(struct chan *c)
{
	uint64_t count;

	if (c->fd >= 0)
		must(read(c->fd, &count, sizeof(count)) == sizeof(count));
}

/* Waits on cond until *deadline (by the monotonic clock; negative: for ever). False on time-out. */
static bool wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t deadline_ns)
{
	struct timespec ts = { .tv_sec = deadline_ns / NS_PER_S, .tv_nsec = deadline_ns % NS_PER_S };

	if (deadline_ns < 0)
		return pthread_cond_wait(cond, lock) == 0;
	return pthread_cond_timedwait(cond, lock, &ts) == 0;
}

static int64_t deadline_of(int64_t timeout_ns)
{
	int64_t at;

	if (timeout_ns < 0 || __builtin_add_overflow(clock_mono_ns(), timeout_ns, &at))
		return -1;
	return at;
}

int chan_push(struct chan *c, void *p, int64_t timeout_ns)
{
	int64_t deadline = timeout_ns == 0 ? 0 : deadline_of(timeout_ns);
	int rc = OK;

	pthread_mutex_lock(&c->lock);
	while (c->n == c->cap && !c->closed)
		if (timeout_ns == 0 || !wait_until(&c->room, &c->lock, deadline))
			break;
	if (c->closed) {
		rc = E_STOPPED;
	} else if (c->n == c->cap) {
		rc = E_BUSY;
	} else {
		c->ring[(c->head + c->n) % c->cap] = p;
		if (c->n++ == 0)
			fd_raise(c);
		pthread_cond_signal(&c->item);
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

int chan_try_push(struct chan *c, void *p)
{
	return chan_push(c, p, 0);
}

int chan_pop(struct chan *c, void **p, int64_t timeout_ns)
{
	int64_t deadline = timeout_ns == 0 ? 0 : deadline_of(timeout_ns);
	int rc = OK;

	*p = NULL;
	pthread_mutex_lock(&c->lock);
	while (c->n == 0 && !c->closed)
		if (timeout_ns == 0 || !wait_until(&c->item, &c->lock, deadline))
			break;
	if (c->n == 0) {
		rc = c->closed ? E_STOPPED : E_BUSY;
	} else {
		*p = c->ring[c->head];
		c->head = (c->head + 1) % c->cap;
		if (--c->n == 0 && !c->closed)
			fd_lower(c);
		pthread_cond_signal(&c->room);
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

void chan_close(struct chan *c)
{
	pthread_mutex_lock(&c->lock);
	if (!c->closed && c->n == 0)
		fd_raise(c);
	c->closed = true;
	pthread_cond_broadcast(&c->item);
	pthread_cond_broadcast(&c->room);
	pthread_mutex_unlock(&c->lock);
}

size_t chan_count(const struct chan *c)
{
	return atomic_load(&c->n);
}

int chan_fd(struct chan *c)
{
	int fd;

	pthread_mutex_lock(&c->lock);
	if (c->fd < 0) {
		c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (c->n > 0 || c->closed)
			fd_raise(c);
	}
	fd = c->fd;
	pthread_mutex_unlock(&c->lock);
	return fd;
}

struct ticket {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
	int rc;
};

struct ticket *ticket_new(void)
{
	struct ticket *t = mem_get(sizeof(*t));

	pthread_mutex_init(&t->lock, NULL);
	cond_init(&t->cond);
	return t;
}

void ticket_free(struct ticket *t)
{
	if (t == NULL)
		return;
	pthread_cond_destroy(&t->cond);
	pthread_mutex_destroy(&t->lock);
	mem_free(t);
}

void ticket_done(struct ticket *t, int rc)
{
	pthread_mutex_lock(&t->lock);
	must(!t->done);
	t->done = true;
	t->rc = rc;
	pthread_cond_signal(&t->cond);
	pthread_mutex_unlock(&t->lock);
}

int ticket_wait(struct ticket *t)
{
	int rc;

	pthread_mutex_lock(&t->lock);
	while (!t->done)
		pthread_cond_wait(&t->cond, &t->lock);
	t->done = false;
	rc = t->rc;
	pthread_mutex_unlock(&t->lock);
	return rc;
}
