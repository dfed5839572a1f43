#include "agent/kineto_table.h"

#include "base/clock.h"
#include "base/vec.h"

static const int64_t forget_ns = 60 * NS_PER_S;
static const int64_t tell_again_ns = 20 * NS_PER_S; /* the plan forgets whom it does not hear of for a minute */
/* A client of libkineto's polls every five seconds. */
static const int64_t turned_ns = 100 * NS_PER_MS, turned_late_ns = NS_PER_S, asked_ns = 5 * NS_PER_S;
enum { ASKED_MAX = 4 };

VEC(procs, struct kineto_proc);

struct kineto_table {
	struct procs procs;
	size_t out;
};

struct kineto_table *kineto_table_new(void)
{
	struct kineto_table *t = mem_get(sizeof(*t));

	t->procs.cap = KINETO_PROCS_MAX;
	return t;
}

void kineto_table_free(struct kineto_table *t)
{
	if (t == NULL)
		return;
	vec_fini(&t->procs);
	mem_free(t);
}

static struct kineto_proc *find(struct kineto_table *t, pid_t pid)
{
	vec_each(p, &t->procs)
		if (p->pid == pid)
			return p;
	return NULL;
}

static void take_tree(struct kineto_proc *p, const struct kineto_message *m)
{
	p->n_pids = m->n_pids < KINETO_TREE_MAX ? m->n_pids : KINETO_TREE_MAX;
	memcpy(p->pids, m->pids, p->n_pids * sizeof(*p->pids));
	p->job = m->job;
}

static bool may_ask(struct kineto_proc *p, int64_t mono_ns)
{
	if (mono_ns - p->asked_ns >= asked_ns) {
		p->asked_ns = mono_ns;
		p->asked = 0;
	}
	if (p->asked >= ASKED_MAX)
		return false;
	p->asked++;
	return true;
}

struct kineto_proc *kineto_table_poll(struct kineto_table *t, pid_t pid, uid_t uid, uint64_t address,
	const struct kineto_message *m, int64_t mono_ns, bool *is_new)
{
	struct kineto_proc *p = find(t, pid);
	bool fresh = p == NULL || p->address != address;

	if (p == NULL)
		p = vec_push(&t->procs);
	if (p == NULL)
		return NULL;
	if (fresh) {
		const struct kineto_proc old = *p;

		*p = (struct kineto_proc){ .pid = pid, .address = address, .grant = old.grant, .told_ns = mono_ns,
			.asked_ns = old.asked_ns, .asked = old.asked };
		p->grant.until_ns = INT64_MIN; /* of the one before, if there is one */
	}
	p->uid = uid;
	p->last_ns = mono_ns;
	p->polls++;
	p->idle = (m->can & KINETO_CAN_TRACE) != 0;
	take_tree(p, m);
	*is_new = !p->known && may_ask(p, mono_ns);
	return p;
}

void kineto_table_know(struct kineto_table *t, pid_t pid, uint64_t address, struct str dir)
{
	struct kineto_proc *p = find(t, pid);

	if (p == NULL || p->address != address || !str_copy_to(dir, p->dir, sizeof(p->dir)))
		return;
	p->known = true;
}

bool kineto_table_grant(struct kineto_table *t, pid_t pid, uint64_t address, const struct kineto_grant *g)
{
	struct kineto_proc *p = find(t, pid);

	if (p == NULL || p->address != address || p->grant.order != 0)
		return false;
	p->grant = *g;
	return true;
}

void kineto_table_revoke(struct kineto_table *t)
{
	vec_each(p, &t->procs)
		p->grant.until_ns = INT64_MIN;
}

bool kineto_table_ask(const struct kineto_proc *p, int64_t mono_ns)
{
	return p->grant.order != 0 && mono_ns < p->grant.until_ns && p->idle && !p->out && p->known && p->polls >= 2;
}

void kineto_table_gave(struct kineto_table *t, struct kineto_proc *p)
{
	p->grant.order = 0;
	p->out = true;
	t->out++;
}

void kineto_table_over(struct kineto_table *t, pid_t pid)
{
	struct kineto_proc *p = find(t, pid);

	if (t->out > 0)
		t->out--;
	if (p != NULL)
		p->out = false;
}

uint64_t kineto_table_unsent(struct kineto_table *t, int64_t mono_ns)
{
	vec_each(p, &t->procs)
		if (p->grant.order != 0 && mono_ns >= p->grant.until_ns) {
			uint64_t order = p->grant.order;

			p->grant.order = 0;
			return order;
		}
	return 0;
}

size_t kineto_table_expire(struct kineto_table *t, int64_t mono_ns)
{
	size_t kept = 0, n = t->procs.n;

	for (size_t i = 0; i < n; i++)
		if (mono_ns - t->procs.v[i].last_ns <= forget_ns || t->procs.v[i].grant.order != 0)
			t->procs.v[kept++] = t->procs.v[i];
	t->procs.n = kept;
	return n - kept;
}

bool kineto_table_turned(const struct kineto_proc *p, int64_t mono_ns)
{
	return p->idle != p->told_idle && mono_ns - p->told_ns >= turned_ns;
}

struct kineto_proc *kineto_table_untold(struct kineto_table *t, int64_t mono_ns)
{
	vec_each(p, &t->procs)
		if (p->known && p->last_ns > p->told_ns &&
			mono_ns - p->told_ns >= (p->idle == p->told_idle ? tell_again_ns : turned_late_ns))
			return p;
	return NULL;
}

size_t kineto_table_count(const struct kineto_table *t)
{
	return t->procs.n;
}

size_t kineto_table_job_count(const struct kineto_table *t, int64_t job)
{
	size_t n = 0;

	vec_each(p, &t->procs)
		n += p->job == job;
	return n;
}

size_t kineto_table_out(const struct kineto_table *t)
{
	return t->out;
}
