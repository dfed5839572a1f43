#include "world.h"

#include "store/inside.h"

Suite *suite_housekeep(void);

static size_t count_windows(struct world *w)
{
	struct query q = { .limit = QUERY_LIMIT_MAX };
	struct window_list l;
	size_t n;

	arena_reset(&w->answer);
	world_ok(w, store_windows(w->store, &q, false, &w->answer, &l, &w->err));
	n = l.n;
	window_list_fini(&l);
	return n;
}

static void set_retention(struct world *w, int64_t raw_ns, int64_t rollup_ns, int64_t max_bytes)
{
	w->settings.retention_raw_ns = raw_ns;
	w->settings.retention_rollup_ns = rollup_ns;
	w->settings.max_bytes = max_bytes;
	world_reopen(w);
}

static void check_merged(
	struct world *w, const struct query *q, const struct query *widened, int64_t want_tier)
{
	struct profile_merge *want = world_merged(w, widened), *got;
	int64_t tier;

	world_ok(w, store_merged(w->store, q, &got, &tier, &w->err));
	ck_assert_int_eq(tier, want_tier);
	world_same_merged(got, want);
	profile_merge_free(want);
	profile_merge_free(got);
}

START_TEST(old_windows_go_and_their_rollups_stay)
{
	struct world w;
	struct query q = { .service = STR("ranker") }, wide;
	struct put_result r;
	struct window got;
	int64_t now = WORLD_START + 20 * NS_PER_HOUR;
	size_t kept = 0, first = SIZE_MAX;

	world_open(&w, 60);
	world_fleet(&w, 700, 20 * NS_PER_HOUR);
	world_put_all(&w, 100);
	set_retention(&w, 8 * NS_PER_HOUR + NS_PER_MIN, 0, 0);
	world_ok(&w, store_housekeep(w.store, now, &w.err));
	for (size_t i = 0; i < w.n; i++) {
		bool stays = w.windows[i].start_ns >= now - w.settings.retention_raw_ns;

		kept += stays;
		if (!stays)
			first = i;
	}
	ck_assert_uint_eq(count_windows(&w), kept);
	ck_assert_int_eq(store_window(w.store, w.windows[first].id, &w.answer, &got, &w.err), E_NOT_FOUND);
	/* All of it is still counted, exactly; a range's ends are widened to hours where windows are gone. */
	check_merged(&w, &q, &q, NS_PER_HOUR);
	q.from_ns = WORLD_START + 3 * NS_PER_HOUR + 7 * NS_PER_MIN;
	q.to_ns = WORLD_START + 5 * NS_PER_HOUR + NS_PER_MIN;
	wide = q;
	wide.from_ns = WORLD_START + 3 * NS_PER_HOUR;
	wide.to_ns = WORLD_START + 6 * NS_PER_HOUR;
	check_merged(&w, &q, &wide, NS_PER_HOUR);
	q.to_ns = WORLD_START + 15 * NS_PER_HOUR + NS_PER_MIN;
	wide.to_ns = q.to_ns;
	check_merged(&w, &q, &wide, NS_PER_HOUR);
	q.from_ns = wide.from_ns = WORLD_START + 14 * NS_PER_HOUR + 1;
	q.to_ns = wide.to_ns = WORLD_START + 14 * NS_PER_HOUR + 40 * NS_PER_MIN;
	check_merged(&w, &q, &wide, 0);
	/* A window that went is still known. */
	world_ok(&w, store_put(w.store, &w.windows[first], 1, &r, &w.err));
	ck_assert_uint_eq(r.duplicates, 1);
	world_close(&w);
}
END_TEST

/* As a store of an earlier version is. */
static int forget_next_row(struct writer *wr, void *arg, struct err *e)
{
	(void)arg;
	return db_exec(wr->db, "DELETE FROM meta WHERE key = 'next_row'", e);
}

