#include "trace/shares.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/event.h"

enum { FIRST_ROOM = 4096 };

void shares_fini(struct shares *s)
{
	if (s == NULL)
		return;
	mem_free(s->v);
	*s = (struct shares){ 0 };
}

static int compare(const void *pa, const void *pb)
{
	const struct share *x = pa, *y = pb;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

void shares_settle(struct shares *s)
{
	size_t kept = 0;

	if (s->n > 0)
		qsort(s->v, s->n, sizeof(*s->v), compare);
	for (size_t i = 0; i < s->n; i++) {
		const struct share *next = &s->v[i];
		struct share *last = kept > 0 ? &s->v[kept - 1] : NULL;

		if (last == NULL || compare(last, next) != 0) {
			s->v[kept++] = *next;
			continue;
		}
		last->calls += next->calls;
		last->cpu_ns = ns_add(last->cpu_ns, next->cpu_ns);
		last->device_ns = ns_add(last->device_ns, next->device_ns);
	}
	s->n = kept;
}

static void make_room(struct shares *s)
{
	size_t room = s->room > 0 ? s->room * 2 : FIRST_ROOM;
	struct share *v;

	shares_settle(s);
	if (s->room > 0 && s->n < s->room / 2)
		return;
	v = mem_try_resize(s->v, room * sizeof(*v));
	s->full |= v == NULL;
	if (v == NULL)
		return;
	s->v = v;
	s->room = room;
}

void shares_add(struct shares *s, struct share share)
{
	if (s->n == s->room)
		make_room(s);
	if (s->n < s->room)
		s->v[s->n++] = share;
}
