#include "trace/report.h"

#include "tests/unit/trace/help.h"

Suite *suite_report(void);

START_TEST(each_reason_has_one_entry_with_its_first_offset)
{
	struct trace_report r = { 0 };
	struct buf said;

	buf_init(&said, 4096);
	trace_report_add(&r, TRACE_BAD_NUMBER, 1, 100);
	trace_report_add(&r, TRACE_TRUNCATED, 1, 900);
	trace_report_add(&r, TRACE_BAD_NUMBER, 2, 300);
	trace_report_add(&r, TRACE_EMPTY_OBJECT, 1, 50);
	trace_report_add(&r, TRACE_NO_NAME, 0, 70);
	help_report(&r, &said);
	ck_assert_str_eq(buf_view(&said).p, "3 bad_number@100, 1 truncated@900 | 1 empty_object");
	ck_assert_ptr_null(trace_report_find(&r, TRACE_NO_NAME));
	ck_assert_uint_eq(trace_report_find(&r, TRACE_BAD_NUMBER)->count, 3);
	buf_fini(&said);
}
END_TEST

START_TEST(there_is_room_for_every_reason)
{
	struct trace_report r = { 0 };

	for (int i = 0; i < TRACE_REASONS; i++) {
		trace_report_add(&r, (enum trace_reason)i, 1, 0);
		ck_assert_uint_gt(strlen(trace_reason_word((enum trace_reason)i)), 0);
		ck_assert_uint_gt(strlen(trace_reason_meaning((enum trace_reason)i)), 0);
	}
	ck_assert_uint_eq(r.n_skips, TRACE_LOSSES);
	ck_assert_uint_eq(r.n_notes, TRACE_REASONS - TRACE_LOSSES);
}
END_TEST

Suite *suite_report(void)
{
	Suite *s = suite_create("trace/report");
	TCase *tc = tcase_create("report");

	tcase_add_test(tc, each_reason_has_one_entry_with_its_first_offset);
	tcase_add_test(tc, there_is_room_for_every_reason);
	suite_add_tcase(s, tc);
	return s;
}
