#include "agent/errand.h"

#include "base/chan.h"
#include "base/mem.h"

struct errands {
	struct thread *thread;
	struct chan *todo, *done;
};

static void drain(struct chan *c)
{
	void *p;

	while (chan_pop(c, &p, 0) == OK) {
		struct errand *er = p;

		er->free(er);
	}
}

static void errands_run(struct thread *thread, void *arg)
{
	struct errands *es = arg;
	void *p;

	while (chan_pop(es->todo, &p, -1) == OK) {
		struct errand *er = p;

		if (!thread_stopping(thread))
			er->run(er, thread);
		if (chan_push(es->done, er, -1) < 0)
			er->free(er);
	}
}

int errands_start(struct errands **out, const char *name, size_t cap, struct err *e)
{
	struct errands *es = mem_get(sizeof(*es));
	int rc;

	es->todo = chan_new(cap);
	es->done = chan_new(cap);
	chan_fd(es->done); /* made by the thread that polls it */
	rc = thread_start(&es->thread, name, errands_run, es, e);
	if (rc < 0) {
		errands_stop(es);
		return rc;
	}
	*out = es;
	return OK;
}

void errands_stop(struct errands *es)
{
	if (es == NULL)
		return;
	chan_close(es->todo);
	chan_close(es->done); /* the thread does not wait for somebody to fetch */
	if (es->thread != NULL)
		thread_stop(es->thread);
	thread_join(es->thread);
	drain(es->todo);
	drain(es->done);
	chan_free(es->todo);
	chan_free(es->done);
	mem_free(es);
}

bool errands_give(struct errands *es, struct errand *er)
{
	return chan_try_push(es->todo, er) == OK;
}

int errands_fd(struct errands *es)
{
	return chan_fd(es->done);
}

struct errand *errands_fetch(struct errands *es)
{
	void *p;

	return chan_pop(es->done, &p, 0) == OK ? p : NULL;
}
