#include "agent/cores.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/errand.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "trace/input.h"
#include "trace/neuron_ls.h"
#include "trace/tokens.h"

enum { OUTPUT_MAX = 4 << 20, PARSE_ARENA = 64 << 20, IDS_MAX = 4096, CHILD_NICE = 10 };

static const int64_t limit_ns = 20 * NS_PER_S, unknown_ns = NS_PER_MIN;

/* ---- the answer */

static int compare_ids(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* 0 1 2 3 8 → "0-3,8" */
static void ranges(int64_t *ids, size_t n, char out[CORES_TEXT])
{
	struct buf b;

	qsort(ids, n, sizeof(*ids), compare_ids);
	buf_init(&b, CORES_TEXT - 1);
	for (size_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && (uint64_t)ids[to] - (uint64_t)ids[to - 1] <= 1; to++)
			;
		buf_fmt(&b, "%s%" PRId64, i == 0 ? "" : ",", ids[i]);
		if (ids[to - 1] > ids[i])
			buf_fmt(&b, "-%" PRId64, ids[to - 1]);
	}
	out[0] = '\0';
	if (b.rc == OK)
		str_copy_to(buf_view(&b), out, CORES_TEXT);
	buf_fini(&b);
}

static bool holds(const struct neuron_chip *c, int64_t pid, bool *alone)
{
	bool its = false;

	for (size_t i = 0; i < c->n_processes; i++)
		its |= c->processes[i].pid == pid;
	for (size_t i = 0; its && i < c->n_processes; i++)
		*alone &= c->processes[i].pid == pid;
	return its;
}

static void gather(const struct neuron_host *host, struct cores_of *of)
{
	int64_t devices[NEURON_DEVICES_MAX], ids[IDS_MAX];
	size_t n_devices = 0, n_ids = 0;

	of->alone = true;
	for (size_t i = 0; i < host->n_chips; i++) {
		const struct neuron_chip *c = host->chips[i];

		if (!holds(c, of->pid, &of->alone))
			continue;
		if (c->index >= 0 && n_devices < COUNT(devices))
			devices[n_devices++] = c->index;
		for (size_t k = 0; k < c->n_core_ids && n_ids < COUNT(ids); k++)
			ids[n_ids++] = c->core_ids[k];
	}
	ranges(devices, n_devices, of->devices);
	ranges(ids, n_ids, of->text);
}

