#include "trace/memory.h"

#include <stdlib.h>

/* The numbers of c10::DeviceType that PyTorch counts as the CPU. */
enum { TYPE_CPU = 0, TYPE_MKLDNN = 2, TYPE_IDEEP = 5 };

static enum memory_side side_of(int64_t type)
{
	return type == TYPE_CPU || type == TYPE_MKLDNN || type == TYPE_IDEEP ? MEMORY_CPU : MEMORY_DEVICE;
}

bool memory_add(struct trace *t, int64_t at_ns, int64_t device_type, int64_t bytes)
{
	struct trace_alloc *a = vec_push(&t->allocs);

	if (a == NULL)
		return false;
	a->at_ns = at_ns;
	a->bytes[side_of(device_type)] = bytes;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_alloc *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* Sums wrap, so that differences of them are right. */
static int64_t wrapping_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrapping_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

void memory_settle(struct trace *t)
{
	struct trace_alloc *v = t->allocs.v;

	if (t->allocs.n > 0)
		qsort(v, t->allocs.n, sizeof(*v), by_time);
	for (size_t i = 1; i < t->allocs.n; i++)
		for (int side = 0; side < MEMORY_SIDES; side++)
			v[i].bytes[side] = wrapping_add(v[i].bytes[side], v[i - 1].bytes[side]);
}

/* How many are before a time, or at it. */
static size_t count_up_to(const struct trace_allocs *allocs, int64_t ns, bool included)
{
	size_t from = 0, to = allocs->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (allocs->v[mid].at_ns < ns || (included && allocs->v[mid].at_ns == ns))
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

struct memory_sum memory_between(const struct trace *t, int64_t from_ns, int64_t to_ns)
{
	size_t first = count_up_to(&t->allocs, from_ns, false), last = count_up_to(&t->allocs, to_ns, true);
	struct memory_sum sum = { { 0 } };

	for (int side = 0; side < MEMORY_SIDES && last > first; side++)
		sum.bytes[side] = wrapping_sub(t->allocs.v[last - 1].bytes[side],
			first == 0 ? 0 : t->allocs.v[first - 1].bytes[side]);
	return sum;
}
