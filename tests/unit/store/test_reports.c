/* Windows without ops: reports of neuron-monitor and of counters. They are kept, and no question about ops sees them. */
#include "world.h"

Suite *suite_reports(void);

static struct world w;

static void setup(void)
{
	world_open(&w, 71);
	world_fleet(&w, 200, 5 * NS_PER_HOUR);
	world_put_all(&w, 50);
}

static void teardown(void)
{
	world_close(&w);
}

static struct window *make_report(const char *service, const char *deploy, const char *host, int64_t start_ns)
{
	struct window *win = world_window(&w, service, deploy, host, "0", start_ns);

	for (size_t i = 0; i < win->n_ops; i++)
		op_summary_fini(&win->ops[i]);
	win->n_ops = 0;
	win->steps = 0;
	win->steps_from = STEPS_NONE;
	return win;
}

static void put_report(const char *service, const char *deploy, const char *host, int64_t start_ns)
{
	world_put(&w, make_report(service, deploy, host, start_ns), 1);
}

/* Before, among and behind the others; of their deploys, and of ones, services and hosts that nobody else has. */
static void put_reports(void)
{
	static const char *const deploys[] = { "v41", "v42", "", "v99" };
	static const char *const hosts[] = { "trn-1", "trn-2", "trn-9" };

	const size_t first = w.n;

	for (int i = 0; i < 60; i++) {
		make_report(i % 7 == 0 ? "nobody" : "llm-decode", deploys[i % 4], hosts[i % 3],
			WORLD_START - NS_PER_HOUR + i * 7 * NS_PER_MIN);
		make_report("ranker", "v41", "trn-1", WORLD_START + 5 * NS_PER_HOUR + i * NS_PER_MIN);
	}
	world_put(&w, w.windows + first, w.n - first);
}

/* All that is asked of many windows, as text. */
static struct str ask_everything(struct arena *a)
{
	const struct query all = { .limit = QUERY_LIMIT_MAX };
	struct service_list services;
	struct host_list hosts;
	struct deploy_list deploys;
	struct buf b;
	struct str text;

	buf_init(&b, 1 << 20);
	world_ok(&w, store_services(w.store, &all, a, &services, &w.err));
	for (size_t i = 0; i < services.n; i++)
		buf_fmt(&b, "service %.*s %.*s %d %d %d %lld %lld\n", STR_ARG(services.v[i].service),
			STR_ARG(services.v[i].deploy), (int)services.v[i].hosts, (int)services.v[i].deploys,
			(int)services.v[i].windows, (long long)services.v[i].first_ns, (long long)services.v[i].last_ns);
	world_ok(&w, store_hosts(w.store, &all, a, &hosts, &w.err));
	for (size_t i = 0; i < hosts.n; i++)
		buf_fmt(&b, "host %.*s %.*s %.*s %d %d %lld\n", STR_ARG(hosts.v[i].host), STR_ARG(hosts.v[i].service),
			STR_ARG(hosts.v[i].deploy), (int)hosts.v[i].workers, (int)hosts.v[i].windows,
			(long long)hosts.v[i].last_ns);
	world_ok(&w, store_deploys(w.store, &all, a, &deploys, &w.err));
	for (size_t i = 0; i < deploys.n; i++)
		buf_fmt(&b, "deploy %.*s %.*s %d %d %lld %lld\n", STR_ARG(deploys.v[i].service),
			STR_ARG(deploys.v[i].deploy), (int)deploys.v[i].windows, (int)deploys.v[i].hosts,
			(long long)deploys.v[i].first_ns, (long long)deploys.v[i].last_ns);
	text = arena_str(a, buf_view(&b));
	buf_fini(&b);
	return text;
}

START_TEST(lists_of_services_hosts_and_deploys_do_not_count_them)
{
	struct str before = ask_everything(&w.answer);

	put_reports();
	world_reopen(&w);
	ck_assert_str_eq(ask_everything(&w.answer).p, before.p);
}
END_TEST

