#include "world.h"

#include <stdlib.h>

Suite *suite_windows(void);

static int by_start(const void *a, const void *b)
{
	const struct window *x = *(const struct window *const *)a, *y = *(const struct window *const *)b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return memcmp(x->id, y->id, WINDOW_ID);
}

/* The windows that match, in order. */
static size_t expected(const struct world *w, const struct query *q, const struct window **out)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		if (world_matches(&w->windows[i], q))
			out[n++] = &w->windows[i];
	qsort(out, n, sizeof(*out), by_start);
	for (size_t i = 0; q->newest_first && i < n / 2; i++) {
		const struct window *t = out[i];

		out[i] = out[n - 1 - i];
		out[n - 1 - i] = t;
	}
	return n;
}

static void check_pages(struct world *w, struct query q, bool whole)
{
	const struct window *want[1000];
	size_t n = expected(w, &q, want), at = 0;
	char cursor[1200];

	do {
		struct window_list l;

		arena_reset(&w->answer);
		world_ok(w, store_windows(w->store, &q, whole, &w->answer, &l, &w->err));
		ck_assert_uint_le(l.n, q.limit);
		ck_assert_uint_le(at + l.n, n);
		for (size_t i = 0; i < l.n; i++) {
			world_same_window(&l.v[i], want[at++], whole);
			if (!whole)
				ck_assert_uint_eq(l.v[i].n_ops + l.v[i].n_labels + l.v[i].n_gauges, 0);
		}
		ck_assert(str_copy_to(l.next, cursor, sizeof(cursor)));
		q.cursor = str_of(cursor);
		window_list_fini(&l);
	} while (!str_empty(q.cursor));
	ck_assert_uint_eq(at, n);
}

START_TEST(an_empty_store_answers_with_nothing)
{
	struct world w;
	struct query q = { .op = STR("aten::mul") };
	struct window_list windows;
	struct service_list services;
	struct host_list hosts;
	struct deploy_list deploys;
	struct alert_list alerts;
	struct trend trend;
	struct profile_merge *m;
	int64_t tier;

	world_open(&w, 1);
	world_ok(&w, store_windows(w.store, &q, true, &w.answer, &windows, &w.err));
	world_ok(&w, store_services(w.store, &q, &w.answer, &services, &w.err));
	world_ok(&w, store_hosts(w.store, &q, &w.answer, &hosts, &w.err));
	world_ok(&w, store_deploys(w.store, &q, &w.answer, &deploys, &w.err));
	world_ok(&w, store_alerts(w.store, &q, true, ALERT_FIRING, &w.answer, &alerts, &w.err));
	world_ok(&w, store_trend(w.store, &q, &w.answer, &trend, &w.err));
	world_ok(&w, store_merged(w.store, &q, &m, &tier, &w.err));
	ck_assert_uint_eq(windows.n + services.n + hosts.n + deploys.n + alerts.n + trend.n, 0);
	ck_assert_uint_eq(profile_merge_get(m)->windows, 0);
	ck_assert(str_empty(windows.next) && str_empty(services.next) && str_empty(hosts.next));
	ck_assert(str_empty(deploys.next) && str_empty(alerts.next));
	ck_assert_int_gt(trend.resolution_ns, 0);
	profile_merge_free(m);
	world_ok(&w, store_ready(w.store, &w.err));
	world_ok(&w, store_housekeep(w.store, WORLD_START, &w.err));
	world_close(&w);
}
END_TEST

START_TEST(a_window_comes_back_whole)
{
	struct world w;
	struct window got;

	world_open(&w, 2);
	world_fleet(&w, 50, NS_PER_DAY);
	world_put_all(&w, 7);
	for (size_t i = 0; i < w.n; i++) {
		arena_reset(&w.answer);
		world_ok(&w, store_window(w.store, w.windows[i].id, &w.answer, &got, &w.err));
		world_same_window(&got, &w.windows[i], true);
		window_fini(&got);
	}
	world_close(&w);
}
END_TEST

START_TEST(a_window_without_anything_in_it_comes_back)
{
	struct world w;
	struct window win = { .id = { 1 }, .service = STR("s"), .host = STR("h") }, got;

	world_open(&w, 2);
	world_put(&w, &win, 1);
	world_ok(&w, store_window(w.store, win.id, &w.answer, &got, &w.err));
	ck_assert(str_eq(got.service, win.service) && str_empty(got.deploy) && str_empty(got.source));
	ck_assert_uint_eq(got.n_ops, 0);
	world_close(&w);
}
END_TEST

START_TEST(a_window_that_is_not_here_is_not_found)
{
	struct world w;
	struct window got;
	uint8_t id[WINDOW_ID] = { 0xab };

	world_open(&w, 3);
	ck_assert_int_eq(store_window(w.store, id, &w.answer, &got, &w.err), E_NOT_FOUND);
	ck_assert_str_eq(w.err.text, "window ab000000000000000000000000000000: not here");
	world_close(&w);
}
END_TEST

START_TEST(a_repeated_window_counts_once)
{
	struct world w;
	struct put_result r;
	struct window twice[2];
	struct query q = { .service = STR("s") };
	struct profile_merge *m;
	int64_t tier;

	world_open(&w, 4);
	world_window(&w, "s", "v1", "h", "0", WORLD_START);
	world_window(&w, "s", "v1", "h", "0", WORLD_START + NS_PER_MIN);
	twice[0] = twice[1] = w.windows[0];
	world_ok(&w, store_put(w.store, twice, 2, &r, &w.err));
	ck_assert_uint_eq(r.accepted, 1);
	ck_assert_uint_eq(r.duplicates, 1);
	world_ok(&w, store_put(w.store, w.windows, 2, &r, &w.err));
	ck_assert_uint_eq(r.accepted, 1);
	ck_assert_uint_eq(r.duplicates, 1);
	world_reopen(&w);
	world_ok(&w, store_put(w.store, w.windows, 2, &r, &w.err));
	ck_assert_uint_eq(r.accepted, 0);
	ck_assert_uint_eq(r.duplicates, 2);
	world_ok(&w, store_put(w.store, w.windows, 0, &r, &w.err));
	ck_assert_uint_eq(r.accepted + r.duplicates, 0);
	world_ok(&w, store_merged(w.store, &q, &m, &tier, &w.err));
	ck_assert_uint_eq(profile_merge_get(m)->windows, 2);
	profile_merge_free(m);
	world_close(&w);
}
END_TEST

