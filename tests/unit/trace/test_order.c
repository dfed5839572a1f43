#include "trace/order.h"

#include "base/rand.h"
#include "tests/unit/trace/help.h"

Suite *suite_order(void);

static uint32_t by_thread(const struct trace *t, const struct trace_event *ev, const void *arg)
{
	(void)t;
	(void)arg;
	return ev->thread == 2 ? ORDER_OUT : ev->thread;
}

static bool out_of_order(const struct trace *t, uint32_t a, uint32_t b)
{
	const struct trace_event *x = &t->events.v[a], *y = &t->events.v[b];

	if (x->start_ns != y->start_ns)
		return x->start_ns > y->start_ns;
	if (x->dur_ns != y->dur_ns)
		return x->dur_ns < y->dur_ns;
	return a > b;
}

/* Few distinct times, so that many are alike; sizes around those where merging changes its ways. */
START_TEST(groups_are_sorted_and_alike_ones_keep_their_order)
{
	static const size_t sizes[] = { 0, 1, 2, 15, 16, 17, 31, 33, 100, 1000, 5000 };
	struct rand_gen g;

	rand_seed(&g, 7);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct trace t;
		struct order o;
		struct err e = { 0 };
		size_t seen = 0;

		trace_init(&t, 10000);
		for (size_t k = 0; k < sizes[i]; k++) {
			struct trace_event *ev = vec_push(&t.events);

			ck_assert_ptr_nonnull(ev);
			if (ev == NULL)
				break;

			ev->start_ns = (int64_t)rand_below(&g, 50);
			ev->dur_ns = (int64_t)rand_below(&g, 4);
			ev->thread = rand_below(&g, 4) & 3;
		}
		ck_assert_int_eq(order_make(&o, &t, by_thread, NULL, 4, ORDER_OUTER_FIRST, &e), OK);
		ck_assert_uint_eq(o.start[2], o.start[3]);
		for (size_t grp = 0; grp < 4; grp++)
			for (size_t k = o.start[grp]; k < o.start[grp + 1]; k++) {
				seen++;
				ck_assert_uint_eq(t.events.v[o.index[k]].thread, grp);
				if (k > o.start[grp])
					ck_assert(!out_of_order(&t, o.index[k - 1], o.index[k]));
			}
		ck_assert_uint_eq(seen, o.n);
		order_fini(&o);
		trace_fini(&t);
	}
}
END_TEST

Suite *suite_order(void)
{
	Suite *s = suite_create("trace/order");
	TCase *tc = tcase_create("order");

	tcase_add_test(tc, groups_are_sorted_and_alike_ones_keep_their_order);
	suite_add_tcase(s, tc);
	return s;
}
