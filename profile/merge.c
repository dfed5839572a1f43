/* The merging of windows declared in profile/window.h. Sums are kept in order of first sight, so that the map's
 * numbers stay good; profile_merge_get makes an ordered copy of the rows that borrows their histograms. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "profile/sum.h"
#include "profile/window.h"

VEC(summaries, struct op_summary);

struct profile_merge {
	struct arena names;
	struct map map; /* kind byte and name → place in ops */
	struct summaries ops;
	struct op_summary *ordered; /* merged.ops */
	struct merged merged;
};

struct profile_merge *profile_merge_new(size_t cap_ops)
{
	struct profile_merge *m = mem_get(sizeof(*m));

	if (cap_ops > UINT32_MAX)
		cap_ops = UINT32_MAX;
	arena_init(&m->names, cap_ops * (size_t)(WINDOW_NAME_MAX + 32) + 65536);
	map_init(&m->map, cap_ops);
	m->ops.cap = cap_ops;
	return m;
}

void profile_merge_free(struct profile_merge *m)
{
	if (m == NULL)
		return;
	vec_each(op, &m->ops)
		op_summary_fini(op);
	vec_fini(&m->ops);
	map_fini(&m->map);
	arena_fini(&m->names);
	mem_free(m->ordered);
	mem_free(m);
}

static struct op_summary *fresh_row(struct profile_merge *m, const struct op_summary *op, struct str key)
{
	struct str kept = arena_str(&m->names, key);
	struct op_summary *row;

	if (arena_full(&m->names))
		return NULL;
	row = vec_push(&m->ops);
	if (row == NULL)
		return NULL;
	if (map_put(&m->map, kept, (uint32_t)m->ops.n - 1, NULL) == NULL) {
		m->ops.n--;
		return NULL;
	}
	row->kind = op->kind;
	row->name = str_from(kept, 1);
	return row;
}

int profile_merge_add_op(struct profile_merge *m, const struct op_summary *op)
{
	char text[1 + WINDOW_NAME_MAX];
	struct str key = { text, op->name.n + 1 };
	struct op_summary *row;
	uint32_t *at;

	if (op->name.n > WINDOW_NAME_MAX)
		return E_LIMIT;
	text[0] = (char)op->kind;
	if (op->name.n)
		memcpy(text + 1, op->name.p, op->name.n);
	at = map_get(&m->map, key);
	row = at != NULL ? &m->ops.v[*at] : fresh_row(m, op, key);
	if (row == NULL)
		return E_LIMIT;
	op_summary_merge(row, op);
	return OK;
}

void profile_merge_add_steps(struct profile_merge *m, uint64_t windows, uint64_t steps, bool has_device,
	int64_t first_ns, int64_t last_ns)
{
	struct merged *all = &m->merged;

	if (windows == 0)
		return;
	if (all->windows == 0 || first_ns < all->first_ns)
		all->first_ns = first_ns;
	if (all->windows == 0 || last_ns > all->last_ns)
		all->last_ns = last_ns;
	all->windows = sum_counts(all->windows, windows);
	all->steps = sum_counts(all->steps, steps);
	all->has_device = all->has_device || has_device;
}

int profile_merge_add(struct profile_merge *m, const struct window *w)
{
	int rc = OK;

	for (size_t i = 0; rc == OK && i < w->n_ops; i++)
		rc = profile_merge_add_op(m, &w->ops[i]);
	if (rc == OK)
		profile_merge_add_steps(m, 1, w->steps, w->has_device, w->start_ns, w->start_ns);
	return rc;
}

static int by_kind_and_name(const void *a, const void *b)
{
	return op_summary_cmp(a, b);
}

const struct merged *profile_merge_get(struct profile_merge *m)
{
	mem_free(m->ordered);
	m->ordered = mem_get_array(m->ops.n, sizeof(*m->ordered));
	if (m->ops.n) {
		memcpy(m->ordered, m->ops.v, m->ops.n * sizeof(*m->ordered));
		qsort(m->ordered, m->ops.n, sizeof(*m->ordered), by_kind_and_name);
	}
	m->merged.ops = m->ordered;
	m->merged.n_ops = m->ops.n;
	return &m->merged;
}
