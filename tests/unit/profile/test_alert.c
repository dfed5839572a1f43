#include "profile/alert.h"

#include <check.h>

Suite *suite_alert(void);

START_TEST(every_alert_state_is_found_by_its_name)
{
	for (int k = 0; k < ALERT_STATES; k++) {
		enum alert_state back = ALERT_STATES;

		ck_assert_int_eq(alert_state_parse(str_of(alert_state_name((enum alert_state)k)), &back), OK);
		ck_assert_int_eq((int)back, k);
	}
	ck_assert_int_eq(alert_state_parse(STR("on"), &(enum alert_state){ 0 }), E_FORMAT);
}
END_TEST

START_TEST(an_alerts_id_is_that_of_its_cause)
{
	struct arena a;
	struct str one, same, other, shifted;

	arena_init(&a, 4096);
	alert_id(VERDICT_FUSION_LOST, STR("llm"), STR("v42"), STR("aten::x"), &a, &one);
	alert_id(VERDICT_FUSION_LOST, STR("llm"), STR("v42"), STR("aten::x"), &a, &same);
	alert_id(VERDICT_OP_SLOWER, STR("llm"), STR("v42"), STR("aten::x"), &a, &other);
	alert_id(VERDICT_FUSION_LOST, STR("llmv"), STR("42"), STR("aten::x"), &a, &shifted);
	ck_assert_uint_eq(one.n, 32);
	ck_assert(str_eq(one, same));
	ck_assert(!str_eq(one, other));
	ck_assert(!str_eq(one, shifted));
	arena_fini(&a);
}
END_TEST

START_TEST(an_alert_is_written_as_the_api_shows_it)
{
	struct str hosts[] = { STR("h1"), STR("h2") };
	struct alert al = { .id = STR("ab"),
		.state = ALERT_FIRING,
		.kind = VERDICT_FUSION_LOST,
		.service = STR("llm"),
		.deploy = STR("v42"),
		.deploy_before = STR("v41"),
		.op = STR("aten::x"),
		.sentence = STR("gone"),
		.started_ns = 1,
		.fired_ns = 2,
		.updated_ns = 3,
		.hosts = hosts,
		.n_hosts = 2,
		.windows_before = 10,
		.windows_after = 2,
		.evidence = STR("{\"verdict\":\"fusion_lost\"}") };
	struct json_writer w;
	struct buf b;

	buf_init(&b, 10000);
	jw_init(&w, &b);
	alert_write(&w, &al);
	ck_assert_int_eq(jw_finish(&w, NULL), OK);
	ck_assert_str_eq(b.p,
		"{\"id\":\"ab\",\"state\":\"firing\",\"kind\":\"fusion_lost\",\"service\":\"llm\",\"deploy\":"
		"\"v42\","
		"\"deploy_before\":\"v41\",\"op\":\"aten::x\",\"sentence\":\"gone\",\"started_ns\":1,\"fired_"
		"ns\":2,"
		"\"resolved_ns\":null,\"updated_ns\":3,\"hosts\":[\"h1\",\"h2\"],\"windows_before\":10,"
		"\"windows_after\":2,\"evidence\":{\"verdict\":\"fusion_lost\"}}");
	buf_fini(&b);
}
END_TEST

Suite *suite_alert(void)
{
	Suite *s = suite_create("profile/alert");
	TCase *tc = tcase_create("alert");

	tcase_add_test(tc, every_alert_state_is_found_by_its_name);
	tcase_add_test(tc, an_alerts_id_is_that_of_its_cause);
	tcase_add_test(tc, an_alert_is_written_as_the_api_shows_it);
	suite_add_tcase(s, tc);
	return s;
}