/* Points, windows and steps of an op over time are the same with and without them. */
static void assert_same_trend(const struct query *q)
{
	struct trend before, after;

	world_ok(&w, store_trend(w.store, q, &w.answer, &before, &w.err));
	ck_assert_uint_gt(before.n, 2);
	put_reports();
	world_ok(&w, store_trend(w.store, q, &w.answer, &after, &w.err));
	ck_assert_uint_eq(after.n, before.n);
	for (size_t i = 0; i < before.n; i++) {
		ck_assert_int_eq(after.v[i].t_ns, before.v[i].t_ns);
		ck_assert_uint_eq(after.v[i].windows, before.v[i].windows);
		ck_assert_uint_eq(after.v[i].op.calls, before.v[i].op.calls);
	}
	trend_fini(&before);
	trend_fini(&after);
}

START_TEST(a_trend_of_windows_has_no_points_of_them)
{
	const struct query q = { .service = STR("llm-decode"), .op = STR("aten::mul"), .resolution_ns = NS_PER_MIN,
		.from_ns = WORLD_START - NS_PER_DAY, .to_ns = WORLD_START + NS_PER_DAY };

	assert_same_trend(&q);
}
END_TEST

START_TEST(a_trend_of_hours_has_no_points_of_them)
{
	const struct query q = { .op = STR("aten::mul"), .resolution_ns = NS_PER_HOUR };

	assert_same_trend(&q);
}
END_TEST

START_TEST(merged_windows_are_those_with_ops)
{
	const struct query queries[] = { { .limit = 1 }, { .service = STR("llm-decode"), .host = STR("trn-1") },
		{ .from_ns = WORLD_START + 7 * NS_PER_MIN, .to_ns = WORLD_START + 13 * NS_PER_HOUR } };
	struct profile_merge *before[COUNT(queries)], *after;
	int64_t tier_ns;

	for (size_t i = 0; i < COUNT(queries); i++)
		world_ok(&w, store_merged(w.store, &queries[i], &before[i], &tier_ns, &w.err));
	put_reports();
	for (size_t i = 0; i < COUNT(queries); i++) {
		world_ok(&w, store_merged(w.store, &queries[i], &after, &tier_ns, &w.err));
		ck_assert_uint_eq(profile_merge_get(after)->windows, profile_merge_get(before[i])->windows);
		ck_assert_int_eq(profile_merge_get(after)->last_ns, profile_merge_get(before[i])->last_ns);
		world_same_merged(after, before[i]);
		profile_merge_free(after);
		profile_merge_free(before[i]);
	}
}
END_TEST

