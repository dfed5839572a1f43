#include "trace/rhythm.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	CALLS_MAX = 10000000,
	ALIKE = 4,	 /* times of one kind differ by less than this factor */
	MANY_OF_TEN = 8, /* so many of ten are alike */
	ROUNDS_SPLIT = 4, /* fewer rounds of several calls say nothing */
	CALLS_OPTIMIZER = 2,
	ROUNDS_ANCHOR = 5,
};

struct call {
	int64_t start_ns, end_ns;
	uint32_t name, thread;
};

VEC(call_list, struct call);

/* ---- the rhythm */

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_far_above(int64_t b, int64_t a)
{
	return b / ALIKE >= (a > 0 ? a : 1);
}

/* Calls of which a gap of at least from_ns parts each round from the next: are all rounds of one size, but for the first
 * and the last, which the trace may cut? Their number, or 0. */
static uint64_t equal_rounds(const int64_t *start_ns, size_t n, int64_t from_ns)
{
	size_t first = 0, last = 0, size = 0, calls = 0;
	uint64_t rounds = 0;

	for (size_t i = 0; i < n; i++) {
		calls++;
		if (i + 1 < n && ns_sub(start_ns[i + 1], start_ns[i]) < from_ns)
			continue;
		if (rounds == 0)
			first = calls;
		else if (i + 1 == n)
			last = calls;
		else if (size != 0 && size != calls)
			return 0;
		else
			size = calls;
		rounds++;
		calls = 0;
	}
	return rounds >= ROUNDS_SPLIT && first <= size && last <= size ? rounds : 0;
}

static double sum_of(const int64_t *gap, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)gap[i];
	return sum;
}

/* Do most gaps (sorted) differ little from the middle one, and in time, too? */
static bool are_alike(const int64_t *gap, size_t n)
{
	const int64_t middle = gap[n / 2];
	double time = 0;
	size_t alike = 0;

	for (size_t i = 0; i < n; i++) {
		if (gap[i] / ALIKE > middle || middle / ALIKE > gap[i])
			continue;
		time += (double)gap[i];
		alike++;
	}
	return middle > 0 && 10 * alike >= MANY_OF_TEN * n && 2 * time >= sum_of(gap, n);
}

/* gap: sorted. Gaps between rounds are far above those inside, and hold nearly all the time: the round of a slow one now
 * and then does not. */
static uint64_t rounds_by_gap(const int64_t *start_ns, size_t n, const int64_t *gap, int64_t *part_ns)
{
	for (size_t i = n - 2; i > 0; i--) {
		uint64_t rounds;

		if (!is_far_above(gap[i], gap[i - 1]) || is_far_above(gap[n - 2], gap[i]))
			continue;
		if (10 * sum_of(gap + i, n - 1 - i) < (double)MANY_OF_TEN * sum_of(gap, n - 1))
			continue;
		rounds = equal_rounds(start_ns, n, gap[i]);
		*part_ns = gap[i];
		if (rounds > 0)
			return rounds;
	}
	*part_ns = 0;
	return are_alike(gap, n - 1) ? n : 0;
}

uint64_t rhythm_rounds(const int64_t *start_ns, size_t n, int64_t dur_ns, int64_t *scratch, int64_t *part_ns)
{
	uint64_t rounds;
	double round_ns;

	*part_ns = 0;
	if (n < 2)
		return 0;
	for (size_t i = 1; i < n; i++)
		scratch[i - 1] = ns_sub(start_ns[i], start_ns[i - 1]);
	qsort(scratch, n - 1, sizeof(*scratch), by_time);
	rounds = rounds_by_gap(start_ns, n, scratch, part_ns);
	if (rounds < 2)
		return 0;
	round_ns = (double)ns_sub(start_ns[n - 1], start_ns[0]) / (double)(rounds - 1);
	return (double)dur_ns <= 2 * round_ns * (double)(rounds + 1) ? rounds : 0;
}

/* ---- the calls */

static enum steps_from sort_of(struct str name)
{
	static const struct str anchors[] = { STR("aten::embedding"), STR("aten::embedding_bag") };

	if (str_has_prefix(name, STR("Optimizer.step#")))
		return STEPS_OPTIMIZER;
	for (size_t i = 0; i < COUNT(anchors); i++)
		if (str_eq(name, anchors[i]))
			return STEPS_ANCHOR;
	return STEPS_NONE;
}

