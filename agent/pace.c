#include "agent/pace.h"

#include "base/hash.h"
#include "base/vec.h"
#include "stat/robust.h"

struct entry {
	uint64_t key;
	int64_t seen_ns;
	double steps[PACE_WINDOWS]; /* ns, a ring */
	unsigned n, at;
};

VEC(entries, struct entry);

struct pace {
	struct entries entries;
};

int64_t pace_step_ns(const struct window *w)
{
	for (size_t i = 0; i < w->n_ops; i++)
		if (w->ops[i].kind == OP_STEP && w->ops[i].calls > 0 && !hist_empty(&w->ops[i].hist))
			return (int64_t)hist_quantile(&w->ops[i].hist, 0.5);
	return w->steps == 0 ? 0 : w->dur_ns / (int64_t)w->steps;
}

struct pace *pace_new(void)
{
	struct pace *p = mem_get(sizeof(*p));

	p->entries.cap = PACE_WORKERS_MAX;
	return p;
}

void pace_free(struct pace *p)
{
	if (p == NULL)
		return;
	vec_fini(&p->entries);
	mem_free(p);
}

static uint64_t hash_key(const struct pace_key *k)
{
	uint64_t h = hash64(k->source.p, k->source.n, k->source.n);

	h = hash64(k->service.p, k->service.n, h ^ k->service.n);
	h = hash64(k->deploy.p, k->deploy.n, h ^ k->deploy.n);
	return hash64(k->worker.p, k->worker.n, h ^ k->worker.n);
}

static struct entry *oldest(struct pace *p)
{
	struct entry *old = &p->entries.v[0];

	vec_each(en, &p->entries)
		if (en->seen_ns < old->seen_ns)
			old = en;
	return old;
}

static struct entry *entry_of(struct pace *p, uint64_t key)
{
	struct entry *en;

	vec_each(e, &p->entries)
		if (e->key == key)
			return e;
	en = vec_push(&p->entries);
	if (en == NULL && p->entries.n == 0)
		return NULL;
	if (en == NULL)
		en = oldest(p);
	*en = (struct entry){ .key = key };
	return en;
}

static int64_t median_of(const struct entry *en)
{
	double scratch[PACE_WINDOWS];

	memcpy(scratch, en->steps, en->n * sizeof(*scratch));
	return (int64_t)robust_median(scratch, en->n);
}

bool pace_add(struct pace *p, const struct pace_key *k, int64_t step_ns, int64_t ratio, int64_t now_ns, int64_t *median_ns)
{
	struct entry *en = step_ns <= 0 ? NULL : entry_of(p, hash_key(k));

	*median_ns = 0;
	if (en == NULL)
		return false;
	if (en->n >= PACE_WINDOWS_MIN)
		*median_ns = median_of(en);
	en->seen_ns = now_ns;
	en->steps[en->at] = (double)step_ns;
	en->at = (en->at + 1) % PACE_WINDOWS;
	en->n += en->n < PACE_WINDOWS;
	return *median_ns > 0 && ratio > 0 && (double)step_ns * 1000 > (double)*median_ns * (double)ratio;
}
