#include "world.h"

Suite *suite_alerts(void);

#define same_text(a, b) ck_assert_msg(str_eq(a, b), "\"%.*s\" is not \"%.*s\"", STR_ARG(a), STR_ARG(b))

static void same_alert(const struct alert *a, const struct alert *b)
{
	same_text(a->id, b->id);
	ck_assert_int_eq(a->state, b->state);
	ck_assert_int_eq(a->kind, b->kind);
	same_text(a->service, b->service);
	same_text(a->deploy, b->deploy);
	same_text(a->deploy_before, b->deploy_before);
	same_text(a->op, b->op);
	same_text(a->sentence, b->sentence);
	ck_assert_int_eq(a->started_ns, b->started_ns);
	ck_assert_int_eq(a->fired_ns, b->fired_ns);
	ck_assert_int_eq(a->resolved_ns, b->resolved_ns);
	ck_assert_int_eq(a->updated_ns, b->updated_ns);
	ck_assert_uint_eq(a->windows_before, b->windows_before);
	ck_assert_uint_eq(a->windows_after, b->windows_after);
	same_text(a->evidence, b->evidence);
	ck_assert_uint_eq(a->n_hosts, b->n_hosts);
	for (size_t i = 0; i < a->n_hosts; i++)
		same_text(a->hosts[i], b->hosts[i]);
}

static struct str some_hosts[] = { { "trn-1", 5 }, { "trn-2", 5 } };

static struct alert some_alert(struct world *w, int i)
{
	return (struct alert){
		.id = arena_fmt(&w->arena, "%032d", i),
		.state = i % 2 ? ALERT_FIRING : ALERT_RESOLVED,
		.kind = VERDICT_FUSION_LOST,
		.service = i % 3 ? STR("llm-decode") : STR("ranker"),
		.deploy = STR("v42"),
		.deploy_before = STR("v41"),
		.op = STR("aten::_fused_rms_norm"),
		.sentence = STR("1 call became 6"),
		.started_ns = WORLD_START + i / 2,
		.fired_ns = WORLD_START + i + 1,
		.updated_ns = WORLD_START + i + 2,
		.hosts = some_hosts,
		.n_hosts = (size_t)i % 3,
		.windows_before = 64,
		.windows_after = 2,
		.evidence = STR("{\"verdict\":\"fusion_lost\"}"),
	};
}

START_TEST(an_alert_comes_back_whole_and_is_replaced_by_its_id)
{
	struct world w;
	struct alert al, got;
	struct query q = { .limit = 10 };
	struct alert_list l;

	world_open(&w, 50);
	al = some_alert(&w, 5);
	world_ok(&w, store_put_alert(w.store, &al, &w.err));
	world_ok(&w, store_alert(w.store, al.id, &w.answer, &got, &w.err));
	same_alert(&al, &got);
	al.state = ALERT_ACCEPTED;
	al.resolved_ns = WORLD_START + 99;
	al.n_hosts = 1;
	world_ok(&w, store_put_alert(w.store, &al, &w.err));
	world_reopen(&w);
	world_ok(&w, store_alert(w.store, al.id, &w.answer, &got, &w.err));
	same_alert(&al, &got);
	world_ok(&w, store_alerts(w.store, &q, true, ALERT_INACTIVE, &w.answer, &l, &w.err));
	ck_assert_uint_eq(l.n, 1);
	ck_assert_int_eq(store_alert(w.store, STR("nope"), &w.answer, &got, &w.err), E_NOT_FOUND);
	ck_assert_str_eq(w.err.text, "alert nope: not here");
	al.id = STR("");
	ck_assert_int_eq(store_put_alert(w.store, &al, &w.err), E_FORMAT);
	world_close(&w);
}
END_TEST

/* Newest started_ns first; of two that started together the smaller id. all is ordered the other way, in pairs. */
static void check_list(
	struct world *w, const struct alert *all, int n, struct query q, bool any, enum alert_state state)
{
	struct alert_list l = { 0 };
	size_t at = 0;

	q.limit = 3;
	for (int pair = n / 2 - 1; pair >= 0; pair--)
		for (int i = 2 * pair; i < 2 * pair + 2; i++) {
			if ((!any && all[i].state != state) ||
				(!str_empty(q.service) && !str_eq(q.service, all[i].service)))
				continue;
			if (at == l.n) {
				world_ok(w, store_alerts(w->store, &q, any, state, &w->answer, &l, &w->err));
				ck_assert_uint_gt(l.n, 0);
				q.cursor = l.next;
				at = 0;
			}
			same_alert(&l.v[at++], &all[i]);
		}
	ck_assert_uint_eq(at, l.n);
	ck_assert(str_empty(l.next));
}

START_TEST(alerts_are_listed_newest_first_by_state_and_service)
{
	struct world w;
	struct alert all[20];

	world_open(&w, 51);
	for (int i = 0; i < 20; i++) {
		all[i] = some_alert(&w, i);
		world_ok(&w, store_put_alert(w.store, &all[i], &w.err));
	}
	check_list(&w, all, 20, (struct query){ .deploy = STR("v42") }, true, ALERT_FIRING);
	check_list(&w, all, 20, (struct query){ .limit = 3 }, false, ALERT_FIRING);
	check_list(&w, all, 20, (struct query){ .service = STR("ranker") }, true, ALERT_FIRING);
	check_list(&w, all, 20, (struct query){ .service = STR("ranker") }, false, ALERT_RESOLVED);
	check_list(&w, all, 0, (struct query){ .service = STR("nobody") }, true, ALERT_FIRING);
	check_list(&w, all, 0, (struct query){ .deploy = STR("v41") }, true, ALERT_FIRING);
	world_close(&w);
}
END_TEST

Suite *suite_alerts(void)
{
	Suite *s = suite_create("store/alerts");
	TCase *tc = tcase_create("alerts");

	tcase_add_test(tc, an_alert_comes_back_whole_and_is_replaced_by_its_id);
	tcase_add_test(tc, alerts_are_listed_newest_first_by_state_and_service);
	suite_add_tcase(s, tc);
	return s;
}
