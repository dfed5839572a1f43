#include "world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/store/v1.h"

Suite *suite_captures(void);

static struct world w;

static void start(void)
{
	world_open(&w, 130);
}

static void stop(void)
{
	world_close(&w);
}

#define same_text(a, b) ck_assert_msg(str_eq(a, b), "\"%.*s\" is not \"%.*s\"", STR_ARG(a), STR_ARG(b))

static struct str id_of(unsigned i)
{
	return arena_fmt(&w.arena, "%032x", i);
}

static struct str some_hosts[] = { { "trn-1", 5 }, { "trn-2", 5 } };

static struct capture some_capture(unsigned i)
{
	struct capture c = { .id = id_of(i), .created_ns = WORLD_START + i / 2, .expires_ns = WORLD_START + NS_PER_HOUR,
		.join_ns = 5, .service = i % 3 ? STR("llm") : STR(""), .source = STR("kineto"), .hosts = some_hosts,
		.n_hosts = 2, .workers = some_hosts, .n_workers = 0, .duration_ns = NS_PER_S, .iterations = 3,
		.reason = STR("why \"not\""), .alert = STR("5f0d") };

	c.targets = arena_get_array(&w.arena, 2, sizeof(*c.targets));
	c.n_targets = 2;
	for (size_t k = 0; k < 2; k++)
		c.targets[k] = (struct capture_target){ .host = some_hosts[k], .service = STR("llm"), .source = STR("kineto"),
			.worker = STR("0") };
	return c;
}

static void put(const struct capture_changes *c)
{
	world_ok(&w, store_put_captures(w.store, c, &w.err));
}

static void put_capture(struct capture *c)
{
	struct capture_changes changes = { .captures = { .v = c, .n = 1 } };

	put(&changes);
}

static void put_target(struct str capture, size_t host, enum target_state state, const char *end, const char *window)
{
	struct target_change t = { capture, { .host = some_hosts[host], .service = STR("llm"), .source = STR("kineto"),
		.worker = STR("0"), .state = state, .lease = STR("1e45e"), .end = str_of(end), .window = str_of(window) } };
	struct capture_changes changes = { .targets = { .v = &t, .n = 1 } };

	put(&changes);
}

static struct capture get(struct str id)
{
	struct capture c;

	world_ok(&w, store_capture(w.store, id, &w.answer, &c, &w.err));
	return c;
}

START_TEST(a_capture_comes_back_whole_after_the_store_was_opened_again)
{
	struct capture c = some_capture(1), got;

	put_capture(&c);
	world_reopen(&w);
	got = get(c.id);
	same_text(got.id, c.id);
	ck_assert_int_eq(got.created_ns, c.created_ns);
	ck_assert_int_eq(got.expires_ns, c.expires_ns);
	ck_assert_int_eq(got.join_ns, 5);
	ck_assert_int_eq(got.ended_ns, 0);
	same_text(got.service, c.service);
	same_text(got.source, c.source);
	same_text(got.reason, c.reason);
	same_text(got.alert, c.alert);
	ck_assert_int_eq(got.duration_ns, NS_PER_S);
	ck_assert_int_eq(got.iterations, 3);
	ck_assert_uint_eq(got.n_hosts, 2);
	same_text(got.hosts[1], STR("trn-2"));
	ck_assert_uint_eq(got.n_workers, 0);
	ck_assert_uint_eq(got.n_targets, 2);
	same_text(got.targets[1].host, STR("trn-2"));
	ck_assert_int_eq(capture_state(&got), CAPTURE_WAITING);
	ck_assert_int_eq(store_capture(w.store, STR("nope"), &w.answer, &got, &w.err), E_NOT_FOUND);
	ck_assert_str_eq(w.err.text, "capture nope: not here");
}
END_TEST

