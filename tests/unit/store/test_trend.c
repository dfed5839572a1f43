#include "world.h"

Suite *suite_trend(void);

/* The point of time t, by going over the windows. */
static void want_point(
	const struct world *w, const struct query *q, int64_t t_ns, int64_t width_ns, struct trend_point *out)
{
	*out = (struct trend_point){ .t_ns = t_ns };
	for (size_t i = 0; i < w->n; i++) {
		const struct window *win = &w->windows[i];
		const struct op_summary *op = window_op(win, q->kind, q->op);

		if (!world_matches(win, q) || win->start_ns < t_ns || win->start_ns - t_ns >= width_ns)
			continue;
		out->windows++;
		out->steps += win->steps;
		if (op != NULL)
			op_summary_merge(&out->op, op);
	}
	out->op.kind = q->kind;
	out->op.name = q->op;
}

static void check_points(const struct world *w, const struct query *q, const struct trend *t)
{
	uint64_t windows = 0, want = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct trend_point p;

		ck_assert_int_eq(t->v[i].t_ns % t->resolution_ns, 0);
		ck_assert(i == 0 || t->v[i].t_ns > t->v[i - 1].t_ns);
		want_point(w, q, t->v[i].t_ns, t->resolution_ns, &p);
		ck_assert_uint_gt(p.windows, 0);
		ck_assert_uint_eq(t->v[i].windows, p.windows);
		ck_assert_uint_eq(t->v[i].steps, p.steps);
		world_same_op(&t->v[i].op, &p.op);
		op_summary_fini(&p.op);
		windows += t->v[i].windows;
	}
	for (size_t i = 0; i < w->n; i++)
		want += world_matches(&w->windows[i], q);
	ck_assert_uint_eq(windows, want);
}

static void check_trend(struct world *w, const struct query *q, int64_t resolution_ns, int64_t tier_ns)
{
	struct trend t;

	arena_reset(&w->answer);
	world_ok(w, store_trend(w->store, q, &w->answer, &t, &w->err));
	ck_assert_int_eq(t.resolution_ns, resolution_ns);
	ck_assert_int_eq(t.tier_ns, tier_ns);
	check_points(w, q, &t);
	trend_fini(&t);
}

START_TEST(a_trend_is_the_merge_of_each_points_windows)
{
	static const char *const hosts[] = { "", "trn-2" }, *const workers[] = { "", "0" },
				 *const deploys[] = { "", "v42" };
	struct world w;

	world_open(&w, 30);
	world_fleet(&w, 400, 40 * NS_PER_HOUR);
	world_put_all(&w, 64);
	for (int i = 0; i < 16; i++) {
		struct query q = { .service = STR("llm-decode"),
			.op = STR("aten::mul"),
			.has_kind = true,
			.kind = i & 8 ? OP_KERNEL : OP_CPU_OP,
			.host = str_of(hosts[i & 1]),
			.worker = str_of(workers[i >> 1 & 1]),
			.deploy = str_of(deploys[i >> 2 & 1]) };

		q.resolution_ns = 17 * NS_PER_MIN;
		check_trend(&w, &q, 17 * NS_PER_MIN, 0);
		q.resolution_ns = NS_PER_HOUR;
		check_trend(&w, &q, NS_PER_HOUR, NS_PER_HOUR);
		q.from_ns = WORLD_START + 5 * NS_PER_HOUR + NS_PER_MIN;
		q.to_ns = WORLD_START + 30 * NS_PER_HOUR - NS_PER_MIN;
		q.resolution_ns = 7 * NS_PER_HOUR;
		check_trend(&w, &q, 7 * NS_PER_HOUR, NS_PER_HOUR);
		q.service = STR("");
		check_trend(&w, &q, 7 * NS_PER_HOUR, NS_PER_HOUR);
	}
	world_close(&w);
}
END_TEST

START_TEST(a_trend_without_a_resolution_has_at_most_500_points)
{
	static const int64_t spans[] = { NS_PER_S, 400 * NS_PER_S, 3 * NS_PER_HOUR, 20 * NS_PER_DAY,
		390 * NS_PER_DAY };
	struct world w;
	struct query q = { .service = STR("s"), .op = STR("step"), .has_kind = true, .kind = OP_STEP };

	world_open(&w, 31);
	for (int i = 0; i < 600; i++)
		world_window(&w, "s", "v1", "h", "0", WORLD_START + spans[_i] / 600 * i);
	world_put_all(&w, 100);
	{
		struct trend t;

		world_ok(&w, store_trend(w.store, &q, &w.answer, &t, &w.err));
		ck_assert_uint_le(t.n, 500);
		ck_assert(t.n > 60 || spans[_i] < 400 * NS_PER_S);
		check_points(&w, &q, &t);
		trend_fini(&t);
	}
	world_close(&w);
}
END_TEST

