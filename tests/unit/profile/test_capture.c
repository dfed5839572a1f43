#include "profile/capture.h"

#include <check.h>

Suite *suite_capture(void);

START_TEST(states_have_words_both_ways)
{
	enum capture_state c;
	enum target_state t;

	for (int i = 0; i < CAPTURE_STATES; i++) {
		ck_assert_int_eq(capture_state_parse(str_of(capture_state_name((enum capture_state)i)), &c), OK);
		ck_assert_int_eq((int)c, i);
	}
	for (int i = 0; i < TARGET_STATES; i++) {
		ck_assert_int_eq(target_state_parse(str_of(target_state_name((enum target_state)i)), &t), OK);
		ck_assert_int_eq((int)t, i);
	}
	ck_assert_int_eq(capture_state_parse(STR("gone"), &c), E_FORMAT);
	ck_assert_int_eq(target_state_parse(STR(""), &t), E_FORMAT);
}
END_TEST

static const struct {
	enum target_state a, b;
	bool ended;
	enum capture_state is;
} states[] = {
	{ TARGET_WAITING, TARGET_WAITING, false, CAPTURE_WAITING },
	{ TARGET_LEASED, TARGET_WAITING, false, CAPTURE_RUNNING },
	{ TARGET_WAITING, TARGET_TAKEN, false, CAPTURE_RUNNING },
	{ TARGET_TAKEN, TARGET_TAKEN, true, CAPTURE_DONE },
	{ TARGET_FAILED, TARGET_EXPIRED, true, CAPTURE_DONE },
	{ TARGET_EXPIRED, TARGET_EXPIRED, true, CAPTURE_EXPIRED },
};

START_TEST(a_capture_is_what_its_targets_are)
{
	struct capture_target targets[2] = { { .state = states[_i].a }, { .state = states[_i].b } };
	struct capture c = { .targets = targets, .n_targets = 2, .ended_ns = states[_i].ended };

	ck_assert_int_eq(capture_state(&c), states[_i].is);
}
END_TEST

START_TEST(a_capture_of_nobody_waits_and_expires)
{
	struct capture c = { .n_targets = 0 };

	ck_assert_int_eq(capture_state(&c), CAPTURE_WAITING);
	c.ended_ns = 1;
	ck_assert_int_eq(capture_state(&c), CAPTURE_EXPIRED);
}
END_TEST

START_TEST(what_is_not_named_is_any)
{
	struct str hosts[] = { STR("h1"), STR("h2") }, workers[] = { STR("0") };
	struct capture c = { .service = STR("llm"), .hosts = hosts, .n_hosts = 2 };

	ck_assert(capture_wants(&c, STR("h2"), STR("llm"), STR("kineto"), STR("7")));
	ck_assert(!capture_wants(&c, STR("h3"), STR("llm"), STR("kineto"), STR("7")));
	ck_assert(!capture_wants(&c, STR("h1"), STR("ranker"), STR("kineto"), STR("7")));
	c = (struct capture){ .workers = workers, .n_workers = 1, .source = STR("vllm") };
	ck_assert(capture_wants(&c, STR("any"), STR("any"), STR("vllm"), STR("0")));
	ck_assert(!capture_wants(&c, STR("any"), STR("any"), STR("vllm"), STR("1")));
	ck_assert(!capture_wants(&c, STR("any"), STR("any"), STR("kineto"), STR("0")));
}
END_TEST

START_TEST(what_is_not_known_is_null)
{
	struct capture_target t = { .host = STR("h"), .state = TARGET_WAITING };
	struct capture c = { .id = STR("7d20"), .targets = &t, .n_targets = 1, .created_ns = 1, .expires_ns = 2 };
	struct json_writer w;
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, 10000);
	jw_init(&w, &b);
	capture_write(&w, &c);
	ck_assert_int_eq(jw_finish(&w, &e), OK);
	ck_assert_str_eq(b.p,
		"{\"id\":\"7d20\",\"state\":\"waiting\",\"service\":null,\"hosts\":[],\"workers\":[],\"source\":null,\"duration_ns\":0,"
		"\"iterations\":0,\"reason\":\"\",\"alert\":null,\"created_ns\":1,\"expires_ns\":2,\"ended_ns\":null,\"targets\":["
		"{\"host\":\"h\",\"service\":\"\",\"source\":\"\",\"worker\":\"\",\"state\":\"waiting\",\"end\":null,\"window\":null}]}");
	buf_fini(&b);
}
END_TEST

Suite *suite_capture(void)
{
	Suite *s = suite_create("profile/capture");
	TCase *tc = tcase_create("capture");

	tcase_add_test(tc, states_have_words_both_ways);
	tcase_add_loop_test(tc, a_capture_is_what_its_targets_are, 0, COUNT(states));
	tcase_add_test(tc, a_capture_of_nobody_waits_and_expires);
	tcase_add_test(tc, what_is_not_named_is_any);
	tcase_add_test(tc, what_is_not_known_is_null);
	suite_add_tcase(s, tc);
	return s;
}