START_TEST(a_target_goes_forward_and_stays_as_it_ended)
{
	struct capture c = some_capture(1), got;
	struct capture_end end = { c.id, WORLD_START + 9 }, again = { c.id, WORLD_START + 99 };
	struct capture_changes changes = { .ends = { .v = &end, .n = 1 } };

	put_capture(&c);
	put_target(c.id, 0, TARGET_LEASED, "", "");
	got = get(c.id);
	ck_assert_int_eq(capture_state(&got), CAPTURE_RUNNING);
	same_text(got.targets[0].lease, STR("1e45e"));
	put_target(c.id, 0, TARGET_TAKEN, "taken", "0f3c");
	put_target(c.id, 0, TARGET_WAITING, "lost", "");
	put_target(c.id, 1, TARGET_EXPIRED, "", "");
	put(&changes);
	changes.ends.v = &again;
	put(&changes);
	got = get(c.id);
	ck_assert_int_eq(got.targets[0].state, TARGET_TAKEN);
	same_text(got.targets[0].window, STR("0f3c"));
	ck_assert_int_eq(got.targets[1].state, TARGET_EXPIRED);
	ck_assert_int_eq(got.ended_ns, WORLD_START + 9);
	ck_assert_int_eq(capture_state(&got), CAPTURE_DONE);
}
END_TEST

