#include "tests/unit/agent/fake_plan.h"

#include <check.h>
#include <string.h>

struct fake_plan fake_plan;

uint64_t plan_seen(struct plan *p, const struct plan_worker *w, int64_t now_ns, int64_t wall_ns)
{
	struct fake_plan *f = &fake_plan;
	size_t i = 0;

	(void)p;
	(void)now_ns;
	(void)wall_ns;
	while (i < f->n_workers && strcmp(f->workers[i].key, w->key) != 0)
		i++;
	ck_assert_uint_lt(i, FAKE_WORKERS_MAX);
	if (i == f->n_workers)
		f->n_workers++;
	f->workers[i] = *w;
	return i + 1;
}

bool plan_next(struct plan *p, const char *source, int64_t now_ns, int64_t wall_ns, struct plan_order *out)
{
	struct fake_plan *f = &fake_plan;

	(void)p;
	(void)wall_ns;
	if (f->wanted == 0 || f->out != 0)
		return false;
	for (size_t i = 0; i < f->n_workers; i++) {
		if (!f->workers[i].idle || strcmp(f->workers[i].source, source) != 0)
			continue;
		f->wanted--;
		f->out = ++f->given;
		*out = (struct plan_order){ .id = f->out, .worker = i + 1, .duration_ns = f->duration_ns,
			.expires_ns = now_ns + 1000000000 };
		memcpy(out->key, f->workers[i].key, sizeof(out->key));
		return true;
	}
	return false;
}

void plan_end(struct plan *p, uint64_t order, bool taken, const char *end, int64_t now_ns)
{
	struct fake_plan *f = &fake_plan;

	(void)p;
	(void)now_ns;
	ck_assert_uint_eq(order, f->out);
	ck_assert_uint_lt(f->n_ends, FAKE_ENDS_MAX);
	f->out = 0;
	f->ends[f->n_ends++] = (struct fake_order_end){ taken, end };
}

void meter_count(struct meter *m, const char *source, const char *key, enum cost_counter counter, int64_t at_ns, uint64_t count)
{
	(void)m;
	(void)source;
	(void)at_ns;
	ck_assert_int_eq(counter, COST_ITERATIONS);
	ck_assert_ptr_nonnull(key);
	fake_plan.iterations = count;
	fake_plan.n_counts++;
}

void plan_over(struct plan *p, uint64_t order)
{
	(void)p;
	ck_assert_uint_eq(order, fake_plan.out);
}

void plan_unsent(struct plan *p, uint64_t order, int64_t now_ns)
{
	fake_plan.unsent++;
	plan_end(p, order, false, "unsent", now_ns);
}
