#include "profile/verdict.h"

#include <check.h>
#include <math.h>

Suite *suite_verdict(void);

START_TEST(every_verdict_is_found_by_its_name)
{
	for (int k = 0; k < VERDICTS; k++) {
		enum verdict_kind back = VERDICTS;

		ck_assert_int_eq(verdict_parse(str_of(verdict_name((enum verdict_kind)k)), &back), OK);
		ck_assert_int_eq((int)back, k);
	}
	ck_assert_int_eq(verdict_parse(STR("slower"), &(enum verdict_kind){ 0 }), E_FORMAT);
}
END_TEST

START_TEST(a_verdict_is_written_with_its_evidence)
{
	struct op_change part = { STR("aten::mul"), { 0, 3 }, { 0, 1164500.4 } };
	struct finding f = { .kind = VERDICT_FUSION_LOST,
		.op = { STR("aten::_fused_rms_norm"), { 1, 0 }, { 403300, 0 } },
		.replaced_by = &part,
		.n_replaced_by = 1,
		.net_ns_per_step = 761200.4,
		.share = 0.25,
		.kappa = 1,
		.why = STR("table:rms_norm"),
		.sentence = STR("gone") };
	struct verdict v = { .kind = VERDICT_FUSION_LOST,
		.has_step = true,
		.step_ns = { 100.5, NAN },
		.launches_per_step = { 10, 12.5 },
		.findings = &f,
		.n_findings = 1 };
	struct json_writer w;
	struct buf b;

	buf_init(&b, 10000);
	jw_init(&w, &b);
	jw_object(&w);
	verdict_write_members(&w, &v);
	jw_end(&w);
	ck_assert_int_eq(jw_finish(&w, NULL), OK);
	ck_assert_str_eq(b.p,
		"{\"verdict\":\"fusion_lost\",\"has_step\":true,\"step_ns\":{\"before\":101,\"after\":null},"
		"\"launches_per_step\":{\"before\":10,\"after\":12.5},\"findings\":[{\"kind\":\"fusion_"
		"lost\","
		"\"op\":\"aten::_fused_rms_norm\",\"calls_per_step\":{\"before\":1,\"after\":0},"
		"\"time_per_step_ns\":{\"before\":403300,\"after\":0},\"replaced_by\":[{\"op\":\"aten::mul\","
		"\"calls_per_step\":{\"before\":0,\"after\":3},\"time_per_step_ns\":{\"before\":0,\"after\":"
		"1164500}}],"
		"\"net_ns_per_step\":761200,\"share\":0.25,\"kappa\":1,\"why\":\"table:rms_norm\","
		"\"sentence\":\"gone\"}]}");
	buf_fini(&b);
}
END_TEST

Suite *suite_verdict(void)
{
	Suite *s = suite_create("profile/verdict");
	TCase *tc = tcase_create("verdict");

	tcase_add_test(tc, every_verdict_is_found_by_its_name);
	tcase_add_test(tc, a_verdict_is_written_with_its_evidence);
	suite_add_tcase(s, tc);
	return s;
}