START_TEST(captures_are_listed_newest_first_in_pages_by_service_and_open_ones_alone)
{
	struct query q = { .limit = 3 };
	struct capture_list l;
	struct capture all[10];
	struct capture_end end;
	struct capture_changes changes = { .ends = { .v = &end, .n = 1 } };
	size_t seen = 0;

	for (unsigned i = 0; i < 10; i++) {
		all[i] = some_capture(i);
		put_capture(&all[i]);
	}
	end = (struct capture_end){ all[4].id, WORLD_START };
	put(&changes);
	do {
		world_ok(&w, store_captures(w.store, &q, false, &w.answer, &l, &w.err));
		for (size_t i = 0; i < l.n; i++, seen++) {
			/* created together in pairs: of those the smaller id first */
			same_text(l.v[i].id, all[9 - seen + (seen % 2 == 0 ? -1 : 1)].id);
			ck_assert_uint_eq(l.v[i].n_targets, 2);
		}
		q.cursor = l.next;
	} while (!str_empty(l.next));
	ck_assert_uint_eq(seen, 10);
	world_ok(&w, store_captures(w.store, &q, true, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 9);
	q = (struct query){ .limit = 100, .service = STR("llm") };
	world_ok(&w, store_captures(w.store, &q, false, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 10); /* by their targets */
	q.service = STR("ranker");
	world_ok(&w, store_captures(w.store, &q, false, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 0);
}
END_TEST

START_TEST(leases_are_there_until_they_end)
{
	struct lease l = { .id = STR("a1"), .agent = STR("b2"), .capture = STR("c3"), .host = STR("h"), .service = STR("s"),
		.source = STR("kineto"), .worker = STR("7"), .duration_ns = 1, .iterations = 2, .granted_ns = 3, .begin_ns = 4,
		.until_ns = 5 };
	struct str ended[] = { { "a1", 2 }, { "never", 5 } };
	struct capture_changes granted = { .granted = { .v = &l, .n = 1 } }, over = { .ended = { .v = ended, .n = 2 } };
	struct lease_list got;

	put(&granted);
	put(&granted);
	world_reopen(&w);
	world_ok(&w, store_leases(w.store, &w.answer, &got, &w.err));
	ck_assert_uint_eq(got.n, 1);
	same_text(got.v[0].agent, l.agent);
	same_text(got.v[0].capture, l.capture);
	same_text(got.v[0].host, l.host);
	same_text(got.v[0].service, l.service);
	same_text(got.v[0].source, l.source);
	same_text(got.v[0].worker, l.worker);
	ck_assert_int_eq(got.v[0].duration_ns, 1);
	ck_assert_int_eq(got.v[0].iterations, 2);
	ck_assert_int_eq(got.v[0].granted_ns, 3);
	ck_assert_int_eq(got.v[0].begin_ns, 4);
	ck_assert_int_eq(got.v[0].until_ns, 5);
	put(&over);
	world_ok(&w, store_leases(w.store, &w.answer, &got, &w.err));
	ck_assert_uint_eq(got.n, 0);
}
END_TEST

START_TEST(the_policy_is_off_at_first_and_kept)
{
	struct capture_policy p = { .paused = true, .reason = STR("incident 12"), .changed_ns = 77 }, got;
	struct capture_changes changes = { .policy = &p };

	world_ok(&w, store_capture_policy(w.store, &w.answer, &got, &w.err));
	ck_assert(!got.paused && got.changed_ns == 0 && str_empty(got.reason));
	put(&changes);
	world_reopen(&w);
	world_ok(&w, store_capture_policy(w.store, &w.answer, &got, &w.err));
	ck_assert(got.paused);
	same_text(got.reason, p.reason);
	ck_assert_int_eq(got.changed_ns, 77);
}
END_TEST

START_TEST(captures_that_ended_long_ago_go_with_their_targets)
{
	struct capture open = some_capture(2), ended = some_capture(4), fresh = some_capture(6);
	struct capture_list l;
	struct query q = { .limit = 10 };

	ended.ended_ns = fresh.ended_ns = WORLD_START + 1;
	fresh.created_ns = WORLD_START + 5 * NS_PER_HOUR;
	put_capture(&open);
	put_capture(&ended);
	put_capture(&fresh);
	store_close(w.store);
	w.settings.retention_rollup_ns = NS_PER_HOUR;
	world_ok(&w, store_open_sqlite(&w.store, &w.settings, &w.err));
	world_ok(&w, store_housekeep(w.store, WORLD_START + 5 * NS_PER_HOUR, &w.err));
	world_ok(&w, store_captures(w.store, &q, false, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 2);
	same_text(l.v[0].id, fresh.id);
	same_text(l.v[1].id, open.id);
	ck_assert_uint_eq(l.v[1].n_targets, 2);
	/* an id that comes again does not find the old targets */
	ended.n_targets = 0;
	put_capture(&ended);
	ck_assert_uint_eq(get(ended.id).n_targets, 0);
}
END_TEST

/* In place of what world_open made: the database of an older version. */
static void begin_with_v1(void)
{
	char path[128];
	sqlite3 *db;

	store_close(w.store);
	w.store = NULL;
	snprintf(path, sizeof(path), "%s/store.sqlite", w.dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, database_v1, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

START_TEST(an_older_database_is_brought_up_with_all_that_is_in_it)
{
	struct query q = { .limit = 10 };
	struct capture c = some_capture(1);
	struct deploy_list deploys;
	struct window_list windows;
	struct alert_list alerts;

	begin_with_v1();
	world_ok(&w, store_open_sqlite(&w.store, &w.settings, &w.err));
	world_ok(&w, store_windows(w.store, &q, true, &w.answer, &windows, &w.err));
	ck_assert_uint_eq(windows.n, 1);
	same_text(windows.v[0].deploy, STR("v41"));
	ck_assert_uint_eq(windows.v[0].n_ops, 1);
	ck_assert_uint_eq(windows.v[0].ops[0].calls, 60);
	window_list_fini(&windows);
	world_ok(&w, store_deploys(w.store, &q, &w.answer, &deploys, &w.err));
	ck_assert_uint_eq(deploys.n, 2);
	world_ok(&w, store_alerts(w.store, &q, true, ALERT_FIRING, &w.answer, &alerts, &w.err));
	ck_assert_uint_eq(alerts.n, 1);
	put_capture(&c);
	world_reopen(&w); /* and once only */
	ck_assert_uint_eq(get(c.id).n_targets, 2);
}
END_TEST

Suite *suite_captures(void)
{
	Suite *s = suite_create("store/captures");
	TCase *tc = tcase_create("captures");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, a_capture_comes_back_whole_after_the_store_was_opened_again);
	tcase_add_test(tc, a_target_goes_forward_and_stays_as_it_ended);
	tcase_add_test(tc, captures_are_listed_newest_first_in_pages_by_service_and_open_ones_alone);
	tcase_add_test(tc, leases_are_there_until_they_end);
	tcase_add_test(tc, the_policy_is_off_at_first_and_kept);
	tcase_add_test(tc, captures_that_ended_long_ago_go_with_their_targets);
	tcase_add_test(tc, an_older_database_is_brought_up_with_all_that_is_in_it);
	suite_add_tcase(s, tc);
	return s;
}
