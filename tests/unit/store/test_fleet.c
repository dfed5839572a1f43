#include "world.h"

Suite *suite_fleet(void);

#define same_text(str, text) \
	ck_assert_msg(str_eq(str, str_of(text)), "\"%.*s\" is not \"%s\"", STR_ARG(str), text)

static void put_one(struct world *w, const char *service, const char *deploy, const char *host,
	const char *worker, int64_t at_ns)
{
	world_put(w, world_window(w, service, deploy, host, worker, WORLD_START + at_ns), 1);
}

START_TEST(services_tell_hosts_deploys_windows_and_the_newest_deploy)
{
	struct world w;
	struct query q = { .limit = 10 };
	struct service_list l;

	world_open(&w, 40);
	put_one(&w, "b", "v2", "h1", "0", 10);
	put_one(&w, "b", "v1", "h1", "0", 5);
	put_one(&w, "b", "v1", "h2", "1", 20); /* v1 went on after v2 began */
	put_one(&w, "b", "", "h3", "0", 15);
	put_one(&w, "a", "", "h1", "0", 7);
	world_ok(&w, store_services(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 2);
	ck_assert(str_empty(l.next));
	same_text(l.v[0].service, "a");
	same_text(l.v[0].deploy, "");
	ck_assert_uint_eq(l.v[0].deploys, 0);
	same_text(l.v[1].service, "b");
	same_text(l.v[1].deploy, "v2");
	ck_assert_uint_eq(l.v[1].hosts, 3);
	ck_assert_uint_eq(l.v[1].deploys, 2);
	ck_assert_uint_eq(l.v[1].windows, 4);
	ck_assert_int_eq(l.v[1].first_ns, WORLD_START + 5);
	ck_assert_int_eq(l.v[1].last_ns, WORLD_START + 20);
	q.limit = 1;
	world_ok(&w, store_services(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 1);
	q.cursor = l.next;
	world_ok(&w, store_services(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 1);
	same_text(l.v[0].service, "b");
	ck_assert(str_empty(l.next));
	q = (struct query){ .service = STR("nobody") };
	world_ok(&w, store_services(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 0);
	world_close(&w);
}
END_TEST

START_TEST(names_of_services_come_in_order_and_all_at_once)
{
	struct world w;
	struct name_list l;
	char name[16];

	world_open(&w, 41);
	world_ok(&w, store_service_names(w.store, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 0);
	for (int i = 0; i < 120; i++) {
		snprintf(name, sizeof(name), "s%03d", i * 7 % 120);
		put_one(&w, name, "v1", "h1", "0", 10);
		put_one(&w, name, "v2", "h2", "0", 20);
	}
	world_ok(&w, store_service_names(w.store, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 120);
	for (int i = 0; i < 120; i++) {
		snprintf(name, sizeof(name), "s%03d", i);
		same_text(l.v[i], name);
	}
	world_close(&w);
}
END_TEST

START_TEST(a_life_is_from_the_first_to_the_last_window)
{
	struct world w;
	struct query q = { .service = STR("a") };
	int64_t first_ns, last_ns;
	bool any = true;

	world_open(&w, 42);
	put_one(&w, "a", "v1", "h1", "0", 10);
	put_one(&w, "a", "v2", "h2", "0", 5);
	put_one(&w, "b", "v1", "h1", "0", 99);
	world_ok(&w, store_life(w.store, &q, &any, &first_ns, &last_ns, &w.err));
	ck_assert(any && first_ns == WORLD_START + 5 && last_ns == WORLD_START + 10);
	q = (struct query){ .host = STR("h1") };
	world_ok(&w, store_life(w.store, &q, &any, &first_ns, &last_ns, &w.err));
	ck_assert(any && first_ns == WORLD_START + 10 && last_ns == WORLD_START + 99);
	q = (struct query){ .service = STR("nobody") };
	world_ok(&w, store_life(w.store, &q, &any, &first_ns, &last_ns, &w.err));
	ck_assert(!any);
	world_close(&w);
}
END_TEST

START_TEST(a_range_keeps_those_whose_life_meets_it)
{
	struct world w;
	struct query q = { .from_ns = WORLD_START + 50, .to_ns = WORLD_START + 100 };
	struct service_list services;
	struct host_list hosts;
	struct deploy_list deploys;

	world_open(&w, 41);
	put_one(&w, "early", "v1", "h1", "0", 49);
	put_one(&w, "in", "v1", "h2", "0", 50);
	put_one(&w, "around", "v1", "h3", "0", 0);
	put_one(&w, "around", "v1", "h3", "0", 200);
	put_one(&w, "late", "v1", "h4", "0", 100);
	world_ok(&w, store_services(w.store, &q, &w.answer, &services, &w.err));
	world_ok(&w, store_hosts(w.store, &q, &w.answer, &hosts, &w.err));
	world_ok(&w, store_deploys(w.store, &q, &w.answer, &deploys, &w.err));
	ck_assert_uint_eq(services.n, 2);
	same_text(services.v[0].service, "around");
	same_text(services.v[1].service, "in");
	ck_assert_uint_eq(hosts.n, 2);
	same_text(hosts.v[0].host, "h2");
	same_text(hosts.v[1].host, "h3");
	ck_assert_uint_eq(deploys.n, 2);
	world_close(&w);
}
END_TEST

START_TEST(hosts_show_what_they_ran_last)
{
	struct world w;
	struct query q = { .limit = 1 };
	struct host_list l;

	world_open(&w, 42);
	put_one(&w, "a", "v1", "h1", "0", 5);
	put_one(&w, "a", "v1", "h1", "1", 6);
	put_one(&w, "b", "v9", "h1", "0", 30);
	put_one(&w, "a", "v2", "h1", "0", 20);
	put_one(&w, "a", "v2", "h2", "", 20);
	world_ok(&w, store_hosts(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 1);
	same_text(l.v[0].host, "h1");
	same_text(l.v[0].service, "b");
	same_text(l.v[0].deploy, "v9");
	ck_assert_uint_eq(l.v[0].workers, 3);
	ck_assert_uint_eq(l.v[0].windows, 4);
	ck_assert_int_eq(l.v[0].first_ns, WORLD_START + 5);
	ck_assert_int_eq(l.v[0].last_ns, WORLD_START + 30);
	q.cursor = l.next;
	world_ok(&w, store_hosts(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 1);
	same_text(l.v[0].host, "h2");
	ck_assert(str_empty(l.next));
	q = (struct query){ .service = STR("a"), .host = STR("h1") };
	world_ok(&w, store_hosts(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 1);
	same_text(l.v[0].service, "a");
	same_text(l.v[0].deploy, "v2");
	ck_assert_uint_eq(l.v[0].workers, 2);
	world_close(&w);
}
END_TEST

START_TEST(deploys_come_from_windows_and_from_announcements)
{
	struct label labels[] = { { STR("sdk"), STR("2.26.1") }, { STR("git"), STR("abc") } };
	struct deploy v3 = { .service = STR("a"),
		.deploy = STR("v3"),
		.first_ns = WORLD_START + 50,
		.labels = labels,
		.n_labels = 2 };
	struct world w;
	struct query q = { .service = STR("a") };
	struct deploy_list l;

	world_open(&w, 43);
	put_one(&w, "a", "v1", "h1", "0", 5);
	put_one(&w, "a", "v2", "h1", "0", 20);
	put_one(&w, "a", "v2", "h2", "0", 10);
	put_one(&w, "a", "", "h2", "0", 1);
	put_one(&w, "b", "v1", "h2", "0", 1);
	world_ok(&w, store_put_deploy(w.store, &v3, &w.err));
	world_ok(&w, store_deploys(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 3);
	same_text(l.v[0].deploy, "v3");
	ck_assert_int_eq(l.v[0].first_ns, WORLD_START + 50);
	ck_assert_uint_eq(l.v[0].windows, 0);
	ck_assert_uint_eq(l.v[0].n_labels, 2);
	same_text(l.v[0].labels[1].key, "git");
	same_text(l.v[0].labels[1].value, "abc");
	same_text(l.v[1].deploy, "v2");
	ck_assert_int_eq(l.v[1].first_ns, WORLD_START + 10);
	ck_assert_int_eq(l.v[1].last_ns, WORLD_START + 20);
	ck_assert_uint_eq(l.v[1].windows, 2);
	ck_assert_uint_eq(l.v[1].hosts, 2);
	same_text(l.v[2].deploy, "v1");
	/* Its first window says when it really began; a repeat replaces the labels. */
	put_one(&w, "a", "v3", "h1", "0", 60);
	v3.n_labels = 1;
	world_ok(&w, store_put_deploy(w.store, &v3, &w.err));
	q.limit = 1;
	world_ok(&w, store_deploys(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 1);
	ck_assert_int_eq(l.v[0].first_ns, WORLD_START + 60);
	ck_assert_uint_eq(l.v[0].windows, 1);
	ck_assert_uint_eq(l.v[0].n_labels, 1);
	q.cursor = l.next;
	q.limit = 2;
	world_ok(&w, store_deploys(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 2);
	same_text(l.v[0].deploy, "v2");
	ck_assert(str_empty(l.next));
	world_close(&w);
}
END_TEST

START_TEST(announced_deploys_of_an_unseen_service_are_listed_and_of_a_host_are_not)
{
	struct deploy d = { .service = STR("new"), .deploy = STR("v1"), .first_ns = WORLD_START };
	struct world w;
	struct query q = { .service = STR("new") };
	struct deploy_list l;

	world_open(&w, 44);
	put_one(&w, "a", "v1", "h1", "0", 5);
	world_ok(&w, store_put_deploy(w.store, &d, &w.err));
	world_ok(&w, store_deploys(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 1);
	q.host = STR("h1");
	world_ok(&w, store_deploys(w.store, &q, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 0);
	d.service = STR("");
	ck_assert_int_eq(store_put_deploy(w.store, &d, &w.err), E_FORMAT);
	ck_assert_str_eq(w.err.text, "service: empty");
	world_close(&w);
}
END_TEST

Suite *suite_fleet(void)
{
	Suite *s = suite_create("store/fleet");
	TCase *tc = tcase_create("fleet");

	tcase_add_test(tc, services_tell_hosts_deploys_windows_and_the_newest_deploy);
	tcase_add_test(tc, names_of_services_come_in_order_and_all_at_once);
	tcase_add_test(tc, a_life_is_from_the_first_to_the_last_window);
	tcase_add_test(tc, a_range_keeps_those_whose_life_meets_it);
	tcase_add_test(tc, hosts_show_what_they_ran_last);
	tcase_add_test(tc, deploys_come_from_windows_and_from_announcements);
	tcase_add_test(tc, announced_deploys_of_an_unseen_service_are_listed_and_of_a_host_are_not);
	suite_add_tcase(s, tc);
	return s;
}
