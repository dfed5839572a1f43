#include "agent/kineto_poll.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/plan.h"
#include "base/chan.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/rand.h"
#include "base/thread.h"

/* Of the notes to main, those that end an order always find room: were they to wait for it, main could wait for this thread in
 * turn. */
enum { NOTES_MAX = 2 * KINETO_PROCS_MAX, ENDS_MAX = PLAN_ORDERS_MAX, STRANGE_MAX = 10 };
enum { TURN_MAX = 4096, CHORES_MS = 1000, POLL_NICE = -10 };

/* The client has stopped waiting after 90 ms. */
static const int64_t answer_within_ns = 80 * NS_PER_MS;
static const int64_t slow_ns = 50 * NS_PER_MS;
/* A longer wait than that is a clock that was set. */
static const int64_t wait_max_ns = NS_PER_MIN;
static const int64_t strange_ns = 10 * NS_PER_S; /* in so long main hears of STRANGE_MAX, which is what a log prints */

struct place {
	int fd;
	char dir[KINETO_SOCKET_DIR_MAX + 1];
};

struct kineto_poll {
	struct kineto_poll_settings settings;
	struct kineto_poll_counts counts;
	struct kineto_table *table;
	struct place places[KINETO_SOCKETS_MAX];
	struct chan *to_main, *from_main;
	struct thread *thread;
	struct buf answer;
	struct kineto_got got;
	int64_t chores_ns, slowest_ns, strange_ns;
	unsigned strange; /* told since strange_ns */
};

static void make_counts(struct kineto_poll_counts *c, struct metrics *ms)
{
#define COUNTER(name, help) metric_counter(ms, "trainspotter_agent_kineto_" name "_total", NULL, help)
	c->polls = COUNTER("polls", "datagrams that came in");
	c->answers_late = COUNTER("late", "polls left without an answer because the client had stopped waiting");
	c->answers_lost = COUNTER("lost", "answers that the client did not take");
	c->bad = COUNTER("bad", "datagrams that are none of libkineto's");
	c->strange = COUNTER("strange", "polls left without an answer because it would end the process");
	c->refused = COUNTER("refused", "polls of users that are not to be profiled");
	c->no_pid = COUNTER("no_pid", "polls of processes that cannot be seen from this pid namespace");
	c->full = COUNTER("full", "polls beyond what is kept track of");
	c->slow = COUNTER("slow", "polls answered more than 50 ms after they came in");
	c->given = COUNTER("given", "windows asked for");
#undef COUNTER
	c->procs = metric_gauge(ms, "trainspotter_agent_kineto_processes", NULL, "processes that poll");
	c->out = metric_gauge(ms, "trainspotter_agent_kineto_out", NULL, "windows being taken");
	c->slowest_ns = metric_gauge(ms, "trainspotter_agent_kineto_slowest_ns", NULL, "slowest answer to a poll");
}

/* ---- notes */

static bool push_note(struct kineto_poll *p, const struct kineto_note *n)
{
	struct kineto_note *copy = mem_dup(n, sizeof(*n));

	if (chan_try_push(p->to_main, copy) == OK)
		return true;
	mem_free(copy);
	return false;
}

static bool send_note(struct kineto_poll *p, const struct kineto_note *n)
{
	return chan_count(p->to_main) < NOTES_MAX && push_note(p, n);
}

/* GIVEN or UNSENT: once an order, and there are so many at most. */
static void send_end(struct kineto_poll *p, const struct kineto_note *n)
{
	must(push_note(p, n));
}

static void send_unsent(struct kineto_poll *p, uint64_t order)
{
	send_end(p, &(struct kineto_note){ .kind = KINETO_NOTE_UNSENT, .grant.order = order });
}

/* False where there is no room: later, then. */
static bool send_seen(struct kineto_poll *p, struct kineto_proc *proc, int64_t mono_ns)
{
	if (!send_note(p, &(struct kineto_note){ .kind = KINETO_NOTE_SEEN, .pid = proc->pid, .address = proc->address,
		    .idle = proc->idle, .mono_ns = mono_ns }))
		return false;
	proc->told_idle = proc->idle;
	proc->told_ns = mono_ns;
	return true;
}

static void take_grant(struct kineto_poll *p, const struct kineto_note *n)
{
	if (!kineto_table_grant(p->table, n->pid, n->address, &n->grant))
		send_unsent(p, n->grant.order);
}

