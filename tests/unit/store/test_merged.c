#include "world.h"

Suite *suite_merged(void);

static void check_merged(struct world *w, const struct query *q, int64_t tier_ns)
{
	struct profile_merge *want = world_merged(w, q), *got;
	int64_t tier;

	world_ok(w, store_merged(w->store, q, &got, &tier, &w->err));
	world_same_merged(got, want);
	if (tier_ns >= 0)
		ck_assert_int_eq(tier, tier_ns);
	profile_merge_free(want);
	profile_merge_free(got);
}

static struct query some_query(struct world *w, int64_t span_ns)
{
	static const char *const services[] = { "", "llm-decode", "ranker" },
				 *const deploys[] = { "", "", "v42" }, *const hosts[] = { "", "", "trn-3" },
				 *const workers[] = { "", "", "1" }, *const ops[] = { "", "", "aten::mul" };
	struct query q = {
		.service = str_of(services[rand_below(&w->rand, 3)]),
		.deploy = str_of(deploys[rand_below(&w->rand, 3)]),
		.host = str_of(hosts[rand_below(&w->rand, 3)]),
		.worker = str_of(workers[rand_below(&w->rand, 3)]),
		.op = str_of(ops[rand_below(&w->rand, 3)]),
		.has_kind = rand_below(&w->rand, 4) == 0,
		.kind = OP_KERNEL,
	};

	if (rand_below(&w->rand, 3) != 0)
		q.from_ns = WORLD_START + (int64_t)rand_below(&w->rand, (uint64_t)span_ns);
	if (rand_below(&w->rand, 3) != 0)
		q.to_ns = WORLD_START + (int64_t)rand_below(&w->rand, (uint64_t)span_ns);
	if (rand_below(&w->rand, 4) == 0)
		q.from_ns -= q.from_ns % NS_PER_HOUR;
	return q;
}

START_TEST(merged_is_the_merge_of_the_windows_that_match)
{
	struct world w;

	world_open(&w, 10 + (uint64_t)_i);
	world_fleet(&w, 300, 30 * NS_PER_HOUR);
	world_put_all(&w, 1 + (size_t)_i * 50);
	for (int i = 0; i < 100; i++) {
		struct query q = some_query(&w, 30 * NS_PER_HOUR);

		check_merged(&w, &q, -1);
	}
	world_close(&w);
}
END_TEST

START_TEST(whole_hours_come_from_rollups_and_parts_of_hours_from_windows)
{
	struct world w;
	struct query q = { .service = STR("ranker") };

	world_open(&w, 20);
	world_fleet(&w, 300, 10 * NS_PER_HOUR);
	world_put_all(&w, 100);
	check_merged(&w, &q, NS_PER_HOUR);
	q.from_ns = WORLD_START + 2 * NS_PER_HOUR + 1;
	q.to_ns = WORLD_START + 7 * NS_PER_HOUR + NS_PER_MIN;
	check_merged(&w, &q, NS_PER_HOUR);
	q.to_ns = WORLD_START + 3 * NS_PER_HOUR + NS_PER_MIN;
	check_merged(&w, &q, 0);
	q.to_ns = q.from_ns;
	check_merged(&w, &q, 0);
	world_close(&w);
}
END_TEST

START_TEST(late_and_back_dated_windows_land_where_they_belong)
{
	struct world w;
	struct query q = { .service = STR("s"),
		.from_ns = WORLD_START + NS_PER_HOUR,
		.to_ns = WORLD_START + 4 * NS_PER_HOUR };

	world_open(&w, 21);
	world_window(&w, "s", "v1", "h", "0", WORLD_START + 6 * NS_PER_HOUR);
	world_window(&w, "s", "v1", "h", "0", WORLD_START + 2 * NS_PER_HOUR);
	world_window(&w, "s", "v1", "h", "0", WORLD_START + 2 * NS_PER_HOUR + 1);
	world_window(&w, "s", "v1", "h", "0", WORLD_START + NS_PER_HOUR - 1);
	world_window(&w, "s", "v1", "h", "0", 0);
	world_put_all(&w, 1);
	check_merged(&w, &q, -1);
	q.from_ns = 0;
	q.to_ns = 1;
	check_merged(&w, &q, -1);
	world_close(&w);
}
END_TEST

START_TEST(an_op_whose_basis_changes_keeps_the_times_of_its_first)
{
	struct world w;
	struct query q = { .service = STR("s") };

	world_open(&w, 22);
	for (int i = 0; i < 6; i++) {
		struct window *win = world_window(&w, "s", "v1", "h", "0", WORLD_START + i);

		for (size_t k = 0; k < win->n_ops; k++) {
			if (win->ops[k].basis == OP_BASIS_NONE)
				continue;
			win->ops[k].basis = i < 3 ? OP_BASIS_DEVICE : OP_BASIS_CPU;
		}
	}
	world_put_all(&w, 2);
	check_merged(&w, &q, NS_PER_HOUR);
	world_close(&w);
}
END_TEST

Suite *suite_merged(void)
{
	Suite *s = suite_create("store/merged");
	TCase *tc = tcase_create("merged");

	tcase_add_loop_test(tc, merged_is_the_merge_of_the_windows_that_match, 0, 5);
	tcase_add_test(tc, whole_hours_come_from_rollups_and_parts_of_hours_from_windows);
	tcase_add_test(tc, an_op_whose_basis_changes_keeps_the_times_of_its_first);
	tcase_add_test(tc, late_and_back_dated_windows_land_where_they_belong);
	suite_add_tcase(s, tc);
	return s;
}