static int by_thread(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static int collect(const struct trace *t, const uint8_t *sorts, struct call_list *calls, struct err *e)
{
	vec_each(ev, &t->events) {
		struct call *c;

		if (sorts[ev->name] == STEPS_NONE || event_info(ev)->class != EVENT_HOST_OP)
			continue;
		c = vec_push(calls);
		if (c == NULL)
			return err_set(e, E_NOMEM, "no memory for %zu calls that may be steps", calls->n);
		*c = (struct call){ ev->start_ns, event_end_ns(ev), ev->name, ev->thread };
	}
	if (calls->n > 0)
		qsort(calls->v, calls->n, sizeof(*calls->v), by_thread);
	return OK;
}

/* The calls of one op on one thread, without those inside another one. */
static size_t outer_starts(const struct call *c, size_t n, int64_t *start_ns)
{
	size_t kept = 0;
	int64_t end_ns = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && c[i].start_ns < end_ns)
			continue;
		start_ns[kept++] = c[i].start_ns;
		end_ns = c[i].end_ns;
	}
	return kept;
}

/* The calls that the steps were found by: size of them from at on. */
struct found {
	size_t at, size;
	int64_t part_ns;
};

static bool is_better(const struct rhythm *now, enum steps_from sort, uint64_t rounds)
{
	if (rounds < (sort == STEPS_OPTIMIZER ? CALLS_OPTIMIZER : ROUNDS_ANCHOR))
		return false;
	if (now->from == STEPS_OPTIMIZER && sort != STEPS_OPTIMIZER)
		return false;
	return now->from != sort || rounds > now->n;
}

/* Room for the starts of all calls twice: starts and scratch. */
static void find_in(const struct call_list *calls, const uint8_t *sorts, int64_t dur_ns, int64_t *start_ns,
	struct rhythm *out, struct found *found)
{
	size_t end;

	for (size_t at = 0; at < calls->n; at = end) {
		const struct call *c = &calls->v[at];
		const enum steps_from sort = (enum steps_from)sorts[c->name];
		uint64_t rounds;
		int64_t part_ns;
		size_t n;

		for (end = at; end < calls->n && calls->v[end].name == c->name && calls->v[end].thread == c->thread;)
			end++;
		n = outer_starts(c, end - at, start_ns);
		rounds = rhythm_rounds(start_ns, n, dur_ns, start_ns + calls->n, &part_ns);
		if (!is_better(out, sort, rounds))
			continue;
		*out = (struct rhythm){ .n = rounds, .from = sort };
		*found = (struct found){ at, end - at, part_ns };
	}
}

/* Where each round starts, or ends. start_ns: room for all of them. */
static void put_edges(const struct call *c, const struct found *found, int64_t *start_ns, struct rhythm *out)
{
	size_t n = outer_starts(c, found->size, start_ns), edges = 0, call = 0;

	for (size_t i = 0; i < n; i++) {
		bool first = i == 0 || ns_sub(start_ns[i], start_ns[i - 1]) >= found->part_ns;
		int64_t end_ns;

		while (call < found->size && c[call].start_ns < start_ns[i])
			call++;
		end_ns = c[call].end_ns; /* of the outer one of those that start together: the longest comes first */
		edges += first;
		if (edges > out->n)
			break;
		if (out->from == STEPS_OPTIMIZER || first)
			out->edge_ns[edges - 1] = out->from == STEPS_OPTIMIZER ? end_ns : start_ns[i];
	}
}

static int find_edges(const struct call_list *calls, const uint8_t *sorts, int64_t dur_ns, struct rhythm *out,
	struct err *e)
{
	int64_t *start_ns = mem_try(2 * calls->n * sizeof(*start_ns));
	struct found found = { 0 };
	int rc = OK;

	if (start_ns == NULL)
		return err_set(e, E_NOMEM, "no memory for %zu calls that may be steps", calls->n);
	find_in(calls, sorts, dur_ns, start_ns, out, &found);
	if (out->n > 0) {
		out->edge_ns = mem_try(out->n * sizeof(*out->edge_ns));
		if (out->edge_ns == NULL)
			rc = err_set(e, E_NOMEM, "no memory for %" PRIu64 " steps", out->n);
		else
			put_edges(calls->v + found.at, &found, start_ns, out);
	}
	mem_free(start_ns);
	return rc;
}

void rhythm_fini(struct rhythm *r)
{
	if (r == NULL)
		return;
	mem_free(r->edge_ns);
	*r = (struct rhythm){ 0, STEPS_NONE, NULL };
}

int rhythm_find(const struct trace *t, int64_t dur_ns, struct rhythm *out, struct err *e)
{
	size_t names = intern_count(&t->names.intern);
	uint8_t *sorts = mem_try(names + 1);
	struct call_list calls = VEC_INIT(CALLS_MAX);
	int rc;

	*out = (struct rhythm){ 0, STEPS_NONE, NULL };
	if (sorts == NULL)
		return err_set(e, E_NOMEM, "no memory for %zu names", names);
	for (size_t i = 0; i < names; i++)
		sorts[i] = (uint8_t)sort_of(trace_name(t, (uint32_t)i));
	rc = collect(t, sorts, &calls, e);
	if (rc == OK && calls.n > 0)
		rc = find_edges(&calls, sorts, dur_ns, out, e);
	if (rc < 0)
		rhythm_fini(out);
	vec_fini(&calls);
	mem_free(sorts);
	return rc;
}