static void put_socket(struct kineto_poll *p, const struct kineto_note *n)
{
	struct place *pl = &p->places[n->index];

	must(n->index < KINETO_SOCKETS_MAX);
	if (pl->fd >= 0)
		close(pl->fd);
	pl->fd = n->fd;
	must(str_copy_to(str_of(n->dir), pl->dir, sizeof(pl->dir)));
}

static void obey_note(struct kineto_poll *p, const struct kineto_note *n)
{
	switch (n->kind) {
	case KINETO_NOTE_KNOWN: kineto_table_know(p->table, n->pid, n->address, str_of(n->dir)); break;
	case KINETO_NOTE_GRANT: take_grant(p, n); break;
	case KINETO_NOTE_REVOKE:
		kineto_table_revoke(p->table);
		p->chores_ns = 0;
		break;
	case KINETO_NOTE_OVER: kineto_table_over(p->table, n->pid); break;
	case KINETO_NOTE_SOCKET: put_socket(p, n); break;
	case KINETO_NOTE_NEW:
	case KINETO_NOTE_SEEN:
	case KINETO_NOTE_GIVEN:
	case KINETO_NOTE_UNSENT:
	case KINETO_NOTE_STRANGE: break;
	}
}

static void obey_notes(struct kineto_poll *p)
{
	void *n;

	while (chan_pop(p->from_main, &n, 0) == OK) {
		obey_note(p, n);
		mem_free(n);
	}
}

/* ---- answers */

static void note_speed(struct kineto_poll *p, int64_t waited_ns)
{
	if (waited_ns > wait_max_ns)
		return;
	metric_add(p->counts.slow, waited_ns > slow_ns);
	if (waited_ns <= p->slowest_ns)
		return;
	p->slowest_ns = waited_ns;
	metric_set(p->counts.slowest_ns, (double)waited_ns);
}

/* Sends what is in p->answer. */
static bool answer(struct kineto_poll *p, const struct place *pl)
{
	bool sent = p->answer.rc == OK && kineto_sock_answer(pl->fd, &p->got, buf_view(&p->answer));

	if (!sent)
		metric_add(p->counts.answers_lost, 1);
	else if (p->got.wall_ns > 0)
		note_speed(p, clock_wall_ns() - p->got.wall_ns);
	return sent;
}

static void answer_nothing(struct kineto_poll *p, const struct place *pl)
{
	buf_reset(&p->answer);
	kineto_wire_put_config(&p->answer, STR(""));
	answer(p, pl);
}

static bool make_window(struct kineto_poll *p, const struct kineto_proc *proc, struct kineto_note *n)
{
	const struct kineto_shape *s = &p->settings.shape;
	char stem[KINETO_STEM_MAX];
	struct kineto_window w = { .dir = str_of(proc->dir), .activities = str_of(s->activities),
		.custom = str_of(s->custom), .duration_ns = proc->grant.duration_ns, .iterations = proc->grant.iterations,
		.roundup = s->roundup };
	struct buf text, path;
	bool made;

	rand_os_bytes(&w.id, sizeof(w.id));
	snprintf(stem, sizeof(stem), KINETO_STEM "%016" PRIx64, w.id);
	w.stem = str_of(stem);
	buf_init(&text, KINETO_TEXT_MAX);
	buf_init(&path, sizeof(n->path) - 1);
	made = kineto_config_write(&w, &text, NULL) == OK;
	kineto_config_path(&w, proc->pids[0], &path);
	made = made && path.rc == OK && str_copy_to(buf_view(&path), n->path, sizeof(n->path));
	buf_reset(&p->answer);
	kineto_wire_put_config(&p->answer, buf_view(&text));
	buf_fini(&text);
	buf_fini(&path);
	return made;
}

static void not_given(struct kineto_poll *p, struct kineto_proc *proc)
{
	send_unsent(p, proc->grant.order);
	proc->grant.order = 0;
}

static void give_window(struct kineto_poll *p, const struct place *pl, struct kineto_proc *proc, int64_t mono_ns)
{
	struct kineto_note n = { .kind = KINETO_NOTE_GIVEN, .pid = proc->pid, .uid = proc->uid, .address = proc->address,
		.job = proc->job, .self = proc->pids[0], .mono_ns = mono_ns, .grant = proc->grant };

	memcpy(n.dir, proc->dir, sizeof(n.dir));
	if (!make_window(p, proc, &n)) {
		not_given(p, proc);
		answer_nothing(p, pl);
	} else if (!answer(p, pl)) {
		not_given(p, proc);
	} else {
		send_end(p, &n); /* a window that main did not hear of would never be over */
		kineto_table_gave(p->table, proc);
		metric_add(p->counts.given, 1);
	}
}