START_TEST(they_are_listed_and_shown_unless_windows_with_ops_are_asked_for)
{
	struct query q = { .service = STR("llm-decode"), .limit = QUERY_LIMIT_MAX, .newest_first = true };
	struct window_list l;
	struct window one;
	size_t with = 0;

	put_report("llm-decode", "v42", "trn-1", WORLD_START + NS_PER_DAY);
	world_ok(&w, store_windows(w.store, &q, true, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.v[0].n_ops, 0);
	world_same_window(&l.v[0], &w.windows[w.n - 1], true);
	for (size_t i = 0; i < l.n; i++)
		with += l.v[i].n_ops > 0;
	ck_assert_uint_eq(with, l.n - 1);
	window_list_fini(&l);
	q.with_ops = true;
	world_ok(&w, store_windows(w.store, &q, true, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, with);
	ck_assert_uint_gt(l.v[0].n_ops, 0);
	window_list_fini(&l);
	world_ok(&w, store_window(w.store, w.windows[w.n - 1].id, &w.answer, &one, &w.err));
	world_same_window(&one, &w.windows[w.n - 1], true);
	window_fini(&one);
}
END_TEST

START_TEST(a_report_that_comes_again_is_a_duplicate)
{
	struct put_result r;

	put_report("llm-decode", "v42", "trn-1", WORLD_START);
	world_ok(&w, store_put(w.store, &w.windows[w.n - 1], 1, &r, &w.err));
	ck_assert_uint_eq(r.duplicates, 1);
}
END_TEST

/* How many there are, with ops and without. */
static void count(size_t *with, size_t *without)
{
	struct query q = { .limit = QUERY_LIMIT_MAX, .with_ops = true };
	struct window_list l;

	arena_reset(&w.answer);
	world_ok(&w, store_windows(w.store, &q, false, &w.answer, &l, &w.err));
	*with = l.n;
	window_list_fini(&l);
	q.with_ops = false;
	world_ok(&w, store_windows(w.store, &q, false, &w.answer, &l, &w.err));
	*without = l.n - *with;
	window_list_fini(&l);
}

static void reopen_with(int64_t report_ns, int64_t max_bytes)
{
	w.settings.retention_report_ns = report_ns;
	w.settings.max_bytes = max_bytes;
	world_reopen(&w);
}

START_TEST(they_go_after_a_time_of_their_own)
{
	size_t with, without;
	struct put_result r;
	const struct window *old;

	put_report("llm-decode", "v42", "trn-1", WORLD_START);
	old = &w.windows[w.n - 1];
	put_report("llm-decode", "v42", "trn-1", WORLD_START + NS_PER_DAY);
	reopen_with(2 * NS_PER_DAY, 0);
	world_ok(&w, store_housekeep(w.store, WORLD_START + 2 * NS_PER_DAY, &w.err));
	count(&with, &without);
	ck_assert_uint_eq(without, 2);
	world_ok(&w, store_housekeep(w.store, WORLD_START + 2 * NS_PER_DAY + NS_PER_HOUR, &w.err));
	count(&with, &without);
	ck_assert_uint_eq(with, 200);
	ck_assert_uint_eq(without, 1);
	world_ok(&w, store_put(w.store, old, 1, &r, &w.err)); /* its id has gone with it */
	ck_assert_uint_eq(r.accepted, 1);
}
END_TEST

START_TEST(they_go_before_any_window_with_ops_where_the_store_is_full)
{
	size_t with, without;
	int64_t tier_ns;
	struct profile_merge *m;
	const struct query all = { .limit = 1, .to_ns = WORLD_START + 2 * NS_PER_HOUR + 7, .from_ns = WORLD_START + 7 };

	for (int i = 0; i < 2000; i++)
		make_report("llm-decode", "v42", "trn-1", WORLD_START + i * NS_PER_S);
	world_put(&w, w.windows + w.n - 2000, 2000);
	for (int64_t cap = 2 << 20;; cap -= 128 << 10) { /* how much it is depends on pages */
		reopen_with(0, cap);
		world_ok(&w, store_housekeep(w.store, WORLD_START + NS_PER_DAY, &w.err));
		count(&with, &without);
		if (without < 2000)
			break;
	}
	ck_assert_uint_gt(without, 0);
	ck_assert_uint_eq(with, 200);
	world_ok(&w, store_merged(w.store, &all, &m, &tier_ns, &w.err));
	ck_assert_int_eq(tier_ns, NS_PER_HOUR); /* whole hours of rollups, and the ends still as they came */
	ck_assert_int_ge(profile_merge_get(m)->first_ns, all.from_ns);
	profile_merge_free(m);
}
END_TEST

Suite *suite_reports(void)
{
	Suite *s = suite_create("store/reports");
	TCase *tc = tcase_create("reports");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, lists_of_services_hosts_and_deploys_do_not_count_them);
	tcase_add_test(tc, a_trend_of_windows_has_no_points_of_them);
	tcase_add_test(tc, a_trend_of_hours_has_no_points_of_them);
	tcase_add_test(tc, merged_windows_are_those_with_ops);
	tcase_add_test(tc, they_are_listed_and_shown_unless_windows_with_ops_are_asked_for);
	tcase_add_test(tc, a_report_that_comes_again_is_a_duplicate);
	tcase_add_test(tc, they_go_after_a_time_of_their_own);
	tcase_add_test(tc, they_go_before_any_window_with_ops_where_the_store_is_full);
	suite_add_tcase(s, tc);
	return s;
}
