/* Decompression ahead of the reader: a thread fills blocks, the reader takes them in order.
 *
 *	decoder thread    pop from free → input_decode → push to full, until the end or an error
 *	reader            push what it had to free → pop from full
 *
 * The struct input is the decoder's from ahead_new to ahead_stop, but for the fields about the file that never change. What
 * the reader wants to know of the decoder's place travels with each block. */
#include "base/chan.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/thread.h"
#include "trace/input_codec.h"

enum { BLOCKS = 4 };

struct block {
	char *p; /* of INPUT_BLOCK */
	struct str text;
	struct trace_report report; /* as it was when the block was full */
	int rc;
	struct err error;
};

struct ahead {
	struct input *in;
	struct thread *thread;
	struct chan *free, *full;
	struct block blocks[BLOCKS];
	struct block *held; /* by the reader */
	struct trace_report report;
	bool end;
};

static void decode_all(struct thread *t, void *arg)
{
	struct ahead *a = arg;
	void *item;

	(void)t; /* ahead_stop closes the channels, which ends the wait */
	while (chan_pop(a->free, &item, -1) == OK) {
		struct block *b = item;
		bool over;

		b->rc = input_decode(a->in, b->p, &b->text, &b->error);
		b->report = input_snapshot(a->in);
		over = b->rc < 0 || b->text.n == 0; /* from then on the block is the reader's */
		if (chan_push(a->full, b, -1) < 0 || over)
			return;
	}
}

static void ahead_free(struct ahead *a)
{
	chan_free(a->free);
	chan_free(a->full);
	for (size_t i = 0; i < BLOCKS; i++)
		mem_free(a->blocks[i].p);
	mem_free(a);
}

struct ahead *ahead_new(struct input *in)
{
	struct ahead *a = mem_get(sizeof(*a));
	struct err e = { 0 };

	a->in = in;
	a->report = input_snapshot(in);
	a->free = chan_new(BLOCKS);
	a->full = chan_new(BLOCKS);
	for (size_t i = 0; i < BLOCKS; i++) {
		a->blocks[i].p = mem_get(INPUT_BLOCK);
		must(chan_try_push(a->free, &a->blocks[i]) == OK);
	}
	if (thread_start(&a->thread, "decode", decode_all, a, &e) == OK)
		return a;
	ahead_free(a);
	return NULL;
}

void ahead_stop(struct ahead *a)
{
	if (a == NULL)
		return;
	chan_close(a->free);
	chan_close(a->full);
	thread_join(a->thread);
	ahead_free(a);
}

int ahead_next(struct ahead *a, struct str *text, struct err *e)
{
	struct block *b;
	void *item;

	*text = STR("");
	if (a->held != NULL)
		must(chan_try_push(a->free, a->held) == OK);
	a->held = NULL;
	if (a->end)
		return OK;
	must(chan_pop(a->full, &item, -1) == OK);
	b = a->held = item;
	a->report = b->report;
	a->end = b->rc < 0 || b->text.n == 0;
	*text = b->text;
	if (b->rc < 0)
		*e = b->error;
	return b->rc;
}

const struct trace_report *ahead_report(const struct ahead *a)
{
	return &a->report;
}