static bool uid_allowed(const struct kineto_poll *p, uid_t uid)
{
	for (size_t i = 0; i < p->settings.n_uids; i++)
		if (p->settings.uids[i] == uid)
			return true;
	return p->settings.n_uids == 0;
}

/* A process that is to be left alone: it hears "nothing to do" and does not wait in vain. */
static bool leave_alone(struct kineto_poll *p)
{
	bool allowed = uid_allowed(p, p->got.uid);

	if (!allowed)
		metric_add(p->counts.refused, 1);
	else if (p->got.pid == 0)
		metric_add(p->counts.no_pid, 1);
	return !allowed || p->got.pid == 0;
}

static void take_poll(struct kineto_poll *p, const struct place *pl, const struct kineto_message *m)
{
	int64_t mono = clock_mono_ns();
	uint64_t address = hash64(&p->got.from, p->got.from_len, 0);
	struct kineto_proc *proc = NULL;
	bool is_new = false;

	if (!leave_alone(p)) {
		proc = kineto_table_poll(p->table, p->got.pid, p->got.uid, address, m, mono, &is_new);
		if (proc == NULL)
			metric_add(p->counts.full, 1);
	}
	if (proc != NULL && is_new)
		send_note(p, &(struct kineto_note){ .kind = KINETO_NOTE_NEW, .pid = p->got.pid, .uid = p->got.uid,
			.address = address, .job = m->job, .self = m->pids[0], .idle = proc->idle, .mono_ns = mono });
	else if (proc != NULL && kineto_table_turned(proc, mono))
		(void)send_seen(p, proc, mono);
	if (proc != NULL && kineto_table_ask(proc, mono))
		give_window(p, pl, proc, mono);
	else
		answer_nothing(p, pl);
}

static void take_hello(struct kineto_poll *p, const struct place *pl, const struct kineto_message *m)
{
	buf_reset(&p->answer);
	kineto_wire_put_count(&p->answer, (int32_t)kineto_table_job_count(p->table, m->job));
	answer(p, pl);
}

static void say_strange(struct kineto_poll *p, const struct place *pl)
{
	struct kineto_note n = { .kind = KINETO_NOTE_STRANGE, .pid = p->got.pid };
	int64_t now = clock_mono_ns();

	metric_add(p->counts.strange, 1);
	if (now - p->strange_ns >= strange_ns) {
		p->strange_ns = now;
		p->strange = 0;
	}
	if (p->strange++ >= STRANGE_MAX)
		return;
	str_copy_to(kineto_sock_folder(&p->got), n.path, sizeof(n.path));
	str_copy_to(str_of(pl->dir), n.dir, sizeof(n.dir));
	send_note(p, &n);
}

static bool is_late(const struct kineto_poll *p)
{
	int64_t waited = clock_wall_ns() - p->got.wall_ns;

	return p->got.wall_ns > 0 && waited > answer_within_ns && waited < wait_max_ns;
}

static void take_datagram(struct kineto_poll *p, const struct place *pl)
{
	struct kineto_message m;

	metric_add(p->counts.polls, 1);
	if (p->got.sender == KINETO_SENDER_STRANGE)
		say_strange(p, pl);
	else if (p->got.too_long || p->got.sender == KINETO_SENDER_UNNAMED ||
		 kineto_wire_parse(str_make(p->got.bytes, p->got.n), &m, NULL) < 0)
		metric_add(p->counts.bad, 1);
	else if (is_late(p))
		metric_add(p->counts.answers_late, 1);
	else if (m.kind == KINETO_HELLO)
		take_hello(p, pl, &m);
	else
		take_poll(p, pl, &m);
}

/* ---- the loop */

/* Whole queues, but one socket must not keep the others waiting for ever. */
static void drain(struct kineto_poll *p)
{
	for (size_t i = 0; i < KINETO_SOCKETS_MAX; i++)
		for (int n = 0; p->places[i].fd >= 0 && n < TURN_MAX; n++) {
			if (!kineto_sock_get(p->places[i].fd, p->places[i].dir, &p->got))
				break;
			take_datagram(p, &p->places[i]);
		}
}