START_TEST(a_window_that_is_gone_is_never_another_one)
{
	struct world w;
	struct window got;

	world_open(&w, 66);
	world_put(&w, world_window(&w, "s", "v1", "h", "0", WORLD_START), 1);
	world_put(&w, world_window(&w, "s", "v1", "h", "0", WORLD_START - 10 * NS_PER_DAY), 1);
	set_retention(&w, NS_PER_DAY, 0, 0);
	world_ok(&w, store_housekeep(w.store, WORLD_START, &w.err)); /* the one that came last goes */
	if (_i == 1)
		world_ok(&w, writer_do(w.store->writer, forget_next_row, NULL, 1, &w.err));
	world_reopen(&w);
	world_put(&w, world_window(&w, "s", "v1", "h", "0", WORLD_START + 1), 1);
	ck_assert_int_eq(store_window(w.store, w.windows[1].id, &w.answer, &got, &w.err), E_NOT_FOUND);
	world_ok(&w, store_window(w.store, w.windows[2].id, &w.answer, &got, &w.err));
	world_same_window(&got, &w.windows[2], true);
	window_fini(&got);
	world_close(&w);
}
END_TEST

START_TEST(a_deploy_is_known_as_long_as_its_windows_are_kept)
{
	struct query q = { .service = STR("s"), .deploy = STR("v1"), .with_ops = true };
	struct world w;
	struct window_list list;

	world_open(&w, 67);
	world_put(&w, world_window(&w, "s", "v1", "h", "0", WORLD_START - 10 * NS_PER_DAY), 1);
	set_retention(&w, 0, NS_PER_DAY, 0);
	world_ok(&w, store_housekeep(w.store, WORLD_START, &w.err));
	world_ok(&w, store_windows(w.store, &q, false, &w.answer, &list, &w.err));
	ck_assert_uint_eq(list.n, 1);
	window_list_fini(&list);
	world_close(&w);
}
END_TEST

START_TEST(a_fine_trend_over_dropped_windows_becomes_hourly_and_says_so)
{
	struct world w;
	struct query q = { .op = STR("step"), .resolution_ns = 10 * NS_PER_MIN };
	struct trend t;
	uint64_t windows = 0;

	world_open(&w, 61);
	world_fleet(&w, 300, 20 * NS_PER_HOUR);
	world_put_all(&w, 100);
	set_retention(&w, 5 * NS_PER_HOUR, 0, 0);
	world_ok(&w, store_housekeep(w.store, WORLD_START + 20 * NS_PER_HOUR, &w.err));
	world_ok(&w, store_trend(w.store, &q, &w.answer, &t, &w.err));
	ck_assert_int_eq(t.resolution_ns, NS_PER_HOUR);
	ck_assert_int_eq(t.tier_ns, NS_PER_HOUR);
	for (size_t i = 0; i < t.n; i++)
		windows += t.v[i].windows;
	ck_assert_uint_eq(windows, 300);
	trend_fini(&t);
	q.from_ns = WORLD_START + 16 * NS_PER_HOUR;
	world_ok(&w, store_trend(w.store, &q, &w.answer, &t, &w.err));
	ck_assert_int_eq(t.resolution_ns, 10 * NS_PER_MIN);
	ck_assert_int_eq(t.tier_ns, 0);
	trend_fini(&t);
	world_close(&w);
}
END_TEST

