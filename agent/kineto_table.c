#include "agent/kineto_table.h"

#include "base/clock.h"
#include "base/vec.h"

static const int64_t forget_ns = 60 * NS_PER_S;
/* Polls come every five seconds: whoever missed one is not waited for. */
static const int64_t fresh_ns = 8 * NS_PER_S;

static const char *const why_words[] = {
	[KINETO_DUE] = "due",
	[KINETO_YOUNG] = "young",
	[KINETO_BUSY] = "busy",
	[KINETO_QUIET] = "quiet",
	[KINETO_CROWDED] = "crowded",
	[KINETO_UNSENT] = "unsent",
};
_Static_assert(COUNT(why_words) == KINETO_WHYS, "name every reason");

const char *kineto_why_word(enum kineto_why why)
{
	return why_words[why];
}

VEC(procs, struct kineto_proc);

struct kineto_table {
	struct kineto_rules rules;
	struct procs procs;
	size_t out;
	uint64_t missed[KINETO_WHYS];
};

struct kineto_table *kineto_table_new(const struct kineto_rules *rules)
{
	struct kineto_table *t = mem_get(sizeof(*t));

	t->rules = *rules;
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

static void begin(struct kineto_table *t, struct kineto_proc *p, pid_t pid, uint64_t address, int64_t mono_ns,
	int64_t wall_ns)
{
	*p = (struct kineto_proc){ .pid = pid, .address = address, .first_ns = mono_ns, .why = KINETO_YOUNG };
	p->slot = schedule_slot(&t->rules.schedule, wall_ns);
}

static void take_tree(struct kineto_proc *p, const struct kineto_message *m)
{
	p->n_pids = m->n_pids < KINETO_TREE_MAX ? m->n_pids : KINETO_TREE_MAX;
	memcpy(p->pids, m->pids, p->n_pids * sizeof(*p->pids));
	p->job = m->job;
}

/* Into the slot that it is now; one that gave nothing is accounted for. A clock that was set back changes nothing until
 * it has caught up. */
static void turn_slot(struct kineto_table *t, struct kineto_proc *p, int64_t wall_ns)
{
	int64_t slot = schedule_slot(&t->rules.schedule, wall_ns);

	if (slot <= p->slot)
		return;
	if (p->owed)
		t->missed[p->why]++;
	p->slot = slot;
	p->owed = true;
}

struct kineto_proc *kineto_table_poll(struct kineto_table *t, pid_t pid, uid_t uid, uint64_t address,
	const struct kineto_message *m, int64_t mono_ns, int64_t wall_ns, bool *is_new)
{
	struct kineto_proc *p = find(t, pid);
	bool fresh = p == NULL || p->address != address;

	if (p == NULL)
		p = vec_push(&t->procs);
	if (p == NULL)
		return NULL;
	if (fresh)
		begin(t, p, pid, address, mono_ns, wall_ns);
	p->uid = uid;
	p->last_ns = mono_ns;
	p->polls++;
	p->idle = (m->can & KINETO_CAN_TRACE) != 0;
	take_tree(p, m);
	turn_slot(t, p, wall_ns);
	*is_new = !p->known;
	return p;
}

void kineto_table_know(struct kineto_table *t, pid_t pid, uint64_t address, int64_t born_ns, struct str dir)
{
	struct kineto_proc *p = find(t, pid);

	if (p == NULL || p->address != address || !str_copy_to(dir, p->dir, sizeof(p->dir)))
		return;
	p->born_ns = born_ns;
	p->known = true;
}

static bool is_young(const struct kineto_table *t, const struct kineto_proc *p, int64_t mono_ns)
{
	return p->polls < 2 || !p->known || mono_ns - p->born_ns < t->rules.min_age_ns;
}

/* How many others will take a place at their next poll and had their last window before p had: without this, whoever polls
 * first in a slot would win in every slot. */
static size_t waiting_longer(const struct kineto_table *t, const struct kineto_proc *p, int64_t mono_ns)
{
	size_t n = 0;

	vec_each(q, &t->procs)
		n += q->owed && q->idle && !q->out && q->asked_ns < p->asked_ns && mono_ns - q->last_ns < fresh_ns &&
		     !is_young(t, q, mono_ns);
	return n;
}

static enum kineto_why in_the_way(const struct kineto_table *t, const struct kineto_proc *p, int64_t mono_ns,
	int64_t wall_ns)
{
	if (!p->idle || p->out)
		return KINETO_BUSY;
	if (schedule_is_quiet(&t->rules.schedule, wall_ns))
		return KINETO_QUIET;
	if (is_young(t, p, mono_ns))
		return KINETO_YOUNG;
	if (t->out >= t->rules.max_at_once || waiting_longer(t, p, mono_ns) >= t->rules.max_at_once - t->out)
		return KINETO_CROWDED;
	return KINETO_DUE;
}

enum kineto_why kineto_table_ask(struct kineto_table *t, struct kineto_proc *p, int64_t mono_ns, int64_t wall_ns)
{
	if (!p->owed)
		return KINETO_BUSY;
	p->why = in_the_way(t, p, mono_ns, wall_ns);
	return p->why;
}

void kineto_table_gave(struct kineto_table *t, struct kineto_proc *p, int64_t mono_ns)
{
	p->asked_ns = mono_ns;
	p->owed = false;
	p->out = true;
	t->out++;
}

void kineto_table_unsent(struct kineto_proc *p, int64_t mono_ns)
{
	p->asked_ns = mono_ns; /* it must not keep the others waiting */
	p->why = KINETO_UNSENT;
}

void kineto_table_over(struct kineto_table *t, pid_t pid)
{
	struct kineto_proc *p = find(t, pid);

	if (t->out > 0)
		t->out--;
	if (p != NULL)
		p->out = false;
}

size_t kineto_table_expire(struct kineto_table *t, int64_t mono_ns)
{
	size_t kept = 0, n = t->procs.n;

	for (size_t i = 0; i < n; i++)
		if (mono_ns - t->procs.v[i].last_ns <= forget_ns)
			t->procs.v[kept++] = t->procs.v[i];
	t->procs.n = kept;
	return n - kept;
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

uint64_t kineto_table_missed(const struct kineto_table *t, enum kineto_why why)
{
	return t->missed[why];
}