static void do_chores(struct kineto_poll *p)
{
	int64_t now = clock_mono_ns();
	struct kineto_proc *proc;
	uint64_t order;

	if (now < p->chores_ns)
		return;
	p->chores_ns = now + CHORES_MS * NS_PER_MS;
	while ((order = kineto_table_unsent(p->table, now)) != 0)
		send_unsent(p, order);
	kineto_table_expire(p->table, now);
	while ((proc = kineto_table_untold(p->table, now)) != NULL && send_seen(p, proc, now))
		;
	metric_set(p->counts.procs, (double)kineto_table_count(p->table));
	metric_set(p->counts.out, (double)kineto_table_out(p->table));
}

static void wait_for_datagrams(struct kineto_poll *p)
{
	struct pollfd fds[KINETO_SOCKETS_MAX + 1];
	nfds_t n = 0;

	fds[n++] = (struct pollfd){ .fd = chan_fd(p->from_main), .events = POLLIN };
	for (size_t i = 0; i < KINETO_SOCKETS_MAX; i++)
		if (p->places[i].fd >= 0)
			fds[n++] = (struct pollfd){ .fd = p->places[i].fd, .events = POLLIN };
	poll(fds, n, kineto_table_count(p->table) > 0 ? CHORES_MS : -1);
}

static void run(struct thread *thread, void *arg)
{
	struct kineto_poll *p = arg;

	setpriority(PRIO_PROCESS, 0, POLL_NICE); /* of this thread, on Linux; where it may not be, it is as it was */
	while (!thread_stopping(thread)) {
		obey_notes(p);
		drain(p);
		do_chores(p);
		wait_for_datagrams(p);
	}
}

int kineto_poll_start(struct kineto_poll **out, const struct kineto_poll_settings *s, struct metrics *ms,
	struct err *e)
{
	struct kineto_poll *p = mem_get(sizeof(*p));
	int rc;

	p->settings = *s;
	make_counts(&p->counts, ms);
	buf_init(&p->answer, KINETO_HEADER + KINETO_TEXT_MAX);
	p->table = kineto_table_new();
	for (size_t i = 0; i < KINETO_SOCKETS_MAX; i++)
		p->places[i].fd = -1;
	p->to_main = chan_new(NOTES_MAX + ENDS_MAX);
	p->from_main = chan_new(NOTES_MAX);
	chan_fd(p->to_main);
	chan_fd(p->from_main);
	rc = thread_start(&p->thread, "kineto", run, p, e);
	if (rc < 0) {
		kineto_poll_stop(p);
		return rc;
	}
	*out = p;
	return OK;
}

static void free_notes(struct chan *c)
{
	void *n;

	while (chan_pop(c, &n, 0) == OK) {
		const struct kineto_note *note = n;

		if (note->kind == KINETO_NOTE_SOCKET)
			close(note->fd);
		mem_free(n);
	}
	chan_free(c);
}

void kineto_poll_stop(struct kineto_poll *p)
{
	if (p == NULL)
		return;
	if (p->thread != NULL)
		thread_stop(p->thread);
	chan_close(p->from_main);
	thread_join(p->thread);
	free_notes(p->from_main);
	free_notes(p->to_main);
	for (size_t i = 0; i < KINETO_SOCKETS_MAX; i++)
		if (p->places[i].fd >= 0)
			close(p->places[i].fd);
	kineto_table_free(p->table);
	buf_fini(&p->answer);
	mem_free(p);
}

void kineto_poll_tell(struct kineto_poll *p, const struct kineto_note *n)
{
	must(chan_push(p->from_main, mem_dup(n, sizeof(*n)), -1) == OK); /* the thread never waits: there will be room */
}

int kineto_poll_fd(struct kineto_poll *p)
{
	return chan_fd(p->to_main);
}

bool kineto_poll_fetch(struct kineto_poll *p, struct kineto_note *out)
{
	void *n;

	if (chan_pop(p->to_main, &n, 0) != OK)
		return false;
	*out = *(struct kineto_note *)n;
	mem_free(n);
	return true;
}

const struct kineto_poll_counts *kineto_poll_counts(const struct kineto_poll *p)
{
	return &p->counts;
}