START_TEST(a_batch_with_a_bad_window_stores_nothing)
{
	struct world w;
	struct put_result r;
	struct query q = { .limit = 10 };
	struct window_list l;

	world_open(&w, 5);
	world_fleet(&w, 3, NS_PER_HOUR);
	w.windows[2].start_ns = -1;
	ck_assert_int_eq(store_put(w.store, w.windows, 3, &r, &w.err), E_FORMAT);
	ck_assert_msg(str_has_prefix(str_of(w.err.text), STR("windows[2]: start_ns: -1")), "%s", w.err.text);
	ck_assert_uint_eq(r.accepted, 0);
	world_ok(&w, store_windows(w.store, &q, false, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 0);
	world_close(&w);
}
END_TEST

START_TEST(pages_of_windows_hold_each_once_and_in_order)
{
	static const char *const deploys[] = { "", "v41" }, *const hosts[] = { "", "trn-2" },
				 *const workers[] = { "", "1" }, *const services[] = { "", "ranker" };
	struct world w;

	world_open(&w, 6);
	world_fleet(&w, 150, 6 * NS_PER_HOUR);
	for (int i = 0; i < 10; i++) /* same start: the id decides */
		world_window(&w, "ranker", "v41", "trn-2", "1", WORLD_START + NS_PER_HOUR);
	world_put_all(&w, 40);
	for (int i = 0; i < 128; i++) {
		struct query q = { .service = str_of(services[i & 1]),
			.deploy = str_of(deploys[i >> 1 & 1]),
			.host = str_of(hosts[i >> 2 & 1]),
			.worker = str_of(workers[i >> 3 & 1]),
			.newest_first = i >> 4 & 1,
			.with_ops = i >> 6 & 1, /* which all of these have */
			.limit = i >> 5 & 1 ? 7 : 1000 };

		if (i % 3 == 0) {
			q.from_ns = WORLD_START + NS_PER_HOUR;
			q.to_ns = WORLD_START + 3 * NS_PER_HOUR + 17;
		}
		check_pages(&w, q, i % 2 == 0);
	}
	world_close(&w);
}
END_TEST

START_TEST(names_never_seen_match_no_window)
{
	struct world w;
	struct query q = { .service = STR("nobody") };
	struct window_list l;

	world_open(&w, 7);
	world_fleet(&w, 5, NS_PER_HOUR);
	world_put_all(&w, 5);
	world_ok(&w, store_windows(w.store, &q, false, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 0);
	world_close(&w);
}
END_TEST

START_TEST(a_cursor_of_another_list_is_refused)
{
	struct world w;
	struct query q = { .limit = 2 };
	struct window_list l;
	struct service_list s;

	world_open(&w, 8);
	world_fleet(&w, 5, NS_PER_HOUR);
	world_put_all(&w, 5);
	world_ok(&w, store_windows(w.store, &q, false, &w.answer, &l, &w.err));
	q.cursor = l.next;
	ck_assert(!str_empty(q.cursor));
	ck_assert_int_eq(store_services(w.store, &q, &w.answer, &s, &w.err), E_USAGE);
	ck_assert_msg(str_has_prefix(str_of(w.err.text), STR("cursor: ")), "%s", w.err.text);
	q.newest_first = true;
	ck_assert_int_eq(store_windows(w.store, &q, false, &w.answer, &l, &w.err), E_USAGE);
	q.cursor = STR("zz");
	ck_assert_int_eq(store_windows(w.store, &q, false, &w.answer, &l, &w.err), E_USAGE);
	world_close(&w);
}
END_TEST

START_TEST(an_answer_larger_than_its_arena_is_refused)
{
	struct world w;
	struct query q = { .limit = 100 };
	struct window_list l;
	struct arena small;

	world_open(&w, 9);
	world_fleet(&w, 100, NS_PER_HOUR);
	world_put_all(&w, 100);
	for (size_t cap = 100; cap < 60000; cap = cap * 3 / 2) {
		arena_init(&small, cap);
		ck_assert_int_eq(store_windows(w.store, &q, true, &small, &l, &w.err), E_LIMIT);
		ck_assert_uint_eq(l.n, 0);
		arena_fini(&small);
	}
	world_close(&w);
}
END_TEST

Suite *suite_windows(void)
{
	Suite *s = suite_create("store/windows");
	TCase *tc = tcase_create("windows");

	tcase_add_test(tc, an_empty_store_answers_with_nothing);
	tcase_add_test(tc, a_window_comes_back_whole);
	tcase_add_test(tc, a_window_without_anything_in_it_comes_back);
	tcase_add_test(tc, a_window_that_is_not_here_is_not_found);
	tcase_add_test(tc, a_repeated_window_counts_once);
	tcase_add_test(tc, a_batch_with_a_bad_window_stores_nothing);
	tcase_add_test(tc, pages_of_windows_hold_each_once_and_in_order);
	tcase_add_test(tc, names_never_seen_match_no_window);
	tcase_add_test(tc, a_cursor_of_another_list_is_refused);
	tcase_add_test(tc, an_answer_larger_than_its_arena_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