START_TEST(rollups_go_after_their_own_retention_with_all_that_belongs_to_them)
{
	struct deploy d = { .service = STR("gone"), .deploy = STR("v1"), .first_ns = WORLD_START };
	struct alert old = {
		.id = STR("1"), .state = ALERT_RESOLVED, .kind = VERDICT_OP_SLOWER, .updated_ns = WORLD_START
	};
	struct alert firing = old;
	struct world w;
	struct query q = { .limit = 100 }, rest = { .from_ns = WORLD_START + 12 * NS_PER_HOUR };
	struct service_list services;
	struct deploy_list deploys;
	struct alert_list alerts;
	struct put_result r;

	firing.id = STR("2");
	firing.state = ALERT_FIRING;
	world_open(&w, 62);
	world_fleet(&w, 500, 20 * NS_PER_HOUR);
	world_window(&w, "old", "v0", "h", "0", WORLD_START + 1);
	world_put_all(&w, 100);
	world_ok(&w, store_put_deploy(w.store, &d, &w.err));
	world_ok(&w, store_put_alert(w.store, &old, &w.err));
	world_ok(&w, store_put_alert(w.store, &firing, &w.err));
	set_retention(&w, 2 * NS_PER_HOUR, 8 * NS_PER_HOUR, 0);
	world_ok(&w, store_housekeep(w.store, WORLD_START + 20 * NS_PER_HOUR, &w.err));
	check_merged(&w, &q, &rest, NS_PER_HOUR);
	world_ok(&w, store_services(w.store, &q, &w.answer, &services, &w.err));
	ck_assert_uint_eq(services.n, 2);
	world_ok(&w, store_deploys(w.store, &q, &w.answer, &deploys, &w.err));
	for (size_t i = 0; i < deploys.n; i++)
		ck_assert(!str_eq(deploys.v[i].service, STR("gone")));
	world_ok(&w, store_alerts(w.store, &q, true, ALERT_FIRING, &w.answer, &alerts, &w.err));
	ck_assert_uint_eq(alerts.n, 1);
	ck_assert_int_eq(alerts.v[0].state, ALERT_FIRING);
	/* So long after, a repeat is not known any more: it counts and goes again. */
	world_ok(&w, store_put(w.store, &w.windows[500], 1, &r, &w.err));
	ck_assert_uint_eq(r.accepted, 1);
	world_ok(&w, store_housekeep(w.store, WORLD_START + 20 * NS_PER_HOUR, &w.err));
	check_merged(&w, &q, &rest, NS_PER_HOUR);
	world_close(&w);
}
END_TEST

START_TEST(over_the_size_cap_the_oldest_go_first)
{
	struct world w;
	struct query q = { .limit = 1 };
	struct window_list l;
	size_t left;
	int64_t oldest;

	world_open(&w, 63);
	world_fleet(&w, 4000, 20 * NS_PER_HOUR);
	world_put_all(&w, 500);
	set_retention(&w, 0, 0, 4 << 20);
	world_ok(&w, store_housekeep(w.store, WORLD_START, &w.err));
	left = count_windows(&w);
	ck_assert_uint_gt(left, 100);
	ck_assert_uint_lt(left, 4000);
	world_ok(&w, store_windows(w.store, &q, false, &w.answer, &l, &w.err));
	oldest = l.v[0].start_ns;
	for (size_t i = 0; i < w.n; i++)
		left -= w.windows[i].start_ns >= oldest;
	ck_assert_uint_eq(left, 0);
	/* A cap that nothing fits under ends, and leaves a store that works. */
	set_retention(&w, 0, 0, 1);
	world_ok(&w, store_housekeep(w.store, WORLD_START, &w.err));
	ck_assert_uint_eq(count_windows(&w), 0);
	world_put(&w, world_window(&w, "s", "v", "h", "0", WORLD_START), 1);
	ck_assert_uint_eq(count_windows(&w), 1);
	world_close(&w);
}
END_TEST

Suite *suite_housekeep(void)
{
	Suite *s = suite_create("store/housekeep");
	TCase *tc = tcase_create("housekeep");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, old_windows_go_and_their_rollups_stay);
	tcase_add_loop_test(tc, a_window_that_is_gone_is_never_another_one, 0, 2);
	tcase_add_test(tc, a_deploy_is_known_as_long_as_its_windows_are_kept);
	tcase_add_test(tc, a_fine_trend_over_dropped_windows_becomes_hourly_and_says_so);
	tcase_add_test(tc, rollups_go_after_their_own_retention_with_all_that_belongs_to_them);
	tcase_add_test(tc, over_the_size_cap_the_oldest_go_first);
	suite_add_tcase(s, tc);
	return s;
}