START_TEST(without_a_kind_the_first_that_has_calls_is_shown)
{
	struct world w;
	struct query q = { .op = STR("aten::mul"), .kind = OP_CPU_OP, .resolution_ns = NS_PER_MIN };

	world_open(&w, 32);
	world_fleet(&w, 30, NS_PER_HOUR);
	world_put_all(&w, 30);
	check_trend(&w, &q, NS_PER_MIN, 0);
	world_close(&w);
}
END_TEST

START_TEST(windows_without_the_op_make_points_without_calls)
{
	struct world w;
	struct query q = {
		.op = STR("aten::mul"), .has_kind = true, .kind = OP_CPU_OP, .resolution_ns = NS_PER_MIN
	};
	struct trend t;

	world_open(&w, 33);
	world_window(&w, "s", "v1", "h", "0", WORLD_START);
	while (window_op(&w.windows[0], OP_CPU_OP, q.op) == NULL) { /* one that has it */
		world_unmake(&w);
		world_window(&w, "s", "v1", "h", "0", WORLD_START);
	}
	world_window(&w, "s", "v1", "h", "0", WORLD_START + NS_PER_MIN);
	while (window_op(&w.windows[1], OP_CPU_OP, q.op) != NULL) { /* and one that has not */
		world_unmake(&w);
		world_window(&w, "s", "v1", "h", "0", WORLD_START + NS_PER_MIN);
	}
	world_put_all(&w, 2);
	world_ok(&w, store_trend(w.store, &q, &w.answer, &t, &w.err));
	ck_assert_uint_eq(t.n, 2);
	ck_assert_uint_gt(t.v[0].op.calls, 0);
	ck_assert_uint_eq(t.v[1].op.calls, 0);
	ck_assert_uint_eq(t.v[1].windows, 1);
	trend_fini(&t);
	q.op = STR("never heard of");
	world_ok(&w, store_trend(w.store, &q, &w.answer, &t, &w.err));
	ck_assert_uint_eq(t.n, 0);
	world_close(&w);
}
END_TEST

START_TEST(the_widest_resolution_is_one_point)
{
	struct query q = { .resolution_ns = INT64_MAX };
	struct world w;
	struct trend t;

	world_open(&w, 35);
	world_fleet(&w, 50, 40 * NS_PER_HOUR);
	world_put_all(&w, 50);
	q.op = w.windows[0].ops[0].name;
	for (int gone = 0; gone < 2; gone++) { /* the second time the windows are rollups only */
		world_ok(&w, store_trend(w.store, &q, &w.answer, &t, &w.err));
		ck_assert_uint_eq(t.n, 1);
		ck_assert_int_ge(t.resolution_ns, 100 * 360 * NS_PER_DAY);
		ck_assert_int_eq(t.v[0].t_ns, 0);
		trend_fini(&t);
		w.settings.retention_raw_ns = NS_PER_HOUR;
		w.settings.retention_rollup_ns = 0;
		world_reopen(&w);
		world_ok(&w, store_housekeep(w.store, WORLD_START + 100 * NS_PER_DAY, &w.err));
	}
	world_close(&w);
}
END_TEST

START_TEST(a_trend_needs_an_op_and_has_a_ceiling)
{
	struct world w;
	struct query q = { .service = STR("s") };
	struct trend t;

	world_open(&w, 34);
	world_window(&w, "s", "v1", "h", "0", 0);
	world_window(&w, "s", "v1", "h", "0", WORLD_START);
	world_put_all(&w, 2);
	ck_assert_int_eq(store_trend(w.store, &q, &w.answer, &t, &w.err), E_USAGE);
	q.op = w.windows[0].ops[0].name;
	q.has_kind = true;
	q.kind = w.windows[0].ops[0].kind;
	q.resolution_ns = NS_PER_S;
	ck_assert_int_eq(store_trend(w.store, &q, &w.answer, &t, &w.err), E_LIMIT);
	ck_assert_msg(str_has_prefix(str_of(w.err.text), STR("trend: ")), "%s", w.err.text);
	q.resolution_ns = -1;
	ck_assert_int_eq(store_trend(w.store, &q, &w.answer, &t, &w.err), E_USAGE);
	world_close(&w);
}
END_TEST

Suite *suite_trend(void)
{
	Suite *s = suite_create("store/trend");
	TCase *tc = tcase_create("trend");

	tcase_add_test(tc, a_trend_is_the_merge_of_each_points_windows);
	tcase_add_loop_test(tc, a_trend_without_a_resolution_has_at_most_500_points, 0, 5);
	tcase_add_test(tc, without_a_kind_the_first_that_has_calls_is_shown);
	tcase_add_test(tc, windows_without_the_op_make_points_without_calls);
	tcase_add_test(tc, the_widest_resolution_is_one_point);
	tcase_add_test(tc, a_trend_needs_an_op_and_has_a_ceiling);
	suite_add_tcase(s, tc);
	return s;
}