static int compare_pids(const void *a, const void *b)
{
	const struct cores_of *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct cores_of *find(const struct cores_table *t, int64_t pid)
{
	const struct cores_of key = { .pid = pid };

	return t->n == 0 ? NULL : bsearch(&key, t->v, t->n, sizeof(key), compare_pids);
}

static void tabulate(struct cores_table *t, const struct neuron_host *host)
{
	size_t n = 0;

	for (size_t i = 0; i < host->n_chips; i++)
		for (size_t k = 0; k < host->chips[i]->n_processes; k++) {
			struct cores_of *of = host->chips[i]->processes[k].pid < 0 ? NULL : vec_push(t);

			if (of != NULL)
				of->pid = host->chips[i]->processes[k].pid;
		}
	if (t->n > 0)
		qsort(t->v, t->n, sizeof(*t->v), compare_pids);
	for (size_t i = 0; i < t->n; i++)
		if (n == 0 || t->v[n - 1].pid != t->v[i].pid)
			t->v[n++] = t->v[i];
	t->n = n;
	vec_each(of, t)
		gather(host, of);
}

int cores_parse(struct cores_table *out, struct str text, struct err *e)
{
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct trace_report report = { 0 };
	struct neuron_host host = { .chips = NULL };
	struct input *in = NULL;
	struct tokens t;
	struct arena a;
	int rc;

	*out = (struct cores_table)VEC_INIT(CORES_PROCESSES_MAX);
	arena_init(&a, PARSE_ARENA);
	rc = input_open_memory(&in, text, "neuron-ls", &limits, e);
	if (rc == OK) {
		tokens_init(&t, in, &report, e);
		rc = neuron_ls_host(&a, &t, &host, e);
		tokens_fini(&t);
	}
	if (rc == OK)
		tabulate(out, &host);
	input_close(in);
	arena_fini(&a);
	return rc;
}

/* ---- asking */

struct question {
	struct errand errand;
	const char *program;
	struct cores_table table;
	int rc;
	struct err err;
};

struct cores {
	struct errands *errands;
	char *program;
	int64_t every_ns, asked_ns; /* 0: never */
	bool out, said;
	struct cores_table table;
};

/* Nothing of our own environment goes along, which may hold a token. */
static void ask(struct errand *er, struct thread *t)
{
	struct question *q = (struct question *)er;
	const char *const argv[] = { q->program, "-j", NULL }, *path = getenv("PATH");
	char path_set[PATH_MAX];
	const char *const env[] = { path_set, "LANG=C.UTF-8", NULL };
	const struct child_settings s = { .argv = argv, .env = env, .nice = CHILD_NICE };
	struct child_end end;
	struct buf b;

	snprintf(path_set, sizeof(path_set), "PATH=%s", path == NULL ? "/usr/bin:/bin" : path);
	buf_init(&b, OUTPUT_MAX);
	q->rc = child_run(&s, limit_ns, t, &b, NULL, &end, &q->err);
	if (q->rc == OK && end.timed_out)
		q->rc = err_set(&q->err, E_SYS, "%s: no answer within %" PRId64 " s", q->program, limit_ns / NS_PER_S);
	else if (q->rc == OK && (!end.exited || end.status != 0))
		q->rc = err_set(&q->err, E_SYS, "%s: ended with %s %d", q->program, end.exited ? "status" : "signal",
			end.exited ? end.status : end.signal);
	if (q->rc == OK)
		q->rc = cores_parse(&q->table, buf_view(&b), &q->err);
	buf_fini(&b);
}

static void free_question(struct errand *er)
{
	struct question *q = (struct question *)er;

	vec_fini(&q->table);
	mem_free(q);
}

int cores_start(struct cores **out, const char *program, int64_t every_ns, struct err *e)
{
	struct cores *c = mem_get(sizeof(*c));
	int rc = errands_start(&c->errands, "neuron-ls", 1, e);

	c->program = mem_dup_text(program);
	c->every_ns = every_ns;
	if (rc < 0) {
		cores_stop(c);
		return rc;
	}
	*out = c;
	return OK;
}

void cores_stop(struct cores *c)
{
	if (c == NULL)
		return;
	errands_stop(c->errands);
	vec_fini(&c->table);
	mem_free(c->program);
	mem_free(c);
}

int cores_fd(struct cores *c)
{
	return errands_fd(c->errands);
}

/* A host without the Neuron tools is no reason to complain again and again; nor is what the last answer said then wrong. */
static void take(struct cores *c, struct question *q)
{
	c->out = false;
	if (q->rc == OK) {
		vec_fini(&c->table);
		c->table = q->table;
		q->table = (struct cores_table){ .v = NULL };
		c->said = false;
	} else if (!c->said) {
		log_warn("neuron-ls.failed", "err=\"%s\" cure=\"identity.neuron_ls names the program; until then windows have no neuron_cores\"",
			q->err.text);
		c->said = true;
	}
	free_question(&q->errand);
}

void cores_look(struct cores *c)
{
	struct errand *er = errands_fetch(c->errands);

	if (er != NULL)
		take(c, (struct question *)er);
}

void cores_want(struct cores *c, pid_t pid, int64_t now_ns)
{
	bool known = find(&c->table, pid) != NULL || c->said;
	struct question *q;

	if (c->out || (c->asked_ns != 0 && now_ns - c->asked_ns < (known ? c->every_ns : unknown_ns)))
		return;
	q = mem_get(sizeof(*q));
	*q = (struct question){ .errand = { ask, free_question }, .program = c->program };
	c->out = errands_give(c->errands, &q->errand);
	c->asked_ns = now_ns;
	if (!c->out)
		free_question(&q->errand);
}

bool cores_of(const struct cores *c, pid_t pid, struct cores_of *out)
{
	const struct cores_of *of = find(&c->table, pid);

	if (of != NULL)
		*out = *of;
	return of != NULL;
}
